"""The schema of Parquet files and Arrow batches, with a column for each field of ``Chunk``.

``metadata`` is stored as JSON. Arrow strings are UTF-8, so lone surrogates become U+FFFD. Only
:func:`arrow_schema` requires pyarrow.
"""

from __future__ import annotations

import json
from typing import Any, Final

from chunkast.model import Chunk
from chunkast.text.source_map import without_surrogates

__all__ = ("COLUMNS", "arrow_schema", "chunk_row")

# Column -> name of its Arrow type: "list" is a list of strings, "lists" a list of lists of strings,
# "pages" a list of two numbers, "positions" a list of character indices.
COLUMNS: Final = {
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
    "pages": "pages",
    "sections": "lists",
    "section_starts": "positions",
    "section_anchors": "list",
}
_NULLABLE: Final = frozenset({"source", "pages", "sections", "section_starts", "section_anchors"})


def arrow_schema() -> Any:
    """Return the Arrow schema of chunks. Requires pyarrow."""
    import pyarrow as pa

    def list_of(item: Any) -> Any:
        return pa.list_(pa.field("item", item, nullable=False))

    types = {
        "list": list_of(pa.string()),
        "lists": list_of(list_of(pa.string())),
        "pages": list_of(pa.int32()),
        "positions": list_of(pa.int64()),
    }
    return pa.schema(
        pa.field(name, types.get(kind) or pa.type_for_alias(kind), nullable=name in _NULLABLE)
        for name, kind in COLUMNS.items()
    )


def chunk_row(chunk: Chunk) -> dict[str, Any]:
    """Return the values of ``chunk`` by column name, with the types that the schema requires."""
    values = chunk.to_dict()
    values["metadata"] = json.dumps(values["metadata"], ensure_ascii=False, sort_keys=True)
    return {name: _value(values[name]) for name in COLUMNS}


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return without_surrogates(value)
    return [_value(item) for item in value] if isinstance(value, list) else value
