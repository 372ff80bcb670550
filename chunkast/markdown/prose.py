"""Map the text of a paragraph, without its containers' prefixes, to the source."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence

from chunkast.markdown.inline import inline_spans
from chunkast.model import Block
from chunkast.text.language import DEFAULT_LANGUAGE
from chunkast.text.sentences import sentence_starts
from chunkast.text.source_map import line_starts, parseable
from chunkast.text.spans import InlineSpan, SpanSet, content_end
from chunkast.text.white_space import WHITE_SPACE

__all__ = ("Prose",)

_NOT_SPACE = re.compile(f"[^{WHITE_SPACE}]")

# A repeated group would take a hundred bytes for each of many lines.
_BLANK_LINES = re.compile(r"(?<=\S)[ \t]*(?:\r\n|\n|\r(?!\n))[ \t\f\r\n]*[\r\n](?=[ \t]*\S)")


class Prose:
    """A leaf's text as the parser read it, mapped to the source line by line.

    The parser strips indentation and the prefixes of quotes and items from each line. The rest is
    found by comparing it with the end of the source line. At the top level, nothing is stripped.
    """

    def __init__(self, text: str, block: Block) -> None:
        self._offset = block.start
        # The start of each line of the content, and the source positions of its text and its line.
        self._content: list[int] = []
        self._source: list[int] = []
        self._line: list[int] = []
        self.text = text[block.start : block.end]
        if block.content:
            self._map_lines(block)
        else:
            # Only a paragraph that continues across the edge of a page has blank lines.
            self.text = _BLANK_LINES.sub(lambda lines: " " * len(lines[0]), self.text)

    def _map_lines(self, block: Block) -> None:
        content = block.content
        text = parseable(self.text)
        lines = content.split("\n")
        source_lines = line_starts(text)
        at = 0
        for number, line in enumerate(lines, _skipped(text, source_lines, lines)):
            if number + 1 >= len(source_lines):
                return
            start, end = source_lines[number], source_lines[number + 1]
            # Only a heading may have (closing) marks after its text.
            place = text.rfind(line, start, end)
            if place < 0:
                place = max(start, content_end(text, start, end) - len(line.rstrip(WHITE_SPACE)))
            self._content.append(at)
            self._source.append(block.start + place)
            self._line.append(block.start + start)
            at += len(line) + 1
        self.text = content

    def source(self, position: int) -> int:
        """Return the source position of the character at ``position`` in the content."""
        if not self._content:
            return self._offset + position
        slot = bisect_right(self._content, position) - 1
        return self._source[slot] + position - self._content[slot]

    def spans(self, references: Container[str], extensions: Sequence[str]) -> list[InlineSpan]:
        """Return the inline constructs that must not be cut, as positions in the content."""
        return inline_spans(self.text, references=references, extensions=extensions)

    def sentences(
        self,
        spans: Sequence[InlineSpan],
        language: str = DEFAULT_LANGUAGE,
        items: Sequence[re.Pattern[str]] = (),
    ) -> Iterator[int]:
        """Yield the source position of each sentence except the first, by ``language``'s rules.

        The position of a sentence that begins a line is the start of that line in the source. A
        line that matches one of the patterns in ``items`` also begins a sentence.
        """
        lines = self._content or line_starts(self.text)
        slot = -1
        first = 0
        starts: Iterable[int] = sentence_starts(self.text, spans, language)
        if items and (begun := [*self._items(lines, spans, items)]):
            starts = sorted({*starts, *begun})
        for start in starts:
            # Each line is searched once: one line may have millions of sentences.
            line = bisect_right(lines, start) - 1
            if line != slot:
                slot = line
                text = _NOT_SPACE.search(self.text, lines[line])
                first = text.start() if text else start
            if start > first:
                yield self.source(start)
            elif self._content:
                yield self._line[line]
            else:
                yield self._offset + (lines[line] or start)

    def _items(
        self, lines: Sequence[int], spans: Sequence[InlineSpan], items: Sequence[re.Pattern[str]]
    ) -> Iterator[int]:
        """Yield the position of the text of each line that begins an item, except the first line.

        Lines whose text begins inside one of the ``spans`` are skipped.
        """
        whole = SpanSet((span.start, span.end) for span in spans)
        for line in lines[1:]:
            if any(item.match(self.text, line) for item in items):
                text = _NOT_SPACE.search(self.text, line)
                if text is not None and whole.end(text.start()) == text.start():
                    yield text.start()


def _skipped(text: str, source_lines: Sequence[int], lines: Sequence[str]) -> int:
    """Return the number of source lines before the content.

    A line of only U+1680 is not blank to the parser and begins a paragraph, but is trimmed from the
    paragraph's content.
    """
    for number in range(len(source_lines) - len(lines)):
        if text.find(lines[0], source_lines[number], source_lines[number + 1]) >= 0:
            return number
    return 0
