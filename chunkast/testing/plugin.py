"""Chunks under test in pytest: the fixture ``chunk_snapshot``, and documents as tests.

pytest finds this module by its entry point. Nothing else of chunkast is imported until a test
uses the fixture, or ``pyproject.toml`` declares folders:

    [tool.chunkast.snapshots.docs]
    folder = "docs"              # its name, unless given
    lock = "docs/chunks.lock"    # chunks.lock in the folder, unless given
    allow = ["moved"]            # nothing, unless given
    max_tokens = 512             # and any other field of ChunkConfig

Every document in a folder is then a test, and so is the lock: that no document is missing.
``--chunkast-update`` writes locks again, and is refused where ``CI`` is set.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.files.find import Selection
    from chunkast.options import ChunkOptions, Unpack
    from chunkast.testing.compare import Diff
    from chunkast.testing.records import DocumentRecord, Header
    from chunkast.testing.report import Rules

__all__ = ("ChunkSnapshot",)

_TABLE: Final = "tool.chunkast.snapshots"
_LOCK: Final = "chunks.lock"
# What a worker of pytest-xdist tells of the records that are to be written.
_OUTPUT: Final = "chunkast"
# The source of a text that is checked without one.
_TEXT: Final = "text"
_UPDATE: Final = "--chunkast-update"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes locks."""
    parser.getgroup("chunkast").addoption(
        _UPDATE,
        action="store_true",
        dest="chunkast_update",
        help="write the locks of chunks again (not where CI is set)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read which folders are declared; a run without paths includes them."""
    if config.getoption("chunkast_update") and os.environ.get("CI"):
        raise pytest.UsageError("locks are not updated where CI is set: a person reads them")
    declared = _declared(config.rootpath)
    if not declared:
        return
    config.pluginmanager.register(_Documents(config, declared), "chunkast-documents")
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        for each in declared:
            config.args += [str(path) for path in (each.folder, each.lock) if path.exists()]


@pytest.fixture
def chunk_snapshot(request: pytest.FixtureRequest) -> ChunkSnapshot:
    """Compares chunks with a lock beside the test: ``chunk_snapshot.check(path_or_text)``."""
    update = bool(request.config.getoption("chunkast_update"))
    name = re.sub(r"[^\w.-]+", "-", request.node.name).strip("-")
    stem = request.path.with_suffix("").name
    return ChunkSnapshot(request.path.parent / "chunks" / stem / name, update=update)


class ChunkSnapshot:
    """The fixture ``chunk_snapshot``.

    Its first lock is ``chunks/MODULE/TEST.lock`` beside the test, the next ends with ``-2``.
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
        """Fail unless the chunks of ``what`` are as its lock says; with the update, write it.

        what: a text, or the path of a document or folder (a ``pathlib.Path``).
        source: the name of a text or a document; "text", or the file's name, unless given.
        lock: the lock's path, in place of the one that the test's name gives.
        allow: changes that are not a failure, as in ``chunkast check --allow``.
        options: the fields of ``ChunkConfig``.

        Raises ``ConfigError`` for a kind of change or an option that is not allowed, ``SourceError`` for a document
        that cannot be read.
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
            from chunkast.testing.records import header_of

            _write(path, header_of(chunker), records)
            return
        fault = _fault(path, chunker, records, rules)
        if fault:
            pytest.fail(fault, pytrace=False)


def _records(
    chunker: Chunker, what: str | os.PathLike[str], source: str | None
) -> list[DocumentRecord]:
    from chunkast.files.read import InputFile, read_document
    from chunkast.testing.records import record_document

    if isinstance(what, str):
        return [record_document(chunker, _TEXT if source is None else source, what)]
    path = Path(what)
    if not path.is_dir():
        name = path.name if source is None else source
        return [record_document(chunker, name, read_document(InputFile(str(path), path.name)))]
    selection = _selected(path, path)
    if selection.problems:
        raise selection.problems[0]
    return [
        record_document(chunker, file.source or "", read_document(file)) for file in selection.files
    ]


def _selected(folder: Path, root: Path) -> Selection:
    """Find the documents in a folder as the command does, named relative to ``root``."""
    from chunkast.files.find import select
    from chunkast.files.paths import Root

    return select([str(folder)], Root.at(str(root)))


def _fault(path: Path, chunker: Chunker, records: Iterable[DocumentRecord], rules: Rules) -> str:
    """Why the records are not what the lock at ``path`` says; empty if they are."""
    from chunkast.testing.compare import compare
    from chunkast.testing.lock import LockError, open_lock
    from chunkast.testing.records import header_of

    if not path.exists():
        return _no_lock(path)
    try:
        with open_lock(str(path)) as lock:
            diff = compare((lock.header, lock.documents), (header_of(chunker), records))
    except LockError as error:
        return str(error)
    return _shown(diff, path, rules)


def _no_lock(path: Path) -> str:
    return f"there is no lock {path} yet; write it with: pytest {_UPDATE}"


def _shown(diff: Diff, lock: Path, rules: Rules) -> str:
    """The report of what is not allowed; empty if everything is."""
    from chunkast.testing.forms import REPORTS
    from chunkast.testing.report import Report

    report = Report(diff, (lock.name, "now"), rules)
    if not report.faults:
        return ""
    return f"{REPORTS['text'](report)}if this is right: pytest {_UPDATE}"


def _write(path: Path, header: Header, records: Iterable[DocumentRecord]) -> None:
    from chunkast.files.write import open_output
    from chunkast.testing.lock import write_lock

    path.parent.mkdir(parents=True, exist_ok=True)
    with open_output(str(path)) as output:
        write_lock(output.stream, header, records)
        output.complete = True


# Folders that pyproject.toml declares


@dataclass(frozen=True)
class _Declared:
    """A folder whose documents are tests."""

    name: str
    root: Path
    folder: Path
    lock: Path
    allow: frozenset[str]
    options: Mapping[str, Any]

    @cached_property
    def chunker(self) -> Chunker:
        from chunkast.chunker import Chunker

        return Chunker(**self.options)

    @cached_property
    def sources(self) -> dict[Path, str]:
        """The documents in the folder, each with its source, as from the project's root."""
        files = _selected(self.folder, self.root).files
        return {Path(f.path): f.source or "" for f in files if Path(f.path) != self.lock}

    @cached_property
    def locked(self) -> tuple[Header, dict[str, DocumentRecord]] | None:
        """What the lock holds; ``None`` without one. Raises ``LockError``."""
        from chunkast.testing.lock import open_lock

        if not self.lock.exists():
            return None
        with open_lock(str(self.lock)) as lock:
            return lock.header, {document.source: document for document in lock.documents}


def _declared(root: Path) -> list[_Declared]:
    path = root / "pyproject.toml"
    try:
        data = path.read_bytes()
    except OSError:
        return []
    if b"chunkast" not in data:
        return []
    # Before Python 3.11 pytest brings the same under its first name.
    toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table = toml.loads(data.decode("utf-8"))
    except ValueError:
        return []  # pytest has said so, or does not read the file
    found = table.get("tool", {}).get("chunkast", {}).get("snapshots", {})
    if not isinstance(found, dict):
        raise pytest.UsageError(f"pyproject.toml, {_TABLE}: must be a table of tables")
    return [_read_declared(root, name, given) for name, given in found.items()]


def _read_declared(root: Path, name: str, given: Any) -> _Declared:
    from chunkast.config import ChunkConfig
    from chunkast.errors import ConfigError
    from chunkast.testing.report import Rules

    where = f"pyproject.toml, [{_TABLE}.{name}]"
    if not isinstance(given, dict):
        raise pytest.UsageError(f"{where}: must be a table")
    options = dict(given)
    folder = root / options.pop("folder", name)
    lock = root / options.pop("lock", folder / _LOCK)
    allow = options.pop("allow", [])
    if not folder.is_dir():
        raise pytest.UsageError(f"{where}: {folder} is not a folder")
    try:
        ChunkConfig.of(options)
        Rules(frozenset(allow))
    except ConfigError as error:
        raise pytest.UsageError(f"{where}: {error}") from None
    return _Declared(name, root, folder, lock, frozenset(allow), options)


class _Documents:
    """The plugin that makes tests of documents; registered where folders are declared."""

    def __init__(self, config: pytest.Config, declared: list[_Declared]) -> None:
        self.declared = declared
        self.update = bool(config.getoption("chunkast_update"))
        # The sections to write, by the name of what is declared, then by source; ``None`` for a
        # document that is gone.
        self.sections: dict[str, dict[str, bytes | None]] = {}
        self.written: list[str] = []

    def put(self, declared: _Declared, source: str, section: bytes | None) -> None:
        """Keep what is to be written."""
        self.sections.setdefault(declared.name, {})[source] = section

    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> pytest.Collector | None:
        """The tests of a document that is declared, or of its lock."""
        for each in self.declared:
            if file_path == each.lock or file_path in each.sources:
                collector: pytest.Collector = _File.from_parent(
                    parent, path=file_path, documents=self
                )
                return collector
        return None

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the locks; a worker of pytest-xdist leaves it to the process that started it."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_OUTPUT] = self.sections
            return
        for each in self.declared:
            if each.name in self.sections:
                self.written.append(_updated(each, self.sections[each.name]))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker has recorded."""
        for name, sections in getattr(node, "workeroutput", {}).get(_OUTPUT, {}).items():
            self.sections.setdefault(name, {}).update(sections)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was written."""
        for line in self.written:
            terminalreporter.write_line(line)


class _File(pytest.File):
    """A document, or a lock: a test for each declaration that it belongs to."""

    def __init__(self, *, documents: _Documents, **given: Any) -> None:
        super().__init__(**given)
        self.documents = documents

    def collect(self) -> Iterator[pytest.Item]:
        for each in self.documents.declared:
            kind = _LockItem if self.path == each.lock else _DocumentItem
            if kind is _LockItem or self.path in each.sources:
                yield kind.from_parent(
                    self, name=each.name, documents=self.documents, declared=each
                )


class _ChunksError(Exception):
    """Chunks that are not what the lock says; the message is all there is to show."""


class _Item(pytest.Item):
    """A test of documents."""

    def __init__(self, *, documents: _Documents, declared: _Declared, **given: Any) -> None:
        super().__init__(**given)
        self.documents = documents
        self.declared = declared

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str | Any:
        from chunkast.errors import ChunkastError

        if isinstance(excinfo.value, (_ChunksError, ChunkastError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.declared.name}: {self.path.name}"

    def judge(
        self,
        header: Header,
        before: list[DocumentRecord],
        now: list[DocumentRecord],
        more: frozenset[str] = frozenset(),
    ) -> None:
        """Raise ``_ChunksError`` where what differs is not allowed."""
        from chunkast.testing.compare import compare
        from chunkast.testing.records import header_of
        from chunkast.testing.report import Rules

        diff = compare((header, before), (header_of(self.declared.chunker), now))
        fault = _shown(diff, self.declared.lock, Rules(self.declared.allow | more))
        if fault:
            raise _ChunksError(fault)


class _DocumentItem(_Item):
    """That a document is cut as the lock says."""

    def runtest(self) -> None:
        from chunkast.files.read import InputFile, read_document
        from chunkast.testing.lock import encode_document
        from chunkast.testing.records import record_document

        declared, source = self.declared, self.declared.sources[self.path]
        document = read_document(InputFile(str(self.path), source))
        record = record_document(declared.chunker, source, document)
        if self.documents.update:
            self.documents.put(declared, source, encode_document(record))
            return
        if declared.locked is None:
            raise _ChunksError(_no_lock(declared.lock))
        header, documents = declared.locked
        before = documents.get(source) or self.renamed(record)
        # Another configuration as such is told once, by the lock's own test.
        self.judge(header, [before] if before else [], [record], frozenset({"configuration"}))

    def renamed(self, record: DocumentRecord) -> DocumentRecord | None:
        """The document of the lock that has no file any more, and became this one."""
        from chunkast.testing.compare import compare

        for before in _gone(self.declared):
            if len(compare((None, [before]), (None, [record])).documents) == 1:
                return before
        return None


class _LockItem(_Item):
    """That the lock can be read, was made with this configuration, and no document is missing."""

    def runtest(self) -> None:
        if self.declared.locked is None:
            raise _ChunksError(_no_lock(self.declared.lock))
        gone = _gone(self.declared)
        if self.documents.update:
            for document in gone:
                self.documents.put(self.declared, document.source, None)
        else:
            self.judge(self.declared.locked[0], gone, [])


def _gone(declared: _Declared) -> list[DocumentRecord]:
    """The documents of the lock that have no file any more."""
    assert declared.locked is not None
    present = set(declared.sources.values())
    return [each for source, each in declared.locked[1].items() if source not in present]


def _updated(declared: _Declared, sections: Mapping[str, bytes | None]) -> str:
    """Write a lock with these sections in place of its own; what was done, in a line."""
    from chunkast.files.write import open_output
    from chunkast.testing.lock import END, LockError, encode_document, encode_header
    from chunkast.testing.records import header_of

    header = header_of(declared.chunker)
    kept: dict[str, bytes | None] = {}
    if not sections.keys() >= set(declared.sources.values()):
        # Some documents alone were run: the others stay as they are.
        try:
            locked = declared.locked
        except LockError as error:
            return f"{declared.lock} was not written: run all its documents ({error.reason})"
        if locked is not None:
            if locked[0].config != header.config:
                return f"{declared.lock} was not written: run all its documents (configuration)"
            kept = {source: encode_document(each) for source, each in locked[1].items()}
    kept.update(sections)
    with open_output(str(declared.lock)) as output:
        output.stream.write(encode_header(header))
        output.stream.writelines(data for _, data in sorted(kept.items()) if data is not None)
        output.stream.write(END)
        output.complete = True
    return f"{declared.lock} was written"
