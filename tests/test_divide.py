"""Blocks larger than the budget: where they are divided, and what their pieces need.

A token is a letter "w" unless told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import BreakPoint, Chunker, ProtectedRegion
from chunkast.core.cells import cell_content, cell_spans
from chunkast.core.divide import Divider, Frame
from chunkast.core.document import Document
from chunkast.core.leaves import Leaves
from chunkast.core.opaque import kept_span
from chunkast.core.protected import protected_spans
from chunkast.core.refine import Refined, _oversize_candidates, refine
from chunkast.text.opaque import OpaqueRun
from chunkast.text.spans import SpanSet
from chunkast.tokens import Counter
from tests.units import W_ALONE, W_ESTIMATED, W, config


def divider_of(
    text: str,
    budget: int,
    *,
    regions: Sequence[ProtectedRegion] = (),
    points: Sequence[BreakPoint] = (),
    counter: Counter | None = None,
    **options: Any,
) -> tuple[Divider, Refined]:
    """A text's divider, and the text refined; ``regions`` and ``points`` are a user's own."""
    given_ = config(budget, **options)
    chunker = Chunker(given_)
    analysis = chunker.analyze(text)
    own = sorted((*analysis.break_points, *points), key=lambda point: point.pos)
    analysis = replace(
        analysis,
        regions=tuple(sorted((*analysis.regions, *regions), key=lambda r: (r.start, -r.end))),
        break_points=tuple(own),
    )
    document = Document.of(
        analysis, Leaves(text, analysis.blocks), given_, counter or chunker.counter
    )
    divider = Divider(document)
    extended = bool(regions or points)
    return divider, refine(document, analysis.break_points, divider, extended=extended)


def parts_of(text: str, refined: Refined, scores: Any) -> list[tuple[str, str]]:
    """The text between points, each with the kind of the point before; a score of its own is added."""
    edges = [0, *(point.pos for point in refined.points), len(text)]
    kinds = [
        point.kind if point.score == scores[point.kind] else f"{point.kind} {point.score:g}"
        for point in refined.points
    ]
    spans = pairwise(edges)
    return [(kind, text[start:end]) for kind, (start, end) in zip(["", *kinds], spans, strict=True)]


def parts(text: str, budget: int, **options: Any) -> list[tuple[str, str]]:
    divider, refined = divider_of(text, budget, **options)
    return parts_of(text, refined, divider.scores)


# The head of a table, and with it what stands before the pieces of its body.
HEAD = "<table><caption>w</caption><thead><tr><th>w</th></tr></thead>"
BODY = HEAD + "<tbody>"
HTML_TABLE = (
    f'{BODY}<tr><td rowspan="2">w</td><td>w</td></tr><tr><td>w</td></tr>'
    "<tr><td>w</td><td><p>w end. Then w.</p>w<br>w</td></tr></tbody></table>\n"
)
NESTED = "<table><tr><td>w<table><tr><td>w<td>w<tr><td>w</table><td>w<tr><td>w</table>\n"
ONE_ROW = "<table><tr><td>w</td></tr></table>"

Row = tuple[str, int, dict[str, Any], list[tuple[str, str]], list[tuple[str, str]]]
# A text, the budget, options, its parts with the kinds of the points before them, its frames.
BLOCKS: dict[str, Row] = {
    "prose is divided at sentences": (
        "One w w end. Two w w end. Three w w end.\n",
        3,
        {},
        [
            ("", "One w w end. "),
            ("sentence", "Two w w end. "),
            ("sentence", "Three w w end.\n"),
        ],
        [],
    ),
    "a sentence that does not fit at lines": (
        "One w w end. Two w w\nand w w\nlast w end.\n",
        3,
        {},
        [
            ("", "One w w end. "),
            ("sentence", "Two w w\n"),
            ("line", "and w w\n"),
            ("line", "last w end.\n"),
        ],
        [],
    ),
    "a line that does not fit at words": (
        "One w w w w w.\n",
        2,
        {},
        [
            ("", "One "),
            ("word", "w w "),
            ("word", "w w "),
            ("word", "w.\n"),
        ],
        [],
    ),
    "a word that does not fit between its characters": (
        "wwwww\n",
        2,
        {},
        [
            ("", "w"),
            ("grapheme", "w"),
            ("grapheme", "w"),
            ("grapheme", "w"),
            ("grapheme", "w"),
            ("grapheme", "\n"),
        ],
        [],
    ),
    "a character with its marks stays whole": (
        "ẃ́ẃww\n",
        1,
        {},
        [
            ("", "ẃ́"),
            ("grapheme", "ẃ"),
            ("grapheme", "w"),
            ("grapheme", "w"),
            ("grapheme", "\n"),
        ],
        [],
    ),
    "links and code that fit stay whole": (
        "w [w w](u) w `w w` w w w\n",
        3,
        {},
        [
            ("", "w "),
            ("word", "[w w](u) "),
            ("word", "w "),
            ("word", "`w w` "),
            ("word", "w "),
            ("word", "w "),
            ("word", "w\n"),
        ],
        [],
    ),
    "so do links to what is defined": (
        "w w [w w][a] [w w][b]\n\n[a]: u\n",
        2,
        {},
        [
            ("", "w w "),
            ("word", "[w w][a] "),
            ("word", "[w "),
            ("word", "w][b]\n\n"),
            ("paragraph", "[a]: u\n"),
        ],
        [],
    ),
    "in a link that does not fit the link text is cut": (
        "w [w w w *w w* w](u) w\n",
        3,
        {},
        [
            ("", "w "),
            ("word", "[w "),
            ("word", "w "),
            ("word", "w "),
            ("word", "*w "),
            ("word", "w* "),
            ("word", "w](u) "),
            ("word", "w\n"),
        ],
        [],
    ),
    "a sentence that begins inside a link is no place for a cut": (
        "w [One end. Two w end](u) w w w.\n",
        4,
        {},
        [
            ("", "w [One end. Two w end](u) "),
            ("word", "w w w.\n"),
        ],
        [],
    ),
    "a paragraph that fits alone but not with its heading is divided at sentences": (
        "# w\n\nOne w w end. Six w w end.\n\n# w\n\nOne w w end. Six w w end.\n",
        4,
        {},
        [
            ("", "# w\n\n"),
            ("orphan-heading", "One w w end. "),
            ("sentence", "Six w w end.\n\n"),
            ("h1", "# w\n\n"),
            ("orphan-heading", "One w w end. "),
            ("sentence", "Six w w end.\n"),
        ],
        [],
    ),
    "one inside a quote is not": (
        "# w\n\n> One w w end. Six w w end.\n",
        4,
        {},
        [
            ("", "# w\n\n"),
            ("orphan-heading", "> One w w end. Six w w end.\n"),
        ],
        [],
    ),
    "one that fits with its heading is not, whatever comes before it": (
        "w w w\n\n" * 40 + "# w\n\nOne w end. Two w end.\n",
        4,
        {},
        [
            ("", "w w w\n\n"),
            *[("paragraph", "w w w\n\n")] * 39,
            ("h1", "# w\n\n"),
            ("orphan-heading", "One w end. Two w end.\n"),
        ],
        [],
    ),
    "code at blank lines, the outermost best; the first and the last line stay with what they enclose": (
        "```py w\nw w\nw w\n\n  w w\n\nw w\nw w\n```\n",
        4,
        {},
        [
            ("", "```py w\n"),
            ("lead-in", "w w\n"),
            ("line", "w w\n\n"),
            ("blank-line 2.5", "  w w\n\n"),
            ("blank-line", "w w\n"),
            ("line", "w w\n"),
            ("lead-in", "```\n"),
            ("fence", ""),
        ],
        [("```py w\n", "\n```")],
    ),
    "only lines after blank ones are ranked by their indentation": (
        "```\nw w\n  w w\n\n    w w\n\n\tw w\n\nw w\n```\n",
        4,
        {},
        [
            ("", "```\n"),
            ("lead-in", "w w\n"),
            ("line", "  w w\n\n"),
            ("blank-line 2.5", "    w w\n\n"),
            ("blank-line 2.5", "\tw w\n\n"),
            ("blank-line", "w w\n"),
            ("lead-in", "```\n"),
            ("fence", ""),
        ],
        [("```\n", "\n```")],
    ),
    "a fence of one line is divided without a frame": (
        "```w w w w\n",
        3,
        {},
        [
            ("", "```w "),
            ("word", "w "),
            ("word", "w "),
            ("word", "w\n"),
            ("fence", ""),
        ],
        [],
    ),
    "a fence without an end has no last line": (
        "```\nw w\nw w\n\n  w w\n\nw w\n",
        4,
        {},
        [
            ("", "```\n"),
            ("lead-in", "w w\n"),
            ("line", "w w\n\n"),
            ("blank-line 2.5", "  w w\n\n"),
            ("blank-line", "w w\n"),
            ("fence", ""),
        ],
        [("```\n", "\n```")],
    ),
    "a line of code that does not fit at words": (
        "```w\nw w w w w w\n```\n",
        4,
        {},
        [
            ("", "```w\n"),
            ("lead-in", "w "),
            *[("word", "w ")] * 4,
            ("word", "w\n"),
            ("lead-in", "```\n"),
            ("fence", ""),
        ],
        [("```w\n", "\n```")],
    ),
    "a fence's opening line is not left alone where it takes at most a quarter of the budget": (
        "```w\nw w w w\nw w\n```\n",
        4,
        {},
        [
            ("", "```w\nw "),
            *[("word", "w ")] * 2,
            ("word", "w\n"),
            ("line", "w w\n"),
            ("lead-in", "```\n"),
            ("fence", ""),
        ],
        [("```w\n", "\n```")],
    ),
    "nor with blank lines after it": (
        "```w\n\nw w w w\n```\n",
        4,
        {},
        [
            ("", "```w\n\nw "),
            *[("word", "w ")] * 2,
            ("word", "w\n"),
            ("lead-in", "```\n"),
            ("fence", ""),
        ],
        [("```w\n", "\n```")],
    ),
    "nor one that ends with a carriage return": (
        "```w\rw w w w\rw w\r```\r",
        4,
        {},
        [
            ("", "```w\rw "),
            *[("word", "w ")] * 2,
            ("word", "w\r"),
            ("line", "w w\r"),
            ("lead-in", "```\r"),
            ("fence", ""),
        ],
        [("```w\n", "\n```")],
    ),
    "a formula's may be": (
        "$$\nw w w w\nw w\n$$\n",
        3,
        {},
        [
            ("", "$$\n"),
            ("lead-in", "w "),
            *[("word", "w ")] * 2,
            ("word", "w\n"),
            ("line", "w w\n"),
            ("lead-in", "$$\n"),
            ("math", ""),
        ],
        [],
    ),
    "a larger one may be, and so may a small one that the next line fits with": (
        "```w w\nw w w\nw w\n```\n\n```w\nw w w\nw w\n```\n",
        4,
        {},
        [
            ("", "```w w\n"),
            ("lead-in", "w w w\n"),
            ("line", "w w\n"),
            ("lead-in", "```\n\n"),
            ("fence", "```w\n"),
            ("lead-in", "w w w\n"),
            ("line", "w w\n"),
            ("lead-in", "```\n"),
            ("fence", ""),
        ],
        [("```w w\n", "\n```"), ("```w\n", "\n```")],
    ),
    "indented code has no first and last line": (
        "    w w\n    w w\n\n      w w\n\n    w w\n\n    w\n",
        3,
        {},
        [
            ("", "    w w\n"),
            ("line", "    w w\n\n"),
            ("blank-line 2.5", "      w w\n\n"),
            ("blank-line", "    w w\n\n"),
            ("blank-line", "    w\n"),
            ("code", ""),
        ],
        [],
    ),
    "nor the options of a code cell": (
        "    #| w w w\n    w w w\n    w w w\n",
        4,
        {},
        [
            ("", "    #| w w w\n"),
            ("line", "    w w w\n"),
            ("line", "    w w w\n"),
            ("code", ""),
        ],
        [],
    ),
    "the options of a code cell belong to its first line": (
        "```{r}\n#| w: w\n#| w\nw w\nw w\n```\n",
        3,
        {},
        [
            ("", "```{r}\n"),
            ("lead-in", "#| w: w\n"),
            ("lead-in", "#| w\n"),
            ("lead-in", "w w\n"),
            ("line", "w w\n"),
            ("lead-in", "```\n"),
            ("fence", ""),
        ],
        [("```{r}\n", "\n```")],
    ),
    "a formula at lines, its marks stay with what they enclose": (
        "$$\nw w w\nw w w\nw w w\n$$\n",
        4,
        {},
        [
            ("", "$$\n"),
            ("lead-in", "w w w\n"),
            ("line", "w w w\n"),
            ("line", "w w w\n"),
            ("lead-in", "$$\n"),
            ("math", ""),
        ],
        [],
    ),
    "front matter at lines, its marks stay with what they enclose": (
        "---\nw: w w\nw: w w\nw: w\n---\n\nw\n",
        3,
        {},
        [
            ("", "---\n"),
            ("lead-in", "w: w w\n"),
            ("line", "w: w w\n"),
            ("line", "w: w\n"),
            ("lead-in", "---\n\n"),
            ("front-matter", "w\n"),
        ],
        [],
    ),
    "HTML at lines": (
        "<div w>\nw w w\nw w w\nw w w\n</div>\n",
        3,
        {},
        [
            ("", "<div w>\n"),
            ("line", "w w w\n"),
            ("line", "w w w\n"),
            ("line", "w w w\n"),
            ("line", "</div>\n"),
            ("html", ""),
        ],
        [],
    ),
    "a table at rows, its header stays with the first of them": (
        "| w | w |\n|---|---|\n| w | w |\n| w | w |\n| w | w |\n",
        4,
        {},
        [
            ("", "| w | w |\n|---|---|\n"),
            ("lead-in", "| w | w |\n"),
            ("row", "| w | w |\n"),
            ("row", "| w | w |\n"),
            ("table", ""),
        ],
        [("| w | w |\n|---|---|\n", "")],
    ),
    "a table of a header alone has no frame": (
        "| w w | w w |\n|---|---|\n",
        3,
        {},
        [
            ("", "| w w "),
            ("cell", "| w w |\n"),
            ("lead-in", "|---|---|\n"),
            ("table", ""),
        ],
        [],
    ),
    "there is one point where a cell and its text end": (
        "|a|b|\n|---|---|\n|w w w|w|\n",
        2,
        {},
        [
            ("", "|a|b|\n|---|---|\n"),
            ("lead-in", "|"),
            ("word", "w "),
            ("word", "w "),
            ("word", "w"),
            ("cell", "|w|\n"),
            ("table", ""),
        ],
        [("|a|b|\n|---|---|\n", "")],
    ),
    "a row that does not fit at cells": (
        "| w w | w |\n|---|---|\n| w w w | w w w |\n",
        3,
        {},
        [
            ("", "| w w | w |\n|---|---|\n"),
            ("lead-in", "| w w w "),
            ("cell", "| w w w |\n"),
            ("table", ""),
        ],
        [("| w w | w |\n|---|---|\n", "")],
    ),
    "a cell that does not fit at sentences, then at words, its text before its pipes": (
        "| a | b |\n|---|---|\n| One w w end. Two w w end. | w w |\n",
        2,
        {},
        [
            ("", "| a | b |\n|---|---|\n"),
            ("lead-in", "| One w w end. "),
            ("sentence 2", "Two "),
            ("word", "w w "),
            ("word", "end."),
            ("word", " "),
            ("cell", "| w w |\n"),
            ("table", ""),
        ],
        [("| a | b |\n|---|---|\n", "")],
    ),
    "a pipe in code or after a backslash is text": (
        "| w |\n|---|\n| `w\\|w` w \\| w w w | \n",
        2,
        {},
        [
            ("", "| w |\n|---|\n"),
            ("lead-in", "| "),
            ("word", "`w\\|w` "),
            ("word", "w "),
            ("word", "\\| "),
            *[("word", "w ")] * 2,
            ("word", "w"),
            ("word", " | \n"),
            ("table", ""),
        ],
        [("| w |\n|---|\n", "")],
    ),
    "an HTML table at rows, each with its head; those that one cell reaches into stay together": (
        HTML_TABLE,
        6,
        {},
        [
            ("", "<table><caption>w</caption><thead>"),
            ("lead-in", "<tr><th>w</th></tr></thead><tbody>"),
            ("lead-in", '<tr><td rowspan="2">w</td><td>w</td></tr><tr><td>w</td></tr>'),
            ("row", "<tr><td>w</td><td><p>w end. Then w.</p>w<br>w</td></tr></tbody></table>\n"),
            ("html-table", ""),
        ],
        [("<table><thead>", "</thead></table>"), *[(BODY, "</tbody></table>")] * 2],
    ),
    "a row that does not fit at cells, a cell at what begins in it, then at sentences": (
        HTML_TABLE,
        2,
        {},
        [
            ("", "<table><caption>w</caption><thead>"),
            ("lead-in", "<tr><th>w</th></tr></thead><tbody>"),
            ("lead-in", '<tr><td rowspan="2">w</td>'),
            ("cell", "<td>w</td></tr>"),
            ("row", "<tr><td>w</td></tr>"),
            ("row", "<tr><td>w</td>"),
            ("cell", "<td>"),
            ("line", "<p>w end. "),
            ("sentence 2", "Then w.</p>w<br>"),
            ("line", "w</td></tr>"),
            ("lead-in", "</tbody>"),
            ("lead-in", "</table>\n"),
            ("html-table", ""),
        ],
        [
            ("<table><thead>", "</thead></table>"),
            (BODY, "</tbody></table>"),
            (BODY + "<tr>", "</tr></tbody></table>"),
            *[(BODY, "</tbody></table>")] * 2,
            (BODY + "<tr>", "</tr></tbody></table>"),
            (BODY + "<tr><td>", "</td></tr></tbody></table>"),
            (BODY + "<tr><td><p>", "</p></td></tr></tbody></table>"),
            (BODY + "<tr><td>", "</td></tr></tbody></table>"),
            (BODY, "</tbody></table>"),
            (BODY + "</tbody>", "</table>"),
        ],
    ),
    "and what stands in it before its tags": (
        '<table><tr><td rowspan="1">w end</td></tr></table>\n',
        1,
        {},
        [
            ("", "<table>"),
            ("lead-in", '<tr><td rowspan="1">'),
            ("word", "w end"),
            ("word", "</td></tr>"),
            ("lead-in", "</table>\n"),
            ("html-table", ""),
        ],
        [
            ("<table>", "</table>"),
            *[("<table><tr><td>", "</td></tr></table>")] * 2,
            ("<table>", "</table>"),
        ],
    ),
    "a table in a cell at its rows, without the tags that HTML leaves out": (
        NESTED,
        3,
        {},
        [
            ("", "<table>"),
            ("lead-in", "<tr><td>w<table>"),
            ("line", "<tr><td>w<td>w"),
            ("line", "<tr><td>w</table>"),
            ("cell", "<td>w"),
            ("row", "<tr><td>w</table>\n"),
            ("html-table", ""),
        ],
        [
            ("<table>", "</table>"),
            *[("<table><tr><td><table>", "</table></td></tr></table>")] * 2,
            ("<table><tr>", "</tr></table>"),
            ("<table>", "</table>"),
        ],
    ),
    "what stands beside HTML tables is parted from them": (
        f"Text w w {ONE_ROW} and w w {ONE_ROW} w\n",
        3,
        {},
        [
            ("", "Text w w "),
            ("row", ONE_ROW),
            ("row", " and w w "),
            ("row", ONE_ROW),
            ("row", " w\n"),
            ("html-table", ""),
        ],
        [("", "")] * 4,
    ),
    "items in a paragraph before its sentences": (
        "One end. Two w w.\n• w w\n• w w w\n",
        3,
        {},
        [
            ("", "One end. Two w w.\n"),
            ("bullet", "• w w\n"),
            ("bullet", "• w w w\n"),
        ],
        [],
    ),
    "front matter that is left out is not divided": (
        "---\nw w: w w\nw: w\n---\n\nw w\n",
        3,
        {"front_matter_text": "drop"},
        [
            ("", "---\nw w: w w\nw: w\n---\n\n"),
            ("front-matter", "w w\n"),
        ],
        [],
    ),
    "a quote at lines": (
        "> w w w\n> w w w\n",
        3,
        {},
        [
            ("", "> w w w\n"),
            ("line", "> w w w\n"),
        ],
        [],
    ),
    "an item at lines": (
        "- w w w\n- w w w\n  w w w\n",
        3,
        {},
        [
            ("", "- w w w\n"),
            ("list-item-0", "- w w w\n"),
            ("line", "  w w w\n"),
            ("list-end", ""),
        ],
        [],
    ),
    "kept blocks are not divided": (
        "One w w end. Two w w end.\n",
        3,
        {"oversize": "keep"},
        [
            ("", "One w w end. Two w w end.\n"),
        ],
        [],
    ),
    "blank lines before the first block are a unit": (
        "\n\n  w w\n\nw\n",
        3,
        {},
        [
            ("", "\n\n"),
            ("paragraph 0", "  w w\n\n"),
            ("paragraph", "w\n"),
        ],
        [],
    ),
}


@pytest.mark.usefixtures("without_grammars")
@pytest.mark.parametrize(
    ("text", "budget", "options", "found", "frames"), BLOCKS.values(), ids=BLOCKS
)
def test_blocks(
    text: str,
    budget: int,
    options: dict[str, Any],
    found: list[tuple[str, str]],
    frames: list[tuple[str, str]],
) -> None:
    for counter in (W, W_ALONE, W_ESTIMATED):
        divider, refined = divider_of(text, budget, counter=counter, **options)
        assert parts_of(text, refined, divider.scores) == found
        assert [(frame.prefix, frame.suffix) for frame in refined.frames] == frames


def test_frames_are_where_the_block_is() -> None:
    before = "First.\n\n"
    fence = "~~~~ py\nw w\nw w\n~~~~\n"
    _, refined = divider_of(before + fence, 3)
    start = len(before)
    # What ends at the closing line needs it no more.
    assert refined.frames == [Frame(start, start + len(fence) - 5, "~~~~ py\n", "\n~~~~")]
    _, refined = divider_of(before + "~~~~ py\nw w\nw w\n", 3)
    assert refined.frames == [Frame(start, start + len(fence) - 5, "~~~~ py\n", "\n~~~~")]
    table = "| w |\n|---|\n| w |\n| w |\n"
    _, refined = divider_of(before + table, 2)
    assert refined.frames == [Frame(start, start + len(table), "| w |\n|---|\n")]
    # What comes after a block is no part of it.
    after = "\nOne.\n\nEnd.\n"
    divider, refined = divider_of(fence + after + "\n" + table + after, 2)
    first = len(fence + after) + 1
    assert refined.frames == [
        Frame(0, len(fence) - 5, "~~~~ py\n", "\n~~~~"),
        Frame(first, first + len(table), "| w |\n|---|\n"),
    ]
    found = parts_of(fence + after + "\n" + table + after, refined, divider.scores)
    assert [kind for kind, _ in found].count("row") == 2
    assert [part for _, part in found][-2:] == ["One.\n\n", "End.\n"]
    _, refined = divider_of("> ```w w w w\n\n" + after, 3)
    assert refined.frames == []
    # In a quote the marks before the opening line are the quote's own.
    _, refined = divider_of("> ```\n> w w\n> w w\n> ```\n", 3)
    assert [(frame.prefix, frame.suffix) for frame in refined.frames] == [("```\n", "\n```")]


def test_frames_of_an_html_table_are_around_its_parts() -> None:
    before = "First.\n\n"
    head = "<table><tr><th>w</th></tr>"
    table = f"{head}<tr><td>w w</td><td>w</td></tr></table>\n"
    _, refined = divider_of(before + table, 2)
    cuts = [
        (before + table).index(part) for part in ("<tr><th", "<tr><td>w w", "<td>w<", "</table")
    ]
    end = len(before + table) - 1
    # What begins inside one has its prefix, what ends there its suffix.
    assert refined.frames == [
        Frame(cuts[0] - 1, cuts[1], "<table>", "</table>", "<table>"),
        Frame(cuts[1] - 1, cuts[2], head, "</table>", "<table>"),
        Frame(cuts[2] - 1, cuts[3], f"{head}<tr>", "</tr></table>", "<table><tr>"),
        Frame(cuts[3] - 1, end, head, "</table>", "<table>"),
    ]


RUN = "data:," + "w" * 256
# What is shown in place of a run has two tokens.
SHOWN = Counter("w", lambda text: text.count("w") + 2 * text.count("characters"))
# A text in which a run is "@", the budget, options, its parts with the kinds of the points before.
RUNS: dict[str, tuple[str, int, dict[str, Any], list[tuple[str, str]]]] = {
    "alone in its block": ("@\n", 5, {}, [("", "@\n")]),
    "its line, where little stands there": (
        "w w w w w\nx @\nw w w w w\n", 5, {},
        [("", "w w w w w\n"), ("line", "x @\n"), ("line", "w w w w w\n")],
    ),
    "a link around it, where that takes at most half of the budget": (
        "One w end. See ![w w](@) w w w end. Two w end.\n", 8, {},
        [
            ("", "One w end. "), ("sentence", "See "), ("word", "![w w](@)"),
            ("word", " w w w end. "), ("sentence", "Two w end.\n"),
        ],
    ),
    "else itself": (
        "One w end. See ![w w w](@) w w w end. Two w end.\n", 8, {},
        [
            ("", "One w end. "), ("sentence", "See ![w w w]("), ("word", "@"),
            ("word", ") w w w end. "), ("sentence", "Two w end.\n"),
        ],
    ),
    "tags side by side": (
        "w w w w w w w <a @><a @> w w w w w w w\n", 7, {},
        [
            ("", "w w w w w w w "), ("word", "<a @>"), ("word", "<a @>"),
            ("word", " w w w w w w w\n"),
        ],
    ),
    "in code": (
        "```\nw w w w w\nx @\n```\n", 5, {},
        [
            ("", "```\n"), ("lead-in", "w w w w w\n"), ("line", "x @\n"), ("lead-in", "```\n"),
            ("fence", ""),
        ],
    ),
    "its line, and all of the sentences that begin or end there": (
        f"{'w ' * 24}end. Two end goes\non here. See @ ends. So it\ngoes. More {'w ' * 24}w.\n", 40, {},
        [
            ("", f"{'w ' * 24}end. "),
            ("sentence", "Two end goes\non here. See @ ends. So it\ngoes. "),
            ("sentence", f"More {'w ' * 24}w.\n"),
        ],
    ),
    "in a cell": (
        "| w | w |\n|---|---|\n| @ | w |\n", 5, {},
        [
            ("", "| w | w |\n|---|---|\n"), ("lead-in", "| "), ("word", "@"), ("word", " "),
            ("cell", "| w |\n"), ("table", ""),
        ],
    ),
    "in one block and another": (
        "w w w w w w @\n\n@\n", 6, {},
        [("", "w w w w w w "), ("word", "@"), ("word", "\n\n"), ("paragraph", "@\n")],
    ),
    "with all that is too large": (
        "w w w w @ w @\n", 5, {"oversize": "keep"}, [("", "w w w w @ w @\n")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "budget", "options", "found"), RUNS.values(), ids=RUNS)
def test_opaque_runs_that_are_kept(
    text: str, budget: int, options: dict[str, Any], found: list[tuple[str, str]]
) -> None:
    written = text.replace("@", RUN)
    divider, refined = divider_of(written, budget, counter=SHOWN, opaque="keep", **options)
    kept = parts_of(written, refined, divider.scores)
    assert [(kind, part.replace(RUN, "@")) for kind, part in kept] == found
    assert [written[one.start : one.end] for one in refined.replaced] == [RUN] * text.count("@")
    assert {one.text for one in refined.replaced} == {"[data URI, 262 characters]"}
    assert divider.opaque == []
    # Unless asked for, they are divided, and known for what they are.
    divider, refined = divider_of(written, budget, counter=SHOWN, **options)
    assert refined.replaced == []
    divided = text.count("@") * ("oversize" not in options)
    assert [written[run.start : run.end] for run in divider.opaque] == [RUN] * divided


# No tokens, but more characters than may stand beside a run.
LONG = "v" * 200
# A text in which "@" is a run, "$" one with the line end after it, "%" is LONG and "^" where
# sentences begin; what is kept of it. Six tokens or 48 characters are little.
KEPT: list[tuple[str, str]] = [
    # All of a block.
    ("w @ w\nx", "w @ w\nx"),
    ("%@", "@"),
    ("v" * 24 + "@" + "v" * 24, "v" * 24 + "@" + "v" * 24),
    ("v" * 24 + "@" + "v" * 25, "@"),
    # Its lines, and no other.
    ("%\nx\n@\ny\n%", "@\n"),
    ("%\nX@X\ny\n%", "X@X\n"),
    ("%\rx @ y\ry\r%", "x @ y\r"),
    ("%\nx\n$y\n%", "$"),
    ("@ y\n%", "@ y\n"),
    ("%\nx @", "x @"),
    ("%\nw w w @ w\n%", "w w w @ w\n"),
    ("%\nw w w @ w w\n%", "@"),
    # And a sentence that begins or ends there, unless that is too large itself.
    ("%.^Two\nx.^One @ y\n%", "Two\nx.One @ y\n"),
    ("Two\nx.^One @ y\n%\n", "Two\nx.One @ y\n"),
    ("%\nOne @.^Two y\nx.^%", "One @.Two y\nx."),
    ("%^" + "w" * 41 + "\nx.^One @ y\n%", "x.One @ y\n"),
    ("%\nOne @.^Two y\n" + "w" * 41 + "^%", "One @.Two y\n"),
    # A link or a tag around it.
    ("%\n% ![wwww w](<@> 'w') %", "@"),
    ('%\n% ![wwww w](<@> "w") %', '![wwww w](<@> "w")'),
    ('%\n% <a w w w="@" w w> %', '<a w w w="@" w w>'),
    ("%\n% [x](@ x) %", "@"),
    ("%\n% x @) %", "@"),
]


@pytest.mark.parametrize(("marked", "wanted"), KEPT)
def test_what_is_kept_of_a_run(marked: str, wanted: str) -> None:
    written = marked.replace("%", LONG).replace("$", "@\n").replace("@", RUN)
    plain = written.replace("^", "")
    at, line_end = plain.index(RUN), "\n" * ("$" in marked)
    run = OpaqueRun(at, at + len(RUN + line_end), "data URI")
    sentences = [0, *accumulate(map(len, written.split("^")))]
    divider, _ = divider_of(plain, 40, counter=SHOWN, opaque="keep")

    def kept(start: int, end: int) -> str | None:
        span = kept_span(
            divider.document, run, start, end, blocked=SpanSet([]), sentences=sentences
        )
        return plain[slice(*span)].replace(RUN, "@") if span is not None else None

    assert kept(0, len(plain)) == wanted.replace("$", "@\n")
    # Nothing before or after what is looked at.
    assert kept(run.start, run.end) == "@" + line_end


def test_a_run_without_room_for_what_is_shown_is_divided() -> None:
    _, refined = divider_of(f"w {RUN} w\n", 1, counter=SHOWN, opaque="keep")
    assert len(refined.points) > 256
    assert refined.replaced == []


def test_a_fence_of_two_lines_has_a_frame() -> None:
    _, refined = divider_of("```\nw w w w\n", 3)
    assert [(frame.prefix, frame.suffix) for frame in refined.frames] == [("```\n", "\n```")]


def test_a_header_that_does_not_fit_with_its_delimiters_is_parted_from_them() -> None:
    text = "| a | b |\n|---|---|\n| c | d |\n| e | f |\n"
    assert parts(text, 12, encoding=len) == [
        ("", "| a | b |\n"),
        ("lead-in", "|---|---|\n"),
        ("lead-in", "| c | d |\n"),
        ("row", "| e | f |\n"),
        ("table", ""),
    ]


def test_code_is_divided_at_its_outermost_definitions_then_at_those_inside() -> None:
    pytest.importorskip("tree_sitter_python")
    one = "    def one(self):\n        w\n        w\n\n"
    two = "    def two(self):\n        w\n        w\n\n\n"
    last = "class B:\n    w = w\n    w = w\n```\n"
    found = parts(f"```python\nclass A:\n{one}{two}{last}", 4)
    assert found == [
        ("", "```python\n"),
        ("lead-in", "class A:\n"),
        ("lead-in", one),
        ("function", two),
        ("class", last),
        ("fence", ""),
    ]
    # Only where a piece is too large.
    assert parts(f"```python\nclass A:\n{one}{two}{last}", 2)[3:8] == [
        ("function", "    def two(self):\n"),
        ("lead-in", "        w\n"),
        ("statement 1.66667", "        w\n\n\n"),
        ("class", "class B:\n"),
        ("lead-in", "    w = w\n"),
    ]


def test_words_and_characters_are_set_apart_by_a_share_of_the_budget() -> None:
    # A 32nd of the budget, two tokens, from the start on.
    assert {part for _, part in parts("w " * 100 + "\n", 64)} == {"w w ", "w w \n"}
    assert {part for _, part in parts("w" * 101 + "\n", 64)} == {"ww", "w\n"}
    assert {part for _, part in parts("w " * 100 + "\n", 96)} == {"w w w ", "w \n"}
    # As many characters as hold so many tokens in the first 64, and closer where more are.
    heavy = {"counter": Counter("heavy", lambda text: 40 * text.count("W"))}
    found = parts("x" * 900 + "WWWW\n", 64, **heavy)
    assert [part for _, part in found] == [*["x" * 128] * 7, *"x" * 4, *"W" * 4, "\n"]
    found = parts("x " * 450 + "W W W W\n", 64, **heavy)
    assert [part for _, part in found] == [*["x " * 64] * 7, *["x "] * 2, *["W "] * 3, "W\n"]
    # A link is no place for a cut.
    assert parts("w" * 40 + " [w w w](u) w w" + "\n", 3)[-3:] == [
        ("word", "[w w w](u) "),
        ("word", "w "),
        ("word", "w\n"),
    ]


@pytest.mark.parametrize(
    ("text", "budget", "found"),
    [
        # White space after a part counts: cut off at a line's start if that suffices.
        ("w" + "\n" * 5 + "x\n", 3, ["w\n", "\n", "\n", "\n", "\n", "x\n"]),
        ("w w\n\n\nx\n", 4, ["w w\n", "\n\n", "x\n"]),
        ("w w\n\n\nx\n", 3, ["w w", "\n", "\n\n", "x\n"]),
        ("w w  \n\nx\n", 4, ["w w", "  \n", "\n", "x\n"]),
        # Inside a block as well.
        ("    a b\n\n\n\n\n    c\n", 9, ["    a b\n", "\n\n\n\n", "    c", "\n", ""]),
        ("    a b c\n\n\n\n    c\n", 9, ["    a b c", "\n\n\n\n", "    c", "\n", ""]),
        ("    a b" + "\n" * 11 + "    c\n", 9, ["    a b\n", *["\n"] * 10, "    c", "\n", ""]),
        ("    a b\n\n\n    c\n", 8, ["    a b\n", "\n\n", "    c", "\n", ""]),
        ("    a b\n\n    c\n", 8, ["    a b\n", "\n", "    c", "\n", ""]),
        ("    a b" + "\n   " * 3 + "\n", 7, ["    a b", "\n", *["   \n"] * 3, ""]),
    ],
)
def test_without_trimming_white_space_counts(text: str, budget: int, found: list[str]) -> None:
    assert [part for _, part in parts(text, budget, encoding=len, trim=False)] == found


@given(
    st.lists(
        st.sampled_from(["w w", "w", "\n", "\n\n", " ", "> ", "- ", "`w w`", "."]), max_size=14
    ).map("".join),
    st.integers(1, 6),
    st.booleans(),
)
def test_every_part_fits_or_is_one_character(text: str, budget: int, trim: bool) -> None:
    for _, part in parts(text + "\n", budget, encoding=len, trim=trim):
        content = part.strip() if trim else part
        assert len(content) <= budget or len(content) <= 1 or content.lstrip("\n") != content


def test_what_follows_a_region_that_fits_is_cut_off_after_it() -> None:
    options: dict[str, Any] = {"encoding": len, "trim": False}
    tag = "<tag>\n\nw w\n\n</tag>"
    found = [("", tag), ("line", "\n"), ("line", "\n" * 8), ("tag-close", "w\n")]
    assert parts(tag + "\n" * 9 + "w\n", len(tag), **options) == found
    # From the next line on, if it ends inside one.
    own = ProtectedRegion(0, 8, "own")
    assert parts("a b\n\nc d   \n\n\n\nw\n", 8, regions=[own], **options) == [
        ("", "a b\n\nc d"),
        ("line", "   \n"),
        ("line", "\n\n\n"),
        ("paragraph", "w\n"),
    ]
    # What is a single line does not end in the next.
    assert parts("a b\n\nc d   w\n", 8, regions=[own], **options)[1:] == [("line", "   w\n")]


def test_what_may_be_too_large() -> None:
    """Of additive counts those near the budget; each with what it must not be parted from."""

    def candidates(text: str, budget: int, counter: Counter = W) -> list[tuple[int, int]]:
        divider, _ = divider_of(text, budget, counter=counter, oversize="keep")
        document = divider.document
        edges = [*document.leaves.starts, len(text)]
        scores = [-1.0 if text[at] == "|" else 0.0 for at in edges[:-1]]
        return list(_oversize_candidates(document, edges, scores))

    def blocks(*sizes: int) -> str:
        return "".join("w" * size + "\n\n" for size in sizes)

    # Trimming may change a count by eight tokens.
    assert candidates(blocks(1, 12, 13, 20, 2), 20) == [(2, 2), (3, 3)]
    assert candidates(blocks(13, 12), 20) == [(0, 0)]
    # Nothing is known of a user's own counter.
    assert candidates(blocks(1, 12, 2), 20, W_ALONE) == [(0, 0), (1, 1), (2, 2)]
    heading = blocks(3) + "|" + blocks(9)
    assert candidates(blocks(2) + heading + "|" + blocks(1) + blocks(2), 20) == [(1, 3)]
    assert candidates(blocks(2) + heading + blocks(2), 19) == [(1, 2)]
    assert candidates("|" + heading, 19) == [(0, 1)]
    # Counts that are not exact where the text is cut.
    text = "ww\n\nww\n"
    document = divider_of(text, 20, counter=W, oversize="keep")[0].document
    assert list(_oversize_candidates(document, [0, 1, 4, 7], [0, 0, 0])) == [(0, 0), (1, 1), (2, 2)]


def test_images_are_looked_into_to_a_depth() -> None:
    def nested(depth: int) -> str:
        return "![w w " * depth + "`w w`" + " w](u)" * depth + " c\n"

    kept = [depth for depth in range(1, 12) if ("word", "`w w` ") in parts(nested(depth), 2)]
    assert kept == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_users_region_and_points() -> None:
    text = "One a. Two.\n\nThree b.\n\nFour.\n"
    # A region over two blocks is one unit; the points are at its edges.
    own = ProtectedRegion(4, 20, "own")
    assert parts(text, 30, encoding=len, regions=[own]) == [
        ("", "One "),
        ("line", "a. Two.\n\nThree b"),
        ("line", ".\n\n"),
        ("paragraph", "Four.\n"),
    ]
    # One that ends where a block ends, or in the white space there, needs no point after it.
    for end in (21, 22, 23):
        region = ProtectedRegion(4, end, "own")
        assert parts(text, 30, encoding=len, regions=[region]) == [
            ("", "One "),
            ("line", "a. Two.\n\nThree b.\n\n"),
            ("paragraph", "Four.\n"),
        ]
    # One that begins where a block begins needs none before it; one inside a block none at all.
    assert parts(text, 30, encoding=len, regions=[ProtectedRegion(0, 15, "own")]) == [
        ("", "One a. Two.\n\nTh"),
        ("line", "ree b.\n\n"),
        ("paragraph", "Four.\n"),
    ]
    assert len(parts(text, 30, encoding=len, regions=[ProtectedRegion(1, 5, "own")])) == 3
    # It may begin between blocks.
    assert parts(text, 30, encoding=len, regions=[ProtectedRegion(12, 15, "own")])[1] == (
        "line",
        "\nTh",
    )
    # One inside a block is no reason to leave the next one out.
    for end in (11, 12):
        assert parts(text, 30, encoding=len, regions=[ProtectedRegion(4, end, "own")])[0] == (
            "",
            text[:13],
        )
    regions = [ProtectedRegion(1, 5, "own"), ProtectedRegion(15, 27, "own")]
    assert [part for _, part in parts(text, 30, encoding=len, regions=regions)] == [
        text[:13],
        text[13:15],
        text[15:27],
        text[27:],
    ]
    # What begins at a point inside a block is divided as the block is; an empty span is not.
    prose = "One cat w end. Six w w end. Ten end w w.\n"
    for pos, found in ((4, ["One ", "cat w end. "]), (0, ["", "One cat w end. "])):
        assert [part for _, part in parts(prose, 2, points=[BreakPoint(pos, 5.0, "line")])] == [
            *found,
            "Six w w end. ",
            "Ten end w w.\n",
        ]
    points = [BreakPoint(3, 5.0, "line"), BreakPoint(7, 5.0, "line")]
    assert [part for _, part in parts(text, 30, points=points)][:3] == ["One", " a. ", "Two.\n\n"]


def test_a_users_point_inside_an_inline_construct_is_none() -> None:
    points = [BreakPoint(pos, 5.0, "line") for pos in (2, 5, 7)]
    assert [part for _, part in parts("a `b c` d\n", 9, points=points)] == ["a ", "`b c`", " d\n"]
    # Nor between a character and its marks, in code either; there are no constructs there.
    assert len(parts("ae\u0301\n", 9, points=[BreakPoint(2, 5.0, "line")])) == 1
    code = "```\nae\u0301 c\nd\n```\n"
    assert parts(code, 9, encoding=len, points=[BreakPoint(6, 5.0, "line")])[0] == ("", code[:4])
    code = "```\nw `w w` w\n```\n"
    assert [part for _, part in parts(code, 2, points=[BreakPoint(9, 5.0, "line")])] == [
        "```\nw `w ",
        "w` w\n```\n",
        "",
    ]


def test_points_inside_regions_that_fit_are_left_out() -> None:
    text = "<tag>\n\nw w\n\nw w\n\n</tag>\n\nw\n"
    assert [part for _, part in parts(text, 9)] == [text[:-2], "w\n"]
    assert [part for _, part in parts(text, 3)] == [
        "<tag>\n\n",
        "w w\n\n",
        "w w\n\n",
        "</tag>\n\n",
        "w\n",
    ]
    # Of several regions each.
    assert [part for _, part in parts(text + "\n" + text, 4)] == [
        text[:-2],
        "w\n\n",
        text[:-2],
        "w\n",
    ]


def test_sentences_of_a_leaf() -> None:
    text = "\nOne end. Two [big. Three](u) cat. Four dog.\n\n```\nOne end. Two.\n```\n"
    divider, _ = divider_of(text, 99)
    prose, code = divider.document.leaves.at(1), divider.document.leaves.at(text.index("```"))
    assert prose is not None
    assert code is not None
    found = divider.sentence_points(prose, prose.start, prose.end)
    assert [(text[point.pos :][:4], point.kind, point.score) for point in found] == [
        ("Two ", "sentence", 10.0),
        ("Four", "sentence", 10.0),
    ]
    # Strictly inside a span.
    four = text.index("Four")
    assert [point.pos for point in divider.sentence_points(prose, four, prose.end)] == []
    assert [point.pos for point in divider.sentence_points(prose, 1, four)] == [text.index("Two")]
    # By the rules of the language.
    greek, _ = divider_of("Ναι το ξέρω; Όχι το ξέρω.\n", 99, sentence_language="el")
    leaf = greek.document.leaves.at(0)
    assert leaf is not None
    assert [point.pos for point in greek.sentence_points(leaf, 0, leaf.end)] == [13]
    spans = divider.whole_spans(prose)
    assert spans.end(text.index("Three")) == text.index(" cat.")
    assert divider.whole_spans(prose) is spans
    assert divider.whole_spans(code) is not spans


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("| a | b |\n", ["| a ", "| b |\n"]),
        ("a | b\n", ["a ", "| b\n"]),
        (" > | a \\| c | `b|d` | \n", [" > | a \\| c ", "| `b", "|d` | \n"]),
        ("| a\n", ["| a\n"]),
        ("|\n", ["|\n"]),
        ("||\n", ["||\n"]),
        ("a\n", ["a\n"]),
        ("a |\n", ["a |\n"]),
        ("| a |b", ["| a ", "|b"]),
        ("  > ", ["  > "]),
    ],
)
def test_the_cells_of_a_row(row: str, cells: list[str]) -> None:
    for before, after in (("", ""), ("| x |\n", "| y | z |\n")):
        text = before + row + after
        spans = cell_spans(text, len(before), len(before) + len(row))
        assert [text[start:end] for start, end in spans] == cells


@pytest.mark.parametrize(
    ("cell", "content"),
    [
        ("| a b ", "a b"),
        ("|a|\n", "a"),
        (" > | a | \n", "a"),
        ("| a \\|", "a \\|"),
        ("| a \\| |", "a \\|"),
        ("  a  ", "a"),
        ("b c", "b c"),
        ("|", ""),
        ("| |", ""),
        ("||", ""),
        ("", ""),
    ],
)
def test_the_content_of_a_cell(cell: str, content: str) -> None:
    for before, after in (("", ""), ("x |", "| y")):
        start, end = cell_content(before + cell + after, len(before), len(before) + len(cell))
        assert (before + cell + after)[start:end] == content
        assert len(before) <= start <= end <= len(before) + len(cell)


def spans(
    *regions: tuple[int, int, str], budget: int = 99, fits: Callable[[int, int], bool] | None = None
) -> list[tuple[int, int]]:
    found = [ProtectedRegion(*region) for region in regions]
    return list(protected_spans(found, fits or (lambda start, end: end - start <= budget)))


def test_which_regions_are_kept_whole() -> None:
    # Those that fit; one inside another is part of it.
    assert spans((0, 5, "fence"), (6, 20, "fence"), (30, 33, "table"), budget=5) == [
        (0, 5),
        (30, 33),
    ]
    assert spans((0, 20, "tag"), (2, 5, "fence"), (7, 9, "own")) == [(0, 20)]
    assert spans((0, 20, "tag"), (2, 5, "fence"), (5, 9, "fence"), budget=7) == [(2, 5), (5, 9)]
    assert spans((0, 20, "own"), (2, 5, "own"), (5, 9, "own"), budget=7) == [(2, 5), (5, 9)]
    # Of a user's two that cross both if they fit together, else the first.
    assert spans((0, 6, "own"), (4, 10, "own"), budget=10) == [(0, 10)]
    assert spans((0, 6, "own"), (4, 10, "own"), budget=9) == [(0, 6)]
    assert spans((0, 6, "own"), (4, 10, "own"), (8, 12, "own"), budget=9) == [(0, 6), (8, 12)]
    assert spans((0, 6, "own"), (4, 10, "own"), (8, 12, "own"), budget=10) == [(0, 10)]
    assert spans((0, 6, "own"), (6, 10, "own"), (8, 12, "own"), budget=6) == [(0, 6), (6, 12)]
    # A user's region rather than a block that it crosses.
    assert spans((0, 6, "fence"), (4, 10, "own")) == [(4, 10)]
    assert spans((0, 6, "tag"), (4, 10, "tool-call"), (10, 15, "table")) == [(4, 10), (10, 15)]
