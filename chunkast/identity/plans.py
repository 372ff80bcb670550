"""What changed between two states of an index: the digest of one, the plan between two."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

__all__ = ("Identified", "WritePlan", "digest", "plan_writes")


class Identified(Protocol):
    """What a plan has to know of a chunk; :class:`chunkast.Chunk` has it."""

    @property
    def id(self) -> str:
        """Which chunk it is."""

    @property
    def content_hash(self) -> str:
        """What it says."""

    @property
    def embed_hash(self) -> str:
        """What is embedded for it."""


@dataclass(frozen=True, slots=True)
class WritePlan:
    """Chunk ids by what a store has to do with them.

    ``added``, ``changed`` (another text under the same id) and ``unchanged`` are in the
    order of the current chunks, ``removed`` in that of the prior ones. ``embed`` are the
    current ids whose embedding is missing or stale: those added, and those whose
    ``embed_hash`` differs, be it for the text or for a heading or table header above it.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    embed: tuple[str, ...] = ()


def plan_writes(current: Iterable[Identified], prior: Iterable[Identified]) -> WritePlan:
    """What has to be written where ``prior`` is stored and ``current`` is wanted.

    An id that occurs twice in ``current`` is judged twice; of one that occurs twice in
    ``prior`` the last counts, and each is listed when it is removed.
    """
    earlier = list(prior)
    hashes = {chunk.id: (chunk.content_hash, chunk.embed_hash) for chunk in earlier}
    added: list[str] = []
    changed: list[str] = []
    unchanged: list[str] = []
    embed: list[str] = []
    present: set[str] = set()
    for chunk in current:
        present.add(chunk.id)
        known = hashes.get(chunk.id)
        if known is None:
            added.append(chunk.id)
        elif known[0] != chunk.content_hash:
            changed.append(chunk.id)
        else:
            unchanged.append(chunk.id)
        if known is None or known[1] != chunk.embed_hash:
            embed.append(chunk.id)
    removed = (chunk.id for chunk in earlier if chunk.id not in present)
    return WritePlan(tuple(added), tuple(changed), tuple(unchanged), tuple(removed), tuple(embed))


def digest(chunks: Iterable[Identified]) -> str:
    """One hash for a whole state: 64 lower-case hexadecimal digits.

    The SHA-256 of the lines ``id:content_hash``, sorted as text, duplicates kept, joined
    by line feeds; of nothing for no chunk. Order and time do not matter.
    """
    lines = sorted(f"{chunk.id}:{chunk.content_hash}" for chunk in chunks)
    return sha256("\n".join(lines).encode()).hexdigest()
