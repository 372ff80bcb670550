"""Finds the lines of fences in a text before it is parsed."""

from __future__ import annotations

import re

__all__ = ("Fences",)

_OPENING = re.compile(r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(?P<run>`{3,}(?!.*`)|~{3,})")


class Fences:
    """Finds the lines of fences, in any container; call ``take`` with every line, in order."""

    def __init__(self) -> None:
        self._run = ""

    def take(self, line: str) -> bool:
        """Return True if ``line`` opens a fence, is inside a fence, or closes a fence."""
        if self._run:
            closing = line.strip(" \t>")
            if len(closing) >= len(self._run) and not closing.strip(self._run[0]):
                self._run = ""
            return True
        opening = _OPENING.match(line) if "```" in line or "~~~" in line else None
        self._run = opening["run"] if opening else ""
        return opening is not None
