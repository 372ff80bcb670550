"""Break points and protected regions, out of the block tree."""

from chunkast.boundaries.points import merge_break_points, scan_break_points
from chunkast.boundaries.regions import fence_lines, find_regions
from chunkast.boundaries.search import best_cut, cut_value

__all__ = (
    "best_cut",
    "cut_value",
    "fence_lines",
    "find_regions",
    "merge_break_points",
    "scan_break_points",
)
