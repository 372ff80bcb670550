"""Output of converters and models: bold headings, bullets, tables of contents, fenced answers."""

from __future__ import annotations

import pytest

from chunkast import Chunker, ConfigError

WORDS = "Some words stand here and go on. " * 12


def leaves(text: str, **options: object) -> list[tuple[str, str]]:
    tree = Chunker(**options).analyze(text).blocks  # type: ignore[arg-type]
    return [(leaf.kind, text[leaf.start : leaf.end].strip()) for leaf in tree.leaves()]


def paths(text: str, **options: object) -> list[tuple[str, ...]]:
    return [heading.path for heading in Chunker(**options).analyze(text).headings]  # type: ignore[arg-type]


@pytest.mark.parametrize("bold", ["**{}. Section**", "__Section {}__:", "{} **Section**"])
def test_a_bold_heading_never_ends_a_chunk(bold: str) -> None:
    lines = [bold.format(n) for n in range(39)]
    text = "\n\n".join(f"{line}\n\n{WORDS}" for line in lines)
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
    for text in ("> **Bold**\n>\n> Text.\n", "**Bold**\xa0\n\nText.\n", "__Bold__:\r\rText.\r"):
        assert "bold-heading" in dict(leaves(text)), text
    assert "bold-heading" not in dict(leaves("**Bold**\n\nText.\n", extensions=()))


def test_levels_of_bold_and_numbered_headings() -> None:
    text = "# Paper\n\n**1. Methods**\n\nText.\n\n**1.2 Data:**\n\nText.\n\n**Results**\n\nText.\n"
    assert paths(text) == [("Paper",)]
    assert paths(text, pseudo_headings=True)[1:] == [
        ("Paper", "1. Methods"),
        ("Paper", "1. Methods", "1.2 Data"),
        ("Paper", "Results"),
    ]
    text = "# Paper\n\n## Abstract\n\n## 1 One\n\n## 1.1 Two\n\n## 1.1.1. Three\n\n## 2) Four\n\nText.\n"
    assert paths(text)[-2:] == [("Paper", "1.1.1. Three"), ("Paper", "2) Four")]
    assert paths(text, heading_levels="numbering")[1:] == [
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


@pytest.mark.parametrize("mark", ["•", "–", "(a)"])
def test_bullets_are_cut_at_before_sentences(mark: str) -> None:
    item = f"{mark} An item has two sentences. Here is the other.\n"
    chunks = Chunker(max_tokens=60, overlap=0).chunk(f"These are they:\n{item * 30}")
    assert len(chunks) > 5
    assert all(chunk.text.startswith(mark) for chunk in chunks[1:])


def test_a_table_of_contents_is_one_block_and_no_heading() -> None:
    lines = "### 1 A title . . . . . . . . 1\n\n" * 5
    lines += "1.1 Another title ........ 12\n2.2 _. . . . . . ._ iv\n\n## 9 Long title . . 43\n"
    text = f"# Manual\n\n## Contents\n\n{lines}\n## 1 A title\n\nText ..... and so on.\n"
    assert [path[-1] for path in paths(text)] == ["Manual", "Contents", "1 A title"]
    assert [said for kind, said in leaves(text) if kind == "contents"] == [lines.strip()]
    assert len(paths(text, extensions=())) == 9


ANSWER = "# Title\n\nText.\n\n```python\n# no heading\n```\n\n## More\n\nWords.\n"


@pytest.mark.parametrize("mark", ["```markdown", "~~~md", "````Markdown", "  ``` markdown"])
@pytest.mark.parametrize("around", ["", "\n \n"])
def test_an_answer_in_a_fence_is_the_markdown_inside(mark: str, around: str) -> None:
    run = mark.split(maxsplit=1)[0].rstrip("Mmarkdown")
    text = f"{around}{mark}\n{ANSWER}{run}\n{around}"
    assert paths(text) == [("Title",), ("Title", "More")]
    plain = Chunker(max_tokens=20, overlap=0, context="none").chunk(ANSWER)
    chunks = Chunker(max_tokens=30, overlap=0, context="none").chunk(text)
    assert chunks[0].text.startswith(mark)
    assert chunks[-1].text.endswith(run)
    assert [chunk.headings for chunk in chunks] == [chunk.headings for chunk in plain]


@pytest.mark.parametrize("inner", ["```", "   ```", "````", "~~~"])
def test_bare_fences_in_an_answer_do_not_end_it(inner: str) -> None:
    fence = f"{inner}\n# no heading\n```python\n{inner}\n\nWords.\n\n"
    text = f"```markdown\n# Title\n\n{fence * 2}## More\n\nWords.\n```\n"
    assert paths(text) == [("Title",), ("Title", "More")]
    fences = [said for kind, said in leaves(text) if kind == "fence"]
    assert fences == [fence.strip().removesuffix("\n\nWords.").strip()] * 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # No line is left that closes the outer fence.
        ("```markdown\n# A\n```\n\nText.\n", []),
        ("```markdown\n# A\n```\n\nText.\n\n```\n# B\n", []),
        ("```markdown\n# A\n```\nx\n```\n\n```\n# B\n```\n", [("B",)]),
        # Closed, then a fence with a language: what is left pairs only so.
        ("```markdown\n# A\n```\n\nText.\n\n```sh\nx\n```\n\nText.\n\n```\n# B\n```\n", []),
        ("```markdown\n# A\n```\n\nText.\n\n```python\nx\n```\n", []),
        (f"Text.\n\n```markdown\n{ANSWER}```\n", []),
        (f"```text\n{ANSWER}```\n", [("More",)]),
        # What was cut off has no closing line.
        ("```markdown\n# A\n\n```python\nx = 1\n", [("A",)]),
    ],
)
def test_where_an_answer_ends_and_what_is_none(text: str, expected: list[tuple[str]]) -> None:
    assert paths(text) == expected


@pytest.mark.parametrize("prefix", ["", "> ", "  "])
@pytest.mark.parametrize(
    ("fence", "whole"),
    [
        ("```md\n# A\n\n```sh\nls\n```\n\n## B\n```\n", True),
        ("~~~Markdown\n# A\n~~~ sh\nls\n~~~\n~~~\n", True),
        ("```md\n```a\n```\n```b\nx\n```\nText.\n````\n", True),
        # What follows the last line is text; so it opened a fence.
        ("```md\n# A\n```sh\nls\n```\n\nText.\n\n```\n# B\n```\n", False),
        ("```md\n# A\n```sh\nls\n```\n\nText.\n", False),
        ("```text\n# A\n```sh\nls\n```\nText.\n\n```\n", False),
    ],
)
def test_a_fence_of_markdown_has_fences(prefix: str, fence: str, whole: bool) -> None:
    head = "- item\n\n" if prefix == "  " else ""
    lines = f"{fence}\n# After\n".split("\n")
    text = f"Text.\n\n{head}" + "\n".join(f"{prefix}{line}".rstrip() for line in lines)
    expected = "\n".join(f"{prefix}{line}".rstrip() for line in fence.split("\n")).strip("\n> ")
    fences = [said.strip("> ") for kind, said in leaves(text) if kind == "fence"]
    assert (fences == [expected]) is whole
