"""The tags and components around blocks, in which a heading opens a section."""

from __future__ import annotations

from itertools import pairwise

import pytest

from chunkast import ChunkConfig, Chunker
from chunkast.config import DEFAULT_EXTENSIONS
from tests.checks import check_promises
from tests.tables import cases


def wrappers(text: str, *extensions: str) -> list[tuple[str, str]]:
    """The first and the last line of each wrapper."""
    analysis = Chunker(extensions=(*DEFAULT_EXTENSIONS, *extensions)).analyze(text)
    lines = [text[start:end].strip().splitlines() for start, end in analysis.wrappers]
    assert list(analysis.wrappers) == sorted(analysis.wrappers)
    assert all(start == 0 or text[start - 1] in "\r\n" for start, _ in analysis.wrappers)
    return [(each[0].strip(), each[-1].strip()) for each in lines]


def headings(text: str, *extensions: str) -> list[str]:
    """The headings at the top level and directly in containers."""
    tree = Chunker(extensions=(*DEFAULT_EXTENSIONS, *extensions)).analyze(text).blocks
    found = [*tree.children]
    found += [
        child for block in tree.children if block.kind == "container" for child in block.children
    ]
    return sorted(text[b.start : b.end].strip() for b in found if b.kind.endswith("heading"))


@cases("wrappers", "wrappers")
def test_tags_around_blocks_are_wrappers(text: str, openers: list[str], titles: list[str]) -> None:
    for each in (text, text.replace("\n", "\r\n"), text.replace("\n", "\r")):
        found = wrappers(each)
        assert [first for first, _ in found] == openers
        assert all(last.startswith(("</", ":::")) for _, last in found)
    assert headings(text) == sorted(titles)


def test_components_of_mdx_are_wrappers() -> None:
    text = (
        "<Page>\n\n# A\n\n<Tabs>\n  <Tab name='b'>\n    ## B\n\n  </Tab>\n</Tabs>\n\n"
        "- <Card>\n\n  # C\n\n  </Card>\n\n<>\n\n### D\n\n</>\n\n</Page>\n"
    )
    assert wrappers(text, "mdx") == [
        ("<Page>", "</Page>"),
        ("<Tabs>", "</Tabs>"),
        ("<Tab name='b'>", "</Tab>"),
        ("<>", "</>"),
    ]
    assert headings(text, "mdx") == ["# A", "## B", "### D"]


def test_wrappers_never_cross() -> None:
    text = "<details>\n\n<a1>\n\n</details>\n\n</a1>\n\n<details>\n\nb\n\n</details>\n"
    assert len(wrappers(text)) == 2
    spans = Chunker().analyze(text).wrappers
    assert all(a[1] <= b[0] or b[1] <= a[1] for a, b in pairwise(spans))


@pytest.mark.parametrize("budget", [8, 20, 40, 60, 100])
def test_headings_of_containers_that_are_never_closed_open_sections(budget: int) -> None:
    text = (
        "::: api.Key\n## Keys\n::: api.Basic\n::: api.Bearer\n::: api.Digest\n::: api.Form\n"
        "## Forms\n::: api.Form\n::: api.Strict\n## Scopes in dependencies\n::: api.Scopes\n"
        "## Connect\n> ## A heading in a quote\n\n### Last\n::: api.Connect\n"
    )
    for overlap in (0, 0.2):
        config = ChunkConfig(max_tokens=budget, overlap=overlap, context="none")
        check_promises(text, config)
        titles = {title for each in Chunker(config).chunk(text) for title in each.headings}
        assert titles <= {"Keys", "Forms", "Scopes in dependencies", "Connect", "Last"}


def test_blank_lines_before_the_first_heading_are_no_chunk() -> None:
    text = "\n\n## Hulls\n\nOak.\n\n<step>\n\n## Paint\n\nGreen.\n\n</step>\n"
    chunks = Chunker(max_tokens=16, overlap=0, min_tokens=0, trim=False).chunk(text)
    assert chunks[0].text.startswith("\n\n## Hulls")
    assert "".join(chunk.text for chunk in chunks) == text
