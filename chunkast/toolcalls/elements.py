"""Calls whose body is XML, with an element for each parameter."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from chunkast.text.white_space import WHITE_SPACE
from chunkast.toolcalls.body import Kind, Opener, Reading, Source, groups
from chunkast.toolcalls.protocols import Protocol
from chunkast.toolcalls.repairs import default_pipeline
from chunkast.toolcalls.xml_body import read_body

__all__ = ("ELEMENTS",)

_BLANK: Final = f"[{WHITE_SPACE}]{{0,200}}"


@dataclass(slots=True)
class _Elements(Reading):
    """Tags: a call ends at the first tag at which the tags of its name balance."""

    open: dict[str, list[int]] = field(default_factory=dict)

    def note(self, mark: re.Match[str], start: int, end: int) -> None:
        if mark.lastgroup == "opener":
            self.open.setdefault(mark[0][1:-1], []).append(start)
        elif unmatched := self.open.get(mark[0][2:-1].strip(WHITE_SPACE)):
            self.ends[unmatched.pop()] = end


def _marks(_row: Protocol, name: str, _rows: Sequence[Protocol]) -> str:
    mark = f"</{_BLANK}{name}{_BLANK}>"
    return groups(cut=r"<[^<>]{0,700}\Z", opener=f"<{name}>", mark=mark)


def _calls(opener: Opener, text: str, _names: Collection[str]) -> list[Source]:
    # A closer contains no other "<"; an empty tag has no closer.
    source = text[opener.body - opener.start : max(0, text.rfind("</"))]
    return [(len(text), source, opener.name)]


ELEMENTS: Final = Kind(
    reading=_Elements,
    marks=_marks,
    key=lambda opener, written: None if written.endswith("/>") else opener.start,
    read=lambda source, schema, _: read_body(source, schema),
    calls=_calls,
    pipeline=lambda _: default_pipeline,
    stop=lambda _opener, raw, _at: raw.rfind("</"),
)
