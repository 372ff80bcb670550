"""Runs documents as pytest tests, from folders that are declared in ``pyproject.toml``.

    [tool.chunkast.snapshots.docs]
    folder = "docs"              # default: the table's name
    lock = "docs/chunks.lock"    # default: chunks.lock in the folder
    allow = ["moved"]            # default: no changes
    max_tokens = 512             # and any other field of ChunkConfig

Each document in a folder is a test. The lock is also a test, which fails if a document is gone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

from chunkast.chunker import Chunker
from chunkast.config import ChunkConfig
from chunkast.errors import ChunkastError, ConfigError
from chunkast.files.write import open_output
from chunkast.testing.checks import documents_in, missing_lock, record_file, report_faults
from chunkast.testing.compare import compare
from chunkast.testing.lock import END, LockError, encode_document, encode_header, open_lock
from chunkast.testing.records import DocumentRecord, Header, header_of
from chunkast.testing.report import Rules

__all__ = ("Declared", "Documents", "read_declared")

_TABLE: Final = "tool.chunkast.snapshots"
_LOCK: Final = "chunks.lock"
# The key under which a worker of pytest-xdist sends the sections to write.
_OUTPUT: Final = "chunkast"


@dataclass(frozen=True)
class Declared:
    """A folder declared in ``pyproject.toml``, each of whose documents is a test."""

    name: str
    root: Path
    folder: Path
    lock: Path
    allow: frozenset[str]
    options: Mapping[str, Any]

    @cached_property
    def chunker(self) -> Chunker:
        """A chunker with the options that are declared for the folder."""
        return Chunker(**self.options)

    @cached_property
    def sources(self) -> dict[Path, str]:
        """The paths of the documents in the folder, each with the document's source.

        The source is the path relative to the root of the project.
        """
        files = documents_in(self.folder, self.root).files
        return {Path(f.path): f.source or "" for f in files if Path(f.path) != self.lock}

    @cached_property
    def locked(self) -> tuple[Header, dict[str, DocumentRecord]] | None:
        """The lock's header and its documents by source, or ``None`` if there is no lock.

        Raises ``LockError`` if the lock cannot be read.
        """
        if not self.lock.exists():
            return None
        with open_lock(str(self.lock)) as lock:
            return lock.header, {document.source: document for document in lock.documents}

    def content(self) -> tuple[Header, dict[str, DocumentRecord]]:
        """Return the lock's header and its documents by source; the lock must exist."""
        if self.locked is None:
            raise _ChunksError(missing_lock(self.lock))
        return self.locked

    def gone(self) -> list[DocumentRecord]:
        """Return the documents in the lock whose files no longer exist."""
        present = set(self.sources.values())
        return [each for source, each in self.content()[1].items() if source not in present]


def read_declared(root: Path, project: bytes) -> list[Declared]:
    """Return the folders declared in ``project``, the content of ``pyproject.toml``."""
    # Before Python 3.11, pytest installs the same library under its original name.
    toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table = toml.loads(project.decode("utf-8"))
    except ValueError:
        return []  # pytest reports it, or does not read the file
    found = table.get("tool", {}).get("chunkast", {}).get("snapshots", {})
    if not isinstance(found, dict):
        raise pytest.UsageError(f"pyproject.toml, {_TABLE}: must be a table of tables")
    return [_read_declared(root, name, given) for name, given in found.items()]


def _read_declared(root: Path, name: str, given: Any) -> Declared:
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
    return Declared(name, root, folder, lock, frozenset(allow), options)


class Documents:
    """A pytest plugin that collects documents as tests; registered only if folders are declared."""

    def __init__(self, config: pytest.Config, declared: list[Declared]) -> None:
        self.declared = declared
        self.update = bool(config.getoption("chunkast_update"))
        # The sections to write, by the name of the folder, then by source; ``None`` for a
        # document that is gone.
        self.sections: dict[str, dict[str, bytes | None]] = {}
        self.written: list[str] = []

    def put(self, declared: Declared, source: str, section: bytes | None) -> None:
        """Keep a section of a lock, to write it at the end of the test session.

        ``section`` is ``None`` for a document that is gone.
        """
        self.sections.setdefault(declared.name, {})[source] = section

    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> pytest.Collector | None:
        """Return a collector for a declared document or a lock, or ``None`` for any other file."""
        if not any(file_path == each.lock or file_path in each.sources for each in self.declared):
            return None
        collector: pytest.Collector = _File.from_parent(parent, path=file_path, documents=self)
        return collector

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the updated locks; a pytest-xdist worker sends its sections to the main process."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_OUTPUT] = self.sections
            return
        for each in self.declared:
            if each.name in self.sections:
                self.written.append(_update(each, self.sections[each.name]))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add the sections that a pytest-xdist worker has sent."""
        for name, sections in getattr(node, "workeroutput", {}).get(_OUTPUT, {}).items():
            self.sections.setdefault(name, {}).update(sections)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print a line about each lock that was to be written."""
        for line in self.written:
            terminalreporter.write_line(line)


class _File(pytest.File):
    """A document or a lock, with a test for each declared folder to which it belongs."""

    def __init__(self, *, documents: Documents, **given: Any) -> None:
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
    """An error for chunks that differ from the lock; pytest shows only its message."""


class _Item(pytest.Item):
    """The base class for tests of documents and locks."""

    def __init__(self, *, documents: Documents, declared: Declared, **given: Any) -> None:
        super().__init__(**given)
        self.documents = documents
        self.declared = declared

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str | Any:
        if isinstance(excinfo.value, (_ChunksError, ChunkastError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.declared.name}: {self.path.name}"

    def judge(self, before: list[DocumentRecord], now: list[DocumentRecord], *allowed: str) -> None:
        """Raise ``_ChunksError`` if the documents differ in a way that is not allowed.

        ``allowed`` are kinds of changes to allow in addition to the declared kinds.
        """
        declared = self.declared
        sides = (declared.content()[0], before), (header_of(declared.chunker), now)
        rules = Rules(declared.allow | frozenset(allowed))
        if fault := report_faults(compare(*sides), declared.lock, rules):
            raise _ChunksError(fault)


class _DocumentItem(_Item):
    """A test that the chunks of a document match the lock."""

    def runtest(self) -> None:
        declared, source = self.declared, self.declared.sources[self.path]
        record = record_file(declared.chunker, self.path, source)
        if self.documents.update:
            self.documents.put(declared, source, encode_document(record))
            return
        before = declared.content()[1].get(source) or self.renamed(record)
        # A different configuration is reported once, by the lock's own test.
        self.judge([before] if before else [], [record], "configuration")

    def renamed(self, record: DocumentRecord) -> DocumentRecord | None:
        """Return the document in the lock that has been renamed to ``record``, or ``None``."""
        for before in self.declared.gone():
            if len(compare((None, [before]), (None, [record])).documents) == 1:
                return before
        return None


class _LockItem(_Item):
    """A test that the lock is readable, has the current configuration and lists no missing file."""

    def runtest(self) -> None:
        gone = self.declared.gone()
        if self.documents.update:
            for document in gone:
                self.documents.put(self.declared, document.source, None)
        else:
            self.judge(gone, [])


def _update(declared: Declared, sections: Mapping[str, bytes | None]) -> str:
    """Write a lock with the given sections, and return a line that describes the result."""
    header = header_of(declared.chunker)
    kept: dict[str, bytes | None] = {}
    if not sections.keys() >= set(declared.sources.values()):
        # Only some documents were tested: the sections of the others are kept.
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
