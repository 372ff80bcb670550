r"""Finds opaque data in a text: data URIs, base64, hex dumps and minified code.

All sizes are in characters. Shares are computed from a run's first 4,096 characters.

- *data URI*: ``data:``, an optional media type and parameters, a comma, and at least 256 characters
  that are neither white space nor one of ``"<>`()\|``.
- *base64*: at least 256 characters of the standard or URL-safe alphabet, in one line or in lines of
  at least 40. At least a tenth are capital letters, a tenth small letters, and a thirtieth digits.
- *hex dump*, with addresses: at least 256 characters in lines that begin with an address of at
  least seven digits, followed by at least four groups of hexadecimal digits.
- *hex dump*, without addresses: at least 256 characters, all of them hexadecimal digits, ``0x``,
  ``\x``, ``,:;->`` or white space. ``0x`` or ``\x`` occurs at least once in eight characters, or at
  least half are hexadecimal digits, of which at least a tenth are letters and three tenths are
  decimal digits.
- *minified code*, only if the text may be code: a line of at least 1,000 characters, of which
  less than a twelfth are white space and at least a twentieth are ``(){};=``.

If runs overlap, only the first is used; if they begin at the same position, only the longest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final

from chunkast.text.source_map import line_starts
from chunkast.text.spans import content_end

__all__ = ("OpaqueRun", "opaque_runs")

_LEAST: Final = 256
_LEAST_LINE: Final = 40
_SAMPLE: Final = 4_096
# A first search for hex dumps reads only every 16th character, which takes a twentieth of the time
# on ordinary text.
_STRIDE: Final = 16
_HEX_ALONE: Final = r"[0-9A-Fa-fxX\\,:; \t\r\n>-]"
_HEX_LIKELY = re.compile(rf"{_HEX_ALONE}{{{_LEAST // _STRIDE}}}")
# The marks of a container may precede a line.
_NEXT_LINE: Final = r"(?:\r\n|\n|\r)[ \t>]*"
_DATA = re.compile(
    r"""data:([\w.+-]{1,40}/[\w.+-]{1,60})?(?:;[\w.+=-]{1,80}){0,8},[^\s"<>`()\\|]{256,}""",
    re.ASCII,
)
_BASE64 = re.compile(
    rf"(?<![\w+/-])[\w+/-]{{{_LEAST_LINE},}}(?:{_NEXT_LINE}[\w+/-]{{{_LEAST_LINE},}})*"
    rf"(?:{_NEXT_LINE}(?!-)[\w+/-]+={{0,2}}(?=[ \t]*(?:[\r\n]|\Z))|={{0,2}})",
    re.ASCII,
)
# An address, which is faster to find than a line that begins with one.
_ADDRESS = re.compile(r"[0-9A-Fa-f]{7}")
_DUMP_LINE = re.compile(
    r"^[ \t>]*(?:0x)?[0-9A-Fa-f]{7,16}:?[ \t]+(?:[0-9A-Fa-f]{2,8}[ \t]+){4}[^\r\n]*"
    r"(?:\r\n|\n|\r|\Z)",
    re.MULTILINE,
)
_HEX = re.compile(rf"(?<![\w\\])[0-9A-Fa-fxX\\]{_HEX_ALONE}{{255,}}(?!\w)")
_HEX_MARK = re.compile(r"(?:0|\\)[xX]")
_LONG_LINE: Final = 1_000
_SPACE = re.compile(r"\s")
_CODE = re.compile("[(){};=]")
_CAPITAL, _SMALL, _FIGURE = re.compile("[A-Z]"), re.compile("[a-z]"), re.compile("[0-9]")
_HEX_LETTER = re.compile("[A-Fa-f]")


@dataclass(frozen=True, slots=True)
class OpaqueRun:
    """Opaque data in the span ``[start, end)`` of a text; ``kind`` describes it in words."""

    start: int
    end: int
    kind: str

    @property
    def placeholder(self) -> str:
        """The text that replaces the data in ``embed_text``."""
        return f"[{self.kind}, {self.end - self.start:,} characters]"


def opaque_runs(text: str, start: int, end: int, *, code: bool) -> list[OpaqueRun]:
    """Return the runs of opaque data in ``text[start:end]``, in order.

    Minified code is only included if ``code`` is true.
    """
    found = chain(
        _data_uris(text, start, end),
        _base64(text, start, end),
        _hex_dumps(text, start, end),
        _minified(text, start, end) if code else (),
    )
    kept: list[OpaqueRun] = []
    for run in sorted(found, key=lambda run: (run.start, -run.end)):
        if run.end - run.start >= _LEAST and (not kept or run.start >= kept[-1].end):
            kept.append(run)
    return kept


def _data_uris(text: str, start: int, end: int) -> Iterator[OpaqueRun]:
    for match in _DATA.finditer(text, start, end):
        yield OpaqueRun(*match.span(), f"data URI {match[1] or ''}".rstrip())


def _base64(text: str, start: int, end: int) -> Iterator[OpaqueRun]:
    if max(map(len, text[start:end].split()), default=0) < _LEAST_LINE:
        return
    for match in _BASE64.finditer(text, start, end):
        run, size = match.group(), len(match.group())
        if (
            size >= _LEAST
            and _share(_CAPITAL, run) >= 1 / 10
            and _share(_SMALL, run) >= 1 / 10
            and _share(_FIGURE, run) >= 1 / 30
        ):
            yield OpaqueRun(*match.span(), "base64")


def _hex_dumps(text: str, start: int, end: int) -> Iterator[OpaqueRun]:
    if _ADDRESS.search(text, start, end):
        lines = _joined(match.span() for match in _DUMP_LINE.finditer(text, start, end))
        for first, last in lines:
            yield OpaqueRun(first, content_end(text, first, last), "hex dump")
    if not _HEX_LIKELY.search(text[start:end:_STRIDE]):
        return
    for match in _HEX.finditer(text, start, end):
        run = match.group().rstrip(" \t\r\n,:;>-")
        letters, figures = _share(_HEX_LETTER, run), _share(_FIGURE, run)
        digits = letters + figures
        plain = digits >= 1 / 2 and letters >= digits / 10 and figures >= digits * 3 / 10
        if plain or _share(_HEX_MARK, run) >= 1 / 8:
            yield OpaqueRun(match.start(), match.start() + len(run), "hex dump")


def _minified(text: str, start: int, end: int) -> Iterator[OpaqueRun]:
    for first, last in pairwise(line_starts(text, start, end)):
        if last - first < _LONG_LINE:
            continue
        line = text[first:last].rstrip("\r\n")
        if (
            len(line) >= _LONG_LINE
            and _share(_SPACE, line) < 1 / 12
            and _share(_CODE, line) >= 1 / 20
        ):
            yield OpaqueRun(first, first + len(line), "minified code")


def _share(what: re.Pattern[str], text: str) -> float:
    sample = text[:_SAMPLE]
    return len(what.findall(sample)) / max(len(sample), 1)


def _joined(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join spans that directly follow each other."""
    first = last = -1
    for start, end in spans:
        if start != last:
            if first < last:
                yield first, last
            first = start
        last = end
    if first < last:
        yield first, last
