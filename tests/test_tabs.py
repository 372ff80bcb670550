"""Tabs of Microsoft Learn: their extension, their labels, and the sections inside them."""

from __future__ import annotations

from chunkast import Chunker
from chunkast.config import DEFAULT_EXTENSIONS

A = "# [A](#tab/a)\n\na\n\n"


def test_tabs_are_containers_and_need_the_extension() -> None:
    (region, *_) = Chunker().analyze(f"{A}---\n\nc\n").regions
    assert (region.kind, region.start, region.end) == ("tab", 0, len(f"{A}---"))
    (chunk,) = Chunker().chunk(A)
    assert chunk.kinds == ("container", "paragraph")
    without = tuple(name for name in DEFAULT_EXTENSIONS if name != "containers")
    assert [h.title for h in Chunker(extensions=without).analyze(A).headings] == ["A"]


def test_sections_in_a_tab_end_with_it_and_later_parts_name_its_label() -> None:
    text = (
        "## Install\n\nOne.\n\n# [**Linux**](#tab/linux)\n\n### Steps\n\n"
        "Get the packages first. Install them with the manager.\n\nThen start the service.\n\n"
        "---\n\nIt runs now.\n\n### Check\n\nAsk for its state.\n"
    )
    chunks = Chunker(max_tokens=24, overlap=0, min_tokens=0).chunk(text)
    found = {
        word: (chunk.headings, chunk.embed_text[: chunk.embed_text.index(chunk.text)])
        for word in ("Then", "runs", "state")
        for chunk in chunks
        if word in chunk.text
    }
    assert found["Then"] == (("Install", "Steps"), "Install > Steps\n**Linux**\n\n")
    assert found["runs"] == (("Install",), "Install\n\n")
    assert found["state"][0] == ("Install", "Check")
