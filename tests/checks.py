"""The promises, checked on one document; used by the property tests and on real documents."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterator
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import NamedTuple

import regex
import tiktoken
from sentencex import get_sentence_boundaries
from tokenizers import Tokenizer

from chunkast import Analysis, Chunk, ChunkConfig, Chunker, ProtectedRegion
from chunkast.analysis.headed import is_label
from chunkast.markdown import CONSTRUCTS
from chunkast.markdown.dialects import item_marks
from chunkast.markdown.inline import MAX_NESTED
from chunkast.markdown.prose import Prose
from chunkast.model import Block
from chunkast.text.language import language_of_text
from chunkast.text.source_map import encode, line_starts
from chunkast.text.white_space import WHITE_SPACE, is_blank
from tests.hf import own_count

__all__ = ("check_promises", "counter_of", "sentence_spans")

_CLUSTER = regex.compile(r"\X")
_PLACEHOLDER = re.compile(r"\[(?:data URI.*|base64), [\d,]{3,} characters\]")
_PLAIN = re.compile(r"[\w,.?!:; -]{1,1900}")
_SHORT_END = re.compile(r"(?<![^\W\d_]{4})[.?!]")
_LINE_END = re.compile(r"\r\n|\r|\n")
_PIPE = re.compile(r"(?<!\\)\|")
# A row of one cell, in bold or wide.
_MAY_GROUP = re.compile(
    r"\s*[ \t>|]*(?:\*\*|__)[^|]*[ \t|]*\s*|(?i:(?:(?!<t[dh]).)*<t[dh][^>]*colspan(?:(?!<t[dh]).)*)",
    re.DOTALL,
)
_ROW = re.compile(r"<tr>(?:\s*<td>[^<]*</td>)+\s*</tr>")
_CELL = re.compile(r"<td>([^<]*)</td>")
# The first word of a text, with the marks before it; and of a fence, after its opening line.
_FIRST_WORD = re.compile(rf"(?:[^\w{WHITE_SPACE}]*[{WHITE_SPACE}]+)*[^{WHITE_SPACE}]+")
_FENCE_WORD = re.compile(rf"[^\r\n]*[\r\n]+{_FIRST_WORD.pattern}")


def counter_of(config: ChunkConfig) -> Callable[[str], int]:
    """An independent count: tiktoken itself, asked anew for every text."""
    if callable(config.encoding):
        own = config.encoding
        return lambda text: math.ceil(own(text))
    if isinstance(config.encoding, Tokenizer):
        return own_count(config.encoding)
    encoding = tiktoken.get_encoding(config.encoding)
    return lambda text: len(encoding.encode_ordinary(text))


def sentence_spans(
    analysis: Analysis, config: ChunkConfig, boundaries: set[int]
) -> Iterator[tuple[int, int]]:
    """The sentences of every paragraph, heading and cell, white space at their end left out.

    A sentence that the splitter begins inside a grapheme cluster does not count as one:
    ``boundaries`` are the positions between clusters.
    """
    text = analysis.text
    language = config.sentence_language
    if language == "auto":
        language = language_of_text(text, analysis.front_matter)
    for block, prose in _prose(analysis):
        spans = prose.spans(analysis.references, config.extensions)
        items = item_marks(config.extensions)
        inner = [start for start in prose.sentences(spans, language, items) if start in boundaries]
        edges = [block.start, *inner, block.end]
        for start, end in pairwise(edges):
            yield start, start + len(text[start:end].rstrip(WHITE_SPACE))


def sentencex_spans(analysis: Analysis, config: ChunkConfig) -> Iterator[tuple[int, int]]:
    """The sentences of paragraphs of one plain line, as sentencex itself finds them.

    Left out are what chunkast reads otherwise, on purpose: markup, quotes and closing marks; long
    paragraphs, which are read in windows; and words that may be abbreviations.
    """
    language = config.sentence_language
    if language == "auto":
        language = language_of_text(analysis.text, analysis.front_matter)
    for leaf in analysis.blocks.leaves():
        text = analysis.text[leaf.start : leaf.end].rstrip(WHITE_SPACE)
        plain = leaf.kind == "paragraph" and _PLAIN.fullmatch(text)
        if plain and not _SHORT_END.search(text):
            for found in get_sentence_boundaries(language, text):
                first = leaf.start + found["start_index"]
                whole = text[found["start_index"] : found["end_index"]]
                yield first, first + len(whole.rstrip(WHITE_SPACE))


def inline_regions(
    analysis: Analysis, config: ChunkConfig, clusters: list[tuple[int, int]]
) -> Iterator[ProtectedRegion]:
    """Every inline construct, those inside others too, grown to whole grapheme clusters."""
    starts = [start for start, _ in clusters]
    for _, prose in _prose(analysis):
        spans = prose.spans(analysis.references, config.extensions)
        waiting = [(span, 0) for span in spans]
        while waiting:
            span, depth = waiting.pop()
            if depth < MAX_NESTED:
                waiting.extend((inner, depth + 1) for inner in span.inside)
            first, last = prose.source(span.start), prose.source(span.end - 1)
            start = clusters[bisect_right(starts, first) - 1][0]
            yield ProtectedRegion(start, clusters[bisect_right(starts, last) - 1][1], span.kind)


def _prose(analysis: Analysis) -> Iterator[tuple[Block, Prose]]:
    """The blocks that have sentences: paragraphs, headings, and each cell of a table."""
    read = analysis.masked or analysis.text
    for leaf in analysis.blocks.leaves():
        if CONSTRUCTS[leaf.kind].shape == "prose" and leaf.kind != "term":
            yield leaf, Prose(read, leaf)
        else:
            for row in _rows(read, leaf):
                cells = _pipe_cells(read, row) if leaf.kind == "table" else _html_cells(read, row)
                for start, end in cells:
                    cell = Block("paragraph", start, end)
                    yield cell, Prose(read, cell)


def _rows(text: str, leaf: Block) -> Iterator[tuple[int, int]]:
    """The rows of a table; of HTML only those that are written without any surprise.

    Rows right below one that may name them are left out: they are only whole if both fit together.
    """
    rows: list[tuple[int, int]] = []
    if leaf.kind == "table":
        for first, last in pairwise(line_starts(text[leaf.start : leaf.end])):
            rows.append((leaf.start + first, leaf.start + last))
    elif leaf.kind == "html-table":
        whole = text[leaf.start : leaf.end]
        if whole.count("<table") == 1 and not any(odd in whole for odd in ("<!--", "rowspan")):
            rows += (row.span() for row in _ROW.finditer(text, leaf.start, leaf.end))
    for row in rows:
        mark = "<tr" if leaf.kind == "html-table" else "\n"
        above = text[max(text.rfind(mark, leaf.start, row[0] - 1), leaf.start) : row[0]]
        if not _MAY_GROUP.fullmatch(above):
            yield row


def _pipe_cells(text: str, row: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The text of each cell: any pipe without a backslash before it ends one (GFM)."""
    line = text[slice(*row)]
    margin = len(line) - len(line.lstrip(" \t>"))
    pipes = [match.start() for match in _PIPE.finditer(line, margin)]
    for before, end in pairwise([margin - 1, *pipes, len(line)]):
        cell = line[before + 1 : end]
        if not is_blank(cell):
            start = row[0] + before + 1 + len(cell) - len(cell.lstrip(" \t"))
            yield start, row[0] + before + 1 + len(cell.rstrip(WHITE_SPACE))


