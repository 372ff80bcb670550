"""The pipeline around the parse: a user's heuristics, masks, failures, tool calls."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.parser_block import ParserBlock
from markdown_it.rules_block import StateBlock

from chunkast import (
    Analysis,
    Annotation,
    BreakPoint,
    ChunkastWarning,
    ChunkConfig,
    Chunker,
    ConfigError,
    ProtectedRegion,
    count_tokens,
)
from chunkast.config import DEFAULT_EXTENSIONS
from chunkast.core.analysis import DocumentContext, DocumentDraft, DocumentHeuristic
from chunkast.heuristics import Heuristic, Patch
from chunkast.markdown import dialects, parser
from chunkast.markdown.blocks import Signs
from chunkast.markdown.fast.blocks import FastBlocks
from chunkast.toolcalls import Tool, ToolCall, parse_tool_calls
from tests.checks import check_promises
from tests.strategies import documents, markdown

Run = Callable[[DocumentDraft], Patch[Analysis] | None]


def before(id_: str, mask: Callable[[str], str]) -> DocumentHeuristic:
    def run(draft: DocumentDraft) -> Patch[Analysis]:
        return Patch(source=mask(draft.source))

    return Heuristic(id_, "pre-parse", run)


def after(id_: str, **found: Any) -> DocumentHeuristic:
    def run(draft: DocumentDraft) -> Patch[Analysis]:
        assert draft.value is not None
        return Patch(value=draft.value.plus(**found))

    return Heuristic(id_, "post-parse", run)


# Points


SCISSORS = re.compile(r"^---8<---[ \t]*$", re.MULTILINE)


def cut_here(draft: DocumentDraft) -> Patch[Analysis]:
    """A point before every line of scissors, better than any heading."""
    assert draft.value is not None
    points = [
        BreakPoint(match.start(), 120, "scissors") for match in SCISSORS.finditer(draft.original)
    ]
    return Patch(value=draft.value.plus(break_points=points))


NOTES = [f"Read meter {number}, then write it down.\n" for number in range(12)]
NOTES[3] = NOTES[9] = "---8<---\nRead the meter at the gate, then write it down.\n"
PAPER = "\n".join(NOTES)


@pytest.mark.parametrize("packing", ["sections", "fill"])
def test_a_users_points_are_cut_at(packing: Any) -> None:
    scissors: DocumentHeuristic = Heuristic("scissors", "post-parse", cut_here)
    options = {"max_tokens": 80, "overlap": 0, "packing": packing, "window": 80}
    plain = Chunker(**options).chunk(PAPER)
    assert sum(chunk.text.startswith("---8<---") for chunk in plain) < 2
    chunker = Chunker(heuristics=[scissors], **options)
    kinds = {point.kind for point in chunker.analyze(PAPER).break_points}
    assert "scissors" in kinds
    chunks = check_promises(PAPER, chunker.config)
    assert sum(chunk.text.startswith("---8<---") for chunk in chunks) == 2


def test_points_of_nobodys_use_are_left_out_and_named() -> None:
    text = "A family: \U0001f468\u200d\U0001f469, and more.\n"
    wrong: list[Any] = [
        BreakPoint(-1, 5, "x"),
        BreakPoint(len(text) + 1, 5, "x"),
        BreakPoint(11, 5, "x"),
        BreakPoint(3, float("nan"), "x"),
        "not a point",
    ]
    chunker = Chunker(heuristics=[after("wrong", break_points=[*wrong, BreakPoint(2, 5, "x")])])
    with pytest.warns(ChunkastWarning, match="5 break points were left out"):
        analysis = chunker.analyze(text)
    assert [point for point in analysis.break_points if point.kind == "x"] == [
        BreakPoint(2, 5, "x")
    ]
    assert any("5 break points" in note for note in analysis.notes)


# Masks


JINJA = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)


def without_jinja(text: str) -> str:
    """Every template tag as a word of its size."""
    return JINJA.sub(lambda match: re.sub(r"[^\r\n]", "x", match.group()), text)


TEMPLATE = """# {{ title | default("A title") }}

