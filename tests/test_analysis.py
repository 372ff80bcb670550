"""The pipeline around the parse: a user's heuristics, masks, failures, tool calls."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it.parser_block import ParserBlock

from chunkast import (
    Analysis,
    Annotation,
    BreakPoint,
    ChunkConfig,
    Chunker,
    ConfigError,
    HeuristicError,
    ProtectedRegion,
    count_tokens,
)
from chunkast.analysis import DocumentDraft, DocumentHeuristic, structure_of
from chunkast.analysis.walk import BlockWalk
from chunkast.heuristics import Heuristic, Patch
from chunkast.markdown.fast.block_parser import FastBlocks
from chunkast.model import Block, Heading, Replacement
from chunkast.toolcalls import Tool, ToolCall, parse_tool_calls
from chunkast.toolcalls.results import find_exchanges
from tests.checks import check_promises
from tests.strategies import documents, markdown


def before(id_: str, mask: Callable[[str], str]) -> DocumentHeuristic:
    def run(draft: DocumentDraft) -> Patch[Analysis]:
        return Patch(source=mask(draft.source))

    return Heuristic(id_, "pre-parse", run)


def after(id_: str, **found: Any) -> DocumentHeuristic:
    def run(draft: DocumentDraft) -> Patch[Analysis]:
        assert draft.value is not None
        return Patch(value=draft.value.plus(**found))

    return Heuristic(id_, "post-parse", run)


def test_a_position_inside_a_cluster_is_no_mistake_and_no_cut() -> None:
    text = "A family: \U0001f468\u200d\U0001f469, and more.\n"
    chunker = Chunker(
        max_tokens=4,
        overlap=0,
        heuristics=[
            after(
                "inside",
                break_points=[BreakPoint(11, 5, "x"), BreakPoint(2, 5, "x")],
                regions=[ProtectedRegion(11, 15, "x")],
                headings=[Heading(11, 15, 1, "A", ("A",))],
            )
        ],
    )
    analysis = chunker.analyze(text)
    assert [point.pos for point in analysis.break_points if point.kind == "x"] == [2]
    assert [(region.start, region.end) for region in analysis.regions] == [(10, 15)]
    assert [heading.start for heading in analysis.headings] == [10]
    check_promises(text, chunker.config, own_points={2, 10})


def test_parts_of_a_fence_that_only_a_mask_has_repeat_no_line() -> None:
    text = "xxx\n" + "word word word\n" * 30
    fence = before("fence", lambda source: source.replace("xxx", "```"))
    config = ChunkConfig(max_tokens=20, overlap=0, heuristics=(fence,))
    assert {chunk.context.strip() for chunk in check_promises(text, config)} == {""}


NESTED: Any = []
NESTED.append(NESTED)
TEXT = "Some text\n\nmore.\n\n"
POSITIONS: list[Any] = [-1, 19, 1.0, None]
PATHS: list[Any] = [(), ("A", 5), "A"]
ANCHORS: list[Any] = ["x", ["x"], (5,)]
ANY: Any = None
WRONG: list[tuple[str, Any]] = [
    *(("break_points", BreakPoint(pos, 5, "x")) for pos in POSITIONS),
    *(("break_points", BreakPoint(3, score, "x")) for score in (math.nan, math.inf, 10**400, ANY)),
    ("break_points", BreakPoint(3, 5, ANY)),
    *(("regions", ProtectedRegion(*span)) for span in ((3, 3), (5, 3), (0, 99))),
    *(("headings", Heading(0, 3, level, "A", ("A",))) for level in (0, 10**400)),
    *(("headings", Heading(0, 3, 1, "A", path)) for path in PATHS),
    *(("headings", Heading(0, 3, 1, "A", ("A",), "", names)) for names in ANCHORS),
    *(("annotations", Annotation(0, 3, "x", value)) for value in (math.nan, {1: 2}, (1,), NESTED)),
    ("annotations", Annotation(0, 3, "front_matter", 1)),
    ("replacements", Replacement(0, 99)),
    ("replacements", Replacement(0, 1, ANY)),
    *((name, "not one") for name in ("break_points", "regions", "headings", "annotations")),
]
# What ``plus`` does not add to stays as it is.
KEPT = {"blocks": Block("document", 0, 18), "masked": TEXT, "pages": ((0, 1),), "path": ("A",)}


def patching(**changed: Any) -> Chunker:
    def run(draft: DocumentDraft) -> Patch[Analysis]:
        assert draft.value is not None
        return Patch(value=replace(draft.value, **changed))

    return Chunker(heuristics=[Heuristic("odd", "post-parse", run)])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, (wrong,)) for name, wrong in WRONG),
        ("regions", [ProtectedRegion(0, 3)]),
        *KEPT.items(),
    ],
)
def test_a_wrong_value_is_an_error_that_names_it(name: str, value: Any) -> None:
    with pytest.raises(HeuristicError, match=rf"^heuristic 'odd': {name}.*: must ") as caught:
        patching(**{name: value}).chunk(TEXT)
    assert caught.value.heuristic == "odd"
    assert caught.value.field.startswith(name)
    assert pickle.loads(pickle.dumps(caught.value)).allowed == caught.value.allowed  # noqa: S301


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (7, "run=7: must return a Patch or None"),
        (Patch(value=7), "value=7: must be an Analysis of the same text"),
        (Patch(value=Chunker().analyze("x")), "value=<Analysis: 1 character, .*same text"),
        (Patch(source="# A\r\nB *c* "), "source='# A.*: must have the text's length, and line"),
        (Patch(source="\n A\r\nB *c* d"), "source="),
        (Patch(source="# A\n\nB *c* d"), "source="),
    ],
)
@pytest.mark.parametrize("phase", ["pre-parse", "post-parse"])
def test_a_wrong_patch_is_an_error(patch: Any, message: str, phase: Any) -> None:
    chunker = Chunker(heuristics=[Heuristic("odd", phase, lambda _: patch)])
    with pytest.raises(HeuristicError, match=f"^heuristic 'odd': {message}"):
        chunker.chunk("# A\r\nB *c* d")


@pytest.mark.parametrize("phase", ["pre-parse", "post-parse"])
def test_an_exception_of_a_heuristic_propagates_and_names_it(phase: Any) -> None:
    def fail(_: object) -> Any:
        raise ZeroDivisionError("by nought")

    heuristic: DocumentHeuristic
    for heuristic in (
        Heuristic("clumsy", phase, fail),
        Heuristic("clumsy", phase, lambda _: Patch(), fail),
    ):
        with pytest.raises(ZeroDivisionError, match="by nought") as caught:
            Chunker(heuristics=[heuristic]).chunk("Text.")
        assert caught.value.__notes__ == ["raised by the heuristic 'clumsy'"]


def test_headings_of_a_heuristic_are_sorted() -> None:
    text = "One.\n\nTwo.\n\nThree.\n"
    found = [Heading(12, 19, 1, "C", ("C",)), Heading(0, 5, 1, "A", ("A",))]
    again = [*found, Heading(0, 5, 2, "B", ("B",))]
    chunker = Chunker(max_tokens=4, overlap=0, heuristics=[after("titles", headings=again)])
    assert list(chunker.analyze(text).headings) == found[::-1]
    chunks = check_promises(text, chunker.config)
    assert [chunk.headings for chunk in chunks] == [("A",), ("C",)]


# Failures


def test_when_the_parser_fails_the_text_is_read_as_paragraphs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_args: object) -> None:
        raise RuntimeError("no parser today")

    for blocks in (ParserBlock, FastBlocks):
        monkeypatch.setattr(blocks, "parse", fail)
    text = "---\ntitle: x\n---\n# Title\n\n" + "Some text.\n\n" * 9 + "| no | table |\n"
    analysis = Chunker().analyze(text)
    kinds = [leaf.kind for leaf in analysis.blocks.leaves() if leaf.kind != "blank"]
    assert kinds == ["front-matter", *["paragraph"] * 11]
    assert analysis.notes[-1] == "the document was read as plain paragraphs"
    assert "RuntimeError: no parser today" in analysis.notes[-2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heuristics": [1]}, "heuristics=1: must be a Heuristic"),
        ({"heuristics": 1}, "heuristics=1: must be a sequence"),
        ({"tools": ["calc"]}, "tools='calc': must be a Tool"),
        ({"tools": [Tool("a"), Tool("a")]}, "tools='a': two tools have this name"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Chunker(**options)
    assert message in str(caught.value)


# Promises


@st.composite
def foreign(draw: st.DrawFn) -> tuple[str, tuple[DocumentHeuristic, ...], set[int]]:
    """A text, heuristics that mask and mark it at random, and the points they set."""
    text = draw(documents() | markdown())
    place = st.integers(0, len(text))
    spans = st.lists(st.tuples(place, place).filter(lambda span: span[0] < span[1]), max_size=4)
    masks = draw(spans)
    filler = draw(st.sampled_from(["x", " ", "#", "`"]))

    def mask(source: str) -> str:
        for start, end in masks:
            hidden = re.sub(r"[^\r\n]", filler, source[start:end])
            source = source[:start] + hidden + source[end:]
        return source

    points = draw(st.lists(place, max_size=5))
    # Of regions that cross only the first is sure to stay whole.
    regions = draw(spans)[:1]
    marks = after(
        "marks",
        break_points=[BreakPoint(pos, draw(st.sampled_from([0, 50])), "x") for pos in points],
        regions=[ProtectedRegion(*span, "x") for span in regions],
        annotations=[Annotation(*span, "x", span[0]) for span in regions],
        replacements=[Replacement(*span, draw(st.text(max_size=12))) for span in draw(spans)],
    )
    return text, (before("mask", mask), marks), set(points)


@given(foreign(), st.sampled_from([1, 3, 10, 40, 200]), st.sampled_from([0, 0.3]), st.booleans())
def test_promises_hold_with_anybodys_heuristics(
    given_: tuple[str, tuple[DocumentHeuristic, ...], set[int]],
    budget: int,
    overlap: float,
    trim: bool,
) -> None:
    text, heuristics, points = given_
    config = ChunkConfig(max_tokens=budget, overlap=overlap, trim=trim, heuristics=heuristics)
    chunks = check_promises(text, config, own_points=points)
    marks = [mark.value for mark in Chunker(config).analyze(text).annotations]
    listed = [value for chunk in chunks for value in chunk.metadata.get("x", [])]
    # What begins in white space between chunks is in none.
    assert [value for value in marks if value in listed] == listed


# Tool calls


WRITE = Tool(
    "write_file",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    },
)
CALC = Tool("calc", {"properties": {"a": {"type": "number"}}})
CALL = """<write_file>
<path>README.md</path>
<content># Not a heading

