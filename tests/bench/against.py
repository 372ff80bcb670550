"""Compare this checkout with another one: chunks and instructions on real documents.

    python -m tests.bench.against OTHER_CHECKOUT --documents DIR

Each version runs in processes of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.corpus import FIXTURES
from tests.bench.tables import Cell, Table, as_markdown

__all__ = ("find_documents", "main")

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("against_worker.py")
CONFIGURATIONS = tuple(product((128, 256, 512), ("sections", "fill"), (0, 0.15)))
BUDGETS = (512, 254)
SUFFIXES = frozenset({".md", ".mdx", ".qmd", ".Rmd"})
LEAST_BYTES, MOST_BYTES = 1_000, 200_000
# Documents whose instructions are counted; as many others are chunked before.
COUNTED = 30
SEED = 1
_REFERENCES = re.compile(r"I\s+refs:\s+([\d,]+)")

# A document's path and text.
Document = tuple[str, str]
# The start, the end and a digest of the text to embed.
Chunk = tuple[int, int, str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print; the exit code does not depend on the result."""
    options = _parser().parse_args(arguments)
    documents = find_documents(options.documents or [FIXTURES])
    random.Random(SEED).shuffle(documents)
    documents = documents[: options.limit]
    checkouts = (options.other.resolve(), ROOT)
    print(f"other: {checkouts[0]}; {len(documents)} documents\n")
    with TemporaryDirectory(prefix="chunkast-against-") as name:
        path = Path(name, "documents.json")
        path.write_text(json.dumps(documents), "utf-8")
        if options.only != "instructions":
            _compare_chunks(checkouts, documents, path, options.show)
        if options.only != "chunks":
            if not shutil.which("valgrind"):
                raise SystemExit("instructions cannot be counted: valgrind is not installed")
            _compare_instructions(checkouts, path)
    return 0


def find_documents(folders: Sequence[Path]) -> list[Document]:
    """Return the Markdown files of 1 to 200 KB below the folders, equal texts once."""
    found: dict[str, str] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in SUFFIXES and LEAST_BYTES <= path.stat().st_size <= MOST_BYTES:
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
    parser.add_argument("--only", choices=("chunks", "instructions"))
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N differing places")
    return parser


def _ask(checkout: Path, *arguments: str, under: Sequence[str] = ()) -> tuple[str, str]:
    """Run the worker with the package in ``checkout``; returns what it prints on both streams."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0"}
    command = [*under, sys.executable, str(WORKER), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    package, _, answer = done.stdout.partition("\n")
    if Path(package) != checkout / "chunkast":
        raise RuntimeError(f"imported {package}, not the package in {checkout}")
    return answer, done.stderr


def _compare_chunks(
    checkouts: Sequence[Path], documents: Sequence[Document], path: Path, shown: int
) -> None:
    """Print how many chunks of the other version this one does not have."""
    rows: list[tuple[Cell, ...]] = []
    places: list[str] = []
    for configuration in CONFIGURATIONS:
        max_tokens, packing, overlap = configuration
        options = {"max_tokens": max_tokens, "packing": packing, "overlap": overlap}
        before, after = (
            json.loads(_ask(checkout, "chunks", str(path), json.dumps(options))[0])
            for checkout in checkouts
        )
        name = ", ".join(map(str, configuration))
        gone = 0
        for (source, text), old, new in zip(documents, before, after, strict=True):
            gone += len({*map(tuple, old)} - {*map(tuple, new)})
            places += _places(f"{source}: {name}", text, old, new)
        total = sum(map(len, before))
        rows.append((name, total, sum(map(len, after)), gone, gone / max(total, 1)))
    _show(
        "Chunks",
        "*gone*: chunks of the other version without one of the same span and text to embed here.",
        {"other": ",d", "this": ",d", "gone": ",d", "share": ".3%"},
        rows,
    )
    for place in random.Random(SEED).sample(places, min(shown, len(places))):
        print(place)


def _places(title: str, text: str, old: Sequence[Chunk], new: Sequence[Chunk]) -> Iterator[str]:
    """Yield every run of chunks that differ, of both versions one after the other."""
    before, after = ([tuple(chunk) for chunk in chunks] for chunks in (old, new))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag != "equal":
            lines = [f"### {title}"]
            for name, chunks in (("other", old[old_from:old_to]), ("this", new[new_from:new_to])):
                for start, end, _ in chunks:
                    own = text[start:end]
                    lines.append(f"  {name}: {start}-{end}: {own[:60]!r} ... {own[-60:]!r}")
            yield "\n".join(lines) + "\n"


def _compare_instructions(checkouts: Sequence[Path], path: Path) -> None:
    """Print the instructions of chunking some documents once."""
    rows: list[tuple[Cell, ...]] = []
    for budget in BUDGETS:
        other, this = (_instructions(checkout, path, budget) for checkout in checkouts)
        rows.append((f"{budget} tokens", other / 1e6, this / 1e6, this / other))
    _show(
        "Instructions",
        f"Millions for {COUNTED} documents: cachegrind's count for two rounds less that for one.",
        {"other": ",.1f", "this": ",.1f", "ratio": ".3f"},
        rows,
    )


def _instructions(checkout: Path, path: Path, budget: int) -> int:
    valgrind = (
        "valgrind",
        "--tool=cachegrind",
        "--cache-sim=no",
        "--cachegrind-out-file=/dev/null",
    )
    counts: list[int] = []
    for rounds in (1, 2):
        arguments = ("rounds", str(path), str(budget), str(rounds), str(COUNTED))
        counted = _REFERENCES.search(_ask(checkout, *arguments, under=valgrind)[1])
        assert counted
        counts.append(int(counted[1].replace(",", "")))
    return counts[1] - counts[0]


def _show(title: str, note: str, columns: dict[str, str], rows: Sequence[tuple[Cell, ...]]) -> None:
    """Print a table whose first column names the rows; ``columns`` are the formats of the others."""
    table = Table(title, title, note, (("", ""), *columns.items()), tuple(rows))
    print(as_markdown(table), flush=True)


if __name__ == "__main__":
    sys.exit(main())
