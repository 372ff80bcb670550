"""Outline code without a grammar, by its indentation and blank lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from chunkast.code.definitions import CONTINUES, Item
from chunkast.code.nodes import indentation

__all__ = ("indented_items",)

# A line that closes what is before it.
_CLOSES = re.compile(
    r"[\])}](?!,\s*[\[({]$).*|>[\])}>;,.]*|</[\w:.-]+>|fi|done|esac|"
    r"(?i:end(?:if|for|foreach|while|switch|case|function|module|class|macro)?)(?:[ \t]+\w+)?[;,.)]*"
)


def indented_items(lines: Sequence[str], levels: Mapping[int, int]) -> Iterator[Item]:
    """Yield the items in ``lines`` (without line endings), before which code may be cut.

    An item is a line with the more deeply indented lines below it. Its depth is twice its level if
    it follows a blank line, and one more otherwise, so that code is divided at blank lines first.
    ``levels`` has the levels of some lines by number, or -1 for a line that belongs to the line
    before. Levels of other lines depend on their indentation, and are deeper than the last given
    level. A line that begins with a closing bracket is not an item.
    """
    least = min((_width(line) for line in lines if line.strip()), default=0)
    around = [least]
    last = base = 0
    after_blank, previous = False, ""
    for number, line in enumerate(lines):
        text, width = line.strip(), _width(line)
        level = inner = levels.get(number, -1)
        if level >= 0:
            around, base = [least], level + 1
        elif not text:
            after_blank = True
            continue
        elif number in levels or (_CLOSES.fullmatch(text) and not CONTINUES.match(text)):
            previous = ""
        elif not (text in ("(", "[", "{") and previous and around[-1] == width):
            while around and around[-1] >= width:
                around.pop()
            level = base + len(around)
            inner = level + (CONTINUES.match(text) is not None)
            # Depths are kept up to 100, so that memory does not grow with them.
            around += [width] * (len(around) < 100)
            # After these, an opening bracket begins a value of its own.
            previous = "" if text.endswith((",", ";")) else text
        if level >= 0:
            kind = "blank-line" if after_blank else "line"
            yield Item(number, 2 * inner + (not after_blank), kind, level > last)
            last = level
        after_blank = False


def _width(line: str) -> int:
    return len(line[: indentation(line)].expandtabs(4))
