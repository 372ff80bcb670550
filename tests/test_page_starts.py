"""Front matter inside a file, which begins a page."""

from __future__ import annotations

import pytest

from chunkast import Chunker
from chunkast.config import DEFAULT_EXTENSIONS
from tests.test_blocks import shape

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
    assert shape(text) == "heading paragraph front-matter heading"
    assert shape(text.replace("\n", "\r\n")) == shape(text)
    (leaf,) = (
        each for each in Chunker().analyze(text).blocks.leaves() if each.kind == "front-matter"
    )
    assert text[leaf.start : leaf.end] == page
    assert shape(f"---\na: b\n---\n\n{page}") == "front-matter front-matter"
    assert shape(f"- a\n\n{page}b\n") == "list(item(paragraph)) front-matter paragraph"
    assert shape(f"> a\n\n{page}") == "quote(paragraph) front-matter"
    without = tuple(name for name in DEFAULT_EXTENSIONS if name != "front_matter")
    assert "front-matter" not in shape(text, without)
