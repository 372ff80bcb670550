"""Results of a benchmark: tables of raw figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ("Cell", "Setting", "Table", "as_markdown")

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Setting:
    """Options for every benchmark.

    ``corpora`` are the texts of each language, ``half`` the half of the questions that retrieval
    uses, ``cache`` the folder for its downloads and vectors, ``documents`` the only texts for
    context.
    """

    corpora: Mapping[str, Sequence[str]]
    smoke: bool
    rounds: int
    budget: int
    encoding: str
    say: Callable[[str], object]
    half: str
    cache: Path
    documents: Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of raw figures; ``columns`` are pairs of a name and how ``format`` shows its cells.

    The first column names the row. ``key`` identifies the table; ``footnotes`` follow it as a
    list.
    """

    key: str
    title: str
    note: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Cell, ...], ...]
    footnotes: tuple[str, ...] = ()


def as_markdown(table: Table) -> str:
    """Return the table as Markdown, padded to be readable as plain text."""
    names = [name for name, _ in table.columns]
    shown = [
        [_shown(cell, spec) for cell, (_, spec) in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    widths = [
        max(3, *(len(line[place]) for line in [names, *shown])) for place in range(len(names))
    ]
    rules = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [_line(line, widths) for line in [names, rules, *shown]]
    if table.footnotes:
        lines += ["", *(f"- {line}" for line in table.footnotes)]
    return f"## {table.title}\n\n{table.note}\n\n" + "\n".join(lines) + "\n"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (
        cell.rjust(width) if place else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "| " + " | ".join([first, *rest]) + " |"


def _shown(cell: Cell, spec: str) -> str:
    return "-" if cell is None else format(cell, spec).replace("|", "\\|")
