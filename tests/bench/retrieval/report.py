"""The written results of one half of the questions: tables as Markdown, and a plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.bench.plot import dots
from tests.bench.tables import Table, as_markdown

__all__ = ("write_retrieval",)

_LIMITS = """\
## What this does not show

- The questions were written by those who write chunkast, most about one block that was drawn by
  lot from each document. They are short, in English, and each has one excerpt: a document that
  says the same elsewhere counts for nothing.
- The documents are software documentation; a small collection is easier to search than a large one.
- The dense model is a small one. A chunk beyond its 256 tokens is the mean of windows, which
  blurs long chunks.
- A table of one size moves by about 0.01 with the budgets; see the intervals, which are of the
  questions alone.
"""


def write_retrieval(folder: Path, half: str, about: str, tables: Sequence[Table]) -> None:
    """``RETRIEVAL-<half>.md`` with its plot, ``retrieval-<half>.svg``."""
    recall = [table for table in tables if "recall" in dict(table.columns)]
    points: dict[str, list[float]] = {}
    for table in recall:
        place = [name for name, _ in table.columns].index("recall")
        for row in table.rows:
            points.setdefault(str(row[0]), []).append(float(row[place] or 0))
    sizes = [table.title.rpartition("around ")[2] for table in recall]
    command = f"python -m tests.bench retrieval --half={half} --results=tests/bench"
    text = "\n".join(
        (
            f"# Retrieval: the {half} half\n",
            f"Written by `{command}`, not by hand.\n",
            f"{about}\n",
            f"![Recall by chunker and size](retrieval-{half}.svg)\n",
            *map(as_markdown, tables),
            _LIMITS,
        )
    )
    (folder / f"RETRIEVAL-{half}.md").write_text(text, "utf-8")
    picture = dots(points, sizes, f"Recall, {half} half")
    (folder / f"retrieval-{half}.svg").write_text(picture, "utf-8")