def _html_cells(text: str, row: tuple[int, int]) -> Iterator[tuple[int, int]]:
    return (cell.span(1) for cell in _CELL.finditer(text, *row))


class _Below(NamedTuple):
    """A leaf of text right below headings.

    headings: the starts of the headings, outermost first.
    start, end: the leaf.
    word_end: the end of its first word.
    """

    headings: tuple[int, ...]
    start: int
    end: int
    word_end: int


def _below_headings(analysis: Analysis, dropped: Container[int]) -> list[_Below]:
    """The leaves right below headings or targets, wherever they are; labels are no text."""
    read = analysis.masked or analysis.text
    below: list[_Below] = []
    above: list[int] = []
    for leaf in analysis.blocks.leaves():
        row = CONSTRUCTS[leaf.kind]
        if row.section or leaf.kind == "target":
            above.append(leaf.start)
        elif leaf.kind == "front-matter" and (
            leaf.start in dropped or all(read.startswith("(", start) for start in above)
        ):
            # A target at the end of a page has no text that it belongs to.
            above = []
        elif (
            not is_label(read, leaf) and not row.blank and not is_blank(read[leaf.start : leaf.end])
        ):
            if above:
                pattern = _FENCE_WORD if row.fenced else _FIRST_WORD
                word = pattern.match(read, leaf.start, leaf.end)
                end = word.end() if word else leaf.end
                below.append(_Below(tuple(above), leaf.start, leaf.end, end))
            above = []
    return below


