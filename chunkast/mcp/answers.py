"""The answers of the MCP tools: plain text with places to read next, within a token limit."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from chunkast.errors import ConfigError
from chunkast.index.terms import content_words
from chunkast.mcp.pages import DEFAULT_TOKENS, Pages, printable, span_of_lines
from chunkast.output.text import section_line
from chunkast.text.source_map import line_starts

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.identity import Citation
    from chunkast.index import Hit, Store
    from chunkast.model import Chunk
    from chunkast.reading import Outline
    from chunkast.reading.sections import Section

__all__ = ("Answers",)

# The most hits of a search; more would not help an agent.
_HITS: Final = 20
_HIT_LINES: Final = 2
_LINE_LENGTH: Final = 100
# The only characters of a line without content.
_MARKS: Final = "#-=*`~|:> \t\r\n"
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
    """The answers from an index; ``chunker`` counts tokens and parses documents."""

    def __init__(self, store: Store, chunker: Chunker) -> None:
        self._store = store
        self._chunker = chunker

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
        deepest = max(1, *(section.level for section in outline))
        answer = ""
        for level in (depth,) if depth else range(deepest, 0, -1):
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
        """Find places by words: source:lines, section, tokens, id, and two lines of each."""
        hits = self._store.search(query, 10**9, limit=_HITS, within=within)
        if not hits:
            return "Nothing contains a word of the query. outline() lists the documents."
        return self._first([_pointer(hit, query) for hit in hits], max_tokens, _MORE_PLACES)

    async def read(
        self,
        source: Annotated[str | None, Field(description="a document")] = None,
        section: Annotated[
            str | None,
            Field(description="a heading path, its end, or an anchor: 'Guide > Install'"),
        ] = None,
        lines: Annotated[
            str | None,
            Field(
                description="lines to read instead: '120-180', or '120:80-180' from a character on",
                pattern=r"^[0-9]{1,9}(:[0-9]{1,9})?-[0-9]{1,9}$",
            ),
        ] = None,
        id: Annotated[  # noqa: A002 - the name that a search gives it
            str | None, Field(description="an id from search: the place with its surroundings")
        ] = None,
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> str:
        """Read a section, lines, or a place that search found. Lines are numbered."""
        chunk = None if id is None else self._store.chunk(id)
        source = chunk.source if chunk else source
        if source is None:
            raise ConfigError("source", source, "must be a document, or give an id")
        outline = self._store.outline(source, chunker=self._chunker)
        text = self._store.text(source)
        starts = line_starts(text)

        def pages_of(where: Section) -> Pages:
            sections = frozenset(starts[each.start_line - 1] for each in outline)
            return Pages(source, str(where), text, sections, starts, self._count, max_tokens)

        if chunk is not None:
            return self._around(chunk, outline, pages_of(outline.find(chunk)))
        if lines is not None:
            found = outline.find(int(re.split("[:-]", lines)[0]))
            return pages_of(found).page(*span_of_lines(starts, lines))[0]
        found = outline.sections[0] if section is None else outline.find(section)
        return pages_of(found).page(starts[found.start_line - 1], starts[found.end_line])[0]

    def _around(self, chunk: Chunk, outline: Outline, pages: Pages) -> str:
        """Return the page with a chunk and as much text before it as fits."""
        room = pages.most
        while True:
            passage = outline.expand(chunk, room, cut=True)
            stop = (
                passage.end_index if passage.last_line is None else pages.starts[passage.last_line]
            )
            answer, end = pages.page(passage.start_index, stop)
            # The line numbers may take more tokens than the passage.
            if end >= passage.end_index or passage.start_index >= chunk.start_index:
                return answer
            room = room * 3 // 4

    async def quote(
        self,
        text: Annotated[str, Field(description="the exact words; white space may differ")],
        max_tokens: MaxTokens = 500,
    ) -> str:
        """Verify that a text is in the documents: list every place where it occurs verbatim."""
        places = self._store.quote(text)
        if not places:
            return "The text occurs nowhere verbatim. search(query) finds places by words."
        return self._first([*map(_place, places)], max_tokens, _MORE_PLACES)

    def cut(self, text: str, max_tokens: int) -> str:
        """Shorten an error message to ``max_tokens``, including the prefix added to it."""
        text = printable(text)
        while self._count(text) > max_tokens - _ERROR_TOKENS:
            text = text[: int(len(text) * 0.9)]
        return text

    def _count(self, text: str) -> int:
        return self._chunker.counter.count(text)

    def _first(self, entries: Sequence[str], most: int, rest: str, hidden: int = 0) -> str:
        """Return the entries that fit, and the number of the others, ``hidden`` ones included."""

        def shown(count: int) -> str:
            left_out = len(entries) - count + hidden
            return "\n".join([*entries[:count], *([f"{left_out:,} {rest}"] if left_out else [])])

        counts = range(1, len(entries) + 1)
        fitting = bisect_right(counts, most, key=lambda count: self._count(shown(count)))
        while fitting and self._count(shown(fitting)) > most:
            fitting -= 1
        return shown(fitting)


def _pointer(hit: Hit, query: str) -> str:
    """Return the place of a hit, and its lines with the most words of the query."""
    head = f"{hit.place}  {' > '.join(hit.section)}  {hit.token_count:,} tokens  id={hit.id}"
    wanted = content_words(query)
    said = dict.fromkeys(map(str.strip, _lines(_DESTINATION.sub("]", hit.text))))
    lines = [line for line in said if line.strip(_MARKS) and not line.startswith(("#", "<"))]
    best = sorted(lines, key=lambda line: -len(wanted & content_words(line)))[:_HIT_LINES]
    shown = (_around(line, wanted) for line in sorted(best, key=lines.index))
    return "\n  ".join(map(printable, (head, *shown)))


def _around(line: str, wanted: Collection[str]) -> str:
    """Return the part of a line with the first of these words."""
    places = (line.casefold().find(word) for word in wanted)
    first = min((at for at in places if at >= 0), default=0)
    start = 0 if first < _LINE_LENGTH // 2 else first - _LINE_LENGTH // 4
    part = line[start : start + _LINE_LENGTH]
    return f"{'…' if start else ''}{part}{'…' if start + len(part) < len(line) else ''}"


def _place(found: Citation) -> str:
    place = f"{found.source}:{found.start_line}-{found.end_line}  {' > '.join(found.section)}"
    return printable(place)


def _lines(text: str) -> list[str]:
    return [text[start:end].rstrip("\r\n") for start, end in pairwise(line_starts(text))]
