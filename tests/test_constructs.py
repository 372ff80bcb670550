"""A construct of one's own: a row and a rule, added at run time."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from markdown_it.rules_block import StateBlock

from chunkast import Chunker
from chunkast.config import DEFAULT_EXTENSIONS, EXTENSIONS
from chunkast.markdown.dialects import DIALECTS, Dialect, add_dialect, dialects_of
from chunkast.markdown.dialects.containers import Marker, container_rule
from chunkast.markdown.kinds import _WHERE, CONSTRUCTS, TOKENS, Construct
from chunkast.scores import SCORES

TEXT = (
    "# Plot\n\nThe butler serves tea. Nobody knows why.\n\n"
    ">! The butler did it with\n>! the candlestick.\n>! The cook saw him.\n\n"
    "Read on to learn more.\n"
)
WHOLE = ">! The butler did it with\n>! the candlestick.\n>! The cook saw him."


def spoiler(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse the lines that begin with ``>!`` as one block."""
    line = start
    lines: list[str] = []
    while line < end and state.sCount[line] >= state.blkIndent and not state.is_code_block(line):
        at = state.bMarks[line] + state.tShift[line]
        if not state.src.startswith(">!", at):
            break
        lines.append(state.src[at + 2 : state.eMarks[line]].strip())
        line += 1
    if line == start:
        return False
    if not silent:
        token = state.push("spoiler", "", 0)
        token.map = [start, line]
        token.content = "\n".join(lines)
        state.line = line
    return True


SPOILERS = Dialect(
    "spoilers",
    rule=spoiler,
    begins={"spoiler": ">"},
    constructs=(Construct("spoiler", "prose", "html", ("spoiler",), after=True, protected=True),),
)


def remove_dialect(row: Dialect) -> None:
    DIALECTS.remove(row)
    for construct in row.constructs:
        del CONSTRUCTS[construct.kind]
        for token in construct.tokens:
            del TOKENS[token]
        for kinds in _WHERE.values():
            kinds.discard(construct.kind)
    dialects_of.cache_clear()


@pytest.fixture
def spoilers(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, ...]]:
    """The extensions, with the dialect's."""
    monkeypatch.setitem(EXTENSIONS, "spoilers", False)
    add_dialect(SPOILERS)
    yield (*DEFAULT_EXTENSIONS, "spoilers")
    remove_dialect(SPOILERS)


def test_a_block_is_a_row_and_a_rule(spoilers: tuple[str, ...]) -> None:
    analysis = Chunker(extensions=spoilers).analyze(TEXT)
    (leaf,) = [leaf for leaf in analysis.blocks.leaves() if leaf.kind == "spoiler"]
    assert TEXT[leaf.start : leaf.end].strip() == WHOLE
    scores = {point.pos: point.score for point in analysis.break_points}
    assert scores[leaf.start] == scores[TEXT.index("Read on")] == SCORES["html"]
    assert [region.kind for region in analysis.regions] == ["spoiler"]
    # Whole where it fits.
    chunks = Chunker(max_tokens=24, overlap=0, context="none", extensions=spoilers).chunk(TEXT)
    assert [chunk.kinds for chunk in chunks if WHOLE in chunk.text] == [("spoiler",)]
    # Between sentences where it does not.
    small = Chunker(max_tokens=18, overlap=0, context="none", extensions=spoilers).chunk(TEXT)
    parts = [chunk.text for chunk in small if "spoiler" in chunk.kinds]
    assert parts[0] == ">! The butler did it with\n>! the candlestick."
    assert parts[1].startswith(">! The cook saw him.")
    # Inside other blocks too.
    nested = "- item\n\n  >! secret\n\n> quote\n> >! secret\n"
    found = Chunker(extensions=spoilers).chunk(nested)[0].kinds
    assert found == ("list", "paragraph", "spoiler", "quote")


def contents(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Parse a line that begins with ``[toc]``."""
    if not state.src.startswith("[toc]", state.bMarks[start] + state.tShift[start]):
        return False
    if not silent:
        token = state.push("toc", "", 0)
        token.map = [start, start + 1]
        state.line = start + 1
    return True


def test_a_block_of_ones_own_in_list_items(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Construct("toc", "lines", "html", ("toc",))
    dialect = Dialect("toc", rule=contents, begins={"toc": "["}, constructs=(row,))
    monkeypatch.setitem(EXTENSIONS, "toc", False)
    add_dialect(dialect)
    try:
        analysis = Chunker(extensions=("toc",)).analyze("- [toc]\n- a\n- [b]\n")
        kinds = [block.kind for block in analysis.blocks.walk()]
        assert kinds[2:] == ["item", "toc", "item", "paragraph", "item", "paragraph"]
    finally:
        remove_dialect(dialect)


PERCENT = Dialect(
    "percent",
    rule=container_rule([Marker(re.compile(r"(%{3,})[ \t]*([^%\s].*)"))]),
    begins={"percent": "%"},
)


def test_a_container_is_a_marker_and_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTENSIONS, "percent", False)
    add_dialect(PERCENT)
    try:
        chunker = Chunker(extensions=(*DEFAULT_EXTENSIONS, "percent"))
        text = "# A\n\n%%% panel b\n\n## C\n\nd\n\n%%% note\n## e\n%%%\n\n%%%\n\nf\n\n%%% g\n\n## H\n\ni\n"
        analysis = chunker.analyze(text)
        for each in (analysis, chunker.analyze(text.replace("\n", "\r\n"))):
            blocks = [block for block in each.blocks.walk() if block.children]
            assert [(block.kind, block.info) for block in blocks] == [
                ("document", ""),
                ("container", "panel b"),
                ("admonition", "note"),
            ]
        assert [heading.path for heading in analysis.headings] == [("A",), ("A", "C"), ("A", "H")]
        small = Chunker(
            max_tokens=40, min_tokens=0, overlap=0, extensions=chunker.config.extensions
        )
        paths = [chunk.headings for chunk in small.chunk(text)]
        assert paths == [("A",), ("A",), ("A", "H")]
    finally:
        remove_dialect(PERCENT)
