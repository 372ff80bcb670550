"""Replaces lines that the parser does not understand, one for one, by lines that it does.

- A callout of any type, with a title or foldable, is read as an alert.
- A comment of several lines between ``%%``, and what MDX adds to Markdown, is read as an HTML
  comment of as many lines, to which the tree then gives the right kind.

The source keeps its text: only line numbers come back from the parser.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from chunkast.markdown.lines import Fences, cover
from chunkast.markdown.mdx import read_mdx

__all__ = ("Reading", "read_dialects")

_ALERT: Final = "[!NOTE]"
_CALLOUT = re.compile(
    r"^(?P<prefix>[ \t>\-+*.)0-9]*>[ \t]*)\[![^\[\]\n]{1,100}\].*$",
    re.MULTILINE,
)
_CONTAINERS = re.compile(r"(?:[ \t>]|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))*")


@dataclass(frozen=True, slots=True)
class Reading:
    """The text for the parser, and what its HTML blocks are by their first line: kind, info."""

    text: str
    leaves: Mapping[int, tuple[str, str]] = field(default_factory=dict)


def read_dialects(text: str, extensions: Collection[str]) -> Reading:
    r"""The reading of a text whose line ends are ``\n``."""
    if "obsidian" in extensions and "[!" in text:
        text = _CALLOUT.sub(_as_alert, text)
    comments = "obsidian" in extensions and text.count("%%") > 1
    if not comments and "mdx" not in extensions:
        return Reading(text)
    lines = text.split("\n")
    leaves: dict[int, tuple[str, str]] = {}
    if comments:
        _read_comments(lines, leaves)
    if "mdx" in extensions:
        read_mdx(lines, leaves)
    return Reading("\n".join(lines), leaves)


def _as_alert(callout: re.Match[str]) -> str:
    """The line as an alert's, if a quote begins with it."""
    prefix = callout["prefix"]
    text = callout.string
    if not _CONTAINERS.fullmatch(prefix):
        return callout[0]
    if prefix.strip(" \t>"):
        return prefix + _ALERT  # in an item that begins here
    end = max(callout.start() - 1, 0)
    before = _CONTAINERS.match(text, text.rfind("\n", 0, end) + 1, end)
    quotes_before = before[0].count(">") if before else 0
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
