"""Analyze a source file: definitions become sections, and statements become blocks."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chunkast.analysis.structure import Structure
from chunkast.analysis.syntax import scored
from chunkast.code import Item, Outliner, language_named, versions
from chunkast.config import ChunkConfig
from chunkast.model import Analysis, Block, BreakPoint, Heading, ProtectedRegion
from chunkast.text.source_map import line_starts
from chunkast.text.white_space import is_blank

__all__ = ("read_code",)

_LOG = logging.getLogger(__name__)
_SECTIONS = frozenset({"class", "function", "type"})
# The first level is that of a document's title, which a source file does not have.
_FIRST_LEVEL = 2


@dataclass(frozen=True, slots=True)
class _Definition:
    """An item with its start, the start of the next item, and the end of the items inside it."""

    item: Item
    start: int
    next: int
    end: int

    @property
    def has_inner(self) -> bool:
        return self.next < self.end

    @property
    def is_section(self) -> bool:
        return self.has_inner and self.item.kind in _SECTIONS and self.item.named is not None


def read_code(text: str, language: str, config: ChunkConfig) -> Structure:
    """Return the structure of a source file. Never raises.

    If the language is unknown or its grammar is not installed, the structure has one block and no
    break points. The block is divided later, at blank lines and indentation.
    """
    known = language_named(language)
    positions = line_starts(text)
    lines = [text[start:end].rstrip("\r\n") for start, end in pairwise(positions)]
    items: list[Item] = []
    if known is not None and versions():
        first = [line.removeprefix("\ufeff") for line in lines[:1]]
        items = Outliner().items([*first, *lines[1:]], known)
    else:
        _LOG.info("no grammar for %r: cut at blank lines and indentation", language)
    points = scored(items, lines, positions, config.score_table)
    definitions = list(_definitions(text, items, positions))
    analysis = Analysis(
        text=text,
        blocks=Block("document", 0, len(text), tuple(_blocks(text, definitions))),
        break_points=tuple(BreakPoint(*point[:3]) for point in points if point.pos),
        regions=tuple(_regions(definitions)),
        headings=tuple(_headings(lines, definitions)),
    )
    return Structure(analysis, config, complete=True)


def _definitions(
    text: str, items: Sequence[Item], positions: Sequence[int]
) -> Iterator[_Definition]:
    starts = [positions[item.line] for item in items]
    nexts = [*starts[1:], len(text)]
    ends = [len(text)] * len(items)
    around: list[int] = []
    for number, item in enumerate(items):
        while around and items[around[-1]].depth >= item.depth:
            ends[around.pop()] = starts[number]
        around.append(number)
    yield from map(_Definition, items, starts, nexts, ends)


def _blocks(text: str, definitions: Sequence[_Definition]) -> Iterator[Block]:
    """Yield leaves that tile the text, each from the start of an item to the start of the next."""
    begun = definitions[0].start if definitions else len(text)
    if begun:
        yield Block("blank" if is_blank(text[:begun]) else "code", 0, begun)
    for definition in definitions:
        yield Block(
            "signature" if definition.is_section else "code", definition.start, definition.next
        )


def _regions(definitions: Sequence[_Definition]) -> Iterator[ProtectedRegion]:
    """Yield a protected region for each item that contains other items."""
    for definition in definitions:
        if definition.has_inner:
            yield ProtectedRegion(definition.start, definition.end, "code")


def _headings(lines: Sequence[str], definitions: Sequence[_Definition]) -> Iterator[Heading]:
    """Yield a heading for each definition, and an untitled one for code after a definition."""
    around: list[_Definition] = []
    path: tuple[str, ...] = ()
    for definition in definitions:
        before = len(around)
        while around and around[-1].end <= definition.start:
            around.pop()
        path = path[: len(around)]
        level = _FIRST_LEVEL + len(around)
        if definition.is_section and definition.item.named is not None:
            line, start, end = definition.item.named
            title = " ".join(lines[line][start:end].split())
            around.append(definition)
            path = (*path, title)
            yield Heading(definition.start, definition.next, level, title, path)
        elif len(around) < before:
            yield Heading(definition.start, definition.next, level, "", path)
