"""Compare this checkout with another one: chunks, ids, hashes, speed and peak memory.

    python -m tests.bench.against OTHER_CHECKOUT FOLDER... [--limit 300] [--show 10]

The documents are Markdown files below the folders. Each version runs in processes of its own, in
turns, and only uses the public API.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

__all__ = ("main",)

BUDGETS: Final = (128, 256, 512)
ROUNDS: Final = 3
SEED: Final = 5
SMALLEST, LARGEST = 1_000, 200_000
OWN: Final = Path(__file__).parents[2]
# Fields that have to be the same for the same span of the same document; the number of a chunk
# in its section, and so its id, depends on the cuts before it.
FIELDS: Final = ("token_count", "content_hash", "embed_text", "embed_hash", "headings", "kinds")
# The worker of both versions: documents and options on stdin, results on stdout.
WORKER: Final = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
from chunkast import Chunker
given = json.load(sys.stdin)
chunker = Chunker(**given["options"])
chunker.chunk("# Warm\\n\\nup.")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
seconds, found = [], []
for name, text in given["texts"]:
    best = 1e9
    for _ in range(given["repeats"]):
        start = time.process_time()
        chunks = chunker.chunk(text, name)
        best = min(best, time.process_time() - start)
    seconds.append(best)
    if given["chunks"]:
        found.append([chunk.to_dict() for chunk in chunks])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
json.dump({"seconds": seconds, "chunks": found, "peak": peak}, sys.stdout)
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("other", type=Path, help="a checkout of another version")
    parser.add_argument("folders", type=Path, nargs="+", help="folders of Markdown documents")
    parser.add_argument("--limit", type=int, default=300, help="the most documents (300)")
    parser.add_argument("--show", type=int, default=0, help="print so many differences")
    options = parser.parse_args(argv)
    texts = documents(options.folders, options.limit)
    print(f"{len(texts)} documents, {sum(len(text) for _, text in texts):,} characters")
    for budget in BUDGETS:
        compare_chunks(options.other, texts, budget, options.show)
    compare_speed(options.other, "documents", texts)
    chinese = [pair for pair in texts if _is_cjk(pair[1])]
    if chinese:
        compare_speed(options.other, f"{len(chinese)} in Chinese, Japanese or Korean", chinese)
    whole = "\n\n".join(text for _, text in texts)
    for size in (len(whole) // 4, len(whole)):
        compare_speed(options.other, f"one of {size:,} characters", [("whole", whole[:size])])
    return 0


def documents(folders: Sequence[Path], limit: int) -> list[tuple[str, str]]:
    """Return a random sample of different documents, the same every time."""
    found: dict[str, str] = {}
    for path in sorted(path for folder in folders for path in folder.rglob("*.md")):
        if path.is_file() and SMALLEST <= path.stat().st_size <= LARGEST:
            try:
                found.setdefault(path.read_bytes().decode(), path.as_posix())
            except UnicodeDecodeError:
                continue
    texts = [(name, text) for text, name in found.items()]
    random.Random(SEED).shuffle(texts)
    return texts[:limit]


def compare_chunks(other: Path, texts: Sequence[tuple[str, str]], budget: int, show: int) -> None:
    """Print how many chunks differ, and how many of the same span have other fields."""
    options = {"max_tokens": budget}
    theirs, ours = (run(where, texts, options, chunks=True)["chunks"] for where in (other, OWN))
    total = new = gone = 0
    fields: Counter[str] = Counter()
    shown: list[str] = []
    for (name, _), before, after in zip(texts, theirs, ours, strict=True):
        total, new = total + len(before), new + len(after)
        spans = {_span(chunk): chunk for chunk in after}
        for chunk in before:
            same = spans.get(_span(chunk))
            if same is None:
                gone += 1
                shown.append(_place(name, chunk, after))
            else:
                fields.update(field for field in FIELDS if chunk[field] != same[field])
                fields["id"] += chunk["id"] != same["id"]
    flaws = ", ".join(
        f"{name} {sum(map(count, theirs))} -> {sum(map(count, ours))}"
        for name, count in (("stranded headings", _stranded), ("separated lead-ins", _separated))
    )
    print(
        f"{budget} tokens: {total} -> {new} chunks, {gone} ({gone / total:.2%}) are cut elsewhere"
    )
    print(f"  same span, other fields: {dict(+fields) or 'none'}; {flaws}")
    for text in shown[:show]:
        print(text)


def compare_speed(other: Path, name: str, texts: Sequence[tuple[str, str]]) -> None:
    """Print the CPU time and the peak memory of both versions, the best of rounds in turns."""
    for budget in BUDGETS[1:]:
        best: dict[Path, list[float]] = {}
        peak: dict[Path, int] = {}
        for where in (other, OWN) * ROUNDS:
            found = run(where, texts, {"max_tokens": budget}, repeats=2)
            known = best.get(where, found["seconds"])
            best[where] = [*map(min, known, found["seconds"])]
            peak[where] = min(peak.get(where, found["peak"]), found["peak"])
        before, after = (sum(best[where]) for where in (other, OWN))
        memory = f"{peak[other] >> 10} -> {peak[OWN] >> 10} MiB"
        print(
            f"{name}, {budget} tokens: {before:.2f} -> {after:.2f} s ({before / after:.2f}), {memory}"
        )


def run(
    where: Path,
    texts: Sequence[tuple[str, str]],
    options: Mapping[str, Any],
    *,
    repeats: int = 1,
    chunks: bool = False,
) -> dict[str, Any]:
    """Return what the worker prints with the checkout at ``where``."""
    given = {"texts": texts, "options": options, "repeats": repeats, "chunks": chunks}
    done = subprocess.run(
        [sys.executable, "-c", WORKER],
        input=json.dumps(given),
        env={**os.environ, "PYTHONPATH": str(where.resolve())},
        cwd=where,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def _span(chunk: Mapping[str, Any]) -> tuple[int, int]:
    return chunk["start_index"], chunk["end_index"]


def _place(name: str, chunk: Mapping[str, Any], after: Sequence[Mapping[str, Any]]) -> str:
    start, end = _span(chunk)
    lines = [f"  {name}", f"    was {start}-{end} {chunk['token_count']} {_ends(chunk)}"]
    lines += (
        f"    now {_span(other)} {other['token_count']} {_ends(other)}"
        for other in after
        if other["start_index"] < end and other["end_index"] > start
    )
    return "\n".join(lines)


def _ends(chunk: Mapping[str, Any]) -> str:
    text = chunk["text"]
    return f"{text[:50]!r} ... {text[-30:]!r}"


def _is_cjk(text: str) -> bool:
    return sum(
        "\u3040" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3" for character in text
    ) * 4 > len(text)


def _stranded(chunks: Sequence[Mapping[str, Any]]) -> int:
    """Count chunks that end with a heading, but for the last."""
    lasts = (
        chunk["text"].rsplit("\n", 1)[-1] for chunk in chunks[:-1] if "fence" not in chunk["kinds"]
    )
    return sum(1 for line in lasts if line.startswith(("# ", "## ", "### ", "#### ")))


def _separated(chunks: Sequence[Mapping[str, Any]]) -> int:
    """Count chunks that end with a colon before a list, a table or a fence."""
    return sum(
        1
        for before, after in _neighbours(chunks)
        if before.endswith(":") and after.startswith(("- ", "* ", "1. ", "|", "```"))
    )


def _neighbours(chunks: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for one, two in pairwise(chunks):
        yield one["text"], two["text"][two["overlap"] :]


if __name__ == "__main__":
    raise SystemExit(main())
