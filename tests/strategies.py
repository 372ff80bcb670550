"""Hypothesis strategies for Markdown that is realistic, nasty, or both.

``markdown()`` nests well-formed and half-formed blocks, ``nasty_text()`` is noise made
of characters that parsers and splitters trip over, and ``documents()`` is either, or
Markdown with noise spliced in. A block is a list of lines without line endings; the first
value in every pool is the simplest, as that is where Hypothesis shrinks to.
"""

from __future__ import annotations

from functools import cache
from itertools import cycle
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

__all__ = (
    "PAGE_MARKS",
    "documents",
    "html_table",
    "markdown",
    "nasty_text",
    "nested",
    "paged",
    "pages",
    "spaced_text",
)

T = TypeVar("T")
Lines = list[str]

DEPTH = 5

PHRASES = (
    "word",
    "one two three",
    "The quick brown fox jumps over the lazy dog",
    "naïve café Straße œuvre",
    "e.g. Dr. Smith paid $3.50 at 10 a.m., i.e. late",
    "version 1.2.3 of the U.S. plan (see No. 4)",
    "Быстрая бурая лиса",
    "γλῶσσα ἑλληνική",
    "日本語の文章です。次の文も短い",
    "中文段落没有空格但是有标点，例如这个逗号",
    "「引用」と（括弧）",
    "한국어 문장",
    "\u1112\u1161\u11ab\u1100\u1173\u11af",  # Hangul jamo, decomposed
    "مرحبا بالعالم",
    "עברית עם נִקּוּד",
    "नमस्ते दुनिया क्षत्रिय",
    "ภาษาไทยไม่มีช่องว่าง",
    "e\u0301 a\u0308\u0323 Z\u0351\u036b\u0343\u032a",
    "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇩🇪🇯🇵 1️⃣",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐍈 𠜎",
    "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen",
    "a" * 120,
    "漢" * 90,
    "supercalifragilistic\u00adexpialidocious\u200bzero\u200dwidth",
    "no\u00a0break\u202fspaces\u3000here",
    "1. 2) - + * > # not at the start",
)
MARKUP = (
    "*em*",
    "**strong**",
    "***both** at once*",
    "_snake_case_ __dunder__",
    "~~gone~~",
    "`code`",
    "`` a ` tick ``",
    "`code with a | pipe`",
    "[link](https://example.com/a_(b)?q=1&r=2#x)",
    '[link *two*](<spaced path> "A \\"title\\"")',
    "[full][ref], [collapsed][] and [shortcut]",
    "![image](images/a.png 'alt text')",
    "[![badge](b.svg)](https://example.com)",
    "<https://example.com/auto?x=1>",
    "<mail@example.com>",
    "https://bare.example.com/path/to.page?a=b.",
    "https://example.com/" + "long/" * 24,
    "$x_i^2 + \\frac{a}{b}$",
    "$$inline display$$",
    "\\(a + b\\)",
    "costs $5 or $10",
    '<span class="x">html</span>',
    "<br/>",
    "<!-- comment -->",
    "<unclosed attr='",
    "[^1]",
    "[^note] and ^[inline note]",
    "&amp; &#x1F600; &nosuch;",
    "\\*escaped\\* \\` \\[",
    "**unclosed",
    "`unclosed",
    "[unclosed](http://",
    "{{ template }} {#id .class} :emoji: @user #123",
)
ENDINGS = (
    *(". ", ".\n", "! ", "? ", "。", "؟ ", "। ", "… ", '." ', ".) ", "; ", ": "),
    *(".  \n", ".\\\n", "\n", ", ", ".\n  ", ".\n        ", " \t\n"),
)
CODE = (
    "x = 1",
    "",
    "def f(a, b):",
    "    return {'a': [b, \"c\"]}",
    "\tif x: # comment",
    "# not a heading",
    "- not an item",
    "> not a quote",
    "| a | b |",
    "---",
    "```",
    "~~~~",
    "````python",
    "</div> <!-- $$ -->",
    "}",
    "  ",
    "日本語 = '👩‍👩‍👧‍👦'",
    "z" * 150,
    '{"key": "value", "list": [1, 2, 3]}',
)
PAIRS = (  # an opening line, and the line that closes it
    *(("<div>", "</div>"), ('<div class="a"\n  id="b">', "</div>")),
    ("<details><summary>More</summary>", "</details>"),
    ("<table><tr><td>", "</td></tr></table>"),
    *(("<!--", "-->"), ("<!-- one line -->", ""), ("<?php", "?>")),
    *(("<script>", "</script>"), ("<pre><code>", "</code></pre>")),
    *(("<style>", "</style>"), ("<textarea>", "</textarea>")),
    *(("<![CDATA[", "]]>"), ("<!DOCTYPE html", ">"), ("</p>", "")),
)
MATH_PAIRS = (
    *(("$$", "$$"), ("$$", "$$"), ("$$ x +", "y $$"), ("$$", "$$ (label)")),
    *(("\\[", "\\]"), ("$$a = b$$", ""), ("\\begin{align}", "\\end{align}")),
)
MATH = (
    *("x^2", "\\frac{a}{b} \\\\", "\\text{\\$5 | $x$}", "- y", "    z", "# n = 1", ""),
    "e^{i\\pi} + 1 = 0",
)
TAGS = (
    *("example", "document", "ns:item", "my-tag", "Thinking", "источник", "p"),
    *('document index="1"', "a b='c' d", "self/"),
)
ADMONITIONS = ('!!! note "Title"', "!!! warning", "??? tip", '???+ danger ""', "!!!")
ALERTS = ("[!NOTE]", "[!warning]", "[!TIP] inline", "[!Unknown]")
RULES = ("---", "***", "___", "- - -", "* * * * *", "  -----  ", "_" * 80, "--")
REFERENCES = (
    "[ref]: https://example.com",
    "[shortcut]: <spaced path> 'title'",
    '[Long Label]:\n  /url\n  "a title\n  on two lines"',
    "[ref]: /url not a title",
    "[nothing]:",
    "   [ẞ]: /Straße (title)",
)
MATTER = (
    *("title: Example", "tags: [a, b]", "list:", "  - one", "# comment", ""),
    *("text: |", "  folded --- text", "...", "---x", "key = 'toml'"),
)
GAPS = ("\n", "\n", "\n", "\n\n", "", "", "\n \t\n", "\n\n\n\n", "\n\f\n", "\n>\n")

