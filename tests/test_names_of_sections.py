"""Sections are found by their titles and by every anchor that a page gives them."""

from __future__ import annotations

import pytest

from chunkast import Chunker


def anchors(text: str, source: str = "page.md") -> list[str]:
    """The anchor of each section but the document."""
    return [section.anchor for section in Chunker().outline(text, source).sections[1:]]


@pytest.mark.parametrize(
    ("title", "anchor"),
    [
        # The anchors of GitHub.
        ("การติดตั้ง", "การติดตั้ง"),
        ("हिन्दी में शुरू करें", "हिन्दी-में-शुरू-करें"),
        ("أَوَّلاً: الرسوم", "أَوَّلاً-الرسوم"),
        ("שָׁלוֹם לָכֶם", "שָׁלוֹם-לָכֶם"),
        ("Đa\u0300 Nẵng & Hue\u0302\u0301", "đa\u0300-nẵng--hue\u0302\u0301"),
        ("1\ufe0f\u20e3 Install", "1\ufe0f\u20e3-install"),
        ("CO₂ in m² (½)", "co-in-m-"),
        ("snake_case‿tie", "snake_case‿tie"),
        ("👨‍👩‍👧 We", "-we"),
    ],
)
def test_an_anchor_keeps_combining_marks(title: str, anchor: str) -> None:
    assert anchors(f"# {title}\n\nText.\n") == [anchor]
    assert Chunker().outline(f"# {title}\n\nText.\n").find(f"#{anchor}").path == (title,)
