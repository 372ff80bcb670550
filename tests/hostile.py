"""Texts that make a careless chunker slow, as functions of their size.

``tests/test_linear.py`` bounds how the time grows with the size, ``tests/bench/hostile.py``
prints the times themselves for documents of megabytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from chunkast.config import DEFAULT_EXTENSIONS, EXTENSIONS
from chunkast.toolcalls import Tool
from tests.code_samples import SAMPLES

__all__ = (
    "CASES",
    "CODE",
    "EVERY_LANGUAGE",
    "EXTENDED",
    "NOTEBOOKS",
    "VARIANTS",
    "Build",
    "Variant",
    "filled",
    "growing",
    "halves",
)

Build = Callable[[int], str]


def filled(unit: str, head: str = "", tail: str = "") -> Build:
    """``unit`` again and again, between ``head`` and ``tail``."""
    return lambda n: head + unit * ((n - len(head) - len(tail)) // len(unit)) + tail


def halves(left: str, right: str, middle: str = "") -> Build:
    """``left`` again and again, then ``right`` as often."""

    def build(n: int) -> str:
        times = (n - len(middle)) // (len(left) + len(right))
        return left * times + middle + right * times

    return build


def shares(*builds: Build) -> Build:
    """Several documents one after another, an equal share of the size each."""
    return lambda n: "".join(build(n // len(builds)) for build in builds)


def numbered(template: str) -> Build:
    """``template`` again and again, with "{}" replaced by 0, 1, 2, ..."""
    return growing(lambda number: template.replace("{}", str(number)))


def growing(part: Callable[[int], str]) -> Build:
    """``part(0)``, ``part(1)``, ``part(2)``, ... one after another."""

    def build(n: int) -> str:
        parts: list[str] = []
        size = 0
        while size < n:
            parts.append(part(len(parts)))
            size += len(parts[-1])
        return "".join(parts)

    return build


def _digests(n: int) -> Iterator[bytes]:
    for number in range(n // 32 + 1):
        yield hashlib.sha256(str(number).encode()).digest()


def base64_noise(n: int) -> str:
    """What an embedded image looks like: no white space, hardly any punctuation."""
    return base64.b64encode(b"".join(_digests(n))).decode()[:n]


def digits(n: int) -> str:
    """A number without end."""
    numbers = (int.from_bytes(digest[:8], "big") for digest in _digests(2 * n))
    return "".join(map(str, numbers))[:n]


def wide_table(n: int) -> str:
    """A table of ten rows: the columns are what grows."""
    columns = n // 40
    row = "| a " * columns + "|\n"
    return row + "| - " * columns + "|\n" + row * 8


def ragged_table(n: int) -> str:
    """Rows of one cell under a wide header, which a parser may fill up."""
    columns = n // 8
    return "|a" * columns + "|\n" + "|-" * columns + "|\n" + "|b\n" * (n // 6)


def nested_tags(n: int) -> str:
    """A tag block in a tag block in a tag block, all of them closed."""
    names = [f"t{number % 9}" for number in range(n // 11)]
    opened = "".join(f"<{name}>\n" for name in names)
    return opened + "x\n" + "".join(f"</{name}>\n" for name in reversed(names))


def notebook(kind: str, source: Build) -> Build:
    """A notebook of one cell."""

    def build(n: int) -> str:
        cell = {"cell_type": kind, "metadata": {}, "source": source(n), "outputs": []}
        return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})

    return build


def notebook_of_many(n: int) -> str:
    """A notebook of as many cells as it has room for."""
    cell = {"cell_type": "markdown", "metadata": {}, "source": "# a"}
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": [cell] * (n // 64)})


def unclosed(code: str) -> str:
    """Code without what closes its blocks."""
    return "".join(
        f"{line}\n" for line in code.split("\n") if line.strip(" \t)]};") not in ("", "end")
    )


STAIRCASE = "".join(f"{'  ' * depth}- item\n" for depth in range(30))
QUOTED = "> " * 50 + "lazy\n"

# One opener after the other; what would swallow all that follows is left to its own case.
UNCLOSED = (
    "> ```\n\n- $$ a\n\n\\begin{a}\n\n<div>\n\n::: b\n\n!!! c\n\n<tag>\n\n[d]: u 't\n\n"
    "| e |\n|-|\n\n[^f]: g\n\n1. ~~~\n\n> [!NOTE]\n> h\n\n"
)

CASES: Final[dict[str, Build]] = {
    # Lines of slashes and HTML elements around Markdown, nested, open, closed by others.
    "slash-openers": filled("/// a\n\n"),
    "slash-blocks": filled("/// a | b\n\nText.\n\n///\n\n"),
    "slash-blocks-nested": halves("/// a\n", "///\n", "x\n"),
    "slash-lengths": growing(lambda number: "/" * (3 + number % 60) + " a\n"),
    "slash-in-quotes": filled("> /// a\n"),
    "div-openers": filled("<div>\n\n"),
    "div-closers": filled("</div>\n\n"),
    "divs-nested": halves("<div>\n\n", "</div>\n\n", "x\n\n"),
    "divs-crossing": halves("<div>\n\n<p>\n\n", "</div>\n\n</p>\n\n", "x\n\n"),
    "divs-on-one-line": halves("<div>", "</p>"),
    "divs-then-closers": halves("<div>\n\n", "</p>\n\n"),
    "div-quotes": filled("<div a=\"b' c='\n\n"),
    "div-comments": filled("<div><!-- - --\n\n"),
    "labels": filled("<!-- a -->\n\n"),
    "labels-and-headings": filled('<a id="x"></a>\n<!-- b -->\n\n# c\n\n'),
    "anchors-on-one-line": filled('<a id="x"></a> '),
    "definitions-of-terms": filled("a\n\n: b\n\n"),
    # Tables with one row or one cell that is divided.
    "table-one-row": filled("Text of a cell. | ", "| a | b |\n| - | - |\n| ", "\n"),
    "table-one-cell": filled("Text of a cell. ", "| a | b |\n| - | - |\n| ", " |\n"),
    # HTML tables: of one line, of one cell, left open, in each other, and their tags.
    "html-table-rows": filled(
        "<tr><td>a</td><td>b c.</td></tr>", "<table><tr><th>A<th>B</tr>", "</table>"
    ),
    "html-table-one-cell": filled("<p>Text of a cell.<br>", "<table><tr><td>", "</table>"),
    "html-table-one-row": filled("<td>Text. ", "<table><tr>", "</table>"),
    "html-tables": filled("<table><tr><td>a</table> "),
    "html-tables-after-text": filled("a <table><tr><td>b</table> "),
    "html-tables-open": filled("<table>\n\n"),
    "html-tables-nested": halves("<table><tr><td>", "</table>", "x"),
    "html-tables-captioned": filled("Table 1: a\n\n<table></table>\n\n"),
    "html-table-elements-open": filled("<b>", "<table><tr><td>", "</table>"),
    "html-table-closers": filled("</td></b>", "<table><tr><td>", "</table>"),
    "html-table-rowspans": filled('<tr><td rowspan="9999">a', "<table>", "</table>"),
    "html-table-headers": filled("<thead><tr><th>a</thead>", "<table>", "</table>"),
    "html-table-comments": filled("<!-- ", "<table><tr><td>", "</table>"),
    "html-table-quotes": filled("<a b='c\" ", "<table><tr><td>", "</table>"),
    # What converters and models write.
    "bold-headings": filled("**a**\n\n"),
    "bold-headings-open": filled("**a b __c \n\n"),
    "bold-headings-nested": growing(lambda number: "> " * (number % 9) + "**a**\n\n"),
    "leaders": filled("."),
    "leaders-spaced": filled(". "),
    "contents-lines": filled("a ....... 3\n"),
    "contents-blocks": filled("a ....... 3\n\n"),
    "contents-headings": filled("# a . . . . . 3\n"),
    "bullets": filled("• a b.\n"),
    "bullets-in-links": filled("[a\n• b]("),
    "answer": filled("Text.\n\n", "```markdown\n", "```\n"),
    "answer-fences": filled("```a\n", "```markdown\n"),
    # The marks of pages, and what goes on over them.
    "page-marks": filled("<!-- page 3 -->\n\n"),
    "page-sentences": filled("words\n\n<!-- page 3 -->\n\n"),
    "page-rows": filled("| a |\n\n--- end of page=3 ---\n\n", "| a |\n|---|\n"),
    "page-items": filled("- a\n\n<!-- PageBreak -->\n\n"),
    "page-heads": numbered("Head {}\n\nSome text.\n\n<!-- page {} -->\n\n"),
    "page-fences": filled("```\n<!-- page 3 -->\n"),
    "form-feeds": filled("\f"),
    "form-feeds-and-words": filled("word\n\f"),
    "table-backslashes": filled("\\\\|", "| a | b |\n| - | - |\n| "),
    "bold-sentences": filled("**A bold one.**[^a] "),
    "closing-marks": filled("Done.*)_~ "),
    # Runs of what opens an inline construct, and never closes it.
    "backticks": filled("`"),
    "backtick-runs-of-all-lengths": growing(lambda number: "`" * (number + 1) + "a"),
    "brackets": filled("["),
    # Four bytes a character: copying the label of every bracket shows.
    "brackets-nested": halves("[", "]", "\U0001f468"),
    "brackets-closed": filled("[]"),
    "brackets-in-brackets-with-text": halves("[a", "]", "x"),
    "image-openers": filled("!["),
    "images-nested": halves("![", "](u)"),
    "bracket-parenthesis": filled("]("),
    "link-openers": filled("[a]("),
    "link-openers-closed-late": filled("[a](", "", ")"),
    "link-destinations-unclosed": filled("[](" + "a" * 200),
    "link-destinations-angled": filled("[](<a"),
    "link-titles-double": filled('[a](b "c '),
    "link-titles-single": filled("[a](b 'c "),
    "link-titles-parenthesis": filled("[a](b (c "),
    "link-titles-escaped": filled(r"[a](b (\)"),
    "link-title-backslashes": filled("\\", '[a](b "'),
    "links": filled("[a](b) "),
    "link-labels-escaped": filled(r"[a][\]"),
    "wiki-link-openers": filled("[["),
    "wiki-links": filled("[[a|b]]"),
    "embed-openers": filled("![["),
    "angles": filled("<"),
    "tag-openers": filled("<a "),
    "tag-attributes": filled("a ", "x <a "),
    "tag-attribute-quotes": filled("<a b='\" "),
    "tag-spaces": filled(" ", "x <a", "<"),
    "autolink-openers": filled("<a:b"),
    "mail-openers": filled("<a@b."),
    "comment-openers": filled("<!--"),
    "comment-openers-inside": filled("a <!-- "),
    "processing-openers": filled("<?"),
    "processing-openers-inside": filled("a <? "),
    "declaration-openers": filled("a <!X "),
    "cdata-openers": filled("a <![CDATA[ "),
    "dollars": filled("$"),
    "dollar-words": filled("$a "),
    "dollar-pairs": filled("$$a $b "),
    "emphasis": filled("*a_b"),
    "emphasis-closed": halves("*a ", " a*"),
    "tildes": filled("~~a "),
    "bare-urls": filled("https://a.b/c "),
    "bare-url-without-end": filled("https://"),
    "bare-url-punctuation": filled("www.,,,, "),
    "backslashes": filled("\\"),
    "backslashes-escaping": filled("\\*"),
    "entities": filled("&amp;"),
    "entity-openers": filled("&#"),
    "footnote-references": filled("[^1]"),
    "footnotes-inline": filled("^[a "),
    "unclosed-inline": filled("[a](b `c ``d $e $$f **g ~~h ![i [j][k [[l <m n='o <!-- p \"q (r "),
    # Blocks that are opened over and over, or never closed.
    "dollar-lines": filled("$$ a\n"),
    "dollar-lines-apart": filled("$$ a\n\n"),
    "dollar-closer-spaces": filled(" ", "$$ a\n$$", "x\n"),
    "begin-lines": filled("\\begin{a}\n"),
    "begin-lines-apart": filled("\\begin{a}\n\n"),
    "begin-lines-in-items": filled("- x\n" + "  \\begin{a}\n" * 300 + "y\n\\end{a}\n"),
    "end-lines": filled("\\end{a}\n", "\\begin{b}\n"),
    "end-spaces": filled(" ", "\\begin{a}\n\\end{a}", "x\n"),
    "quote-marks": filled(">"),
    "quote-marks-spaced": filled("> "),
    "quote-marks-each-line": filled(">\n"),
    "quotes-lazy": filled("lazy\n", QUOTED),
    "quotes-deep": filled(QUOTED),
    "quotes-deep-lazy": filled(QUOTED + "lazy\n" * 20),
    "quotes-deepening": growing(lambda number: ">" * number + " a\n"),
    "quote-and-list": filled("> - ", "", "a"),
    "alerts": filled("> [!NOTE]\n> a\n\n"),
    "alerts-in-alerts": growing(lambda number: "> " * (number % 60) + "[!NOTE]\n"),
    "dashes": filled("- "),
    "dashes-with-text": filled("- ", "", "a"),
    "stars-with-letter": filled("* ", "", "a"),
    "dash-lines": filled("-\n"),
    "numbers-in-one-line": filled("1. "),
    "list-nested": filled(STAIRCASE),
    "list-without-end": growing(lambda number: "  " * (number % 200) + "- a\n"),
    "list-deepening": growing(lambda number: "  " * number + "- a\n"),
    "items-of-one-character": filled("- a\n"),
    "items-apart": filled("- a\n\n"),
    "items-numbered": numbered("{}. a\n"),
    "items-lazy": filled("lazy\n", "- - - - - - - - - - - - - - - - - - - - a\n"),
    "items-of-all-markers": filled("- a\n+ b\n* c\n1. d\n"),
    "items-with-tasks": filled("- [ ] a\n"),
    "items-with-task-openers": filled("- [ a\n"),
    "items-blank-between": filled("\n", "- a\n", "  b"),
    "table-wide": wide_table,
    "table-ragged": ragged_table,
    "table-rows": filled("|a|b|\n", "|a|b|\n|-|-|\n"),
    "table-headers": filled("|a|b|\n|-|-|\n"),
    "table-headers-apart": filled("|a|\n|-|\n\n"),
    "table-header-only": shares(filled("|a"), filled("|-", "\n", "|")),
    "table-wide-cells": filled("|" + "a b. " * 80 + "|b|\n", "|a|b|\n|-|-|\n"),
    "pipe-lines": filled("|\n"),
    "pipes": filled("|"),
    "pipes-escaped": filled("\\|", "|a|\n|-|\n"),
    "fence-unclosed": filled("a b c\n", "```\n"),
    "fences-unclosed-in-quotes": filled("> ```\n\n"),
    "fences-unclosed-in-items": filled("- ```\n"),
    "fences-alternating": filled("```\n~~~\n"),
    "fences-growing": growing(lambda number: "`" * (number + 3) + "\n"),
    "fences-apart": filled("```\na\n```\n\n"),
    "fence-one-line": filled("a;", "```\n", "\n```\n"),
    "fence-blank-lines": filled("\n", "```\na\n", "b\n```\n"),
    "indented-code": filled("    a\n"),
    "indented-code-apart": filled("    a\n\n"),
    "setext-paragraph": filled("a\n", "", "===\n"),
    "setext-headings": filled("a\n===\n"),
    "setext-dashes": filled("---\n"),
    "rules": filled("***\n"),
    "definitions": numbered("[a{}]: /u\n"),
    "definitions-titled": numbered('[a{}]: /u "t"\n'),
    "definitions-unclosed-double": filled('[a]: u "t\n'),
    "definitions-unclosed-single": filled("[a]: u 't\n"),
    "definitions-unclosed-parenthesis": filled("[a]: u (t\n"),
    "definitions-unclosed-label": filled("[a\n"),
    "definitions-unclosed-titles-apart": filled("[a]: u 't\n\n"),
    "definitions-and-references": shares(
        numbered("[a{}]: /u\n"), numbered("\n[a{}] "), filled("b ")
    ),
    "footnotes": numbered("[^{}]: a\n"),
    "footnotes-apart": numbered("[^{}]: a\n\n    b\n\n"),
    "deflist": filled("a\n: b\n"),
    "deflist-apart": filled("a\n\n: b\n\n"),
    "deflist-markers": filled(": "),
    "deflist-marker-lines": filled(": a\n", "a\n"),
    "deflist-terms-only": filled("a\n", "", ": b\n"),
    "footnotes-in-footnotes": filled("[^1]: "),
    "footnotes-unclosed-label": filled("[^a\n"),
    "containers": filled("::: a\n"),
    "containers-apart": filled("::: a\n\nb\n\n"),
    "containers-in-items": filled("- ::: a\n"),
    "containers-growing": growing(lambda number: ":" * (number + 3) + " a\n"),
    "container-closers": filled(":::\n", "::: a\n"),
    "colons": filled(":"),
    "admonitions": filled("!!! x\n"),
    "admonitions-with-text": filled("!!! x\n    a\n\n"),
    "admonitions-nested": growing(lambda number: "    " * (number % 60) + "!!! x\n"),
    "admonitions-blank-lines": filled("!!! x\n\n\n\n\n"),
    "content-tabs": filled('=== "x"\n    a\n'),
    "content-tabs-nested": growing(lambda number: "    " * (number % 60) + '=== "x"\n'),
    # Obsidian's.
    "callouts": filled("> [!a] b\n> c\n\n"),
    "callouts-deep": filled("> " * 30 + "[!a] b\n"),
    "callout-openers": filled("> [!"),
    "callout-quotes": filled(">", "", "[!a]\n"),
    "callout-spaces": filled("> ", "", "[!a\n"),
    "comment-marks": filled("%%"),
    "comment-mark-lines": filled("%%\n"),
    "comment-mark-lines-unclosed": filled("%%a\n\n"),
    "comment-marks-inside": filled("a %% b. "),
    "block-ids": filled("a ^b\n\n"),
    "block-id-lines": filled("^b\n\n"),
    "block-id-carets": filled(" ^a"),
    "containers-named": filled(":::a\n"),
    "containers-of-many-lengths": growing(lambda number: ":" * (number % 90 + 3) + "a\n:::\n"),
    "containers-after-quotes": filled("> :::a\n> b\n\n"),
    "containers-deep": halves("::::a\n:::b\n", ":::\n::::\n"),
    # MDX's: nothing of it is ever closed, or all of it at the very end.
    "mdx-statements": filled("import a\n\n"),
    "mdx-statements-unclosed": filled("export {\n\n"),
    "mdx-statements-closed-late": halves("export {\n\n", "}\n\n"),
    "mdx-statement-quotes": filled("'\\\"", "export "),
    "mdx-statement-comments": filled("/* ", "export "),
    "mdx-elements": filled("<A>\na\n</A>\n"),
    "mdx-elements-unclosed": filled("<A>\n"),
    "mdx-elements-nested": halves("<A>\n", "</A>\n"),
    "mdx-elements-crossing": halves("<A>\n<B>\n", "</A>\n</B>\n"),
    "mdx-elements-indented": growing(lambda number: " " * (number % 40) + "<A>\n"),
    "mdx-attributes-unclosed": filled("<A b={\n"),
    "mdx-attributes-closed-late": halves("<A b={\n", "}\n"),
    "mdx-attribute-quotes": filled("<A b=\"\n<A b='\n"),
    "mdx-attribute-names": filled("b ", "<A "),
    "mdx-expressions-unclosed": filled("{a\n\n"),
    "mdx-expressions-closed-late": halves("{\n", "}\n"),
    "mdx-expressions-in-a-line": filled("{a} "),
    "mdx-templates-unclosed": filled("{`\n"),
    "mdx-comments-unclosed": filled("{/*\n"),
    "mdx-html-comments": filled("<!-- a\n"),
    "mdx-braces-inside": filled("a {b "),
    "mdx-tags-inside": filled("a <B c={ "),
    "mdx-margins": filled(" ", "<A>\n", "x\n</A>\n"),
    "mdx-html-closed-late": halves("<div a={\n", "}>\n"),
    "mdx-closers": filled("</A>\n"),
    "mdx-braces": filled("{"),
    "mdx-brace-lines": filled("{\n"),
    "mdx-braces-after-text": filled("{", "x "),
    "mdx-tags-after-text": filled("<a {", "x "),
    "quarto-divs-without-braces": filled(":::a\n"),
    "quarto-divs-in-items": filled("- ::: {.a}\n"),
    "quarto-divs-in-quotes": filled("> ::: {.a}\n> b\n\n"),
    "quarto-divs-deep": halves("::: {.a}\nb\n\n", ":::\n"),
    "quarto-shortcode-openers": filled("{{<"),
    "quarto-braces": filled("{", "x "),
    "quarto-divs": filled("::: {.a}\n"),
    "quarto-divs-closed": halves("::: {.a}\n", ":::\n"),
    "quarto-divs-apart": filled("::: {.a}\n\nb\n\n:::\n\n"),
    "quarto-shortcodes": filled("{{< a >}} "),
    "quarto-shortcodes-unclosed": filled("{{< a "),
    "quarto-options": filled("#| a: b\n", "```{r}\n", "```\n"),
    "html-div-openers": filled("<div>\n"),
    "html-div-openers-apart": filled("<div>\n\n"),
    "html-script-openers": filled("<script>\n\n"),
    "html-line-attributes": filled("a ", "<a "),
    "html-line-spaces": filled(" ", "<a>", "x"),
    "html-comments": filled("<!-- a -->\n"),
    "html-comments-in-prose": filled("a <!-- b --> c. "),
    "html-comment-unclosed": filled("a\n\n", "<!--\n"),
    "tags-unclosed": filled("<tag>\n"),
    "tags-unclosed-with-text": filled("<tag>\na\n\n"),
    "tags-nested": nested_tags,
    "tags-crossing": filled("<one>\n<two>\n</one>\n</two>\n"),
    "tags-crossing-deep": halves("<one>\n<two>\n", "</one>\n</two>\n"),
    "tags-of-many-names": numbered("<tag{}>\n"),
    "tags-closed-only": filled("</tag>\n"),
    "tags-unclosed-over-lines": filled("<tag a='b\n"),
    "tags-unclosed-over-lines-apart": filled("<tag a='b\n\n"),
    "front-matter-unclosed": filled("a: b\n", "---\n"),
    "front-matter-long": filled("a: b\n", "---\n", "---\n"),
    "front-matter-toml-unclosed": filled("a = 1\n", "+++\n"),
    "front-matter-title-spaces": filled(" ", "---\ntitle: a", "b\n---\nc\n"),
    "unclosed-blocks": filled(UNCLOSED),
    # White space, and characters that are not quite letters.
    "spaces": filled(" "),
    "spaces-between": filled(" ", "a", "b"),
    "spaces-in-lines": filled(" " * 200 + "\n"),
    "spaces-after-words": filled("a" + " " * 50),
    "newlines": filled("\n"),
    "newlines-between": filled("\n", "a", "b"),
    # Paragraphs to the parser, white space to whoever trims.
    "no-break-paragraphs": filled("\n\n\xa0", "# T\n\na", "\n\nb"),
    "line-tabulation-paragraphs": filled("\n\n\x0b", "# T\n\na", "\n\nb"),
    "byte-order-mark-paragraphs": filled("\n\n\ufeff", "# T\n\na", "\n\nb"),
    "spaces-before-a-question": filled(" ", "word " * 400, "a? b"),
    "line-ends-after-unknown": filled("\n", "Done \ue000."),
    "crlf": filled("\r\n"),
    "carriage-returns": filled("\r"),
    "tabs": filled("\t"),
    "tabs-with-text": filled("\ta\n"),
    "no-break-spaces": filled("\xa0"),
    "nul": filled("\0"),
    "surrogates": filled("\ud800"),
    "surrogates-in-prose": filled("A \ud800 stands here.\n\n"),
    "letters": filled("a"),
    "base64": base64_noise,
    "images": filled(f"![a](data:image/png;base64,{base64_noise(1_600)}) word "),
    "digits": digits,
    "cjk": filled("\u6f22\u5b57"),
    "cjk-sentences": filled("\u3053\u308c\u306f\u6587\u3067\u3059\u3002"),
    "cjk-one-sentence": filled("\u3053\u308c\u306f\u3001"),
    "emoji-joined": filled("\U0001f468\u200d"),
    "emoji-families": filled("\U0001f468\u200d\U0001f469\u200d\U0001f467"),
    "combining-marks": filled("\u0301", "a"),
    "combining-joiners": filled("\u0301\u200d\U0001f468"),
    "combining-words": filled("a\u0301\u0323 "),
    "regional-indicators": filled("\U0001f1e9"),
    "hangul-jamo": filled("\u1112\u1161\u11ab"),
    "hangul-leading": filled("\u1112"),
    "indic-conjuncts": filled("\u0915\u094d"),
    "prepended": filled("\u0600"),
    "punctuation": filled("!"),
    "slash-paragraphs": filled("/\n\n"),
    # Headings and prose.
    "heading-long": filled("a ", "# "),
    # Four bytes a character: hashing the title for every chunk shows.
    "heading-long-wide": filled("\U0001f468 ", "# "),
    "heading-long-marked-up": filled("*a* ", "# "),
    "heading-long-over-chunks": shares(
        filled("\U0001f468 ", "# "), filled("b " * 60 + "\n\n", "\n\n")
    ),
    "heading-long-over-headings": shares(filled("a ", "# "), numbered("\n## b {}\n\nc\n")),
    "heading-long-over-paths": shares(
        filled("a ", "# "), numbered("\n## b {}\n\n" + ("### c\n\n" + "d " * 33 + "\n\n") * 2)
    ),
    "heading-path-long": filled("# " + "a " * 700 + "\n## " + "b " * 700 + "\n\nc\n\n"),
    "headings-of-one-character": filled("# a\n"),
    "headings-with-text": filled("# a\n\nb\n\n"),
    "headings-empty": filled("#\n"),
    "headings-of-all-levels": growing(
        lambda number: "#" * (number % 6 + 1) + f" {number}\n\na\n\n"
    ),
    "headings-of-brackets": filled("# " + "[" * 1_950 + "\n\n"),
    "headings-of-stars": filled("# " + "*a_" * 650 + "\n\n"),
    "headings-of-angles": filled("# " + "<a " * 650 + "\n\n"),
    "headings-of-backticks": filled("# " + "`a``" * 490 + "\n\n"),
    "headings-of-links": filled("# " + "[a](" * 490 + "\n\n"),
    "words": filled("word "),
    "one-line-sentences": filled("A. "),
    "prose-one-paragraph": filled("The quick fox sleeps here. "),
    "prose-paragraphs": filled("The quick fox sleeps here.\n\n"),
    "prose-lines": filled("The quick fox sleeps here.\n"),
    "quotes": filled('"A b." '),
    "quotes-unclosed": filled('"A b. '),
    "quotes-single": filled("'a "),
    "parentheses": filled("(A b. "),
    "abbreviations": filled("e.g. "),
    "full-stops": filled("."),
    "lead-ins": filled("a:\n- b\n\n"),
    "lead-ins-only": filled("a:\n\n"),
    # Calls of a tool, which are text where no tool is configured.
    "calls": filled("<calc><a>1</a></calc>\n"),
    "calls-in-prose": filled("So <calc>a</calc> it is. "),
    "calls-indented": filled("- <calc>\n  <a>1</a>\n  </calc>\n"),
    "call-openers": filled("<calc>"),
    "call-of-many-lines": filled("    a\n\n", "<calc>", "</calc>"),
}

# White space that is none to everybody: the first name is the Unicode standard's.
_BLANKS: Final = {
    "no-break-space": "\xa0",
    "line-tabulation": "\x0b",
    "form-feed": "\x0c",
    "file-separator": "\x1c",
    "next-line": "\x85",
    "line-separator": "\u2028",
    "ideographic-space": "\u3000",
    "zero-width-space": "\u200b",
}
CASES.update(
    {
        case: build
        for name, blank in _BLANKS.items()
        for case, build in (
            (f"blank-paragraphs-of-{name}", filled(f"\n\n{blank}", "# T\n\nx", "\n\nend")),
            (f"blanks-of-{name}", filled(blank, "word " * 1_000, "a? b")),
        )
    }
)

# Code of every language: name -> (language, build).
CODE: Final[dict[str, tuple[str, Build]]] = {
    "brackets": ("javascript", filled("(")),
    "braces": ("rust", filled("{\n")),
    "operators": ("python", filled("& *a\n")),
    "recovery": ("java", filled("struct=>\n", "lambda <T> of ")),
    "comments": ("c", filled("/*\n")),
    "strings": ("typescript", filled("`${")),
    "heredocs": ("ruby", filled("<<EOFelse[ = in")),
    "heredoc-lines": ("shell", filled("<<A <<B\n")),
    "sequences": ("yaml", filled("- ")),
    "indentation": (
        "yaml",
        lambda n: "".join(f"{' ' * d}a:\n" for d in range(int((2 * n) ** 0.5))),
    ),
    "blocks": (
        "python",
        lambda n: "".join(f"{' ' * d}if a:\n" for d in range(int((2 * n) ** 0.5))),
    ),
    "functions": ("python", filled("def f(a):\n    return a\n\n\n")),
    "one-class": ("python", filled("    def f(self):\n        return 1\n\n", "class A:\n")),
    "one-object": ("json", filled('  "a": [1, 2],\n', "{\n", '  "b": 1\n}')),
    "one-line": ("javascript", filled("a(1);")),
    "blank-lines": ("python", filled("\n")),
    "nested-statements": ("typescript", filled("new \n *\n")),
    "small-windows": ("toml", filled(']] 1 \n """')),
    "assignments": ("c", filled("a = > ")),
}
# What only a full run of the benchmark reads in every language.
EVERY_LANGUAGE: Final[dict[str, tuple[str, Build]]] = {
    f"{language}-{name}": (language, build)
    for language, (sample, _) in SAMPLES.items()
    for name, build in (
        ("whole", filled(sample)),
        ("unclosed", filled(unclosed(sample))),
        ("blank-lines", filled("\n")),
        ("openers", filled("( { [\n")),
        ("quotes", filled('"a \'b `c """\n')),
        ("punctuation", filled("= < > ] : ;\n")),
    )
}
NOTEBOOKS: Final[dict[str, Build]] = {
    "notebook-newlines": notebook("markdown", filled("\n")),
    "notebook-brackets": notebook("markdown", filled("[")),
    "notebook-code": notebook("code", filled("a = [\n")),
    "notebook-cells": notebook_of_many,
    "notebook-raw": notebook("raw", filled("a\n\n")),
}


