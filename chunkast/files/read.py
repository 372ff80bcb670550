"""Read files and standard input, as documents or piece by piece."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path, PurePath
from typing import Final, cast

from chunkast.errors import SourceError, describe
from chunkast.files.paths import Root
from chunkast.sources.jupyter import Notebook, is_notebook, read_notebook
from chunkast.text.files import check_is_text, decode, read_bytes, undecodable

__all__ = ("STDIN", "InputFile", "input_file", "read_document", "read_pieces")

# The path of standard input in messages.
STDIN: Final = "<stdin>"
# The maximum number of bytes to read at once from a stream.
_PIECE: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class InputFile:
    """A document to read.

    ``data`` is the content of a file that can be read only once, such as a pipe; else ``None``.
    """

    path: str
    source: str | None
    data: bytes | None = None

    def size(self) -> int:
        """Return the number of bytes, or 0 if the file does not exist."""
        try:
            return Path(self.path).stat().st_size if self.data is None else len(self.data)
        except OSError:
            return 0


def input_file(path: str, root: Root) -> InputFile:
    """Return the input file at ``path``, or standard input if ``path`` is ``STDIN``.

    Pipes and standard input are read immediately, because a worker process could not read them.
    """
    if path == STDIN:
        with _open_bytes("-", path) as stream:
            return InputFile(path, None, stream.read())
    if os.path.isfile(path) or not os.path.exists(path):
        return InputFile(path, root.name(path))
    return InputFile(path, PurePath(path).as_posix(), read_bytes(path))


def read_document(file: InputFile) -> str | Notebook:
    """Return the text of a file, unchanged, or the notebook in an ``.ipynb`` file.

    Raises ``SourceError`` for a file that cannot be read, is not UTF-8 or is an invalid notebook.
    """
    data = read_bytes(file.path) if file.data is None else file.data
    text = decode(data, file.path)
    return read_notebook(text, file.path) if is_notebook(file.source) else text


def read_pieces(path: str) -> Iterator[str]:
    """Yield the text of a file, or of standard input (``-``), piece by piece as it is read.

    Raises ``SourceError`` if the input cannot be read or is not UTF-8, after all the text before
    the error has been yielded.
    """
    name = STDIN if path == "-" else path
    decoder = codecs.getincrementaldecoder("utf-8")()
    position = 0
    with _open_bytes(path, name) as stream:
        while True:
            data = stream.read1(_PIECE)
            if not position:
                check_is_text(data, name)
            # The first bytes of an incomplete character are kept in the decoder.
            waiting = len(decoder.getstate()[0])
            try:
                yield decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                yield error.object[: error.start].decode("utf-8")
                raise undecodable(name, error, position - waiting) from None
            if not data:
                return
            position += len(data)


@contextmanager
def _open_bytes(path: str, name: str) -> Iterator[BufferedReader]:
    """Open a file, or standard input for ``-``; convert errors in the block to ``SourceError``."""
    try:
        if path != "-":
            with Path(path).open("rb") as stream:
                yield stream
        elif sys.stdin is None:
            raise SourceError(name, "standard input is closed")
        else:
            # With PYTHONUNBUFFERED, too, this reads only what is available.
            yield cast("BufferedReader", sys.stdin.buffer)
    except OSError as error:
        raise SourceError(name, error.strerror or str(error)) from None
    except MemoryError as error:
        raise SourceError(name, describe(error)) from None