SIGNIFICANT = (
    *"a-*_#>`~|[]()<>!$:\\\"'&+=^{}.,;?/@%0159 ",
    *(" ", "    ", "\t", "\n", "\n\n", "\r\n", "\r", "\n\r", "\n    ", "\n\t"),
    *("\n- ", "\n1. ", "\n> ", "\n# ", "\n```\n", "\n~~~", "\n---\n", "\n===\n"),
    *("\n| a |\n|---|\n", "\n$$\n", "\n:::", "\n!!! x\n", "\n[^1]: ", "\n[a]: b\n"),
    *("\n<!--", "-->", "<div>", "</div>", "\n<x>\n", "</x>", "<![CDATA[", "]]>", "<?"),
    *("](", "![", "[[", "]]", "**", "__", "~~", "``", "$$", "&#0;", "&lt;", "\\\n"),
    *("\u00a0", "\u2028", "\u2029", "\x85", "\x1c", "\x1d", "\x1e", "\x1f", "\f"),
    *("\v", "\u3000", "\u200b", "\u200d", "\u2060", "\u00ad", "\u180e", "\u1680"),
    *("\0", "\ufeff", "\ud800", "\udfff", "\ud83d", "\udca9\ud83d", "\ufffe", "\x7f"),
    *("\u0301", "\u0301\u0323\u0489", "\u094d\u0930", "\u1100", "\u1161", "\u11a8"),
    *("👩‍👩‍👧‍👦", "👍🏽", "🇩🇪🇯", "\ufe0f", "\u202e", "\u2066", "ﷺ", "ß", "İ", "ǆ"),
    *("<|endoftext|>", "<|im_start|>user\n", "<|fim_prefix|>", "[INST]", "<s>", "▁"),
    *(". ", "。", "! ", "e.g. ", "Mr. ", "...", "¿", "\u037e", "।", "word", "日本語"),
)
RUN_LENGTHS = (2, 3, 5, 7, 17, 40, 130, 400, 4000)
LONGEST_RUN = 4000


