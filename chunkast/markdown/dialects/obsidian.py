"""Obsidian: callouts, comments between ``%%``, and block ids.

A callout of any type, with or without a title, is read as an alert. A comment that spans several
lines is read as an HTML comment. A block id stays with the block before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from chunkast.markdown.lines import cover, marks_end
from chunkast.markdown.scanner import Scanner
from chunkast.model import BreakPoint
from chunkast.text.fences import Fences

__all__ = ("block_id", "comment", "read", "with_ids_attached")

_ALERT: Final = "[!NOTE]"
_CALLOUT = re.compile(
    r"^(?P<prefix>[ \t>\-+*.)0-9]*>[ \t]*)\[![^\[\]\n]{1,100}\].*$",
    re.MULTILINE,
)
_BLOCK_ID = re.compile(r"\^[A-Za-z0-9-]+(?=[ \t]*(?:[\r\n]|\Z))")


def read(text: str, leaves: dict[int, tuple[str, str]]) -> str:
    """Replace callouts with alerts, and comments with HTML comments (kind "comment")."""
    # One character is found many times faster than two.
    if "!" in text and "[!" in text:
        text = _CALLOUT.sub(_as_alert, text)
    if "%" not in text or text.count("%%") < 2:
        return text
    lines = text.split("\n")
    _read_comments(lines, leaves)
    return "\n".join(lines)


def _as_alert(callout: re.Match[str]) -> str:
    """Return the line as an alert if it begins a quote, or else unchanged."""
    prefix = callout["prefix"]
    text = callout.string
    if marks_end(prefix) < len(prefix):
        return callout[0]
    if prefix.strip(" \t>"):
        return prefix + _ALERT  # in an item that begins here
    end = max(callout.start() - 1, 0)
    start = text.rfind("\n", 0, end) + 1
    quotes_before = text.count(">", start, marks_end(text, start, end))
    return prefix + _ALERT if quotes_before < prefix.count(">") else callout[0]


def _read_comments(lines: list[str], leaves: dict[int, tuple[str, str]]) -> None:
    fences = Fences()
    opened = -1
    for number, line in enumerate(lines):
        if (opened < 0 and fences.take(line)) or "%%" not in line:
            continue
        begins = line.startswith("%%") and line.find("%%", 2) < 0
        if opened >= 0 and line.rstrip().endswith("%%"):
            cover(lines, opened, number + 1)
            leaves[opened] = ("comment", "")
            opened = -1
        else:
            # A mark that closes nothing may be an opener.
            opened = number if begins else -1


def with_ids_attached(
    text: str, points: Iterable[BreakPoint], scores: Mapping[str, float]
) -> Iterable[BreakPoint]:
    """Lower each point before a block id on its own line to the score of "lead-in"."""
    if "^" not in text:
        return points
    lead_in = scores["lead-in"]
    return [
        BreakPoint(point.pos, min(point.score, lead_in), "lead-in")
        if _BLOCK_ID.match(text, point.pos)
        else point
        for point in points
    ]


def comment(scanner: Scanner, pos: int) -> int:
    """Match ``%%comment%%``; return its end, or -1."""
    end = scanner.finder.find("%%", pos + 2) if scanner.text.startswith("%%", pos) else -1
    return scanner.take(pos, end + 2, "comment") if end >= 0 else -1


def block_id(scanner: Scanner, pos: int) -> int:
    """Match a block id and the end of the word before it, so that no cut separates them."""
    found = _BLOCK_ID.match(scanner.text, pos)
    before = len(scanner.text[max(pos - 2, 0) : pos].rstrip())
    if not found or not pos or before != 1:
        return -1
    start = pos - 2
    if scanner.found and scanner.found[-1].end > start:
        start = scanner.found[-1].end
    return scanner.take(start, found.end(), "block-id")
