"""What converters and models write: bold headings, bullets, tables of contents, answers, pages."""

from __future__ import annotations

import pytest

from chunkast import Chunker, ConfigError

WORDS = "Some words stand here and go on. " * 12


def leaves(text: str, **options: object) -> list[tuple[str, str]]:
    tree = Chunker(**options).analyze(text).blocks  # type: ignore[arg-type]
    return [(leaf.kind, text[leaf.start : leaf.end].strip()) for leaf in tree.leaves()]


def paths(text: str, **options: object) -> list[tuple[str, ...]]:
    return [heading.path for heading in Chunker(**options).analyze(text).headings]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "bold", ["**{}. Section**", "__Section {}__:", "{}. **Section**", "**Q{}?**"]
)
def test_a_bold_heading_never_ends_a_chunk(bold: str) -> None:
    text = "\n\n".join(f"{bold.format(n)}\n\n{WORDS}" for n in range(39))
    if bold.startswith("{}"):
        text = text.replace(". **", " **")  # else it is an item
    lines = {bold.format(n).replace(". **", " **") for n in range(39)} | {
        bold.format(n) for n in range(39)
    }
    for chunk in Chunker(max_tokens=200, overlap=0).chunk(text):
        assert chunk.text.rstrip().rsplit("\n", 1)[-1] not in lines
        assert chunk.headings == ()


def test_what_is_no_bold_heading() -> None:
    for text in (
        "**Bold** words.\n\nText.\n",
        "**Bold** and **bold**\n\nText.\n",
        "**The last paragraph**\n",
        "**Before a heading**\n\n# Title\n",
        "**Two\nlines**\n\nText.\n",
    ):
        assert "bold-heading" not in dict(leaves(text)), text
    assert "bold-heading" in dict(leaves("> **Bold**\n>\n> Text.\n"))
    assert "bold-heading" not in dict(leaves("**Bold**\n\nText.\n", extensions=()))


def test_bold_headings_open_sections_on_request() -> None:
    text = "# Paper\n\n**1. Methods**\n\nText.\n\n**1.2 Data:**\n\nText.\n\n**Results**\n\nText.\n"
    assert paths(text) == [("Paper",)]
    assert paths(text, pseudo_headings=True) == [
        ("Paper",),
        ("Paper", "1. Methods"),
        ("Paper", "1. Methods", "1.2 Data"),
        ("Paper", "Results"),
    ]


def test_levels_by_numbering() -> None:
    text = "# Paper\n\n## Abstract\n\n## 1 One\n\n## 1.1 Two\n\n## 1.1.1. Three\n\n## 2) Four\n\nText.\n"
    assert paths(text)[-2:] == [("Paper", "1.1.1. Three"), ("Paper", "2) Four")]
    assert paths(text, heading_levels="numbering") == [
        ("Paper",),
        ("Paper", "Abstract"),
        ("Paper", "1 One"),
        ("Paper", "1 One", "1.1 Two"),
        ("Paper", "1 One", "1.1 Two", "1.1.1. Three"),
        ("Paper", "2) Four"),
    ]
    # Where the marks say something, they are believed.
    marked = "# 1 One\n\n## 1.1 Two\n"
    assert paths(marked, heading_levels="numbering") == paths(marked)
    with pytest.raises(ConfigError, match="heading_levels"):
        Chunker(heading_levels="numbers")  # type: ignore[arg-type]


@pytest.mark.parametrize("mark", ["•", "◦", "–", "‣", "(a)"])
def test_bullets_are_cut_at_before_sentences(mark: str) -> None:
    item = f"{mark} An item has two sentences. Here is the other.\n"
    chunks = Chunker(max_tokens=60, overlap=0).chunk(f"These are they:\n{item * 30}")
    assert len(chunks) > 5
    assert all(chunk.text.startswith(mark) for chunk in chunks[1:])