def pick(pool: tuple[T, ...]) -> SearchStrategy[T]:
    return st.sampled_from(pool)


def short(strategy: SearchStrategy[T]) -> SearchStrategy[T]:
    """The same with a short repr: Hypothesis writes out nested ones, exponentially."""

    @st.composite
    def drawn(draw: st.DrawFn) -> T:
        return draw(strategy)

    return drawn()


def joined(parts: SearchStrategy[str], low: int, high: int, glue: str = "") -> SearchStrategy[str]:
    return st.lists(parts, min_size=low, max_size=high).map(glue.join)


# What converters and models write in place of headings, lists and tables of contents.
CONVERTED = (
    *("**3. Methods**", "__Data__:", "**Two**\n\n**in a row**", "2.1 **Results**"),
    "Things:\n• one. Another sentence.\n• two [link\n• three](u)\n(a) four\n– five",
    "### 1 Title . . . . . . . 12",
    "1.1 One ........ 3\n1.2 Two _. . . . . ._ iv\n\n# 2 Three . . 7",
    *("```markdown", "~~~md"),
)
PAGE_MARKS = (
    *("--- end of page=3 ---", "<!-- Page 7 -->", "{4}" + "-" * 48, "<!-- PageBreak -->", "\f"),
    *("<!-- Slide number: 2 -->", '<!-- PageNumber="9" -->', "<!-- page-break -->"),
)
# HTML tables, whole and broken, of parts that are put together in any number.
TABLE_PARTS = (
    *("<table>", "</table>", "<tr><td>", "</td></tr>", "<tr>", "</tr>", "<td>", "</td>", "<td>a"),
    *("<thead>", "</thead>", "<tbody>", "</tbody>", "<th>Name</th>", '<td rowspan="2">', "\n"),
    *("<caption>Fruit</caption>", "<br>", "<ul><li>", "<p>", "</p>", "<b>", "</b>", "\n\n", "  "),
    *("<!-- <table> -->", '<td a="</table>">', "<TABLE border=1>", "\nTable 3: Fruit.\n\n", "`"),
)


@st.composite
def html_table(draw: st.DrawFn) -> str:
    """A table of rows and cells on one line or several, or what is left of one."""
    if draw(st.booleans()):
        return draw(joined(st.one_of(pick(TABLE_PARTS), pick(PHRASES)), 1, 40))
    end = draw(pick(("", "\n", "\n  ", "\n\n")))
    cells = st.lists(joined(pick(PHRASES), 0, 3, ". "), min_size=1, max_size=3)
    rows = [
        end.join(("<tr>", *(f"<td>{cell}</td>" for cell in row), "</tr>"))
        for row in draw(st.lists(cells, min_size=1, max_size=8))
    ]
    head = draw(pick(("", "<tr><th>One</th><th>Two</th></tr>", "<caption>Two</caption>")))
    before = draw(pick(("", "Text.\n\n", "Table 1: Things.\n\n", "<html><body>", "See: ")))
    return end.join((f"{before}<table>", head, "<tbody>", *rows, "</tbody></table>"))


def paged() -> SearchStrategy[str]:
    """Blocks that go on over the marks of pages, or do not, with what stands at their edges."""
    blocks = (
        *("Words that go on,", "in the middle of it", "and end here.", "Chapter 1: Things 3", "12"),
        *(
            "| a | b |\n|---|---|\n| 1 | 2 |",
            "| 3 | 4 |",
            "- item",
            "- item that goes on",
            "**Bold**",
        ),
        *("# Title", "```\ncode\n```", "> quote", "The end. " * 30, "<table><tr><td>a"),
        "</td></tr></table>",
    )
    gap = pick(("\n\n", "\n\n", "\n", "\r\n\r\n", "\n\n\n\n", "\n> "))
    return joined(st.tuples(pick(blocks) | pick(PAGE_MARKS), gap).map("".join), 1, 30)


