"""Facts about chunks, found by comparing them with their source alone.

Nothing here uses chunkast: markdown-it-py reads the structure, and the place of each chunk is
looked up. Places are compared without white space, because every chunker trims it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.front_matter import front_matter_plugin

__all__ = ("Facts", "Source", "facts", "placed", "squeezed")

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
# A shorter chunk may be found anywhere by chance: it is placed only right after the previous one.
# Characters other than white space.
_TELLING = 32


@dataclass(frozen=True, slots=True)
class Facts:
    """Counts over the chunks of one document; a corpus has their sums.

    ``fences`` and ``tables`` fit the budget, ``headings`` have a section that is not empty.
    """

    chunks: int = 0
    rebuilt: int = 0
    fences: int = 0
    fences_cut: int = 0
    tables: int = 0
    tables_cut: int = 0
    headings: int = 0
    headings_left: int = 0


class Source:
    """A source text. Spans count characters other than white space."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.solid = squeezed(text)

    @cached_property
    def before(self) -> list[int]:
        """The number of characters other than white space before each character."""
        return list(accumulate((not character.isspace() for character in self.text), initial=0))

    @cached_property
    def tokens(self) -> list[Token]:
        parser = MarkdownIt("commonmark").enable("table").use(front_matter_plugin)
        return parser.parse(self.text)

    @cached_property
    def outer(self) -> list[Token]:
        return [token for token in self.tokens if token.level == 0 and token.nesting != -1]

    @cached_property
    def lines(self) -> list[int]:
        """The start of each line as the parser counts lines, and the text's end."""
        return [line.start() for line in _LINE.finditer(self.text)] + [len(self.text)]

    def that_fit(self, kind: str, fits: Callable[[str], bool]) -> list[tuple[int, int]]:
        """Return the spans of the blocks of this token type that fit the budget alone."""
        spans = []
        for token in self.tokens:
            if token.type == kind and token.map:
                start, end = (self.lines[line] for line in token.map)
                # A fence in a list begins after the item's marker.
                start = max(start, self.text.find(token.markup, start))
                if fits(self.text[start:end].rstrip()):
                    spans.append((self.before[start], self.before[end]))
        return spans

    def below_headings(self) -> Iterator[tuple[str, int, int]]:
        """Yield the title of each outer heading and the text span of the block right below it."""
        titles = {id(token): inline.content for token, inline in pairwise(self.tokens)}
        for token, after in pairwise(self.outer):
            if token.type == "heading_open" and after.map:
                start, end = (self.lines[line] for line in after.map)
                yield titles[id(token)], start, end

    @cached_property
    def heading_ends(self) -> list[int]:
        """The ends of headings outside lists and quotes whose sections are not empty."""
        return [
            self.before[self.lines[token.map[1]]]
            for token, after in pairwise(self.outer)
            if token.type == "heading_open"
            and token.map
            and not (after.type == "heading_open" and after.tag <= token.tag)
        ]


def facts(source: Source, chunks: Sequence[str], fits: Callable[[str], bool]) -> Facts:
    """Compare chunks, in order and without overlap, with their source."""
    solid = [squeezed(chunk) for chunk in chunks]
    spots = placed(source.solid, solid)
    spans = [span for span in spots if span]
    adrift = [chunk for chunk, span in zip(solid, spots, strict=True) if not span]

    def cut(span: tuple[int, int]) -> bool:
        start, end = span
        held = any(first <= start and end <= last for first, last in spans)
        return not held and not any(source.solid[start:end] in chunk for chunk in adrift)

    fences, tables = (source.that_fit(kind, fits) for kind in ("fence", "table_open"))
    ends = {end for _, end in spans}
    return Facts(
        chunks=len(chunks),
        rebuilt=_rebuilt(source.text, chunks),
        fences=len(fences),
        fences_cut=sum(map(cut, fences)),
        tables=len(tables),
        tables_cut=sum(map(cut, tables)),
        headings=len(source.heading_ends),
        headings_left=sum(end in ends for end in source.heading_ends),
    )


def squeezed(text: str) -> str:
    """Return the text without white space."""
    return "".join(text.split())


def placed(source: str, chunks: Sequence[str]) -> list[tuple[int, int] | None]:
    """Return the span of each chunk, searched from the end of the previous; ``None`` if not found."""
    at = 0
    spots: list[tuple[int, int] | None] = []
    for chunk in chunks:
        found = at if source.startswith(chunk, at) else -1
        if found < 0 and len(chunk) >= _TELLING:
            found = source.find(chunk, at)
        if found < 0:
            spots.append(None)
        else:
            at = found + len(chunk)
            spots.append((found, at))
    return spots


def _rebuilt(text: str, chunks: Sequence[str]) -> int:
    """Count chunks that are not a slice of the text, searched from the end of the previous."""
    at = rebuilt = 0
    for chunk in chunks:
        found = text.find(chunk, at)
        if found < 0:
            rebuilt += 1
        elif len(chunk) >= _TELLING or not text[at:found].strip():
            at = found + len(chunk)
    return rebuilt
