"""Give slow properties fewer examples in the quick profile of Hypothesis."""

from __future__ import annotations

import os

from hypothesis import settings

__all__ = ("examples",)


def examples(quick: int, *, share: int = 1) -> settings:
    """Use ``quick`` examples in the quick profile, and a ``share`` of its number in any other."""
    is_quick = os.environ.get("HYPOTHESIS_PROFILE", "quick") == "quick"
    return settings(max_examples=quick if is_quick else settings().max_examples // share)
