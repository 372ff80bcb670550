"""Functions for pytest that record documents, compare them with a lock, and write new locks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from chunkast.chunker import Chunker
from chunkast.files.find import Selection, select
from chunkast.files.paths import Root
from chunkast.files.read import InputFile, read_document
from chunkast.files.write import open_output
from chunkast.testing.compare import Diff, compare
from chunkast.testing.forms import REPORTS
from chunkast.testing.lock import LockError, open_lock, write_lock
from chunkast.testing.records import DocumentRecord, header_of, record_document
from chunkast.testing.report import Report, Rules

__all__ = (
    "documents_in",
    "fault_of",
    "missing_lock",
    "record_all",
    "record_file",
    "report_faults",
    "write_new",
)

# The source of a text that is checked without a source.
_TEXT: Final = "text"
_UPDATE: Final = "pytest --chunkast-update"


def documents_in(folder: Path, root: Path) -> Selection:
    """Find the documents in a folder as the command line does; name them relative to ``root``."""
    return select([str(folder)], Root.at(str(root)))


def record_file(chunker: Chunker, path: Path, source: str) -> DocumentRecord:
    """Chunk a file and return its record; the name of the file decides if it is a notebook."""
    return record_document(chunker, source, read_document(InputFile(str(path), path.name)))


def record_all(
    chunker: Chunker, given: str | os.PathLike[str], source: str | None
) -> list[DocumentRecord]:
    """Return the records of a text, of the document at a path, or of all documents in a folder.

    ``given`` is the text if it is a str, or else the path.
    """
    if isinstance(given, str):
        return [record_document(chunker, _TEXT if source is None else source, given)]
    path = Path(given)
    if not path.is_dir():
        return [record_file(chunker, path, path.name if source is None else source)]
    selection = documents_in(path, path)
    if selection.problems:
        raise selection.problems[0]
    return [record_file(chunker, Path(f.path), f.source or "") for f in selection.files]


def fault_of(path: Path, chunker: Chunker, records: Iterable[DocumentRecord], rules: Rules) -> str:
    """Return a report of the forbidden differences from the lock at ``path``, or an empty string.

    If the lock is missing or cannot be read, return a message about that instead.
    """
    if not path.exists():
        return missing_lock(path)
    try:
        with open_lock(str(path)) as lock:
            diff = compare((lock.header, lock.documents), (header_of(chunker), records))
    except LockError as error:
        return str(error)
    return report_faults(diff, path, rules)


def missing_lock(path: Path) -> str:
    """Return the message for a lock that does not exist."""
    return f"there is no lock {path} yet; write it with: {_UPDATE}"


def report_faults(diff: Diff, lock: Path, rules: Rules) -> str:
    """Return the report of a comparison if it has forbidden changes, or else an empty string."""
    report = Report(diff, (lock.name, "now"), rules)
    if not report.faults:
        return ""
    return f"{REPORTS['text'](report)}if this is right: {_UPDATE}"


def write_new(path: Path, chunker: Chunker, records: Iterable[DocumentRecord]) -> None:
    """Write a lock; create its folder if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_output(str(path)) as output:
        write_lock(output.stream, header_of(chunker), records)
        output.complete = True
