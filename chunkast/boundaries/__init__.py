"""Break points and protected regions, found in the block tree."""

from chunkast.boundaries.points import merge_break_points, new_point, scan_break_points
from chunkast.boundaries.regions import find_regions, opening_column, opening_line
from chunkast.boundaries.search import best_cut, cut_value, ranked_cuts

__all__ = (
    "best_cut",
    "cut_value",
    "find_regions",
    "merge_break_points",
    "new_point",
    "opening_column",
    "opening_line",
    "ranked_cuts",
    "scan_break_points",
)
