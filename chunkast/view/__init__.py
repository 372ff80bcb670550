"""Views of documents with their chunks: as one HTML page, or in a terminal."""

from __future__ import annotations

from chunkast.view.budgets import BudgetView, View, view_of
from chunkast.view.cuts import Cut, find_cuts
from chunkast.view.report import render_html
from chunkast.view.terminal import render_terminal

__all__ = (
    "BudgetView",
    "Cut",
    "View",
    "find_cuts",
    "render_html",
    "render_terminal",
    "view_of",
)
