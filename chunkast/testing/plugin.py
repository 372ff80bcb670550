"""A pytest plugin that provides the fixture ``chunk_snapshot``.

pytest finds this module through its entry point. The rest of chunkast is imported only if a test
uses the fixture. ``--chunkast-update`` rewrites the locks; it is refused if the environment
variable ``CI`` is set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.options import ChunkOptions, Unpack
    from chunkast.testing.records import DocumentRecord
    from chunkast.testing.report import Rules

__all__ = ("ChunkSnapshot",)

_UPDATE: Final = "--chunkast-update"
# The source of a text that is checked without a source.
_TEXT: Final = "text"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option ``--chunkast-update``, which rewrites the locks."""
    parser.getgroup("chunkast").addoption(
        _UPDATE,
        action="store_true",
        dest="chunkast_update",
        help="rewrite the locks of chunks (refused where CI is set)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to rewrite locks if ``CI`` is set, and to skip the tests of an earlier version."""
    if config.getoption("chunkast_update") and os.environ.get("CI"):
        raise pytest.UsageError("locks are not updated where CI is set: a person must review them")
    project = config.rootpath / "pyproject.toml"
    if project.is_file() and b"[tool.chunkast.snapshots" in project.read_bytes():
        raise pytest.UsageError(
            "pyproject.toml: [tool.chunkast.snapshots] is not read any more; in a test, call "
            "chunk_snapshot.check(Path('docs'), lock='docs/chunks.lock', ...)"
        )


@pytest.fixture
def chunk_snapshot(request: pytest.FixtureRequest) -> ChunkSnapshot:
    """Compare chunks with a lock next to the test: ``chunk_snapshot.check(path_or_text)``."""
    update = bool(request.config.getoption("chunkast_update"))
    name = re.sub(r"[^\w.-]+", "-", request.node.name).strip("-")
    folder = request.path.parent / "chunks" / request.path.stem
    return ChunkSnapshot(folder / name, update=update)


class ChunkSnapshot:
    """The object that the fixture ``chunk_snapshot`` provides.

    The first lock of a test is ``chunks/MODULE/TEST.lock`` in the folder of the test's module, and
    the second lock is ``TEST-2.lock`` in the same folder as the first.
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
        source: the name of the text or document; by default "text" or the name of the file.
        lock: the path of the lock; by default derived from the name of the test.
        allow: the kinds of changes that do not fail the test, as in ``chunkast check --allow``.
        options: the fields of ``ChunkConfig``.

        Raises ``ConfigError`` for an invalid option or kind of change, and ``SourceError`` for a
        document that cannot be read.
        """
        __tracebackhide__ = True
        from chunkast.chunker import Chunker
        from chunkast.testing.report import Rules

        self._used += 1 if lock is None else 0
        suffix = f"-{self._used}" if self._used > 1 else ""
        path = Path(f"{self._stem}{suffix}.lock" if lock is None else lock)
        chunker, rules = Chunker(**options), Rules(frozenset(allow))
        records = _records(chunker, what, source)
        if self._update:
            _write(path, chunker, records)
        elif fault := _fault(path, chunker, records, rules):
            pytest.fail(fault, pytrace=False)


def _records(
    chunker: Chunker, what: str | os.PathLike[str], source: str | None
) -> Iterator[DocumentRecord]:
    """Yield the records of a text, of the document at a path, or of all documents in a folder."""
    from chunkast.files.find import select
    from chunkast.files.paths import Root
    from chunkast.files.read import InputFile, read_document
    from chunkast.testing.records import record_document

    if isinstance(what, str):
        yield record_document(chunker, _TEXT if source is None else source, what)
        return
    path = Path(what)
    if not path.is_dir():
        document = read_document(InputFile(str(path), path.name))
        yield record_document(chunker, path.name if source is None else source, document)
        return
    selection = select([str(path)], Root.at(str(path)))
    if selection.problems:
        raise selection.problems[0]
    for file in selection.files:
        yield record_document(chunker, file.source or "", read_document(file))


def _write(path: Path, chunker: Chunker, records: Iterable[DocumentRecord]) -> None:
    """Write a lock; create its folder if necessary."""
    from chunkast.files.write import open_output
    from chunkast.testing.lock import write_lock
    from chunkast.testing.records import header_of

    path.parent.mkdir(parents=True, exist_ok=True)
    with open_output(str(path)) as output:
        write_lock(output.stream, header_of(chunker), records)
        output.complete = True


def _fault(path: Path, chunker: Chunker, records: Iterable[DocumentRecord], rules: Rules) -> str:
    """Return a report of the forbidden differences from the lock at ``path``, or an empty string.

    If the lock is missing or cannot be read, return a message about that instead.
    """
    from chunkast.testing.compare import compare
    from chunkast.testing.lock import LockError, open_lock
    from chunkast.testing.records import header_of
    from chunkast.testing.report import REPORTS, Report

    if not path.exists():
        return f"there is no lock {path} yet; write it with: pytest {_UPDATE}"
    try:
        with open_lock(str(path)) as lock:
            diff = compare((lock.header, lock.documents), (header_of(chunker), records))
    except LockError as error:
        return f"{error}\nor, to rewrite the locks of tests: pytest {_UPDATE}"
    report = Report(diff, (path.name, "now"), rules)
    return f"{REPORTS['text'](report)}if this is right: pytest {_UPDATE}" if report.faults else ""
