"""Python's cyclic garbage collector, out of the way while a document is parsed and packed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ("paused",)


@contextmanager
def paused() -> Iterator[None]:
    """Pause the collector: a parse makes a great many objects at once, and no cycles.

    Looking through them again and again took a tenth of the time on documentation, and a
    third on large dense lists. Reference counting goes on as always. Where threads overlap,
    the first that is done lets the collector run again, so that it is never off for long.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
