"""Page marks outside fences: a mark in a code block is part of an example."""

from __future__ import annotations

from collections.abc import Sequence

from chunkast.config import DEFAULT_EXTENSIONS
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.markdown.parser import parse_document
from chunkast.text.pages import PageMark, page_marks
from chunkast.text.spans import SpanSet

__all__ = ("marks_outside_fences",)


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
    parsed = parsed or text
    marks = page_marks(text, own)
    if not marks or not ("```" in parsed or "~~~" in parsed):
        return marks
    try:
        leaves = parse_document(parsed, extensions, blanks=False).tree.leaves()
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - a text that cannot be parsed has no fences
        return marks
    fences = SpanSet((leaf.start, leaf.end) for leaf in leaves if CONSTRUCTS[leaf.kind].fenced)
    return [mark for mark in marks if not fences.covers(mark.start)]
