"""What the packer makes: a run of units."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ("Piece",)


class Piece(NamedTuple):
    """The units ``(first, last)`` of one chunk."""

    first: int
    last: int
