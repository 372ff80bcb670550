"""Divide blocks that exceed the budget until every unit fits."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from chunkast.analysis import Point, Structure
from chunkast.config import ChunkConfig
from chunkast.cutting.blocked import blocked_in, sentence_cuts
from chunkast.cutting.costs import Costs
from chunkast.cutting.headings_above import NOTHING_ABOVE, Above
from chunkast.cutting.levels import Body, Level, grapheme_levels, levels_of
from chunkast.model import Block
from chunkast.text.opaque import OpaqueRun
from chunkast.text.sentences import ends_sentence
from chunkast.text.source_map import line_starts
from chunkast.text.spans import SpanSet, content_end
from chunkast.text.white_space import is_blank

__all__ = ("Divider",)

# Blocks that may be between the last sentence of a lead-in and a unit, and the most of them.
_BETWEEN = frozenset({"math", "bold-heading"})
_NEAR = 8
# The characters at the end of a unit that show whether a sentence ends there.
_TAIL = 80


class Divider:
    """Finds cuts inside those units of one document that exceed the budget.

    ``split`` lists the opaque runs that were cut. The frames of divided blocks are added to
    ``costs.context``.
    """

    def __init__(self, structure: Structure, costs: Costs, config: ChunkConfig) -> None:
        self.split: list[OpaqueRun] = []
        self._structure = structure
        self._costs = costs
        self._config = config
        self._outliner = structure.outliner(config.budget)

    def cuts_below(
        self, group: int, protected: SpanSet, unit: Point, end: int, cuts: Sequence[Point]
    ) -> Sequence[Point]:
        """Return the cuts that keep the first part of a unit with the text that introduces it.

        The text ``[group, unit.pos)`` and the unit, which ends at ``end``, do not fit together. A
        unit without ``cuts`` is cut after its first sentence. If the two still do not fit, the text
        before the unit is cut before its last sentence. If this does not suffice, returns ``cuts``.
        """
        costs = self._costs
        parts = cuts or self._sentences(unit.leaf, protected, unit.pos, end)[:1]
        until = next((cut.pos for cut in parts if cut.score >= 0), end)
        if costs.is_within(group, until):
            return parts
        last = self._last_sentence(group, protected, unit.pos)
        return [*last, *parts] if last and costs.is_within(last[0].pos, until) else cuts

    def _last_sentence(self, group: int, protected: SpanSet, end: int) -> list[Point]:
        """Return the cut before the last sentence of ``[group, end)``, if it goes on after ``end``.

        A formula after it belongs to the sentence, and a bold line to what it introduces.
        """
        leaves, last = self._structure.leaves, bisect_left(self._structure.leaf_starts, end) - 1
        before = reversed(leaves[max(last - _NEAR, 0) : last + 1])
        leads = (leaf for leaf in before if leaf.kind not in _BETWEEN or leaf.start <= group)
        lead = next(leads, None)
        if lead is None or ends_sentence(
            self._costs.text[max(lead.start, lead.end - _TAIL) : lead.end]
        ):
            return []
        return self._sentences(lead, protected, max(group, lead.start), end)[-1:]

    def _sentences(
        self, leaf: Block | None, protected: SpanSet, start: int, end: int
    ) -> list[Point]:
        """Return the cuts between sentences of a leaf in ``[start, end)``, if it may be cut there."""
        structure, costs = self._structure, self._costs
        if (
            leaf is None
            or self._config.oversize == "keep"
            or structure.row(leaf).shape != "prose"
            or structure.row(leaf).section
            or protected.covers(leaf.start)
        ):
            return []
        score = self._config.score_table["sentence"]
        cuts = sentence_cuts(structure, costs, protected, leaf)
        # The leaf may go on after ``end``, where a user's heuristic set a point.
        return [Point(pos, score, "sentence") for pos in cuts if start < pos < end]

    def above_code(self, group: int, unit: Point) -> Above:
        """Return the text that stays with a unit's first line of code, or ``NOTHING_ABOVE``.

        The text ``[group, unit.pos)`` introduces the code. It stays if both fit with the closing
        line.
        """
        text, leaf, costs = self._costs.text, unit.leaf, self._costs
        if leaf is None or self._structure.row(leaf).shape != "code":
            return NOTHING_ABOVE
        fenced, starts = self._structure.row(leaf).fenced, line_starts(text, leaf.start, leaf.end)
        closing = costs.count("\n" + text[starts[-2] : leaf.end].strip()) + 1 if fenced else 0
        above = Above(group, starts[min(1 + fenced, len(starts) - 1)], closing)
        return above if costs.is_within(group, above.word_end, closing) else NOTHING_ABOVE

    def cuts(self, protected: SpanSet, above: Above, start: int, end: int) -> list[Point]:
        """Return the sorted cuts inside the unit ``[start, end)``.

        The unit's first part fits together with the headings ``above``. The unit is a leaf, or a
        protected region that begins with it. White space, and lines with only a container's
        markers, may follow.
        """
        leaf = self._structure.leaf_around(start) or Block("blank", start, end)
        costs = self._costs
        tail = self._tail(max(leaf.end, protected.end(start + 1)), end)
        if self._config.oversize == "keep":
            return []
        if self._config.opaque == "split":
            self.split.extend(costs.opaque_runs(start, tail))
        body = self._body(leaf, protected, above, end)
        points: list[Point] = []
        if tail < end:
            points.append(body.point(tail, "line"))
            points += self._parts(body, tail, end, grapheme_levels(body))
        points += self._parts(body, start, tail, levels_of(body))
        points.sort(key=lambda point: point.pos)
        if points:
            cuts = [point.pos for point in points]
            costs.context.add_frames(self._structure.frames(leaf, body.inside, cuts))
        return points

    def _body(self, leaf: Block, protected: SpanSet, above: Above, end: int) -> Body:
        structure = self._structure
        blocked = blocked_in(structure, self._costs, protected, leaf, end, above=above)
        syntax = structure.definitions(leaf, self._outliner)
        opened = -1
        if structure.row(leaf).fenced:
            opened = line_starts(structure.text, leaf.start, leaf.end)[1]
            syntax = [item for item in syntax if item.pos != opened]
        scores = self._config.score_table
        return Body(structure, self._costs, scores, leaf, *blocked, syntax, opened, above)

    def _tail(self, body_end: int, end: int) -> int:
        """Return the start of the text after a block's body, or ``end`` if there is none."""
        text = self._structure.text
        if body_end >= end or (self._config.trim and is_blank(text[body_end:end])):
            return end
        at_start = text[body_end - 1] in "\r\n"
        return body_end if at_start else line_starts(text, body_end, end)[1]

    def _parts(self, body: Body, start: int, end: int, levels: Sequence[Level]) -> Iterator[Point]:
        """Yield the points of the first level that has any, then the points inside its parts.

        Only parts over budget are divided further.
        """
        if body.is_within(start, end):
            return
        content = content_end(self._costs.text, start, end)
        if not self._config.trim and start < content < end:
            yield from self._without_space(body, start, content, end, levels)
            return
        for number, level in enumerate(levels, 1):
            points = [p for p in level(start, end) if start < p.pos < end and body.is_free(p.pos)]
            if points:
                yield from points
                for part in pairwise([start, *(point.pos for point in points), end]):
                    yield from self._parts(body, *part, levels[number:])
                return

    def _without_space(
        self, body: Body, start: int, content: int, end: int, levels: Sequence[Level]
    ) -> Iterator[Point]:
        """Yield a cut at ``content``, before trailing white space, and the cuts on both sides.

        The first cut is at the next line start instead if the text before that line fits.
        """
        following = line_starts(self._costs.text, content, end)[1:-1]
        first = body.above.start(start)
        near = following and self._costs.is_within(first, following[0])
        at = following[0] if near else content
        yield body.point(at, "line")
        yield from self._parts(body, start, at, levels)
        yield from self._parts(body, at, end, grapheme_levels(body))