{% for item in items %}
- {{ item.name }}: {{ item.text | replace("
# not a heading
", "") }}
{% endfor %}

## Links to {{ place }} ##

{{ links }}
"""


def test_a_mask_hides_text_from_the_parser_alone() -> None:
    chunker = Chunker(heuristics=[before("jinja", without_jinja)], max_tokens=30, overlap=0)
    analysis = chunker.analyze(TEMPLATE)
    assert [heading.title for heading in analysis.headings] == [
        '{{ title | default("A title") }}',
        "Links to {{ place }}",
    ]
    assert "not a heading" not in str(analysis.headings)
    assert len(Chunker().analyze(TEMPLATE).headings) == 3
    chunks = check_promises(TEMPLATE, chunker.config)
    assert "".join(chunk.text for chunk in chunks).count("{{ links }}") == 1


@pytest.mark.parametrize(
    ("mask", "reason"),
    [
        (lambda text: text[:-1], "length from 13 to 12 characters"),
        (lambda text: text.replace("\n", " "), "lines"),
        (lambda text: "\n" + text[1:], "lines"),
        (lambda text: text.replace("\r", "\n"), "lines"),
        (lambda _text: 7, "TypeError"),
        (lambda text: text[99], "IndexError: string index out of range"),
    ],
)
def test_a_mask_that_breaks_the_rule_is_dropped_and_named(
    mask: Callable[[str], Any], reason: str
) -> None:
    text = "# A\r\n\nB *c* d"
    chunker = Chunker(heuristics=[before("bad mask", mask)])
    with pytest.warns(ChunkastWarning, match=rf"heuristic 'bad mask': .*{reason}"):
        analysis = chunker.analyze(text)
    assert len(analysis.notes) == 1
    assert "'bad mask'" in analysis.notes[0]
    plain = Chunker().analyze(text)
    assert (analysis.blocks, analysis.masked) == (plain.blocks, "")


# Failures


def raise_always(_draft: DocumentDraft) -> None:
    raise ZeroDivisionError("by nought")


@pytest.mark.parametrize("phase", ["pre-parse", "post-parse"])
def test_a_heuristics_exception_is_named_and_nothing_is_lost(phase: Any) -> None:
    chunker = Chunker(heuristics=[Heuristic("clumsy", phase, raise_always)])
    with pytest.warns(ChunkastWarning, match="heuristic 'clumsy': ZeroDivisionError: by nought"):
        chunks = chunker.chunk(PAPER)
    assert chunks == Chunker().chunk(PAPER)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (Chunker().analyze("another text"), "gave the analysis of another text"),
        ("no analysis", "gave str as a value"),
    ],
)
def test_a_value_that_is_none_is_dropped(value: Any, reason: str) -> None:
    wrong: DocumentHeuristic = Heuristic("odd", "post-parse", lambda _draft: Patch(value=value))
    with pytest.warns(ChunkastWarning, match=f"heuristic 'odd': {reason}"):
        assert Chunker(heuristics=[wrong]).chunk(PAPER) == Chunker().chunk(PAPER)


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


def test_when_an_extension_fails_everywhere_the_text_is_read_as_commonmark(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for blocks in (ParserBlock, FastBlocks):
        parse = blocks.parse

        def fail(self: ParserBlock, *given: Any, parse: Any = parse) -> Any:
            if "table" in self.ruler.get_active_rules():
                raise RuntimeError("no table today")
            return parse(self, *given)

        monkeypatch.setattr(blocks, "parse", fail)
    analysis = Chunker().analyze("# Title\n\nSome text.\n" * 9)
    assert [heading.title for heading in analysis.headings] == ["Title"] * 9
    assert analysis.notes == ("the Markdown parser failed (RuntimeError: no table today)",)


def _failing_plugin(md: MarkdownIt) -> None:
    """A rule that begins a block and then fails on lines with ``boom``, as a faulty plugin may."""

    def rule(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
        begin, end = state.bMarks[start] + state.tShift[start], state.eMarks[start]
        if silent or state.src[begin:end] != "boom":
            return False
        state.push("container_block_open", "div", 1).map = [start, start + 5]
        state.push("hr", "hr", 0).map = [start, start + 1]
        raise IndexError("string index out of range")

    md.block.ruler.before("fence", "failing", rule, {"alt": []})


@pytest.mark.parametrize("is_fast", [True, False])
@pytest.mark.parametrize(
    "failing", ["boom", "> - boom\n>   more\n> text", "- a\n- boom", "> ```\n> x\n> ```\n> boom"]
)
def test_a_block_that_the_parser_fails_on_is_a_paragraph_and_no_other(
    monkeypatch: pytest.MonkeyPatch, failing: str, is_fast: bool
) -> None:
    if not is_fast:
        monkeypatch.setattr("chunkast.markdown.fast.VERIFIED", frozenset())
    failing_row = dialects.Dialect("deflists", _failing_plugin)
    rows = [row for row in dialects.DIALECTS if row.extension != "deflists"]
    monkeypatch.setattr(dialects, "DIALECTS", (*rows, failing_row))
    dialects.dialects_of.cache_clear()
    extensions = (*DEFAULT_EXTENSIONS, "deflists")
    head = "---\ntitle: x\n---\n# Title\n\n| a |\n| - |\n| b |\n\n"
    tail = "\n\n```py\ncode\n```\n\n[label]: there\n\n## More\n\n- item\n\n***\n\n"
    parser._parser.cache_clear()
    try:
        analysis = Chunker(extensions=extensions).analyze(head + failing + tail + failing + tail)
    finally:
        parser._parser.cache_clear()
        dialects.dialects_of.cache_clear()
    blocks = [block for block in analysis.blocks.children if block.kind != "blank"]
    after = ["paragraph", "fence", "link-definition", "heading", "list", "hr"]
    assert [block.kind for block in blocks] == ["front-matter", "heading", "table", *after, *after]
    assert [analysis.text[b.start : b.end] for b in blocks if b.kind == "paragraph"] == [
        failing + "\n"
    ] * 2
    assert [heading.title for heading in analysis.headings] == ["Title", "More", "More"]
    assert analysis.references == {"label"}
    first = head.count("\n") + 1
    second = first + (failing + tail).count("\n")
    assert [note[: note.index(" (")] for note in analysis.notes] == [
        f"the Markdown parser failed at line {line}" for line in (first, second)
    ]
    check_promises(head + failing + tail, ChunkConfig(max_tokens=20))


@pytest.mark.parametrize(
    "last", ["[a]: \ud83d\ude00", "[\ud83d\ude00]: b", "> ::: note\n> hi\n>", "- ::: note\n  hi\n-"]
)
def test_no_end_of_a_text_makes_the_parser_fail(last: str) -> None:
    text = "---\ntitle: x\n---\n| a |\n| - |\n| b |\n\n" + last
    analysis = Chunker().analyze(text)
    assert analysis.notes == ()
    assert [block.kind for block in analysis.blocks.children][:2] == ["front-matter", "table"]


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
    text = draw(st.one_of(documents(), markdown()))
    place = st.integers(0, len(text))
    spans = st.lists(st.tuples(place, place).map(sorted), max_size=4)
    masks = draw(spans)
    filler = draw(st.sampled_from(["x", " ", "#", "`"]))

    def mask(source: str) -> str:
        for start, end in masks:
            hidden = re.sub(r"[^\r\n]", filler, source[start:end])
            source = source[:start] + hidden + source[end:]
        return source

    points = draw(st.lists(place, max_size=5))
    # Of regions that cross only the first is sure to stay whole.
    regions = [span for number, span in enumerate(draw(spans)) if number == 0]
    return (
        text,
        (
            before("mask", mask),
            after(
                "marks",
                break_points=[
                    BreakPoint(pos, draw(st.sampled_from([0, 50])), "x") for pos in points
                ],
                regions=[ProtectedRegion(start, end, "x") for start, end in regions],
                annotations=[Annotation(start, end, "x", start) for start, end in regions],
            ),
        ),
        set(points),
    )


@given(foreign(), st.sampled_from([3, 10, 40, 200]), st.sampled_from([0, 0.3]), st.booleans())
def test_promises_hold_with_anybodys_heuristics(
    given_: tuple[str, tuple[DocumentHeuristic, ...], set[int]],
    budget: int,
    overlap: float,
    trim: bool,
) -> None:
    text, heuristics, points = given_
    config = ChunkConfig(max_tokens=budget, overlap=overlap, trim=trim, heuristics=heuristics)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChunkastWarning)
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


@pytest.mark.parametrize("budget", [45, 60, 100])
def test_a_call_is_one_block_and_is_listed_where_it_begins(budget: int) -> None:
    config = ChunkConfig(max_tokens=budget, overlap=0, tools=(WRITE, CALC))
    analysis = Chunker(config).analyze(TRANSCRIPT)
    assert [heading.title for heading in analysis.headings] == ["Session", "Assistant", "Tool"]
    kinds = [leaf.kind for leaf in analysis.blocks.leaves()]
    assert kinds.count("tool-call") == 2
    chunks = check_promises(TRANSCRIPT, config)
    (holder,) = [chunk for chunk in chunks if CALL in chunk.text]
    (listed,) = holder.metadata["tool_calls"][:1]
    assert listed["name"] == "write_file"
    assert listed["arguments"]["path"] == "README.md"
    assert TRANSCRIPT[listed["start_index"] : listed["end_index"]] == CALL
    calls = [call for chunk in chunks for call in chunk.metadata.get("tool_calls", [])]
    assert [call["arguments"].get("a") for call in calls] == [None, 1, 2]
    assert "tool-call" in holder.kinds


def test_a_call_larger_than_the_budget_is_divided_and_listed_once() -> None:
    body = "\n".join(f"Line {number} of the file, as long as it is." for number in range(60))
    text = f"Before.\n\n<write_file><content>{body}</content></write_file>\n\nBehind.\n"
    chunks = check_promises(text, ChunkConfig(max_tokens=50, tools=(WRITE,)))
    calls = [chunk.metadata.get("tool_calls") for chunk in chunks]
    assert sum(found is not None for found in calls) == 1
    assert len(chunks) > 10


def test_a_call_that_cannot_be_read_is_a_note() -> None:
    nested = "<calc>" + "<a>" * 200 + "</calc>"
    analysis = Chunker(tools=[CALC]).analyze(nested)
    assert analysis.annotations == ()
    assert "tool call 'calc' at 0: it stays text" in analysis.notes[0]


@st.composite
def transcripts(draw: st.DrawFn) -> str:
    calls = ["<calc><a>1</a></calc>", CALL, "<calc/>", "<calc>\r\n", "</calc>", "<calc>"]
    pieces = st.one_of(
        markdown(), st.sampled_from(calls), st.sampled_from(["\n", "  ", "- ", "> "])
    )
    return "".join(draw(st.lists(pieces, max_size=8)))


@given(transcripts(), st.sampled_from([12, 40, 100]), st.sampled_from([0, 0.3]), st.booleans())
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
    for call in calls:
        if count_tokens(call.raw) <= budget:
            assert any(
                chunk.start_index <= call.start_index and call.end_index <= chunk.end_index
                for chunk in chunks
            )


def test_the_context_says_what_is_configured() -> None:
    seen: list[DocumentContext] = []

    def look(draft: DocumentDraft) -> None:
        seen.append(draft.context)

    config = ChunkConfig(heuristics=(Heuristic("look", "post-parse", look),), tools=(CALC,))
    Chunker(config).analyze("<calc><a>1</a></calc>")
    assert seen[0].config is config
    assert [call.name for call in seen[0].tool_calls] == ["calc"]


def test_an_analysis_serves_chunkers_without_its_heuristics() -> None:
    scissors: DocumentHeuristic = Heuristic("scissors", "post-parse", cut_here)
    analysis = Chunker(heuristics=[scissors]).analyze(PAPER)
    chunks = Chunker(max_tokens=100, overlap=0).chunk(analysis)
    same = Chunker(max_tokens=100, overlap=0, heuristics=[scissors]).chunk(PAPER)
    assert chunks == same


@given(
    st.text(alphabet="<ta/TABLEbl\n é", max_size=40),
    st.sampled_from([("table", "TABLE"), ("a",), ("/",)]),
)
def test_signs_tell_exactly_what_is_opened(text: str, names: tuple[str, ...]) -> None:
    signs = Signs(text, html=False, tables=False)
    assert signs.may_open(*names) == any(f"<{name}" in text for name in names)
