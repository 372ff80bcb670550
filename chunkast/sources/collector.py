"""Python's cyclic garbage collector, out of the way while a document is parsed and packed."""

from __future__ import annotations

import gc

__all__ = ("paused",)


class _Paused:
    # A generator with ``contextmanager`` would cost a short text a few percent.
    __slots__ = ("_enabled",)

    def __enter__(self) -> None:
        self._enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *_error: object) -> None:
        if self._enabled:
            gc.enable()


def paused() -> _Paused:
    """Pause the collector: a parse makes a great many objects at once, and no cycles.

    Looking through them again and again took a tenth of the time on documentation, and a
    third on large dense lists. Reference counting goes on as always. Where threads overlap,
    the first that is done lets the collector run again, so that it is never off for long.
    """
    return _Paused()
