"""Facts about chunks, found by comparing them with their source alone.

Nothing here knows chunkast: the structure is read by markdown-it-py's own rules, and where
a chunk stands is looked up, not believed. White space is left out where places are compared,
for every chunker trims it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import accumulate, pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.front_matter import front_matter_plugin

__all__ = ("Facts", "Source", "facts")

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
# Where a sentence ends, read simply: after such a mark and white space.
_SENTENCE_END = re.compile(r"(?<=[.!?:;…])[)\]\"'*_`”»]*\s+|(?<=[。！？])")
# What a paragraph that ends with a colon leads in to.
_LED_IN = ("fence", "table_open", "bullet_list_open", "ordered_list_open")
# A chunk shorter than this may stand anywhere by chance: it counts as placed only right
# after the chunk before it. Characters other than white space.
_TELLING = 32


@dataclass(frozen=True, slots=True)
class Facts:
    """Counts over the chunks of one document; a corpus has their sums.

    ``solid`` are the source's characters other than white space, ``lost`` those of them that
    no chunk holds. ``fences`` and ``tables`` fit the budget, ``headings`` have something
    in their section.
    """

    chunks: int = 0
    rebuilt: int = 0
    solid: int = 0
    lost: int = 0
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
        self.solid = _squeezed(text)

    @cached_property
    def _before(self) -> list[int]:
        """The number of characters other than white space before each character."""
        return list(accumulate((not character.isspace() for character in self.text), initial=0))

    @cached_property
    def _tokens(self) -> list[Token]:
        parser = MarkdownIt("commonmark").enable("table").use(front_matter_plugin)
        return parser.parse(self.text)

    @cached_property
    def _lines(self) -> list[int]:
        """The start of each line as the parser counts lines, and the text's end."""
        return [line.start() for line in _LINE.finditer(self.text)] + [len(self.text)]

    def that_fit(self, kind: str, fits: Callable[[str], bool]) -> list[tuple[int, int]]:
        """Return the spans of the blocks of this token type that fit the budget alone."""
        spans = []
        for token in self._tokens:
            if token.type == kind and token.map:
                start, end = (self._lines[line] for line in token.map)
                # A fence in a list begins after the item's marker.
                start = max(start, self.text.find(token.markup, start))
                if fits(self.text[start:end].rstrip()):
                    spans.append((self._before[start], self._before[end]))
        return spans

    def solid_span(self, start: int, end: int) -> tuple[int, int]:
        """Convert a span of the text to characters other than white space."""
        return self._before[start], self._before[end]

    def titles(self) -> Iterator[tuple[int, int, str]]:
        """Yield start, level and title of each heading outside lists and quotes."""
        for token, inline in pairwise(self._tokens):
            if token.type == "heading_open" and token.level == 0 and token.map:
                yield self._lines[token.map[0]], int(token.tag[1]), inline.content

    def below_headings(self) -> Iterator[tuple[str, int, int]]:
        """Yield the title of each such heading and the text span of the block right below it."""
        outer = [token for token in self._tokens if token.level == 0 and token.nesting != -1]
        titles = {start: title for start, _, title in self.titles()}
        for token, after in pairwise(outer):
            if token.type == "heading_open" and token.map and after.map:
                start, end = self._text_span(after)
                yield titles[self._lines[token.map[0]]], start, end

    def _text_span(self, token: Token) -> tuple[int, int]:
        assert token.map
        return self._lines[token.map[0]], self._lines[token.map[1]]

    def sentences(self, fits: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
        """Yield the spans of sentences that fit the budget alone."""
        for token in self._tokens:
            if token.type == "paragraph_open":
                start, end = self._text_span(token)
                for part in _sentences(self.text[start:end]):
                    if fits(part):
                        yield self.solid_span(start, start + len(part))
                    start += len(part)

    def lead_ins(self, fits: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
        """Yield the end of each lead-in and the start of what it introduces.

        A paragraph that ends with a colon, and right after it a fence, a table or a list. The two
        fit the budget together (a list: its first item).
        """
        outer = [token for token in self._tokens if token.nesting != -1 and token.map]
        for place, token in enumerate(outer):
            after = next((t for t in outer[place + 1 :] if t.type != "inline"), None)
            if token.type != "paragraph_open" or after is None or after.type not in _LED_IN:
                continue
            start, end = self._text_span(token)
            led = outer[outer.index(after) + 1] if "list" in after.type else after
            follows, last = self._text_span(led)
            together = self.text[start:last].rstrip()
            if self.text[start:end].rstrip().endswith(":") and fits(together):
                yield self._before[end], self._before[follows]

    @cached_property
    def heading_ends(self) -> list[int]:
        """The ends of headings outside lists and quotes whose sections are not empty."""
        outer = [token for token in self._tokens if token.level == 0 and token.nesting != -1]
        return [
            self._before[self._lines[token.map[1]]]
            for token, after in pairwise(outer)
            if token.type == "heading_open"
            and token.map
            and not (after.type == "heading_open" and after.tag <= token.tag)
        ]


def facts(source: Source, chunks: Sequence[str], fits: Callable[[str], bool]) -> Facts:
    """Compare chunks, in order and without overlap, with their source."""
    solid = [_squeezed(chunk) for chunk in chunks]
    placed = _placed(source.solid, solid)
    spans = [span for span in placed if span]
    adrift = [chunk for chunk, span in zip(solid, placed, strict=True) if not span]

    def cut(span: tuple[int, int]) -> bool:
        start, end = span
        held = any(first <= start and end <= last for first, last in spans)
        return not held and not any(source.solid[start:end] in chunk for chunk in adrift)

    fences, tables = (source.that_fit(kind, fits) for kind in ("fence", "table_open"))
    ends = {end for _, end in spans}
    return Facts(
        chunks=len(chunks),
        rebuilt=_rebuilt(source.text, chunks),
        solid=len(source.solid),
        lost=_lost(source.solid, solid, placed),
        fences=len(fences),
        fences_cut=sum(map(cut, fences)),
        tables=len(tables),
        tables_cut=sum(map(cut, tables)),
        headings=len(source.heading_ends),
        headings_left=sum(end in ends for end in source.heading_ends),
    )


def _sentences(text: str) -> Iterator[str]:
    """Yield the parts of a paragraph, cut after each sentence."""
    at = 0
    for match in _SENTENCE_END.finditer(text):
        yield text[at : match.end()]
        at = match.end()
    if at < len(text):
        yield text[at:]


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _placed(source: str, chunks: Sequence[str]) -> list[tuple[int, int] | None]:
    """Return the span of each chunk, searched from the end of the previous; ``None`` if not found."""
    at = 0
    placed: list[tuple[int, int] | None] = []
    for chunk in chunks:
        found = at if source.startswith(chunk, at) else -1
        if found < 0 and len(chunk) >= _TELLING:
            found = source.find(chunk, at)
        if found < 0:
            placed.append(None)
        else:
            at = found + len(chunk)
            placed.append((found, at))
    return placed


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


def _lost(source: str, chunks: Sequence[str], placed: Sequence[tuple[int, int] | None]) -> int:
    """Count characters that are in no chunk.

    Between two chunks with a place it is what the chunks between them, which have none, do
    not share with the source there.
    """
    lost = at = 0
    adrift = ""
    for chunk, span in zip([*chunks, ""], [*placed, (len(source), len(source))], strict=True):
        if span is None:
            adrift += chunk
            continue
        lost += _unshared(source[at : span[0]], adrift)
        adrift = ""
        at = span[1]
    return lost


def _unshared(gap: str, adrift: str) -> int:
    if not gap or not adrift:
        return len(gap)
    shared = SequenceMatcher(None, gap, adrift, autojunk=False).get_matching_blocks()
    return len(gap) - sum(block.size for block in shared)
