"""Compare this checkout with another one: chunks, speed and memory on real documents.

    python -m tests.bench.against OTHER_CHECKOUT --documents DIR

Every version runs in processes of its own; both are measured in turns.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise, product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from chunkast import count_tokens
from tests.bench.corpus import CJK, ENGLISH, FIXTURES, by_language, of_size, some
from tests.bench.tables import Cell, Table, as_markdown

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("against_worker.py")
PARTS = ("chunks", "speed", "memory")
BUDGETS = (128, 256, 512)
ENCODINGS = ("o200k_base", "cl100k_base")
# Families of tests/hf.py.
HUGGING_FACE = ("wordpiece", "unigram")
LEAST_BYTES, MOST_BYTES = 1_000, 200_000
SEED = 1
TIMED_CHARACTERS = 1_000_000
GROWTH_BYTES = 250_000
MEMORY_BYTES = 2_000_000

_IDENTITY = ("id", "content_hash", "embed_hash", "token_count", "embed_text")
_WHOLE = ("fence", "table", "item", "paragraph")
_INTRODUCED = ("list", "table", "fence")
_FLAWS = ("stranded heading", "separated lead-in", *(f"cut {kind}" for kind in _WHOLE))

# A document's path and text.
Document = tuple[str, str]
Rows = Sequence[tuple[str, int, int, int, int]]
Chunks = Sequence[dict[str, Any]]


class Worker:
    """A process that chunks with one checkout."""

    def __init__(self, checkout: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(checkout), "TOKENIZERS_PARALLELISM": "false"}
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        imported = Path(self.ask("about"))
        if imported != checkout / "chunkast":
            raise RuntimeError(f"imported {imported}, not the package in {checkout}")

    def ask(self, job: str, **arguments: Any) -> Any:
        """Run a job of the worker and return its answer."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps({"do": job, **arguments}), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the worker failed at {job}")
        return json.loads(answer)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print; the exit code does not depend on the result."""
    options = _parser().parse_args(arguments)
    documents = find_documents(options.documents or [FIXTURES])
    sample = documents
    if len(documents) > options.limit:
        sample = random.Random(SEED).sample(documents, options.limit)
    only = options.only or PARTS
    checkouts = (options.other.resolve(), ROOT)
    print(f"other: {checkouts[0]}; {len(sample)} of {len(documents)} documents\n")
    with TemporaryDirectory(prefix="chunkast-against-") as name:
        folder = Path(name)
        if "chunks" in only:
            _compare_chunks(checkouts, sample, folder, options.show)
        languages = by_language(text for _, text in documents)
        if "speed" in only:
            _compare_speed(checkouts, languages, folder, options.rounds)
            _compare_growth(checkouts, languages[ENGLISH], folder)
        if "memory" in only:
            _compare_memory(checkouts, languages, folder)
    return 0


def find_documents(folders: Sequence[Path]) -> list[Document]:
    """Return the Markdown files of 1 to 200 KB below the folders, equal texts once."""
    found: dict[str, str] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.md")):
            if path.is_file() and LEAST_BYTES <= path.stat().st_size <= MOST_BYTES:
                try:
                    found.setdefault(path.read_bytes().decode(), str(path.relative_to(folder)))
                except UnicodeDecodeError:
                    continue
    return [(source, text) for text, source in found.items()]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.against", description=__doc__)
    parser.add_argument("other", type=Path, help="a checkout of another version")
    parser.add_argument(
        "--documents",
        type=Path,
        action="append",
        metavar="DIR",
        help="a folder of Markdown documents; repeatable (default: the fixtures)",
    )
    parser.add_argument("--limit", type=int, default=300, help="documents to chunk (default: 300)")
    parser.add_argument("--only", choices=PARTS, action="append", help="repeatable")
    parser.add_argument("--rounds", type=int, default=5, help="of the speed (default: 5)")
    parser.add_argument(
        "--show", type=int, default=0, metavar="N", help="print N new flaws and N differing places"
    )
    return parser


def _compare_chunks(
    checkouts: Sequence[Path], documents: Sequence[Document], folder: Path, shown: int
) -> None:
    """Print the differences between the chunks of both versions, and the flaws of each."""
    path = _write(folder, "sample", documents)
    workers = [Worker(checkout) for checkout in checkouts]
    blocks = workers[0].ask("blocks", documents=path)
    differences: list[tuple[Cell, ...]] = []
    flaws: list[tuple[Cell, ...]] = []
    places: list[str] = []
    new_flaws: list[str] = []
    for budget in BUDGETS:
        before, after = (
            worker.ask("chunks", documents=path, budget=budget, encoding=ENCODINGS[0])
            for worker in workers
        )
        differences.append((str(budget), *_differences(before, after)))
        counts: dict[str, Counter[str]] = {name: Counter() for name in ("other", "this", "new")}
        for (source, text), rows, old, new in zip(documents, blocks, before, after, strict=True):
            had, has = (flaws_of(text, rows, chunks, budget) for chunks in (old, new))
            for name, found in (("other", had), ("this", has), ("new", has - had)):
                counts[name].update(flaw for flaw, _ in found)
            places += _places(f"{source}, {budget} tokens", old, new)
            new_flaws += (
                f"new {flaw}: {source}, {budget} tokens, character {start}"
                for flaw, start in sorted(has - had)
            )
        flaws += [(f"{budget}, {n}", *(c[flaw] for flaw in _FLAWS)) for n, c in counts.items()]
    for worker in workers:
        worker.close()
    _show(
        "Chunks",
        "*gone*: chunks of the other version that this one does not have. The columns after that: "
        "chunks of the same span that differ in the field.",
        {
            "other": ",d",
            "this": ",d",
            "gone": ",d",
            "gone %": ".2f",
            **dict.fromkeys((*_IDENTITY, "other fields"), ",d"),
        },
        differences,
    )
    _show(
        "Flaws",
        "Chunks that end in a heading, lead-ins cut from what they introduce, and blocks that fit "
        "the budget but were cut; *new*: those of this version that the other does not have. The "
        "blocks are those of the other version.",
        dict.fromkeys(_FLAWS, ",d"),
        flaws,
    )
    for line in (*new_flaws[:shown], *random.Random(SEED).sample(places, min(shown, len(places)))):
        print(line)


def _differences(before: Sequence[Chunks], after: Sequence[Chunks]) -> Iterator[Cell]:
    """Yield the cells of a row: totals, chunks that are gone, differences by field."""
    gone = 0
    fields: Counter[str] = Counter()
    for old, new in zip(before, after, strict=True):
        spans = {_span(chunk): chunk for chunk in new}
        for chunk in old:
            same = spans.get(_span(chunk))
            if same is None:
                gone += 1
                continue
            shared = (chunk.keys() & same.keys()) - {"index"}
            differing = {name for name in shared if chunk[name] != same[name]}
            fields.update(differing & {*_IDENTITY})
            fields["other"] += bool(differing - {*_IDENTITY})
    total = sum(map(len, before))
    yield from (total, sum(map(len, after)), gone, 100 * gone / max(total, 1))
    yield from (fields[name] for name in (*_IDENTITY, "other"))


def _span(chunk: dict[str, Any]) -> tuple[int, int, str]:
    return chunk["start_index"], chunk["end_index"], chunk["text"]


def flaws_of(text: str, rows: Rows, chunks: Chunks, budget: int) -> set[tuple[str, int]]:
    """Return the flaws of a document's chunks, each with the start of its block."""
    cuts = [chunk["start_index"] + chunk["overlap"] for chunk in chunks[1:]]

    def is_cut(after: int, until: int) -> bool:
        """Return whether a cut lies in ``(after, until]``."""
        return bisect_right(cuts, after) < bisect_right(cuts, until)

    found: set[tuple[str, int]] = set()
    parents = {parent for *_, parent in rows}
    leaves = [row for number, row in enumerate(rows) if number not in parents and row[0] != "blank"]
    for (kind, start, _, level, _), (next_kind, next_start, _, next_level, _) in pairwise(leaves):
        has_content = next_kind != "heading" or next_level > level
        if kind == "heading" and has_content and is_cut(start, next_start):
            found.add(("stranded heading", start))
    previous: dict[int, tuple[str, int]] = {}  # by parent: the last child that is not blank
    for kind, start, end, _, parent in rows:
        if kind == "blank":
            continue
        last_kind, last_end = previous.get(parent, ("", 0))
        if last_kind == "paragraph" and kind in _INTRODUCED:
            lead = text[:last_end].rstrip().rstrip("*_")
            if lead.endswith((":", "：")) and is_cut(len(lead), start):
                found.add(("separated lead-in", start))
        previous[parent] = (kind, end)
        whole = text[start:end].rstrip()
        if kind in _WHOLE and is_cut(start, start + len(whole) - 1) and _fits(whole, budget):
            found.add((f"cut {kind}", start))
    return found


