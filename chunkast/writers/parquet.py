"""Parquet: one row per chunk, typed, with the configuration in the file's metadata.

The columns are the fields of ``Chunk``; ``metadata`` is JSON. Parquet's strings are UTF-8,
so a lone surrogate is written as U+FFFD. Needs the extra ``chunkast[parquet]``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from chunkast import __version__
from chunkast.errors import ConfigError
from chunkast.model import Chunk
from chunkast.text.source_map import without_surrogates

if TYPE_CHECKING:
    from chunkast.chunker import Chunker

__all__ = ("arrow_columns", "arrow_schema", "write_parquet")

# Column -> name of its Arrow type; all but ``source`` are never null.
_TYPES: Final = {
    "id": "string",
    "index": "int32",
    "source": "string",
    "text": "string",
    "start_index": "int64",
    "end_index": "int64",
    "start_byte": "int64",
    "end_byte": "int64",
    "start_line": "int32",
    "end_line": "int32",
    "token_count": "int32",
    "overlap": "int32",
    "headings": "list",
    "kinds": "list",
    "content_hash": "string",
    "embed_text": "string",
    "embed_token_count": "int32",
    "embed_hash": "string",
    "oversize": "bool",
    "metadata": "string",
}
_ROW_GROUP: Final = 4_096


def write_parquet(chunks: Iterable[Chunk], out: BinaryIO, chunker: Chunker) -> None:
    """Write a file of Parquet; raises ``ConfigError`` where pyarrow is not installed."""
    pyarrow = _pyarrow()
    from pyarrow.parquet import ParquetWriter

    from chunkast.identity import config_values, fingerprint

    encoding = chunker.counter.name
    about = {
        "chunkast.version": __version__,
        "chunkast.config": json.dumps(config_values(chunker.config, encoding), sort_keys=True),
        "chunkast.fingerprint": fingerprint(chunker.config, encoding),
    }
    schema = arrow_schema().with_metadata(about)
    rest = iter(chunks)
    with ParquetWriter(out, schema, compression="zstd") as writer:
        while rows := list(islice(rest, _ROW_GROUP)):
            writer.write_table(pyarrow.table(arrow_columns(rows), schema=schema))


def arrow_schema() -> Any:
    """The Arrow schema of chunks."""
    pyarrow = _pyarrow()
    texts = pyarrow.list_(pyarrow.field("item", pyarrow.string(), nullable=False))
    return pyarrow.schema(
        pyarrow.field(
            name,
            texts if kind == "list" else pyarrow.type_for_alias(kind),
            nullable=name == "source",
        )
        for name, kind in _TYPES.items()
    )


def arrow_columns(chunks: Iterable[Chunk]) -> dict[str, list[Any]]:
    """The values of ``chunks``, column by column, as the schema wants them."""
    rows = [chunk.to_dict() for chunk in chunks]
    columns = {name: [_value(row[name]) for row in rows] for name in _TYPES}
    columns["metadata"] = [_json(row["metadata"]) for row in rows]
    return columns


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return without_surrogates(value)
    return [without_surrogates(item) for item in value] if isinstance(value, list) else value


def _json(value: Any) -> str:
    return without_surrogates(json.dumps(value, ensure_ascii=False, sort_keys=True))


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise ConfigError(
            "format", "parquet", "needs pyarrow: pip install 'chunkast[parquet]'"
        ) from None
    return pa
