"""Tables of cases for parametrized tests, kept in ``fixtures/tables``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

__all__ = ("cases", "table")

FOLDER = Path(__file__).parents[1] / "fixtures" / "tables"


def table(file: str, group: str) -> list[dict[str, Any]]:
    """Return the rows of a group: a name each, and the values of a test's arguments."""
    rows: list[dict[str, Any]] = json.loads((FOLDER / f"{file}.json").read_text("utf-8"))[group]
    return rows


def cases(file: str, *groups: str) -> pytest.MarkDecorator:
    """Run a test once for each row of the groups."""
    rows = [row for group in groups for row in table(file, group)]
    fields = [field for field in rows[0] if field != "name"]
    values = [pytest.param(*(row[field] for field in fields), id=row["name"]) for row in rows]
    return pytest.mark.parametrize(fields, values)
