"""Every document of fixtures/documents, chunked under two configurations, as it was read.

A golden file is a lock: what a person can judge about each chunk, with its counts, its cut and
both ends of its text. Whatever moves a chunk shows up here; read the difference, then write the
files anew with ``pytest --update-goldens tests/test_goldens.py``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from chunkast.testing.lock import open_lock
from chunkast.testing.plugin import ChunkSnapshot

ROOT: Final = Path(__file__).parents[1]
DOCUMENTS: Final = ROOT / "fixtures" / "documents"
GOLDENS: Final = ROOT / "fixtures" / "goldens"

CONFIGURATIONS: Final[dict[str, dict[str, Any]]] = {
    "sections-200-context": {"max_tokens": 200, "overlap": 0.15},
    "fill-160-exact": {
        "max_tokens": 160,
        "packing": "fill",
        "encoding": "o200k_base",
        "overlap": 0,
        "trim": False,
    },
}
# Goldens are the same whether the extra ``code`` is there or not.
pytestmark = pytest.mark.usefixtures("without_grammars")


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_chunks_are_as_they_were_read(chunk_snapshot: ChunkSnapshot, name: str) -> None:
    chunk_snapshot.check(DOCUMENTS, lock=GOLDENS / f"{name}.lock", **CONFIGURATIONS[name])


def test_every_document_has_its_goldens() -> None:
    assert {path.stem for path in GOLDENS.iterdir()} == CONFIGURATIONS.keys()
    for path in GOLDENS.iterdir():
        with open_lock(str(path)) as lock:
            sources = [document.source for document in lock.documents]
        assert sources == sorted(path.name for path in DOCUMENTS.iterdir())


@pytest.mark.slow
def test_updating_is_refused_where_ci_is_set() -> None:
    """The golden files stay as they are."""
    before = {path: path.stat().st_mtime_ns for path in GOLDENS.iterdir()}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--update-goldens", __file__],
        cwd=ROOT,
        env={**os.environ, "CI": "true"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert run.returncode == pytest.ExitCode.USAGE_ERROR, run.stdout + run.stderr
    assert "locks are not updated where CI is set" in run.stderr
    assert before == {path: path.stat().st_mtime_ns for path in GOLDENS.iterdir()}
