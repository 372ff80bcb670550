"""What the packer makes: a run of units."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ("Piece",)


@dataclass(frozen=True, slots=True)
class Piece:
    """The units ``(first, last)`` of one chunk. ``whole``: no section was cut for it."""

    first: int
    last: int
    whole: bool
