"""Pages of a document for an agent: numbered lines within a token limit, and the next call."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final

import regex

from chunkast.errors import ConfigError
from chunkast.text.graphemes import clusters
from chunkast.text.spans import trim_span

__all__ = ("DEFAULT_TOKENS", "Pages", "printable", "span_of_lines")

DEFAULT_TOKENS: Final = 2_000
# Characters that could hide or change what an agent reads.
_UNPRINTABLE: Final = regex.compile(r"[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]")
# A name or a path that takes more than this share of the limit is left out of the header.
_NAME_SHARE: Final = 4
# More characters than a grapheme cluster usually has.
_CLUSTER: Final = 64
_LINE_ENDS: Final = "\r\n"


def printable(text: str) -> str:
    """Return ``text`` with control characters and invisible characters escaped as in JSON."""
    return str(_UNPRINTABLE.sub(lambda found: json.dumps(found[0])[1:-1], text))


def span_of_lines(starts: Sequence[int], lines: str) -> tuple[int, int]:
    """Return the span of ``lines``: "12-40", or "12:80-40" from the 80th character of line 12.

    ``starts`` are the starts of the lines, and the length of the text. Raises ``ConfigError`` if
    there are no such lines.
    """
    begin, _, last = lines.partition("-")
    first, _, column = begin.partition(":")
    if not 1 <= int(first) < len(starts) or int(last) < int(first):
        allowed = f"must be a first and a last line from 1 to {len(starts) - 1:,}"
        raise ConfigError("lines", lines, allowed)
    start = min(starts[int(first) - 1] + max(int(column or 1), 1) - 1, starts[int(first)])
    return start, starts[min(int(last), len(starts) - 1)]


@dataclass(frozen=True)
class Pages:
    """The pages of a document.

    section: the heading path for the header.
    sections: the positions at which sections begin.
    starts: the start of each line, and the length of the text.
    most: the maximum number of tokens in a page.
    """

    source: str
    section: str
    text: str
    sections: frozenset[int]
    starts: Sequence[int]
    count: Callable[[str], int]
    most: int

    def page(self, start: int, stop: int) -> tuple[str, int]:
        """Return the first page of ``text[start:stop]``, and the position at which it ends.

        It has as many whole lines as fit, but ends at a section or a blank line if it is at least
        half full there. It ends within a line only if that line does not fit alone.
        """
        start, stop = self._trimmed(start, stop)
        first, last = bisect_right(self.starts, start), bisect_left(self.starts, stop)
        edges = [*self.starts[first:last], stop]
        shown = partial(self._shown, start, stop)
        whole = self._fitting(edges, shown)
        if whole == len(edges):
            return shown(stop), stop
        end = edges[whole - 1] if whole else start
        half_full = bisect_left(
            edges, self.most, hi=whole, key=lambda at: 2 * self.count(shown(at))
        )
        if half_full < whole:
            end = self._best(edges[half_full:whole])
        elif not whole or not self._fits(self._shown(end, stop, edges[whole])):
            end = self._inside(end, edges[whole], shown)
        return shown(end), end

    def _trimmed(self, start: int, stop: int) -> tuple[int, int]:
        """Return the span without blank lines at its edges; a part of a line stays as it is."""
        first, last = trim_span(self.text, start, stop)
        begins_line = self.starts[bisect_right(self.starts, start) - 1] == start
        return (first if begins_line else start), max(last, start)

    def _fits(self, shown: str) -> bool:
        return self.count(shown) <= self.most

    def _fitting(self, ends: Sequence[int], shown: Callable[[int], str]) -> int:
        """Return the number of the first ``ends`` at which a page fits."""
        high = 1
        while high < len(ends) and self._fits(shown(ends[high - 1])):
            high *= 2
        found = bisect_right(
            ends, self.most, hi=min(high, len(ends)), key=lambda end: self.count(shown(end))
        )
        # A longer text may have fewer tokens.
        while found and not self._fits(shown(ends[found - 1])):
            found -= 1
        return found

    def _best(self, edges: Sequence[int]) -> int:
        """Return the last edge before a section, else the last one at a blank line, else the last."""
        return next(
            (
                edge
                for is_good in (self.sections.__contains__, self._is_at_gap)
                for edge in reversed(edges)
                if is_good(edge)
            ),
            edges[-1],
        )

    def _is_at_gap(self, edge: int) -> bool:
        line = bisect_right(self.starts, edge) - 1
        return not self._line(line - 1).strip() or not self._line(line).strip()

    def _line(self, number: int) -> str:
        return self.text[slice(*self.starts[number : number + 2])]

    def _inside(self, start: int, end: int, shown: Callable[[int], str]) -> int:
        """Return the best end of a page in a line: after a space, else after a character."""
        ends = range(start + 1, end)
        fitting = self._fitting(ends, shown)
        if not fitting:
            least = self.most + self.count(shown(start + 1))
            raise ConfigError("max_tokens", self.most, f"is too few here; {least:,} are enough")
        last = ends[fitting - 1]
        words = self.text[start:last].rpartition(" ")[0]
        if words and 2 * self.count(shown(start + len(words) + 1)) >= self.most:
            return start + len(words) + 1
        near = max(start, last - _CLUSTER)
        whole = [at for _, at in clusters(self.text, near, min(last + _CLUSTER, end)) if at <= last]
        return max((at for at in whole if at > start), default=last)

    def _shown(self, start: int, stop: int, end: int) -> str:
        """Return the page that shows ``text[start:end]``, with the call that continues it."""
        first = bisect_right(self.starts, start) - 1
        last = bisect_right(self.starts, max(end - 1, start)) - 1
        edges = [start, *self.starts[first + 1 : last + 1], end]
        lines = [
            f"{number + 1}\t{self.text[one:two].rstrip(_LINE_ENDS)}"
            if self._line(number).strip()
            else ""
            for number, (one, two) in enumerate(pairwise(edges), first)
        ]
        tokens = f"{self.count(self.text[start:end]):,} tokens"
        head = "  ".join([*self._names(f"{first + 1}-{last + 1}"), tokens])
        return "\n".join([head, *lines, *self._next_call(end, stop)])

    def _names(self, lines: str) -> list[str]:
        """Return the document's name with the lines, and the section, without what is too long."""
        place, section = f"{printable(self.source)}:{lines}", printable(self.section)
        if _NAME_SHARE * self.count(place) > self.most:
            return [f"lines {lines}"]
        too_long = _NAME_SHARE * self.count(f"{place}  {section}") > self.most
        return [place] if too_long else [place, section]

    def _next_call(self, end: int, stop: int) -> list[str]:
        """Return the call that continues a page, or nothing if only white space follows."""
        start, stop = self._trimmed(end, stop)
        if start >= stop:
            return []
        line = bisect_right(self.starts, start) - 1
        column = start - self.starts[line]
        place = f"{line + 1}:{column + 1}" if column else f"{line + 1}"
        lines = f"{place}-{bisect_right(self.starts, stop - 1)}"
        most = "" if self.most == DEFAULT_TOKENS else f", max_tokens={self.most}"
        source = printable(json.dumps(self.source, ensure_ascii=False))
        within = " within" if column else " at"
        return [
            f'continues{within} line {line + 1:,}: read(source={source}, lines="{lines}"{most})'
        ]
