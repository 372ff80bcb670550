"""Find the starts of sentences in a paragraph with sentencex.

sentencex takes quadratic time for long paragraphs: per character, 14 ns for 1,000 characters, 32 ns
for 2,000 and 240 ns for 8,000. So long texts are passed to sentencex in windows, each of which
begins at the start of a sentence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from zlib import crc32

import regex

from chunkast.text.abbreviations import MENDED, continues, speech_continues
from chunkast.text.language import DEFAULT_LANGUAGE
from chunkast.text.source_map import encode, line_starts, without_surrogates
from chunkast.text.spans import InlineSpan
from chunkast.text.white_space import WHITE_SPACE

__all__ = ("SENTENCE_WINDOW", "ends_sentence", "has_sentences", "sentence_starts")

SENTENCE_WINDOW = 2_000
# The characters before and after a place that decide whether a window ends there. A sentence found
# this close to a window's end may depend on the text after the window.
_SAMPLE = 10
_NOT_SPACE = re.compile(f"[^{WHITE_SPACE}]")
# A line of ASCII without a terminator, except at its very end, is one sentence; many short
# texts are. (In texts of several lines sentencex finds lists.)
_WITHOUT_TERMINATOR = re.compile(r"[\"-\-/->@-~][\t \"-\-/->@-~]*")
_END = re.compile(r"[.!?]?[\t\n\r ]*")
# Marks that may follow a terminator directly and still belong to the sentence it ends.
_CLOSERS = "*_~`)]}\"'”’»）】》」』"
_CLOSER_RUN = re.compile(rf"[{re.escape(_CLOSERS)}]*")
# Terminators that are not followed by a space.
_UNSPACED = frozenset("。！？｡．")
# A numbering, which looks like the end of a sentence before closing marks.
_NUMBERING = re.compile(r"(?:\A|[\s(\[*_~])(?:\d{1,9}|[^\W\d_])[.:)]*\Z")
# Few sentences have more characters.
_LONG = 250
# Quotes; a mark between letters is an apostrophe, which sentencex does not treat as a quote.
_QUOTE = re.compile(r"(?<!\w)['\"“”‘’«»„]|['\"“”‘’«»„](?!\w)")
# The maximum number of characters in a numbering, such as "(12)."
_MAX_NUMBERING = 16

# The end of a text that ends a sentence: a terminator of any script, and closing marks or signs
# after it. Thai and Lao have none.
_SENTENCE_END = regex.compile(
    r"[\p{Sentence_Terminal}…][^\p{Alphabetic}\p{N}]*\Z|[\p{Thai}\p{Lao}]\W*\Z"
)


def ends_sentence(text: str) -> bool:
    """Return whether ``text`` ends with a sentence; always true if it ends in Thai or Lao."""
    return _SENTENCE_END.search(text) is not None


def has_sentences(text: str, language: str = DEFAULT_LANGUAGE) -> bool:
    """Return whether ``text`` has at least two sentences, without looking for more."""
    return any(sentence_starts(text, language=language))


def sentence_starts(
    text: str, spans: Sequence[InlineSpan] = (), language: str = DEFAULT_LANGUAGE
) -> Iterator[int]:
    """Yield the starts of all sentences in ``text`` after the first sentence, in order.

    ``language`` is a language code; an unknown language is treated as English.

    Closing marks (of emphasis, quotes, brackets) and footnote references directly after a
    sentence belong to the sentence. A start is dropped if it is inside one of the ``spans``
    (sorted, not overlapping), or if it would separate a closing mark from the text after it.
    """
    # A single expression would try every division of white space among its parts.
    begun = _WITHOUT_TERMINATOR.match(text)
    if begun and _END.fullmatch(text, begun.end()):
        return
    edges = [span.start for span in spans]
    last = 0
    for found in _found(text, language):
        at = found
        if text[at - 1] not in WHITE_SPACE:
            at = _after_closing_marks(text, at, spans, edges)
        slot = bisect_right(edges, at) - 1
        inside = slot >= 0 and spans[slot].start < at < spans[slot].end
        if last < at < len(text) and not inside and not speech_continues(text, at):
            yield at
            last = at


def _found(text: str, language: str) -> Iterator[int]:
    """Yield the starts of sentences that sentencex finds, moved past white space."""
    last = 0
    mended = language in MENDED
    for start in _starts(text, language):
        if start <= last or (mended and continues(text, start, language)):
            continue  # inside the white space before the last start, or inside a sentence
        match = _NOT_SPACE.search(text, start)
        if match is None:
            return
        last = match.start()
        yield last


def _starts(text: str, language: str) -> Iterator[int]:
    """Yield the starts of sentences that sentencex finds, window by window.

    Each window begins at a sentence in the second half of the previous window. A hash of the text
    around each sentence's start selects the sentence, so that an edit only moves nearby windows.
    """
    first = 0
    while first < len(text):
        end = min(first + SENTENCE_WINDOW, len(text))
        window = without_surrogates(text[first:end])  # sentencex accepts only valid Unicode
        starts = [first + start for start in _boundaries(window, language) if start]
        if end < len(text):
            half = first + SENTENCE_WINDOW // 2
            ends = [start for start in starts if half <= start < end - _SAMPLE]
            ends = ends or line_starts(text, half, end)[1:-1]
            end = min(ends, key=lambda at: _hash(text, at), default=end)
        yield from (start for start in starts if start <= end)
        first = end


def _after_closing_marks(
    text: str, at: int, spans: Sequence[InlineSpan], edges: Sequence[int]
) -> int:
    """Return the start ``at`` of a sentence, moved past closing marks and the white space after.

    Returns ``at`` if there are no closing marks, or the text's length if no sentence begins after
    them. ``edges`` are the starts of the ``spans``.
    """
    end = at
    while True:
        closers = _CLOSER_RUN.match(text, end)
        after = closers.end() if closers else end
        slot = bisect_right(edges, after) - 1
        span = spans[slot] if slot >= 0 and after < spans[slot].end else None
        if span is not None and span.start == after and span.kind == "footnote-reference":
            after = span.end
        if after == end:
            break
        end = after
    if end == at:
        return at
    if text[at - 1] in _UNSPACED:
        return end
    following = _NOT_SPACE.search(text, end)
    numbering = _NUMBERING.search(text[max(at - _MAX_NUMBERING, 0) : at])
    if following is None or following.start() == end or numbering:
        return len(text)
    return following.start()


@lru_cache(maxsize=16)  # most windows are read twice
def _boundaries(window: str, language: str) -> Sequence[int]:
    """Return the starts of sentences that sentencex finds in a window.

    sentencex does not find starts between two quotation marks, but marks that are far apart are
    probably apostrophes or code. So a long sentence is read again without its quotation marks.
    """
    from sentencex import get_sentence_boundaries

    starts: list[int] = []
    for found in get_sentence_boundaries(language, window):
        start, end = found["start_index"], found["end_index"]
        starts.append(start)
        if end - start > _LONG:
            plain, quotes = _QUOTE.subn("-", window[start:end])
            inside = get_sentence_boundaries(language, plain) if quotes else ()
            starts += (start + inner["start_index"] for inner in inside if inner["start_index"])
    return starts


def _hash(text: str, at: int) -> int:
    return crc32(encode(text[max(at - _SAMPLE, 0) : at + _SAMPLE]))
