"""The answers of the MCP tools: plain text within a token limit, with places to read next."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final
from warnings import catch_warnings, simplefilter

from pydantic import Field

from chunkast.errors import ChunkastWarning, ConfigError
from chunkast.index.terms import content_words
from chunkast.mcp.document_pages import DEFAULT_TOKENS, Pages, printable
from chunkast.output.text import section_line
from chunkast.reading.passages import most_fitting
from chunkast.text.source_map import line_starts

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.index import Hit, Store
    from chunkast.model import Chunk
    from chunkast.reading import Passage

__all__ = ("Answers",)

# A range of lines, or from a character of the first line on.
_LINES: Final = "^[0-9]{1,9}(:[1-9][0-9]{0,8})?-[0-9]{1,9}$"
# The most hits of a search; more would not help an agent.
_HITS: Final = 20
_HIT_LINES: Final = 2
# The places of further hits take at most this share of an answer.
_PLACES_SHARE: Final = 6
# The number of searches for the passages that fit an answer together with the lines above them.
_ATTEMPTS: Final = 4
# The number of ids whose queries are remembered.
_REMEMBERED: Final = 10_000
_LINE_LENGTH: Final = 100
# The only characters of a line without content.
_MARKS: Final = "#-=*`~|:> \t"
# An outline with fewer sections than this is of little use.
_FEW: Final = 4
_MORE_SECTIONS: Final = "more sections; search(query, within=source) finds them"
_MORE_PLACES: Final = "more places"
# Destinations of links, which would crowd out the text of a hit.
_DESTINATION: Final = re.compile(r"\]\(\S*?\)")
# Reserved for the prefix that the protocol adds to an error.
_ERROR_TOKENS: Final = 10

MaxTokens = Annotated[int, Field(ge=100, description="the maximum number of tokens in the answer")]


class Answers:
    """The answers from an index.

    ``chunker`` counts tokens and parses documents; ``embed`` returns the vector of a query or None.
    """

    def __init__(
        self,
        store: Store,
        chunker: Chunker,
        embed: Callable[[str], list[float] | None] = lambda _query: None,
    ) -> None:
        self._store = store
        self._embed = embed
        self._chunker = chunker
        self._count = chunker.counter.count
        # The last query that found each chunk, by the chunk's id.
        self._queries: dict[str, str] = {}

    async def outline(
        self,
        source: Annotated[str | None, Field(description="a document; default: list all")] = None,
        depth: Annotated[int | None, Field(ge=1, description="the deepest level shown")] = None,
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> str:
        """List the documents, or the sections of one, with their lines and token costs."""
        if source is None:
            costs = self._store.outline()
            listed = [f"{printable(name)}  {tokens:,} tokens" for name, tokens in costs.items()]
            return self._first(listed, max_tokens, "more documents; search(query) finds them")
        outline = self._store.outline(source, chunker=self._chunker)
        answer = ""
        for level in [depth] if depth else range(6, 0, -1):
            lines = [printable(section_line(section)) for section in outline.down_to(level)]
            if answer and len(lines) < _FEW:
                break  # the previous answer is more useful, although it is shortened
            hidden = len(outline.sections) - len(lines)
            answer = self._first(lines, max_tokens, _MORE_SECTIONS, hidden)
            if answer.startswith("\n".join(lines)):
                break
        return answer

    async def search(
        self,
        query: Annotated[str, Field(description="words, or a question")],
        max_tokens: MaxTokens = 1_000,
        within: Annotated[str | None, Field(description="a glob for sources: 'docs/*'")] = None,
    ) -> str:
        """Find passages by words: the text of the best, each below source:lines, section and id.

        The places of the next ones follow if they fit.
        """
        search = partial(
            self._store.search, query, vector=self._embed(query), limit=_HITS, within=within
        )
        found = search(10**9)
        if not found:
            return "Nothing contains a word of the query. outline() lists the documents."
        passages = self._passages(partial(search, chunker=self._chunker), max_tokens)
        self._remember(query, found)
        answer = "\n\n".join(map(_passage, passages))
        known = {hit.id for hit in passages}
        places = [_pointer(hit, query) for hit in found if hit.id not in known]
        if not passages:
            return self._first(places, max_tokens, _MORE_PLACES)
        room = min(max_tokens - self._count(f"{answer}\n\n"), max_tokens // _PLACES_SHARE)
        for listed in (places, [place.partition("\n")[0] for place in places]):
            more = self._first(listed, room, _MORE_PLACES)
            whole = f"{answer}\n\n{more}"
            if listed and more.startswith(listed[0]) and self._count(whole) <= max_tokens:
                return whole
        return answer

    def _passages(self, search: Callable[[int], list[Hit]], most: int) -> list[Hit]:
        """Return the best hits whose text, with a line above each, has at most ``most`` tokens.

        ``search`` returns the best hits for a budget.
        """
        budget, hits = most, []
        for _ in range(_ATTEMPTS):
            if budget < 1:
                return []
            with catch_warnings():
                simplefilter("ignore", ChunkastWarning)
                hits = search(budget)
            excess = self._count("\n\n".join(map(_passage, hits))) - most
            if excess <= 0:
                return hits
            budget -= excess
        ends = range(1, len(hits) + 1)
        fitting = most_fitting(
            ends, lambda end: self._count("\n\n".join(map(_passage, hits[:end]))), most
        )
        return hits[:fitting]

    def _remember(self, query: str, hits: Iterable[Hit]) -> None:
        """Remember the query that found these hits, so that :meth:`read` shows its matches."""
        if len(self._queries) > _REMEMBERED:
            self._queries.clear()
        self._queries.update((hit.id, query) for hit in hits)

    async def read(
        self,
        source: Annotated[str | None, Field(description="a document")] = None,
        section: Annotated[str | None, Field(description="a heading path or its end")] = None,
        lines: Annotated[str | None, Field(description="a range of lines", pattern=_LINES)] = None,
        id: Annotated[str | None, Field(description="an id from search")] = None,  # noqa: A002
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> str:
        """Read a section, lines, or a place that search found. Lines are numbered.

        section: "Guide > Install", "Install", or the anchor "#install".
        lines: "120-180", or "120:80-180" from the 80th character of line 120.
        id: the match in that place with its surroundings.
        """
        chunk = None if id is None else self._store.chunk(id)
        source = chunk.source if chunk else source
        if source is None:
            raise ConfigError("source", source, "must be a document, or give an id")
        outline = self._store.outline(source, chunker=self._chunker)
        text = self._store.text(source)
        starts = line_starts(text)
        if chunk is not None:
            room = max_tokens * 3 // 4
            place = self._match(chunk, room)
            passage = outline.expand(place, room, cut=True)
        elif lines is None:
            passage = outline.read(section)
        else:
            begin, _, last = lines.partition("-")
            first, _, column = begin.partition(":")
            passage = outline.read(lines=(int(first), int(last)))
            if column:
                start = min(starts[int(first) - 1] + int(column) - 1, starts[int(first)])
                passage = replace(passage, start_index=start)
        pages = Pages(source, " > ".join(passage.section), text, starts, self._count, max_tokens)
        stop = starts[min(passage.last_line or 0, len(starts) - 1)]
        answer, end = pages.page(passage.start_index, stop)
        # The line numbers may take more tokens than the text; the match comes before other text.
        if chunk is not None and end < passage.end_index:
            answer, _ = pages.page(place.start_index, stop)
        return answer

    def _match(self, chunk: Chunk, room: int) -> Chunk | Passage:
        """Return a chunk, or its part that the last search matched if the chunk does not fit."""
        query = self._queries.get(chunk.id)
        if query is None or chunk.token_count <= room:
            return chunk
        return self._store.part(chunk, query, room, chunker=self._chunker) or chunk

    async def quote(
        self,
        text: Annotated[str, Field(description="the words; markup may differ")],
        max_tokens: MaxTokens = 500,
    ) -> str:
        """Verify that a text is in the documents: list every place where it occurs."""
        places = [
            printable(
                f"{at.source}:{at.start_line}-{at.end_line}  {' > '.join(at.section)}"
                f"{'' if at.verbatim else '  (not verbatim)'}"
            )
            for at in self._store.quote(text)
        ]
        if not places:
            return "The text occurs nowhere. search(query) finds places by words."
        return self._first(places, max_tokens, _MORE_PLACES)

    def cut(self, text: str, max_tokens: int) -> str:
        """Shorten an error message to ``max_tokens``, including the prefix added to it."""
        text, most = printable(text), max_tokens - _ERROR_TOKENS
        ends = range(1, len(text) + 1)
        return text[: most_fitting(ends, lambda end: self._count(text[:end]), most)]

    def _first(self, entries: Sequence[str], most: int, rest: str, hidden: int = 0) -> str:
        """Return the entries that fit, and the number of the others, ``hidden`` ones included."""

        def shown(count: int) -> str:
            left_out = len(entries) - count + hidden
            return "\n".join([*entries[:count], *([f"{left_out:,} {rest}"] if left_out else [])])

        counts = range(1, len(entries) + 1)
        return shown(most_fitting(counts, lambda count: self._count(shown(count)), most))


def _passage(hit: Hit) -> str:
    """Return the text of a hit below a line with its place, section and id."""
    names = hit.place, " > ".join(hit.section), "part" if hit.part else "", f"id={hit.id}"
    return f"{printable('  '.join(filter(None, names)))}\n{hit.text}"


def _pointer(hit: Hit, query: str) -> str:
    """Return the place of a hit, and its lines with the most words of the query."""
    head = f"{hit.place}  {' > '.join(hit.section)}  {hit.token_count:,} tokens  id={hit.id}"
    wanted = content_words(query)
    texts = dict.fromkeys(map(str.strip, re.split("[\r\n]+", _DESTINATION.sub("]", hit.text))))
    lines = [line for line in texts if line.strip(_MARKS) and not line.startswith(("#", "<"))]
    best = sorted(lines, key=lambda line: -len(wanted & content_words(line)))[:_HIT_LINES]
    shown = (_excerpt(line, wanted) for line in sorted(best, key=lines.index))
    return "\n  ".join(map(printable, (head, *shown)))


def _excerpt(line: str, wanted: Collection[str]) -> str:
    """Return the part of a line with the first of the ``wanted`` words."""
    places = (line.casefold().find(word) for word in wanted)
    first = min((at for at in places if at >= 0), default=0)
    start = 0 if first < _LINE_LENGTH // 2 else first - _LINE_LENGTH // 4
    part = line[start : start + _LINE_LENGTH]
    return f"{'…' if start else ''}{part}{'…' if start + len(part) < len(line) else ''}"
