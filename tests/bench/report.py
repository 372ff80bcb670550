"""The written results: tables as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.bench.tables import Table, as_markdown

__all__ = ("write_results", "write_retrieval")

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


def write_results(folder: Path, about: str, tables: Sequence[Table]) -> None:
    """Write ``RESULTS.md`` with the tables of all benchmarks."""
    page = _page("Benchmark results", "--all", about, tables)
    (folder / "RESULTS.md").write_text(page, "utf-8")


def write_retrieval(folder: Path, half: str, about: str, tables: Sequence[Table]) -> None:
    """Write ``RETRIEVAL-<half>.md`` for one half of the questions."""
    arguments = f"retrieval --half={half} --results=tests/bench"
    page = _page(f"Retrieval: the {half} half", arguments, about, tables)
    (folder / f"RETRIEVAL-{half}.md").write_text(f"{page}\n{_LIMITS}", "utf-8")


def _page(title: str, arguments: str, about: str, tables: Sequence[Table]) -> str:
    return "\n".join(
        (
            f"# {title}\n",
            f"Written by `python -m tests.bench {arguments}`, not by hand.\n",
            f"{about}\n",
            *map(as_markdown, tables),
        )
    )
