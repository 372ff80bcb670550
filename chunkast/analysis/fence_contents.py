"""Read the contents of fences that are not programs: diffs, settings, CSV, sessions, folder trees.

Each row of the table has a pattern for the first word of the info string, one for the beginning of
the code, and one for the lines that begin a part. A part is at the first level or, if the group
``indent`` matches, deeper. The code is first cut at these lines. If the pattern has a group
``above``, the matched text after it is the opener of the parts below. Only fences over budget are
read.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple

import regex

from chunkast.text.source_map import line_starts

__all__ = ("Content", "content_of")

# The first word of an info string such as ``{.toml}``, but not ``title="a.toml"``.
_WORD = re.compile(r"[\s{.]*([\w+#.-]+)(?![\w+#.=-])")
# The level of a line that belongs to the line before, and the deepest level.
_ATTACHED, _DEEPEST = -1, 100
_NO_OPENER: Final = ((-1, ""),)
# The number of words of info strings whose rows are remembered.
_REMEMBERED: Final = 64
# The most characters in the openers of a part.
_MOST: Final = 600
# Comments right above a line, which may follow a prompt.
_ABOVE = r"^(?P<above>(?:(?:(?!=)\S*[$>%#] )?[#;](?=[\s#;=*-]).*\n){0,20})"
_FILE = r"^(?:(?:diff --git |Index: ).*|--- .*\n\+\+\+ .*)(?:\n(?:[A-Za-z=]|--- |\+\+\+ ).*)*"
_SECTION = r"\[\[?[^\s\[\]](?:.*[^\s\[\]])?\]?\][ \t]*(?:[#;].*)?$"
# Strings of several lines and lists, which are no sections of TOML.
_VALUE = (
    r"(?:\"\"\"[\s\S]*?(?:\"\"\"|\Z)|'''[\s\S]*?(?:'''|\Z)"
    r"|=[ \t]*(?P<list>\[(?:[^][\"'#]|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|#.*|(?&list)|[\"'])*+(?:\]|\Z)))"
)
_ROW = r"(?:[^\"\n]|\"[^\"]*+\")++"
# A line with a cell that names no column: a number or date, an address, or a path.
_NO_HEADER = (
    r"(?:.*[,;\t|])?[ \"]*(?:[\W\d_]*|[^,;\t|\n]*(?:://|\S@\S)[^,;\t|\n]*|[.~]{0,2}[/\\][^,;\t|\n]*"
    r"|[A-Za-z]:\\[^,;\t|\n]*|[^\s,;|/]++/[^,;\t|\n]*\.\w++)[ \"]*(?:[,;\t|\n]|\Z)"
)
_PROMPT = (
    r"(?:\(\S+\) ?)?(?:\$(?=$| [^\s\d])|\[?[\w.-]+@[\w.-]+[: ][^\s$#%>]* ?\]?[$#%>](?=\s|$))"
    r"|>>>(?=\s|$)|PS(?: (?:\w+:|[/~])[^>\n]*)?>|[A-Z]:\\[^>\s]*>|irb(?:\([^)\n]*\))?[:\d]*>"
)
# The prompts of any program, in fences that are labelled as sessions.
_ANY_PROMPT = rf"{_PROMPT}|In \[\d+\]:|[A-Za-z][\w-]*(?:\([^)\n]*\))?[:\d]*[=#]?[>#] |>> "
_GUIDES = r"[ \t\xa0│|]"
_MARK = r"(?:[├└]─+|\|--+|[+`]--+)[ \xa0]*[^\s>▶►─+|-]"
_ENTRY = rf"(?P<indent>{_GUIDES}*){_MARK}.*"
_TREE = rf"(?P<above>)^(?:{_ENTRY}|[^\s│|].*)(?:\n(?!{_GUIDES}*{_MARK}){_GUIDES}.*)*"
# The corners and crossings of boxes.
_BOX = r"[┌┐┘┬┴┼┤╭╮╯╔╗╚╝]|[-─]{2}[+|]"
_SETTINGS = r"(?:dos)?ini|conf|cfg|(?:editor|git)?config|properties|systemd|service|unit|desktop"
_TEXT = r"te?xt|plain(?:text)?|"
_SHELLS = r"output|(?:ba|z|fi|power)?sh(?:ell)?|pwsh|ps1|cmd|bat|py(?:thon)?3?|ruby|rb"
_SESSIONS = r"console|terminal|(?:ba|pw)?(?:sh|shell|ps)-?session|pycon|irb"


def _commands(prompt: str) -> tuple[str, str]:
    """Return the patterns of a session: commands with continued lines, and entries of trees."""
    command = rf"(?:{prompt})(?! ?#\s).*(?:(?<=[\\`|]|&&)\n.*|\n\.\.\.(?=\s|$).*)*"
    return rf"(?:.*\n)*?(?:{prompt})", rf"{_ABOVE}(?:{command}|{_ENTRY})"


_TABLE: Final[Sequence[tuple[str, str, str]]] = (
    (r"(?:diff|patch)(?:-.*)?", "", rf"{_FILE}|^(?P<indent>)@@.*"),
    (r"toml", "", rf"{_VALUE}|{_ABOVE}[ \t]*{_SECTION}"),
    (_SETTINGS, "", _ABOVE + _SECTION),
    (_TEXT, rf"(?:.*\n)*?{_SECTION}\n(?:\s*[#;].*\n)*\s*[\w.-]+[ \t]*=", _ABOVE + _SECTION),
    (r"[ct]sv", rf"(?!{_NO_HEADER})", rf"(?P<above>)(?:\A|^(?P<indent>)){_ROW}"),
    (r"[ct]sv", "", rf"(?P<above>)^{_ROW}"),
    (_SESSIONS, *_commands(_ANY_PROMPT)),
    (rf"{_TEXT}|{_SHELLS}", *_commands(_PROMPT)),
    (rf"{_TEXT}|{_SHELLS}|{_SESSIONS}", r"> \S", _commands(r"> (?=\S)")[1]),
    (_SESSIONS, *_commands(r"# (?=\S.*\n(?!# ).*\S)")),
    (r".*", rf"(?=(?:.*\n){{0,3}}{_GUIDES}*{_MARK})(?![\s\S]*(?:{_BOX}))", _TREE),
)


class Content(NamedTuple):
    """The content of a fence.

    lines: the lines whose indentation counts: in a diff, without the first column.
    levels: by line number, the level of a part that begins there, or -1 for a line that belongs to
        the line before.
    openers: pairs of a line number and the opener of the parts from there up to the next pair.
    """

    lines: Sequence[str]
    levels: Mapping[int, int]
    openers: Sequence[tuple[int, str]]

    def opener(self, number: int) -> str:
        """Return the opener of a part that begins in line ``number``."""
        return self.openers[bisect_right(self.openers, number, key=itemgetter(0)) - 1][1]


@lru_cache(_REMEMBERED)
def _rows_of(word: str) -> list[tuple[regex.Pattern[str], regex.Pattern[str]]]:
    """Return the patterns in the rows for the first word of an info string."""
    rows = [row for row in _TABLE if regex.fullmatch(row[0], word)]
    return [(regex.compile(row[1], regex.M), regex.compile(row[2], regex.M)) for row in rows]


def content_of(lines: Sequence[str], info: str) -> Content:
    """Return the content of a fence with these ``lines`` (without line endings) and info string."""
    name = _WORD.match(info)
    word = name[1].lower().rpartition(".")[2] if name else ""
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    code = "\n".join(line[margin:] for line in lines)
    for begins, part in _rows_of(word):
        if not begins.match(code):
            continue
        levels: dict[int, int] = {}
        openers, around = list(_NO_OPENER), list(_NO_OPENER)
        starts = line_starts(code)
        for match in part.finditer(code):
            groups = match.groupdict()
            above, indent = groups.get("above", ""), groups.get("indent")
            if above is None:
                continue
            number = bisect_right(starts, match.start()) - 1
            last = number + match[0].count("\n")
            level = 0 if indent is None else min(len(indent) + 1, _DEEPEST)
            levels |= {number: level, **dict.fromkeys(range(number + 1, last + 1), _ATTACHED)}
            while around[-1][0] >= level:
                around.pop()
            parents, head = around[-1][1], match[0][len(above) :] + "\n"
            around.append((level, parents + head if len(parents + head) <= _MOST else ""))
            openers += [(number, parents), (last + 1, around[-1][1])]
        if "above" not in part.groupindex:
            return Content([line[1:] for line in lines], levels, _NO_OPENER)
        if levels:
            return Content(lines, levels, openers)
    return Content(lines, {}, _NO_OPENER)
