"""Tables of cases for parametrized tests, kept in ``fixtures/tables``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

__all__ = ("cases",)

FOLDER = Path(__file__).parents[1] / "fixtures" / "tables"


def cases(file: str, *groups: str) -> pytest.MarkDecorator:
    """Run a test once for each row of the groups: a row has a name and the test's arguments."""
    tables = json.loads((FOLDER / f"{file}.json").read_text("utf-8"))
    rows = [(f"{group}: {row.pop('name')}", row) for group in groups for row in tables[group]]
    fields = list(rows[0][1])
    values = [pytest.param(*(row[field] for field in fields), id=name) for name, row in rows]
    return pytest.mark.parametrize(fields, values)
