"""Captions of tables and figures."""

from __future__ import annotations

import pytest

from chunkast import Chunker

IMAGE = "![](a.png)\n"
TABLE = "| a |\n|---|\n| b |\n"
SHOWN = {"figure": IMAGE, "table": TABLE}


def kinds(text: str) -> list[str]:
    leaves = Chunker().analyze(text).blocks.leaves()
    return [leaf.kind for leaf in leaves if leaf.kind != "blank"]


@pytest.mark.parametrize(
    ("shown", "caption", "expected"),
    [
        *(("figure", each, True) for each in ("Figure 1: a", "Fig. 5. a", "**Figure 2.** a")),
        *(
            ("figure", each, True)
            for each in ("图 2 示意", "图2：示意", "Figure IV. a", "Figure 3")
        ),
        *(("figure", each, True) for each in ("*Fig 3.2 Top*", "FIGURE 1-2) a", "- Figure 3: a")),
        ("figure", '<span id="page-2-0"></span>Figure 3. a', True),
        *(
            ("figure", each, False)
            for each in ("Figure 3.2 shows", "Figure is here", "Figures 1: a")
        ),
        *(("figure", each, False) for each in ("figure iv. a", "- Figure 3: a\n- b", "Table 1: a")),
        *(("table", each, True) for each in ("Table 1. a", "表 2 示意", "- Table 1: a", ": a")),
        *(("table", each, True) for each in ("Table: a", "Tab. IV) a", "**Table 1** A")),
        *(("table", each, False) for each in ("Table is here", "Table 3 shows", "Figure 1: a")),
    ],
)
def test_captions_belong_to_what_is_beside_them(shown: str, caption: str, expected: bool) -> None:
    block = SHOWN[shown]
    assert ("legend" in kinds(f"{block}\n{caption}\n")) == expected
    assert ("caption" in kinds(f"{caption}\n\n{block}")) == expected


def test_a_figures_caption_belongs_to_the_image_before_it() -> None:
    text = f"{IMAGE}\nFigure 1: a\n\n{IMAGE}\nFigure 2: b\n"
    assert kinds(text) == ["paragraph", "legend"] * 2
    assert kinds(f"{IMAGE}\nTable 1: a\n\n{TABLE}") == ["paragraph", "caption", "table"]
    assert kinds(f"{TABLE}\nFigure 1: a\n\n{IMAGE}") == ["table", "caption", "paragraph"]
