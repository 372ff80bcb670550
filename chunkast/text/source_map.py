r"""Convert character indices of a text to UTF-8 byte offsets and line numbers.

A line ends with ``\n``, ``\r\n`` or ``\r`` and nothing else; the line ending belongs to
the line. A lone surrogate counts as three bytes, like U+FFFD.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from itertools import accumulate, count, islice
from operator import add

__all__ = (
    "SourceMap",
    "encode",
    "has_surrogates",
    "line_starts",
    "make_array",
    "parseable",
    "spans_between",
    "without_surrogates",
)

_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n?|\n")
# With at least this many characters per position, a list of positions is small enough.
_CHARACTERS_PER_LISTED = 16
# Lists of the positions in a text with fewer characters are never large.
_SMALL = 65_536
# Positions in texts with fewer characters fit in four bytes, sign included.
_INT_LIMIT = 2**31


def encode(text: str) -> bytes:
    """Return ``text`` in UTF-8; each lone surrogate is replaced by U+FFFD (three bytes)."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return without_surrogates(text).encode()


def has_surrogates(text: str) -> bool:
    """Return whether the text contains a lone surrogate."""
    if text.isascii():
        return False
    try:
        text.encode()  # several times as fast as a search
    except UnicodeEncodeError:
        return True
    return False


def without_surrogates(text: str) -> str:
    """Return ``text`` with each surrogate replaced by U+FFFD; the length does not change."""
    return _SURROGATE.sub("\ufffd", text) if has_surrogates(text) else text


def parseable(text: str) -> str:
    """Return ``text`` in a form that a Markdown parser accepts; the length does not change.

    NUL and surrogates become U+FFFD: CommonMark requires this for NUL, and markdown-it-py raises an
    exception for a surrogate pair in a link's destination.
    """
    return without_surrogates(text.replace("\0", "\ufffd"))


def make_array(values: Iterable[int], size: int, count: int | None = None) -> MutableSequence[int]:
    """Return ``values``, such as positions in a text of ``size`` characters, as an array or list.

    An array takes a tenth of the memory of a list, but a list is faster to read. The result is a
    list if the values are few for the size of the text. Their ``count``, if given, makes this
    decision faster.
    """
    if size < _SMALL or (count is not None and count * _CHARACTERS_PER_LISTED <= size):
        return list(values)
    positions = array("i" if size < _INT_LIMIT else "q", values)
    few = len(positions) * _CHARACTERS_PER_LISTED <= size
    return positions.tolist() if few else positions


def spans_between(text: str, positions: Sequence[int]) -> Iterator[str]:
    """Yield the part of ``text`` between each pair of adjacent ``positions``, which are sorted."""
    return map(text.__getitem__, map(slice, positions, islice(positions, 1, None)))


def line_starts(text: str, start: int = 0, end: int | None = None) -> list[int]:
    """Return the index in ``text`` of the start of each line in ``text[start:end]``, then ``end``.

    Line ``i`` is ``text[starts[i]:starts[i + 1]]``. For an empty span, returns ``[start]``.
    """
    if start or end is not None:
        return [start + offset for offset in line_starts(text[start:end])]
    if "\r" in text:
        starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    else:
        # Before each line there are its predecessors and as many line ends.
        sizes = map(len, text.split("\n"))
        starts = list(map(add, accumulate(sizes, initial=0), count()))
        starts.pop()
    if starts[-1] != len(text):
        starts.append(len(text))
    return starts


class SourceMap:
    """Converts character indices to byte offsets and line numbers.

    Each call continues from the index of the previous call, so that calls with ascending indices
    take linear time in total.
    """

    __slots__ = ("_ascii", "_byte", "_line", "_returns", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._ascii = text.isascii()
        self._returns = "\r" in text
        # The index of the last call, and its offset or line.
        self._byte = (0, 0)
        self._line = (0, 1)

    def byte(self, index: int) -> int:
        """Return the UTF-8 byte offset of the character at ``index`` (0 to the text's length)."""
        if self._ascii:
            return index
        known, offset = self._byte
        if index >= known:
            offset += len(encode(self.text[known:index]))
        else:
            offset -= len(encode(self.text[index:known]))
        self._byte = index, offset
        return offset

    def line(self, index: int) -> int:
        """Return the 1-based number of the line that contains the character at ``index``."""
        # After the last line end there is no line.
        index = max(min(index, len(self.text) - 1), 0)
        if index and self._returns and self.text.startswith("\r\n", index - 1):
            index -= 1  # a line end is never divided
        known, line = self._line
        if index >= known:
            line += self._line_ends(known, index)
        else:
            line -= self._line_ends(index, known)
        self._line = index, line
        return line

    def _line_ends(self, start: int, end: int) -> int:
        found = self.text.count("\n", start, end)
        if self._returns:
            found += self.text.count("\r", start, end) - self.text.count("\r\n", start, end)
        return found