- no list
```
no fence
</content>
</write_file>"""
TRANSCRIPT = f"""# Session

## Assistant

I write the file now, as it was asked for.

{CALL}

Then I compute <calc><a>1</a></calc> and go on.

- In a list:
  <calc><a>
  2</a>
  </calc>
- Done.

---

## Tool

It worked. # no heading
"""


@pytest.mark.parametrize("budget", [45, 100])
def test_a_call_is_one_block_and_is_listed_where_it_begins(budget: int) -> None:
    config = ChunkConfig(max_tokens=budget, overlap=0, tools=(WRITE, CALC))
    titles = [heading.title for heading in Chunker(config).analyze(TRANSCRIPT).headings]
    assert titles == ["Session", "Assistant", "Tool"]
    chunks = check_promises(TRANSCRIPT, config)
    (holder,) = [chunk for chunk in chunks if CALL in chunk.text]
    assert "tool-call" in holder.kinds
    calls = [call for chunk in chunks for call in chunk.metadata.get("tool_calls", [])]
    assert [call["arguments"].get("a") for call in calls] == [None, 1, 2]
    assert TRANSCRIPT[calls[0]["start_index"] : calls[0]["end_index"]] == CALL


def test_a_call_larger_than_the_budget_is_divided_and_listed_once() -> None:
    body = "\n".join(f"Line {number} of the file, as long as it is." for number in range(60))
    text = f"Before.\n\n<write_file><content>{body}</content></write_file>\n\nBehind.\n"
    chunks = check_promises(text, ChunkConfig(max_tokens=50, tools=(WRITE,)))
    assert len(chunks) > 10
    assert sum("tool_calls" in chunk.metadata for chunk in chunks) == 1


def test_the_last_line_of_a_call_is_no_heading() -> None:
    titles = [
        [heading.title for heading in Chunker(tools=[CALC]).analyze(text).headings]
        for text in (
            "It is <calc><a>\n1</a></calc> now.\n---\n\nText.\n",
            "It is <calc/><result>\n1\n</result> now.\n===\n\nText.\n",
            "It is <calc/>\n---\n\nText.\n",
        )
    ]
    assert [len(found) for found in titles] == [0, 0, 1]


def test_a_call_that_cannot_be_read_is_a_note() -> None:
    analysis = Chunker(tools=[CALC]).analyze("<calc>" + "<a>" * 200 + "</calc>")
    assert analysis.annotations == ()
    assert "tool call 'calc' at 0: it stays text" in analysis.notes[0]


RESULT = "<tool_response>\n# No heading\n\n```\nno fence\n</tool_response>"


