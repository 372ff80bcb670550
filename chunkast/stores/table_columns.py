"""The columns of stores that have tables."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Final

from chunkast.errors import StoreError
from chunkast.stores.target import RECORD

__all__ = ("COLUMNS", "check_columns")

# The values that a row may have, and their types. The lists are lists of strings.
COLUMNS: Final[Mapping[str, type]] = {
    **dict.fromkeys((*RECORD, "text", "source", "section", "content_hash"), str),
    **dict.fromkeys(("start_line", "end_line", "first_page", "last_page"), int),
    **dict.fromkeys(("headings", "kinds"), list),
    "metadata": dict,
}


def check_columns(store: str, found: Container[str]) -> None:
    """Raise ``StoreError`` if a table does not have all columns."""
    missing = ", ".join(name for name in COLUMNS if name not in found)
    if missing:
        raise StoreError(store, f"belongs to another program: it has no column {missing}")
