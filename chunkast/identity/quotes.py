"""Check quotes, and find their exact positions in a text or in chunks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, islice, takewhile

from chunkast.identity.quote_places import Finder, finder
from chunkast.model import Chunk
from chunkast.text.hashes import normalize_text
from chunkast.text.pages import page_marks, page_starts, pages_of, pages_of_text
from chunkast.text.source_map import SourceMap

__all__ = ("Citation", "locate_quote", "validate_quote")


@dataclass(frozen=True, slots=True)
class Citation:
    """The position of a quote in its source, in the same units as in :class:`chunkast.Chunk`.

    source: the document's name, or None.
    start_index: the start of the quote in the document, as a character index from 0.
    end_index: the end of the quote in the document, as an exclusive character index.
    start_byte: the start of the quote in the document, as a byte index in UTF-8, from 0.
    end_byte: the end of the quote in the document, as an exclusive byte index in UTF-8.
    start_line: the 1-based line number of the first character of the quote.
    end_line: the 1-based line number of the last character of the quote.
    pages: the 1-based numbers of the pages on which the quote begins and ends, or None if the
        document has no page marks. If the page marks in a chunk do not show where its pages
        begin, the chunk's first or last page is used.
    chunk_ids: the ids of the chunks that contain the whole quote. Empty if the quote is split
        across chunks; two or more ids if it is in an overlap.
    section: the heading path of the section in which the quote begins; empty if the quote was found
        in a text instead of chunks.
    verbatim: whether the quote matches word for word, apart from white space.
    """

    source: str | None
    start_index: int
    end_index: int
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    chunk_ids: tuple[str, ...] = ()
    pages: tuple[int, int] | None = None
    section: tuple[str, ...] = ()
    verbatim: bool = True


def validate_quote(quote: str, text: str, max_chars: int = 240) -> bool:
    r"""Return whether ``text`` contains ``quote`` word for word, apart from white space.

    Case, markup and Unicode forms must match. A quote that is empty, blank, or longer than
    ``max_chars`` characters (before its white space is normalized) is not valid. Never raises.

    >>> from chunkast import validate_quote
    >>> validate_quote("are red", "Apples are\nred.")
    True
    """
    wanted = normalize_text(quote)
    return bool(wanted) and len(quote) <= max_chars and wanted in normalize_text(text)


def locate_quote(
    quote: str,
    where: str | Iterable[Chunk],
    *,
    page_markers: str | None = None,
    strict: bool = False,
) -> tuple[Citation, ...]:
    r"""Return a citation for each occurrence of ``quote`` in a text or in chunks.

    White space may differ, as in :func:`validate_quote`. If a document has no such occurrence, a
    looser match is tried, for which ``verbatim`` is false. It ignores differences in markup,
    entities, quotes, dashes, letter style (such as mathematical bold), soft hyphens and end-of-line
    hyphenation. In a looser match, "..." in the quote matches up to 2,000 characters. Letters and
    case must always match. Occurrences do not overlap. A blank quote has no occurrences.

    where: the text of a document, or chunks in order, document by document. A quote may continue
        from one chunk to the next. Citations in a text have no source and no chunk ids.
    page_markers: the ``page_markers`` with which the chunks were made.
    strict: return only verbatim citations.

    Raises ``re.error`` for an invalid pattern in ``page_markers``.

    >>> from chunkast import locate_quote
    >>> [citation] = locate_quote("red. Pears", "Apples are red.\nPears are green.")
    >>> citation.start_index, citation.end_index, citation.start_line, citation.end_line
    (11, 21, 1, 2)
    >>> [citation] = locate_quote("Apples are red", "Apples are **red**.")
    >>> citation.start_index, citation.end_index, citation.verbatim
    (0, 16, False)
    """
    find = finder(quote, strict=strict)
    if isinstance(where, str):
        return tuple(_in_text(find, where, page_markers))
    return tuple(at for run in _runs(where) for at in _in_chunks(find, run, page_markers))


def _in_text(find: Finder, text: str, own: str | None) -> Iterator[Citation]:
    places, verbatim = find(text)
    source_map = SourceMap(text)
    pages = list(_page_starts(text, own)) if places else []
    for start, end in places:
        yield Citation(
            None,
            start,
            end,
            source_map.byte(start),
            source_map.byte(end),
            source_map.line(start),
            source_map.line(end - 1),
            pages=pages_of(pages, start, end),
            verbatim=verbatim,
        )


def _page_starts(text: str, own: str | None, first: int | None = None) -> Iterator[tuple[int, int]]:
    from chunkast.markdown import parse_document
    from chunkast.markdown.page_marks import marks_outside_fences

    return page_starts(marks_outside_fences(page_marks(text, own), text, parse_document), first)


class _Positions:
    """Converts character indices in one chunk to the bytes, lines and pages of its document."""

    def __init__(self, chunk: Chunk, own: str | None) -> None:
        self._chunk = chunk
        self._map = SourceMap(chunk.text)
        self._starts = _page_starts_in(chunk, own)

    def byte(self, pos: int) -> int:
        return self._chunk.start_byte + self._map.byte(pos - self._chunk.start_index)

    def line(self, pos: int) -> int:
        return self._chunk.start_line + self._map.line(pos - self._chunk.start_index) - 1

    def pages(self, pos: int) -> tuple[int, int] | None:
        """Return the page of the character at ``pos``, twice, as a pair of first and last page.

        Returns the chunk's pages if the page of the character is unknown.
        """
        inside = pos - self._chunk.start_index
        return pages_of(self._starts, inside, inside + 1) or self._chunk.pages


def _page_starts_in(chunk: Chunk, own: str | None) -> list[tuple[int, int]]:
    """Return the start and the number of each page in a chunk's text.

    The list is empty if the page marks in the text contradict the chunk's pages: the document may
    use different marks, or a fence may begin before the chunk.
    """
    if chunk.pages is None or chunk.pages[0] == chunk.pages[1]:
        return []
    starts = list(_page_starts(chunk.text, own, first=0))
    first, last = pages_of_text(starts, chunk.text) or (0, 0)
    ahead = chunk.pages[0] - first
    return [(pos, page + ahead) for pos, page in starts] if chunk.pages[1] - last == ahead else []


def _runs(chunks: Iterable[Chunk]) -> Iterator[list[Chunk]]:
    """Yield lists of consecutive chunks of the same document."""
    # The index of a chunk and its place in ``chunks`` grow together as long as a run lasts.
    pairs = groupby(enumerate(chunks), lambda pair: (pair[1].source, pair[1].index - pair[0]))
    yield from ([chunk for _, chunk in run] for _, run in pairs)


def _in_chunks(find: Finder, chunks: Sequence[Chunk], own: str | None) -> Iterator[Citation]:
    """Yield the citations of a quote in consecutive ``chunks`` that only white space separates."""
    # The start of each chunk's own text, in the source (``there``) and in the joined texts
    # (``here``). The first chunk's overlap is kept, because no other chunk of the run has it.
    there = [chunk.start_index + chunk.overlap for chunk in chunks]
    there[0] = chunks[0].start_index
    here: list[int] = []
    parts: list[str] = []
    size = 0
    end = there[0]
    for chunk, start in zip(chunks, there, strict=True):
        gap = " " if start > end else ""
        parts.append(gap + chunk.text[start - chunk.start_index :])
        here.append(size + len(gap))
        size += len(parts[-1])
        end = chunk.end_index
    positions = cache(lambda slot: _Positions(chunks[slot], own))
    places, verbatim = find("".join(parts))
    for first, last in places:
        one, two = (bisect_right(here, at) - 1 for at in (first, last - 1))
        start, end = there[one] + first - here[one], there[two] + last - here[two]
        begin, stop = positions(one), positions(two)
        pages, last_pages = begin.pages(start), stop.pages(end - 1)
        yield Citation(
            chunks[one].source,
            start,
            end,
            begin.byte(start),
            stop.byte(end),
            begin.line(start),
            stop.line(end - 1),
            tuple(_containing(chunks, one, start, end)),
            (pages[0], last_pages[1]) if pages and last_pages else None,
            chunks[one].section_at(start),
            verbatim,
        )


def _containing(chunks: Sequence[Chunk], first: int, start: int, end: int) -> Iterator[str]:
    """Yield the ids of the chunks that contain all of a span, which begins in ``chunks[first]``."""
    # Later chunks contain it too if their overlap is long enough.
    begun = takewhile(lambda chunk: chunk.start_index <= start, islice(chunks, first, None))
    yield from (chunk.id for chunk in begun if end <= chunk.end_index)
