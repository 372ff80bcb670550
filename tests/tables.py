"""Cases and documents that are kept in ``fixtures/``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

__all__ = ("FIXTURES", "Case", "cases", "document", "each_case", "table")

FIXTURES: Final = Path(__file__).parents[1] / "fixtures"
Case = dict[str, Any]


def document(name: str) -> str:
    """Return a document of ``fixtures/texts``."""
    return (FIXTURES / "texts" / name).read_bytes().decode()


def table(file: str, name: str) -> Any:
    """Return a table of ``fixtures/tables/FILE.json``."""
    return json.loads((FIXTURES / "tables" / f"{file}.json").read_bytes())[name]


def each_case(file: str, name: str) -> pytest.MarkDecorator:
    """Run a test with each ``case`` of a table in ``fixtures/tables/FILE.json``."""
    rows = table(file, name)
    return pytest.mark.parametrize("case", rows, ids=[row["name"] for row in rows])


def cases(file: str, *groups: str) -> pytest.MarkDecorator:
    """Run a test with each row of the groups in ``fixtures/tables/FILE.json``.

    A row has a name, and the arguments of the test.
    """
    rows = [(f"{group}: {row.pop('name')}", row) for group in groups for row in table(file, group)]
    fields = list(rows[0][1])
    values = [pytest.param(*(row[field] for field in fields), id=name) for name, row in rows]
    return pytest.mark.parametrize(fields, values)
