"""Lines, bytes, grapheme clusters, sentences and inline spans, against independent oracles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.parser_inline import RuleFuncInlineType
from markdown_it.rules_inline import StateInline

from chunkast.markdown.inline import inline_spans
from chunkast.text.graphemes import joined_spans
from chunkast.text.sentences import SENTENCE_WINDOW, sentence_starts
from chunkast.text.source_map import SourceMap, encode, line_starts
from chunkast.text.spans import InlineSpan
from tests.frameworks import DOCUMENTS
from tests.strategies import documents, nasty_text

JOINERS = st.text(
    alphabet="a \r\n\u0301\u200d👨👩🏽🇩🇪\u1112\u1161\u11ab각क्षि\u0600न1\ufe0f\u20e3\x00\ud800",
    max_size=40,
)


@given(st.one_of(JOINERS, nasty_text()))
def test_joined_clusters_are_those_of_the_regex_package(text: str) -> None:
    spans = [match.span() for match in regex.finditer(r"\X", text)]
    assert joined_spans(text, 0, len(text)) == [span for span in spans if span[1] - span[0] > 1]


@given(documents())
def test_lines_and_bytes_by_their_definition(text: str) -> None:
    ends = [match.end() for match in re.finditer(r"\r\n|\r|\n", text)]
    starts = line_starts(text)
    assert starts == sorted({0, *ends, len(text)})
    source_map = SourceMap(text)
    for index in range(0, len(text), 7):
        assert source_map.byte(index) == len(encode(text[:index]))
        assert source_map.line(index) == 1 + sum(end <= index for end in ends)
    assert source_map.byte(len(text)) == len(encode(text))


def test_what_is_put_before_a_long_paragraph_moves_no_window_far_away() -> None:
    # Half a pair of quotes reaches to the end of its window.
    text = max(DOCUMENTS["one-line-giant.md"].split("\n"), key=len) * 4
    far = 2 * SENTENCE_WINDOW
    starts = [start for start in sentence_starts(text) if start > far]
    before = "A little " * 40
    moved = [start - len(before) for start in sentence_starts(before + text)]
    assert [start for start in moved if start > far] == starts


@pytest.mark.parametrize(
    "expected",
    [
        ["It is **done.** ", "Then `a. B` (e.g. this one) follows. ", "See No. 5."],
        ["**Only use the listed models.** ", "Never guess one."],
        *(["*Wait here.* ", "_Then go._"], ["~~Gone.~~\n", "Still here."]),
        *(['He said: **"Go!"** ', "Nobody went."], ["**写完了。**", "然后休息。"]),
        ["Proven twice.[^1][^two] ", "Then forgotten."],
        # Closing marks that end no sentence.
        *(["**Wait.**ing is hard"], ["**1.** First of all"], ["**b.** The second"]),
        *(["`a.` b"], ["*So.*"], ["(x.)\n"]),
    ],
)
def test_closing_marks_stay_with_their_sentence(expected: list[str]) -> None:
    assert sentences("".join(expected)) == expected


@pytest.mark.parametrize(
    "quotes", [("`'bad` ", "rather '"), ('A 5" disk ', 'a 3" one'), ("“Odd ", "and even” ")]
)
def test_quotes_far_apart_hide_no_sentences(quotes: tuple[str, str]) -> None:
    first, last = quotes
    between = "A middle sentence stands here, and it doesn't end soon. " * 6
    found = sentences(f"{first}is said. {between}So is {last} said. It ends.")
    assert found[:7] == [f"{first}is said. ", *[between[: len(between) // 6]] * 6]
    # Nearer ones are a quotation.
    near = 'The sign says "Stop. Look. Listen." in red. '
    assert sentences(f"{near}It ends.") == [near, "It ends."]


def sentences(text: str) -> list[str]:
    spans = inline_spans(text, extensions=("footnotes",))
    edges = [0, *sentence_starts(text, spans), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


def markdown_it_spans(text: str) -> list[tuple[int, int, str]]:
    """What markdown-it-py's own inline rules take as code, link, image, autolink and HTML.

    Each rule is wrapped so that it reports from where to where it matched.
    """
    md = MarkdownIt("commonmark")
    found: list[tuple[int, int, str]] = []
    root: list[StateInline] = []

    def wrapped(name: str, rule: RuleFuncInlineType) -> RuleFuncInlineType:
        def run(state: StateInline, silent: bool) -> bool:
            if not root:
                root.append(state)
            start = state.pos
            matched = rule(state, silent)
            if matched and not silent and state is root[0]:
                found.append((start, state.pos, name))
            return matched

        return run

    kinds = {name: name for name in ("link", "image", "autolink")}
    kinds |= {"backticks": "code", "html_inline": "html"}
    for rule in md.inline.ruler.__rules__:
        if rule.name in kinds:
            rule.fn = wrapped(kinds[rule.name], rule.fn)
    md.parseInline(text, {"references": {"REF": {"href": "/u", "title": ""}}})
    # A run of backticks that opens nothing is "matched" as text.
    spans = [span for span in found if span[2] != "code" or text[span[0] : span[1]].strip("`")]
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def outermost(spans: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    outer: list[tuple[int, int, str]] = []
    for span in spans:
        if not outer or span[0] >= outer[-1][1]:
            outer.append(span)
    return outer


def all_spans(spans: Sequence[InlineSpan]) -> Iterator[tuple[int, int, str]]:
    """Every span, but for what an image holds: markdown-it parses that by itself."""
    for span in spans:
        if span.kind != "escape":
            yield span.start, span.end, span.kind
        if span.kind != "image":
            yield from all_spans(span.inside)


INLINE = st.lists(
    st.sampled_from(
        [
            *("a", "b c", ".", " ", "\n", "`", "``", "[", "]", "(", ")", "![", "](", "](/u)", "$"),
            *("[ref]", "[ref][]", "[x][ref]", "<b>", "</b>", "<a href='x'>", "<http://x.y>"),
            *("<a@b.c>", "<!-- c -->", "<!--", "-->", "\\", "\\[", "\\]", "\\`", "*", "_", "**"),
            *('"t"', '](/u "t")', "](<a b>)", "](a(b)c)", "<", ">", "!", "&amp;", "<?p?>"),
            *("<![CDATA[x]]>", "<!X y>"),
        ]
    ),
    max_size=14,
    # Two quirks of markdown-it-py are left out: with "(" at the very end it forgets that
    # "[ref](" begins with a reference, and "--->" does not end a comment for it.
).map(lambda parts: "".join([*parts, "."]).replace("--->", "-- ->"))


@given(INLINE)
@example("[a](b\\)c) [d](<e.).")
def test_inline_spans_are_those_of_markdown_it(text: str) -> None:
    ours = [
        (span.start, span.end, span.kind)
        for span in inline_spans(text, references={"ref"})
        if span.kind != "escape"
    ]
    theirs = markdown_it_spans(text)
    assert ours == outermost(theirs)
    assert list(all_spans(inline_spans(text, references={"ref"}))) == theirs


def test_extensions_inside_prose() -> None:
    text = (
        r"It costs $5 and $10, so let $x + y$ and $$z$$ but not \$x$ be, see https://a.b/c?d=e, "
        "www.x.org. A note[^1] and [[Page|label]] and ![[image.png]]."
    )
    spans = inline_spans(text, extensions=("math", "footnotes", "autolinks", "wikilinks"))
    assert [text[span.start : span.end] for span in spans] == [
        *("$x + y$", "$$z$$", r"\$", "https://a.b/c?d=e", "www.x.org"),
        *("[^1]", "[[Page|label]]", "![[image.png]]"),
    ]


def test_formulas_in_brackets_need_a_sign_of_tex() -> None:
    formulas = [
        *(r"\(\alpha < 1\)", r"\(x_1\)", r"\[ a = b. \]", r"\(2^{10}\)", r"\( x \)", r"\( π \)"),
        r"\[ \text{if \(x\)} \\[2pt] y \]",
    ]
    text = (
        r"Tasks \[x\] and \[ \], \[not a formula\], file\(s\), \(see a\_b\), [\[11,](u_1), \[[a_1](u)\], "
        r"\[`a = b`\], \[<https://a.b/c_d>\], \\(x_1\\), \(a = b\], a lone \[ a = b, "
    )
    text += " and ".join(formulas)
    spans = [span for span in inline_spans(text, extensions=("math",)) if span.kind == "math"]
    assert [text[span.start : span.end] for span in spans] == formulas


def test_no_sentence_begins_where_a_window_ends_inside_one() -> None:
    text = "One word" + " " * (3 * SENTENCE_WINDOW) + "and the next. Then another."
    assert [text[start : start + 4] for start in sentence_starts(text)] == ["Then"]
    text = "one word and the next, " * 300 + "at the end. " + "Then Dr. Ott came. " * 300
    assert {text[start : start + 8] for start in sentence_starts(text)} == {"Then Dr."}
    assert not any(sentence_starts("One word" + " " * (3 * SENTENCE_WINDOW)))
