"""The target for Qdrant. Requires the ``qdrant`` extra: ``pip install 'chunkast[qdrant]'``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from chunkast.errors import ConfigError, StoreError
from chunkast.stores.known_rows import KnownRows
from chunkast.stores.target import RECORD, Record, Row, Vector, module_of
from chunkast.text.hashes import chunk_uuid

__all__ = ("QdrantTarget",)

Distance = Literal["cosine", "dot", "euclid", "manhattan"]
# The values that rows are found by.
_INDEXED: Final = {"document", "embed_hash"}


class QdrantTarget:
    """A Qdrant collection, created with its first row.

    client: a ``QdrantClient``, for a server or embedded: ``QdrantClient(path="vectors")``.
    name: the name of the collection.
    vector: the name of the vector to use, if the collection's vectors have names.
    distance: the distance function of a new collection: "cosine", "dot", "euclid" or "manhattan".

    A point's id is ``chunk.uuid``, and its payload is the row. Raises ``ConfigError`` for any
    other client (such as an ``AsyncQdrantClient``) or distance, and ``MissingPackageError`` if
    qdrant-client is not installed.
    """

    def __init__(
        self, client: Any, name: str, *, vector: str | None = None, distance: Distance = "cosine"
    ) -> None:
        models = module_of(client, "client", "qdrant_client.QdrantClient", "qdrant").models
        distances = {each.value.lower(): each for each in models.Distance}
        if distance not in distances:
            raise ConfigError("distance", distance, f"must be one of {', '.join(distances)}")
        self.name = name
        self._client, self._models = client, models
        self._vector, self._distance = vector, distances[distance]
        options = client.init_options
        self._embedded = bool(options["path"]) or options["location"] == ":memory:"
        self._exists = self._indexed = False
        # All rows of an embedded collection, which has no indexes.
        self._known: KnownRows | None = None

    def start(self) -> int | None:
        """Check the collection, and return its vectors' size, or None if there is no collection."""
        self._exists = self._client.collection_exists(self.name)
        self._indexed = self._embedded
        count = self._client.count(self.name).count if self._exists else 0
        self._known = KnownRows(self._scroll(limit=count + 1)) if self._embedded else None
        if not self._exists:
            return None
        params = self._client.get_collection(self.name).config.params.vectors
        vectors = params if isinstance(params, dict) else {None: params}
        if self._vector not in vectors:
            raise StoreError(self.name, f"has no vector {self._vector!r}, only {[*vectors]}")
        if count and next(iter(self.records(None)), None) is None:
            raise StoreError(self.name, "belongs to another program: chunkast wrote none of it")
        return int(vectors[self._vector].size)

    def records(self, documents: Sequence[str] | None) -> Iterable[Record]:
        """Return the records of these documents, or of all documents if ``documents`` is None."""
        if self._known is not None:
            return self._known.records(documents)
        return self._scroll("document", documents)

    def vectors(self, embed_hashes: Sequence[str], model: str) -> Mapping[str, Vector]:
        """Return a stored vector of ``model`` for each hash, if there is one."""
        known = self._known or KnownRows(self._scroll("embed_hash", embed_hashes))
        ids = known.holders(embed_hashes, model)
        if not ids:
            return {}
        name = self._vector or ""
        uuids, names = list(map(chunk_uuid, ids)), [name] if name else True
        points = self._client.retrieve(self.name, uuids, ["embed_hash"], names)
        return {
            point.payload["embed_hash"]: vector[name] if isinstance(vector, dict) else vector
            for point in points
            if (vector := point.vector)
        }

    def write(self, rows: Sequence[Row], vectors: Sequence[Vector]) -> None:
        """Write points; create the collection and its indexes if they are missing."""
        self._create(len(vectors[0]))
        named = (vector if self._vector is None else {self._vector: vector} for vector in vectors)
        points = [
            self._models.PointStruct(id=chunk_uuid(row["chunk_id"]), vector=vector, payload=row)
            for row, vector in zip(rows, named, strict=True)
        ]
        self._client.upsert(self.name, points)
        if self._known is not None:
            self._known.put(*map(Record.of, rows))

    def update(self, rows: Sequence[Row]) -> None:
        """Replace the payloads of points, but not their vectors."""
        replace, payload = self._models.OverwritePayloadOperation, self._models.SetPayload
        changes = (payload(payload=row, points=[chunk_uuid(row["chunk_id"])]) for row in rows)
        self._client.batch_update_points(self.name, [replace(overwrite_payload=x) for x in changes])

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points."""
        self._client.delete(self.name, list(map(chunk_uuid, ids)))

    def finish(self) -> None:
        """Free the records in memory."""
        self._known = None

    def _scroll(
        self, key: str = "", values: Sequence[str] | None = None, limit: int = 1_000
    ) -> Iterator[Record]:
        """Yield the records of all rows, or of those whose value of ``key`` is in ``values``."""
        models, offset = self._models, None
        others = models.IsEmptyCondition(is_empty=models.PayloadField(key="embed_hash"))
        wanted = models.Filter(must_not=[others])
        if values is not None:
            match = models.MatchAny(any=list(values))
            wanted.must = [models.FieldCondition(key=key, match=match)]
        while self._exists:
            page, offset = self._client.scroll(self.name, wanted, limit, None, offset, [*RECORD])
            yield from (Record.of(point.payload) for point in page)
            if offset is None:
                return

    def _create(self, size: int) -> None:
        """Create the collection and its indexes if they are missing."""
        client, models = self._client, self._models
        if not self._exists:
            params = models.VectorParams(size=size, distance=self._distance)
            client.create_collection(
                self.name, params if self._vector is None else {self._vector: params}
            )
            self._exists = True
        if not self._indexed:
            for key in _INDEXED - client.get_collection(self.name).payload_schema.keys():
                client.create_payload_index(self.name, key, models.PayloadSchemaType.KEYWORD)
            self._indexed = True
