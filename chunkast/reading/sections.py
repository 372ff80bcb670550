"""List the sections of a document with anchors and token counts, and find sections by name."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final
from urllib.parse import unquote

import regex

from chunkast.analysis.heading_paths import Headings, titled_path
from chunkast.analysis.section_anchors import anchors_of, section_starts
from chunkast.config import DEFAULT_EXTENSIONS
from chunkast.errors import ChunkastError, shown
from chunkast.markdown.titles import read_title
from chunkast.model import Analysis
from chunkast.text.spans import trim_span

__all__ = ("Section", "SectionError", "find_section", "line_at", "sections_of")

_SEPARATOR: Final = " > "
# An emoji, a flag, a keycap, or the name of an emoji between colons; "#" and "1" alone are none.
_EMOJI: Final = regex.compile(
    r"(?:[\p{Extended_Pictographic}\p{RI}]|[0-9#*](?=\ufe0f?\u20e3))"
    r"[\p{Emoji_Modifier}\u200d\ufe0e\ufe0f\u20e3\U000e0020-\U000e007f]*"
    r"|(?<![\w:]):[\w+-]+:(?!:)"
)
# The marks before a heading's title, as written in a document.
_MARKS: Final = regex.compile(r"(#{1,6})[ \t]+")
_QUOTES: Final = str.maketrans(dict.fromkeys("‘’ʼ", "'") | dict.fromkeys("“”„", '"'))
_MOST_CANDIDATES: Final = 5
# The number of characters of a name that are compared with those of sections.
_MOST_COMPARED: Final = 200


class SectionError(ChunkastError, LookupError):
    """Raised if a name or line number matches no section, or if a name matches several.

    ``where`` is the name or line number; ``candidates`` are sections with similar names.
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

    The first section of an outline is the document itself, with level 0. A page inside a document,
    if its front matter has a title, is a section of level 0 too.

    path: the titles from the page or document down to this section; may be empty for the document.
    level: the level of the heading, from 1 to 6; 0 for the document and pages.
    anchor: the first of ``anchors``; empty for the document and pages.
    start_index: the start of the section, a character index from 0.
    end_index: the end of the section and its subsections, an exclusive character index.
    start_line: the 1-based number of the line in which the section begins.
    end_line: the 1-based line number of the last character of the section.
    tokens: the number of tokens in the section without its subsections.
    total_tokens: the number of tokens in the section with its subsections.
    anchors: the ids in the text, such as ``{#id}`` or the target of a permalink, followed by the
        slug on GitHub.
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
    anchors: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the heading path as one line."""
        return _SEPARATOR.join(self.path)


def sections_of(
    analysis: Analysis, count: Callable[[int, int], int], lines: Sequence[int]
) -> Iterator[Section]:
    """Yield a section for the whole document, and then its sections in order.

    A page with a title is a section; the text of a page without one belongs to the document.
    ``count`` returns the number of tokens in a span; ``lines`` are the starts of all lines.
    """
    text = analysis.text
    headings = Headings(analysis)
    anchors = anchors_of(headings)
    starts = [*(run.start for run in headings.runs), len(text)]
    own: dict[int, list[int]] = {}
    for number, first in enumerate(section_starts(headings)):
        own.setdefault(first, []).append(number)
    for first, runs in own.items():
        number = headings.runs[first].heading
        heading = analysis.headings[number] if number >= 0 else None
        names = anchors[number] if heading else ("",)
        start, end = trim_span(text, starts[first], starts[headings.ends[first]])
        spans = (trim_span(text, starts[run], starts[run + 1]) for run in runs)
        yield Section(
            path=titled_path(headings.path(number), headings.page_at(starts[first]).title),
            level=heading.level if heading else 0,
            anchor=names[0],
            start_index=start,
            end_index=end,
            start_line=line_at(lines, start),
            end_line=line_at(lines, max(end - 1, start)),
            tokens=sum(count(*span) for span in spans),
            total_tokens=count(start, end),
            anchors=tuple(filter(None, names)),
        )


def line_at(lines: Sequence[int], pos: int) -> int:
    """Return the 1-based number of the line at ``pos``. ``lines`` are the starts of all lines."""
    return max(bisect_right(lines, pos, hi=len(lines) - 1), 1)


def find_section(sections: Sequence[Section], where: str | Sequence[str]) -> Section:
    """Return the section whose path, end of path or anchor is ``where``.

    Paths match without regard to case. A title may also be written as in the document, with ``#``
    and markup, or with other quotation marks. An anchor may follow the name of a file. If the
    first of several matches contains the others, it is returned. Otherwise, and if no section
    matches, ``SectionError`` is raised.
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
    words = set(short.split())
    close += (each for each in names if words.intersection(each.split()))
    nearest = list(dict.fromkeys(names[each] for each in close)) or list(names.values())
    others = "the nearest are" if nearest else "the document has no headings"
    raise SectionError(where, f"does not exist; {others}", nearest[:_MOST_CANDIDATES])


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
    file, _, anchor = name.rpartition("#")
    anchors = {anchor, unquote(anchor)} - {""}
    if not file:
        yield lambda section: section.anchor in anchors
        yield lambda section: not anchors.isdisjoint(section.anchors)
    yield lambda section: any(end.casefold() == folded for end in _ends(section))
    # "Fix #12" is a title, and "notes.md#12" an anchor.
    if file == file.rstrip():
        yield lambda section: section.anchor in anchors
        yield lambda section: not anchors.isdisjoint(section.anchors)

    def spoken(title: str) -> str:
        """Return a title in lower case; without emoji, unless the name has the title with them."""
        title = title.casefold()
        return title if title in folded else str(_EMOJI.sub(" ", title))

    yield lambda section: folded != "" and any(map(folded.__eq__, _ends(section, spoken)))
    marks = _MARKS.match(name)
    title = name[marks.end() :] if marks else name
    closed = title.rstrip("#")
    steps = (closed if closed.endswith((" ", "\t")) else title).split(_SEPARATOR.strip())
    read = (read_title(step.strip(), extensions=DEFAULT_EXTENSIONS).text for step in steps)
    written = _spaced(_plain(_SEPARATOR.join(read)))
    if marks:
        yield lambda section: section.level == len(marks[1]) and written in _ends(section, _plain)
    yield lambda section: written != "" and written in _ends(section, _plain)


def _plain(title: str) -> str:
    """Return a title in lower case, with straight quotation marks."""
    return title.casefold().translate(_QUOTES)


def _ends(section: Section, read: Callable[[str], str] = str) -> Iterator[str]:
    """Yield the ends of a section's path, the whole path first; ``read`` is applied to each title."""
    titles = tuple(map(read, section.path))
    return (_spaced(_SEPARATOR.join(titles[first:])) for first in range(len(titles)))


def _spaced(name: str) -> str:
    """Return a heading path with single spaces."""
    steps = name.split(_SEPARATOR.strip())
    return _SEPARATOR.join(" ".join(step.split()) for step in steps)
