"""The outcome of a sync."""

from __future__ import annotations

from dataclasses import dataclass

from chunkast.errors import StoreError

__all__ = ("SyncError", "SyncReport")


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The number of texts and rows that a sync has processed.

    Every chunk that was passed counts as written, updated or unchanged.

    embedded: the texts that were embedded.
    written: the rows that were written with a vector, new or not.
    updated: the rows of which everything but the vector was replaced.
    deleted: the rows that were deleted.
    unchanged: the rows that were already up to date.
    """

    embedded: int = 0
    written: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0

    def __str__(self) -> str:
        """Return the counts in one line."""
        texts = "text" if self.embedded == 1 else "texts"
        chunks = "chunk" if self.written == 1 else "chunks"
        return (
            f"embedded {self.embedded:,} {texts}; wrote {self.written:,} {chunks}, "
            f"updated {self.updated:,}, deleted {self.deleted:,}; {self.unchanged:,} unchanged"
        )


class SyncError(StoreError):
    """A sync has stopped: ``embed`` failed, or the store refused a request.

    ``report`` counts what was done until then. Run the sync again to continue.
    """

    def __init__(self, path: str, reason: str, report: SyncReport) -> None:
        super().__init__(path, reason)
        self.report = report