def nested() -> SearchStrategy[str]:
    """Headings among the lines that open and close containers, tags and components, or do not."""
    lines = (
        *(
            "::: note",
            "::: zone a",
            "::: zone-end",
            ":::: {.panel-tabset}",
            ":::",
            "::::",
            ":::tip[Title]",
            "/// tab | One",
            "///",
        ),
        *("<Tab title='One'>", "</Tab>", "<details>", "</details>", "<section>", "</section>"),
        *("# Title", "## Section", "### Part", "Title\n---", "<h2>In HTML</h2>"),
        *(
            "",
            "",
            "A few words of text. ",
            "- item",
            "  - ## In an item",
            "> ## Quoted",
            "[a]: /url",
        ),
        *("[^1]: Note", "---", "---\ntitle: Page\n---", "<a id='x'></a>", "!!! note", '=== "Two"'),
        *("    # Indented", "```\n# code\n```", "{#anchor}", "<!-- comment -->", "(target)="),
        *("# [One](#tab/one)", "### [Two](#tab/two)", "<<<<<<< a", "=======", ">>>>>>> b"),
    )
    line = st.tuples(pick(lines), pick(("\n", "\n", "\n\n"))).map("".join)
    return joined(line, 1, 40)


def pages() -> SearchStrategy[str]:
    """Pages with front matter of their own, one after another."""
    matters = (
        "---\ntitle: Page\n---\n",
        "---\nurl: /a # b\n---\n",
        '---\ntitle: "Two"\ntags:\n- a\n---\n',
        "---\ntags:\n" + "- many words of one tag\n" * 40 + "---\n",
        "---\nTitle: None\n---\n",
        "---\n\na: b\n---\n",
    )
    return joined(st.tuples(pick(matters), pick(("", "\n")), nested()).map("\n".join), 1, 5)


# What opens an HTML block that goes on after a blank line, or only labels; what closes it.
HTML_PAIRS = (
    ("<details>\n<summary>More</summary>", "</details>"),
    ('<div class="result" markdown>', "</div>"),
    ("<div><p>", "</p></div>"),
    ("<!-- md:option x -->", "<!-- END -->"),
    ('<a id="x"></a>', "</div>"),
    ("</div><div>", "<table>"),
)


def wrapped(opening: str, text: str, closing: str) -> str:
    return f"{opening}{text}{closing}"


def as_lines(text: str) -> Lines:
    return text.split("\n")


phrase = short(pick(PHRASES))
emphasised = st.builds(
    lambda mark, text: wrapped(mark, text, mark),
    pick(("*", "**", "_", "__", "***", "~~", "`", "``", "$", '"')),
    phrase,
)
linked = st.builds(
    wrapped,
    pick(("[", "![", "[*")),
    phrase,
    pick(("](/url)", '](<a b> "title")', "][ref]", "]", "](un(balanced)")),
)
inline = short(phrase | phrase | phrase | pick(MARKUP) | pick(MARKUP) | emphasised | linked)
sentence = st.builds(lambda text, ending: text + ending, joined(inline, 1, 4, " "), pick(ENDINGS))
title = joined(inline, 0, 2, " ")
prose = short(joined(sentence, 1, 4).map(str.rstrip))
code = short(st.lists(pick(CODE), max_size=8))


def fence(opening: str, info: str, body: Lines, longer: int | None, indent: str) -> Lines:
    """``longer`` is by how much the closing fence outdoes the opening one, if any."""
    lines = [opening + info, *body]
    if longer is not None:
        lines.append(opening[0] * (len(opening) + longer))
    return [indent + line for line in lines]


def table(columns: int, cells: Lines, rule: Lines, edges: tuple[str, str], off: int) -> Lines:
    marks = cycle(rule)
    rows = [cells[at : at + columns] for at in range(0, len(cells), columns)]
    rows.insert(1, [next(marks) for _ in range(columns + off)])
    return [wrapped(edges[0], " | ".join(row), edges[1]) for row in rows]


