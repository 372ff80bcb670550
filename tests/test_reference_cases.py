"""Cases that the systems chunkast follows answer themselves, kept in fixtures/cases.

The search, the merging of points, the test for protection and the identity functions bind
to the letter. Regions and points come from qmd's scanners over lines, whose positions are
the newline before a line; ours come from a CommonMark tree and are the line's first
character. They bind wherever the two readings of Markdown agree. ``DIFFERS`` lists the
cases where they do not; those bind to the answer of a CommonMark tree that the case gives.
The cases about tool calls are asserted in ``test_toolcall_cases``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, Final

import pytest

from chunkast import (
    Analysis,
    BreakPoint,
    Chunk,
    Chunker,
    ProtectedRegion,
    best_cut,
    chunk_id,
    content_hash,
    digest,
    locate_quote,
    merge_break_points,
    normalize_text,
    plan_writes,
    validate_quote,
)
from chunkast.cutting.scored_search import cut_value
from chunkast.heuristics import Heuristic, Patch
from chunkast.scores import SCORES

Case = dict[str, Any]
Point = tuple[int, float, str]

FOLDER: Final = Path(__file__).parents[1] / "fixtures" / "cases"
# Where CommonMark legitimately reads a text otherwise, by the row of the table of
# differences (A12) in the description of the reference systems.
DIFFERS: Final = {
    "break_points_base-035": 1,  # "#tag" is text
    "break_points_base-039": 4,  # text right over "---" is a heading
    "break_points_base-041": 5,  # "----" is a rule
    "break_points_base-043": 5,  # a rule right after a rule is one too
    "break_points_base-047": 11,  # no backtick in the info string of a backtick fence
    "code_fences-035": 8,  # a fence on the first line opens
    "code_fences-037": 9,  # a fence may be indented by up to three spaces
    "code_fences-041": 9,  # a fence may stand in a quote
    "code_fences-043": 11,  # "```code```" alone on a line is inline code
    "code_fences-045": 12,  # a comment holds no fence
    "list_break_points-043": 15,  # a tab may follow the marker
    "list_break_points-045": 15,  # "-" alone is an empty item
    "list_break_points-047": 5,  # "- - -" is a rule
    "list_break_points-049": 16,  # at most nine digits
    "list_break_points-053": 19,  # five spaces after the marker begin indented code
    "list_break_points-055": 18,  # prose right under an item goes on with it
}
# Their kinds that have another name here. A point of theirs at a blank line is ours at
# the next line that is not blank.
KINDS: Final = {"blank": "paragraph", "codeblock": "fence"}
LIST_KINDS: Final = {"list-item-0", "list-item-1", "list-item-2", "list-end"}
# Their base scanner knows these; both of us have no others of them.
BASE_KINDS: Final = {"h1", "h2", "h3", "h4", "h5", "h6", "hr", "fence", "paragraph"}
PENALTIES: Final = {"orphan-heading", "lead-in"}

_REST_OF_BLANK_LINE = re.compile(r"[ \t]*(?:\r\n|\r|\n)")

FILES: Final[dict[str, list[Case]]] = {
    path.stem: json.loads(path.read_text("utf-8"))["cases"] for path in FOLDER.glob("*.json")
}


def cases_of(name: str) -> pytest.MarkDecorator:
    """One test per case of a file, named by the case's id."""
    found = FILES[name]
    assert found
    return pytest.mark.parametrize("case", found, ids=[case["id"] for case in found])


def text_of(given: Any) -> str:
    """A text, written as itself or as {repeat, times}, {concat} or {lines}."""
    if isinstance(given, str):
        return given
    if "repeat" in given:
        return text_of(given["repeat"]) * int(given["times"])
    if "concat" in given:
        return "".join(map(text_of, given["concat"]))
    return "\n".join(map(text_of, given["lines"]))


def points_of(rows: Sequence[Sequence[Any]]) -> list[BreakPoint]:
    return [BreakPoint(*row) for row in rows]


