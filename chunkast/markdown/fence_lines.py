"""Read the lines that open and close fences."""

from __future__ import annotations

import re
from typing import Final

from chunkast.markdown.lines import marks_end
from chunkast.model import Block
from chunkast.text.white_space import WHITE_SPACE

__all__ = ("FENCE", "Fences", "around_code", "closes", "opening_column")

# The marks that open a fence, and the info string. No run of marks is searched twice.
FENCE: Final = re.compile(r"(?P<run>`{3,}(?!`)(?![^\r\n]*`)|~{3,})(?P<info>[^\r\n]*)")
# The opening of a fence, or a tag in place of it.
_OPENING = re.compile(rf"{FENCE.pattern}|\{{[%{{][^\r\n]*")


def closes(line: str, run: str) -> bool:
    """Return whether ``line``, without surrounding blanks, closes a fence that ``run`` opened."""
    return len(line) >= len(run) and not line.strip(run[0])


def around_code(text: str, fence: Block, last: int) -> tuple[str, str]:
    """Return a fence's opening and closing lines without indentation and container prefix.

    The closing line begins at ``last``; if it is missing, a line that would close the fence is
    returned.
    """
    opening = _OPENING.search(text, fence.start, fence.end)
    if opening is None:
        return "", ""
    closing = opening["run"] or text[last : fence.end].strip(WHITE_SPACE + ">")
    return opening[0].rstrip(WHITE_SPACE), closing


def opening_column(text: str, fence: Block) -> int:
    """Return the number of characters before the fence marker on a fence's opening line."""
    opening = _OPENING.search(text, fence.start, fence.end)
    return opening.start() - fence.start if opening else 0


class Fences:
    """Finds the lines of fences in any container. Call ``take`` with every line, in order."""

    def __init__(self) -> None:
        self._run = ""

    def take(self, line: str) -> bool:
        """Return whether ``line`` opens a fence, is inside a fence, or closes a fence."""
        if self._run:
            if closes(line.strip(" \t>"), self._run):
                self._run = ""
            return True
        opening = FENCE.match(line, marks_end(line)) if "```" in line or "~~~" in line else None
        self._run = opening["run"] if opening else ""
        return opening is not None
