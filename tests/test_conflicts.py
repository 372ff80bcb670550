"""Blocks between conflict markers underline nothing."""

from __future__ import annotations

import pytest

from chunkast import Chunker

BLOCK = "<<<<<<< SEARCH\nold\n=======\nnew\n\n# C\n>>>>>>> REPLACE\n"


def kinds(text: str) -> str:
    leaves = Chunker().analyze(text).blocks.leaves()
    return " ".join(leaf.kind for leaf in leaves if leaf.kind != "blank")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BLOCK, "conflict"),
        (f"a\n{BLOCK}b\n", "paragraph conflict paragraph"),
        (f"<a_b>\n{BLOCK}</a_b>\n", "tag conflict tag"),
        (f"{BLOCK}{BLOCK}\nb\n", "conflict conflict paragraph"),
        ("<<<<<<<\na\n||||||| b\nc\n=======\n>>>>>>>\n", "conflict"),
        # In the same container.
        ("> <<<<<<< a\n> b\n> =======\n> >>>>>>> c\n\nd\n", "conflict paragraph"),
        ("- <<<<<<< a\n  b\n  =======\n  >>>>>>> c\n- d\n", "conflict paragraph"),
        ("- <<<<<<< a\n  b\n\nc\n=======\n", "paragraph heading"),
        ("- <<<<<<< a\n\n<<<<<<< a\n=======\n>>>>>>> b\n", "paragraph conflict"),
        # Not without all three markers, in this order and of this length.
        ("<<<<<<< a\n=======\n", "heading"),
        ("<<<<<<< a\n>>>>>>> b\n\na\n=======\n", "paragraph paragraph heading"),
        ("=======\n<<<<<<< a\nb\n========\n\n>>>>>>> c\n", "heading paragraph"),
        ("<<<<<<<a\nb\n=======\n\n>>>>>>> c\n", "heading paragraph"),
        ("```\n<<<<<<< a\n```\n\nb\n=======\n\n>>>>>>> c\n", "fence heading paragraph"),
    ],
)
def test_conflict_markers_enclose_one_block(text: str, expected: str) -> None:
    assert kinds(text) == expected
    assert kinds(text.replace("\n", "\r\n")) == expected


def test_a_conflict_is_kept_whole() -> None:
    text = f"Some words before it, and some more.\n\n{BLOCK}\nWords after it.\n"
    (region,) = Chunker().analyze(text).regions
    assert region.kind == "conflict"
    assert text[region.start : region.end] == BLOCK.strip()