def _fits(text: str, budget: int) -> bool:
    return count_tokens(text.lstrip(), ENCODINGS[0]) <= budget


def _places(title: str, old: Chunks, new: Chunks) -> Iterator[str]:
    """Yield every run of chunks that differ, both versions' one after the other."""
    before, after = ([_span(chunk) for chunk in chunks] for chunks in (old, new))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag != "equal":
            lines = [f"### {title}"]
            for name, chunks in (("other", old[old_from:old_to]), ("this", new[new_from:new_to])):
                lines += [f"  {name}: {_brief(chunk)}" for chunk in chunks]
            yield "\n".join(lines) + "\n"


def _brief(chunk: dict[str, Any]) -> str:
    lines = chunk["text"].strip().splitlines() or [""]
    return (
        f"lines {chunk['start_line']}-{chunk['end_line']}, {chunk['token_count']} tokens, "
        f"overlap {chunk['overlap']}: {lines[0][:60]!r} ... {lines[-1][-60:]!r}"
    )


def _compare_speed(
    checkouts: Sequence[Path], languages: dict[str, list[str]], folder: Path, rounds: int
) -> None:
    """Print the CPU time of both versions, measured in turns."""
    encodings = [*ENCODINGS, *_train(languages[ENGLISH], folder)]
    workers = [Worker(checkout) for checkout in checkouts]
    rows: list[tuple[Cell, ...]] = []
    for language in (ENGLISH, CJK):
        texts = some(languages[language], TIMED_CHARACTERS)
        path = _write(folder, language, [("", text) for text in texts])
        for encoding, budget in product(encodings, BUDGETS[1:] if texts else ()):
            turns = [
                [
                    worker.ask("seconds", documents=path, budget=budget, encoding=encoding)
                    for worker in workers
                ]
                for _ in range(rounds)
            ]
            other, this = (min(times) for times in zip(*turns, strict=True))
            ratio = median(before / after for before, after in turns)
            name = f"{language}, {Path(encoding).stem}, {budget}"
            rows.append((name, other, this, other / this, ratio))
    for worker in workers:
        worker.close()
    _show(
        "Speed",
        f"CPU seconds for at most {TIMED_CHARACTERS:,} characters, the least of {rounds} rounds. "
        "The ratios are the speed of this version by that of the other: of the least times, and "
        "the median of the rounds.",
        {"other": ".3f", "this": ".3f", "ratio of least": ".2f", "median ratio": ".2f"},
        rows,
    )


