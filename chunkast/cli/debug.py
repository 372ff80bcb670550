"""``--debug``: the logger "chunkast" on stderr, and where an error was raised."""

from __future__ import annotations

import logging
import traceback
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from chunkast.cli.messages import say

__all__ = ("add_debug", "debug_lines", "without_debug")

_FLAG: Final = "--debug"


class _Lines(logging.Handler):
    """One line on stderr for each line of a record."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            error = record.exc_info[1] if record.exc_info else None
            trace = [] if error is None else traceback.format_exception(error)
            for line in (record.getMessage(), *"".join(trace).split("\n")):
                if line:
                    say(f"chunkast: {record.levelname.lower()}: {line}")
        except Exception:  # noqa: BLE001 - as every handler does: a log line stops nothing
            self.handleError(record)


def add_debug(parser: ArgumentParser) -> None:
    """Add the flag to a parser's help; :func:`without_debug` is what reads it."""
    parser.add_argument(
        _FLAG, action="store_true", help="log to stderr what is done, and where an error was raised"
    )


def without_debug(argv: Sequence[str]) -> tuple[list[str], bool]:
    """The arguments without the flag, which may stand anywhere before ``--``, and whether it did.

    It has to be known before the arguments are parsed: what is wrong in them is an error, too.
    """
    end = argv.index("--") if "--" in argv else len(argv)
    rest = [word for word in argv[:end] if word != _FLAG]
    return [*rest, *argv[end:]], len(rest) < end


@contextmanager
def debug_lines(*, wanted: bool) -> Iterator[None]:
    """Show what is logged meanwhile, if that is ``wanted``."""
    if not wanted:
        yield
        return
    logger, handler = logging.getLogger("chunkast"), _Lines()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