def check_headings(
    text: str, config: ChunkConfig, chunks: list[Chunk], below: list[_Below]
) -> None:
    """Assert that no chunk ends with a heading if one word of its text fits beside it."""
    count = counter_of(config)
    ends = [chunk.end_index for chunk in chunks]
    for leaf in below:
        last = leaf.headings[-1]
        number = bisect_right(ends, last)
        if number < len(chunks) - 1 and chunks[number].end_index <= leaf.start:
            # A block or opaque data that is kept whole may only fit alone.
            end = leaf.end if config.oversize == "keep" else leaf.word_end
            whole = text[last:end].rstrip(WHITE_SPACE if config.trim else "")
            following = chunks[number + 1]
            if following.oversize and config.opaque == "keep":
                whole = text[last : leaf.start] + following.embed_text
            assert count(whole) > config.budget, f"a heading ends a chunk: {whole!r}"


def check_promises(
    text: str,
    config: ChunkConfig,
    own_points: AbstractSet[int] = frozenset(),
    language: str = "",
) -> list[Chunk]:
    """Chunk ``text`` and assert every promise that one run can show; returns the chunks.

    A sentence or row may be cut if one of the ``own_points`` of a user's heuristic is in it. ``text`` is Markdown,
    or code in ``language``.
    """
    chunker = Chunker(config)
    analysis = chunker.analyze(text, language=language)
    chunks = chunker.chunk(text, "doc.md", language=language)
    config = chunker.config
    count = counter_of(config)
    budget = config.budget

    # The leaves tile the source.
    at = 0
    for leaf in analysis.blocks.leaves():
        assert leaf.start == at, "a leaf does not begin where the one before ended"
        at = leaf.end
    assert at == len(text)

    own_end = 0
    dropped: dict[int, int] = {}
    if config.front_matter_text == "drop":
        dropped = {0: len(analysis.front_matter), **dict(analysis.inner_pages)}
    kept_text = text
    for start, end in dropped.items():
        kept_text = kept_text[:start] + " " * (end - start) + kept_text[end:]

    def after_dropped(pos: int) -> int:
        while dropped.get(pos, pos) > pos:
            pos = dropped[pos]
        return pos

    for number, chunk in enumerate(chunks):
        # 1. Verbatim, with consistent coordinates.
        assert chunk.text == text[chunk.start_index : chunk.end_index]
        assert chunk.text, "an empty chunk"
        assert chunk.index == number
        assert chunk.start_byte == len(encode(text[: chunk.start_index]))
        assert chunk.end_byte == len(encode(text[: chunk.end_index]))
        assert chunk.start_line == _line(text, chunk.start_index)
        assert chunk.end_line == _line(text, chunk.end_index - 1)
        # 2. Nothing lost, nothing twice.
        own = chunk.start_index + chunk.overlap
        assert own >= own_end, "own texts overlap"
        between = kept_text[own_end:own]
        assert is_blank(between), between
        assert not any(start < chunk.end_index and own < end for start, end in dropped.items())
        if not config.trim:
            assert own == after_dropped(own_end)
        if chunk.overlap:
            assert chunk.start_index > chunks[number - 1].start_index
            assert chunk.start_index < chunks[number - 1].end_index
            repeated = text[chunk.start_index : chunks[number - 1].end_index]
            assert count(repeated) <= config.overlap_tokens, "overlap above its own budget"
        own_end = chunk.end_index
        # 3. Exact budget.
        assert chunk.token_count == count(chunk.text)
        assert chunk.embed_token_count == count(chunk.embed_text)
        shown = _without_replaced(analysis, chunk)
        opaque = config.opaque == "keep" and _PLACEHOLDER.search(chunk.embed_text)
        assert chunk.text in chunk.embed_text or shown in chunk.embed_text or opaque
        # The context precedes the text and takes at most half the budget; a closing line may follow.
        if chunk.text in chunk.embed_text:
            assert chunk.embed_text.startswith(chunk.context + chunk.text)
            assert count(chunk.context) <= budget // 2
        if chunk.oversize:
            single = len(_CLUSTER.findall(chunk.text)) == 1
            asked = single or config.oversize == "keep"
            assert asked or opaque, "oversize without a reason"
            assert chunk.token_count > budget
            assert asked or chunk.embed_token_count <= budget
        else:
            assert chunk.token_count <= budget
            assert chunk.embed_token_count <= budget
    assert is_blank(kept_text[own_end:]), kept_text[own_end:]
    if not config.trim:
        assert after_dropped(own_end) == len(text)

    # 4. Whole blocks. A cut is every beginning and every end of a chunk's text.
    cuts = {chunk.start_index for chunk in chunks} | {chunk.end_index for chunk in chunks}
    cuts |= {chunk.start_index + chunk.overlap for chunk in chunks}
    cuts -= {0, len(text)}
    clusters = [match.span() for match in _CLUSTER.finditer(text)]
    boundaries = {0, *(end for _, end in clusters)}
    assert cuts <= boundaries, "cut inside a grapheme cluster"
    rows = [
        ProtectedRegion(*row, "row")
        for leaf in analysis.blocks.leaves()
        if leaf.kind in ("table", "html-table")
        for row in _rows(analysis.masked or text, leaf)
        if not any(row[0] < point < row[1] for point in own_points)
    ]
    kept = [*analysis.regions, *rows]
    if not language:
        kept += inline_regions(analysis, config, clusters)
    below = _below_headings(analysis, dropped)
    if not language:
        check_headings(text, config, chunks, below)
    lasts = [leaf.headings[-1] for leaf in below]

    def extent(start: int, end: int) -> tuple[int, int]:
        """A region or sentence, with the headings right above it.

        If it ends with a heading, the first word below belongs to it, or a region that fits there.
        """
        for leaf in below:
            if start < leaf.headings[0] < end <= leaf.start:
                fitting = (h for h in leaf.headings if count(text[h : leaf.word_end]) <= budget)
                heading = next(fitting, leaf.start)
                ends = (region.end for region in analysis.regions if region.start == leaf.start)
                end = max(
                    (e for e in ends if count(text[heading:e]) <= budget), default=leaf.word_end
                )
        slot = bisect_left(lasts, start) - 1
        if slot >= 0 and start < min(below[slot].word_end, below[slot].end):
            start = below[slot].headings[0]
        return start, end

    for region in kept:
        if any(_cross(region, other) for other in analysis.regions):
            continue  # only a user's regions do, and both cannot be sure to stay whole
        whole = text[slice(*extent(region.start, region.end))]
        if count(whole.rstrip(WHITE_SPACE) if config.trim else whole) <= budget:
            inside = [cut for cut in cuts if region.start < cut < region.end]
            # White space at a region's end may be trimmed off with the chunk.
            inside = [cut for cut in inside if not is_blank(text[cut : region.end])]
            inside = [cut for cut in inside if not is_blank(text[region.start : cut])]
            assert not inside, f"cut inside {region}"
    oracle = sentencex_spans(analysis, config)
    for start, end in (*sentence_spans(analysis, config, boundaries), *oracle):
        sentence = ProtectedRegion(start, end)
        if any(start < point < end for point in own_points):
            continue  # a part of it may have more tokens than the whole
        # The first cell of a row is not parted from the marks before it.
        firsts = (row.start for row in rows if row.start < start < row.end)
        begin = next((at for at in firsts if not text[at:start].strip(" \t>|")), start)
        if count(text[slice(*extent(begin, end))]) <= budget and not any(
            # Where a region runs over a sentence's end, the region is what stays whole.
            _cross(sentence, region)
            for region in analysis.regions
        ):
            inside = [cut for cut in cuts if start < cut < end and not is_blank(text[start:cut])]
            assert not inside, f"cut inside the sentence {text[start:end]!r}"
    return chunks


def _without_replaced(analysis: Analysis, chunk: Chunk) -> str:
    """The chunk's text with the replacements in it, but for white space at its ends."""
    text, at, last = "", chunk.start_index, 0
    for span in analysis.replacements:
        if span.start >= last:
            last = span.end
            inner = analysis.text[span.start : span.end].strip(WHITE_SPACE)
            first = analysis.text.find(inner, span.start)
            if at <= first and first + len(inner) <= chunk.end_index:
                text += analysis.text[at : span.start] + span.text
                at = span.end
    return (text + analysis.text[at : chunk.end_index]).strip(WHITE_SPACE)


def _cross(one: ProtectedRegion, two: ProtectedRegion) -> bool:
    return one.start < two.start < one.end < two.end or two.start < one.start < two.end < one.end


def _line(text: str, index: int) -> int:
    return 1 + sum(match.end() <= index for match in _LINE_END.finditer(text))
