"""The target for Chroma. Requires the ``chroma`` extra: ``pip install 'chunkast[chroma]'``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final, Literal, get_args

from chunkast.errors import ConfigError, StoreError
from chunkast.stores.target import Record, Row, Vector, flat, module_of

__all__ = ("ChromaTarget",)

Distance = Literal["cosine", "l2", "ip"]
# Matches every row of chunkast: Chroma has no filter for a key that exists.
_OWN: Final = {"start_line": {"$gte": 0}}
# The maximum number of rows in a page: Chroma has a limit of 5,461.
_PAGE: Final = 5_000


class ChromaTarget:
    """A Chroma collection, created with its first row.

    client: a synchronous client, such as ``chromadb.PersistentClient("folder")``.
    name: the name of the collection.
    distance: the distance function of a new collection: "cosine", "l2" or "ip" (inner product).

    In Chroma, a row's id is ``chunk.id``, its document is the chunk's text, and its metadata has
    all other values, with ``metadata`` as JSON. Raises ``ConfigError`` for any other client
    (such as an ``AsyncHttpClient``) or distance, and ``MissingPackageError`` if chromadb is not
    installed.
    """

    def __init__(self, client: Any, name: str, *, distance: Distance = "cosine") -> None:
        module_of(client, "client", "chromadb.api.ClientAPI", "chroma")
        if distance not in get_args(Distance):
            raise ConfigError("distance", distance, "must be one of cosine, l2, ip")
        self.name = name
        self._client, self._distance = client, distance
        self._collection: Any = None

    def start(self) -> int | None:
        """Check the collection, and return the size of its vectors, or None if it has no rows."""
        from chromadb.errors import NotFoundError

        self._collection = None
        try:
            # With any other function, or the default one, Chroma would embed texts by itself.
            self._collection = self._client.get_collection(self.name, embedding_function=None)
        except NotFoundError:
            return None
        own = self._collection.get(where=_OWN, limit=1, include=["embeddings"])["embeddings"]
        if not len(own) and self._collection.count():
            raise StoreError(self.name, "belongs to another program: chunkast wrote none of it")
        return len(own[0]) if len(own) else None

    def records(self, documents: Sequence[str] | None) -> Iterable[Record]:
        """Return the records of these documents, or of all documents if ``documents`` is None."""
        pages = self._pages(None if documents is None else {"document": {"$in": [*documents]}})
        rows = (row for page in pages for row in page["metadatas"])
        return (Record.of(row) for row in rows if row and "embed_hash" in row)

    def vectors(self, embed_hashes: Sequence[str], model: str) -> Mapping[str, Vector]:
        """Return a stored vector of ``model`` for each hash, if there is one."""
        found: dict[str, Vector] = {}
        for page in self._pages({"embed_hash": {"$in": [*embed_hashes]}}, "embeddings"):
            pairs = zip(page["metadatas"], page["embeddings"], strict=True)
            found |= {row["embed_hash"]: each for row, each in pairs if row.get("model") == model}
        return found

    def write(self, rows: Sequence[Row], vectors: Sequence[Vector]) -> None:
        """Insert or replace rows; create the collection if it is missing."""
        if self._collection is None:
            made = {"hnsw": {"space": self._distance}}
            self._collection = self._client.create_collection(
                self.name, configuration=made, embedding_function=None
            )
        # Chroma keeps an old value unless it is replaced, if only by None.
        values = [flat(row) for row in rows]
        texts = [row.pop("text") for row in values]
        ids = [row["chunk_id"] for row in rows]
        self._collection.upsert(ids, embeddings=[*vectors], metadatas=values, documents=texts)

    def update(self, rows: Sequence[Row]) -> None:
        """Replace all values but the vectors, which are read and written again."""
        ids = [row["chunk_id"] for row in rows]
        found = self._collection.get(ids, include=["embeddings"])
        vectors = dict(zip(found["ids"], found["embeddings"], strict=True))
        self.write(rows, [vectors[each] for each in ids])

    def delete(self, ids: Sequence[str]) -> None:
        """Delete rows."""
        self._collection.delete([*ids])

    def finish(self) -> None:
        """Do nothing, because Chroma updates its index itself."""

    def _pages(self, where: Any, *values: str) -> Iterator[Any]:
        """Yield the metadata of rows, and other values, in pages."""
        for offset in count(0, _PAGE) if self._collection is not None else ():
            options = {"where": where, "limit": _PAGE, "include": ["metadatas", *values]}
            yield (page := self._collection.get(offset=offset, **options))
            if len(page["ids"]) < _PAGE:
                return
