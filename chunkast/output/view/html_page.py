"""Build the HTML report: a self-contained page that never executes any part of a document.

The document is embedded as JSON that cannot close its script element, and is shown as text. The
page's content security policy forbids network access, and allows only the page's own style sheet
and script, identified by their hashes.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Hashable, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Any, Final

from chunkast import __version__
from chunkast.model import Chunk
from chunkast.output.view.budgets import BudgetView, View
from chunkast.output.view.visible import replacements, shorten, visible

__all__ = ("page_of", "render_html", "report_data", "resource", "source_hash")

_MAX_TITLE: Final = 200
# Characters that could end a script element, and line ends in old versions of JavaScript.
_ESCAPED: Final = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
_POLICY: Final = (
    "default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


def render_html(view: View) -> str:
    """Return the HTML page for ``view``. It can always be encoded as UTF-8."""
    return page_of([report_data(view)])


def page_of(documents: Sequence[Mapping[str, Any]]) -> str:
    """Return one HTML page for ``documents``, a list of results of :func:`report_data`."""
    style, script = resource("page.css"), resource("page.js")
    only = documents[0] if len(documents) == 1 else documents
    data = json.dumps(only, ensure_ascii=False, separators=(",", ":"))
    name = documents[0]["name"] if len(documents) == 1 else f"{len(documents):,} documents"
    return Template(resource("page.html")).substitute(
        version=__version__,
        title=escape(name or "Chunks"),
        policy=_POLICY.format(style=source_hash(style), script=source_hash(script)),
        style=style,
        script=script,
        data=data.translate(_ESCAPED),
    )


def report_data(view: View) -> dict[str, Any]:
    """Return a document's data for the page. Positions are character indices."""
    analysis = view.analysis
    kinds, paths, contexts = _Table(), _Table(), _Table()
    return {
        "name": _shown(view.name),
        "text": visible(analysis.text),
        "characters": len(analysis.text),
        "tokens": view.token_count,
        "options": _options(view),
        "notes": [_shown(note) for note in analysis.notes],
        "replaced": replacements(analysis.text),
        "points": [
            [point.pos, point.score, kinds.slot(point.kind)] for point in analysis.break_points
        ],
        "regions": [
            [region.start, region.end, kinds.slot(region.kind)] for region in analysis.regions
        ],
        "headings": [[heading.start, heading.level] for heading in analysis.headings],
        "shown": view.shown,
        "budgets": [_budget(budget, kinds, paths, contexts) for budget in view.budgets],
        # The tables that the numbers above refer to; complete only now.
        "kinds": [_shown(kind) for kind in kinds],
        "paths": [[_shown(title) for title in path] for path in paths],
        "contexts": [visible(context) for context in contexts],
    }


class _Table(dict[Any, int]):
    """Distinct values, numbered in the order of first appearance."""

    def slot(self, value: Hashable) -> int:
        return self.setdefault(value, len(self))


def _budget(budget: BudgetView, kinds: _Table, paths: _Table, contexts: _Table) -> dict[str, Any]:
    return {
        "max": budget.max_tokens,
        "chunks": [
            [*_chunk(chunk, kinds, paths), _embedded(chunk, contexts)] for chunk in budget.chunks
        ],
        # For each chunk except the first: the position of the chosen point, and its kind.
        "cuts": [
            [cut.point.pos if cut.point else None, kinds.slot(cut.kind)] for cut in budget.cuts
        ],
    }


def _chunk(chunk: Chunk, kinds: _Table, paths: _Table) -> list[Any]:
    # The page's script expects the fields in this order.
    return [
        chunk.start_index,
        chunk.start_index + chunk.overlap,
        chunk.end_index,
        chunk.start_line,
        chunk.end_line,
        chunk.token_count,
        chunk.embed_token_count,
        [paths.slot(path) for path in chunk.sections],
        [kinds.slot(kind) for kind in chunk.kinds],
        chunk.id,
        int(chunk.oversize),
    ]


def _embedded(chunk: Chunk, contexts: _Table) -> list[int]:
    """Return what is embedded before and after a chunk's text, or instead of it."""
    before, text, after = chunk.embed_text.partition(chunk.text)
    return [contexts.slot(part) for part in ((before, after) if text else (before,))]


def _options(view: View) -> list[str]:
    config = view.config
    overlap = config.overlap
    return [
        _shown(view.encoding),
        f"packing {config.packing}",
        f"overlap {overlap:.0%}" if isinstance(overlap, float) else f"overlap {overlap} tokens",
        f"context {config.context}",
        *(["blocks above the budget kept"] if config.oversize == "keep" else []),
        *(["white space kept"] if not config.trim else []),
    ]


def _shown(text: str) -> str:
    return visible(shorten(text, _MAX_TITLE))


def resource(name: str) -> str:
    """Return the text of the file ``name`` in this package."""
    return (files(__package__) / name).read_bytes().decode("utf-8")


def source_hash(text: str) -> str:
    """Return the hash of a style sheet or script, as written in a content security policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
