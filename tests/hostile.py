"""Texts that make a careless chunker slow, as functions of their size: one for each rule.

``tests/test_linear.py`` bounds how the time grows with the size.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from chunkast.config import DEFAULT_EXTENSIONS
from chunkast.toolcalls import Tool

__all__ = (
    "CASES",
    "CODE",
    "VARIANTS",
    "Build",
    "Variant",
    "filled",
    "growing",
    "halves",
    "numbered",
    "options_of",
)

Build = Callable[[int], str]


def filled(unit: str, head: str = "", tail: str = "") -> Build:
    """Repeat ``unit`` between ``head`` and ``tail``."""
    return lambda n: head + unit * ((n - len(head) - len(tail)) // len(unit)) + tail


def halves(left: str, right: str, middle: str = "") -> Build:
    """Repeat ``left``, then ``right`` as often."""

    def build(n: int) -> str:
        times = (n - len(middle)) // (len(left) + len(right))
        return left * times + middle + right * times

    return build


def shares(*builds: Build) -> Build:
    """Join documents of equal size."""
    return lambda n: "".join(build(n // len(builds)) for build in builds)


def growing(part: Callable[[int], str]) -> Build:
    """Join ``part(0)``, ``part(1)``, ``part(2)``, ..."""

    def build(n: int) -> str:
        parts: list[str] = []
        size = 0
        while size < n:
            parts.append(part(len(parts)))
            size += len(parts[-1])
        return "".join(parts)

    return build


def numbered(template: str) -> Build:
    """Repeat ``template`` with "{}" replaced by 0, 1, 2, ..."""
    return growing(lambda number: template.replace("{}", str(number)))


def base64_noise(n: int) -> str:
    """Return text like that of an embedded image: no white space, hardly any punctuation."""
    digests = (hashlib.sha256(str(number).encode()).digest() for number in range(n // 32 + 1))
    return base64.b64encode(b"".join(digests)).decode()[:n]


def wide_table(n: int) -> str:
    """Return a table of ten rows whose number of columns grows."""
    row = "| a " * (n // 40) + "|\n"
    return row + "| - " * (n // 40) + "|\n" + row * 8


def nested_tags(n: int) -> str:
    """Return a tag block in a tag block in a tag block, all of them closed."""
    names = [f"t{number % 9}" for number in range(n // 11)]
    opened = "".join(f"<{name}>\n" for name in names)
    return opened + "x\n" + "".join(f"</{name}>\n" for name in reversed(names))


QUOTED = "> " * 50 + "lazy\n"
# One opener after the other; what would swallow all that follows has a case of its own.
UNCLOSED = (
    "> ```\n\n- $$ a\n\n\\begin{a}\n\n<div>\n\n::: b\n\n!!! c\n\n<tag>\n\n[d]: u 't\n\n"
    "| e |\n|-|\n\n[^f]: g\n\n1. ~~~\n\n> [!NOTE]\n> h\n\n"
)

CASES: Final[dict[str, Build]] = {
    # CommonMark's block rules.
    "fences-growing": growing(lambda number: "`" * (number + 3) + "\n"),
    "fence-lines": filled("a = 1\n", "```\n", "```\n"),
    "fence-staircase": growing(lambda number: " " * (number - 1) + "a:\n" if number else "```\n"),
    "fence-brackets": filled(")", "```\n", "x\n```\n"),
    "fence-toml": filled("a = [\n", "```toml\n", "```\n"),
    "fence-csv": filled('"\n', "```csv\na,b\n", "```\n"),
    "fence-session": filled("# a\n", "```console\n", "```\n"),
    "fence-output": filled("b\n", "```console\n$ a\n", "```\n"),
    "fence-tree": growing(lambda number: "│" * number + "├── a\n" if number else "```\na\n"),
    "fence-diff": filled("--- a\n+++ a\n@@ a\n", "```diff\n", "```\n"),
    "indented-code": filled("    a\n\n"),
    "quotes-deep-lazy": filled(QUOTED + "lazy\n" * 20),
    "quotes-lazy-html": halves("> <div>\n:::\n", "- x\n# h\n\n"),
    "quotes-lazy-headings": halves("> # a\nb\n", "> c\n"),
    "list-deepening": growing(lambda number: "  " * number + "- a\n"),
    "items": filled("- a\n"),
    "dashes": filled("- "),
    "definitions-unclosed": filled("[a]: u 't\n"),
    "definitions-and-references": shares(numbered("[a{}]: /u\n"), numbered("\n[a{}] ")),
    "html-openers": filled("<div>\n"),
    "html-values": filled("\xa0d", "<a b=c"),
    "headings-empty": filled("#\n"),
    "headings-of-all-levels": growing(
        lambda number: "#" * (number % 6 + 1) + f" {number}\n\na\n\n"
    ),
    # Hashing or counting the path again for every chunk shows here.
    "heading-long-over-paths": shares(
        filled("a ", "# "), numbered("\n## b {}\n\n" + ("### c\n\n" + "d " * 33 + "\n\n") * 2)
    ),
    "setext-paragraph": filled("a\n", "", "===\n"),
    "unclosed-blocks": filled(UNCLOSED),
    # CommonMark's inline rules: what opens a construct and never closes it.
    "backtick-runs": growing(lambda number: "`" * (number + 1) + "a"),
    # Four bytes a character: copying the label of every bracket shows.
    "brackets-nested": halves("[", "]", "\U0001f468"),
    "link-openers": filled("[a]("),
    "link-titles-escaped": filled(r"[a](b (\)"),
    "tag-attributes": filled("a ", "x <a "),
    "comment-openers": filled("a <!-- "),
    "emphasis-unclosed": filled("*a **b "),
    "emphasis-closed": halves("*a ", " a*"),
    "unclosed-inline": filled("[a](b `c ``d $e $$f **g ~~h ![i [j][k [[l <m n='o <!-- p \"q (r "),
    # Extensions, by name.
    "front-matter-unclosed": filled("a: b\n", "---\n"),
    "table-wide": wide_table,
    # Rows of one cell under a wide header, which a parser may fill up.
    "table-ragged": lambda n: "|a" * (n // 8) + "|\n" + "|-" * (n // 8) + "|\n" + "|b\n" * (n // 6),
    "table-rows": filled("|a|b|\n", "|a|b|\n|-|-|\n"),
    "table-one-cell": filled("Text of a cell. ", "| a | b |\n| - | - |\n| ", " |\n"),
    "footnotes-apart": numbered("[^{}]: a\n\n    b\n\n"),
    "containers-growing": growing(lambda number: ":" * (number + 3) + " a\n"),
    "container-of-sections": filled("## a\n\nb c.\n\n", "::: a\n\n", ":::\n"),
    "tag-of-sections": filled("## a\n\nb c.\n\n", "<a1>\n\n", "</a1>\n"),
    "wrappers-nested": halves("<a1>\n## b\n\nc\n\n", "</a1>\n\n"),
    "wrappers-after-one-another": filled("::: a\n## b\n\nc\n:::\n\n<a1>\n## d\n\n</a1>\n\n"),
    "containers-unclosed": numbered("::: zone {}\n\n"),
    "containers-named": halves("::: a\n", "::: a-end\n\n", "::: b-end\n\n"),
    "shortcodes-unclosed": filled("- a\n\n  {{< b >}}\n", tail="{{< /b >}}\n"),
    "shortcodes-closed-in-vain": halves("{{< a >}}\n", "b {{< /a >}}\n", "{{< c >}}\n"),
    "shortcodes-around-code": halves("{% code %}\n", "{% endcode %}\n", "```\nb\n```\n"),
    "containers-in-rows": halves(":::a:::\n  ", ":::a-end:::\n", "b\n"),
    "admonitions-nested": growing(lambda number: "    " * (number % 60) + "!!! x\n"),
    "slash-blocks-nested": halves("/// a\n", "///\n", "x\n"),
    "divs-crossing": halves("<div>\n\n<p>\n\n", "</div>\n\n</p>\n\n", "x\n\n"),
    "html-group-rows": filled('<tr><th colspan="2">a</th></tr>\n', "<table>\n", "</table>\n"),
    "html-tables-nested": halves("<table><tr><td>", "</table>", "x"),
    "html-table-rows": filled(
        "<tr><td>a</td><td>b c.</td></tr>", "<table><tr><th>A<th>B</tr>", "</table>"
    ),
    "html-table-spans": lambda n: (
        "<table><tr><th>A</tr>" + "<tr><td rowspan=9 colspan=7>a<td>b</tr>" * (n // 35) + "</table>"
    ),
    "turns": filled("Ann: a b.\n", "Ann: a\n\n"),
    "turns-apart": filled("Ann: a b c d e f g. H i j k l m n o p q r s.\n\n"),
    "turns-timed": filled("[00:00:01] Ann: a b c. D e f\n"),
    "turns-nearly": filled("Ann Ann Ann Ann Ann (00:0\n"),
    "lines-unended": filled("a b c\n\n"),
    "lines-spoken": filled("Ann Bo:\n\nA b c. D e f.\n\n"),
    "lead-in-long": halves("A sentence. ", "- item\n", "Do:\n\n"),
    "lines-of-capitals": filled("A B\n\n"),
    "lines-with-colons": filled("a b:\n\n"),
    "items-with-text": numbered("{}. a\n\nb c d e.\n\n"),
    "items-with-images": numbered("{}. a\n\n![b](c)\n\n"),
    "references-in-lines": filled("[12] A. B c. D e f.\n"),
    "terms": filled("<dt>a</dt>\n<dd>b</dd>\n", "<dl>\n", "</dl>\n"),
    "terms-unclosed": filled("<dt>a ", "<dl>\n"),
    "bold-titles": filled("**a**\n\nb c d.\n\n"),
    "colon-before-bold-lines": filled("**a**\n\n", "A b:\n\n", "c\n"),
    "labels-nested": halves('<tab label="a">\n\n', "a b.\n\n"),
    "pages": filled("---\na: b\n---\n\nc.\n\n"),
    "pages-open": filled("---\na: b\n\n"),
    "page-long": filled("a: b\n", "c\n\n---\n", "---\n"),
    "pages-in-tags": halves("<a1>\n\n---\na: b\n---\n\n", "</a1>\n\n"),
    "tabs": filled("# [a](#tab/a)\n\nb.\n\n"),
    "tabs-of-sections": filled("### a\n\nb.\n\n# [a](#tab/a)\n\n", "## a\n\n"),
    "tab-label-open": filled("[", "# ", "](#tab/a)\n\n# [a](#tab/a)\n"),
    "conflicts": halves("<<<<<<< a\n=======\n", ">>>>>>> a\n", "x\n"),
    "conflicts-open": filled("<<<<<<< a\n=======\n\n"),
    "conflicts-in-quotes": growing(lambda number: "> " * (number % 60) + "<<<<<<< a\n=======\n"),
    "markdown-fences": filled("```md\n```a\n```\n"),
    "highlights-open": filled("{% highlight a %}\n\n{{< code >}}\n\n"),
    "highlights-in-quotes": growing(lambda number: "> " * (number % 60) + "{% highlight a %}\n"),
    "text-tables-open": filled("---  ----\na    b\n\n+---+\n| c |\n\n-----\nd\n--- ---\n\n"),
    "text-table-rows": filled("| a | b |\n+---+---+\n", "+---+---+\n| a | b |\n+===+===+\n"),
    "text-table-lines": filled("a     b\n\n", "---  ----\n"),
    "captions": filled("Table 1: a\n\n<table></table>\n\n"),
    "bold-headings": filled("**a**\n\n"),
    "bullets-in-links": filled("[a\n• b]("),
    "page-marks": numbered("The fox sleeps.\n\n<!-- page {} -->\n\n"),
    "page-mark-last": filled("The fox sleeps.\n\n", "", "<!-- page 2 -->\n\nThe end.\n"),
    "heading-id-unclosed": filled("a", "# x {#", "\n\ny\n"),
    "page-heads": numbered("Head {}\n\nSome text.\n\n<!-- page {} -->\n\n"),
    "alerts-in-alerts": growing(lambda number: "> " * (number % 60) + "[!NOTE]\n"),
    "dollars": filled("$a "),
    "brackets-escaped": filled("\\[ a \\( b "),
    "bracket-lines": filled("\\[\n"),
    "begin-lines": filled("\\begin{a}\n"),
    "tags-nested": nested_tags,
    "tags-open": filled("<ctx>\n"),
    "tags-unclosed": filled("<tag a='b\n\n"),
    "deflists": filled("a\n\n: b\n\n"),
    "mdx-statements": filled("export {\n\n"),
    "mdx-attributes": halves("<A b={\n", "}\n"),
    "mdx-elements": halves("<A>\n  x\n", "  </A>\n"),
    "mdx-items": filled("- <A>\n      x\n  </A>\n"),
    "quarto-divs": filled("::: {.a}\n\nb\n\n:::\n\n"),
    "calls": filled("<calc><a>1</a></calc>\n"),
    "calls-results": filled("<calc/>\n<result>\n# a\n</result>\n"),
    "calls-results-unclosed": filled("<calc/><result>"),
    "calls-results-many": filled("<result>1</result>", "<calc/>"),
    "calls-results-in-a-line": filled("<calc/><result>1</result>"),
    # White space and characters that are not quite letters.
    "spaces": filled(" "),
    "newlines-between": filled("\n", "a", "b"),
    # A paragraph to the parser, white space to the trimming.
    "no-break-paragraphs": filled("\n\n\xa0", "# T\n\na", "\n\nb"),
    "letters": filled("a"),
    "base64": base64_noise,
    "cjk-sentences": filled("\u6f22\u5b57\u3002"),
    "cjk-one-sentence": filled("\u3053\u308c\u306f\u3001"),
    "emoji-joined": filled("\U0001f468\u200d"),
    "surrogates": filled("A \ud800 stands here.\n\n"),
    # Prose.
    "words": filled("word "),
    "sentences": filled("The fox sleeps. "),
    "paragraphs": filled("The quick fox sleeps here.\n\n"),
    "quotes-unclosed": filled('"A b. '),
    "lead-ins": filled("a:\n- b\n\n"),
}
# Extensions that are not on by default, by the beginning of a case's name.
_NAMED: Final = ("deflists", "mdx", "quarto")


def options_of(case: str) -> dict[str, Any]:
    """Return the options of ``Chunker`` that a case needs."""
    if case.startswith("calls"):
        return {"tools": (Tool("calc"),)}
    named = [name for name in _NAMED if case.startswith(name)]
    return {"extensions": (*DEFAULT_EXTENSIONS, *named)} if named else {}


# Code: name -> (language, build).
CODE: Final[dict[str, tuple[str, Build]]] = {
    "brackets": ("javascript", filled("(")),
    "recovery": ("java", filled("struct=>\n", "lambda <T> of ")),
    "heredocs": ("ruby", filled("<<EOFelse[ = in")),
    "indentation": (
        "yaml",
        lambda n: "".join(f"{' ' * d}a:\n" for d in range(int((2 * n) ** 0.5))),
    ),
    "one-class": ("python", filled("    def f(self):\n        return 1\n\n", "class A:\n")),
    "blank-lines": ("python", filled("\n")),
    "small-windows": ("toml", filled(']] 1 \n """')),
}


