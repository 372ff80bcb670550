"""The results of tool calls in a text, in the forms that chat templates write."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, NamedTuple

__all__ = ("Exchange", "find_exchanges")

Span = tuple[int, int]

# The tags around results: of Hermes, Qwen and GLM, of MiniMax, and in logs of agents.
_TAGS: Final = (
    *("tool_response", "tool_result", "tool_output", "function_results", "function_result"),
    *("function_response", "observation", "response"),
)
# What begins a result, and what ends it. The first row that matches decides.
_FORMS: Final = (
    # Claude, and DeepSeek V3.2
    (r"(?:<function_results>\s{0,9})?<result>", r"</result>(?:\s{0,9}</function_results>)?"),
    *((rf"<{tag}(?:\s[^<>]{{0,200}})?>", f"</{tag}>") for tag in _TAGS),
    # Mistral
    (r"\[TOOL_RESULTS\]", r"\[/TOOL_RESULTS\]"),
    # DeepSeek V3, R1 and V3.1
    (
        r"(?:<｜tool▁outputs▁begin｜>\s{0,9})?<｜tool▁output▁begin｜>",
        r"<｜tool▁output▁end｜>(?:\s{0,9}<｜tool▁outputs▁end｜>)?",
    ),
    # Liquid
    (r"<\|tool_response_start\|>", r"<\|tool_response_end\|>"),
    # Kimi K2; a message may have the name of the tool instead of "tool"
    (r"<\|im_system\|>[^<>|]{1,256}<\|im_middle\|>", r"<\|im_end\|>"),
    # gpt-oss
    (r"<\|start\|>[^<>|]{1,256} to=assistant(?:<\|channel\|>\w{1,40})?<\|message\|>", r"<\|end\|>"),
    # Llama 3, and Llama 4
    (r"<\|start_header_id\|>(?:ipython|tool)<\|end_header_id\|>", r"<\|eot_id\|>"),
    (r"<\|header_start\|>(?:ipython|tool)<\|header_end\|>", r"<\|eot\|>"),
    # ChatML, and GLM 4, whose turns may have a tag inside
    (r"<\|im_start\|>tool\b(?!\s{0,9}<)", r"<\|im_end\|>"),
    (r"<\|observation\|>(?!\s{0,9}<)", r"(?=\s{0,9}<\|(?:assistant|user|observation)\|>)"),
)
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
    """The spans of calls with nothing between them, and of the results right after them."""

    calls: tuple[Span, ...]
    results: tuple[Span, ...]


def find_exchanges(text: str, calls: Iterable[Span]) -> Iterator[Exchange]:
    """Yield the calls that have results, given the sorted spans of all calls in ``text``.

    A result that is never closed is ordinary text, as is one in which another of its form begins.
    The spans of calls inside a result are ignored.
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
