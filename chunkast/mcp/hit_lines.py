"""A hit as an agent sees it: its place, section and id, above its text or its best lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from chunkast.index.terms import content_words, word_places
from chunkast.mcp.document_pages import escaped, printable, section_path

if TYPE_CHECKING:
    from chunkast.index import Hit

__all__ = ("HitLines",)

_HIT_LINES: Final = 2
_LINE_LENGTH: Final = 100
# A match after this many characters of its line is named with the character.
_LONG_LINE: Final = 400
# The only characters of a line without content.
_MARKS: Final = "#-=*`~|:> \t"
_LINE_END: Final = re.compile(r"\r\n?|\n")
# Destinations of links, which would crowd out the text of a hit.
_DESTINATION: Final = re.compile(r"\]\(\S*?\)")


class _Line(NamedTuple):
    """A line of a hit: its number, its text, and how many words of the query it has."""

    number: int
    text: str
    words: int


@dataclass(frozen=True)
class HitLines:
    """Shows hits to an agent.

    wanted: the significant words of the query.
    before: a function that returns the number of characters before a hit in its first line.
    """

    wanted: Collection[str]
    before: Callable[[Hit], int]

    def passage(self, hit: Hit) -> str:
        """Return the text of a hit below a line with its place, section, copies and id."""
        head = self._head(hit, "part" if hit.part else "", self._best(hit))
        return f"{head}\n{escaped(hit.text)}"

    def pointer(self, hit: Hit) -> str:
        """Return the place of a hit, and its lines with the most of the ``wanted`` words."""
        best = self._best(hit)
        shown = (self._excerpt(_DESTINATION.sub("]", each.text).strip()) for each in sorted(best))
        return "\n  ".join((self._head(hit, f"{hit.token_count:,} tokens", best), *shown))

    def _head(self, hit: Hit, note: str, best: list[_Line]) -> str:
        """Return the line above a hit; its id has the place of the best match."""
        more = f" and {len(hit.also) - 1:,} more" if len(hit.also) > 1 else ""
        also = f"also in {hit.also[0]}{more}" if hit.also else ""
        match = ""
        if best:
            number, line, _ = best[0]
            column = self._first(line) + (self.before(hit) if number == hit.start_line else 0)
            match = f"@{number}:{column + 1}" if column > _LONG_LINE else f"@{number}"
        names = hit.place, section_path(hit.section), also, note, f"id={hit.id}{match}"
        return printable("  ".join(filter(None, names)))

    def _best(self, hit: Hit) -> list[_Line]:
        """Return the lines with content that have the most of the words, best first."""
        lines = [
            _Line(number, line, len(content_words(line).intersection(self.wanted)))
            for number, line in enumerate(_LINE_END.split(hit.text), hit.start_line)
            if line.strip(_MARKS) and not line.lstrip().startswith(("#", "<"))
        ]
        matching = [line for line in lines if line.words] or lines[:_HIT_LINES]
        distinct = {line.text.strip(): line for line in reversed(matching)}.values()
        return sorted(distinct, key=lambda line: (-line.words, line.number))[:_HIT_LINES]

    def _excerpt(self, line: str) -> str:
        """Return the part of a line with the first of the words."""
        first = self._first(line)
        start = 0 if first < _LINE_LENGTH // 2 else first - _LINE_LENGTH // 4
        end = start + _LINE_LENGTH
        return printable(f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}")

    def _first(self, line: str) -> int:
        """Return the position of the first of the words, or 0."""
        return next((at for at, word in word_places(line) if word in self.wanted), 0)
