"""Record documents and print reports, for ``snapshot``, ``check`` and ``diff``."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from chunkast.cli.messages import print_text
from chunkast.cli.work import Document
from chunkast.files.find import Selection
from chunkast.files.paths import Root
from chunkast.files.read import InputFile
from chunkast.files.write import Output

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.testing.records import DocumentRecord, Header
    from chunkast.testing.report import Report

__all__ = ("lock_header", "print_report", "record", "source_of", "stored_root", "written")

# The name of standard input in a lock.
_STDIN: Final = "-"


def source_of(file: InputFile) -> str:
    """Return the name under which a lock records ``file``."""
    return file.source or _STDIN


def lock_header(chunker: Chunker, root: Root, lock: str | None) -> Header:
    """Return the header of a lock, with the path of ``root`` relative to the lock's folder.

    The path is empty if the lock is written to stdout or is on another drive.
    """
    from chunkast.testing.records import header_of

    header = header_of(chunker)
    if lock is None:
        return header
    try:
        relative = os.path.relpath(root.real, os.path.dirname(os.path.realpath(lock)))
    except ValueError:  # on another drive of Windows
        return header
    return replace(header, root=PurePath(relative).as_posix())


def stored_root(header: Header, lock: str) -> str:
    """Return the path of the root folder that the lock records, or "" if it records no root.

    ``lock`` is the path of the lock file. The recorded path is relative to the lock's folder.
    """
    return header.root and os.path.join(os.path.dirname(os.path.realpath(lock)), header.root)


def record(chunker: Chunker, item: Document) -> DocumentRecord:
    """Chunk a document, and return the record of its chunks."""
    from chunkast.testing.records import record_document

    source, document = item
    return record_document(chunker, source or _STDIN, document)


def written(
    output: Output, header: Header, documents: Iterable[DocumentRecord]
) -> Iterator[DocumentRecord]:
    """Write the documents to ``output`` as a lock, and yield each document after writing it."""
    from chunkast.testing.lock import encode_document, encode_header

    output.stream.write(encode_header(header))
    for document in documents:
        output.stream.write(encode_document(document))
        yield document


def print_report(options: Namespace, report: Report, selection: Selection | None = None) -> None:
    """Print a report to stdout; the documents' paths are read from ``selection``."""
    from chunkast.testing.report import REPORTS

    files = [] if selection is None else selection.files
    report = replace(report, paths={source_of(file): file.path for file in files})
    print_text(REPORTS[options.format](report))
