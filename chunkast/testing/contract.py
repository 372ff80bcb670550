"""A test for your own targets of ``chunkast.stores.sync``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from chunkast.chunker import Chunker
from chunkast.stores import SyncReport, Target, sync
from chunkast.stores.target import clean, row_of
from chunkast.text.hashes import content_hash

__all__ = ("check_target",)

_GUIDE: Final = "# Guide\n\nPack light.\n\n## Water\n\nSprings run dry.\n\n## Food\n\nSoup only.\n"
_ODD: Final = '---\na: {b: ["\\0", 1]}\n---\n# Odd \ud800\n\nA \0 and a \udfff.\n'
_BOOK: Final = "<!-- page 7 -->\n\nPacked on page seven.\n"
_CLOSE: Final = 1e-5
# The model, and the documents; each step is synced to the rows of the step before.
_STEPS: Final[Sequence[tuple[str, Mapping[str, str]]]] = (
    ("one", {"a.md": _GUIDE, "b\ud800.md": _ODD, "c.md": "Soup only.\n"}),
    ("one", {"a.md": f"Before it.\n\n{_GUIDE}", "b\ud800.md": "No titles.\n", "c.md": _BOOK}),
    ("one", {"c.md": _GUIDE, "d.md": _BOOK, "b\ud800.md": "No \0 titles.\n"}),
    ("one", {"d.md": _GUIDE.replace("Water", "Food"), "c.md": _GUIDE.replace("Food", "Water")}),
    ("two", {"c.md": _GUIDE.replace("Food", "Drinks"), "d.md": ""}),
)


def check_target(
    target: Target, read: Callable[[], Mapping[str, tuple[Mapping[str, Any], Sequence[float]]]]
) -> None:
    """Assert that a target fulfils the contract of ``Target``, by syncing documents to it.

    target: the target of an empty store.
    read: a function that returns the values and the vector of each row in the store, by
        ``chunk_id``. Lists and mappings may be returned as JSON.

    Raises ``AssertionError``, which names the wrong row and value.
    """
    chunker = Chunker(max_tokens=24, min_tokens=0, overlap=0, front_matter="parsed")
    known: set[tuple[str, str]] = set()
    for model, texts in _STEPS:
        documents = [(source, chunker.chunk(text, source)) for source, text in texts.items()]
        options: dict[str, Any] = {"model": model, "remove_missing": True, "batch_size": 2}
        report = sync(target, documents, _embed, **options)
        chunks = {chunk.id: chunk for _, chunks in documents for chunk in chunks}
        needed = {(model, chunk.embed_hash) for chunk in chunks.values()}
        _equal("embedded texts", report.embedded, len(needed - known))
        known, rows = needed, read()
        _equal("rows", sorted(rows), sorted(chunks))
        for id_, chunk in chunks.items():
            stored, vector = rows[id_]
            row = row_of(chunk, clean(chunk.source), model)
            for name, value in sorted(row.items()):
                _equal(f"{name} of {id_}", _plain(stored.get(name), value), value)
            absent = {"first_page", "section", "metadata"} - row.keys()
            _equal(f"absent values of {id_}", [n for n in absent if stored.get(n)], [])
            [expected] = _embed([chunk.embed_text])
            size = math.hypot(*vector) or 1.0
            close = [abs(x / size - y) < _CLOSE for x, y in zip(vector, expected, strict=True)]
            _equal(f"vector of {id_}", close, [True] * len(expected))
        again = sync(target, documents, _embed, **options)
        _equal("a second sync", again, SyncReport(unchanged=len(chunks)))


def _embed(texts: Sequence[str]) -> list[list[float]]:
    """Return unit vectors that depend on the words of the texts."""
    vectors = [[byte - 127.5 for byte in bytes.fromhex(content_hash(text)[:16])] for text in texts]
    return [[number / math.hypot(*vector) for number in vector] for vector in vectors]


def _plain(stored: Any, value: Any) -> Any:
    """Return a stored list or mapping, which may be JSON."""
    return json.loads(stored) if isinstance(stored, str) and not isinstance(value, str) else stored


def _equal(what: str, actual: object, expected: object) -> None:
    if actual != expected:
        raise AssertionError(f"{what}: {actual!r}, expected {expected!r}")
