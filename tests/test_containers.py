"""Containers that are never closed, and what is no fence inside others."""

from __future__ import annotations

import pytest

from chunkast import Chunker


def test_a_container_that_is_never_closed_leaves_the_sections_after_it() -> None:
    text = "# A\n\n::: zone b\n\nc\n\n## D\n\ne\n\n::: tip\nf\n:::\n\n## G\n"
    assert [heading.path for heading in Chunker().outline(text) if heading.path] == [
        ("A",),
        ("A", "D"),
        ("A", "G"),
    ]


@pytest.mark.parametrize("run", ["```", "~~~"])
@pytest.mark.parametrize(
    "inner",
    [
        "<!--\n{}\n-->",
        "<pre>\n{}\n</pre>",
        "<script>\n{}\n</script>",
        "- {}\n  code\n\nText.",
        "> {}\n> code\n\nText.",
        "    {}\n\nText.",
        "$$\n{}\n$$",
    ],
)
def test_what_is_no_fence_does_not_hide_a_closing_line(inner: str, run: str) -> None:
    text = f"# A\n\n::: note\n\n{inner.format(run)}\n\n:::\n\n# After\n\nText.\n"
    assert [s.path for s in Chunker().outline(text) if s.path] == [("A",), ("After",)]
