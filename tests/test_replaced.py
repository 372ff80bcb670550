"""Spans that ``embed_text`` has something else for, wherever chunks go."""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path

from chunkast import Chunk, Chunker, Replacement, plan_writes
from chunkast.index import Store
from chunkast.output.formats import WRITERS
from tests.test_analysis import after
from tests.test_writers import from_parquet

TEXT = "# Tides\n\n" + "".join(
    f"## {day}\n\nThe tide of day {day} turns.\n\n[sheet {day}]\n\nThen it falls again.\n\n"
    for day in range(12)
)
SHEET = re.compile(r"\n*\[sheet \d+\]\n*")


def sheets(text: str) -> Chunker:
    """A chunker that leaves the numbers of sheets in ``text`` out of what is embedded."""
    found = [Replacement(*mark.span(), "\n\n") for mark in SHEET.finditer(text)]
    replacing = after("sheets", replacements=found)
    return Chunker(max_tokens=60, overlap=0, min_tokens=0, heuristics=(replacing,))


def test_what_is_replaced_is_kept_by_stores_and_formats(tmp_path: Path) -> None:
    chunker = sheets(TEXT)
    found = chunker.chunk(TEXT, "tides.md")
    assert len(found) > 3
    assert all("sheet" in chunk.text and "sheet" not in chunk.embed_text for chunk in found)
    assert [Chunk.from_dict(json.loads(json.dumps(chunk.to_dict()))) for chunk in found] == found
    out = BytesIO()
    WRITERS["parquet"].write(found, out, chunker)
    assert from_parquet(out.getvalue()) == found
    path = str(tmp_path / "chunks.db")
    with Store(path, create=True) as store:
        store.update([("tides.md", TEXT)], chunker)
        assert list(store.chunks()) == found
        assert store.faults() == []
    # Another number is no reason to embed again.
    renumbered = re.sub(r"sheet (\d+)", r"sheet 8\1", TEXT)
    plan = plan_writes(sheets(renumbered).chunk(renumbered, "tides.md"), found)
    assert (plan.embed, len(plan.changed)) == ((), len(found))


def test_what_does_not_fit_is_not_put_in_place_of_what_does() -> None:
    longer = after("longer", replacements=[Replacement(0, 4, "many more words than there were")])
    chunker = Chunker(max_tokens=3, overlap=0, heuristics=[longer])
    assert [chunk.embed_text for chunk in chunker.chunk("Some text.")] == ["Some text."]
