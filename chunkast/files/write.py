"""Standard output, and files that appear only when they are complete."""

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

from chunkast.errors import ChunkastError, UsageError
from chunkast.files.paths import is_file, is_there

__all__ = ("Output", "open_output", "stdout")


@dataclass(slots=True)
class Output:
    """A stream to write to. A file is kept only if ``complete`` was set."""

    stream: BinaryIO
    complete: bool = False


@contextmanager
def open_output(path: str | None) -> Iterator[Output]:
    """Open ``path``, or standard output for ``None``.

    A new file is written under another name beside ``path`` and replaces it at the end. Without
    ``complete``, or when the block raises, it is deleted and the old file stays. Raises
    ``UsageError`` when no file can be written there.
    """
    if path is None:
        stream = stdout()
        yield Output(stream)
        stream.flush()
        return
    if is_there(path) and not is_file(path):
        # A device or a pipe cannot be replaced.
        with _open(Path(path), "wb", path) as stream:
            yield Output(stream)
        return
    # A symbolic link stays; the file that it leads to is replaced.
    target = Path(os.path.realpath(path))
    # Random, as runs in several containers may share both the folder and the process id; and
    # short, as the target's name may be as long as a name can be.
    file = target.with_name(f".chunkast-{secrets.token_hex(16)}.tmp")
    try:
        with _open(file, "xb", path) as stream:
            output = Output(stream)
            yield output
        if output.complete:
            if is_there(target):
                shutil.copymode(target, file)
            file.replace(target)
    finally:
        with suppress(OSError):
            file.unlink()


def _open(file: Path, mode: Literal["wb", "xb"], path: str) -> BinaryIO:
    try:
        return file.open(mode)
    except OSError as error:
        raise UsageError(f"--output {path}: {error.strerror or error}") from None


def stdout() -> BinaryIO:
    """Return standard output as bytes, so that neither locale nor platform changes the data."""
    if sys.stdout is None:
        raise ChunkastError("standard output is closed")
    buffer = sys.stdout.buffer
    if isinstance(buffer, io.RawIOBase):
        # PYTHONUNBUFFERED; such a stream may write less than it is given.
        return os.fdopen(buffer.fileno(), "wb", closefd=False)
    return buffer
