"""Front matter: a block of YAML or TOML at the very start of a document.

``---`` over text over ``---`` is a heading in Markdown, so a block counts only when its
first line of content looks like YAML (``key:``) or TOML (``key =`` or ``[table]``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ("front_matter_lines",)

_YAML_KEY = re.compile(r"(?:[\w.\-/ ]{1,100}|\"[^\"\n]{1,100}\"|'[^'\n]{1,100}')[ \t]*:(?:\s|$)")
_TOML_LINE = re.compile(r"(?:[\w.\-\"']{1,100}[ \t]*=|\[{1,2}[^\[\]\n]{1,100}\])")
# Opening line -> lines that close, and what the first line of content looks like.
_FORMS = {
    "---": (("---", "..."), _YAML_KEY),
    "+++": (("+++",), _TOML_LINE),
}


def front_matter_lines(text: str, starts: Sequence[int]) -> int:
    """How many lines of ``text`` are front matter, delimiters included; 0 if none.

    ``starts`` are the line starts with the text's length at the end. A byte order mark
    may precede the opening line.
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
