"""Opaque runs that are kept whole, and what each takes along."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from chunkast.core.document import Document
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.model import Block
from chunkast.text.opaque import OpaqueRun, opaque_runs
from chunkast.text.source_map import line_starts
from chunkast.text.spans import SpanSet

__all__ = ("kept_span", "runs_above_budget")

# A block or line goes with the run in it where the rest takes at most this share of the budget, a
# link or tag where all that is embedded takes a half: alone, either would say as little as the run.
_REST_SHARE: Final = 10
# More characters than this for each token are not counted.
_CHARACTERS: Final = 8
# What may stand right before a run and after it. (The scanner of inline Markdown takes no link with
# so long a destination for one.)
_AROUND: Final = (
    (re.compile(r"!?\[[^\[\]]*\]\([ \t]*<?\Z"), re.compile(r">?[ \t]*(?:\"[^\"\r\n]*\"[ \t]*)?\)")),
    (re.compile(r"<[A-Za-z][^<>]*\Z"), re.compile(r"[^<>]*>")),
)


def runs_above_budget(document: Document, leaf: Block, start: int, end: int) -> list[OpaqueRun]:
    """The opaque runs in ``[start, end)`` of a leaf that are alone larger than the budget."""
    code = CONSTRUCTS[leaf.kind].shape in ("code", "lines")
    runs = opaque_runs(document.text, start, end, code=code)
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
    """Return the span that is kept whole for a run in ``[start, end)``; None without room to embed it.

    It is the first that has little beside the run of: all of it, the run's lines, a link or tag
    around it, the run. It cuts nothing ``blocked`` and no sentence that fits; ``sentences`` are
    where they begin and the last ends.
    """
    text, budget = document.text, document.config.budget
    little = document.counter.count(run.placeholder) + budget // _REST_SHARE
    # More than little is kept of no line, so that no line is looked at beyond that.
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
    """The whole lines that a run stands in."""
    first, last = run.start, run.end
    if first > start and text[first - 1] not in "\r\n":
        first = line_starts(text, start, first)[-2]
    if last < end and text[last - 1] not in "\r\n":
        last = line_starts(text, last, end)[1]
    return first, last


def _link_or_tag(text: str, run: OpaqueRun, start: int, end: int) -> tuple[int, int]:
    """The link, image or HTML tag around a run, or the run alone."""
    for opening, closing in _AROUND:
        before, after = opening.search(text, start, run.start), closing.match(text, run.end, end)
        if before and after:
            return before.start(), after.end()
    return run.start, run.end


def _closed(
    document: Document, first: int, last: int, blocked: SpanSet, sentences: Sequence[int]
) -> tuple[int, int]:
    """The span ``(first, last)`` with all of what is blocked, and of sentences that fit, at its edges."""
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
    """The sentence that ``pos`` lies strictly inside of; an empty one if there is none."""
    slot = bisect_left(sentences, pos)
    inside = 0 < slot < len(sentences) and pos < sentences[slot]
    return (sentences[slot - 1], sentences[slot]) if inside else (pos, pos)
