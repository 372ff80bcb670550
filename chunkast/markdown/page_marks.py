"""Page marks outside fences, and their masks; a mark in a fence is part of an example."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chunkast.config import DEFAULT_EXTENSIONS
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.markdown.parser import parse_document
from chunkast.model import Block
from chunkast.text.pages import PageMark, page_marks
from chunkast.text.spans import SpanSet

__all__ = ("marks_outside_fences", "mask_pages")

_FENCE = re.compile("```|~~~")
_CHARACTER = re.compile(r"[^\r\n]")


def marks_outside_fences(
    text: str,
    own: str | None,
    *,
    parsed: str = "",
    extensions: Sequence[str] = DEFAULT_EXTENSIONS,
) -> list[PageMark]:
    """Return the page marks in ``text`` outside fences, in order.

    ``own`` is a user's pattern. The fences are those of ``parsed``, in which all positions are the
    same as in ``text``; by default, those of ``text``. Only a text that has both is parsed.
    """
    source = parsed or text
    marks = page_marks(text, own)
    fence = _FENCE.search(source) if marks else None
    if fence is None or marks[-1].start < fence.start():
        return marks
    inside = _fences(mask_pages(source, marks), extensions)
    if not any(inside.covers(mark.start) for mark in marks):
        return marks
    # A mark may end the list that the fence is in, so that it is outside the fence as it stands.
    without = _fences(source, extensions)
    return [
        mark for mark in marks if not (inside.covers(mark.start) and without.covers(mark.start))
    ]


def _fences(text: str, extensions: Sequence[str]) -> SpanSet:
    try:
        leaves = parse_document(text, extensions, blanks=False).tree.leaves()
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - a text that cannot be parsed has no fences
        return SpanSet(())
    return SpanSet((leaf.start, leaf.end) for leaf in leaves if CONSTRUCTS[leaf.kind].fenced)


def mask_pages(source: str, marks: Sequence[PageMark | Block]) -> str:
    """Return ``source`` with page marks, running heads and feet replaced with blanks."""
    parts: list[str] = []
    at = 0
    for mark in marks:
        parts += (source[at : mark.start], _CHARACTER.sub(" ", source[mark.start : mark.end]))
        at = mark.end
    return "".join((*parts, source[at:])) if parts else source
