"""The interface between a sync and a vector store, and the format of rows."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol

from chunkast.errors import ConfigError, MissingPackageError, StoreError
from chunkast.model import Chunk
from chunkast.text.source_map import without_surrogates

__all__ = (
    "COLUMNS",
    "RECORD",
    "Record",
    "Row",
    "Target",
    "Vector",
    "check_own",
    "clean",
    "flat",
    "imported",
    "module_of",
    "row_of",
)

# The values of a row by name, without the absent ones; see ``row_of``.
Row = Mapping[str, Any]
Vector = Sequence[float]


@dataclass(frozen=True, slots=True)
class Record:
    """The values of a stored row that decide whether it is up to date.

    ``id`` is the row's ``chunk_id``; the other fields have the same names in the row.
    """

    id: str
    document: str
    embed_hash: str
    state_hash: str
    model: str
    anchor: str = ""

    @classmethod
    def of(cls, row: Row) -> Record:
        """Return the record of a row, ignoring the row's other values."""
        return cls(row["chunk_id"], *(row.get(name) or "" for name in RECORD[1:]))


# The names of the values in a row that a record needs.
RECORD: Final = ("chunk_id", "document", "embed_hash", "state_hash", "model", "anchor")


class Target(Protocol):
    """The vector-store interface that :func:`chunkast.stores.sync` uses.

    Each row has a unique ``chunk_id``, the other fields of ``Row``, and a vector. Methods never
    return, change or delete the rows of other programs. When a method returns, its changes are
    durable; if the process is killed earlier, each row is either unchanged or complete. If a method
    raises a ``ConfigError``, the sync re-raises it; any other exception becomes a ``SyncError``.
    """

    name: str
    """The name of the store in messages."""

    def start(self) -> int | None:
        """Begin a sync, and return the size of the stored vectors, or None if no store exists.

        Changes nothing. Raises ``StoreError`` if the store belongs to another program.
        """

    def records(self, documents: Sequence[str] | None) -> Iterable[Record]:
        """Return the records of these documents, or of all documents if ``documents`` is None."""

    def vectors(self, embed_hashes: Sequence[str], model: str) -> Mapping[str, Vector]:
        """Return a stored vector of ``model`` for each hash, if there is one.

        ``embed_hashes`` has at most 1,000 hashes.
        """

    def write(self, rows: Sequence[Row], vectors: Sequence[Vector]) -> None:
        """Write rows with their vectors, in order; replace rows with the same ``chunk_id``.

        Creates the store if it does not exist.
        """

    def update(self, rows: Sequence[Row]) -> None:
        """Replace all values of stored rows but their vectors."""

    def delete(self, ids: Sequence[str]) -> None:
        """Delete the rows whose ``chunk_id`` is in ``ids``, which has at most 1,000 items."""

    def finish(self) -> None:
        """Finish a sync, for example by building an index. Not called for a dry run."""


def row_of(chunk: Chunk, document: str, model: str) -> dict[str, Any]:
    """Return the row of a chunk: the values, except empty ones, to store with its vector."""
    values = {
        **{name: getattr(chunk, name, None) for name in COLUMNS},
        "chunk_id": chunk.id,
        "section": " > ".join(chunk.headings),
        **dict(zip(("first_page", "last_page"), chunk.pages or (), strict=False)),
    }
    present = {key: each for key, each in clean(values).items() if each not in (None, "", [], {})}
    return {"document": document, **present, "model": model}


# The values that a row may have, and their types. The lists are lists of strings.
COLUMNS: Final[Mapping[str, type]] = {
    **dict.fromkeys((*RECORD, "text", "source", "section", "content_hash"), str),
    **dict.fromkeys(("start_line", "end_line", "first_page", "last_page"), int),
    **dict.fromkeys(("headings", "kinds"), list),
    "metadata": dict,
}


def flat(row: Row) -> dict[str, Any]:
    """Return a value for each column: None for absent values, and ``metadata`` as JSON."""
    metadata = row.get("metadata")
    return {**dict.fromkeys(COLUMNS), **row, "metadata": metadata and json.dumps(metadata)}


def check_own(store: str, found: Container[str]) -> None:
    """Raise ``StoreError`` if a column of chunkast's rows is not in ``found``."""
    missing = ", ".join(name for name in COLUMNS if name not in found)
    if missing:
        raise StoreError(store, f"belongs to another program: it has no column {missing}")


def clean(value: Any) -> Any:
    """Return JSON data with U+FFFD for NUL and lone surrogates, which stores refuse."""
    if isinstance(value, str):
        return without_surrogates(value).replace("\0", "\ufffd")
    if isinstance(value, Mapping):
        return {clean(key): clean(item) for key, item in value.items()}
    return [clean(item) for item in value] if isinstance(value, (list, tuple)) else value


def imported(module: str, extra: str) -> Any:
    """Return a module; raise ``MissingPackageError`` if its package is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingPackageError(module.partition(".")[0].replace("_", "-"), extra) from error


def module_of(client: Any, field: str, kind: str, extra: str) -> Any:
    """Return the module of the class ``kind``, such as "psycopg.Connection".

    Raises ``ConfigError`` if ``client`` is not of that class, and ``MissingPackageError`` if the
    package is not installed.
    """
    module, _, name = kind.rpartition(".")
    found = imported(module, extra)
    if not isinstance(client, getattr(found, name)):
        raise ConfigError(field, client, f"must be a {name}, which is not async")
    return found
