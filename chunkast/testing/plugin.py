"""A pytest plugin that provides the fixture ``chunk_snapshot`` and runs documents as tests.

pytest finds this module through its entry point. The rest of chunkast is imported only if a test
uses the fixture, or if ``pyproject.toml`` declares folders (see ``folders``).

``--chunkast-update`` rewrites the locks; it is refused if the environment variable ``CI`` is set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from chunkast.options import ChunkOptions, Unpack

__all__ = ("ChunkSnapshot",)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option ``--chunkast-update``, which rewrites the locks."""
    parser.getgroup("chunkast").addoption(
        "--chunkast-update",
        action="store_true",
        dest="chunkast_update",
        help="rewrite the locks of chunks (refused where CI is set)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read the declared folders; add them to the paths to test if pytest uses ``testpaths``."""
    if config.getoption("chunkast_update") and os.environ.get("CI"):
        raise pytest.UsageError("locks are not updated where CI is set: a person must review them")
    try:
        project = (config.rootpath / "pyproject.toml").read_bytes()
    except OSError:
        return
    if b"chunkast" not in project or b"snapshots" not in project:
        return
    from chunkast.testing.folders import Documents, read_declared

    declared = read_declared(config.rootpath, project)
    if not declared:
        return
    config.pluginmanager.register(Documents(config, declared), "chunkast-documents")
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        for each in declared:
            config.args += [str(path) for path in (each.folder, each.lock) if path.exists()]


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
        from chunkast.testing.checks import fault_of, record_all, write_new
        from chunkast.testing.report import Rules

        self._used += 1 if lock is None else 0
        suffix = f"-{self._used}" if self._used > 1 else ""
        path = Path(f"{self._stem}{suffix}.lock" if lock is None else lock)
        chunker, rules = Chunker(**options), Rules(frozenset(allow))
        records = record_all(chunker, what, source)
        if self._update:
            write_new(path, chunker, records)
        elif fault := fault_of(path, chunker, records, rules):
            pytest.fail(fault, pytrace=False)