@pytest.mark.parametrize(
    ("between", "result"),
    [
        ("\n", RESULT),
        ("\n", "<tool_result>\n# No heading\n</tool_result>"),
        ("\n\n", "<function_results>\n<result>\n# No heading\n</result>\n</function_results>"),
        ("\n\n", "<function_results>\n# No heading\n</function_results>"),
        ("\n\n**Tool:**\n\n", "<observation>\n# No heading\n</observation>"),
        ("\n\n### Tool result\n\n", RESULT),
        ("<|im_end|>\n<|im_start|>user\n", RESULT),
        ("<|im_end|>\n", "<|im_start|>tool\n# No heading\n<|im_end|>"),
        ("<|observation|>\n", RESULT),
        ("", "<|observation|>\n# No heading"),
        ("[e~[\n]~b]tool\n", "<response># No\n# No heading\n</response>"),
        ("</s>", "[TOOL_RESULTS] {}\n# No heading\n[/TOOL_RESULTS]"),
        (
            "<｜end▁of▁sentence｜>",
            (
                "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>\n# No heading\n<｜tool▁output▁end｜>"
                "<｜tool▁outputs▁end｜>"
            ),
        ),
        ("<|im_end|>", "<|im_system|>tool<|im_middle|>## Return of calc\n# No heading\n<|im_end|>"),
        (
            "",
            (
                "<|start|>functions.calc to=assistant<|channel|>commentary<|message|>\n# No heading\n"
                "<|end|>"
            ),
        ),
        ("<|eot_id|>", "<|start_header_id|>ipython<|end_header_id|>\n\n# No heading\n<|eot_id|>"),
    ],
)
def test_a_result_is_one_block_that_stays_with_its_call(between: str, result: str) -> None:
    exchange = f"<calc><a>1</a></calc>{between}{result}"
    text = f"# Session\n\n{'I compute. ' * 30}\n\n{exchange}\n<|assistant|>\n\n# End\n\nIt is 1.\n"
    config = ChunkConfig(max_tokens=count_tokens(exchange) + 8, tools=(CALC,))
    analysis = Chunker(config).analyze(text)
    titles = [heading.title for heading in analysis.headings if "Tool" not in heading.title]
    assert titles == ["Session", "End"]
    assert ("tool-result", result) in [
        (region.kind, text[region.start : region.end]) for region in analysis.regions
    ]
    assert any(exchange in chunk.text for chunk in check_promises(text, config))
    # Without a call right before it, it is ordinary text.
    text = text.replace(between + result, f" So: {result}")
    assert "No heading" in [heading.title for heading in Chunker(config).analyze(text).headings]


