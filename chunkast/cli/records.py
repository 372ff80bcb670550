"""Code shared by ``snapshot``, ``check`` and ``diff``: recording documents and printing reports."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from chunkast.cli.messages import print_text
from chunkast.cli.options import add_report_format
from chunkast.cli.work import Document, Parts
from chunkast.errors import UsageError
from chunkast.files.find import Selection
from chunkast.files.paths import Root
from chunkast.files.read import InputFile

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.testing.records import DocumentRecord, Header
    from chunkast.testing.report import Report

__all__ = (
    "add_report",
    "lock_errors",
    "print_report",
    "record",
    "relative_root",
    "source_of",
    "stored_root",
)

# The name of standard input in a lock.
_STDIN: Final = "-"


def add_report(parser: ArgumentParser) -> None:
    """Add the option for the format of a comparison's report."""
    add_report_format(parser, "; github: workflow annotations", ("text", "json", "github"))


def source_of(file: InputFile) -> str:
    """Return the name under which a lock records ``file``."""
    return file.source or _STDIN


def relative_root(root: Root, lock: str | None) -> str:
    """Return the path of ``root`` relative to the lock's folder, which is stored in the lock.

    Return an empty string if the lock is written to stdout or is on another drive.
    """
    if lock is None:
        return ""
    try:
        relative = os.path.relpath(root.real, os.path.dirname(os.path.realpath(lock)))
    except ValueError:  # on another drive of Windows
        return ""
    return PurePath(relative).as_posix()


def stored_root(header: Header, lock: str) -> str:
    """Return the path of the root that a lock stores, or an empty string.

    A lock stores the path relative to its own folder (see :func:`relative_root`).
    """
    return header.root and os.path.join(os.path.dirname(os.path.realpath(lock)), header.root)


def record(chunker: Chunker, given: Document, _parts: Parts) -> DocumentRecord:
    """Chunk a document, and return the record of its chunks."""
    from chunkast.testing.records import record_document

    source, document = given
    return record_document(chunker, source or _STDIN, document)


@contextmanager
def lock_errors() -> Iterator[None]:
    """Convert a ``LockError`` raised in the block to a ``UsageError``."""
    from chunkast.testing.lock import LockError

    try:
        yield
    except LockError as error:
        raise UsageError(str(error)) from None


def print_report(options: Namespace, report: Report, selection: Selection | None = None) -> None:
    """Print a report to stdout; ``selection`` has the paths of its documents."""
    from chunkast.testing.report import REPORTS

    files = [] if selection is None else selection.files
    report = replace(report, paths={source_of(file): file.path for file in files})
    print_text(REPORTS[options.format](report))
