"""Captions of tables and figures."""

from __future__ import annotations

import pytest

from tests.test_blocks import shape

IMAGE = "![](a.png)\n"
TABLE = "| a |\n|---|\n| b |\n"
SHOWN = {"figure": IMAGE, "table": TABLE}


CAPTIONS = {
    "figure": (
        *("Figure 1: a", "Fig. 5. a", "**Figure 2.** a", "*Fig 3.2 Top*", "FIGURE 1-2) a"),
        *("图 2 示意", "图2：示意", "Figure IV. a", "Figure 3", "- Figure 3: a"),
        '<span id="page-2-0"></span>Figure 3. a',
    ),
    "table": (
        *("Table 1. a", "表 2 示意", "- Table 1: a", ": a", "Table: a", "Tab. IV) a"),
        "**Table 1** A",
    ),
}
TEXTS = {
    "figure": (
        *("Figure 3.2 shows", "Figure is here", "Figures 1: a", "figure iv. a"),
        *("- Figure 3: a\n- b", "Table 1: a"),
    ),
    "table": ("Table is here", "Table 3 shows", "Figure 1: a"),
}


@pytest.mark.parametrize(
    ("shown", "caption", "expected"),
    [
        (shown, caption, expected)
        for expected, rows in ((True, CAPTIONS), (False, TEXTS))
        for shown, captions in rows.items()
        for caption in captions
    ],
)
def test_captions_belong_to_what_is_beside_them(shown: str, caption: str, expected: bool) -> None:
    block = SHOWN[shown]
    assert ("legend" in shape(f"{block}\n{caption}\n")) == expected
    assert ("caption" in shape(f"{caption}\n\n{block}")) == expected


def test_a_figures_caption_belongs_to_the_image_before_it() -> None:
    text = f"{IMAGE}\nFigure 1: a\n\n{IMAGE}\nFigure 2: b\n"
    assert shape(text) == "paragraph legend paragraph legend"
    assert shape(f"{IMAGE}\nTable 1: a\n\n{TABLE}") == "paragraph caption table"
    assert shape(f"{TABLE}\nFigure 1: a\n\n{IMAGE}") == "table caption paragraph"
