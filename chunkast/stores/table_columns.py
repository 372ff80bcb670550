"""The columns of stores that have tables."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from typing import Any, Final

from chunkast.errors import StoreError
from chunkast.stores.target import RECORD, Row

__all__ = ("COLUMNS", "check_columns", "flat")

# The values that a row may have, and their types. The lists are lists of strings.
COLUMNS: Final[Mapping[str, type]] = {
    **dict.fromkeys((*RECORD, "text", "source", "section", "content_hash"), str),
    **dict.fromkeys(("start_line", "end_line", "first_page", "last_page"), int),
    **dict.fromkeys(("headings", "kinds"), list),
    "metadata": dict,
}


def flat(row: Row) -> dict[str, Any]:
    """Return all values of a row: None for those that are absent, and ``metadata`` as JSON."""
    metadata = row.get("metadata")
    return {**dict.fromkeys(COLUMNS), **row, "metadata": metadata and json.dumps(metadata)}


def check_columns(store: str, found: Container[str]) -> None:
    """Raise ``StoreError`` if a table does not have all columns."""
    missing = ", ".join(name for name in COLUMNS if name not in found)
    if missing:
        raise StoreError(store, f"belongs to another program: it has no column {missing}")
