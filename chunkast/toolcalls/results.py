"""Find the results of tool calls in a text, in the forms that chat templates write."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, NamedTuple

from chunkast.toolcalls.protocols import TABLES

__all__ = ("Exchange", "find_exchanges")

Span = tuple[int, int]

# What begins a result, and what ends it. The first row that matches decides.
_FORMS: Final = tuple((row["opener"], row["closer"]) for row in TABLES["results"])
# What may be between a call and its result: white space, tokens and a line with a role.
_BETWEEN: Final = (
    r"(?:\s|</?s>|<(?:start|end)_of_turn>|\]~b\]|\[e~\[|<[|｜][^<>|｜\s]{1,40}[|｜]>"
    r"|(?<![^\n>\]])[^\w\r\n<]{0,9}(?:user|human|tool|ipython|function|environment|observation)"
    r"(?:[ _-](?:results?|responses?|outputs?))?[^\w\r\n<]{0,9}(?=[\r\n<])){0,400}"
)
_ADJACENT: Final = re.compile(_BETWEEN, re.IGNORECASE)
_RESULT: Final = re.compile(
    f"{_BETWEEN}?(?:{'|'.join(f'({opener})' for opener, _ in _FORMS)})", re.IGNORECASE
)


class Exchange(NamedTuple):
    """The spans of adjacent calls, and of the results right after them."""

    calls: tuple[Span, ...]
    results: tuple[Span, ...]


def find_exchanges(text: str, calls: Iterable[Span]) -> Iterator[Exchange]:
    """Yield the calls that have results; ``calls`` are the sorted spans of all calls in ``text``.

    A result that is not closed before another result of its form begins is ordinary text. Calls
    inside a result are ignored.
    """
    # All matches of a pattern are found at once, so that nothing is searched twice.
    known = cache(lambda pattern: [m.span() for m in re.finditer(pattern, text, re.IGNORECASE)])

    def following(pattern: str, pos: int) -> Span:
        spans: list[Span] = known(pattern)
        slot = bisect_left(spans, (pos,))
        return spans[slot] if slot < len(spans) else (len(text) + 1, 0)

    def results(pos: int) -> Iterator[Span]:
        while found := _RESULT.match(text, pos):
            number = found.lastindex or 0
            opener, closer = _FORMS[number - 1]
            begun, closed = (following(each, found.end()) for each in (opener, closer))
            if not closed[1] or begun[0] < closed[0]:
                return
            pos = closed[1]
            yield found.start(number), pos

    waiting: list[Span] = []
    end = 0
    for call in calls:
        if call[0] < end:
            continue
        if not _ADJACENT.fullmatch(text, end, call[0]):
            waiting.clear()
        waiting.append(call)
        end = call[1]
        if found := tuple(results(end)):
            yield Exchange(tuple(waiting), found)
            waiting.clear()
            end = found[-1][1]
