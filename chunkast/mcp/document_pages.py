"""Show a document to an agent in pages: numbered lines within a token limit, and the next call."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import regex

from chunkast.errors import ConfigError, counted
from chunkast.reading.passages import most_fitting

__all__ = ("DEFAULT_TOKENS", "Pages", "escaped", "printable", "section_path")

DEFAULT_TOKENS: Final = 2_000
_UNLIMITED: Final = 10**9
# Characters that could hide or change what an agent reads.
_UNPRINTABLE: Final = regex.compile(r"[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]")
# Those in a text, where joiners, soft hyphens and the like are part of words.
_HIDING: Final = regex.compile(
    r"[[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]--[\t\r\n]]", regex.VERSION1
)
# Names that take more than this share of the limit are left out of the header.
_NAME_SHARE: Final = 4
_TITLE_LENGTH: Final = 200


def printable(text: str) -> str:
    """Return a name with control and invisible characters escaped as in JSON."""
    return str(_UNPRINTABLE.sub(_in_json, text))


def escaped(text: str) -> str:
    """Return a text with control characters, except tabs and line endings, escaped as in JSON."""
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
    lines: the lines of the document, without line endings.
    most: the maximum number of tokens in a page.
    """

    source: str
    section: str
    lines: Sequence[str]
    count: Callable[[str], int]
    most: int

    def page(self, first: int, stop: int) -> tuple[str, int]:
        """Return the page that begins with line ``first``, and the number of the page's last line.

        The page has as many lines up to ``stop`` as fit. Raises ``ConfigError`` if a single line
        does not fit.
        """
        ends = range(first, stop + 1)
        number = most_fitting(ends, lambda end: self.count(self.shown(first, end, stop)), self.most)
        if not number:
            # The last page names no next call.
            rest = self.shown(first, stop, stop)
            if self.count(rest) <= self.most:
                return rest, stop
            # A page with a higher limit may have names in its header.
            least = self.count(replace(self, most=_UNLIMITED).shown(first, first, stop))
            advice = f"too few for line {first}; {least:,} are enough"
            raise ConfigError("max_tokens", self.most, advice)
        return self.shown(first, ends[number - 1], stop), ends[number - 1]

    def shown(self, first: int, last: int, stop: int) -> str:
        """Return the page with the lines ``first`` to ``last``, and the call that continues it."""
        shown = self.lines[first - 1 : last]
        # Blank lines have no number.
        numbered = (
            f"{number}\t{escaped(line)}" if line.strip() else ""
            for number, line in enumerate(shown, first)
        )
        names = [f"{printable(self.source)}:{first}-{last}", printable(self.section)]
        while names and _NAME_SHARE * self.count("  ".join(names)) > self.most:
            names.pop()
        tokens = counted(self.count("\n".join(shown).strip()), "token")
        head = "  ".join(filter(None, (*(names or [f"lines {first}-{last}"]), tokens)))
        return "\n".join([head, *numbered, *self._next_call(last, stop)]).rstrip("\n")

    def _next_call(self, last: int, stop: int) -> list[str]:
        """Return the call that continues a page, or nothing if only blank lines follow."""
        following = range(last + 1, stop + 1)
        line = next((number for number in following if self.lines[number - 1].strip()), None)
        if line is None:
            return []
        most = "" if self.most == DEFAULT_TOKENS else f", max_tokens={self.most}"
        source = printable(json.dumps(self.source, ensure_ascii=False))
        return [f'continues at line {line:,}: read(source={source}, lines="{line}-{stop}"{most})']
