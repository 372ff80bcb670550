"""The sections of a document with their anchors and token counts, and a search by name."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

import regex

from chunkast.analysis.heading_paths import Headings, titled_path
from chunkast.errors import ChunkastError, shown
from chunkast.markdown.titles import heading_id, slug_of
from chunkast.model import Analysis
from chunkast.text.spans import trim_span

__all__ = ("Section", "SectionError", "anchors_of", "find_section", "line_at", "sections_of")

_SEPARATOR: Final = " > "
# An emoji, a flag, a keycap, or the name of an emoji between colons; "#" and "1" alone are none.
_EMOJI: Final = regex.compile(
    r"(?:[\p{Extended_Pictographic}\p{RI}]|[0-9#*](?=\ufe0f?\u20e3))"
    r"[\p{Emoji_Modifier}\u200d\ufe0e\ufe0f\u20e3\U000e0020-\U000e007f]*"
    r"|(?<![\w:]):[\w+-]+:(?!:)"
)
_MOST_CANDIDATES: Final = 5
# The number of characters of a name that are compared with those of sections.
_MOST_COMPARED: Final = 200


class SectionError(ChunkastError, LookupError):
    """An error for a name that matches no section or more than one section.

    ``where`` is the name or the line number; ``candidates`` lists the sections that may be meant.
    """

    def __init__(self, where: object, reason: str, candidates: Sequence[str]) -> None:
        listed = f": {'; '.join(candidates)}" if candidates else ""
        super().__init__(f"section {shown(where)} {reason}{listed}")
        self.where = where
        self.reason = reason
        self.candidates = tuple(candidates)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with everything below it, up to the next heading of the same or a higher level.

    The first section of an outline is the document itself, which has level 0. A page inside it, with
    a title in front matter of its own, is a section of level 0 too.

    path: the titles from the page's or document's title to the title of this section; may be empty
        for the document.
    level: the level of the heading, from 1 to 6; 0 for the document and pages.
    anchor: the id given as ``{#id}``, or else the slug that GitHub would use; empty for the
        document and pages.
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


def sections_of(
    analysis: Analysis, count: Callable[[int, int], int], lines: Sequence[int]
) -> Iterator[Section]:
    """Yield a section for the whole document, and then the sections of the document in order.

    A page with a title is a section too. The text of another page belongs to the document.
    ``count`` returns the number of tokens in a span; ``lines`` has the starts of all lines.
    """
    text = analysis.text
    # In code, the text after a definition has a heading without a title.
    titled = [heading for heading in analysis.headings if heading.title]
    headings = Headings(analysis, titled)
    anchors = [*(anchor for _, anchor in anchors_of(analysis)), ""]
    starts = [*(run.start for run in headings.runs), len(text)]
    own: dict[int, list[int]] = {}
    for number, run in enumerate(headings.runs):
        untitled = run.heading < 0 and not headings.page_at(run.start).title
        own.setdefault(0 if untitled else run.first, []).append(number)
    for first, runs in own.items():
        number = headings.runs[first].heading
        heading = titled[number] if number >= 0 else None
        start, end = trim_span(text, starts[first], starts[headings.ends[first]])
        spans = (trim_span(text, starts[run], starts[run + 1]) for run in runs)
        yield Section(
            path=titled_path(headings.path(number), headings.page_at(starts[first]).title),
            level=heading.level if heading else 0,
            anchor=anchors[number],
            start_index=start,
            end_index=end,
            start_line=line_at(lines, start),
            end_line=line_at(lines, max(end - 1, start)),
            tokens=sum(count(*span) for span in spans),
            total_tokens=count(start, end),
        )


def line_at(lines: Sequence[int], pos: int) -> int:
    """Return the number, from 1, of the line at ``pos``, given the starts of all lines."""
    return max(bisect_right(lines, pos, hi=len(lines) - 1), 1)


def anchors_of(analysis: Analysis) -> list[tuple[int, str]]:
    """Return the start and the anchor of each heading that has a title.

    A number is appended to a slug that is already in use.
    """
    anchors: list[tuple[int, str]] = []
    used: dict[str, int] = {}
    attributes = "attributes" in analysis.extensions
    for heading in analysis.headings:
        if not heading.title:
            continue
        source = analysis.text[heading.start : heading.end].rstrip("#=- \t\r\n")
        if attributes and (anchor := heading_id(source)):
            anchors.append((heading.start, anchor))
            continue
        slug = slug_of(heading.title)
        anchor = slug
        while anchor in used:
            used[slug] += 1
            anchor = f"{slug}-{used[slug]}"
        used[anchor] = 0
        anchors.append((heading.start, anchor))
    return anchors


def find_section(sections: Sequence[Section], where: str | Sequence[str]) -> Section:
    """Return the section whose path, end of path or anchor is ``where``; ignore case in paths.

    An anchor may follow the name of a file. Of a section and others of the same path inside it, the
    outer one is meant. Raises ``SectionError`` if no section or more than one
    section matches.
    """
    name = where if isinstance(where, str) else _SEPARATOR.join(where)
    ambiguous: list[Section] = []
    for matches in _matchers(name):
        matching = list(filter(matches, sections))
        # A page and its first heading often have the same title.
        if matching and all(_is_around(matching[0], section) for section in matching):
            return matching[0]
        ambiguous = ambiguous or matching
    if ambiguous:
        listed = [f"{each} (#{each.anchor}, line {each.start_line})" for each in ambiguous]
        reason = f"is ambiguous, {len(ambiguous)} match"
        raise SectionError(where, reason, listed[:_MOST_CANDIDATES])
    named = [section for section in sections if section.path]
    names = {section.path[-1].casefold()[:_MOST_COMPARED]: str(section) for section in named}
    names |= {str(section).casefold()[:_MOST_COMPARED]: str(section) for section in named}
    short = name.casefold()[:_MOST_COMPARED]
    close = get_close_matches(short, names, n=_MOST_CANDIDATES, cutoff=0.4)
    nearest = list(dict.fromkeys(names[each] for each in close)) or list(names.values())
    raise SectionError(where, "does not exist; the nearest are", nearest[:_MOST_CANDIDATES])


def _is_around(outer: Section, section: Section) -> bool:
    """Return whether a section of the same name is inside ``outer``."""
    begins = outer.start_index <= section.start_index
    return outer.path == section.path and begins and section.end_index <= outer.end_index


def _matchers(name: str) -> Iterator[Callable[[Section], bool]]:
    """Yield the ways in which a section may match a name, in order of precedence."""
    exact, folded = _spaced(name), _spaced(name.casefold())
    yield lambda section: _spaced(str(section)) == exact
    yield lambda section: any(map(exact.__eq__, _ends(section)))
    yield lambda section: _spaced(str(section).casefold()) == folded
    anchor = name.removeprefix("#")
    if anchor != name:
        yield lambda section: anchor != "" and section.anchor == anchor
    yield lambda section: any(end.casefold() == folded for end in _ends(section))
    file, _, anchor_in_file = name.rpartition("#")
    # "Fix #12" is a title, and "notes.md#12" an anchor.
    if anchor_in_file and file == file.rstrip():
        yield lambda section: section.anchor == anchor_in_file

    def spoken(title: str) -> str:
        """Return a title in lower case; without emoji, unless the name has the title with them."""
        title = title.casefold()
        return title if title in folded else str(_EMOJI.sub(" ", title))

    yield lambda section: folded != "" and any(map(folded.__eq__, _ends(section, spoken)))


def _ends(section: Section, read: Callable[[str], str] = str) -> Iterator[str]:
    """Yield the ends of a section's path, the whole path first; ``read`` is applied to each title."""
    titles = tuple(map(read, section.path))
    return (_spaced(_SEPARATOR.join(titles[first:])) for first in range(len(titles)))


def _spaced(name: str) -> str:
    """Return a heading path with single spaces."""
    steps = name.split(_SEPARATOR.strip())
    return _SEPARATOR.join(" ".join(step.split()) for step in steps)