def enclosed(pair: tuple[str, str], body: Lines, closings: int) -> Lines:
    return [*as_lines(pair[0]), *body, *[pair[1]] * closings]


def outline(marker: str, entries: list[tuple[int, str]]) -> Lines:
    """A list of one-line items, each at most one level below the item before it."""
    lines, level, step = [], -1, " " * (len(marker) + 1)
    for wanted, text in entries:
        level = min(wanted, level + 1)
        lines.append(f"{step * level}{marker} {text}")
    return lines


mostly = pick((1, 1, 1, 0))
cell = phrase | pick(("", "a \\| b", "`x | y`", "**b**", "1.5", "<br>", "a\\\\|b"))
leaf: SearchStrategy[Lines] = short(
    st.one_of(
        prose.map(as_lines),
        prose.map(as_lines),
        prose.map(as_lines),
        st.builds(
            lambda mark, text, end: [f"{mark} {text}{end}"],
            pick(("#", "##", "###", "####", "#####", "######", "#######", "   #", "#\t")),
            title,
            pick(("", "", "", " #", " ##  ", " {#id}")),
        ),
        st.builds(
            lambda text, line: [*as_lines(text), line],
            prose | title,
            pick(("===", "---", "=", "-", "  ------  ", "=== =")),
        ),
        st.builds(
            fence,
            pick(("```", "~~~", "````", "~~~~", "``````", "`````````")),
            pick(("", "python", " js {1,3}", 'text title="a b"', "mermaid", "日本 ~")),
            code,
            pick((0, 0, 0, 0, 1, 2, -1, None)),
            pick(("", "", "", " ", "   ")),
        ),
        st.builds(
            lambda step, body: [step + line for line in body],
            pick(("    ", "\t", "      ", "  \t")),
            code,
        ),
        st.builds(
            table,
            st.integers(1, 4),
            st.lists(cell, min_size=1, max_size=16),
            st.lists(pick(("---", ":-", "-:", ":-----:", "-")), min_size=1, max_size=3),
            pick((("| ", " |"), ("", ""), ("|", ""), ("  ", " |  "))),
            pick((0, 0, 0, 0, 1)),
        ),
        st.builds(enclosed, pick(PAIRS), code | prose.map(as_lines), mostly),
        st.builds(enclosed, pick(MATH_PAIRS), st.lists(pick(MATH), max_size=4), mostly),
        st.builds(
            outline,
            pick(("-", "*", "+", "1.", "10)", "- [ ]")),
            st.lists(st.tuples(st.integers(0, DEPTH), phrase), min_size=2, max_size=9),
        ),
        pick(RULES + REFERENCES).map(as_lines),
        html_table().map(as_lines),
        pick(CONVERTED + PAGE_MARKS).map(as_lines),
    )
)


def stack(blocks: list[Lines], gap: str) -> Lines:
    """The blocks one below the other; "" as a gap leaves no blank line between."""
    lines: Lines = []
    for block in blocks:
        lines += [*as_lines(gap)[1:], *block] if lines else block
    return lines


def indented(lines: Lines, step: str) -> Lines:
    return [step + line if line.strip() else line for line in lines]


def hanging(lead: str, body: Lines, step: str) -> Lines:
    first, *rest = body or [""]
    return [(lead + first).rstrip(), *indented(rest, step)]


def bullets(
    marker: str, padding: str, items: list[tuple[str, Lines]], gap: str, ragged: int
) -> Lines:
    """``ragged`` widens or narrows the indentation after an item's first line."""
    lines: Lines = []
    for number, (box, body) in enumerate(items):
        lead = f"{number + 1 if marker in '.)' else ''}{marker}{padding}"
        step = " " * (len(lead.expandtabs(4)) + ragged)
        lines += as_lines(gap)[1:] if lines else []
        lines += hanging(lead + box, body, step)
    return lines


def quote(prefix: str, head: Lines, body: Lines, lazy: int) -> Lines:
    """A block quote whose last ``lazy`` lines lack the prefix."""
    lines = head + body
    kept = max(1, len(lines) - lazy)
    return [prefix + line for line in lines[:kept]] + lines[kept:]