def _train(texts: Sequence[str], folder: Path) -> Iterator[str]:
    """Train a tokenizer of each family and yield its file; none without tokenizers."""
    try:
        from tests.hf import train_on
    except ImportError:
        return
    lines = [line for text in some(texts, TIMED_CHARACTERS) for line in text.splitlines()]
    for family in HUGGING_FACE:
        path = folder / f"{family}.json"
        train_on(lines, family, 4_000).save(str(path))
        yield str(path)


def _compare_growth(checkouts: Sequence[Path], texts: Sequence[str], folder: Path) -> None:
    """Print the CPU time for one document and for one of four times its size."""
    paths = [
        _write(folder, f"growth-{times}", [("", of_size(texts, times * GROWTH_BYTES))])
        for times in (1, 4)
    ]
    rows: list[tuple[Cell, ...]] = []
    for name, checkout in zip(("other", "this"), checkouts, strict=True):
        worker = Worker(checkout)
        arguments = {"budget": BUDGETS[-1], "encoding": ENCODINGS[0]}
        small, large = (
            min(worker.ask("seconds", documents=path, **arguments) for _ in range(3))
            for path in paths
        )
        worker.close()
        rows.append((name, small, large, large / small))
    _show(
        "Growth",
        f"CPU seconds for one document of {GROWTH_BYTES:,} bytes and one of four times as many.",
        {"once": ".3f", "four times": ".3f", "ratio": ".2f"},
        rows,
    )


def _compare_memory(
    checkouts: Sequence[Path], languages: dict[str, list[str]], folder: Path
) -> None:
    """Print the peak of a new process for each version and document."""
    rows: list[tuple[Cell, ...]] = []
    for language in (ENGLISH, CJK):
        text = of_size(languages[language], MEMORY_BYTES) if languages[language] else ""
        path = _write(folder, f"memory-{language}", [("", text)])
        for budget in BUDGETS if text else ():
            peaks: list[float] = []
            for checkout in checkouts:
                worker = Worker(checkout)
                arguments = {"budget": budget, "encoding": ENCODINGS[0]}
                before, after = worker.ask("peak", documents=path, **arguments)
                worker.close()
                peaks += [after / 1e6, (after - before) / 1e6]
            other, added, this, own_added = peaks
            name = f"{language}, {budget}"
            rows.append((name, other, this, this / other, added, own_added, own_added / added))
    _show(
        "Peak memory",
        f"MB at the peak for one document of {MEMORY_BYTES / 1e6:g} MB, and what chunking added.",
        {
            "other": ".1f",
            "this": ".1f",
            "ratio": ".2f",
            "other added": ".1f",
            "this added": ".1f",
            "ratio of added": ".2f",
        },
        rows,
    )


def _show(title: str, note: str, columns: dict[str, str], rows: Sequence[tuple[Cell, ...]]) -> None:
    """Print a table whose first column names the rows; ``columns`` are the formats of the others."""
    table = Table(title, title, note, (("", ""), *columns.items()), tuple(rows))
    print(as_markdown(table), flush=True)


def _write(folder: Path, name: str, documents: Sequence[Document]) -> str:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(documents), "utf-8")
    return str(path)


if __name__ == "__main__":
    sys.exit(main())