@cases_of("best_cutoff_decay")
def test_best_cut(case: Case) -> None:
    """To the letter."""
    given = dict(case["input"])
    if "fraction" in given:
        weight = cut_value(1, given["fraction"], 1, given["decay"])
        assert weight == pytest.approx(case["expect"], abs=1e-12)
        return
    points = points_of(given.pop("points"))
    regions = [ProtectedRegion(*row) for row in given.pop("regions", ())]
    assert best_cut(points, given.pop("target"), regions=regions, **given) == case["expect"]


@cases_of("merge_break_points")
def test_merge_break_points(case: Case) -> None:
    """To the letter, all lists at once and one after the other."""
    lists = [points_of(rows) for rows in case["input"]]
    assert merge_break_points(*lists) == points_of(case["expect"])
    assert reduce(merge_break_points, lists, list[BreakPoint]()) == points_of(case["expect"])


@cases_of("protected_regions")
def test_protected_regions(case: Case) -> None:
    """To the letter."""
    regions = [ProtectedRegion(*row) for row in case["input"]["regions"]]
    assert any(r.contains(case["input"]["pos"]) for r in regions) is case["expect"]


@dataclass(frozen=True)
class Stored:
    """What plans and digests look at."""

    id: str
    content_hash: str
    embed_hash: str = ""


def built(pages: Sequence[tuple[str, str]]) -> list[Chunk]:
    """A chunk for each section with text of its own, as the original's pages are built."""
    return list(Chunker(min_tokens=0).iter_chunks(pages))


FUNCTIONS: Final[dict[str, Callable[[Any], object]]] = {
    "normalize_text": normalize_text,
    "content_hash": content_hash,
    "chunk_id": lambda given: chunk_id(**given),
    "digest": lambda given: digest(Stored(*row) for row in given),
    "build": lambda given: [[chunk.id, list(chunk.headings)] for chunk in built(given)],
}


@cases_of("chunk_identity")
def test_identity(case: Case) -> None:
    """To the hexadecimal digit."""
    assert FUNCTIONS[case["function"]](case["input"]) == case["expect"]


@cases_of("write_plan")
def test_plan_writes(case: Case) -> None:
    """To the letter, on pairs of id and hash and on whole pages."""
    given = case["input"]
    if "current" in given:
        states = [[Stored(*row) for row in given[name]] for name in ("current", "prior")]
        plan = plan_writes(*states)
    else:
        plan = plan_writes(built(given["current_pages"]), built(given["prior_pages"]))
    assert {name: list(getattr(plan, name)) for name in case["expect"]} == case["expect"]


@cases_of("validate_quote")
def test_validate_quote(case: Case) -> None:
    """To the letter; what is valid is also found, unless white space alone makes it long."""
    quote, text = (text_of(case["input"][name]) for name in ("quote", "text"))
    assert validate_quote(quote, text) is case["expect"]
    assert bool(locate_quote(quote, text, strict=True)) is validate_quote(quote, text, len(quote))