def tagged(names: tuple[str, str], body: Lines, order: str, gap: str) -> Lines:
    """Two nested tags around the body, closed in the ``order`` given by index."""
    closing = [[f"</{names[int(index)].split()[0]}>"] for index in order]
    return stack([[f"<{names[0]}>"], [f"<{names[1]}>"], body, *closing], gap)


@cache
def blocks(depth: int) -> SearchStrategy[Lines]:
    """A few blocks one below the other, with containers nested at most this deep."""
    block = leaf if depth == 0 else leaf | leaf | container(depth)
    several = st.lists(block, min_size=1, max_size=3 if depth == DEPTH - 1 else 2)
    return short(st.builds(stack, several, pick(GAPS)))


@cache
def container(depth: int) -> SearchStrategy[Lines]:
    body = blocks(depth - 1)
    item = st.tuples(
        pick(("", "", "", "", "[ ] ", "[x] ", "[X] ")),
        body | body | body | prose.map(as_lines) | st.just([]),
    )
    bullet_list = st.builds(
        bullets,
        pick(("-", "*", "+", ".", ")")),
        pick((" ", " ", " ", "  ", "   ", "\t")),
        st.lists(item, min_size=1, max_size=3),
        pick(("", "", "\n", "\n", "\n\n")),
        pick((0, 0, 0, 0, 1, -1, 2)),
    )
    tags = st.builds(
        tagged,
        st.tuples(pick(TAGS), pick(TAGS)),
        body,
        pick(("10", "10", "01", "01", "1", "0", "", "100")),
        pick(("", "\n", "\n\n")),
    )
    return short(
        st.one_of(
            bullet_list,
            bullet_list,
            bullet_list,
            st.builds(
                quote,
                pick(("> ", "> ", ">", " >  ", "> > ")),
                st.just([]) | st.just([]) | pick(ALERTS).map(as_lines),
                body,
                pick((0, 0, 0, 1, 2)),
            ),
            tags,
            tags,
            st.builds(
                hanging,
                pick(("[^1]: ", "[^note]:", "[^long label]: ")),
                body,
                st.just("    "),
            ),
            st.builds(
                lambda lead, lines, gap: stack([["A term"], hanging(lead, lines, "    ")], gap),
                pick((":   ", ":   ", ": ", ":\t")),
                body,
                pick(("", "", "\n")),
            ),
            st.builds(
                lambda pair, lines, gap: stack([[pair[0]], lines, [pair[1]]], gap),
                pick(HTML_PAIRS),
                body,
                pick(("\n\n", "\n\n", "\n")),
            ),
            st.builds(
                lambda mark, name, lines, end: [
                    mark + name,
                    *lines,
                    *as_lines(mark + end),
                ],
                pick((":::", ":::", "::::", ":::::", "///", "///", "////")),
                pick((" note", "{warning} Title", " a {.b #c}", "")),
                body,
                pick(("", "", "", ":", " x", "\n:::")),
            ),
            st.builds(
                lambda head, lines, step: [head, *indented(lines, step)],
                pick(ADMONITIONS),
                body,
                pick(("    ", "    ", "\t", "  ")),
            ),
        )
    )


def document(parts: list[tuple[Lines, str]], ends: list[str], last: str, matter: Lines) -> str:
    lines = list(matter)
    for block, gap in parts:
        lines += block + as_lines(gap)[1:]
    text = "".join(line + end for line, end in zip(lines, cycle(ends), strict=False))
    return text.rstrip("\r\n") + last


@cache
def markdown() -> SearchStrategy[str]:
    """Markdown documents of nested blocks, with line endings of every kind."""
    part = st.tuples(leaf | leaf | container(DEPTH), pick(GAPS))
    ends = pick((["\n"], ["\n"], ["\n"], ["\r\n"], ["\r"]))
    none: SearchStrategy[Lines] = st.just([])
    matter = st.builds(
        enclosed,
        pick((("---", "---"), ("---", "..."), ("+++", "+++"), ("--- ", "----"))),
        st.lists(pick(MATTER), max_size=6),
        mostly,
    )
    text = st.builds(
        document,
        st.lists(part, max_size=8),
        ends | ends | st.lists(pick(("\n", "\r\n", "\r")), min_size=2, max_size=5),
        pick(("\n", "\n", "", "\r\n", "\r", "\n\n\n", "  ", "\n\t")),
        none | none | none | none | matter,
    )
    return short(text)


