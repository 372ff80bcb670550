"""Short and full help, and suggestions for misspelled commands and options."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Final

__all__ = ("Formatter", "add_help", "did_you_mean")

_LEAST_LIKENESS: Final = 0.6


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Return a suggestion such as "; did you mean --max-tokens?", or an empty string."""
    likely = given.replace("_", "-").lower()
    found = [name for name in known if name.startswith(likely)] or get_close_matches(
        likely, known, n=1, cutoff=_LEAST_LIKENESS
    )
    return f"; did you mean {found[0]}?" if found else ""


class Formatter(argparse.HelpFormatter):
    """A help formatter that does not rewrap the examples at the end of the help."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return text
        return super()._fill_text(text, width, indent)


class _Help(argparse.Action):
    """An action that prints help for the common and required options, or for all options.

    ``common`` contains the ``dest`` of each common option; ``None`` means all options.
    """

    def __init__(
        self,
        option_strings: Sequence[str],
        dest: str,
        common: Collection[str] | None = None,
        help: str | None = None,  # noqa: A002 - the name that argparse gives it
    ) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=help)
        self.common = common

    def __call__(self, parser: argparse.ArgumentParser, *_given: object) -> None:
        if self.common is not None:
            for action in parser._actions:  # noqa: SLF001 - argparse has no public list
                shown = action.dest in self.common or action.required
                if action.option_strings and action is not self and not shown:
                    action.help = argparse.SUPPRESS
            options = next(a for a in parser._actions if "--help-all" in a.option_strings)  # noqa: SLF001
            options.help = "show all options"
        parser.print_help()
        parser.exit()


def add_help(parser: argparse.ArgumentParser, common: Collection[str]) -> None:
    """Add ``--help`` for the common and required options, and ``--help-all`` for all options.

    ``common`` contains the ``dest`` of each common option.
    """
    parser.add_argument(
        "-h", "--help", action=_Help, common=common, help="show the common options and exit"
    )
    parser.add_argument("--help-all", action=_Help, help="show all options and exit")
