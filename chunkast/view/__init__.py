"""Views of documents with their chunks: as one HTML page, in a terminal, as a tree of blocks."""

from __future__ import annotations

from chunkast.view.budgets import BudgetView, View, view_of
from chunkast.view.cuts import Cut, find_cuts
from chunkast.view.report import render_html
from chunkast.view.terminal import render_terminal
from chunkast.view.tree import render_tree

__all__ = (
    "BudgetView",
    "Cut",
    "View",
    "find_cuts",
    "render_html",
    "render_terminal",
    "render_tree",
    "view_of",
)
