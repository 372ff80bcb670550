"""What the command says on stderr, one line each."""

from __future__ import annotations

import sys

from chunkast.errors import ChunkastError

__all__ = ("UsageError", "counted", "say", "say_error", "say_note")


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
