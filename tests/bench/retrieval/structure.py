"""Structure kept by chunks: fitting blocks that are cut, stranded headings, sizes.

As in :mod:`tests.bench.facts`: the blocks are markdown-it-py's, and places are compared with
white space left out. Whoever cuts a block that fits the budget by itself is counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from tests.bench.facts import Source
from tests.bench.retrieval.chunkers import Piece

__all__ = ("KINDS", "silent", "structure")

Fits = Callable[[str], bool]

# What is looked for and markdown-it-py's name of it.
_BLOCKS = {
    "fence": "fence",
    "table": "table_open",
    "item": "list_item_open",
    "paragraph": "paragraph_open",
}
KINDS = (*_BLOCKS, "sentence", "lead-in", "heading")

# Only at the start of a document.
_FRONT_MATTER = re.compile(r"\A---\r?\n[\s\S]*?^---[ \t]*$", re.MULTILINE)
# What says nothing by itself: comments, definitions of links, images, headings,
# rules.
_SILENT = re.compile(
    r"<!--[\s\S]*?-->|^\[[^\]\n]+\]:.*$|\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?"
    r"|^ {0,3}#{1,6}[ \t].*$|^.+\n {0,3}(?:=+|-+)[ \t]*$",
    re.MULTILINE,
)


def structure(source: Source, pieces: Sequence[Piece], budget: int, fits: Fits) -> Counter[str]:
    """Return the counts for one document.

    Of each kind those that fit, and as "KIND cut" those of them that no chunk holds whole; then
    what the chunks are like.
    """
    spans = [source.solid_span(piece.start, piece.end) for piece in pieces]
    ends = {end for _, end in spans}
    found: Counter[str] = Counter()

    def note(kind: str, start: int, end: int) -> None:
        found[kind] += 1
        found[f"{kind} cut"] += not any(a <= start and end <= b for a, b in spans)

    for kind, token in _BLOCKS.items():
        for start, end in source.that_fit(token, fits):
            note(kind, start, end)
    for start, end in source.sentences(fits):
        note("sentence", start, end)
    for last, first in source.lead_ins(fits):
        note("lead-in", last - 1, first + 1)
    found["heading"] = len(source.heading_ends)
    found["heading cut"] = sum(end in ends for end in source.heading_ends)
    found["chunks"] = len(pieces)
    found["tokens"] = sum(piece.tokens for piece in pieces)
    found["below 10 %"] = sum(piece.tokens * 10 < budget for piece in pieces)
    found["below 25 %"] = sum(piece.tokens * 4 < budget for piece in pieces)
    found["silent"] = sum(silent(source.text, piece.start, piece.end) for piece in pieces)
    return found


def silent(text: str, start: int, end: int) -> bool:
    """Return whether a chunk has only front matter, headings, badges or definitions."""
    own = text[start:end]
    if not text[:start].strip():
        own = _FRONT_MATTER.sub("", own)
    return not re.search(r"\w", _SILENT.sub("", own))
