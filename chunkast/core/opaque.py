"""Opaque runs that are kept whole, and the text that is kept with each of them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from chunkast.core.document import Document
from chunkast.text.opaque import OpaqueRun, opaque_runs
from chunkast.text.source_map import line_starts
from chunkast.text.spans import SpanSet

__all__ = ("kept_span", "runs_above_budget")

# The block or line around a run is kept with it if the rest takes at most this share of the budget.
# A link or tag is kept if its embedded form takes at most half. Alone, either would be meaningless.
_REST_SHARE: Final = 10
# Text with more characters per allowed token than this is rejected without counting.
_CHARACTERS: Final = 8
# The text of a link or tag right before and after a run. (The inline scanner does not recognize a
# link with so long a destination.)
_AROUND: Final = (
    (re.compile(r"!?\[[^\[\]]*\]\([ \t]*<?\Z"), re.compile(r">?[ \t]*(?:\"[^\"\r\n]*\"[ \t]*)?\)")),
    (re.compile(r"<[A-Za-z][^<>]*\Z"), re.compile(r"[^<>]*>")),
)


def runs_above_budget(document: Document, start: int, end: int) -> list[OpaqueRun]:
    """Return the opaque runs in ``[start, end)`` that exceed the budget on their own."""
    runs = opaque_runs(document.text, start, end)
    return [run for run in runs if not document.fits(run.start, run.end)]


def kept_span(
    document: Document,
    run: OpaqueRun,
    start: int,
    end: int,
    *,
    blocked: SpanSet,
    sentences: Sequence[int],
) -> tuple[int, int] | None:
    """Return the span around a run to keep whole, or None if there is no room to embed it.

    The first of these spans with little text besides the run is returned: ``[start, end)``, the
    lines that contain the run, the link or tag around the run, the run itself. The span is extended
    so that it does not cut a ``blocked`` span or a sentence that fits. ``sentences`` has the start
    of each sentence and the end of the last.
    """
    text, budget = document.text, document.config.budget
    little = document.counter.count(run.placeholder) + budget // _REST_SHARE
    # No more of a line than this can be kept, so no more is read.
    far = little * _CHARACTERS + 1
    near = max(start, run.start - far), min(end, run.end + far)
    for span, room in (
        ((start, end), little),
        (_lines(text, run, *near), little),
        (_link_or_tag(text, run, *near), budget // 2),
        ((run.start, run.end), budget),
    ):
        first, last = _closed(document, *span, blocked, sentences)
        rest = last - first - (run.end - run.start)
        if start <= first and last <= end and rest <= room * _CHARACTERS:
            shown = text[first : run.start] + run.placeholder + text[run.end : last]
            if document.counter.count(shown) <= min(room, budget):
                return first, last
    return None


def _lines(text: str, run: OpaqueRun, start: int, end: int) -> tuple[int, int]:
    """Return the span of the lines that contain a run."""
    first, last = run.start, run.end
    if first > start and text[first - 1] not in "\r\n":
        first = line_starts(text, start, first)[-2]
    if last < end and text[last - 1] not in "\r\n":
        last = line_starts(text, last, end)[1]
    return first, last


def _link_or_tag(text: str, run: OpaqueRun, start: int, end: int) -> tuple[int, int]:
    """Return the span of the link, image or HTML tag around a run, or of the run itself."""
    for opening, closing in _AROUND:
        before, after = opening.search(text, start, run.start), closing.match(text, run.end, end)
        if before and after:
            return before.start(), after.end()
    return run.start, run.end


def _closed(
    document: Document, first: int, last: int, blocked: SpanSet, sentences: Sequence[int]
) -> tuple[int, int]:
    """Extend the span ``(first, last)`` to whole blocked spans and whole sentences that fit."""
    fits = document.fits
    first, last = blocked.start(first), blocked.end(last)
    before, after = _sentence(sentences, first)
    if first < after < last and fits(before, after):
        first = blocked.start(before)
    before, after = _sentence(sentences, last)
    if first < before < last and fits(before, after):
        last = blocked.end(after)
    return first, last


def _sentence(sentences: Sequence[int], pos: int) -> tuple[int, int]:
    """Return the span of the sentence that strictly contains ``pos``, or an empty span there."""
    slot = bisect_left(sentences, pos)
    inside = 0 < slot < len(sentences) and pos < sentences[slot]
    return (sentences[slot - 1], sentences[slot]) if inside else (pos, pos)
