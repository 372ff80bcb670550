"""Footnotes in headings, which are not part of the heading's title."""

from __future__ import annotations

import re

from markdown_it.helpers import parseLinkLabel
from markdown_it.rules_inline import StateInline

__all__ = ("inline_note", "note_reference")

_NOTE = re.compile(r"\[\^([^\] \n]+)\]")


def note_reference(state: StateInline, _silent: bool) -> bool:
    """Skip ``[^label]`` if the document has a footnote with that label."""
    found = _NOTE.match(state.src, state.pos, state.posMax)
    if found is None or found[1] not in state.env["footnotes"]:
        return False
    state.pos = found.end()
    return True


def inline_note(state: StateInline, _silent: bool) -> bool:
    """Skip an inline footnote: ``^[text of the note]``."""
    if not state.src.startswith("^[", state.pos):
        return False
    end = parseLinkLabel(state, state.pos + 1)
    if end <= state.pos + 1:
        return False
    state.pos = end + 1
    return True
