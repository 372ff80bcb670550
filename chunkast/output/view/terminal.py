"""Show a document in a terminal, with a bar beside each line in the colour of the line's chunk.

The output is readable without colours: ``▌`` marks the text of a chunk, ``▒`` text that the next
chunk repeats, ``╭│╰`` protected regions, and ``✂`` the chosen break point.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from chunkast.model import BreakPoint, Chunk
from chunkast.output.text import section_names
from chunkast.output.view.budgets import BudgetView, View
from chunkast.output.view.visible import shorten, visible
from chunkast.text.pages import pages_note
from chunkast.text.source_map import line_starts

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ("render_terminal",)

# Colours of the terminal's own palette, which its theme makes readable.
_COLOURS: Final = ("blue", "yellow", "green", "magenta", "cyan", "red")
# Widths in columns: of line numbers, and of break points in wide and narrow terminals.
_LINE_WIDTH: Final = 6
_POINT_WIDTH: Final = 20
_NARROW_POINT_WIDTH: Final = 6
# A terminal with fewer columns is narrow.
_NARROW: Final = 80
_MAX_FRAMES: Final = 4
_BARS: Final = " ▁▂▃▄▅▆▇█"
_BINS: Final = 10


def render_terminal(view: View, console: Console) -> Iterator[str]:
    """Yield the document with its chunks at the configured budget, then a table of all budgets.

    The text is yielded in parts, with control sequences for the colours that ``console`` supports.
    """
    page = _Page(view, console)
    for number in range(len(page.chunks)):
        with console.capture() as captured:
            page.print_chunk(number)
        yield captured.get()
    with console.capture() as captured:
        page.print_summary()
    yield captured.get()


class _Page:
    """Prints the chunks of a document one by one."""

    def __init__(self, view: View, console: Console) -> None:
        self.view = view
        self.console = console
        self.text = visible(view.analysis.text)
        self.line_starts = line_starts(view.analysis.text)
        self.budget = view.budgets[view.shown]
        self.chunks = self.budget.chunks
        self.points = view.analysis.break_points
        self.positions = [point.pos for point in self.points]
        self.point_width = _NARROW_POINT_WIDTH if console.width < _NARROW else _POINT_WIDTH
        self.heading_starts = {heading.start for heading in view.analysis.headings}
        # Regions extended to whole lines, and the number of those that printed chunks have reached.
        self.regions = [
            (region.start, self.line_starts[bisect_left(self.line_starts, region.end)], region.kind)
            for region in view.analysis.regions
        ]
        self.reached: list[tuple[int, int, str]] = []
        self.passed = 0
        self.edges = sorted(
            {*self.positions, *(edge for start, end, _ in self.regions for edge in (start, end))}
        )

    def print_chunk(self, number: int) -> None:
        chunk = self.chunks[number]
        colour = _COLOURS[number % len(_COLOURS)]
        own, end = chunk.start_index + chunk.overlap, chunk.end_index
        following = self.chunks[number + 1] if number + 1 < len(self.chunks) else None
        repeated = following.start_index if following and following.overlap else end
        self.print_head(chunk, colour)
        first, last = bisect_right(self.edges, own), bisect_left(self.edges, end)
        inner = {*self.edges[first:last], *self.line_starts[self.lines(own) : self.lines(end)]}
        starts = sorted({own, *inner, *([repeated] if own < repeated < end else [])})
        starts = [start for start in starts if start < end]
        frames = self.frames(own, end)
        for start, stop in zip(starts, [*starts[1:], end], strict=True):
            marks = self.head_marks(number) if start == own else self.marks(start, start)
            bar = "▒" if start >= repeated else "▌"
            self.print_row(start, stop, marks, (bar, colour), frames)

    def lines(self, pos: int) -> int:
        """Return the number of lines that begin at or before ``pos``."""
        return bisect_right(self.line_starts, pos)

    def print_head(self, chunk: Chunk, colour: str) -> None:
        from rich.text import Text

        tokens = f"{chunk.token_count:,}/{self.budget.max_tokens:,} tokens"
        place = f"lines {chunk.start_line:,}-{chunk.end_line:,}{pages_note(chunk.pages)}"
        parts = [f"{chunk.index + 1:,}", tokens, place]
        if chunk.overlap:
            parts.append(f"{chunk.overlap:,} characters of overlap")
        if chunk.oversize:
            parts.append("OVERSIZE")
        if chunk.sections:
            shown = [[shorten(title, 60) for title in path] for path in chunk.sections]
            parts.append(visible(section_names(shown, " › ")))
        head = Text("━━ " + " · ".join(parts) + " ", style=f"bold {colour}", no_wrap=True)
        head.truncate(self.console.width, overflow="ellipsis")
        head.append("━" * max(self.console.width - head.cell_len, 0))
        self.console.print(head)

    def head_marks(self, number: int) -> list[tuple[str, bool]]:
        """Return the label of each break point before a chunk, and true if the point was chosen."""
        if not number:
            return self.marks(0, self.chunks[0].start_index)
        cut, before = self.budget.cuts[number - 1], self.chunks[number - 1]
        if cut.point is None:
            return [(visible(cut.kind), True)]
        return self.marks(before.end_index, cut.pos, cut.point)

    def marks(self, first: int, last: int, won: BreakPoint | None = None) -> list[tuple[str, bool]]:
        """Return the labels of the break points from ``first`` to ``last``, inclusive.

        Each label is paired with true if its point is ``won``, the chosen break point.
        """
        found = self.points[bisect_left(self.positions, first) : bisect_right(self.positions, last)]
        return [(self.label(point), point is won) for point in found]

    def label(self, point: BreakPoint) -> str:
        score = f"{point.score:g}"
        kind = shorten(visible(point.kind), self.point_width - len(score) - 4)
        return score if self.point_width == _NARROW_POINT_WIDTH else f"{kind} {score}"

    def frames(self, own: int, end: int) -> list[tuple[int, int, str]]:
        """Return the parts of protected regions in ``[own, end)``.

        This method must be called for the chunks in order.
        """
        while self.passed < len(self.regions) and self.regions[self.passed][0] < end:
            self.reached.append(self.regions[self.passed])
            self.passed += 1
        self.reached = [region for region in self.reached if region[1] > own]
        return [(max(start, own), min(stop, end), kind) for start, stop, kind in self.reached]

    def print_row(
        self,
        start: int,
        stop: int,
        marks: Sequence[tuple[str, bool]],
        bar: tuple[str, str],
        frames: Sequence[tuple[int, int, str]],
    ) -> None:
        """Print a line of the document, wrapped, with its break points, number, bar and frames."""
        from rich.text import Text

        console = self.console
        begins = start == self.line_starts[self.lines(start) - 1]
        line = f"{self.lines(start):,}" if begins else "↳"
        around = [frame for frame in frames if frame[0] <= start < frame[1]][:_MAX_FRAMES]
        sign, colour = bar
        style = "dim" if sign == "▒" else ""
        if start in self.heading_starts:
            style = "bold"
        content = Text(self.text[start:stop].rstrip("\r\n"), style=style, tab_size=4)
        content.expand_tabs()
        room = max(
            console.width - _LINE_WIDTH - self.point_width - 3 - len(around) - bool(around), 10
        )
        wrapped = list(content.wrap(console, room)) or [content]
        margins = [*marks[: len(wrapped)], *[("", False)] * (len(wrapped) - len(marks))]
        for number, (part, (label, won)) in enumerate(zip(wrapped, margins, strict=True)):
            row = Text(no_wrap=True, end="\n")
            row.append(self.margin(label, won=won), style=f"bold {colour}" if won else "dim")
            row.append(f"{line if number == 0 else '':>{_LINE_WIDTH}} ", style="dim")
            row.append(f"{sign} ", style=colour)
            for first, last, _ in around:
                opens = first == start and number == 0
                closes = last == stop and number == len(wrapped) - 1
                row.append("─" if opens and closes else "╭" if opens else "╰" if closes else "│")
            row.append(" " if around else "")
            row.append_text(part)
            console.print(row, soft_wrap=True)

    def margin(self, label: str, *, won: bool) -> str:
        text = f"✂ {label}" if won else label
        return f"{shorten(text, self.point_width):>{self.point_width}}"

    def print_summary(self) -> None:
        from rich.table import Table

        # Points after the last chunk, such as one after the last block.
        for label, _ in self.marks(self.chunks[-1].end_index if self.chunks else 0, len(self.text)):
            self.console.print(f"{self.margin(label, won=False)}   end", style="dim")
        table = Table(box=None, pad_edge=False, header_style="dim")
        for title in ("", "tokens", "chunks", "smallest", "median", "largest", "full"):
            table.add_column(title, justify="right")
        table.add_column(f"sizes, each a 1/{_BINS} of the budget", justify="left")
        for budget in self.view.budgets:
            shown = budget is self.budget
            table.add_row("▸" if shown else "", *_figures(budget), style="bold" if shown else "")
        self.console.print()
        self.console.print(table)


def _figures(budget: BudgetView) -> list[str]:
    sizes = sorted(chunk.token_count for chunk in budget.chunks)
    if not sizes:
        return [f"{budget.max_tokens:,}", "0", "", "", "", "", ""]
    middle = (sizes[(len(sizes) - 1) // 2] + sizes[len(sizes) // 2]) / 2
    full = sum(sizes) / len(sizes) / budget.max_tokens
    figures = (budget.max_tokens, len(sizes), sizes[0], middle, sizes[-1])
    return [*(f"{figure:,.10g}" for figure in figures), f"{full:.0%}", _sparkline(sizes, budget)]


def _sparkline(sizes: Sequence[int], budget: BudgetView) -> str:
    counts: dict[int, int] = defaultdict(int)
    for size in sizes:
        counts[min((size - 1) * _BINS // budget.max_tokens, _BINS)] += 1
    most = max(counts.values())
    # Rounded up, so that every count above 0 is visible.
    heights = (-(-counts[slot] * (len(_BARS) - 1) // most) for slot in range(_BINS))
    line = "".join(_BARS[height] for height in heights)
    return f"▕{line}▏" + (f" {counts[_BINS]:,} above" if counts[_BINS] else "")
