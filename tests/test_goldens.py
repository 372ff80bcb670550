"""Every document of fixtures/documents, chunked under two configurations, as it was read.

A golden file is a lock: what a person can judge about each chunk, with its counts, its cut and its
text. Whatever moves a chunk shows up here; read the difference, then write the files anew with
``pytest --update-goldens tests/test_goldens.py``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from chunkast.testing.fixture import ChunkSnapshot

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
