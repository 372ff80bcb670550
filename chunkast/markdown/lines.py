"""Find front matter, and the markers at the start of a line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

__all__ = ("SHIFTED", "front_matter_lines", "marks_end")

# The key in the parser's environment that is set once a rule moves the starts of lines.
SHIFTED: Final = "chunkast_shifted"
_YAML_KEY = re.compile(r"(?:[\w.\-/ ]{1,100}|\"[^\"\n]{1,100}\"|'[^'\n]{1,100}')[ \t]*:(?:\s|$)")
_TOML_LINE = re.compile(r"(?:[\w.\-\"']{1,100}[ \t]*=|\[{1,2}[^\[\]\n]{1,100}\])")
# Opening line -> closing lines, and a pattern for the first line of content.
_FORMS = {
    "---": (("---", "..."), _YAML_KEY),
    "+++": (("+++",), _TOML_LINE),
}
# A quote's or an item's marker, or blanks.
_MARKS = re.compile(r"[ \t>]+|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])")


def marks_end(text: str, start: int = 0, end: int | None = None) -> int:
    """Return the end of the quote and item markers at the start of ``text[start:end]``, a line."""
    last = len(text) if end is None else end
    # Matched one by one: a repeated group in the pattern takes a hundred bytes for each marker.
    while marks := _MARKS.match(text, start, last):
        start = marks.end()
    return start


def front_matter_lines(text: str, starts: Sequence[int]) -> int:
    """Return the number of lines of YAML or TOML front matter, including delimiters, or 0.

    In Markdown, text between two ``---`` lines may be a heading, so the first line of content has
    to look like YAML (``key:``) or TOML (``key =`` or ``[table]``). ``starts`` has the line starts,
    and the text's length at the end. A byte order mark may precede the opening line.
    """
    if len(starts) < 3:
        return 0
    form = _FORMS.get(text[: starts[1]].removeprefix("\ufeff").rstrip())
    if form is None:
        return 0
    closers, first_line = form
    seen = False
    for line in range(1, len(starts) - 1):
        content = text[starts[line] : starts[line + 1]].rstrip()
        if content in closers:
            return line + 1 if seen else 0
        if not seen and content and not content.startswith("#"):
            if not first_line.match(content):
                return 0
            seen = True
    return 0
