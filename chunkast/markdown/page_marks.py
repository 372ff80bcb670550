"""Find and mask page marks outside fences. A mark in a fence is part of an example."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.markdown.parser import ParsedMarkdown
from chunkast.model import Block
from chunkast.text.pages import PageMark
from chunkast.text.spans import SpanSet, spliced

__all__ = ("marks_outside_fences", "mask_pages")

_CHARACTER = re.compile(r"[^\r\n]")


def marks_outside_fences(
    marks: list[PageMark], source: str, parse: Callable[[str], ParsedMarkdown]
) -> list[PageMark]:
    """Return the sorted ``marks`` in a text that are outside fences.

    ``parse`` is called with all marks masked and then, if any mark is inside a fence, with the
    unchanged ``source``.
    """
    inside = _fences(mask_pages(source, marks), parse) if marks else SpanSet(())
    if not any(inside.covers(mark.start) for mark in marks):
        return marks
    # A mark may end the list that the fence is in, so that it is outside the fence as it stands.
    without = _fences(source, parse)
    return [
        mark for mark in marks if not (inside.covers(mark.start) and without.covers(mark.start))
    ]


def _fences(text: str, parse: Callable[[str], ParsedMarkdown]) -> SpanSet:
    try:
        leaves = parse(text).tree.leaves()
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - a text that cannot be parsed has no fences
        return SpanSet(())
    return SpanSet((leaf.start, leaf.end) for leaf in leaves if CONSTRUCTS[leaf.kind].fenced)


def mask_pages(source: str, marks: Sequence[PageMark | Block]) -> str:
    """Return ``source`` with blanks in place of ``marks``: page marks, running heads and feet."""
    blanks = (_CHARACTER.sub(" ", source[mark.start : mark.end]) for mark in marks)
    spans = zip(marks, blanks, strict=True)
    return spliced(source, ((mark.start, mark.end, blank) for mark, blank in spans))
