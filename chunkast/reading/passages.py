"""Passages: verbatim parts of a document that fit a token budget."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ("Passage",)


@dataclass(frozen=True, slots=True)
class Passage:
    """A verbatim part of a document.

    text: the text; ``text == document[start_index:end_index]``.
    source: the document's name, or ``None``.
    start_index: where it begins, a character index from 0.
    end_index: where it ends, a character index, exclusive.
    start_line: the line in which it begins, from 1.
    end_line: the line of its last character, from 1, inclusive.
    tokens: how many tokens the text has, exact.
    section: the heading path of the section that it is a part of.
    tokens_before, tokens_after: how many tokens of the section are omitted on each side.
    next_line: the line at which the section continues, or ``None`` if nothing follows.
    last_line: the last line of the section, or of the requested lines.
    oversize: whether it has more tokens than requested, because a chunk is returned whole.
    """

    text: str
    source: str | None
    start_index: int
    end_index: int
    start_line: int
    end_line: int
    tokens: int
    section: tuple[str, ...] = ()
    tokens_before: int = 0
    tokens_after: int = 0
    next_line: int | None = None
    last_line: int | None = None
    oversize: bool = False

    @property
    def rest(self) -> str:
        """A sentence about the omitted parts; empty if nothing was omitted."""
        notes = []
        if self.tokens_before:
            notes.append(f"{self.tokens_before:,} tokens before line {self.start_line:,}")
        if self.next_line is not None:
            more = f"{self.tokens_after:,} tokens more"
            notes.append(f"continues at line {self.next_line:,}, {more}")
        return "; ".join(notes)
