"""Find the openers of blocks: text without which the later parts of a block are unclear.

Examples are the title of a warning, the sentence that introduces a list, and the parent item of a
sublist. Openers are copied from the document, without line prefixes such as "> ".
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, dropwhile, islice, pairwise, takewhile
from operator import attrgetter, itemgetter
from typing import ClassVar, Final, NamedTuple, TypeAlias

from chunkast.analysis.heading_paths import Headings
from chunkast.analysis.inside import Insides
from chunkast.markdown.dialects.paragraphs import bold_title
from chunkast.markdown.kinds import CONSTRUCTS, kinds_where
from chunkast.markdown.lines import marks_end
from chunkast.markdown.titles import split_attributes
from chunkast.model import Analysis, Block
from chunkast.text.source_map import line_starts
from chunkast.text.turns import TURN, line_marks
from chunkast.tokens import remember
from chunkast.toolcalls.results import find_exchanges

__all__ = ("Openers",)

_START = attrgetter("start")
# The most characters read for a part of an opener; openers are shortened to a few words later.
_MOST: Final = 600
# The number of nested tags whose openers are read, from the innermost outwards.
_NESTED: Final = 16
# The number of blocks whose openers are remembered.
_REMEMBERED: Final = 1_024
_LEAD_IN = re.compile(r"[:：][*_]*$")
# An opening line without a title or label: marks, and then a container's name or attributes in
# braces, once the attributes of its looks are removed.
_LOOKS = re.compile(
    r"\b(?:class|id|style|span|width|height|align|columns?|cols|gap|type)\s*=\s*"
    r"(?:\"[^\"]*\"|'[^']*'|[^\s\"'}]*)"
)
_BARE = re.compile(r"[^\w\s{}<>\"'|-]+\s*(?:\{[^{}=]*\}|[\w-]*)\s*:*")
# The terms before a definition in HTML, and the end of a list of definitions.
_TERMS = re.compile(r"<dt\b[^<>]*>(.*?)(?=<dd\b|</dl\b|\Z)|</dl\b", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_LABEL = re.compile(r"\b(?:title|label|name|value|header|heading|caption|question|tab)\s*=")
# Fields of Mintlify, whose other attributes name them.
_FIELD = re.compile(r"<(?:Param|Response)Field\s[^<>]*?\b(?:body|path|query|param)\s*=")
# A tag of Hugo, GitBook or Markdoc that has a label, or a value without a name.
_NAMED = re.compile(rf"{_LABEL.pattern}|\bsummary\s*=|\A\W+[\w./-]+[ \t]+(?![\w-]+[ \t]*=)[\w\"'`]")
_SUMMARY = re.compile(r"\s*<summary[^<>]*>(.*?)</summary>", re.DOTALL | re.IGNORECASE)
_NOTE = re.compile(r"\[\^[^\]\s]+\]:")
_BOLD = re.compile(r"(\*\*|__)(?=\S)(?:(?!\1).){1,80}?(?:[:：]\1|\1[:：])")
_HEADING_MARKS = re.compile(r"^#{1,6}[ \t]+|[ \t]+#+$|[ \t]*[\r\n]+[ \t>]*(?:=+|-+)$")
_LINE_PREFIX = re.compile(r"(?:\A|[\r\n])[ \t>]+")
# A bold line that is a title, without its links, images and tags.
_TITLE = re.compile(r"(?=.*[^\W_]).{1,100}(?<![.。:：,;*_])[*_]+")
_LINK = re.compile(r"\[?!?\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])(?:\]\([^()]*\))?|<[^<>]*>")
# A list of one bold line is a bold line too.
_ITEMS: Final = frozenset({"list", "item"})
# The blocks at which what a bold line or a term names may begin or end.
_EDGES: Final = _ITEMS | {"bold-heading", "hr", "html", "label", "closer"}
_SECTIONS: Final = kinds_where("section")
_SECTIONS_AND_TAGS: Final = kinds_where("section", "tag")
_NO_CONTENT: Final = kinds_where("blank", "marker")
# A speaker's name: the number of words and of characters, and how many paragraphs on both sides
# are searched for another one.
_WORDS, _CHARACTERS, _NEIGHBOURS = 3, 24, 20


class _Said(NamedTuple):
    """A part of an opener: the position where it begins, the one where it ends, and its text."""

    start: int
    end: int
    text: str


# Yields the parts of the opener of the block with a number among its siblings.
_Insides: TypeAlias = Callable[[], Insides]
_Reader: TypeAlias = Callable[["Openers", Sequence[Block], int], Iterator[_Said]]


class Openers:
    """Finds the openers of the blocks of one document."""

    def __init__(
        self, analysis: Analysis, headings: Headings, starts: Sequence[int], insides: _Insides
    ) -> None:
        self._text = analysis.text
        self._headings = headings
        self._blocks = analysis.blocks.children
        self._starts = starts
        self._insides = insides
        self._calls = dict(_calls(analysis))
        self._tags = sorted([*analysis.wrappers, *self._calls])
        self._around = _around(self._tags)
        # For the blocks of each container: their starts, and the bold titles above them.
        self._titles: dict[int, list[tuple[int, _Said | None]]] = {}
        self._titled = any(mark in self._text for mark in ("**", "__", "<dt"))
        self._known: dict[tuple[int, int, str], tuple[_Said, ...]] = {}

    def at(self, pos: int) -> tuple[str, ...]:
        """Return the openers of the blocks that are open at ``pos``, outermost first.

        No opener contains text after ``pos``.
        """
        found = list(self._of_tags(pos)) if self._tags else []
        blocks: Sequence[Block] = self._blocks
        slot = bisect_left(self._starts, pos) - 1
        while slot >= 0:
            block = blocks[slot]
            found += self._title(blocks, pos) if self._titled else ()
            if block.end <= pos:
                break
            name = CONSTRUCTS[block.kind].opener
            if name:
                key = block.start, block.end, block.kind
                said = self._known.get(key)
                if said is None:
                    said = tuple(self._readers[name](self, blocks, slot))
                    remember(self._known, key, said, _REMEMBERED)
                if name == "paragraph":
                    # Of several turns in a paragraph, only the one around the position counts.
                    last = bisect_right(said, pos, key=_START)
                    said = said[max(last - 1, 0) : last]
                found.append((block.start, said))
            blocks = block.children
            slot = bisect_left(blocks, pos, key=_START) - 1
        if not found:
            return ()
        found.sort(key=itemgetter(0))
        openers: dict[str, None] = {}
        last_opener = ""
        for _, said in found:
            opener = "\n".join(each.text for each in said if each.end <= pos)
            # The first line of an item may end with the lead-in of its sublist.
            if opener and not last_opener.endswith(opener):
                openers[opener] = None
                last_opener = opener
        return tuple(openers)

    def _of_tags(self, pos: int) -> Iterator[tuple[int, tuple[_Said, ...]]]:
        """Yield the start and the opener of each pair of tags around ``pos``, innermost first.

        A call and its result count as a pair of tags.
        """
        number = bisect_left(self._tags, (pos,)) - 1
        for _ in range(_NESTED):
            if number < 0:
                return
            span = self._tags[number]
            if pos < span[1]:
                yield span[0], self._calls.get(span) or tuple(self._tag(*span))
            number = self._around[number]

    def _title(self, blocks: Sequence[Block], pos: int) -> Iterator[tuple[int, tuple[_Said, ...]]]:
        """Yield the start and the text of the bold title above ``pos`` in a container, if any."""
        if id(blocks) not in self._titles:
            self._titles[id(blocks)] = list(_titles(self._text, blocks))
        titles, headings = self._titles[id(blocks)], self._headings
        title = titles[bisect_right(titles, pos, key=itemgetter(0)) - 1][1]
        if title and title.end <= pos and headings.run_at(title.start) == headings.run_at(pos):
            yield title.start, (title,)

    # The openers of each construct

    def _tag(self, start: int, end: int) -> Iterator[_Said]:
        """Yield the summary of a pair of tags, or an opening tag that has a label."""
        last = min(end, start + _MOST)
        tag = _TAG.match(self._text, marks_end(self._text, start, last), last)
        if tag is None:
            return
        summary = _SUMMARY.match(self._text, tag.end(), last)
        if summary:
            yield _Said(start, summary.end(), " ".join(_TAG.sub("", summary[1]).split()))
        elif _LABEL.search(tag[0]) or _FIELD.match(tag[0]):
            yield _Said(start, tag.end(), " ".join(tag[0].split()))

    def _container(self, blocks: Sequence[Block], slot: int) -> Iterator[_Said]:
        """Yield the opening line of a container, if it has a title or label."""
        block = blocks[slot]
        end = self._line_end(block.start)
        line = self._line(block.start, end)
        if line.startswith("<"):
            yield from self._tag(block.start, block.end)
        elif _NAMED.search(line) if line[:1] == "{" else not _BARE.fullmatch(_LOOKS.sub("", line)):
            yield _Said(block.start, end, line)

    def _tab(self, blocks: Sequence[Block], slot: int) -> Iterator[_Said]:
        """Yield the label of a tab."""
        yield _Said(blocks[slot].start, blocks[slot].children[0].end, blocks[slot].info)

    def _note(self, blocks: Sequence[Block], slot: int) -> Iterator[_Said]:
        """Yield the opening line of an alert, its title, and its first sentence."""
        block = blocks[slot]
        first = block.children[0] if block.children else block
        if CONSTRUCTS[first.kind].marker:
            yield _Said(block.start, first.end, self._line(block.start, first.end))
        yield from self._quote(blocks, slot)

    def _quote(self, blocks: Sequence[Block], slot: int) -> Iterator[_Said]:
        """Yield the heading at the beginning of a quote, and its first sentence."""
        texts = (block for block in blocks[slot].children if block.kind not in _NO_CONTENT)
        for block in islice(texts, 2):
            row = CONSTRUCTS[block.kind]
            if row.section:
                title = _HEADING_MARKS.sub("", self._line(block.start, block.end, marks=True))
                yield _Said(block.start, block.end, split_attributes(title)[0])
                continue
            if row.shape == "prose":
                starts = self._sentences(block)
                end = starts[1] if len(starts) > 1 else block.end
                yield _Said(block.start, end, self._line(block.start, end, marks=True))
            return

    def _list(self, blocks: Sequence[Block], slot: int) -> Iterator[_Said]:
        """Yield the last sentence of the paragraph right before a list, if it ends with a colon."""
        before = reversed(blocks[max(slot - _NEIGHBOURS, 0) : slot])
        block = next((each for each in before if not CONSTRUCTS[each.kind].blank), None)
        if block is None or CONSTRUCTS[block.kind].shape != "prose" or block.kind in _SECTIONS:
            return
        if _LEAD_IN.search(self._text[max(block.start, block.end - _MOST) : block.end].rstrip()):
            start = self._sentences(block)[-1]
            yield _Said(start, block.end, self._line(start, block.end, marks=start == block.start))

    def _item(self, blocks: Sequence[Block], slot: int) -> Iterator[_Said]:
        """Yield the first line of an item, for the blocks after its first one."""
        block = blocks[slot]
        first = block.children[0] if block.children else block
        line = self._line(block.start, self._line_end(block.start))
        if CONSTRUCTS[first.kind].shape == "prose" and any(map(str.isalnum, line)):
            yield _Said(block.start, first.end, line)

    def _definition(self, blocks: Sequence[Block], slot: int) -> Iterator[_Said]:
        """Yield the terms before a definition."""
        before = blocks[max(slot - _NEIGHBOURS, 0) : slot][::-1]
        after = dropwhile(lambda block: block.kind != "term", before)
        terms = list(takewhile(lambda block: block.kind == "term", after))
        if terms:
            lines = (self._line(term.start, term.end, marks=True) for term in reversed(terms))
            yield _Said(terms[-1].start, terms[0].end, ", ".join(lines))

    def _footnote(self, blocks: Sequence[Block], slot: int) -> Iterator[_Said]:
        """Yield the label of a footnote."""
        start = marks_end(self._text, blocks[slot].start, self._line_end(blocks[slot].start))
        if label := _NOTE.match(self._text, start):
            yield _Said(start, label.end(), label[0])

    def _paragraph(self, blocks: Sequence[Block], slot: int) -> Iterator[_Said]:
        """Yield the label of a paragraph, and those of the lines in it that have one too.

        A label is bold up to a colon, or the name of a speaker if another paragraph has one. Where
        several lines begin with a time or a speaker, these are the labels.
        """
        block = blocks[slot]
        turns = TURN in line_marks(self._text[block.start : block.end])
        if turns or self._is_labelled(blocks, slot):
            for start in line_starts(self._text, block.start, block.end)[:-1]:
                if turn := self._turn(start, block.end, turns=turns):
                    yield turn

    def _is_labelled(self, blocks: Sequence[Block], slot: int) -> bool:
        """Return whether a paragraph begins with a label."""
        first = self._turn(blocks[slot].start, blocks[slot].end)
        if first is None or first.text[0] in "*_":
            return first is not None
        return any(self._turn(*span) for span in self._neighbours(blocks, slot))

    def _neighbours(self, blocks: Sequence[Block], slot: int) -> Iterator[tuple[int, int]]:
        """Yield the spans of the nearest paragraphs of the same section."""
        sides = (
            blocks[max(slot - _NEIGHBOURS, 0) : slot][::-1],
            blocks[slot + 1 : slot + 1 + _NEIGHBOURS],
        )
        for block in chain(
            *(takewhile(lambda each: each.kind not in _SECTIONS, side) for side in sides)
        ):
            if CONSTRUCTS[block.kind].plain:
                yield block.start, block.end

    def _turn(self, start: int, end: int, *, turns: bool = False) -> _Said | None:
        """Return the label at the beginning of a line of a paragraph that ends at ``end``.

        If ``turns`` is true, a time is one as well.
        """
        end = min(end, start + _MOST)
        first = marks_end(self._text, start, end)
        if turns and (turn := TURN.match(self._text, start, end)):
            return _Said(start, turn.end(), self._line(start, turn.end(), marks=True))
        if bold := _BOLD.match(self._text, first, end):
            return _Said(start, bold.end(), bold[0])
        name, colon, text = self._text[first : first + _CHARACTERS + 2].partition(":")
        words = name.split()
        if not (colon and text[:1] in (" ", "\t") and 0 < len(words) <= _WORDS):
            return None
        if "\n" in name or "\r" in name or not all(word[0].isupper() for word in words):
            return None
        return _Said(start, first + len(name) + 1, name + colon)

    _readers: ClassVar[Mapping[str, _Reader]] = {
        "container": _container,
        "tab": _tab,
        "note": _note,
        "quote": _quote,
        "list": _list,
        "item": _item,
        "definition": _definition,
        "footnote": _footnote,
        "paragraph": _paragraph,
    }

    # Text without prefixes

    def _sentences(self, leaf: Block) -> list[int]:
        """Return the start of a leaf of prose, and of its other sentences."""
        text = self._insides().several_sentences(leaf)
        starts = text.sentences if text else ()
        return [leaf.start, *(pos for pos in starts if leaf.start < pos < leaf.end)]

    def _line_end(self, start: int) -> int:
        return line_starts(self._text, start, start + _MOST)[1]

    def _line(self, start: int, end: int, *, marks: bool = False) -> str:
        """Return a span on one line, without the prefixes of quotes and indentation.

        If ``marks`` is true, the markers of items at its start are left out as well.
        """
        text = self._text[start : min(end, start + _MOST)]
        first = marks_end(text) if marks else 0
        return " ".join(_LINE_PREFIX.sub(" ", text[first:]).split())


def _titles(text: str, blocks: Sequence[Block]) -> Iterator[tuple[int, _Said | None]]:
    """Yield the start of each block of a container where another bold title, or none, begins.

    It names the text up to the next title, heading or rule, or to the end of the tags around it.
    """
    title = term = None
    around: list[_Said | None] = []
    yield -1, None
    for block in blocks:
        if block.kind not in _EDGES and block.kind not in _SECTIONS_AND_TAGS:
            continue
        row = CONSTRUCTS[block.kind]
        inner = block
        while inner.kind in _ITEMS and len(inner.children) == 1:
            (inner,) = inner.children
        is_bold = inner.kind == "bold-heading" or inner is not block
        line = bold_title(text, inner) if is_bold else ""
        if line and _TITLE.fullmatch(_LINK.sub("", line)):
            title = _Said(block.start, block.end, line)
        elif row.section or block.kind == "hr":
            title = None
        elif row.tag and block.info == "open":
            around.append(title)
        elif row.tag and around:
            title = around.pop()
        yield block.start, term or title
        for match in _TERMS.finditer(text, block.start, block.end) if row.named == "html" else ():
            name = " ".join(_TAG.sub("", match[1] or "").split())[:_MOST]
            term = _Said(match.start(), match.end(), name) if name else None
            yield match.start(), term or title


def _calls(analysis: Analysis) -> Iterator[tuple[tuple[int, int], tuple[_Said]]]:
    """Yield the text after each tool call up to the end of its result, and the call."""
    spans = [(each.start, each.end) for each in analysis.regions if each.kind == "tool-call"]
    for calls, results in find_exchanges(analysis.text, spans) if spans else ():
        for number, (before, result) in enumerate(pairwise((calls[-1], *results))):
            start, end = calls[min(number, len(calls) - 1)]
            call = " ".join(analysis.text[start : min(end, start + _MOST)].split())
            yield (before[1] - 1, result[1]), (_Said(start, end, call),)


def _around(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return, for each of the sorted spans, the number of the innermost one around it, or -1."""
    around: list[int] = []
    opened: list[int] = []
    for number, (start, _) in enumerate(spans):
        while opened and spans[opened[-1]][1] <= start:
            opened.pop()
        around.append(opened[-1] if opened else -1)
        opened.append(number)
    return around
