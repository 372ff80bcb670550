r"""Find opaque data in a text: data URIs and base64.

All sizes are in characters. Shares are computed from the first 4,096 characters of a run.

- *data URI*: ``data:``, an optional media type and parameters, a comma, and at least 256 characters
  that are neither white space nor one of ``"<>`()\|``.
- *base64*: at least 256 characters of the standard or URL-safe alphabet, in one line or in lines of
  at least 40. At least a tenth are capital letters, a tenth small letters, and a thirtieth digits.

If runs overlap, only the first is used; if they begin at the same position, only the longest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ("OpaqueRun", "opaque_runs")

_LEAST: Final = 256
_LEAST_LINE: Final = 40
_BASE64_KIND: Final = "base64"
_SAMPLE: Final = 4_096
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
_LEAST_SHARES: Final = ((str.isupper, 1 / 10), (str.islower, 1 / 10), (str.isdigit, 1 / 30))


@dataclass(frozen=True, slots=True)
class OpaqueRun:
    """Opaque data in the span ``[start, end)``; ``kind`` describes it, for example as "base64"."""

    start: int
    end: int
    kind: str

    @property
    def placeholder(self) -> str:
        """The text that replaces the data in ``embed_text``."""
        return f"[{self.kind}, {self.end - self.start:,} characters]"


def opaque_runs(text: str, start: int, end: int) -> list[OpaqueRun]:
    """Return the runs of opaque data in ``text[start:end]``, in order."""
    runs = [
        run
        for run in _possible_runs(text, start, end)
        if run.kind != _BASE64_KIND
        or _is_base64(text[run.start : min(run.start + _SAMPLE, run.end)])
    ]
    kept: list[OpaqueRun] = []
    for run in sorted(runs, key=lambda run: (run.start, -run.end)):
        if run.end - run.start >= _LEAST and (not kept or run.start >= kept[-1].end):
            kept.append(run)
    return kept


def _possible_runs(text: str, start: int, end: int) -> Iterator[OpaqueRun]:
    """Yield the spans of ``text[start:end]`` that may be opaque data, in any order."""
    for match in _DATA.finditer(text, start, end):
        yield OpaqueRun(*match.span(), f"data URI {match[1] or ''}".rstrip())
    if max(map(len, text[start:end].split()), default=0) >= _LEAST_LINE:
        for match in _BASE64.finditer(text, start, end):
            yield OpaqueRun(*match.span(), _BASE64_KIND)


def _is_base64(sample: str) -> bool:
    return all(sum(map(is_, sample)) / len(sample) >= least for is_, least in _LEAST_SHARES)
