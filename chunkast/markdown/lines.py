"""Work on a text's lines before the parse."""

from __future__ import annotations

from typing import Final

import regex

__all__ = ("CONTAINER_MARKS", "cover")

# Quote and item markers before the text of a line. A possessive repeat keeps nothing to come
# back to, which would take a hundred bytes for each of thousands of marks.
CONTAINER_MARKS: Final = regex.compile(r"(?:[ \t>]++|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))*+")


def cover(lines: list[str], first: int, end: int, indent: int = 0) -> None:
    """Put an HTML comment in place of the lines ``[first, end)``, indented by the given columns."""
    margin = " " * indent
    lines[first:end] = [f"{margin}x"] * (end - first)
    lines[end - 1] = f"{margin}-->"
    lines[first] = margin + ("<!---->" if end == first + 1 else "<!--")
