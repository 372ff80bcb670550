"""Where the data goes: standard output, or a file that appears only when it is complete."""

from __future__ import annotations

import io
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from chunkast.cli.files import is_file, is_there
from chunkast.cli.messages import UsageError
from chunkast.errors import ChunkastError

__all__ = ("Output", "abandon_stdout", "open_output", "stdout")


@dataclass(slots=True)
class Output:
    """A stream to write to. A file is kept only if ``complete`` was set."""

    stream: BinaryIO
    complete: bool = False


@contextmanager
def open_output(path: str | None) -> Iterator[Output]:
    """Open ``path``, or standard output for ``None``.

    A file is written beside its place under another name and moved there at the end;
    without ``complete``, or when the block raises, nothing is left of it and what was
    there before stays. Raises ``UsageError`` when no file can be written there.
    """
    if path is None:
        stream = stdout()
        yield Output(stream)
        stream.flush()
        return
    if is_there(path) and not is_file(path):
        # A device or a pipe cannot be replaced.
        with _open(Path(path), "wb", path) as written:
            yield Output(written)
        return
    # The file that a symbolic link leads to is replaced, not the link.
    target = Path(os.path.realpath(path))
    # Nobody else's: whoever shares the folder may have the same process id. It does not
    # grow with the target's name, which may be as long as a name can be.
    file = target.with_name(f".chunkast-{secrets.token_hex(16)}.tmp")
    made = True
    try:
        try:
            stream = _open(file, "xb", path)
        except UsageError:
            made = False
            raise
        with stream as written:
            output = Output(written)
            yield output
        if output.complete:
            if is_there(target):
                shutil.copymode(target, file)
            file.replace(target)
    finally:
        if made:
            file.unlink(missing_ok=True)


def _open(file: Path, mode: Literal["wb", "xb"], path: str) -> BinaryIO:
    try:
        return file.open(mode)
    except OSError as error:
        raise UsageError(f"--output {path}: {error.strerror or error}") from None


def stdout() -> BinaryIO:
    """Standard output as bytes, so that neither locale nor platform changes the data."""
    if sys.stdout is None:
        raise ChunkastError("standard output is closed")
    buffer = sys.stdout.buffer
    if isinstance(buffer, io.RawIOBase):
        # PYTHONUNBUFFERED; such a stream may write less than it is given.
        return os.fdopen(buffer.fileno(), "wb", closefd=False)
    return buffer


def abandon_stdout() -> None:
    """Let what was not written go nowhere, so that leaving the interpreter does not fail."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
