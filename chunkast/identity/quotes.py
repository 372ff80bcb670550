"""Quotes: whether a text holds one, and exactly where, although white space differs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from chunkast.model import Chunk
from chunkast.text.hashes import normalize_text
from chunkast.text.source_map import SourceMap
from chunkast.text.white_space import WHITE_SPACE

__all__ = ("Citation", "locate_quote", "validate_quote")

MAX_QUOTE: Final = 240
# Runs of white space other than one single blank.
_NOT_ONE_BLANK: Final = re.compile(f"(?! (?![{WHITE_SPACE}]))[{WHITE_SPACE}]+")


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a quote stands in its source, in the units of :class:`chunkast.Chunk`.

    ``chunk_ids`` are the chunks that hold it whole: none where a cut runs through it,
    two where one chunk repeats the end of another.
    """

    source: str | None
    start_index: int
    end_index: int
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    chunk_ids: tuple[str, ...] = ()


def validate_quote(quote: str, text: str, max_chars: int = MAX_QUOTE) -> bool:
    """Whether ``text`` holds ``quote`` word for word, white space aside.

    Case, markup and Unicode forms count. A quote that is empty, blank, or longer than
    ``max_chars`` characters as it was given is not valid.
    """
    wanted = normalize_text(quote)
    return bool(wanted) and len(quote) <= max_chars and wanted in normalize_text(text)


def locate_quote(quote: str, where: str | Iterable[Chunk]) -> tuple[Citation, ...]:
    """Every place of ``quote`` in a source text or in chunks, in order; none for a blank quote.

    White space differs freely, as in :func:`validate_quote`; places do not overlap each
    other. ``where`` is the source itself (then citations have no source and no chunk
    ids), or chunks, document by document, in order: all of them or any selection. A
    quote may run over a cut between chunks that follow one another.
    """
    wanted = normalize_text(quote)
    if not wanted:
        return ()
    if isinstance(where, str):
        return tuple(_in_text(wanted, where))
    return tuple(found for run in _runs(where) for found in _in_chunks(wanted, run))


class _Normalized:
    """A text with its white space normalized (but at the ends), and the way back."""

    def __init__(self, text: str) -> None:
        # Positions here and there, each pair good up to the next one.
        self._here = [0]
        self._there = [0]
        parts: list[str] = []
        size = at = 0
        for match in _NOT_ONE_BLANK.finditer(text):
            start, end = match.span()
            parts.append(text[at:start])
            parts.append(" ")
            size += start - at + 1
            self._here.append(size)
            self._there.append(end)
            at = end
        parts.append(text[at:])
        self._text = "".join(parts)

    def places(self, wanted: str) -> Iterator[tuple[int, int]]:
        """The spans of the text that ``wanted``, normalized and not empty, covers."""
        at = self._text.find(wanted)
        while at >= 0:
            end = at + len(wanted)
            yield self._origin(at), self._origin(end - 1) + 1
            at = self._text.find(wanted, end)

    def _origin(self, position: int) -> int:
        slot = bisect_right(self._here, position) - 1
        return self._there[slot] + position - self._here[slot]


def _places(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    if wanted in normalize_text(text):  # much faster than what leads back, and mostly false
        yield from _Normalized(text).places(wanted)


def _in_text(wanted: str, text: str) -> Iterator[Citation]:
    source_map = SourceMap(text)
    for start, end in _places(wanted, text):
        yield Citation(
            None,
            start,
            end,
            source_map.byte(start),
            source_map.byte(end),
            source_map.line(start),
            source_map.line(end - 1),
        )


def _runs(chunks: Iterable[Chunk]) -> Iterator[list[Chunk]]:
    """Chunks that follow one another in one document."""
    run: list[Chunk] = []
    for chunk in chunks:
        if run and (run[-1].source, run[-1].index + 1) != (chunk.source, chunk.index):
            yield run
            run = []
        run.append(chunk)
    if run:
        yield run


def _in_chunks(wanted: str, chunks: Sequence[Chunk]) -> Iterator[Citation]:
    """``chunks`` follow one another: between them lies white space, or nothing."""
    # Where each chunk's own text begins, in the source and in the texts put together. The
    # first chunk's overlap is text that no other chunk of the run has.
    there = [chunk.start_index + chunk.overlap for chunk in chunks]
    there[0] = chunks[0].start_index
    here: list[int] = []
    parts: list[str] = []
    size = 0
    end = there[0]
    for chunk, start in zip(chunks, there, strict=True):
        if start > end:
            parts.append(" ")
            size += 1
        here.append(size)
        parts.append(chunk.text[start - chunk.start_index :])
        size += len(parts[-1])
        end = chunk.end_index
    maps: dict[int, SourceMap] = {}
    for first, last in _places(wanted, "".join(parts)):
        one, two = (bisect_right(here, at) - 1 for at in (first, last - 1))
        start, end = there[one] + first - here[one], there[two] + last - here[two]
        begin, stop = chunks[one], chunks[two]
        for slot in (one, two):
            if slot not in maps:
                maps[slot] = SourceMap(chunks[slot].text)
        yield Citation(
            begin.source,
            start,
            end,
            begin.start_byte + maps[one].byte(start - begin.start_index),
            stop.start_byte + maps[two].byte(end - stop.start_index),
            begin.start_line + maps[one].line(start - begin.start_index) - 1,
            stop.start_line + maps[two].line(end - 1 - stop.start_index) - 1,
            tuple(_holders(chunks, one, start, end)),
        )


def _holders(chunks: Sequence[Chunk], first: int, start: int, end: int) -> Iterator[str]:
    """The ids of the chunks that hold the span whole, ``chunks[first]`` being where it begins."""
    for slot in range(first, len(chunks)):
        # Those behind hold it too where they repeat enough.
        if chunks[slot].start_index > start:
            return
        if end <= chunks[slot].end_index:
            yield chunks[slot].id
