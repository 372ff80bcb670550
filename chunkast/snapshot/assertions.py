"""Assertions for tests, for example that no block is split or that no chunk exceeds a budget.

Each assertion takes the chunks of one document, in order. On failure, it raises ``AssertionError``
with a message that names the affected chunks or lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from chunkast.chunker import Chunker
from chunkast.identity import locate_quote
from chunkast.model import Chunk
from chunkast.output.view.visible import shorten, visible
from chunkast.text.source_map import SourceMap
from chunkast.text.white_space import is_blank
from chunkast.tokens import resolve_counter

__all__ = ("assert_budget", "assert_cites", "assert_in_one_chunk", "assert_whole")

# The maximum number of faults in a message, and of characters in a quoted text.
_MOST: Final = 10
_TEXT: Final = 60


def assert_whole(
    chunks: Iterable[Chunk], text: str, kind: str = "fence", chunker: Chunker | None = None
) -> None:
    r"""Assert that each block or protected region of ``kind`` in ``text`` is in a single chunk.

    ``text`` is the whole document, which is parsed with ``chunker`` or the default configuration.
    White space at the end of a block is ignored. The assertion also fails if ``text`` has no block
    or region of this kind.

    >>> from chunkast import chunk
    >>> document = "Run it:\n\n```sh\nmake\n```\n"
    >>> assert_whole(chunk(document), document)
    """
    __tracebackhide__ = True
    chunks = list(chunks)
    source = chunks[0].source if chunks else None
    analysis = (Chunker() if chunker is None else chunker).analyze(text, source)
    spans = {(block.start, block.end) for block in analysis.blocks.walk() if block.kind == kind}
    spans |= {(region.start, region.end) for region in analysis.regions if region.kind == kind}
    if not spans:
        raise AssertionError(f"there is no {kind} in the text")
    faults = []
    lines = SourceMap(text)
    for start, end in sorted(spans):
        end = start + len(text[start:end].rstrip())  # noqa: PLW2901
        if not any(c.start_index <= start and end <= c.end_index for c in chunks):
            last = lines.line(max(start, end - 1))
            chunks_there = _chunks_in(chunks, start, end) or "none"
            faults.append(f"lines {lines.line(start)}-{last}, in {chunks_there}")
    _fail(f"{kind} divided", faults)


def assert_in_one_chunk(chunks: Iterable[Chunk], quote: str) -> None:
    """Assert that one chunk contains all of ``quote``. Differences in white space are ignored.

    >>> from chunkast import chunk
    >>> assert_in_one_chunk(chunk("Apples are red."), "are  red")
    """
    __tracebackhide__ = True
    chunks = list(chunks)
    places = locate_quote(quote, chunks, strict=True)
    if any(place.chunk_ids for place in places):
        return
    shown = repr(shorten(visible(quote), _TEXT))
    if not places:
        raise AssertionError(f"{shown} is in no chunk, nor in consecutive chunks")
    faults = []
    for place in places:
        same_source = [chunk for chunk in chunks if chunk.source == place.source]
        chunks_there = _chunks_in(same_source, place.start_index, place.end_index)
        faults.append(f"lines {place.start_line}-{place.end_line}, in {chunks_there}")
    _fail(f"{shown} divided", faults)


def assert_budget(chunks: Iterable[Chunk], max_tokens: int, encoding: Any = "cl100k_base") -> None:
    """Assert that no chunk and no embedded text has more than ``max_tokens`` tokens.

    Tokens are counted again, with ``encoding`` as in ``ChunkConfig``. The assertion also fails for
    chunks that are flagged as ``oversize``.

    >>> from chunkast import chunk
    >>> assert_budget(chunk("Apples are red.", max_tokens=8), 8)
    """
    __tracebackhide__ = True
    count = resolve_counter(encoding).count
    faults = [
        f"{_named(chunk)}: {tokens:,} tokens{what}"
        for chunk in chunks
        for text, what in ((chunk.text, ""), (chunk.embed_text, " with its context"))
        if (tokens := count(text)) > max_tokens
    ]
    _fail(f"more than {max_tokens:,} tokens", faults)


def assert_cites(chunks: Iterable[Chunk], text: str) -> None:
    """Assert that each chunk's text is at its positions in ``text``, and that no text is lost.

    Positions are checked in characters, bytes and lines. All text between chunks must be white
    space.

    >>> from chunkast import chunk
    >>> assert_cites(chunk("Apples are red."), "Apples are red.")
    """
    __tracebackhide__ = True
    _fail("text that is not at its positions, or lost", list(_uncited(list(chunks), text)))


def _uncited(chunks: Sequence[Chunk], text: str) -> Iterator[str]:
    end, places = 0, SourceMap(text)
    for chunk in chunks:
        if text[chunk.start_index : chunk.end_index] != chunk.text:
            yield f"{_named(chunk)}: its text is not at characters {chunk.start_index:,}-{chunk.end_index:,}"
            continue
        own = chunk.start_byte, chunk.start_line, chunk.end_byte, chunk.end_line
        first, after = chunk.start_index, chunk.end_index
        start = places.byte(first), places.line(first)
        if own != (*start, places.byte(after), places.line(after - 1)):
            yield f"{_named(chunk)}: its bytes or lines are not those of its characters"
        yield from _lost(text, end, chunk.start_index)
        end = max(end, chunk.end_index)
    yield from _lost(text, end, len(text))


def _lost(text: str, start: int, end: int) -> Iterator[str]:
    between = text[start:end].lstrip("\ufeff")
    if not is_blank(between):
        yield f"in no chunk: {shorten(visible(between.strip()), _TEXT)!r}"


def _chunks_in(chunks: Iterable[Chunk], start: int, end: int) -> str:
    """Return the names of the chunks that share characters with the span ``[start, end)``."""
    return ", ".join(_named(c) for c in chunks if c.start_index < end and start < c.end_index)


def _named(chunk: Chunk) -> str:
    source = "" if chunk.source is None else f"{visible(chunk.source)}:"
    return f"chunk {chunk.index} ({source}{chunk.start_line}-{chunk.end_line})"


def _fail(what: str, faults: Sequence[str]) -> None:
    __tracebackhide__ = True
    if faults:
        more = [f"and {len(faults) - _MOST:,} more"] if len(faults) > _MOST else []
        raise AssertionError("\n  ".join([f"{what}:", *faults[:_MOST], *more]))
