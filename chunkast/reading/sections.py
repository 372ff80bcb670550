"""The sections of a document with their anchors and token counts, and a search by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import takewhile
from operator import itemgetter
from typing import Final

from chunkast.core.headings import titled_path
from chunkast.errors import ChunkastError
from chunkast.model import Analysis
from chunkast.text.front_matter import front_matter_value
from chunkast.text.source_map import SourceMap
from chunkast.text.spans import trim_span

__all__ = ("Section", "SectionError", "anchor_at", "find_section", "sections_of")

_SEPARATOR: Final = " > "
_STEPS: Final = re.compile(r"\s*>\s*")
_GIVEN_ID: Final = re.compile(r"\{[^{}\n]*#([^\s{}#]+)[^{}\n]*\}\s*$")
# GitHub keeps letters, marks, digits, connectors, hyphens and spaces.
_NOT_IN_SLUG: Final = re.compile(r"[^\w\- ]")
_MOST_CANDIDATES: Final = 5


class SectionError(ChunkastError, LookupError):
    """An error for a name that matches no section or more than one section.

    ``where`` is the name or the line number; ``candidates`` lists the sections that may be meant.
    """

    def __init__(self, where: object, reason: str, candidates: Sequence[str]) -> None:
        listed = f": {'; '.join(candidates)}" if candidates else ""
        super().__init__(f"section {where!r} {reason}{listed}")
        self.where = where
        self.reason = reason
        self.candidates = tuple(candidates)

    def __reduce__(self) -> tuple[type[SectionError], tuple[object, str, tuple[str, ...]]]:
        return SectionError, (self.where, self.reason, self.candidates)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with everything below it, up to the next heading of the same or a higher level.

    The first section of an outline is the document itself, which has level 0.

    path: the titles from the document's title to the title of this section; may be empty for the
        document.
    level: the level of the heading, from 1 to 6; 0 for the document.
    anchor: the id given as ``{#id}``, or else the slug that GitHub would use; empty for the
        document.
    start_index: the start of the section, a character index from 0.
    end_index: the end of the section and its subsections, an exclusive character index.
    start_line: the line in which the section begins, from 1.
    end_line: the line of the last character of the section, from 1, inclusive.
    tokens: the number of tokens in the section without its subsections.
    total_tokens: the number of tokens in the section with its subsections.
    """

    path: tuple[str, ...]
    level: int
    anchor: str
    start_index: int
    end_index: int
    start_line: int
    end_line: int
    tokens: int
    total_tokens: int

    def __str__(self) -> str:
        """Return the heading path in one line."""
        return _SEPARATOR.join(self.path)


def sections_of(analysis: Analysis, count: Callable[[str], int]) -> Iterator[Section]:
    """Yield a section for the whole document, and then the sections of the document in order."""
    text, lines = analysis.text, SourceMap(analysis.text)
    title = front_matter_value(analysis.front_matter, "title", plain=True)
    # In code, the text after a definition has a heading without a title.
    headings = [heading for heading in analysis.headings if heading.title]
    starts = [0, *(heading.start for heading in headings), len(text)]
    levels = [0, *(heading.level for heading in headings)]
    anchors = (anchor for _, anchor in _anchors(analysis))
    for number, level in enumerate(levels):
        after = range(number + 1, len(levels))
        last = next((at for at in after if levels[at] <= level), len(levels))
        start, end = trim_span(text, starts[number], starts[last])
        own_end = trim_span(text, starts[number], starts[number + 1])[1]
        path = headings[number - 1].path if number else analysis.path
        yield Section(
            path=titled_path(path, title),
            level=level,
            anchor=next(anchors) if number else "",
            start_index=start,
            end_index=end,
            start_line=lines.line(start),
            end_line=lines.line(max(end - 1, start)),
            tokens=count(text[start:own_end]),
            total_tokens=count(text[start:end]),
        )


def anchor_at(analysis: Analysis, pos: int) -> str:
    """Return the anchor of the section at ``pos``, or an empty string before the first heading."""
    before = takewhile(lambda found: found[0] <= pos, _anchors(analysis))
    return max(before, default=(0, ""), key=itemgetter(0))[1]


def _anchors(analysis: Analysis) -> Iterator[tuple[int, str]]:
    """Yield the start and the anchor of each heading that has a title.

    A number is appended to a slug that is already in use.
    """
    used: dict[str, int] = {}
    for heading in analysis.headings:
        if not heading.title:
            continue
        source = analysis.text[heading.start : heading.end]
        given = _GIVEN_ID.search(source.rstrip("#=- \t\r\n"))
        if given and "attributes" in analysis.extensions:
            yield heading.start, given[1]
            continue
        slug = _NOT_IN_SLUG.sub("", heading.title.lower()).replace(" ", "-")
        anchor = slug
        while anchor in used:
            used[slug] += 1
            anchor = f"{slug}-{used[slug]}"
        used[anchor] = 0
        yield heading.start, anchor


def find_section(sections: Sequence[Section], where: str | Sequence[str]) -> Section:
    """Return the section whose path, end of path or anchor is ``where``; ignore case in paths.

    Raises ``SectionError`` if no section or more than one section matches.
    """
    name = where if isinstance(where, str) else _SEPARATOR.join(where)
    steps = tuple(_STEPS.split(name)) if isinstance(where, str) else tuple(where)
    wanted = _folded(steps)
    anchor = name.rpartition("#")[2]
    for found in (
        [section for section in sections if _folded((str(section),)) == _folded((name,))],
        [section for section in sections[1:] if section.anchor == anchor],
        [section for section in sections if _folded(section.path)[-len(wanted) :] == wanted],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            listed = [f"{each} (#{each.anchor}, line {each.start_line})" for each in found]
            raise SectionError(
                where, f"is ambiguous, {len(found)} match", listed[:_MOST_CANDIDATES]
            )
    names = {title.casefold(): str(section) for section in sections for title in section.path[-1:]}
    names |= {str(section).casefold(): str(section) for section in sections if section.path}
    close = get_close_matches(name.casefold(), names, n=_MOST_CANDIDATES, cutoff=0.4)
    nearest = list(dict.fromkeys(names[each] for each in close)) or list(names.values())
    raise SectionError(where, "does not exist; the nearest are", nearest[:_MOST_CANDIDATES])


def _folded(titles: Sequence[str]) -> tuple[str, ...]:
    return tuple(" ".join(title.split()).casefold() for title in titles)
