"""The class of the pytest fixture ``chunk_snapshot``. The plugin imports it on first use."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from chunkast.chunker import Chunker
from chunkast.files.find import select
from chunkast.files.paths import Root
from chunkast.files.read import read_document
from chunkast.files.write import open_output
from chunkast.options import ChunkOptions, Unpack
from chunkast.testing.compare import compare
from chunkast.testing.lock import LockError, open_lock, write_lock
from chunkast.testing.records import DocumentRecord, header_of, record_document
from chunkast.testing.report import REPORTS, Report, Rules

__all__ = ("ChunkSnapshot",)


class ChunkSnapshot:
    """The value of the pytest fixture ``chunk_snapshot``.

    The first lock of a test is ``chunks/MODULE/TEST.lock`` in the folder of the test's module; the
    second is ``chunks/MODULE/TEST-2.lock``, and so on.
    """

    def __init__(self, stem: Path, *, update: bool) -> None:
        self._stem = stem
        self._update = update
        self._used = 0

    def check(
        self,
        what: str | os.PathLike[str],
        *,
        source: str | None = None,
        lock: str | os.PathLike[str] | None = None,
        allow: Iterable[str] = (),
        **options: Unpack[ChunkOptions],
    ) -> None:
        """Fail the test if the chunks of ``what`` do not match the lock.

        With ``--chunkast-update``, write the lock instead.

        what: a text, or the path of a document or folder (a ``pathlib.Path``).
        source: the name of the text or document; by default "text" or the file's name.
        lock: the path of the lock; by default derived from the name of the test.
        allow: the kinds of changes that do not fail the test, as in ``chunkast check --allow``.
        options: the fields of ``ChunkConfig``.

        Raises ``ConfigError`` for an invalid option or kind of change, and ``SourceError`` for a
        document that cannot be read.
        """
        __tracebackhide__ = True
        self._used += 1 if lock is None else 0
        suffix = f"-{self._used}" if self._used > 1 else ""
        path = Path(f"{self._stem}{suffix}.lock" if lock is None else lock)
        chunker, rules = Chunker(**options), Rules(frozenset(allow))
        records = _records(chunker, what, source)
        if self._update:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open_output(str(path)) as output:
                write_lock(output.stream, header_of(chunker), records)
                output.complete = True
        elif fault := _fault(path, chunker, records, rules):
            pytest.fail(fault, pytrace=False)


def _records(
    chunker: Chunker, what: str | os.PathLike[str], source: str | None
) -> Iterator[DocumentRecord]:
    """Yield the records of a text, of the document at a path, or of all documents in a folder."""
    if isinstance(what, str):
        yield record_document(chunker, "text" if source is None else source, what)
        return
    folder = Path(what).is_dir()
    selection = select([str(what)], Root.at(str(what if folder else Path(what).parent)))
    if selection.problems:
        raise selection.problems[0]
    for file in selection.files:
        name = file.source if source is None or folder else source
        yield record_document(chunker, name or "", read_document(file))


def _fault(path: Path, chunker: Chunker, records: Iterable[DocumentRecord], rules: Rules) -> str:
    """Return a report of the forbidden differences from the lock at ``path``, or an empty string.

    If the lock is missing or cannot be read, return a message about that instead.
    """
    if not path.exists():
        return f"there is no lock {path} yet; write it with: pytest --chunkast-update"
    try:
        with open_lock(str(path)) as lock:
            diff = compare(lock, (header_of(chunker), records))
    except LockError as error:
        return f"{error}\nor, to rewrite the locks of tests: pytest --chunkast-update"
    report = Report(diff, (path.name, "now"), rules)
    if not report.faults:
        return ""
    return f"{REPORTS['text'](report)}if this is right: pytest --chunkast-update"
