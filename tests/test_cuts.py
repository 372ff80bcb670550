"""Cuts that a reader would not make: what belongs together is parted only where it must be."""

from __future__ import annotations

from typing import Any

import pytest

from chunkast import ChunkConfig, Chunker, count_tokens
from tests.checks import check_promises

PROSE = "The harbour opens at dawn and closes late. " * 4
TABLE = "| Light | Range |\n| --- | --- |\n| Gull Rock | 11 |\n| Far Skerry | 14 |\n"


def texts(text: str, budget: int, **options: Any) -> list[str]:
    return Chunker(max_tokens=budget, overlap=0, context="none", **options).split_text(text)


def parted(text: str, one: str, two: str, **options: Any) -> list[int]:
    """The budgets at which a chunk ends between ``one`` and ``two`` though both would fit in one."""
    assert text.count(one) == text.count(two) == 1, "each has to stand in the text once"
    first, last = text.index(one), text.index(two) + len(two)
    least = count_tokens(text[first:last])
    found = []
    for budget in range(least, least + 40):
        pieces = texts(text, budget, **options)
        if not any(one in piece and two in piece for piece in pieces):
            found.append(budget)
    return found


@pytest.mark.parametrize("packing", ["sections", "fill"])
@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("<!-- md:option theme -->\n", "- One item.\n"),
        ("<!-- A comment that labels. -->\n\n", "> A quote of one line.\n"),
        ('<a id="lights"></a>\n\n', TABLE),
        ("`theme`\n", ":   A definition of one line.\n"),
        ("The list of lights:\n\n", "<example>\n\nA tag block.\n\n</example>\n"),
        ("The list of lights:\n\n", "::: note\nA container.\n:::\n"),
        ("The list of lights:\n\n", "!!! note\n\n    A container.\n"),
        ("The list of lights:\n\n", "> A quote of one line.\n"),
        ("The list of lights:\n\n", "![A chart](chart.png)\n"),
        ("The list of lights:\n\n", "<table><tr><td>1</td></tr></table>\n"),
        ("The list of lights:\n\n", "<details>\n<summary>All</summary>\n\nText.\n\n</details>\n"),
        ("**The list of lights:**\n\n", TABLE),
    ],
)
def test_what_belongs_together_stays_together(one: str, two: str, packing: str) -> None:
    text = f"{PROSE}\n\n{one}{two}\n{PROSE}\n"
    assert parted(text, one.strip(), two.strip(), packing=packing) == []


@pytest.mark.parametrize("packing", ["sections", "fill"])
def test_a_term_stays_with_its_definition(packing: str) -> None:
    text = f"{PROSE}\n\nFirst\n: One.\n\nSecond term\n\n: A definition of one line.\n\n{PROSE}"
    two = ": A definition of one line."
    assert parted(text, "Second term", two, packing=packing, extensions=("deflists",)) == []


@pytest.mark.parametrize("label", ["<!-- toc -->\n", '<a id="a"></a>\n\n', "<div>\n\n"])
def test_a_heading_after_a_label_begins_its_section_there(label: str) -> None:
    text = f"# One\n\n{PROSE}\n\n{label}## Two\n\n{PROSE}\n"
    one, two = Chunker(max_tokens=60, overlap=0).chunk(text)
    assert two.text.startswith(label.strip())
    assert (one.headings, two.headings) == (("One",), ("One", "Two"))
    assert "Two" not in two.embed_text.split("<")[0], "the heading is shown twice"
    (chunk,) = Chunker(extensions=()).chunk(text)
    assert [h.start for h in Chunker(extensions=()).analyze(text).headings] == [
        0,
        text.index("## Two"),
    ]
    assert chunk.headings == ("One",)


@pytest.mark.parametrize(
    "closer",
    ["<!-- tocstop -->", "<!-- LIST:END -->", "<!-- /x -->", "<!-- end--><!-- x -->", "</div>"],
)
def test_what_only_closes_belongs_to_what_stands_before_it(closer: str) -> None:
    text = f"# One\n\n{PROSE}\n\n{closer}\n\n## Two\n\n{PROSE}\n"
    one, two = texts(text, 60)
    assert one.endswith(closer)
    assert two.startswith("## Two")


def test_a_chunk_names_labels_and_closers_as_html() -> None:
    (chunk,) = Chunker().chunk("<details>\n\nText.\n\n</details>\n\n<!-- a -->\n\nb\n")
    assert chunk.kinds == ("container", "html", "paragraph")


@pytest.mark.parametrize(
    ("inner", "link"),
    [
        ("`a b c`", "[Read `a b c` first, and then all that stands below it](https://a.example)"),
        ("`a b c`", "[Read `a b c` first, and then all that stands below it][a label of words]"),
        ("![of a b c](a.png)", "[See ![of a b c](a.png), then all below it](https://a.example)"),
    ],
)
def test_what_a_link_holds_stays_whole_though_the_link_does_not_fit(inner: str, link: str) -> None:
    text = f"{link}\n\n[a label of words]: https://a.example\n"
    for budget in range(count_tokens(inner) + 2, count_tokens(link)):
        assert sum(inner in piece for piece in texts(text, budget)) == 1


def test_no_chunk_is_a_rule_alone() -> None:
    text = f"# One\n\n{TABLE}\n---\n\n## Two\n\n{PROSE}\n"
    budget = count_tokens(text[: text.index("---\n\n##")].rstrip())
    assert "---" not in texts(text, budget)


def test_front_matter_goes_with_the_first_section_where_it_fits() -> None:
    front = "---\ntitle: The lights\ndraft: yes\n---\n"
    text = f"{front}\n# One\n\n{PROSE}\n\n## Two\n\n{PROSE}\n\n{PROSE}\n"
    first = text[: text.index("## Two")].rstrip()
    for budget in range(count_tokens(first), count_tokens(text)):
        assert texts(text, budget)[0].startswith(first)
    assert texts(text, count_tokens(first) - 1)[0] == front.rstrip()


@pytest.mark.parametrize("space", ["\u2028", "\v", "\x1c", "\x85"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_fence_is_opened_again_with_its_whole_info_string(space: str, end: str) -> None:
    opening = f"```python title=a{space}b"
    lines = [f"line_{number} = {number}" for number in range(60)]
    text = end.join([opening, *lines, "```", ""])
    chunks = check_promises(text, ChunkConfig(max_tokens=60, overlap=0))
    assert len(chunks) > 2
    for chunk in chunks[1:]:
        assert chunk.embed_text.startswith(f"{opening}\n"), chunk.embed_text