def words(text: str) -> int:
    """Count words: unlike ``len`` a counter whose time depends on the text's length."""
    return len(text.split())


class Variant(NamedTuple):
    """Another configuration, and the cases that matter in it."""

    options: dict[str, Any]
    cases: tuple[str, ...]


_SAMPLE: Final = ("sentences", "items", "table-rows", "letters")
VARIANTS: Final[dict[str, Variant]] = {
    "plain": Variant({"extensions": ()}, ("definitions-and-references", "link-openers")),
    "len": Variant({"encoding": len}, _SAMPLE),
    "words": Variant({"encoding": words}, ("sentences", "words")),
    "untrimmed": Variant({"trim": False}, ("spaces", "newlines-between", "no-break-paragraphs")),
    "fill": Variant({"packing": "fill"}, (*_SAMPLE, "page-marks", "page-mark-last")),
    "overlapping": Variant({"overlap": 0.9}, _SAMPLE),
    "small": Variant({"max_tokens": 8, "overlap": 0}, _SAMPLE),
    "keep": Variant({"oversize": "keep"}, ("items", "letters")),
    "opaque": Variant({"opaque": "keep", "max_tokens": 200, "overlap": 0}, ("base64",)),
    "title": Variant({"context": "title"}, ("heading-long-over-paths",)),
}
