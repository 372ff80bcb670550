"""Write to standard output, and to files that appear only when they are complete."""

from __future__ import annotations

import errno
import io
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal

from chunkast.errors import ChunkastError, UsageError

__all__ = ("Output", "open_output", "stdout")


# The disk, or the user's share of it, is full, or the file would be too large.
_FULL: Final = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG})


@dataclass(slots=True)
class Output:
    """A stream to write to. A file is kept only if ``complete`` is set to true."""

    stream: BinaryIO
    complete: bool = False


@contextmanager
def open_output(path: str | None) -> Iterator[Output]:
    """Open the file at ``path`` for writing, or standard output if ``path`` is ``None``.

    The file is written under a temporary name in the same folder, and replaces ``path`` at the end
    of the block. If ``complete`` is false or the block raises an exception, the temporary file is
    deleted, and ``path`` is unchanged. Raises ``UsageError`` if the file cannot be opened, and
    ``ChunkastError`` if the disk is full.
    """
    if path is None:
        stream = stdout()
        yield Output(stream)
        stream.flush()
        return
    if os.path.exists(path) and not os.path.isfile(path):
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
            if os.path.exists(target):
                shutil.copymode(target, file)
            file.replace(target)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise ChunkastError(f"--output {path}: {error.strerror}") from None
    finally:
        with suppress(OSError):
            file.unlink()


def _open(file: Path, mode: Literal["wb", "xb"], path: str) -> BinaryIO:
    try:
        return file.open(mode)
    except OSError as error:
        raise UsageError(f"--output {path}: {error.strerror or error}") from None


def stdout() -> BinaryIO:
    """Return standard output as a binary stream; raise ``ChunkastError`` if it is closed.

    A binary stream writes the same bytes on every platform and in every locale.
    """
    if sys.stdout is None:
        raise ChunkastError("standard output is closed")
    buffer = sys.stdout.buffer
    if isinstance(buffer, io.RawIOBase):
        # PYTHONUNBUFFERED; such a stream may write less than it is given.
        return os.fdopen(buffer.fileno(), "wb", closefd=False)
    return buffer
