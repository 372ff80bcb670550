"""An answer that is one fence ```` ```markdown ```` around everything: the Markdown inside it.

Models write such answers. It is one only if nothing but white space stands around it. Fences in
it, of as many marks and without a language too, belong to it as long as lines that close them and
it follow.
"""

from __future__ import annotations

import re

__all__ = ("read_answer",)

_OPENING = re.compile(
    r"\s*^ {0,3}(?P<run>`{3,}|~{3,})[ \t]*(?:markdown|md)[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_FENCE = re.compile(r"^ {0,3}(?P<run>`{3,}|~{3,})(?P<info>[^\r\n`]*)$", re.MULTILINE)
# What a line of the outer fence is to the parser: a block without text.
_COVER = "<!---->"


def read_answer(text: str, leaves: dict[int, tuple[str, str]]) -> str:
    """``text`` without the fence around it; its lines are ``leaves`` without text of their own."""
    opening = _OPENING.match(text)
    if opening is None:
        return text
    closing = _closing(text, opening)
    if closing is None:
        return text
    start, end = closing
    leaves[text.count("\n", 0, opening.start("run"))] = ("answer", "")
    if start < end:
        leaves[text.count("\n", 0, start)] = ("answer-end", "")
    head = text[: opening.start("run")].rpartition("\n")
    return "".join(
        (head[0], head[1], _COVER, text[opening.end() : start], _COVER * (start < end), text[end:])
    )


def _closing(text: str, opening: re.Match[str]) -> tuple[int, int] | None:
    """The line that closes the outer fence, which may be missing at the end; None if it is another.

    A line with an info opens a fence inside. One without closes the innermost fence that it is
    long enough for; directly in the outer one it opens a fence as well, to the next line that
    closes that one. Where it could have closed the outer fence, the end of the text has to.
    """
    runs = [opening["run"]]
    end = len(text.rstrip())
    bare = may_be_closed = False
    for line in _FENCE.finditer(text, opening.end()):
        run = line["run"]
        closes = run[0] == runs[-1][0] and len(run) >= len(runs[-1]) and not line["info"].strip()
        if closes and len(runs) > 1:
            runs.pop()
            bare = False
        elif closes and line.end() >= end:
            return line.span()
        elif not bare and (line["info"].strip() or len(runs) == 1):
            runs.append(run)
            bare = not line["info"].strip()
            may_be_closed = may_be_closed or closes
    return None if may_be_closed else (len(text), len(text))