@cases_of("code_fences")
def test_code_fences(case: Case) -> None:
    """Where fences lie; our regions begin with the opening line, not with the newline before."""
    text = text_of(case["input"])
    found = [(r.start, r.end) for r in Chunker().analyze(text).regions if r.kind == "fence"]

    def ours(rows: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
        return [(start + (text[start : start + 1] == "\n"), end) for start, end in rows]

    assert (found == ours(case["expect"])) is (case["id"] not in DIFFERS)
    if "tree" in case:
        assert found == ours(case["tree"]["expect"])


class Reading:
    """Our break points of a text, without those that protected regions close."""

    def __init__(self, text: str, hidden: Sequence[Sequence[int]] = ()) -> None:
        """``hidden`` spans are masked, as a user's own heuristic would do it."""
        self.text = text
        masked = text
        for start, end in hidden:
            masked = masked[:start] + re.sub(r".", "x", masked[start:end]) + masked[end:]
        mask: Heuristic[Any, Any] = Heuristic(
            "mask", "pre-parse", lambda _draft: Patch(source=masked)
        )
        self.analysis: Analysis = Chunker(heuristics=[mask] if hidden else []).analyze(text)
        self.points = {p.pos: p for p in self.analysis.break_points if not self.closed(p.pos)}

    def closed(self, pos: int) -> bool:
        """Whether a protected region admits no cut here."""
        return any(region.contains(pos) for region in self.analysis.regions)

    def next_line(self, pos: int) -> int:
        """The first line that is not blank, or the end of the text, from a line end on."""
        while line := _REST_OF_BLANK_LINE.match(self.text, pos):
            pos = line.end()
        return pos

    def ours(self, rows: Sequence[Sequence[Any]]) -> list[Point]:
        """Their points in our terms: the kind's name, the position, nothing for a newline."""
        found: list[Point] = []
        for pos, score, kind in rows:
            place = self.next_line(pos) if kind == "blank" else min(pos + 1, len(self.text))
            last = kind == "blank" and not self.text[place:].strip()
            if kind != "newline" and not last and not self.closed(place):
                found.append((place, score, KINDS.get(kind, kind)))
        return found

    def after(self, expected: Sequence[Point]) -> list[Point]:
        """The points that only we have: after a protected block and after a rule."""
        rules = [pos for pos, _, kind in expected if kind == "hr"]
        found: list[Point] = [(self.next_line(self.text.find("\n", r)), 60, "hr") for r in rules]
        found += [(self.next_line(r.end), 80, r.kind) for r in self.analysis.regions]
        return found

    def has(self, pos: int, score: float, kind: str) -> bool:
        """Whether we have the point, or one that outranks it, or a penalty in its place.

        Points of lists never outrank each other: where they differ, so do the lists. A
        penalty's place is after a heading or a colon.
        """
        point = self.points.get(pos)
        if point is None:
            return False
        if point.kind == kind:
            return point.score == score
        if point.kind in PENALTIES:
            line = self.text[:pos].rstrip().rpartition("\n")[2]
            deserved = line.startswith("#") or line.endswith(":")
            return deserved and point.score < 0 and SCORES.get(kind, score) == score
        return point.score > score and not {kind, point.kind} <= LIST_KINDS

    def problems(self, expected: Sequence[Point], kinds: set[str]) -> list[object]:
        """The points that we lack, and ours of the given kinds that are not expected."""
        known = {(pos, kind) for pos, _, kind in expected}
        return [
            *(point for point in expected if not self.has(*point)),
            *(
                point
                for point in self.points.values()
                if point.kind in kinds and (point.pos, point.kind) not in known
            ),
        ]


@cases_of("break_points_base")
def test_base_points(case: Case) -> None:
    """Each point of theirs is ours, and we have no others of their kinds but after blocks."""
    reading = Reading(text_of(case["input"]))
    expected = reading.ours(case["expect"])
    found = reading.problems([*expected, *reading.after(expected)], BASE_KINDS)
    assert bool(found) is (case["id"] in DIFFERS), found
    if "tree" in case:
        assert reading.problems(reading.ours(case["tree"]["present"]), set()) == []
        for pos, kind in case["tree"]["absent"]:
            point = reading.points.get(pos + 1)
            assert point is None or point.kind != KINDS.get(kind, kind)


@cases_of("list_break_points")
def test_list_points(case: Case) -> None:
    """Each point of theirs is ours, and we have no other points of lists."""
    reading = Reading(text_of(case["input"]))
    found = reading.problems(reading.ours(case["expect"]), LIST_KINDS)
    assert bool(found) is (case["id"] in DIFFERS), found
    if "tree" in case:
        assert reading.problems(reading.ours(case["tree"]["expect"]), LIST_KINDS) == []


@cases_of("xml_tag_break_points")
def test_xml_tags(case: Case) -> None:
    """Each line of theirs is a tag of ours, and there is a point where it says one is good.

    Behind a closing tag, that is: theirs lies before it.
    """
    reading = Reading(text_of(case["input"]), case.get("hidden", ()))
    tags = [leaf for leaf in reading.analysis.blocks.leaves() if leaf.kind == "tag"]
    # Nothing can be cut before the first line, so theirs names no opener there.
    found = [[leaf.start - 1, f"tag-{leaf.info}"] for leaf in tags if leaf.start]
    assert found == case.get("tree", case["expect"])
    points = {point.pos: point for point in reading.analysis.break_points}
    for leaf in tags:
        if leaf.info == "close":
            assert points[reading.next_line(leaf.end)].score >= SCORES["tag-close"]
        elif leaf.start:
            assert points[leaf.start].score >= SCORES["tag-open"]
