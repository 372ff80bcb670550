"""Write text to stdout, and one-line messages and the log lines of ``--debug`` to stderr."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from chunkast.errors import ChunkastWarning, counted
from chunkast.files.write import open_output

__all__ = (
    "counted",
    "debug_lines",
    "messages",
    "print_error",
    "print_message",
    "print_note",
    "print_result",
    "print_text",
    "without_debug",
)

_DEBUG: Final = "--debug"
_QUIET: Final = ContextVar("quiet", default=False)


def print_text(text: str) -> None:
    """Write ``text`` to stdout as UTF-8, with lone surrogates escaped."""
    with open_output(None) as output:
        output.stream.write(text.encode("utf-8", "backslashreplace"))


def print_result(form: str, value: Any, text: str, indent: int | None = 1) -> None:
    """Write ``value`` to stdout as indented JSON if ``form`` is "json"; else write ``text``."""
    in_json = form == "json"
    print_text(json.dumps(value, ensure_ascii=False, indent=indent) + "\n" if in_json else text)


def print_message(message: str) -> None:
    """Write a message to stderr as one line, unless the command is quiet."""
    if not _QUIET.get():
        _print_line(message)


def _print_line(message: str) -> None:
    """Write a line to stderr, with unprintable characters escaped."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in message)
    if sys.stderr is not None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def print_error(error: object) -> None:
    """Write an error message to stderr, even if the command is quiet."""
    _print_line(f"chunkast: error: {error}")


def print_note(message: object) -> None:
    """Write a note to stderr, unless the command is quiet."""
    print_message(f"chunkast: note: {message}")


@contextmanager
def messages(*, quiet: bool) -> Iterator[None]:
    """Within the block, print chunkast's warnings as notes; if ``quiet``, print only errors."""

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, ChunkastWarning):
            shown(message, category, *place, **more)
        else:
            print_note(str(message))

    token = _QUIET.set(quiet)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", ChunkastWarning)
            shown, warnings.showwarning = warnings.showwarning, show
            yield
    finally:
        _QUIET.reset(token)


class _Lines(logging.Handler):
    """A log handler that writes each line of a log record to stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        for line in self.format(record).split("\n"):
            _print_line(f"chunkast: {record.levelname.lower()}: {line}")


def without_debug(argv: Sequence[str]) -> tuple[list[str], bool]:
    """Return the arguments without ``--debug``, and true if ``--debug`` was one of them.

    Arguments after ``--`` are left unchanged. ``--debug`` is read before parsing, so that it also
    works if parsing fails.
    """
    end = argv.index("--") if "--" in argv else len(argv)
    rest = [word for word in argv[:end] if word != _DEBUG]
    return [*rest, *argv[end:]], len(rest) < end


@contextmanager
def debug_lines() -> Iterator[None]:
    """Within the block, write chunkast's log records to stderr."""
    logger, handler = logging.getLogger("chunkast"), _Lines()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