def words(text: str) -> int:
    """A user's own counter whose time, unlike ``len``'s, depends on the text's length."""
    return len(text.split())


@dataclass(frozen=True, slots=True)
class Variant:
    """Another configuration, and the cases that matter in it."""

    options: dict[str, Any]
    cases: tuple[str, ...]
    sizes: dict[str, int] = field(default_factory=dict)


SAMPLE: Final = (
    "one-line-sentences",
    "prose-paragraphs",
    "items-of-one-character",
    "table-rows",
    "fence-unclosed",
    "letters",
    "headings-of-all-levels",
)
VARIANTS: Final[dict[str, Variant]] = {
    "deflists": Variant(
        {"extensions": tuple(EXTENSIONS)},
        tuple(name for name in CASES if name.startswith("deflist")),
    ),
    **{
        name: Variant(
            {"extensions": (*DEFAULT_EXTENSIONS, name)},
            tuple(case for case in CASES if case.startswith(name)),
        )
        for name in ("mdx", "quarto")
    },
    "obsidian": Variant(
        {"extensions": (*DEFAULT_EXTENSIONS, "obsidian", "wikilinks")},
        tuple(name for name in CASES if name.startswith(("callout", "comment-mark", "block-id"))),
    ),
    "plain": Variant({"extensions": ()}, ("definitions", "links", "dollars", "pipe-lines")),
    "len": Variant({"encoding": len}, SAMPLE),
    "words": Variant(
        {"encoding": words},
        (*SAMPLE, "prose-one-paragraph", "words"),
        dict.fromkeys(("one-line-sentences", "prose-one-paragraph", "words"), 80_000),
    ),
    "o200k": Variant(
        {"encoding": "o200k_base"}, ("slash-paragraphs", "cjk", "combining-words", "letters")
    ),
    "untrimmed": Variant(
        {"trim": False},
        (
            *SAMPLE,
            *("spaces", "newlines", "newlines-between", "crlf", "items-apart"),
            *("fence-blank-lines", "no-break-paragraphs"),
        ),
    ),
    "fill": Variant({"packing": "fill"}, SAMPLE),
    "overlapping": Variant({"overlap": 0.9}, SAMPLE),
    "small": Variant({"max_tokens": 8, "overlap": 0}, SAMPLE),
    "keep": Variant({"oversize": "keep"}, SAMPLE),
    "opaque": Variant(
        {"opaque": "keep", "max_tokens": 200, "overlap": 0}, (*SAMPLE, "base64", "images")
    ),
    "tools": Variant(
        {"tools": (Tool("calc"),)}, tuple(name for name in CASES if name.startswith("call"))
    ),
    "title": Variant({"context": "title"}, ("front-matter-long", "heading-long-over-paths")),
}
EXTENDED: Final = VARIANTS["deflists"].cases
