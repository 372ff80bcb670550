"""Model answers wrapped in one ```` ```markdown ```` fence: the Markdown inside is parsed.

Only white space may surround the fence. Inner fences may be as long as the outer fence and have no
language, provided that closing lines follow for them and for the outer fence.
"""

from __future__ import annotations

import re

__all__ = ("read_answer",)

_OPENING = re.compile(
    r"\s*^ {0,3}(?P<run>`{3,}|~{3,})[ \t]*(?:markdown|md)[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_FENCE = re.compile(r"^ {0,3}(?P<run>`{3,}|~{3,})(?P<info>[^\r\n`]*)$", re.MULTILINE)
# Replaces a line of the outer fence: a block without text.
_COVER = "<!---->"


def read_answer(text: str, leaves: dict[int, tuple[str, str]]) -> str:
    """Return the text with the lines of the outer fence masked.

    Adds the kind of leaf at each of these lines to ``leaves``.
    """
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
    """Return the span of the outer fence's closing line, or None.

    If the closing line is missing, the span is empty and at the end of the text. The result is None
    if the outer fence ends before the text does. A line with an info string opens an inner fence. A
    line without an info string closes the innermost fence if it is long enough; directly inside the
    outer fence, it opens an inner fence. If an earlier line could have closed the outer fence, the
    closing line must not be missing.
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
