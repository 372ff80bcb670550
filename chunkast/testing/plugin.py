"""A pytest plugin that provides the fixture ``chunk_snapshot``.

pytest finds this module through its entry point. The rest of chunkast is imported only if a test
uses the fixture. ``--chunkast-update`` rewrites the locks; it is an error if the environment
variable ``CI`` is set.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from chunkast.testing.fixture import ChunkSnapshot

__all__ = ("chunk_snapshot", "pytest_addoption", "pytest_configure")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option ``--chunkast-update``, which rewrites the locks."""
    parser.getgroup("chunkast").addoption(
        "--chunkast-update",
        action="store_true",
        dest="chunkast_update",
        help="rewrite the locks of chunks (refused where CI is set)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Raise ``UsageError`` for ``--chunkast-update`` in CI, and for obsolete settings."""
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
    from chunkast.testing.fixture import ChunkSnapshot

    update = bool(request.config.getoption("chunkast_update"))
    name = re.sub(r"[^\w.-]+", "-", request.node.name).strip("-")
    folder = request.path.parent / "chunks" / request.path.stem
    return ChunkSnapshot(folder / name, update=update)
