"""Find heading paths by position, and the sections of a document or span.

A section consists of its own text and the sections inside it. A run is a contiguous span of its own
text; most sections have only one. A section that begins inside a wrapper, such as a tab, ends with
the wrapper if it is deeper than the section around the wrapper. The outer section then continues
with a new run. The footnotes and link definitions at the end of a document are also a run. It
belongs to the section of level 1 if there is exactly one, and otherwise to the document. A page
inside the document is also a section; all open sections end where it begins.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from operator import attrgetter
from typing import Final, NamedTuple

from chunkast.markdown.titles import short_title
from chunkast.model import Analysis, Heading
from chunkast.text.front_matter import page_title
from chunkast.text.source_map import make_array

__all__ = ("Headings", "OpenSections", "Page", "Part", "Run", "Sections", "titled_path")

_START = attrgetter("start")
# Sections nested deeper than this become siblings. Markdown has six levels, but code and
# heuristics may have any number, and sections are cut recursively.
_DEEPEST: Final = 64
# The levels of the document, of a page inside it, and of the highest headings.
_DOCUMENT, _PAGE, _HIGHEST = -1, 0, 1
# The order of what happens at one position: wrappers end, an appendix, a page, wrappers begin, a
# heading.
_LEAVE, _APPEND, _BEGIN, _ENTER, _HEADING = range(5)
_APPENDIX: Final = frozenset({"footnote", "link-definition"})
_NO_TEXT: Final = _APPENDIX | {"blank", "front-matter"}


def titled_path(path: tuple[str, ...], title: str) -> tuple[str, ...]:
    """Return a heading path without empty titles, and with the document's title in front.

    The title is not added if the path already contains it.
    """
    titles = tuple(filter(None, path))
    return (title, *titles) if title and title not in titles else titles


class Page(NamedTuple):
    """A page: the document itself (number 0), or a part of it that begins with front matter.

    title: the title in the front matter, or "" if there is none.
    """

    number: int
    start: int
    front_matter: str
    title: str


class Run(NamedTuple):
    """A span of a section's own text, from ``start`` up to the next run.

    heading: the number of the section's heading, or -1 for text before the first heading.
    first: the number of the section's first run.
    """

    start: int
    heading: int
    first: int


class OpenSections:
    """The level and number of each section that is open at a position, outermost first."""

    def __init__(self) -> None:
        self.stack: list[tuple[int, int]] = []
        # For each open wrapper, the level of the section around it, and the first section in it.
        self._wrappers: list[tuple[int, int]] = []

    def begin(self, level: int, number: int) -> list[int]:
        """Open a section, and return the numbers of the sections that it ends."""
        ended = self.end(level)
        self.stack.append((level, number))
        return ended

    def end(self, level: int) -> list[int]:
        """End the sections of this level and deeper ones, and return their numbers."""
        ended: list[int] = []
        while self.stack and (self.stack[-1][0] >= level or len(self.stack) > _DEEPEST):
            ended.append(self.stack.pop()[1])
        return ended

    def enter(self, number: int) -> None:
        """Enter a wrapper. ``number`` is the number of the next section."""
        self._wrappers.append((self.stack[-1][0] if self.stack else _DOCUMENT, number))

    def leave(self) -> list[int]:
        """Leave the innermost wrapper, and return the numbers of the sections that end with it.

        These are the sections that began in the wrapper and are deeper than the section around it.
        """
        level, first = self._wrappers.pop()
        ended: list[int] = []
        while self.stack and self.stack[-1][1] >= first and self.stack[-1][0] > level:
            ended.append(self.stack.pop()[1])
        return ended


class Headings:
    """Looks up headings, runs and sections by position.

    all: the headings of the analysis. A heading without a title also begins a run, but its path is
        that of the section around it.
    pages: the document, and the pages inside it.
    first_path: the heading path of the text before the first heading.
    runs: the runs of text, sorted; the first begins at 0 and belongs to the document.
    ends: for each run that begins a section, the number of the first run after the section.
    appendices: the starts of the footnotes and link definitions at the end of pages, each with the
        highest level of the sections that end there.
    """

    def __init__(self, analysis: Analysis) -> None:
        self.all = analysis.headings
        self.first_path = analysis.path
        matters = (analysis.text[start:end] for start, end in analysis.inner_pages)
        self._page_starts = [0, *(start for start, _ in analysis.inner_pages)]
        self.pages = [
            Page(number, start, matter, short_title(page_title(matter, self._first_level(start))))
            for number, (start, matter) in enumerate(
                zip(self._page_starts, (analysis.front_matter, *matters), strict=True)
            )
        ]
        self.appendices = dict(_appendices(analysis, self.all))
        others = [(start, _BEGIN, -1) for start in self._page_starts[1:]]
        others += ((start, _APPEND, level) for start, level in self.appendices.items())
        self.runs, self.ends = _runs_of(self.all, analysis.wrappers, others)
        self._starts = make_array(map(_START, self.runs), len(analysis.text))

    def _first_level(self, start: int) -> int:
        """Return the level of the first heading at or after a position, or 0."""
        number = bisect_left(self.all, start, key=_START)
        return self.all[number].level if number < len(self.all) else 0

    def page_at(self, pos: int) -> Page:
        """Return the page that contains ``pos``."""
        pages = self.pages
        return pages[0] if len(pages) == 1 else pages[bisect_right(self._page_starts, pos) - 1]

    def run_at(self, pos: int) -> int:
        """Return the number of the run that contains ``pos``."""
        return bisect_right(self._starts, pos) - 1

    def number_at(self, pos: int) -> int:
        """Return the number of the heading of the section at ``pos``, or -1 before all headings."""
        return self.runs[self.run_at(pos)].heading

    def path(self, number: int) -> tuple[str, ...]:
        """Return the heading path of heading ``number``, or ``first_path`` for -1."""
        return self.all[number].path if number >= 0 else self.first_path

    def sections(self, start: int, end: int) -> list[tuple[int, tuple[str, ...], int]]:
        """Return the start, heading path and first run of each section in ``[start, end)``.

        Every path contains the title of the page, if the page has one. Text before the first
        heading counts as a section only if its path is not empty.
        """
        sections: list[tuple[int, tuple[str, ...], int]] = []
        for number in range(self.run_at(start), bisect_left(self._starts, end)):
            run = self.runs[number]
            begin = max(start, run.start)
            path = titled_path(self.path(run.heading), self.page_at(begin).title)
            # Text below a heading without a title is in the section around.
            continues = run.first != number or (
                run.heading >= 0 and not self.all[run.heading].title
            )
            if path and not (continues and sections and sections[-1][1] == path):
                sections.append((begin, path, number))
        return sections


def _appendices(analysis: Analysis, headings: Sequence[Heading]) -> Iterator[tuple[int, int]]:
    """Yield the start of the appendix of each page that has one, and the level that ends there.

    The highest level ends there too, unless the page has only one section of it.
    """
    blocks, pages = analysis.blocks.children, [start for start, _ in analysis.inner_pages]
    for span in pairwise([0, *pages, len(analysis.text)]):
        page = blocks[slice(*(bisect_left(blocks, pos, key=_START) for pos in span))]
        own = headings[slice(*(bisect_left(headings, pos, key=_START) for pos in span))]
        tail = [*takewhile(lambda block: block.kind in _NO_TEXT, reversed(page))]
        starts = [block.start for block in tail if block.kind in _APPENDIX]
        if starts and len(tail) < len(page):
            yield starts[-1], _HIGHEST + (sum(each.level <= _HIGHEST for each in own) == 1)


def _runs_of(
    headings: Sequence[Heading],
    wrappers: Sequence[tuple[int, int]],
    others: Iterable[tuple[int, int, int]],
) -> tuple[list[Run], list[int]]:
    """Return the runs of a document, and the ends of its sections, as in :class:`Headings`.

    ``others`` are the pages and appendices.
    """
    events = [(heading.start, _HEADING, number) for number, heading in enumerate(headings)]
    events += others
    for start, end in wrappers:
        # A section that begins with the lines before a wrapper ends with the wrapper too.
        before = bisect_right(headings, start, key=_START) - 1
        begun = before >= 0 and start < headings[before].end
        events.append((headings[before].start if begun else start, _ENTER, 0))
        events.append((end, _LEAVE, 0))
    events.sort()
    runs, ends = [Run(0, -1, 0)], [0]
    opened = OpenSections()
    opened.begin(_DOCUMENT, 0)
    for pos, event, opener in events:
        number, heading = len(runs), opener
        if event == _ENTER:
            opened.enter(number)
            continue
        if event in (_LEAVE, _APPEND):
            ended = opened.leave() if event == _LEAVE else opened.end(opener)
            if not ended and event == _LEAVE:
                continue
            first = opened.stack[-1][1]
            heading = runs[first].heading
        else:
            level = max(headings[heading].level, _HIGHEST) if heading >= 0 else _PAGE
            ended, first = opened.begin(level, number), number
        for run in ended:
            ends[run] = number
        runs.append(Run(pos, heading, first))
        ends.append(number)
    for _, run in opened.stack:
        ends[run] = len(runs)
    return runs, ends


class Part(NamedTuple):
    """A part of a section: a section inside it, or a span of its own text.

    ``section`` is the number of the inner section's first run, or -1 for own text.
    """

    start: int
    end: int
    section: int


class Sections:
    """The sections of a document, as they are cut. A section's number is that of its first run.

    starts: the start of each run, then the end of the text. A start at which no cut is allowed is
        moved.
    roots: the sections that are cut separately, and never joined with others.
    appendices: the starts of the footnotes and link definitions at the end of a document or page.
    apart: for the first run of each page whose front matter is omitted, the end of the text before
        the page.
    """

    def __init__(self, headings: Headings, starts: Sequence[int], apart: Mapping[int, int]) -> None:
        self.starts = starts
        self.roots = [0, *apart]
        runs = enumerate(headings.runs)
        self.appendices = {starts[n] for n, run in runs if run.start in headings.appendices}
        self._runs = headings.runs
        self._ends = headings.ends
        self._stops = starts
        if apart:
            self._ends = list(headings.ends)
            for root, following in pairwise([*self.roots, len(starts) - 1]):
                self._ends[root] = following
            self._stops = [apart.get(number, start) for number, start in enumerate(starts)]

    def end(self, section: int) -> int:
        """Return the end of a section."""
        return self._stops[self._ends[section]]

    def parts(self, section: int) -> Iterator[Part]:
        """Yield the parts of a section that have any text, in order."""
        begin = self.starts[section]
        number, last = section + 1, self._ends[section]
        while number < last:
            start = self.starts[number]
            if self._runs[number].first != number:
                if start in self.appendices and begin < start:
                    yield Part(begin, start, -1)
                    begin = start
                number += 1
                continue
            after = self.end(number)
            if start < after:
                if begin < start:
                    yield Part(begin, start, -1)
                yield Part(start, after, number)
                begin = after
            number = self._ends[number]
        if begin < self._stops[last]:
            yield Part(begin, self._stops[last], -1)

    def last_begun(self, pos: int) -> int:
        """Return the start of the run that contains ``pos``."""
        return self.starts[bisect_right(self.starts, pos) - 1]

    def begins(self, pos: int) -> bool:
        """Return whether a run begins at ``pos``."""
        return self.last_begun(pos) == pos
