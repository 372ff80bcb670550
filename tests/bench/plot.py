"""The figures as a picture: speeds as bars, and speed against the size of a document as lines.

Colours and greys are of a middle lightness, so that they can be read on a light page and
on a dark one; there is no background.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import ceil, floor

__all__ = ("dots", "svg")

GREY = "#7a838d"
COLOURS = ("#2f81d6", "#d2693c", "#3d9a57", "#9a6fd0", "#c4589a", "#a3862a", "#2f9e9e")
WIDTH = 860
LABELS = 250  # the room for the names of the bars
ROW = 15
CHART = 240
STYLE = f"text {{ font: 12px system-ui, sans-serif; fill: {GREY} }} .h {{ font-size: 14px; font-weight: 600 }}"

Series = Mapping[str, Sequence[float | None]]


def svg(
    bars: Series, groups: Sequence[str], lines: Series, steps: Sequence[str], about: str
) -> str:
    """An SVG document.

    ``bars`` gives each contender's share of the floor (1 is as fast), one for each of
    ``groups``; ``lines`` its MB/s at each of ``steps``, the floor's first. What is ``None``
    is left out.
    """
    below, upper = _bars(bars, groups)
    height, lower = _lines(lines, steps, below + 40)
    return _document(height, about, [*upper, *lower])


def dots(points: Mapping[str, Sequence[float]], groups: Sequence[str], title: str) -> str:
    """An SVG document: a row for each name, and in it a dot for each of ``groups``."""
    values = [value for row in points.values() for value in row]
    low, high = floor(min(values) * 20) / 20, ceil(max(values) * 20) / 20
    left, top = LABELS + 200, 60
    scale = (WIDTH - left - 30) / max(high - low, 0.05)
    height = top + 22 * len(points) + 30
    parts = [_text(0, 18, title, "h")]
    for place, group in enumerate(groups):
        parts += _key(left + 110 * place, 38, COLOURS[place], group)
    for step in range(round((high - low) * 20) + 1):
        x = left + step / 20 * scale
        parts.append(f'<path d="M{x:.1f} {top - 12}V{height - 26}" stroke="{GREY}" opacity=".3"/>')
        parts.append(_text(x, height - 10, f"{low + step / 20:.2f}", anchor="middle"))
    for number, (name, row) in enumerate(points.items()):
        y = top + 22 * number
        parts.append(_text(left - 14, y + 4, name, anchor="end"))
        parts += [
            f'<circle cx="{left + (value - low) * scale:.1f}" cy="{y}" r="5" fill="{colour}"/>'
            for value, colour in zip(row, COLOURS, strict=False)
        ]
    return _document(height, title, parts)


def _document(height: int, about: str, parts: Sequence[str]) -> str:
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            f"<title>{escape(about)}</title>",
            f"<style>{STYLE}</style>",
            *parts,
            "</svg>\n",
        )
    )


def _bars(bars: Series, groups: Sequence[str]) -> tuple[int, list[str]]:
    """How far down the bars reach, and their elements."""
    parts = [_text(0, 18, "Share of the speed of encoding the text once with tiktoken", "h")]
    for place, group in enumerate(groups):
        parts += [*_key(LABELS + 110 * place, 38, COLOURS[place], group)]
    most = max((value for values in bars.values() for value in values if value), default=1.0)
    y = 54
    for name, values in bars.items():
        parts.append(_text(LABELS - 8, y + ROW * len(groups) // 2 + 4, name, anchor="end"))
        for place, value in enumerate(values):
            length = (value or 0) / most * (WIDTH - LABELS - 60)
            parts.append(
                f'<rect x="{LABELS}" y="{y}" width="{length:.1f}" height="{ROW - 3}" '
                f'fill="{COLOURS[place]}"/>'
            )
            shown = "-" if value is None else f"{value:.0%}"
            parts.append(_text(LABELS + length + 6, y + ROW - 5, shown))
            y += ROW
        y += 9
    return y, parts


def _lines(lines: Series, steps: Sequence[str], top: int) -> tuple[int, list[str]]:
    """The height of the whole, and the elements of the lines."""
    parts = [_text(0, top, "MB/s against the size of one document", "h")]
    left, right, head = 40, 560, top + 16
    values = [value for series in lines.values() for value in series if value]
    most = ceil(max(values, default=1.0))
    foot = head + CHART
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = foot - share * CHART
        parts.append(f'<path d="M{left} {y:.1f}H{right}" stroke="{GREY}" stroke-opacity=".3"/>')
        parts.append(_text(left - 6, y + 4, f"{share * most:g}", anchor="end"))
    xs = [
        left + 30 + place * (right - left - 60) / max(1, len(steps) - 1)
        for place in range(len(steps))
    ]
    parts += [_text(x, foot + 18, step, anchor="middle") for x, step in zip(xs, steps, strict=True)]
    for place, (name, series) in enumerate(lines.items()):
        colour = (GREY, *COLOURS)[place % (len(COLOURS) + 1)]
        points = [
            f"{x:.1f},{foot - value / most * CHART:.1f}"
            for x, value in zip(xs, series, strict=True)
            if value is not None
        ]
        parts.append(
            f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        parts += _key(right + 20, head + 12 + 20 * place, colour, name)
    return foot + 30, parts


def _key(x: float, y: float, colour: str, name: str) -> Iterator[str]:
    yield f'<rect x="{x:g}" y="{y - 9:g}" width="10" height="10" fill="{colour}"/>'
    yield _text(x + 16, y, name)


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{escape(text)}</text>'
