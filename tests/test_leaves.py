"""The leaves of a document with what the packer asks of them, against the tree itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, takewhile
from operator import is_

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunker
from chunkast.core.leaves import TEXT, Leaves
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.model import Block

# An image, linked or not.
SHOWN = re.compile(r"\[!\[image\]\[label\]\]\(target\)|!\[image\](?:\(target\))?")
# Deeper than any container.
INSIDE = 255
EXAMPLE = """
# Head
text
more text
- item
  - inner
    para
> quote
> - quoted
> # Quoted

```
---
<!-- label -->
</div>
[label]: target
![image](target)
[![image][label]](target) ![image]
![image](target) and text
| a | b |
| - | - |
| c | d |"""
LINES = st.sampled_from(EXAMPLE.split("\n"))
DOCUMENTS = st.tuples(st.sampled_from(["", "\n\n", "---\na: b\n---\n"]), st.lists(LINES)).map(
    lambda given: given[0] + "\n".join(given[1])
)


@dataclass(frozen=True)
class Leaf:
    """A leaf that is not blank, with the containers around it but for the document."""

    block: Block
    around: tuple[Block, ...]

    @property
    def kinds(self) -> list[str]:
        rows = [CONSTRUCTS[block.kind] for block in (*self.around, self.block)]
        return [row.named for row in rows if not row.unnamed]


def walk(block: Block, around: tuple[Block, ...] = ()) -> Iterator[Leaf]:
    for child in block.children:
        if child.children:
            yield from walk(child, (*around, child))
        elif child.kind != "blank":
            yield Leaf(child, around)


@given(DOCUMENTS, st.data())
def test_they_are_the_tree_s(text: str, data: st.DataObject) -> None:
    tree = Chunker().analyze(text).blocks
    found, plain = Leaves(text, tree), [*walk(tree)]
    assert list(found.starts) == [leaf.block.start for leaf in plain]
    for pos in range(len(text)):
        [*around] = [leaf.block for leaf in plain if leaf.block.start <= pos < leaf.block.end]
        assert found.around(pos) is (around[0] if around else None)
        assert found.at(pos) is (around[0] if around and around[0].start == pos else None)
    assert found.at(len(text)) is found.around(len(text)) is None
    # Of a span that begins in a leaf, as those of chunks do, the kinds, each once.
    for first in plain:
        end = data.draw(st.integers(first.block.start + 1, len(text)))
        touched = [leaf for leaf in plain if first.block.start <= leaf.block.start < end]
        kinds = tuple(dict.fromkeys(kind for leaf in touched for kind in leaf.kinds))
        for start in (first.block.start, first.block.end - 1):
            if start < end:
                assert found.kinds(start, end) == kinds
                # Equal kinds are one object.
                assert found.kinds(start, end) is found.kinds(start, end)


@given(DOCUMENTS, st.data())
def test_depths_are_of_the_containers_that_hold_a_leaf_and_the_one_before(
    text: str, data: st.DataObject
) -> None:
    tree = Chunker().analyze(text).blocks
    plain = [*walk(tree)]
    depths = {plain[0].block.start: 0} if plain else {}
    for one, two in pairwise(plain):
        both = takewhile(bool, map(is_, one.around, two.around))
        depths[two.block.start] = sum(both)
    asked = sorted({len(text), *depths, *data.draw(st.sets(st.integers(0, len(text))))})
    found = map(Leaves(text, tree).depth, asked)
    assert list(found) == [depths.get(pos, INSIDE) for pos in asked]


@given(DOCUMENTS, st.data())
def test_text_is_what_lies_outside_headings_and_front_matter(
    text: str, data: st.DataObject
) -> None:
    tree = Chunker().analyze(text).blocks
    # Between two neighbours lies at most one leaf, and a piece of one that was divided is text.
    cuts = {leaf.block.start for leaf in walk(tree)} | {0, len(text)}
    cuts |= data.draw(st.sets(st.integers(0, len(text))))
    pos = sorted(cuts)
    rows = {leaf.block.start: (CONSTRUCTS[leaf.block.kind], leaf.block.end) for leaf in walk(tree)}
    wanted: list[bool] = []
    for start, end in pairwise(pos):
        row, last = rows.get(start, (None, start))
        heads = row is not None and (row.heads or row.prefaces)
        wanted.append(bool(text[last:end].strip()) if heads or row is None else True)
    says = Leaves(text, tree).says(text, pos)
    assert [bool(said & TEXT) for said in says] == wanted


@given(DOCUMENTS)
def test_what_says_nothing_alone(text: str) -> None:
    tree = Chunker().analyze(text).blocks
    plain = [leaf.block for leaf in walk(tree)]
    pos = sorted({*(leaf.start for leaf in plain), 0, len(text)})
    silent = {
        leaf.start
        for leaf in plain
        if CONSTRUCTS[leaf.kind].silent
        or (leaf.kind == "paragraph" and not SHOWN.sub("", text[leaf.start : leaf.end]).strip())
    }
    says = Leaves(text, tree).says(text, pos)
    assert [said > TEXT for said in says] == [start in silent for start in pos[:-1]]


def test_a_part_of_what_says_nothing_is_not_told() -> None:
    text = "[a]: b\n[c]: d\n\nText.\n"
    leaves = Leaves(text, Chunker().analyze(text).blocks)
    assert [said > TEXT for said in leaves.says(text, [0, 15, 21])] == [True, False]
    assert [*leaves.says(text, [0, 7, 15, 21])] == [TEXT] * 3


@pytest.mark.parametrize("deep", [1, 253, 254, 255, 300])
def test_what_is_nested_deeper_than_can_be_told_is_less_deep_than_inside_a_leaf(deep: int) -> None:
    tree = Block("quote", 0, 8, children=(Block("paragraph", 0, 4), Block("paragraph", 4, 8)))
    for _ in range(deep - 1):
        tree = Block("quote", 0, 8, children=(tree,))
    found = Leaves("a\n\n\nb\n\n\n", Block("document", 0, 8, children=(tree,)))
    assert list(map(found.depth, [0, 1, 4])) == [0, INSIDE, min(deep, INSIDE - 1)]
    assert found.kinds(0, 8) == ("quote", "paragraph")
