"""A progress bar on stderr, where there is somebody to see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ("progress_bar",)


@contextmanager
def progress_bar(total: int, *, wanted: bool) -> Iterator[Callable[[], None]]:
    """Show how many of ``total`` documents are done; the function counts one more.

    Nothing is shown for a single document, and where stderr is no terminal.
    """
    if not wanted or total < 2 or sys.stderr is None or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    # Lines printed on stderr meanwhile go above the bar; stdout is the data's.
    with Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
    ) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task)
