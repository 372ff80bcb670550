"""Blocks between conflict markers underline nothing."""

from __future__ import annotations

from chunkast import Chunker

BLOCK = "<<<<<<< SEARCH\nold\n=======\nnew\n\n# C\n>>>>>>> REPLACE\n"


def test_a_conflict_is_kept_whole() -> None:
    text = f"Some words before it, and some more.\n\n{BLOCK}\nWords after it.\n"
    (region,) = Chunker().analyze(text).regions
    assert region.kind == "conflict"
    assert text[region.start : region.end] == BLOCK.strip()
