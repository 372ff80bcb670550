"""An in-memory index of a store's rows, for stores that cannot look them up quickly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from chunkast.stores.target import Record

__all__ = ("KnownRows",)


class KnownRows:
    """The records of a store, indexed by id, by document, and by hash and model."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._records: dict[str, Record] = {}
        # Ids are the keys of a dictionary, so that they have an order.
        self._found: defaultdict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
        self.put(*records)

    def __contains__(self, id_: str) -> bool:
        """Return whether there is a record with this id."""
        return id_ in self._records

    def put(self, *records: Record) -> None:
        """Add records, or replace those with the same id."""
        for record in records:
            before = self._records.get(record.id)
            if before is not None:
                for key in _keys(before):
                    del self._found[key][record.id]
            self._records[record.id] = record
            for key in _keys(record):
                self._found[key][record.id] = None

    def records(self, documents: Sequence[str] | None) -> list[Record]:
        """Return the records of these documents, or all records if ``documents`` is None."""
        if documents is None:
            return list(self._records.values())
        return [self._records[id_] for name in documents for id_ in self._found.get((name,), ())]

    def holders(self, embed_hashes: Iterable[str], model: str) -> list[str]:
        """Return the id of one row of ``model`` for each hash; omit hashes without one."""
        found = (self._found.get((embed_hash, model)) for embed_hash in embed_hashes)
        return [next(iter(ids)) for ids in found if ids]


def _keys(record: Record) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (record.document,), (record.embed_hash, record.model)
