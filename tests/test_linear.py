r"""Promise 7: time and memory grow linearly with a document's length, on hostile input too.

Every case builds a document of a given size. It is chunked at one size and at four times
that size, and only the ratio of the CPU times is looked at: 4 is linear, 16 quadratic.
The machine's speed does not matter, its noise hardly: the best of several runs counts,
and a case that seems too slow is measured again.
"""

from __future__ import annotations

import base64
import gc
import hashlib
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from chunkast import Chunker
from chunkast.config import EXTENSIONS

Build = Callable[[int], str]

GROWTH: Final = 4
# Linear is GROWTH, quadratic GROWTH squared.
TIME_LIMIT: Final = GROWTH * 2.2
MEMORY_LIMIT: Final = GROWTH * 1.5
# A larger document that takes less than this many seconds shows nothing.
FLOOR: Final = 0.02
ATTEMPTS: Final = 4
SIZE: Final = 20_000
MEMORY_SIZE: Final = 10_000


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
    """Several documents behind one another, an equal share of the size each."""
    return lambda n: "".join(build(n // len(builds)) for build in builds)


def numbered(template: str) -> Build:
    """``template`` again and again, with "{}" replaced by 0, 1, 2, ..."""
    return growing(lambda number: template.replace("{}", str(number)))


def growing(part: Callable[[int], str]) -> Build:
    """``part(0)``, ``part(1)``, ``part(2)``, ... behind one another."""

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


STAIRCASE = "".join(f"{'  ' * depth}- item\n" for depth in range(30))
QUOTED = "> " * 50 + "lazy\n"

CASES: Final[dict[str, Build]] = {
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
    "quote-and-list": filled("> - ", "", "a"),
    "alerts": filled("> [!NOTE]\n> a\n\n"),
    "dashes": filled("- "),
    "dashes-with-text": filled("- ", "", "a"),
    "stars-with-letter": filled("* ", "", "a"),
    "dash-lines": filled("-\n"),
    "numbers-in-one-line": filled("1. "),
    "list-nested": filled(STAIRCASE),
    "list-without-end": growing(lambda number: "  " * (number % 200) + "- a\n"),
    "items-of-one-character": filled("- a\n"),
    "items-apart": filled("- a\n\n"),
    "items-numbered": numbered("{}. a\n"),
    "items-lazy": filled("lazy\n", "- - - - - - - - - - - - - - - - - - - - a\n"),
    "items-with-tasks": filled("- [ ] a\n"),
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
    "footnotes-in-footnotes": filled("[^1]: "),
    "containers": filled("::: a\n"),
    "containers-apart": filled("::: a\n\nb\n\n"),
    "containers-in-items": filled("- ::: a\n"),
    "containers-growing": growing(lambda number: ":" * (number + 3) + " a\n"),
    "colons": filled(":"),
    "admonitions": filled("!!! x\n"),
    "admonitions-with-text": filled("!!! x\n    a\n\n"),
    "admonitions-nested": growing(lambda number: "    " * (number % 60) + "!!! x\n"),
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
    "front-matter-unclosed": filled("a: b\n", "---\n"),
    "front-matter-long": filled("a: b\n", "---\n", "---\n"),
    "front-matter-title-spaces": filled(" ", "---\ntitle: a", "b\n---\nc\n"),
    # White space, and characters that are not quite letters.
    "spaces": filled(" "),
    "spaces-between": filled(" ", "a", "b"),
    "spaces-in-lines": filled(" " * 200 + "\n"),
    "spaces-behind-words": filled("a" + " " * 50),
    "newlines": filled("\n"),
    "newlines-between": filled("\n", "a", "b"),
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
    "heading-long-marked-up": filled("*a* ", "# "),
    "heading-long-over-chunks": shares(filled("a ", "# "), filled("b c.\n\n", "\n\n")),
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
}

# Cases that need another size for their times to be told apart, or to stay short.
SIZES: Final[dict[str, int]] = {}

# Cases that need more than the defaults, or less.
OPTIONS: Final[dict[str, dict[str, Any]]] = {}