def test_as_many_results_as_fit_stay_with_their_calls() -> None:
    call, result = "<calc><a>1</a></calc>\n", f"<tool_response>\n{'word ' * 30}\n</tool_response>\n"
    text = call * 3 + result * 3 + "\n# End\n"
    all_of_it = count_tokens(text)
    for budget, most in ((all_of_it, 3), (all_of_it - 20, 2), (all_of_it - 60, 1)):
        config = ChunkConfig(max_tokens=budget, overlap=0, tools=(CALC,))
        first = check_promises(text, config)[0].text
        assert (first.count("</calc>"), first.count("</tool_response>")) == (3, most)
    # A call in a result is listed, but has no result of its own.
    nested = Chunker(tools=[CALC]).analyze(
        f"{call}<tool_response>\n{call}<result></result></tool_response>"
    )
    assert len(nested.annotations) == 2
    assert [region.kind for region in nested.regions].count("tool-result") == 1
    # A result that is never closed is ordinary text.
    unclosed = Chunker(tools=[CALC]).analyze(f"{call}<tool_response>\n\n{call}{result}")
    (found,) = [region for region in unclosed.regions if region.kind == "tool-result"]
    assert unclosed.text[found.start : found.end] + "\n" == result


def test_a_part_of_a_result_names_its_call() -> None:
    calls = [f"<calc>\n<a>{number}</a>\n<b>{'word ' * 40}</b>\n</calc>\n" for number in (1, 2)]
    results = [f"<tool_response>\n{word * 90}\n</tool_response>\n" for word in ("one ", "two ")]
    config = ChunkConfig(max_tokens=80, overlap=0, tools=(CALC,))
    for text, named in (
        (calls[0] + "Then:\n\n" + calls[1] + results[0], {("one", "2")}),
        (calls[0] + results[0] + calls[1] + results[1], {("one", "1"), ("two", "2")}),
        ("".join(calls + results), {("one", "1"), ("two", "2")}),
        (calls[1] + results[1] + results[0], {("one", "2"), ("two", "2")}),
    ):
        found = set()
        for chunk in check_promises(text + "\nEnd.\n", config):
            if part := re.match("(one|two) ", chunk.text):
                opener = re.fullmatch(r"<calc> <a>(\d)</a> <b>(?:word ?)+\n\n", chunk.context)
                assert opener
                assert count_tokens(opener[0].strip()) <= 32
                found.add((part[1], opener[1]))
        assert found == named


