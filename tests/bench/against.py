"""Compare this checkout with another one: chunks and instructions on real documents.

    python -m tests.bench.against OTHER_CHECKOUT --documents REFERENCE --documents PROSE

Each version runs in processes of its own.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import chain, product
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.corpus import FIXTURES, Document, find_documents
from tests.bench.instructions import BUDGETS, ROOT, ask, count_instructions
from tests.bench.tables import Cell, Table, as_markdown

__all__ = ("main",)

CONFIGURATIONS = tuple(product((128, 256, 512), ("sections", "fill"), (0, 0.15)))
# The documents of each folder whose instructions are counted.
COUNTED = 30
SEED = 1

# The start, the end and a digest of the text to embed.
Chunk = tuple[int, int, str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print; the exit code does not depend on the result."""
    options = _parser().parse_args(arguments)
    folders = {str(each): find_documents([each]) for each in options.documents or [FIXTURES]}
    for documents in folders.values():
        random.Random(SEED).shuffle(documents)
    documents = [*chain(*folders.values())]
    random.Random(SEED).shuffle(documents)
    documents = documents[: options.limit]
    checkouts = (options.other.resolve(), ROOT)
    print(f"other: {checkouts[0]}; {len(documents)} documents\n")
    if options.only != "instructions":
        with TemporaryDirectory(prefix="chunkast-against-") as name:
            path = Path(name, "documents.json")
            path.write_text(json.dumps(documents), "utf-8")
            _compare_chunks(checkouts, documents, path, options.show)
    if options.only != "chunks":
        if not shutil.which("valgrind"):
            raise SystemExit("instructions cannot be counted: valgrind is not installed")
        _compare_instructions(checkouts, folders)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.against", description=__doc__)
    parser.add_argument("other", type=Path, help="a checkout of another version")
    parser.add_argument(
        "--documents",
        type=Path,
        action="append",
        metavar="DIR",
        help="a folder of Markdown documents, such as reference pages; repeatable, each with its "
        "own instructions (default: the fixtures)",
    )
    parser.add_argument("--limit", type=int, default=300, help="documents to chunk (default: 300)")
    parser.add_argument("--only", choices=("chunks", "instructions"))
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N differing places")
    return parser


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
            json.loads(ask(checkout, "chunks", str(path), json.dumps(options))[0])
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


def _compare_instructions(
    checkouts: Sequence[Path], folders: Mapping[str, Sequence[Document]]
) -> None:
    """Print the instructions of chunking some documents of each folder once."""
    rows: list[tuple[Cell, ...]] = []
    for name, documents in folders.items():
        texts = [text for _, text in documents[:COUNTED]]
        counts = (count_instructions(checkout, texts) for checkout in checkouts)
        for budget, other, this in zip(BUDGETS, *counts, strict=True):
            row = f"{name}, {sum(map(len, texts)) / 1e3:.0f} kB, {budget} tokens"
            rows.append((row, other / 1e6, this / 1e6, this / other))
    _show(
        "Instructions",
        f"Millions, by cachegrind, for at most {COUNTED} documents of each folder; imports excluded.",
        {"other": ",.1f", "this": ",.1f", "ratio": ".3f"},
        rows,
    )


def _show(title: str, note: str, columns: dict[str, str], rows: Sequence[tuple[Cell, ...]]) -> None:
    """Print a table whose first column names the rows; ``columns`` are the formats of the others."""
    table = Table(title, title, note, (("", ""), *columns.items()), tuple(rows))
    print(as_markdown(table), flush=True)


if __name__ == "__main__":
    sys.exit(main())