@cache
def fragments() -> SearchStrategy[str]:
    token = pick(SIGNIFICANT)
    run = st.builds(
        lambda text, length: (text * length)[:LONGEST_RUN],
        token | st.characters(exclude_categories=()),
        pick(RUN_LENGTHS),
    )
    anything = st.text(st.characters(exclude_categories=()), max_size=8)
    return short(st.one_of(joined(token, 1, 20), joined(token, 1, 20), run, anything))


@cache
def nasty_text() -> SearchStrategy[str]:
    """Noise: significant characters, odd spaces, lone surrogates, very long runs."""
    return joined(fragments(), 0, 12)


@cache
def spaced_text() -> SearchStrategy[str]:
    """Short blocks amid what Python, JavaScript, the parser and tiktoken call white space or not."""
    spaces = pick(
        (" ", "\n", "\n\n", "\xa0", "\x1c", "\x85", "\ufeff", "\u2028", "\u3000", "\v", "\r\n")
    )
    words = pick(("word", "Two words. ", "End.", "**b**", "[a](/u)", "`c d`", "é"))
    marks = pick(
        ("# ", "- ", "> ", "\n```\n", "\n| a |\n|---|\n| b |", "\n<x>\n", "\n    ", "\n\n1. ")
    )
    return joined(st.one_of(spaces, spaces, spaces, words, words, marks), 0, 40)


def splice(text: str, extras: list[tuple[str, int, bool]]) -> str:
    """Put each extra at so many thousandths of the text, or at the next line start."""
    for extra, share, at_line in extras:
        at = len(text) * share // 1000
        if at_line:
            at = text.find("\n", at) + 1
        text = text[:at] + extra + text[at:]
    return text


@cache
def documents() -> SearchStrategy[str]:
    """Markdown, noise, or Markdown with noise spliced into it."""
    extra = st.tuples(fragments(), st.integers(0, 1000), st.booleans())
    spliced = st.builds(splice, markdown(), st.lists(extra, min_size=1, max_size=4))
    return st.one_of(markdown(), nasty_text(), spliced)


@cache
def framed() -> SearchStrategy[str]:
    """Headings, blocks and containers with titles of any length; some end with a heading."""
    sentence = st.integers(1, 9).map(lambda count: " ".join(["Word", *["word"] * count]) + ".")
    block = st.one_of(
        st.lists(sentence, min_size=1, max_size=5).map(" ".join),
        st.integers(1, 12).map(lambda count: "\n".join(["```", *["code word"] * count, "```"])),
        st.integers(1, 8).map(
            lambda count: "\n".join(["| a | b |", "|--|--|", *["| c | d |"] * count])
        ),
    )
    title = st.integers(1, 40).map(lambda count: " ".join(["Title"] * count))
    heading = st.builds("{} {}".format, pick(("##", "###", "####")), pick(("A", "B c", "")))
    body = st.lists(st.one_of(block, block, heading), min_size=1, max_size=4).map("\n\n".join)
    frames = pick(
        (
            ('=== "{}"\n\n', "    ", ""),
            ('!!! note "{}"\n\n', "    ", ""),
            ("<details>\n<summary>{}</summary>\n\n", "", "\n\n</details>"),
            ("<details><summary>{}</summary>\n\n", "", "\n\n</details>"),
            ("::: tip {}\n\n", "", "\n\n:::"),
        )
    )
    container = st.builds(
        lambda frame, title, body: (
            frame[0].format(title) + "\n".join(indented(as_lines(body), frame[1])) + frame[2]
        ),
        frames,
        title,
        body,
    )
    parts = st.lists(st.one_of(container, container, block, heading), min_size=2, max_size=7)
    return short(parts.map(lambda parts: "# Root\n\n" + "\n\n".join(parts) + "\n"))
