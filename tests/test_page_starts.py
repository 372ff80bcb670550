"""Front matter inside a file, which begins a page."""

from __future__ import annotations

import pytest

from chunkast import Chunker
from chunkast.config import DEFAULT_EXTENSIONS


def kinds(text: str) -> list[str]:
    tree = Chunker().analyze(text).blocks
    return [block.kind for block in tree.children if block.kind != "blank"]


PAGE = "---\ntitle: B\n---\n"
PAGES = [
    PAGE,
    "---\ntitle: 'B'\nurl: https://example.com\n---\n",
    "---\nsidebar_label: B # c\ntags:\n- d\n- e\nx.y-Z:\n  Any Key: 1\n---   \n",
    "---\ntitle: >\n  a\n  b\n---\n",
]


@pytest.mark.parametrize("page", PAGES)
def test_front_matter_in_mid_file_is_one_leaf(page: str) -> None:
    text = f"# A\n\nb\n\n{page}\n# C\n"
    assert kinds(text) == ["heading", "paragraph", "front-matter", "heading"]
    assert kinds(text.replace("\n", "\r\n")) == kinds(text)
    (leaf,) = (
        each for each in Chunker().analyze(text).blocks.leaves() if each.kind == "front-matter"
    )
    assert text[leaf.start : leaf.end] == page
    assert kinds(f"---\na: b\n---\n\n{page}") == ["front-matter", "front-matter"]
    assert kinds(f"- a\n\n{page}b\n") == ["list", "front-matter", "paragraph"]
    assert kinds(f"> a\n\n{page}") == ["quote", "front-matter"]
    without = tuple(name for name in DEFAULT_EXTENSIONS if name != "front_matter")
    found = Chunker(extensions=without).analyze(text).blocks.children
    assert "front-matter" not in [block.kind for block in found]


@pytest.mark.parametrize(
    "text",
    [
        f"a\n{PAGE}",
        "a\n\n---\n\ntitle: B\n---\n",
        "a\n\n---\ntitle: B\n\nc: d\n---\n",
        "a\n\n---\n# b\ntitle: B\n---\n",
        "a\n\n---\nTitle: B\n---\n",
        "a\n\n---\nstep 1: B\n---\n",
        "a\n\n---\nStep 1: Install\n---\n",
        "a\n\n---\ntitle: B\nStep: c\n---\n",
        "a\n\n---\ntitle: B\nsome words\n---\n",
        "a\n\n---\ntitle: B: c\n---\n",
        "a\n\n---\nhttp://example.com\n---\n",
        "a\n\n---\ntitle: B\n***\n",
        "a\n\n---\ntitle: B\n",
        "a\n\n----\ntitle: B\n----\n",
        "a\n\n ---\n title: B\n ---\n",
        "```\n\n---\ntitle: B\n---\n```\n",
        "- a\n\n  ---\n  title: B\n  ---\n",
        "::: a\n\n---\ntitle: B\n---\n\n:::\n",
    ],
)
def test_other_text_between_rules_is_no_page(text: str) -> None:
    assert "front-matter" not in [leaf.kind for leaf in Chunker().analyze(text).blocks.leaves()]
