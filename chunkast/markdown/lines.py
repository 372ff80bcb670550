"""Work on a text's lines before the parse: finding those of fences, hiding others."""

from __future__ import annotations

import re
from typing import Final

import regex

__all__ = ("CONTAINER_MARKS", "Fences", "cover")

# Quote and item markers before the text of a line. A possessive repeat keeps nothing to come
# back to, which would take a hundred bytes for each of thousands of marks.
CONTAINER_MARKS: Final = regex.compile(r"(?:[ \t>]++|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))*+")
_OPENING = re.compile(r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(?P<run>`{3,}(?!.*`)|~{3,})")


class Fences:
    """Finds the lines of fences, in any container; must be called with every line in order."""

    def __init__(self) -> None:
        self._run = ""

    def take(self, line: str) -> bool:
        """Whether ``line`` belongs to a fence: opens one, is inside, or closes it."""
        if self._run:
            closing = line.strip(" \t>")
            if len(closing) >= len(self._run) and not closing.strip(self._run[0]):
                self._run = ""
            return True
        opening = _OPENING.match(line) if "```" in line or "~~~" in line else None
        self._run = opening["run"] if opening else ""
        return opening is not None


def cover(lines: list[str], first: int, end: int, indent: int = 0) -> None:
    """Put an HTML comment in place of the lines ``[first, end)``, indented by the given columns."""
    margin = " " * indent
    lines[first:end] = [f"{margin}x"] * (end - first)
    lines[end - 1] = f"{margin}-->"
    lines[first] = margin + ("<!---->" if end == first + 1 else "<!--")