def test_a_result_over_the_budget_is_divided_like_markdown() -> None:
    table = "| a | b |\n|---|---|\n" + "| one | two |\n" * 6
    parts = [f"## Part {number}\n\n{'A word. ' * 20}\n\n{table}" for number in range(6)]
    result = "<tool_response>\n" + "\n".join(parts) + "```\nnever closed\n</tool_response>\n"
    text = f"# Session\n\n<calc><a>1</a></calc>\n{result}\n# End\n\nIt is 1.\n"
    chunks = check_promises(text, ChunkConfig(max_tokens=120, overlap=0, tools=(CALC,)))
    assert {chunk.headings for chunk in chunks} <= {("Session",), ("End",)}
    for part in parts[1:]:
        assert any(chunk.text.startswith(part[:10]) for chunk in chunks)
    assert sum(table.strip() in chunk.text for chunk in chunks) == 6


@st.composite
def transcripts(draw: st.DrawFn) -> str:
    calls = ["<calc><a>1</a></calc>", CALL, "<calc/>", "<calc>\r\n", "</calc>", "<calc>"]
    results = [RESULT, "<tool_response>", "</tool_response>", "<result>1</result>"]
    pieces = st.one_of(
        markdown(),
        st.sampled_from([*calls, *results]),
        st.sampled_from(["\n", "  ", "- ", "> ", "<|im_end|>"]),
        st.builds("".join, st.lists(st.sampled_from([*calls[:3], "\n", *results]), max_size=6)),
    )
    return "".join(draw(st.lists(pieces, max_size=8)))


@given(transcripts(), st.sampled_from([12, 40, 100]), st.sampled_from([0, 0.3]), st.booleans())
@example("<calc><calc>\r\n", 100, 0, False)
@example("<calc/>\n<result>1</result><calc/>", 40, 0, False)
def test_promises_hold_with_tools(text: str, budget: int, overlap: float, trim: bool) -> None:
    tools = (WRITE, CALC)
    config = ChunkConfig(max_tokens=budget, overlap=overlap, trim=trim, tools=tools)
    chunks = check_promises(text, config)
    calls = [part for part in parse_tool_calls(text, tools) if isinstance(part, ToolCall)]
    listed = [
        (found["start_index"], found["end_index"])
        for chunk in chunks
        for found in chunk.metadata.get("tool_calls", [])
    ]
    assert listed == [(call.start_index, call.end_index) for call in calls]
    spans = [(call.start_index, call.end_index) for call in calls]
    for called, results in find_exchanges(text, spans):
        spans += [*results, (called[0][0], results[-1][1])]
    above = structure_of(text, config).headings_above
    for start, end in spans:
        if count_tokens(text[above(start) : end]) <= budget:
            assert any(c.start_index <= start and end <= c.end_index for c in chunks)


def test_the_blocks_of_a_text_that_fits_are_not_visited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(BlockWalk, "visit_all")
    assert len(Chunker(max_tokens=512).chunk("# Hulls\n\nOak.\n\n## Paint\n\nGreen.\n")) == 1
