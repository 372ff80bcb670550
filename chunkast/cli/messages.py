"""What the command says on stderr, one line each."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chunkast.errors import ChunkastError, ChunkastWarning

__all__ = ("UsageError", "counted", "say", "say_error", "say_note", "warnings_as_notes")


class UsageError(ChunkastError):
    """Arguments that cannot be carried out, found before anything is read."""


def counted(count: int, noun: str) -> str:
    """The number and the noun, in the plural unless it is one."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def say(message: str) -> None:
    """Write ``message`` on stderr as one line; what does not print is escaped."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in message)
    # Without a stderr there is nobody to tell.
    if sys.stderr is not None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def say_error(error: object) -> None:
    """Say what went wrong."""
    say(f"chunkast: error: {error}")


def say_note(message: str) -> None:
    """Say what may surprise."""
    say(f"chunkast: note: {message}")


@contextmanager
def warnings_as_notes(*, wanted: bool) -> Iterator[None]:
    """Say what chunkast warns of meanwhile as notes, if that is ``wanted``; else not at all."""

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, ChunkastWarning):
            shown(message, category, *place, **more)
        elif wanted:
            say_note(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", ChunkastWarning)
        shown, warnings.showwarning = warnings.showwarning, show
        yield
