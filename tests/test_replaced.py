"""Spans that ``embed_text`` has something else for: what is promised of it, wherever it goes."""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from chunkast import (
    Analysis,
    Chunk,
    ChunkConfig,
    Chunker,
    Replacement,
    count_tokens,
    plan_writes,
)
from chunkast.config import DEFAULT_EXTENSIONS
from chunkast.core.analysis import DocumentDraft
from chunkast.heuristics import Heuristic, Patch
from chunkast.index import Store
from chunkast.output.formats import WRITERS
from tests.checks import check_promises
from tests.strategies import documents, markdown
from tests.test_analysis import after
from tests.test_writers import from_parquet

PAGE = re.compile(r"\n*<!-- page \d+ -->\n*")


def leave_out_pages(draft: DocumentDraft) -> Patch[Analysis]:
    assert draft.value is not None
    marks = (Replacement(*mark.span(), "\n\n") for mark in PAGE.finditer(draft.original))
    return Patch(value=draft.value.plus(replacements=marks))


PAGES = Heuristic("pages", "post-parse", leave_out_pages)
TEXT = "# Tides\n\n" + "".join(
    f"## {day}\n\nThe tide of day {day} turns.\n\n<!-- page {day} -->\n\nThen it falls again.\n\n"
    for day in range(12)
)
# Without what would find the same marks.
EXTENSIONS = tuple(name for name in DEFAULT_EXTENSIONS if name != "page_markers")
CHUNKER = Chunker(
    max_tokens=60, overlap=0, min_tokens=0, heuristics=(PAGES,), extensions=EXTENSIONS
)


def chunks() -> list[Chunk]:
    found = CHUNKER.chunk(TEXT, "tides.md")
    assert len(found) > 3
    assert all("page" in chunk.text and "page" not in chunk.embed_text for chunk in found)
    assert all(chunk.embed_token_count == count_tokens(chunk.embed_text) for chunk in found)
    assert all(chunk.text not in chunk.embed_text for chunk in found)
    assert all(chunk.embed_text.startswith(("# Tides", "Tides\n\n")) for chunk in found)
    return found


@given(
    documents() | markdown(),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 60), st.text(max_size=12)), max_size=8),
    st.sampled_from([1, 7, 20, 60, 400]),
    st.booleans(),
    st.sampled_from([0, 0.2]),
)
def test_the_promises_hold_whatever_is_replaced(
    text: str, spans: list[tuple[int, int, str]], budget: int, trim: bool, overlap: float
) -> None:
    found = [
        Replacement(start, min(start + size, len(text)), shown)
        for start, size, shown in spans
        if start < min(start + size, len(text))
    ]
    replacing = after("replace", replacements=found)
    config = ChunkConfig(max_tokens=budget, overlap=overlap, trim=trim, heuristics=(replacing,))
    check_promises(text, config)


def test_what_does_not_fit_is_not_put_in_place_of_what_does() -> None:
    longer = after("longer", replacements=[Replacement(0, 4, "many more words than there were")])
    chunker = Chunker(max_tokens=3, overlap=0, heuristics=[longer])
    assert [chunk.embed_text for chunk in chunker.chunk("Some text.")] == ["Some text."]


def test_a_page_number_is_no_reason_to_embed_again() -> None:
    renumbered = CHUNKER.chunk(re.sub(r"page (\d+)", r"page 8\1", TEXT), "tides.md")
    plan = plan_writes(renumbered, found := chunks())
    assert (plan.embed, len(plan.changed)) == ((), len(found))


def test_a_store_keeps_it(tmp_path: Path) -> None:
    path = str(tmp_path / "chunks.db")
    found = chunks()
    with Store(path, create=True) as store:
        store.update([("tides.md", TEXT)], CHUNKER)
    with Store(path, read_only=True) as store:
        assert list(store.chunks()) == found
        assert store.faults() == []


def test_every_format_has_it() -> None:
    found = chunks()
    assert [Chunk.from_dict(json.loads(json.dumps(chunk.to_dict()))) for chunk in found] == found
    out = BytesIO()
    WRITERS["parquet"].write(found, out, CHUNKER)
    assert from_parquet(out.getvalue()) == found
