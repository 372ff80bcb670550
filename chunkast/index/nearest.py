"""Find the chunks whose vectors are nearest to a query's, and merge two rankings."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from itertools import islice
from math import isfinite
from typing import Any, Final

from chunkast.errors import ConfigError, MissingPackageError
from chunkast.index.ranking import Candidate, loaded
from chunkast.index.stored_vectors import size_of, vectors

__all__ = ("Matrix", "fused")

# Each ranking contributes this many chunks, and 1 / (60 + rank) to the score of each: reciprocal
# rank fusion.
_DEPTH: Final = 100
_RANK_OFFSET: Final = 60
# The number of vectors to read at a time.
_STEP: Final = 1_000
_CHUNKS: Final = """
    SELECT embed_hash, chunks.number
    FROM chunks JOIN documents ON documents.number = chunks.document
    WHERE embed_hash IN (SELECT value FROM json_each(?)) AND (? IS NULL OR source GLOB ?)
    ORDER BY source, position
"""


class Matrix:
    """The vectors of a model in memory, scaled to length 1. There must be at least one vector.

    Raises ``MissingPackageError`` if numpy is not installed, and ``DamageError`` if the vectors are
    damaged.
    """

    def __init__(self, connection: sqlite3.Connection, model: str) -> None:
        try:
            self._numpy: Any = import_module("numpy")
        except ImportError:
            raise MissingPackageError("numpy", "vectors") from None
        self.size = size_of(connection, model)
        query = "SELECT count(*) FROM text_vectors WHERE model = ?"
        (count,) = connection.execute(query, (model,)).fetchone()
        self._hashes: list[str] = []
        self._rows = self._numpy.empty((count, self.size), "f4")
        stored = vectors(connection, model)
        while batch := [*islice(stored, _STEP)]:
            data = b"".join(vector.data for vector in batch)
            part = self._numpy.frombuffer(data, "<f4").reshape(-1, self.size)
            # In single precision, the square of a large number is infinite.
            lengths = self._numpy.linalg.norm(part.astype("f8"), axis=1, keepdims=True)
            end = len(self._hashes) + len(part)
            self._numpy.divide(part, lengths, out=self._rows[len(self._hashes) : end])
            self._hashes += [vector.embed_hash for vector in batch]

    def nearest(
        self, connection: sqlite3.Connection, vector: Iterable[float], within: str | None
    ) -> Iterator[Candidate]:
        """Yield the chunks whose vectors have the highest cosine similarity, best first.

        ``within`` is a glob pattern that a document's source must match. Raises ``ConfigError`` for
        a vector that has another size, consists of zeros or is not finite.
        """
        numbers: list[float] = []
        with suppress(TypeError, ValueError):
            numbers = [float(number) for number in vector]
        if len(numbers) != self.size or not all(map(isfinite, numbers)) or not any(numbers):
            allowed = f"must be {self.size:,} finite numbers that are not all 0"
            raise ConfigError("vector", vector, allowed)
        query = self._numpy.array(numbers) / max(map(abs, numbers))
        scores = self._rows @ query.astype("f4")
        return loaded(connection, self._chunks(connection, scores, within))

    def _chunks(
        self, connection: sqlite3.Connection, scores: Any, within: str | None
    ) -> Iterator[tuple[int, float]]:
        """Yield the number and the score of each chunk that has one of the vectors, best first.

        A vector may have several chunks, and none after its text was removed.
        """
        start = 0
        while start < len(scores):
            # Each step is larger, because too few of those before have a chunk that matches.
            depth = min(4 * start or _DEPTH, len(scores))
            least = self._numpy.partition(scores, -depth)[-depth]
            top = self._numpy.flatnonzero(scores >= least)
            order = top[self._numpy.argsort(-scores[top], kind="stable")]
            best, start = order[start:].tolist(), len(order)
            found: defaultdict[str, list[int]] = defaultdict(list)
            values = json.dumps([self._hashes[at] for at in best]), within, within
            for text, number in connection.execute(_CHUNKS, values).fetchall():
                found[text].append(number)
            for at in best:
                yield from ((number, float(scores[at])) for number in found[self._hashes[at]])


def fused(rankings: Sequence[Iterable[Candidate]]) -> list[Candidate]:
    """Return the best chunks of all rankings, merged by reciprocal rank fusion, best first."""
    scores: defaultdict[tuple[str | None, int], float] = defaultdict(float)
    candidates: dict[tuple[str | None, int], Candidate] = {}
    for ranking in rankings:
        for rank, candidate in enumerate(islice(ranking, _DEPTH), 1):
            scores[candidate.place] += 1 / (_RANK_OFFSET + rank)
            candidates.setdefault(candidate.place, candidate)
    joined = [replace(each, score=scores[place]) for place, each in candidates.items()]
    return sorted(joined, key=lambda each: -each.score)
