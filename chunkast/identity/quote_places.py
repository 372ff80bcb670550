"""Find the places of a quote in a text, word for word or with the changes that models make."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial
from html import unescape
from typing import Final
from unicodedata import normalize

from chunkast.text.hashes import normalize_text
from chunkast.text.white_space import LINE_SPACE, WHITE_SPACE

__all__ = ("Finder", "finder")

_Span = tuple[int, int]
# Returns the spans of a text that match a quote, and whether they match word for word.
Finder = Callable[[str], tuple[list[_Span], bool]]
# Converts a span of a text to the span of the text from which it was made.
_Origin = Callable[[int, int], _Span]

# The maximum number of characters that "..." in a quote leaves out, and of parts between them.
_MAX_GAP: Final = 2_000
_MAX_PARTS: Final = 8
_LEFT_OUT: Final = re.compile(r"\[(?:\u2026|\.{3})\]|\u2026|\.{3,}")
# Runs of white space other than a single space.
_NOT_ONE_BLANK: Final = re.compile(f"(?! (?![{WHITE_SPACE}]))[{WHITE_SPACE}]+")
_ENTITY: Final = r"&(?:\#\d{1,7}|\#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,30});"
# A hyphen that divides a word at the end of a line, and letters in another style.
_IN_LETTERS: Final = (
    rf"(?P<hyphen>(?<=[^\W\d_])[-\u2010\xad][{LINE_SPACE}]*(?:\r\n?|\n)[{LINE_SPACE}>]*(?=[^\W\d_]))"
    "|(?P<styled>[\u2102-\u2138\u24b6-\u24e9\ufb00-\ufb06\uff01-\uff5e\U0001d400-\U0001d7ff])"
)
_IN_WORDS: Final = re.compile(rf"{_IN_LETTERS}|[*_`~\\\xad\u200b\u2060]|{_ENTITY}")
# Every alternative has a bound, or ends at the next bracket or quote, which keeps this linear.
_MARKUP: Final = re.compile(
    rf"""
    {_IN_LETTERS}
    | \[\^[^\[\]\s]+\] | \[[ xX]\](?=\s) | !?\[  # footnotes, tasks, the beginning of a link
    | \](?:\([^()\s]*(?:\([^()\s]*\)[^()\s]*){{0,8}}(?:\s(?:"[^"\n]*"|'[^'\n]*'))?\)  # its end
        |\[[^\[\]\n]*\])?
    | (?:\\?<|&lt;)(?P<tag>/?[A-Za-z][\w-]{{0,40}}(?:\s[^<>]{{0,400}})?/?)(?:\\?>|&gt;)
    | <(?=[a-z]{{2,9}}:[^\s<>]) | (?<=[\w/])>(?!\S)  # the ends of an address
    | {_ENTITY}
    | \\(?=[\r\n!-/:-@\[-`{{-~])  # an escape
    | (?<!\d)\*+ | \*+(?!\d) | `+ | ~~ | (?<!\w)(?<!\w\\)_+ | _+(?!\w) | [\xad\u200b\u2060]
    """,
    re.VERBOSE,
)
_INLINE_TAG: Final = re.compile(
    r"/?(?:[abiqsu]|abbr|code|del|em|ins|kbd|mark|span|strong|su[bp])\b"
)
_ALIKE: Final = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212"), "-"),
    **dict.fromkeys(map(ord, "\u2014\u2015|"), " "),
}
# White space with the marks at the beginning of lines, and dashes.
_GAPS: Final = re.compile(
    rf"(?:(?:\A|[\r\n])(?:[{LINE_SPACE}]*(?:>+|[-#+=:]+(?![^{WHITE_SPACE}])))+"
    rf"|[{WHITE_SPACE}]|(?<=[{WHITE_SPACE}])-{{1,3}}(?=[{WHITE_SPACE}]))+|(?<=\w)-{{2,3}}(?=\w)"
)


def finder(quote: str, *, strict: bool) -> Finder:
    """Return a function that finds ``quote`` in a text; if ``strict`` is true, only verbatim."""
    wanted = normalize_text(quote)
    hyphens = {quote[i - 2 : i] + quote[i + 1 : i + 3] for i, x in enumerate(quote) if x == "-"}
    parts = [] if strict else [_spoken(x, hyphens)[0].strip() for x in _LEFT_OUT.split(quote)]
    parts = [part for part in parts if re.search(r"\w", part)][:_MAX_PARTS]
    words = re.findall(r"[^\W_]+", " ".join(parts))

    def find(text: str) -> tuple[list[_Span], bool]:
        # Both checks are much faster than the rest, and most texts fail them.
        if wanted and wanted in normalize_text(text):
            return list(_places([wanted], *_replaced(text, _NOT_ONE_BLANK, lambda _: " "))), True
        if words and all(map(_IN_WORDS.sub(partial(_decoded, ()), text).__contains__, words)):
            return list(_places(parts, *_spoken(text, hyphens))), False
        return [], False

    return find


def _spoken(text: str, hyphens: Container[str]) -> tuple[str, _Origin]:
    """Return ``text`` without markup and typographic marks, and with single spaces.

    A hyphen that divides a word at the end of a line only stays if ``hyphens`` has the two letters on
    either side of it.
    """
    plain, from_plain = _replaced(text, _MARKUP, partial(_decoded, hyphens))
    spoken, from_spoken = _replaced(plain.translate(_ALIKE), _GAPS, lambda _: " ")
    return spoken, lambda start, end: from_plain(*from_spoken(start, end))


def _decoded(hyphens: Container[str], match: re.Match[str]) -> str:
    """Return what a match of markup says: letters, a space for a tag, a hyphen, or nothing."""
    if (tag := match.groupdict().get("tag")) is not None:
        return "" if _INLINE_TAG.match(tag) else " "
    if match["hyphen"]:
        text, (start, end) = match.string, match.span()
        return "-" if text[max(start - 2, 0) : start] + text[end : end + 2] in hyphens else ""
    if match["styled"]:
        return normalize("NFKC", match[0])
    return unescape(match[0])[:1] if match[0][0] == "&" else ""


def _replaced(
    text: str, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str]
) -> tuple[str, _Origin]:
    """Replace each match by what ``new`` returns: one character, more for a character, or nothing."""
    # Positions in the result and in the original; each pair is valid up to the next.
    result, original = [0], [0]
    parts: list[str] = []
    ends: dict[int, int] = {}
    for match in pattern.finditer(text):
        part = f"{text[original[-1] : match.start()]}{new(match)}"
        parts.append(part)
        result.append(result[-1] + len(part))
        original.append(match.end())
        ends[match.start()] = match.end()
    parts.append(text[original[-1] :])
    original.append(len(text) + 1)

    def origin(position: int) -> int:
        slot = bisect_right(result, position) - 1
        return min(original[slot] + position - result[slot], original[slot + 1] - 1)

    def span(start: int, end: int) -> _Span:
        last = origin(end - 1)
        return origin(start), ends.get(last, last + 1)

    return "".join(parts), span


def _places(parts: Sequence[str], text: str, origin: _Origin) -> Iterator[_Span]:
    """Yield short spans with all parts in order, which do not overlap, by their origins."""
    first, *others = parts
    at = text.find(first)
    while at >= 0:
        start, end = at, at + len(first)
        stop = end
        for part in others:
            found = text.find(part, stop, stop + _MAX_GAP + len(part))
            if found < 0:
                break
            if stop == end:  # begin at the last occurrence of the first part
                start = text.rfind(first, start, found)
            stop = found + len(part)
        else:
            yield origin(start, stop)
            end = stop
        at = text.find(first, end)
