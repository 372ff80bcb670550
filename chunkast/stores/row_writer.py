"""Write rows to a target with stored or new vectors, and count them."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeVar

from chunkast.errors import StoreError
from chunkast.index.embedding import Embed, embedded
from chunkast.stores.target import Row, Target, Vector

__all__ = ("Pending", "RowWriter", "SyncError", "SyncReport")

T = TypeVar("T")
# The maximum number of rows in one call of a target: a few megabytes with the largest vectors.
_PIECE: Final = 128


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The numbers of texts and rows that a sync has processed.

    Every chunk counts as written, updated or unchanged.

    embedded: the number of embedded texts.
    written: the number of rows written with a vector, which may be a stored vector.
    updated: the number of rows that kept their vector, and whose other values were replaced.
    deleted: the number of deleted rows.
    unchanged: the number of rows that were already up to date.
    """

    embedded: int = 0
    written: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0

    def __str__(self) -> str:
        """Return the counts as one line of text."""
        texts = "text" if self.embedded == 1 else "texts"
        chunks = "chunk" if self.written == 1 else "chunks"
        return (
            f"embedded {self.embedded:,} {texts}; wrote {self.written:,} {chunks}, "
            f"updated {self.updated:,}, deleted {self.deleted:,}; {self.unchanged:,} unchanged"
        )


class SyncError(StoreError):
    """Raised if a sync stops, because ``embed`` failed or the store refused a request.

    ``report`` is the :class:`SyncReport` up to that point. Run the sync again to continue.
    """

    def __init__(self, path: str, reason: str, report: SyncReport) -> None:
        super().__init__(path, reason)
        self.report = report


@dataclass(frozen=True, slots=True)
class Pending:
    """A row to write with the vector of ``text``; ``needs`` is the hash of that text."""

    row: Row
    text: str
    needs: str


@dataclass(slots=True)
class RowWriter:
    """Writes, updates and deletes rows, and counts them; a dry run only counts.

    known: the vectors, by hash, that are not read from the store: those of an index, and those of
        rows that will be overwritten. In a dry run, texts to embed have empty vectors here.
    size: the size of the stored vectors, or None if no vectors are stored.
    waiting: the rows whose texts are not embedded yet, by hash.
    """

    target: Target
    embed: Embed
    model: str
    batch_size: int
    dry_run: bool
    on_progress: Callable[[SyncReport], object] | None
    known: dict[str, Vector]
    counts: Counter[str] = field(default_factory=Counter)
    size: int | None = None
    waiting: dict[str, list[Pending]] = field(default_factory=dict)

    @property
    def report(self) -> SyncReport:
        """The report so far."""
        return SyncReport(**self.counts)

    def place(self, rows: Sequence[Pending]) -> None:
        """Write the rows that have a stored vector, in order; queue the texts of other rows.

        Queued texts are embedded as soon as they fill a batch.
        """
        for piece in _pieces(rows):
            found = self._find({row.needs for row in piece})
            for row in piece:
                if row.needs not in found:
                    self.waiting.setdefault(row.needs, []).append(row)
            self._write([row for row in piece if row.needs in found], found)
            while len(self.waiting) >= self.batch_size:
                self._embed_batch()

    def overwrite(self, rows: Sequence[Pending]) -> None:
        """Read all stored vectors that the rows need, then replace the rows."""
        for piece in _pieces(rows):
            found = self._find({row.needs for row in piece})
            self.known |= {text: array("f", vector) for text, vector in found.items()}
        self.place(rows)

    def finish(self) -> None:
        """Embed the queued texts, and write their rows."""
        while self.waiting:
            self._embed_batch()

    def update(self, rows: Sequence[Row]) -> None:
        """Replace all values of stored rows but their vectors."""
        self._run("updated", self.target.update, rows)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete rows."""
        self._run("deleted", self.target.delete, ids)

    def _find(self, hashes: Iterable[str]) -> dict[str, Vector]:
        found: dict[str, Vector] = {x: list(self.known[x]) for x in hashes if x in self.known}
        missing = sorted(set(hashes) - found.keys())
        return found | dict(self.target.vectors(missing, self.model)) if missing else found

    def _embed_batch(self) -> None:
        batch = {key: self.waiting.pop(key) for key in [*islice(self.waiting, self.batch_size)]}
        vectors: dict[str, Vector] = dict.fromkeys(batch, ())
        if self.dry_run:
            self.known |= vectors
        else:
            texts = [rows[0].text for rows in batch.values()]
            made = embedded(self.embed, texts, self.size, self.target.name)
            self.size = len(made[0])
            vectors = dict(zip(batch, made, strict=True))
        self.counts["embedded"] += len(batch)
        self._write([row for rows in batch.values() for row in rows], vectors)

    def _write(self, rows: Sequence[Pending], vectors: Mapping[str, Vector]) -> None:
        def write(piece: Sequence[Pending]) -> None:
            self.target.write([row.row for row in piece], [vectors[row.needs] for row in piece])

        self._run("written", write, rows)

    def _run(self, count: str, run: Callable[[Sequence[T]], object], items: Sequence[T]) -> None:
        """Call ``run`` with pieces of ``items``, unless this is a dry run, and count the items."""
        for piece in _pieces(items):
            if not self.dry_run:
                run(piece)
            self.counts[count] += len(piece)
            if self.on_progress is not None:
                self.on_progress(self.report)


def _pieces(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + _PIECE] for start in range(0, len(items), _PIECE))
