"""Text on stdout, and messages on stderr, one line each; ``--debug`` logs there too."""

from __future__ import annotations

import json
import logging
import sys
import traceback
import warnings
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from chunkast.errors import ChunkastWarning
from chunkast.files.write import open_output

__all__ = (
    "add_debug",
    "counted",
    "debug_lines",
    "print_json",
    "print_text",
    "say",
    "say_error",
    "say_note",
    "warnings_as_notes",
    "without_debug",
)

_DEBUG: Final = "--debug"


def print_text(text: str) -> None:
    """Write ``text`` on stdout as UTF-8; lone surrogates are escaped."""
    with open_output(None) as output:
        output.stream.write(text.encode("utf-8", "backslashreplace"))


def print_json(value: Any, indent: int = 1) -> None:
    """Write ``value`` on stdout as indented JSON."""
    print_text(json.dumps(value, ensure_ascii=False, indent=indent) + "\n")


def counted(count: int, noun: str) -> str:
    """Return the number and the noun, in the plural unless it is one."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def say(message: str) -> None:
    """Write ``message`` on stderr as one line; unprintable characters are escaped."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in message)
    if sys.stderr is not None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def say_error(error: object) -> None:
    """Report an error."""
    say(f"chunkast: error: {error}")


def say_note(message: str) -> None:
    """Report something that may surprise the user."""
    say(f"chunkast: note: {message}")


@contextmanager
def warnings_as_notes(*, wanted: bool) -> Iterator[None]:
    """Show chunkast's warnings as notes if that is ``wanted``; else hide them."""

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, ChunkastWarning):
            shown(message, category, *place, **more)
        elif wanted:
            say_note(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", ChunkastWarning)
        shown, warnings.showwarning = warnings.showwarning, show
        yield


class _Lines(logging.Handler):
    """Writes each line of a log record on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            error = record.exc_info[1] if record.exc_info else None
            trace = [] if error is None else traceback.format_exception(error)
            for line in (record.getMessage(), *"".join(trace).split("\n")):
                if line:
                    say(f"chunkast: {record.levelname.lower()}: {line}")
        except Exception:  # noqa: BLE001 - as in every handler: a log line stops nothing
            self.handleError(record)


def add_debug(parser: ArgumentParser) -> None:
    """Add ``--debug`` to a parser's help; :func:`without_debug` reads it."""
    parser.add_argument(
        _DEBUG,
        action="store_true",
        help="log steps to stderr, and the traceback of an error",
    )


def without_debug(argv: Sequence[str]) -> tuple[list[str], bool]:
    """Remove ``--debug`` from the arguments before ``--``; also return whether it was there.

    It is needed before the arguments are parsed, as parsing may fail.
    """
    end = argv.index("--") if "--" in argv else len(argv)
    rest = [word for word in argv[:end] if word != _DEBUG]
    return [*rest, *argv[end:]], len(rest) < end


@contextmanager
def debug_lines(*, wanted: bool) -> Iterator[None]:
    """Show log records on stderr if that is ``wanted``."""
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
