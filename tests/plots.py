"""Bar charts for docs/benchmarks.md: each image is drawn from the table below it.

The alternative text of an image names the column to draw.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

__all__ = ("charts",)

_CHART = re.compile(
    r"!\[(?P<column>[^\]]+)\]\((?P<path>images/[\w-]+\.svg)\)\n\n(?P<table>(?:\|.*\n)+)"
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_ROW, _LABEL, _WIDTH, _VALUE = 26, 230, 640, 60
_STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #24292f }
rect { fill: #9aa5b1 } .own rect { fill: #2463b0 } .own text { font-weight: bold }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } rect { fill: #6e7681 } .own rect { fill: #7aaeff }
}"""


def charts(page: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the SVG of every chart in a page."""
    for found in _CHART.finditer(page):
        head, _, *rows = [
            [cell.strip() for cell in line.strip("|\n").split("|")]
            for line in found["table"].splitlines()
        ]
        column = head.index(found["column"])
        yield found["path"], _drawn(found["column"], [(row[0], row[column]) for row in rows])


def _drawn(title: str, rows: list[tuple[str, str]]) -> str:
    values = [float(number[0]) if (number := _NUMBER.search(cell)) else 0.0 for _, cell in rows]
    room = _WIDTH - _LABEL - _VALUE
    height = _ROW * (len(rows) + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<text x="{_LABEL}" y="17">{escape(title)}</text>',
    ]
    for place, ((name, cell), value) in enumerate(zip(rows, values, strict=True), 1):
        top = place * _ROW
        own = ' class="own"' if name.startswith("**") else ""
        width = round(room * value / max(*values, 1e-9), 1)
        parts += [
            f"<g{own}>",
            f'<text x="{_LABEL - 8}" y="{top + 17}" text-anchor="end">{escape(name.strip("*"))}</text>',
            f'<rect x="{_LABEL}" y="{top + 4}" width="{width}" height="{_ROW - 8}"/>',
            f'<text x="{_LABEL + width + 6:.1f}" y="{top + 17}">{escape(cell.strip("*"))}</text>',
            "</g>",
        ]
    return "\n".join([*parts, "</svg>\n"])
