"""Small texts, and the blocks that they are read as."""

from __future__ import annotations

from chunkast import Chunker
from chunkast.config import DEFAULT_EXTENSIONS
from chunkast.model import Block
from tests.tables import cases


def shape(text: str, extensions: tuple[str, ...] = DEFAULT_EXTENSIONS) -> str:
    """The kinds of all blocks but blank lines, with the info and the blocks of containers."""

    def inside(block: Block) -> str:
        return " ".join(map(shown, (child for child in block.children if child.kind != "blank")))

    def shown(block: Block) -> str:
        info = f"[{block.info}]" if block.info else ""
        return f"{block.kind}{info}({inside(block)})" if block.children else block.kind

    return inside(Chunker(extensions=extensions).analyze(text).blocks)


@cases(
    "blocks",
    *(
        "containers",
        "conflicts",
        "code between tags",
        "pairs of tags",
        "text tables",
        "definitions",
        "tabs",
    ),
    *("slashes and elements", "text between rules", "alerts"),
)
def test_blocks_begin_and_end_where_their_writers_mean_it(text: str, blocks: str) -> None:
    assert shape(text) == blocks
    assert shape(text.replace("\n", "\r\n")) == blocks


@cases("blocks", "containers")
def test_containers_are_the_same_in_a_quote(text: str, blocks: str) -> None:
    assert shape("".join(f"> {line}\n" for line in text.splitlines())) == f"quote({blocks})"


@cases("blocks", "slashes and elements")
def test_containers_and_labels_need_the_extension(text: str, blocks: str) -> None:
    plain = shape(text, ())
    assert not any(kind in plain for kind in ("container", "label", "closer")), (plain, blocks)
