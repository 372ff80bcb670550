"""Give slow properties fewer examples in the quick profile of Hypothesis."""

from __future__ import annotations

from hypothesis import settings

__all__ = ("examples",)


def examples(quick: int, *, share: int = 1) -> settings:
    """Use ``quick`` examples in the quick profile, and a ``share`` of its number in any other."""
    number = settings().max_examples
    is_quick = number == settings.get_profile("quick").max_examples
    return settings(max_examples=quick if is_quick else number // share)
