"""Outline code without a grammar, by its indentation, blank lines and the headers of diffs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from chunkast.code.definitions import CONTINUES, Item
from chunkast.code.nodes import indentation

__all__ = ("indented_items",)

_DIFF = re.compile(r"\W*(?:diff|patch)\b", re.IGNORECASE)
# Lines of a diff that begin a file, and lines below them.
_FILES: Final = ("diff --git ", "Index: ")
_HEAD = re.compile(r"[A-Za-z=]|--- |\+\+\+ ")
_INSIDE: Final = 2
_TAB: Final = 4
# A line that only closes what is before it, and one that only opens what is below.
_CLOSES = re.compile(
    r"[\])}>][\])}>;,.]*|</[\w:.-]+>|fi|done|esac|"
    r"(?i:end(?:if|for|foreach|while|switch|case|function|module|class|macro)?)(?:[ \t]+\w+)?[;,.)]*"
)
_OPENS: Final = frozenset("([{")
# After these, an opening bracket begins a value of its own.
_COMPLETE: Final = (",", ";")


def indented_items(lines: Sequence[str], info: str) -> Iterator[Item]:
    """Yield the items in ``lines`` (without line ends), before which code may be cut.

    An item is a line with the more deeply indented lines below it. It has an even depth if it
    follows a blank line, and the next odd depth otherwise, so that code is divided at blank lines
    first. A diff is divided at its files, its hunks, and then like other code, without the first
    column. Lines with only closing brackets are not items. ``info`` is the fence's info string,
    which begins with the language.
    """
    heads: Mapping[int, int] = {}
    if _DIFF.match(info):
        heads = dict(_diff_heads(lines))
        lines = [line[1:] for line in lines]
    least = min((_width(line) for line in lines if line.strip()), default=0)
    around = [least]
    last = base = 0
    after_blank, previous = False, ""
    for number, line in enumerate(lines):
        text, width = line.strip(), _width(line)
        if number in heads:
            if heads[number] < _INSIDE:
                yield Item(number, heads[number], "line", base == heads[number] == 1)
                around, base, last = [least], heads[number] + 1, -1
        elif not text:
            after_blank = True
            continue
        elif _CLOSES.fullmatch(text):
            previous = ""
        elif not (text in _OPENS and previous and around[-1] == width):
            while around and around[-1] >= width:
                around.pop()
            depth = len(around)
            inner = depth + (CONTINUES.match(text) is not None)
            kind = "blank-line" if after_blank else "line"
            yield Item(number, base + 2 * inner + (not after_blank), kind, depth > last)
            around.append(width)
            last, previous = depth, "" if text.endswith(_COMPLETE) else text
        after_blank = False


def _width(line: str) -> int:
    return len(line[: indentation(line)].expandtabs(_TAB))


def _diff_heads(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the lines of a diff's headers, each with 0 for a file, 1 for a hunk, or ``_INSIDE``."""
    in_head = False
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        pair = not in_head and line.startswith("--- ") and below.startswith("+++ ")
        if pair or line.startswith(_FILES):
            in_head = True
            yield number, 0
        elif line.startswith("@@"):
            in_head = False
            yield number, 1
        elif in_head := in_head and _HEAD.match(line) is not None:
            yield number, _INSIDE
