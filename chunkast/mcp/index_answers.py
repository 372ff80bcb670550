"""The answers of the MCP tools: plain text within a token limit, with places to read next."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from os.path import commonprefix
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from chunkast.errors import ConfigError
from chunkast.index.parts import Span
from chunkast.index.terms import content_words
from chunkast.mcp.document_pages import DEFAULT_TOKENS, Pages, printable, section_path
from chunkast.mcp.hit_lines import HitLines
from chunkast.output.text import section_line
from chunkast.reading.passages import most_fitting
from chunkast.sources.jupyter import is_notebook
from chunkast.text.source_map import line_starts

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.index import Hit, Store
    from chunkast.model import Chunk

__all__ = ("Answers",)

# A range of lines, or from a character of the first line on.
_LINES: Final = re.compile(r"([0-9]{1,9})(?::([1-9][0-9]{0,8}))?-([0-9]{1,9})")
# An id, the line of its match, and a character of that line.
_ID: Final = re.compile(r"([^@]*)(?:@([0-9]{1,9})(?::([1-9][0-9]{0,8}))?)?")
# The most hits of a search; more would not help an agent.
_HITS: Final = 20
# After the first hits, one with less than this share of the best score is a place without text. In
# the retrieval benchmark, this loses no answer and saves a fifth of the tokens.
_SURE: Final = 3
_LEAST_SHARE: Final = 0.6
# The places of further hits take at most this share of an answer.
_PLACES_SHARE: Final = 6
# The number of searches for the passages that fit an answer together with the lines above them.
_ATTEMPTS: Final = 4
# An outline with fewer sections than this is of little use.
_FEW: Final = 4
_MORE_SECTIONS: Final = "{} more sections; search(query, within=source) finds them"
_MORE_SOURCES: Final = "{} more; search(query) finds them"
_MORE_PLACES: Final = "{} more places: repeat this with skip={}"
# Reserved for the prefix that the protocol adds to an error.
_ERROR_TOKENS: Final = 10


MaxTokens = Annotated[int, Field(description="the limit of the answer")]


@dataclass(frozen=True)
class Answers:
    """The answers from an index.

    ``chunker`` counts tokens and parses documents; ``embed`` returns the vector of a query or None.
    """

    store: Store
    chunker: Chunker
    embed: Callable[[str], list[float] | None] = lambda _query: None

    def _count(self, text: str) -> int:
        return self.chunker.counter.count(text)

    async def outline(
        self,
        source: Annotated[str, Field(description="a document or a folder; default: all")] = "",
        depth: Annotated[int, Field(description="the deepest level shown")] = 6,
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> str:
        """List documents and folders, or the sections of a document with lines and tokens."""
        costs = self.store.outline()
        folder = source and f"{source.rstrip('/')}/"
        inside = {name: tokens for name, tokens in costs.items() if name.startswith(folder)}
        if source not in costs and (inside or not source):
            return self._listed(inside, max_tokens)
        outline = self.store.outline(source, chunker=self.chunker)
        answer = ""
        for level in range(max(depth, 1), 0, -1):
            lines = [printable(section_line(section)) for section in outline.down_to(level)]
            if answer and len(lines) < _FEW:
                break  # the previous answer is more useful, although it is shortened
            hidden = len(outline.sections) - len(lines)
            answer = self._first(lines, max_tokens, _MORE_SECTIONS, hidden)
            if answer.startswith("\n".join(lines)):
                break
        return answer

    def _listed(self, costs: Mapping[str, int], most: int) -> str:
        """Return the documents with their costs, or if they do not fit, the folders they are in."""
        shared = commonprefix([*costs]).rpartition("/")  # noqa: RUF071  (cut at a slash)
        start = len(shared[0] + shared[1])
        folders: dict[str, list[int]] = {}
        for name, tokens in costs.items():
            inner, slash, _ = name[start:].partition("/")
            folders.setdefault(f"{name[:start]}{inner}{slash}", []).append(tokens)
        answer = ""
        for groups in ({name: [tokens] for name, tokens in costs.items()}, folders):
            lines = [
                f"{printable(name)}  "
                + (f"{len(group):,} documents  " if name.endswith("/") else "")
                + f"{sum(group):,} tokens"
                for name, group in groups.items()
            ]
            answer = self._first(lines, most, _MORE_SOURCES)
            if answer == "\n".join(lines):
                break
        return answer

    async def search(
        self,
        query: Annotated[str, Field(description="words, or a question")],
        max_tokens: MaxTokens = 1_000,
        within: Annotated[str, Field(description="a glob for sources: 'docs/*'")] = "",
        skip: Annotated[int, Field(description="list the places after this many")] = 0,
    ) -> str:
        """Find passages: the text of the best, each below source:lines, section and id.

        The places of the next ones follow if they fit.
        """
        skip = max(skip, 0)
        vector = self.embed(query)
        shown = HitLines(content_words(query), cache(self._before))
        search = partial(self.store.search, query, vector=vector, within=within or None)
        found = search(10**9, limit=skip + _HITS)
        if len(found) <= skip:
            some = "No more places." if found else "Nothing contains a word of the query."
            return f"{some} outline() lists the documents."
        passages = []
        if not skip:
            shorter = partial(search, limit=_HITS, chunker=self.chunker)
            passages = self._passages(shorter, shown.passage, max_tokens)
            # Scores of words and vectors together are ranks, which say nothing of this.
            least = 0.0 if vector is not None else _LEAST_SHARE * found[0].score
            passages[_SURE:] = [hit for hit in passages[_SURE:] if hit.score >= least]
        answer = "\n\n".join(map(shown.passage, passages))
        known = {hit.id for hit in passages}
        ranks = [rank for rank, hit in enumerate(found) if rank >= skip and hit.id not in known]
        places = [shown.pointer(found[rank]) for rank in ranks]
        if not passages:
            return self._first(places, max_tokens, _MORE_PLACES, ranks=ranks)
        room = min(max_tokens - self._count(f"{answer}\n\n"), max_tokens // _PLACES_SHARE)
        for listed in (places, [place.partition("\n")[0] for place in places], []):
            more = self._first(listed, room, _MORE_PLACES, len(places) - len(listed), ranks)
            whole = f"{answer}\n\n{more}"
            fits = more and self._count(whole) <= max_tokens
            if fits and (not listed or more.startswith(listed[0])):
                return whole
        return answer

    def _passages(
        self, search: Callable[[int], list[Hit]], shown: Callable[[Hit], str], most: int
    ) -> list[Hit]:
        """Return the best hits that have at most ``most`` tokens together, as they are ``shown``.

        ``search`` returns the best hits for a budget.
        """

        def tokens(hits: Sequence[Hit]) -> int:
            return self._count("\n\n".join(map(shown, hits)))

        budget, hits = most, []
        for _ in range(_ATTEMPTS):
            if budget < 1:
                return []
            hits = search(budget)
            excess = tokens(hits) - most
            if excess <= 0:
                return hits
            budget -= excess
        ends = range(1, len(hits) + 1)
        return hits[: most_fitting(ends, lambda end: tokens(hits[:end]), most)]

    def _before(self, hit: Hit) -> int:
        """Return the number of characters before a hit in its first line; 0 in a notebook."""
        if is_notebook(hit.source.partition("#")[0]):
            return 0
        text = self.store.text(hit.source)
        line_end = max(text.rfind(end, 0, hit.start_index) for end in "\r\n")
        return hit.start_index - line_end - 1

    async def read(
        self,
        source: Annotated[str, Field(description="a document")] = "",
        section: Annotated[str, Field(description="a heading path or its end")] = "",
        lines: Annotated[str, Field(description="a range of lines")] = "",
        id: Annotated[str, Field(description="an id from search")] = "",  # noqa: A002
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> str:
        """Read a section, lines, or the surroundings of a match. Lines are numbered.

        section: "Guide > Install", "Install" or "#install".
        lines: "120-180", or "120:80-180" from the 80th character of line 120.
        """
        name, *match = _parsed("id", id, _ID, "must be an id from search")
        chunk = self.store.chunk(name) if id else None
        source = chunk.source or "" if chunk else source
        if not source:
            raise ConfigError("source", source, "must be a document, or give an id")
        outline = self.store.outline(source, chunker=self.chunker)
        text = self.store.text(source)
        starts = line_starts(text)
        if chunk is not None:
            room = max_tokens * 3 // 4
            place = _match(chunk, starts, *match) if chunk.token_count > room else chunk
            found = outline.expand(place, room, cut=True)
        elif not lines:
            found = outline.read(section or None)
        else:
            allowed = 'must be a range such as "120-180" or "120:80-180"'
            first, column, last = _parsed("lines", lines, _LINES, allowed)
            found = outline.read(lines=(int(first), int(last)))
            if column:
                start = _position(starts, int(first), int(column))
                found = replace(found, start_index=start)
        pages = Pages(source, section_path(found.section), text, starts, self._count, max_tokens)
        stop = starts[min(found.last_line or 0, len(starts) - 1)]
        answer, end = pages.page(found.start_index, stop)
        # The line numbers may take more tokens than the text; the match comes before other text.
        if chunk is not None and end < found.end_index:
            answer, _ = pages.page(place.start_index, stop)
        return answer

    async def quote(
        self,
        text: Annotated[str, Field(description="the words; markup may differ")],
        max_tokens: MaxTokens = 500,
        skip: Annotated[int, Field(description="list the places after this many")] = 0,
    ) -> str:
        """Verify that a text is in the documents: list every place where it occurs."""
        places = [
            printable(
                f"{at.source}:{at.start_line}-{at.end_line}  {section_path(at.section)}"
                f"{'' if at.verbatim else '  (not verbatim)'}"
            )
            for at in self.store.quote(text)
        ]
        ranks = range(max(skip, 0), len(places))
        if not ranks:
            some = "No more places." if places else "The text occurs nowhere."
            return f"{some} search(query) finds places by words."
        return self._first(places[ranks.start :], max_tokens, _MORE_PLACES, ranks=ranks)

    def cut(self, text: str, max_tokens: int) -> str:
        """Shorten an error message to ``max_tokens``, including the prefix added to it."""
        text, most = printable(text), max_tokens - _ERROR_TOKENS
        ends = range(1, len(text) + 1)
        return text[: most_fitting(ends, lambda end: self._count(text[:end]), most)]

    def _first(
        self,
        entries: Sequence[str],
        most: int,
        rest: str,
        hidden: int = 0,
        ranks: Sequence[int] = (),
    ) -> str:
        """Return the entries that fit, and the number of the others, ``hidden`` ones included.

        ``ranks`` are the ranks of the entries; the ``rest`` names that of the first of the others.
        """

        def shown(count: int) -> str:
            left = len(entries) - count + hidden
            following = ranks[count] if count < len(ranks) else 0
            return "\n".join(
                [*entries[:count], *([rest.format(f"{left:,}", following)] if left else [])]
            )

        counts = range(1, len(entries) + 1)
        return shown(most_fitting(counts, lambda count: self._count(shown(count)), most))


def _parsed(name: str, value: str, form: re.Pattern[str], allowed: str) -> tuple[str, ...]:
    """Return the groups of a value that has a form, or raise ``ConfigError``."""
    match = form.fullmatch(value)
    if match is None:
        raise ConfigError(name, value, allowed)
    return match.groups(default="")


def _match(chunk: Chunk, starts: Sequence[int], line: str, column: str) -> Chunk | Span:
    """Return the line of a match in a chunk, or the chunk if its id names no line in it."""
    number = int(line or 0)
    if not chunk.start_line <= number <= chunk.end_line:
        return chunk
    start = max(_position(starts, number, int(column or 1)), chunk.start_index)
    return Span(start, max(min(starts[number], chunk.end_index), start))


def _position(starts: Sequence[int], line: int, column: int) -> int:
    """Return the position of a character of a line; both are counted from 1."""
    return min(starts[line - 1] + column - 1, starts[line])
