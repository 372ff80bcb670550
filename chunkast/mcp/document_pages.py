"""Pages of a document for an agent: numbered lines within a token limit, and the next call."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import regex

from chunkast.errors import ConfigError
from chunkast.reading.passages import most_fitting
from chunkast.text.graphemes import joined_spans
from chunkast.text.spans import trim_span

__all__ = ("DEFAULT_TOKENS", "Pages", "escaped", "printable", "section_path")

DEFAULT_TOKENS: Final = 2_000
# Characters that could hide or change what an agent reads.
_UNPRINTABLE: Final = regex.compile(r"[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]")
# Those in a text, where joiners, soft hyphens and the like are part of words.
_HIDING: Final = regex.compile(
    r"[[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]--[\t\r\n]]", regex.VERSION1
)
# Names that take more than this share of the limit are left out of the header.
_NAME_SHARE: Final = 4
# More characters than a grapheme cluster usually has.
_CLUSTER: Final = 64
_LINE_ENDS: Final = "\r\n"
_TITLE_LENGTH: Final = 200


def printable(text: str) -> str:
    """Return a name with control characters and invisible characters escaped as in JSON."""
    return str(_UNPRINTABLE.sub(_in_json, text))


def escaped(text: str) -> str:
    """Return lines of a text with control characters escaped as in JSON."""
    return str(_HIDING.sub(_in_json, text))


def _in_json(match: regex.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def section_path(titles: Iterable[str]) -> str:
    """Return a heading path in one line, with long titles shortened."""
    return " > ".join(
        title if len(title) <= _TITLE_LENGTH else f"{title[: _TITLE_LENGTH - 1]}…"
        for title in titles
    )


@dataclass(frozen=True)
class Pages:
    """The pages of a document.

    section: the heading path for the header.
    starts: the start of each line, and the length of the text.
    most: the maximum number of tokens in a page.
    """

    source: str
    section: str
    text: str
    starts: Sequence[int]
    count: Callable[[str], int]
    most: int

    def page(self, start: int, stop: int) -> tuple[str, int]:
        """Return the first page of ``text[start:stop]``, and the position at which it ends.

        It has as many whole lines as fit. It ends within a line only if that line is its first.
        """
        stop = max(trim_span(self.text, start, stop)[1], start)
        first, last = bisect_right(self.starts, start), bisect_left(self.starts, stop)
        ends = [*self.starts[first:last], stop]
        number = self._fitting(start, ends, stop)
        end = ends[number - 1] if number else self._inside(start, ends[0], stop)
        return self._shown(start, end, stop), end

    def _fitting(self, start: int, ends: Sequence[int], stop: int) -> int:
        """Return how many of the ``ends`` a page can have that begins at ``start``."""
        return most_fitting(ends, lambda end: self.count(self._shown(start, end, stop)), self.most)

    def _inside(self, start: int, line_end: int, stop: int) -> int:
        """Return the best end of a page in a line: after a space, else after a character."""
        number = self._fitting(start, range(start + 1, line_end), stop)
        if not number:
            least = self.most + self.count(self._shown(start, start + 1, stop))
            raise ConfigError("max_tokens", self.most, f"is too few here; {least:,} are enough")
        end = start + number
        after_space = self.text.rfind(" ", start, end) + 1
        if 2 * (after_space - start) >= number:
            return after_space
        around = joined_spans(self.text, max(start, end - _CLUSTER), min(end + _CLUSTER, line_end))
        return next((first for first, last in around if start < first < end < last), end)

    def _shown(self, start: int, end: int, stop: int) -> str:
        """Return the page that shows ``text[start:end]``, with the call that continues it."""
        first = bisect_right(self.starts, start)
        last = bisect_right(self.starts, max(end - 1, start))
        edges = [start, *self.starts[first:last], end]
        lines = [
            # Blank lines have no number.
            f"{number}\t{escaped(self.text[one:two].rstrip(_LINE_ENDS))}"
            if self._has_text(number)
            else ""
            for number, (one, two) in enumerate(pairwise(edges), first)
        ]
        names = [f"{printable(self.source)}:{first}-{last}", printable(self.section)]
        while names and _NAME_SHARE * self.count("  ".join(names)) > self.most:
            names.pop()
        tokens = f"{self.count(self.text[start:end]):,} tokens"
        head = "  ".join(filter(None, (*(names or [f"lines {first}-{last}"]), tokens)))
        return "\n".join([head, *lines, *self._next_call(end, stop)])

    def _has_text(self, line: int) -> bool:
        return bool(self.text[slice(*self.starts[line - 1 : line + 1])].strip())

    def _next_call(self, end: int, stop: int) -> list[str]:
        """Return the call that continues a page, or nothing if only white space follows."""
        start, stop = trim_span(self.text, end, stop)
        if start >= stop:
            return []
        column = end - self.starts[bisect_right(self.starts, end) - 1]
        line = bisect_right(self.starts, end if column else start)
        last = bisect_right(self.starts, stop - 1)
        where, place = ("within", f"{line}:{column + 1}") if column else ("at", f"{line}")
        most = "" if self.most == DEFAULT_TOKENS else f", max_tokens={self.most}"
        source = printable(json.dumps(self.source, ensure_ascii=False))
        call = f'read(source={source}, lines="{place}-{last}"{most})'
        return [f"continues {where} line {line:,}: {call}"]
