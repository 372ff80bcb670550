"""The public import path for views of chunks; the code is in ``chunkast.output.view``."""

from __future__ import annotations

from chunkast.output.view.block_tree import render_tree
from chunkast.output.view.budgets import BudgetView, View, view_of
from chunkast.output.view.cuts import Cut, find_cuts
from chunkast.output.view.html_page import render_html

__all__ = (
    "BudgetView",
    "Cut",
    "View",
    "find_cuts",
    "render_html",
    "render_tree",
    "view_of",
)
