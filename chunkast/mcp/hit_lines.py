"""A hit as an agent sees it: its place, section and id, above its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkast.mcp.document_pages import escaped, printable, section_path

if TYPE_CHECKING:
    from chunkast.index import Hit

__all__ = ("passage_of", "place_of")


def passage_of(hit: Hit) -> str:
    """Return the text of a hit below a line with its place, section, copies and id."""
    return f"{_head(hit, 'part' if hit.part else '')}\n{escaped(hit.text)}"


def place_of(hit: Hit) -> str:
    """Return a line with the place of a hit, its section, copies, size and id."""
    return _head(hit, f"{hit.token_count:,} tokens")


def _head(hit: Hit, note: str) -> str:
    more = f" and {len(hit.also) - 1:,} more" if len(hit.also) > 1 else ""
    also = f"also in {hit.also[0]}{more}" if hit.also else ""
    names = hit.place, section_path(hit.section), also, note, f"id={hit.id}"
    return printable("  ".join(filter(None, names)))
