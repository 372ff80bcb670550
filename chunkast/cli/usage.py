"""The format of the help, and suggestions for misspelled commands and options."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ("Formatter", "did_you_mean")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a suggestion such as "; did you mean --max-tokens?", or an empty string."""
    likely = word.replace("_", "-").lower()
    close = get_close_matches(likely, known, n=1)
    similar = [*(name for name in known if name.startswith(likely)), *close]
    return f"; did you mean {similar[0]}?" if similar else ""


class Formatter(argparse.HelpFormatter):
    """A help formatter that does not rewrap the examples at the end of the help."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return text
        return super()._fill_text(text, width, indent)
