"""Work on a text's lines before the parse."""

from __future__ import annotations

import re

__all__ = ("cover", "marks_end")

# A quote's or an item's marker, and blanks.
_MARKS = re.compile(r"[ \t>]+|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])")


def marks_end(text: str, start: int = 0, end: int | None = None) -> int:
    """Where the markers of quotes and items end with which the line ``text[start:end]`` begins."""
    last = len(text) if end is None else end
    # One by one: a repeat of them takes a hundred bytes for each of thousands.
    while marks := _MARKS.match(text, start, last):
        start = marks.end()
    return start


def cover(lines: list[str], first: int, end: int, indent: int = 0) -> None:
    """Put an HTML comment in place of the lines ``[first, end)``, indented by the given columns."""
    margin = " " * indent
    lines[first:end] = [f"{margin}x"] * (end - first)
    lines[end - 1] = f"{margin}-->"
    lines[first] = margin + ("<!---->" if end == first + 1 else "<!--")
