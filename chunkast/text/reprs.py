"""What values show of themselves in a debugger, a terminal and a notebook.

Plain functions over the fields, so that the classes stay lists of fields. Whatever a document
holds, the text forms are one line and the HTML forms show it as text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any, Final

__all__ = ("analysis_html", "changed_fields", "chunk_html", "chunk_line", "counts_line")

# Characters of a chunk's text in one line, and headings of an analysis in HTML.
_WORDS: Final = 40
_HEADINGS: Final = 50
_LONE: Final = re.compile("[\ud800-\udfff]")


def changed_fields(value: Any) -> str:
    """The fields of a dataclass object that differ from their defaults, as keywords."""
    given = ((each, getattr(value, each.name)) for each in fields(value))
    return ", ".join(f"{each.name}={now!r}" for each, now in given if now != _default(each))


def _default(of: Field[Any]) -> Any:
    return of.default if of.default_factory is MISSING else of.default_factory()


def chunk_line(
    name: str, source: str | None, lines: tuple[int, int], tokens: int, text: str
) -> str:
    """A chunk in one line: its id, where it is from, how large it is, its first words."""
    words = " ".join(text[: 4 * _WORDS].split())
    shown = words if len(words) <= _WORDS else f"{words[: _WORDS - 1]}…"
    return f"<Chunk {_place(name, source, lines)}, {tokens} tokens: {shown!r}>"


def _place(name: str, source: str | None, lines: tuple[int, int]) -> str:
    place = f"{lines[0]}-{lines[1]}"
    # As in a string's own repr, so that a name with a line end stays one line.
    named = f"lines {place}" if source is None else repr(f"{source}:{place}")[1:-1]
    return f"{name} {named}"


def counts_line(counts: Iterable[tuple[int, str]]) -> str:
    """Numbers with their nouns, which are in the plural unless it is one of them."""
    return ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)


def chunk_html(
    name: str,
    source: str | None,
    lines: tuple[int, int],
    tokens: int,
    *,
    headings: Sequence[str],
    text: str,
) -> str:
    """A chunk for a notebook: a line about it, its heading path, its text."""
    path = f"<br>{_escaped(' > '.join(headings))}" if headings else ""
    head = f"<b>Chunk</b> {_escaped(_place(name, source, lines))}, {tokens} tokens{path}"
    return f'<div>{head}<pre style="white-space: pre-wrap">{_escaped(text)}</pre></div>'


def analysis_html(counts: str, headings: Sequence[tuple[int, str]], notes: Sequence[str]) -> str:
    """An analysis for a notebook: what was counted, the headings by level, the notes."""
    rows = [
        f'<div style="margin-left: {level - 1}em">{_escaped(title)}</div>'
        for level, title in headings[:_HEADINGS]
    ]
    more = len(headings) - _HEADINGS
    if more > 0:
        rows.append(f"<div>and {counts_line([(more, 'heading')])} more</div>")
    rows += [f"<div>note: {_escaped(note)}</div>" for note in notes]
    return f"<div><b>Analysis</b> {_escaped(counts)}{''.join(rows)}</div>"


def _escaped(text: str) -> str:
    """``text`` as HTML; lone surrogates, which no page can hold, as U+FFFD."""
    return html.escape(_LONE.sub("\ufffd", text))
