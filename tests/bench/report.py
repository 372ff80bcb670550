"""The written results: figures as JSON, tables as Markdown, and a plot."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.bench.contenders import FLOOR, own_name
from tests.bench.plot import svg
from tests.bench.tables import Cell, Table, as_json, as_markdown

__all__ = ("write_json", "write_results")

# The configurations of chunkast that are drawn; the table has the others.
DRAWN = {
    own_name("sections", 0.15, "headings"): "chunkast (defaults)",
    own_name("fill", 0.0, "none"): "chunkast (fill, no overlap, no context)",
}


def write_json(path: Path, about: str, tables: Iterable[Table]) -> None:
    """Every figure, unrounded."""
    found = {"about": about, "tables": {table.key: as_json(table) for table in tables}}
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")


def write_results(folder: Path, about: str, tables: Sequence[Table]) -> None:
    """``results.json``, ``RESULTS.md`` and ``results.svg``, for all benches' tables."""
    write_json(folder / "results.json", about, tables)
    text = "\n".join(
        (
            "# Benchmark results\n",
            "Written by `python -m tests.bench --all`, not by hand.\n",
            f"{about}\n",
            "![Throughput by contender, and against the size of a document](results.svg)\n",
            *(as_markdown(table) for table in tables),
        )
    )
    (folder / "RESULTS.md").write_text(text, "utf-8")
    (folder / "results.svg").write_text(_plot(about, tables), "utf-8")


def _plot(about: str, tables: Sequence[Table]) -> str:
    speeds = [table for table in tables if table.key.startswith("throughput, ")]
    sizes = next(table for table in tables if table.key == "scaling, size")
    bars: dict[str, list[float | None]] = {}
    for table in speeds:
        place = [name for name, _ in table.columns].index("of floor")
        for row in table.rows:
            if (name := _drawn(row[0])) and row[0] != FLOOR:
                bars.setdefault(name, []).append(_number(row[place]))
    return svg(
        bars,
        [table.key.partition(", ")[2] for table in speeds],
        {
            name: [_number(cell) for cell in row[1:]]
            for row in sizes.rows
            if (name := _drawn(row[0]))
        },
        [name for name, _ in sizes.columns[1:]],
        about,
    )


def _drawn(name: Cell) -> str | None:
    """How a contender is called in the plot; nothing for one that is not drawn."""
    if name in DRAWN:
        return DRAWN[str(name)]
    return None if str(name).startswith("chunkast ") else str(name).partition(", ")[0]


def _number(cell: Cell) -> float | None:
    return None if cell is None else float(cell)
