"""Public import path for assertions; the code is in ``chunkast.testing.assertions``."""

from chunkast.testing.assertions import (
    assert_budget,
    assert_cites,
    assert_in_one_chunk,
    assert_whole,
)

__all__ = ("assert_budget", "assert_cites", "assert_in_one_chunk", "assert_whole")
