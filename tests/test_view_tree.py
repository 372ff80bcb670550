"""The block tree as text: ``chunkast view --tree``."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from chunkast import Analysis, Chunker, count_tokens
from chunkast.cli.main import main
from chunkast.output.view.tree import render_tree
from tests.strategies import markdown

TEXT = """\
---
title: x
---
# Guide \u202e

> [!NOTE]
> Carry **two** litres
> of water, and some more of it when the sun shines.

1. one
   - a
2. two

```py title="x"
def f(): \x1b[31m
"""
TREE = """\
lines  characters  tokens  block
 1-15       0-168      63  document
  1-3        0-17       6    front-matter: --- title: x ---
  4-4       17-27       5    heading 1: # Guide ⇄
  5-5       27-28       1    blank
  6-8      28-114      26    alert [NOTE]
  6-6       28-38       5      marker: > [!NOTE]
  7-8      38-114      21      paragraph: > Carry **two** litres > of water, and some more …
  9-9     114-115       1    blank
10-12     115-136      12    list
10-11     115-129       8      item 0 [1]
10-10     115-122       4        paragraph: 1. one
11-11     122-129       4        list
11-11     122-129       4          item 1
11-11     122-129       4            paragraph: - a
12-12     129-136       4      item 0 [2]
12-12     129-136       4        paragraph: 2. two
13-13     136-137       1    blank
14-15     137-168      14    fence [py title="x"] (not closed): ```py title="x" def f(): ␛[31m
"""
_ROW = re.compile(r" *(\d+)-(\d+)  +(\d+)-(\d+)  +(\d+)  ( *)(\S.*)\n")


def tree(analysis: Analysis) -> str:
    return "".join(render_tree(analysis, count_tokens))


def test_the_tree_of_a_document() -> None:
    assert tree(Chunker().analyze(TEXT)) == TREE


def test_an_empty_text_is_an_empty_document() -> None:
    assert tree(Chunker().analyze("")).splitlines()[1:] == ["  1-1         0-0       0  document"]


def test_notes_come_last() -> None:
    analysis = replace(Chunker().analyze("a\n"), notes=("the parser\nfailed", "and again"))
    assert tree(analysis).endswith("paragraph: a\nnote: the parser failed\nnote: and again\n")


@given(markdown())
def test_every_block_has_a_line_that_tells_its_place(text: str) -> None:
    analysis = Chunker().analyze(text)
    rows = [_ROW.fullmatch(line) for line in list(render_tree(analysis, len))[1:]]
    blocks = list(analysis.blocks.walk())
    assert len(rows) == len(blocks)
    for row, block in zip(rows, blocks, strict=True):
        assert row is not None
        first, last, start, end, count = map(int, row.groups()[:5])
        assert (start, end) == (block.start, block.end)
        assert first <= last
        assert count == end - start
        assert row[7].startswith(block.kind)


def test_the_command_prints_the_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_bytes(TEXT.encode())
    (tmp_path / "a.py").write_bytes(b"x = 1\n")
    assert main(["view", "a.md", "--tree"]) == 0
    assert capsys.readouterr().out == TREE
    assert main(["view", "a.md", "--tree", "--encoding", "o200k_base"]) == 0
    assert capsys.readouterr().out == "".join(
        render_tree(Chunker().analyze(TEXT), lambda text: count_tokens(text, "o200k_base"))
    )
    assert main(["view", "a.py", "--tree"]) == 0
    assert "code: x = 1\n" in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert main(["view", "-", "--tree"]) == 0
    assert capsys.readouterr().out == TREE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.md", "a.py"]
