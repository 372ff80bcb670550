"""Opaque runs that are kept whole, and the text that is kept with each of them."""

from __future__ import annotations

import re
from typing import Final

from chunkast.cutting.costs import Costs
from chunkast.text.opaque import OpaqueRun, opaque_runs, possible_runs
from chunkast.text.spans import SpanSet

__all__ = ("kept_span", "possible_runs_above_budget", "runs_above_budget")

# The block around a run is kept with it if the rest takes at most this share of the budget. A link
# or tag is kept if its embedded form takes at most half. Alone, either would be meaningless.
_REST_SHARE: Final = 10
# Text with more characters per allowed token than this is rejected without counting.
_CHARACTERS: Final = 8
# The text of a link or tag right before and after a run. (The inline scanner does not recognize a
# link with so long a destination.)
_AROUND: Final = (
    (re.compile(r"!?\[[^\[\]]*\]\([ \t]*<?\Z"), re.compile(r">?[ \t]*(?:\"[^\"\r\n]*\"[ \t]*)?\)")),
    (re.compile(r"<[A-Za-z][^<>]*\Z"), re.compile(r"[^<>]*>")),
)


def possible_runs_above_budget(costs: Costs) -> list[int]:
    """Return the starts of spans that may be opaque runs above the budget, not sorted.

    Front matter that is left out of all chunks is not searched.
    """
    runs = possible_runs(costs.text, costs.dropped, len(costs.text))
    return [run.start for run in runs if not costs.is_within(run.start, run.end, costs.budget)]


def runs_above_budget(costs: Costs, start: int, end: int) -> list[OpaqueRun]:
    """Return the opaque runs in ``[start, end)`` that exceed the budget on their own."""
    runs = opaque_runs(costs.text, start, end)
    return [run for run in runs if not costs.is_within(run.start, run.end, costs.budget)]


def kept_span(
    costs: Costs, run: OpaqueRun, start: int, end: int, *, whole: SpanSet
) -> tuple[int, int] | None:
    """Return the span around a run to keep whole, or None if there is no room to embed it.

    The first of these spans with little text besides the run is returned: ``[start, end)``, the
    link or tag around the run, the run itself. The span is extended so that it does not cut any of
    the ``whole`` spans.
    """
    text, budget = costs.text, costs.budget
    little = costs.count(run.placeholder) + budget // _REST_SHARE
    for span, room in (
        ((start, end), little),
        (_link_or_tag(text, run, start, end, little * _CHARACTERS), budget // 2),
        ((run.start, run.end), budget),
    ):
        first, last = whole.start(span[0]), whole.end(span[1])
        rest = last - first - (run.end - run.start)
        if start <= first and last <= end and rest <= room * _CHARACTERS:
            shown = text[first : run.start] + run.placeholder + text[run.end : last]
            if costs.count(shown) <= min(room, budget):
                return first, last
    return None


def _link_or_tag(text: str, run: OpaqueRun, start: int, end: int, most: int) -> tuple[int, int]:
    """Return the span of the link, image or HTML tag around a run, or of the run itself.

    At most ``most`` characters before and after the run are read.
    """
    start, end = max(start, run.start - most), min(end, run.end + most)
    for opening, closing in _AROUND:
        before, after = opening.search(text, start, run.start), closing.match(text, run.end, end)
        if before and after:
            return before.start(), after.end()
    return run.start, run.end
