"""Answer calls of the MCP tools in plain text, within a token limit, with places to read next."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from os.path import commonprefix
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from chunkast.errors import ConfigError, counted
from chunkast.files.freshness import STALE
from chunkast.mcp.document_pages import DEFAULT_TOKENS, Pages, escaped, printable, section_path
from chunkast.output.text import section_line
from chunkast.reading.passages import most_fitting
from chunkast.sources.documents import document_of
from chunkast.text.source_map import line_starts

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.index import Hit, Store

__all__ = ("Answers",)

_LINES: Final = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
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
_MORE_SECTIONS: Final = "{} more section{}; search(query, within=source) searches all"
_MORE_SOURCES: Final = "{} more source{}; search(query) searches all"
_MORE_PLACES: Final = "{} more place{}: repeat this with skip={}"

MaxTokens = Annotated[int, Field(description="the limit of the answer")]


@dataclass(frozen=True)
class Answers:
    """Answers from an index.

    chunker: counts tokens and parses documents.
    embed: returns the vector of a query, or None.
    stale: returns the documents that are out of date.
    """

    store: Store
    chunker: Chunker
    embed: Callable[[str], list[float] | None] = lambda _query: None
    stale: Callable[[], Mapping[str, str]] = dict

    def count(self, text: str) -> int:
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
        deepest = max(section.level for section in outline)
        levels = range(max(min(depth, deepest), 1), 0, -1)
        useful = [level for level in levels if len(outline.down_to(level).sections) >= _FEW]
        for level in useful or levels[:1]:
            lines = [printable(section_line(section)) for section in outline.down_to(level)]
            hidden = len(outline.sections) - len(lines)
            answer = self._first(lines, max_tokens, _MORE_SECTIONS, hidden)
            if answer.startswith("\n".join(lines)):
                break
        return answer

    def _listed(self, costs: Mapping[str, int], most: int) -> str:
        """Return the documents with their costs, or if they do not fit, the folders they are in."""
        start = commonprefix([*costs]).rfind("/") + 1  # noqa: RUF071  (cut at a slash)
        folders: defaultdict[str, list[int]] = defaultdict(list)
        lines = []
        for name, tokens in costs.items():
            inner, slash, _ = name[start:].partition("/")
            folders[f"{name[:start]}{inner}{slash}"].append(tokens)
            lines.append(f"{printable(name)}  {counted(tokens, 'token')}")
        if self.count(whole := "\n".join(lines)) <= most:
            return whole
        lines.clear()
        for name, group in folders.items():
            number = [counted(len(group), "document")] if name.endswith("/") else []
            lines.append("  ".join([printable(name), *number, counted(sum(group), "token")]))
        return self._first(lines, most, _MORE_SOURCES)

    async def search(
        self,
        query: Annotated[str, Field(description="words, or a question")],
        max_tokens: MaxTokens = 1_000,
        within: Annotated[str, Field(description="a glob for sources: 'docs/*'")] = "",
        skip: Annotated[int, Field(description="list the places after this many")] = 0,
    ) -> str:
        """Find the best passages, each below its source:lines, section and id.

        The places of further passages follow if they fit.
        """
        if not query.strip():
            raise ConfigError("query", query, "is empty")
        skip = max(skip, 0)
        vector = self.embed(query)
        search = partial(self.store.search, query, vector=vector, within=within or None)
        found = search(10**9, limit=skip + _HITS)
        if not found and within:
            self.store.check_within(within)
        if len(found) <= skip:
            some = "No more places." if found else "Nothing contains a word of the query."
            return f"{some} outline() lists the documents."
        passages = []
        if not skip:
            shorter = partial(search, limit=_HITS, chunker=self.chunker)
            passages = self._passages(shorter, max_tokens)
            # Scores of words and vectors together are ranks, which say nothing of this.
            least = 0.0 if vector is not None else _LEAST_SHARE * found[0].score
            passages[_SURE:] = [hit for hit in passages[_SURE:] if hit.score >= least]
        answer = "\n\n".join(map(_passage, passages))
        known = {hit.id for hit in passages}
        ranks = [rank for rank, hit in enumerate(found) if rank >= skip and hit.id not in known]
        places = [_place(found[rank]) for rank in ranks]
        if not passages:
            return self._first(places, max_tokens, _MORE_PLACES, ranks=ranks)
        room = min(max_tokens - self.count(f"{answer}\n\n"), max_tokens // _PLACES_SHARE)
        more = self._first(places, room, _MORE_PLACES, ranks=ranks)
        whole = f"{answer}\n\n{more}"
        return whole if more and self.count(whole) <= max_tokens else answer

    def _passages(self, search: Callable[[int], list[Hit]], most: int) -> list[Hit]:
        """Return the best hits that have at most ``most`` tokens together, as they are shown.

        ``search`` returns the best hits for a budget.
        """

        def tokens(hits: Sequence[Hit]) -> int:
            return self.count("\n\n".join(map(_passage, hits)))

        budget, hits = most, []
        for _ in range(_ATTEMPTS):
            if budget < 1:
                return []
            hits = search(budget)
            excess = tokens(hits) - most
            if excess <= 0:
                return hits
            budget = sum(hit.token_count for hit in hits) - excess
        ends = range(1, len(hits) + 1)
        return hits[: most_fitting(ends, lambda end: tokens(hits[:end]), most)]

    async def read(
        self,
        source: Annotated[str, Field(description="a document")] = "",
        section: Annotated[str, Field(description="a heading path or its end")] = "",
        lines: Annotated[str, Field(description="a range of lines")] = "",
        id: Annotated[str, Field(description="an id from search")] = "",  # noqa: A002
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> str:
        """Read a section, lines, or the surroundings of a match. Lines are numbered.

        section: "Guide > Install", "Install" or "#install". lines: "120-180".
        """
        chunk = self.store.chunk(id) if id else None
        source = chunk.source or "" if chunk else source
        if not source:
            raise ConfigError("source", source, "must be a document, or give an id")
        outline = self.store.outline(source, chunker=self.chunker)
        text = self.store.text(source)
        if chunk is not None:
            found = outline.expand(chunk, max_tokens * 3 // 4, cut=True)
        elif lines:
            match = _LINES.fullmatch(lines)
            if match is None:
                raise ConfigError("lines", lines, 'must be a range such as "120-180"')
            found = outline.read(lines=(int(match[1]), int(match[2])))
        else:
            found = outline.read(section or None)
        numbered = [text[one:two].rstrip("\r\n") for one, two in pairwise(line_starts(text))]
        pages = Pages(source, section_path(found.section), numbered, self.count, max_tokens)
        stop = min(found.last_line or 1, len(numbered))
        answer, last = pages.page(found.start_line, stop)
        # The line numbers may take more tokens than the text; the match comes before other text.
        if chunk is not None and last < found.end_line:
            answer, _ = pages.page(max(chunk.start_line, found.start_line), stop)
        return answer

    async def quote(
        self,
        text: Annotated[str, Field(description="the words; markup may differ")],
        max_tokens: MaxTokens = 500,
        skip: Annotated[int, Field(description="list the places after this many")] = 0,
    ) -> str:
        """Verify that a text is in the documents: list every place where it occurs."""
        stale = self.stale()
        places = [
            printable(
                f"{at.source}:{at.start_line}-{at.end_line}  {section_path(at.section)}"
                f"{'' if at.verbatim else '  (not verbatim)'}"
                f"{f'  {STALE}' * (document_of(at.source) in stale)}"
            )
            for at in self.store.quote(text)
        ]
        ranks = range(max(skip, 0), len(places))
        if not ranks:
            some = "No more places." if places else "The text occurs nowhere."
            return f"{some} search(query) finds places by words."
        return self._first(places[ranks.start :], max_tokens, _MORE_PLACES, ranks=ranks)

    def _first(
        self, lines: Sequence[str], most: int, rest: str, hidden: int = 0, ranks: Sequence[int] = ()
    ) -> str:
        """Return the lines that fit, and the number of the others, ``hidden`` ones included.

        ``ranks`` are the ranks of the lines; the ``rest`` names that of the first of the others.
        """

        def shown(count: int) -> str:
            left = len(lines) - count + hidden
            following = ranks[count] if count < len(ranks) else 0
            more = rest.format(f"{left:,}", "s" * (left > 1), following)
            return "\n".join([*lines[:count], *([more] if left else [])])

        counts = range(1, len(lines) + 1)
        return shown(most_fitting(counts, lambda count: self.count(shown(count)), most))


def _passage(hit: Hit) -> str:
    """Return the text of a hit below a line with its place, section, copies and id."""
    return f"{_head_of(hit, 'part' if hit.part else '')}\n{escaped(hit.text)}"


def _place(hit: Hit) -> str:
    """Return a line with the place of a hit, its section, copies, size and id."""
    return _head_of(hit, counted(hit.token_count, "token"))


def _head_of(hit: Hit, note: str) -> str:
    more = f" and {len(hit.also) - 1:,} more" if len(hit.also) > 1 else ""
    also = f"also in {hit.also[0]}{more}" if hit.also else ""
    names = hit.place, section_path(hit.section), also, STALE * hit.stale, note, f"id={hit.id}"
    return printable("  ".join(filter(None, names)))
