"""What tells at once that a text cannot have a construct, which is not sought then."""

from __future__ import annotations

import re

__all__ = ("Signs",)

# As many characters as the longest name that is asked for.
_OPENING = re.compile("<([^<]{0,5})")


class Signs:
    """Whether a parsed text may have markup.

    html: whether its tree has a block of HTML.
    tables: whether it has a table of Markdown.
    """

    __slots__ = ("_openings", "html", "tables")

    def __init__(self, text: str, *, html: bool, tables: bool) -> None:
        self.html = html
        self.tables = tables
        # Found once for all that is asked.
        self._openings = set(_OPENING.findall(text))

    def may_open(self, *names: str) -> bool:
        """Whether ``<`` stands before one of these, each of at most 5 characters."""
        return any(opening.startswith(names) for opening in self._openings)
