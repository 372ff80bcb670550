"""Find the page marks of converters in a text, and the starts of its pages."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from chunkast.text.source_map import line_starts
from chunkast.text.white_space import WHITE_SPACE, is_blank

__all__ = (
    "MARKERS",
    "Marker",
    "PageMark",
    "page_marks",
    "page_starts",
    "pages_note",
    "pages_of",
    "pages_of_text",
)


@dataclass(frozen=True, slots=True)
class Marker:
    """A type of page mark. Each mark is on a line of its own.

    pattern: a regular expression for the mark; its group, if any, matches the page number.
    role: "begins" or "ends" for a mark with the number of the page that begins or ends there;
        "breaks" for a mark between two pages, without a number; "says" for any other note about a
        page.
    first: the number that such marks give the first page of a document.
    """

    pattern: str
    role: str
    first: int = 1


# No two of them match the same line. A form feed breaks pages anywhere in a line.
MARKERS: Final = (
    Marker(r"-{3,} ?end of page[= ](\d{1,6}) ?-{3,}", "ends", 0),  # pymupdf4llm
    Marker(r"\{(\d{1,6})\}-{20,}", "begins", 0),  # marker
    Marker(r"(?i:<!-- *page[-_ ]?break *-->)", "breaks"),  # Azure, docling-serve
    Marker(r"<!-- *Page(?:Number|Header|Footer) *=[^\r\n]{0,500}?-->", "says"),  # Azure
    Marker(r"<!-- *Slide number: *(\d{1,6}) *-->", "begins"),  # markitdown
    Marker(r"(?i:<!-- *page:? *(\d{1,6}) *-->)", "begins"),  # texts prepared by hand
)
_KNOWN: Final = [
    (marker, re.compile(rf"^[ \t]*({marker.pattern})[ \t]*\r?$", re.MULTILINE))
    for marker in MARKERS
]
# The number in a user's mark.
_NUMBER: Final = re.compile(r"\d{1,9}")
# Parts of some marks; most texts contain none of them.
_HINTS: Final = ("end of page", "}---")
_COMMENT = re.compile(r"<!-- *(?i:page|slide)")
_FORM_FEED: Final = Marker("\f", "breaks")  # pdftotext
# A form feed directly after text, or all form feeds between two stretches of text.
_FORM_FEEDS: Final = re.compile(rf"\f(?:(?<=[^{WHITE_SPACE}]\f)|[{WHITE_SPACE}]*\f)?")


@dataclass(frozen=True, slots=True)
class PageMark:
    """A page mark in the span ``[start, end)`` of a text.

    number: the page number in the mark, or None.
    begins: true if the mark belongs to the text after it.
    breaks: the number of pages that a mark without a number begins. This may be more than 1,
        because consecutive form feeds are one mark.
    """

    start: int
    end: int
    marker: Marker
    number: int | None
    begins: bool
    breaks: int = 1


def page_marks(text: str, own: str | None = None) -> list[PageMark]:
    """Return the page marks in ``text``, in order; overlapping marks are merged.

    ``own`` is a user's pattern for whole lines, which is tried first. The name of its group,
    "begins" or "ends", is the role of its marks; a mark whose number is unreadable is ignored.
    """
    marks = _own_marks(text, own) if own is not None else []
    if ("!" in text and _COMMENT.search(text)) or any(map(text.__contains__, _HINTS)):
        marks += _known_marks(text)
    if "\f" in text:
        marks += (
            PageMark(*at.span(), _FORM_FEED, None, begins=False, breaks=at[0].count("\f"))
            for at in _FORM_FEEDS.finditer(text)
        )
    return _with_notes(text, _merged(marks))


def _own_marks(text: str, own: str) -> list[PageMark]:
    pattern = re.compile(own)
    role = next(iter(pattern.groupindex), "breaks")
    marker = Marker(own, role)
    marks: list[PageMark] = []
    for start, end in pairwise(line_starts(text)):
        line = text[start:end].strip(" \t\r\n")
        found = pattern.fullmatch(line)
        digits = found[role] or "" if found and pattern.groupindex else ""
        if not found or not line or (pattern.groupindex and not _NUMBER.fullmatch(digits)):
            continue
        first = text.index(line, start)
        number = int(digits) if digits else None
        marks.append(PageMark(first, first + len(line), marker, number, begins=role == "begins"))
    return marks


def _known_marks(text: str) -> list[PageMark]:
    return [
        PageMark(
            *found.span(1),
            marker,
            int(found[2]) if line.groups > 1 else None,
            begins=marker.role == "begins",
        )
        for marker, line in _KNOWN
        for found in line.finditer(text)
    ]


def _merged(marks: list[PageMark]) -> list[PageMark]:
    """Return the marks sorted by start, with overlapping marks merged."""
    kept: list[PageMark] = []
    # A stable sort: of marks that begin together, a user's own comes first.
    for mark in sorted(marks, key=lambda mark: mark.start):
        if not kept or mark.start >= kept[-1].end:
            kept.append(mark)
            continue
        last = kept[-1]
        better = mark if last.marker is _FORM_FEED else last
        kept[-1] = replace(better, start=last.start, end=max(last.end, mark.end))
    return kept


def _with_notes(text: str, marks: Sequence[PageMark]) -> list[PageMark]:
    """Return the marks, with each note directly after a page break assigned to the new page."""
    found: list[PageMark] = []
    for mark in marks:
        last = found[-1] if found and mark.marker.role == "says" else None
        begins = last is not None and (last.begins or last.marker.role == "breaks")
        if last is not None and begins and is_blank(text[last.end : mark.start]):
            mark = replace(mark, begins=True)  # noqa: PLW2901
        found.append(mark)
    return found


def page_starts(marks: Sequence[PageMark], first: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield the start of each page, and its 1-based number.

    ``first`` is the number that the marks give the document's first page; by default, it is derived
    from the first mark. If any mark has a number, marks without numbers are ignored.
    """
    numbered = [mark for mark in marks if mark.number is not None]
    counted = numbered or [mark for mark in marks if mark.marker.role == "breaks"]
    if not counted:
        return
    number = counted[0].number
    if first is None:
        first = counted[0].marker.first if number is None or number > 1 else number
    page = 1 if number is None else max(1, number - first + 1 - counted[0].begins)
    yield 0, page
    for mark in counted:
        if mark.number is None:
            page += mark.breaks
        else:
            page = max(1, mark.number - first + 1 + (not mark.begins))
        yield mark.start if mark.begins else mark.end, page


def pages_note(pages: tuple[int, int] | None) -> str:
    """Return the page numbers as a suffix: "  p. 3", "  pp. 3-4", or "" if ``pages`` is None.

    >>> pages_note((3, 4))
    '  pp. 3-4'
    """
    if pages is None:
        return ""
    first, last = pages
    return f"  p. {first}" if first == last else f"  pp. {first}-{last}"


def pages_of(starts: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int] | None:
    """Return the first and last page numbers of ``[start, end)``; None if ``starts`` is empty."""
    if not starts:
        return None
    first, last = (
        starts[max(bisect_left(starts, (pos + 1, 0)) - 1, 0)][1] for pos in (start, end - 1)
    )
    return first, last


def pages_of_text(
    starts: Sequence[tuple[int, int]], text: str, start: int = 0
) -> tuple[int, int] | None:
    """Return the first and last page numbers of ``text``, which begins at index ``start``.

    White space at the ends of ``text`` is ignored. Returns None if ``starts`` is empty.
    """
    if not starts:
        return None
    first = start + len(text) - len(text.lstrip(WHITE_SPACE))
    return pages_of(starts, first, max(start + len(text.rstrip(WHITE_SPACE)), first + 1))