def test_a_table_of_contents_is_one_block_and_no_heading() -> None:
    lines = [f"### {n} A title . . . . . . . . {n}\n" for n in range(5)]
    lines += ["1.1 Another title ........ 12\n2.2 _. . . . . . ._ iv\n", "## 9 Long title . . 43\n"]
    text = (
        "# Manual\n\n## Contents\n\n"
        + "\n".join(lines)
        + "\n## 1 A title\n\nText ..... and so on.\n"
    )
    assert [path[-1] for path in paths(text)] == ["Manual", "Contents", "1 A title"]
    found = [said for kind, said in leaves(text) if kind == "contents"]
    assert found == ["\n".join(lines).strip()]
    assert "contents" in Chunker().chunk(text)[0].kinds
    assert len(paths(text, extensions=())) == 9


ANSWER = "# Title\n\nText.\n\n```python\n# no heading\n```\n\n## More\n\nWords.\n"


@pytest.mark.parametrize("mark", ["```markdown", "~~~md", "````Markdown", "  ``` markdown"])
@pytest.mark.parametrize("around", ["", "\n", "\n \n"])
def test_an_answer_in_a_fence_is_the_markdown_inside(mark: str, around: str) -> None:
    run = mark.split(maxsplit=1)[0].rstrip("Mmarkdown")
    text = f"{around}{mark}\n{ANSWER}{run}\n{around}"
    analysis = Chunker().analyze(text)
    assert [heading.path for heading in analysis.headings] == [("Title",), ("Title", "More")]
    plain = Chunker(max_tokens=20, overlap=0, context="none").chunk(ANSWER)
    chunks = Chunker(max_tokens=30, overlap=0, context="none").chunk(text)
    assert chunks[0].text.startswith(mark)
    assert chunks[-1].text.endswith(run)
    assert [chunk.headings for chunk in chunks] == [chunk.headings for chunk in plain]
    assert analysis.headings[1].start == text.index("## More")


@pytest.mark.parametrize("inner", ["```", "   ```", "````", "~~~"])
@pytest.mark.parametrize("pairs", [1, 2])
def test_bare_fences_in_an_answer_do_not_end_it(inner: str, pairs: int) -> None:
    fence = f"{inner}\n# no heading\n```python\n{inner}\n\nWords.\n\n"
    text = f"```markdown\n# Title\n\n{fence * pairs}## More\n\nWords.\n```\n"
    assert paths(text) == [("Title",), ("Title", "More")]
    fences = [said for kind, said in leaves(text) if kind == "fence"]
    assert fences == [fence.strip().removesuffix("\n\nWords.").strip()] * pairs
    assert "".join(chunk.text for chunk in Chunker(trim=False).chunk(text)) == text


@pytest.mark.parametrize(
    "rest",
    [
        # No line is left that closes the outer fence.
        "```\n\nText.\n",
        "```\n\nText.\n\n```\n# B\n",
        "```\nx\n```\n\n```\n# B\n```\n",
        # Closed, then a fence with a language: what is left pairs only so.
        "```\n\nText.\n\n```sh\nx\n```\n\nText.\n\n```\n# B\n```\n",
    ],
)
def test_a_bare_fence_ends_an_answer_where_no_closer_remains(rest: str) -> None:
    text = f"```markdown\n# A\n{rest}"
    assert paths(text) == paths(text, extensions=())


def test_what_is_no_answer() -> None:
    fence = f"```markdown\n{ANSWER}```\n"
    for text in (f"{fence}\nText.\n", f"Text.\n\n{fence}", fence.replace("markdown", "text")):
        assert all(path[0] != "Title" for path in paths(text)[:1]), text
    two = "```markdown\n# A\n```\n\nText.\n\n```python\nx\n```\n"
    assert paths(two) == []
    assert paths(fence, extensions=()) == [("More",)]
    # What was cut off has no closing line.
    assert paths("```markdown\n# A\n\n```python\nx = 1\n") == [("A",)]
