"""Changes between two states of an index: the digest of a state, the plan between two."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

__all__ = ("Identified", "WritePlan", "digest", "plan_writes")


class Identified(Protocol):
    """The fields of a chunk that a plan needs; :class:`chunkast.Chunk` has them."""

    @property
    def id(self) -> str:
        """The chunk's id."""

    @property
    def content_hash(self) -> str:
        """The hash of its text."""

    @property
    def embed_hash(self) -> str:
        """The hash of the text that is embedded for it."""


@dataclass(frozen=True, slots=True)
class WritePlan:
    """Chunk ids by what a store has to do with them.

    added: ids of the current chunks that are not stored yet, in the order of the chunks.
    changed: ids that are stored with another text, in the same order.
    unchanged: ids that are stored with the same text, in the same order.
    removed: ids that are stored but not current, in the order of the prior chunks.
    embed: current ids whose embedding is missing or stale: those added, and those whose
        ``embed_hash`` differs, because of the text or of a heading or table header above it.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    embed: tuple[str, ...] = ()


def plan_writes(current: Iterable[Identified], prior: Iterable[Identified]) -> WritePlan:
    r"""What to write to a store that contains ``prior`` and shall contain ``current``.

    An id that occurs twice in ``current`` is listed twice; of one that occurs twice in
    ``prior`` the last is compared, and both are listed when it is removed. Raises nothing.

    >>> from chunkast import chunk, plan_writes
    >>> before = chunk("# A\n\nOne.\n", source="a.md")
    >>> after = chunk("# A\n\nTwo.\n", source="a.md")
    >>> plan = plan_writes(after, before)
    >>> plan.changed == plan.embed == (after[0].id,)
    True
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
    by line feeds; of the empty string without chunks. The order of ``chunks`` does not
    matter. Raises nothing.
    """
    lines = sorted(f"{chunk.id}:{chunk.content_hash}" for chunk in chunks)
    return sha256("\n".join(lines).encode()).hexdigest()
