"""Plans of the writes that bring a store up to date, and digests of its state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import Any, Protocol, TypeVar

from chunkast.model import state_hash

__all__ = ("Identified", "WritePlan", "digest", "plan_among", "plan_writes")

V = TypeVar("V")


class Identified(Protocol):
    """The fields of a chunk that a plan needs; :class:`chunkast.Chunk` has them.

    ``state_hash``, the hash of everything that a store keeps, is optional. If only one of two
    states has it, the chunk counts as moved; if both lack it, only the embedded text is compared.
    """

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
class _Record:
    """The id and the hashes of a chunk."""

    id: str
    content_hash: str
    embed_hash: str
    state_hash: str


@dataclass(frozen=True, slots=True)
class WritePlan:
    """The ids of chunks by what a store has to do with them.

    To bring a store up to date, delete ``removed``; write ``added``, ``changed`` and ``moved``; and
    set the vector of each id in ``embed`` and ``reuse`` (see :meth:`vectors`). The store then
    equals one that was filled from scratch.

    Every current id is in ``added``, ``changed`` or ``unchanged``. ``moved`` is a subset of
    ``unchanged``. ``embed`` and the keys of ``reuse`` have no id in common, and are all in
    ``added``, ``changed`` or ``moved``.

    added: current ids that are not stored yet, in the order of the current chunks.
    changed: ids that are stored with another text, in the same order.
    unchanged: ids that are stored with the same text, apart from white space, in the same order.
    removed: ids that are stored but not current, in the order of the stored chunks.
    embed: ids whose embedded text has no vector yet; of several with the same text, the first.
    moved: the ``unchanged`` ids for which something else that a store keeps differs: positions,
        lines, overlap, metadata, white space or the embedded text.
    reuse: other ids that need a vector, each with the id whose vector it takes. That is the vector
        stored before the run, or, for keys in ``repeats``, the new vector of an id in ``embed``.
    repeats: the keys of ``reuse`` that take a new vector.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    embed: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    reuse: Mapping[str, str] = field(default_factory=dict, hash=False)
    repeats: tuple[str, ...] = ()

    def __repr__(self) -> str:
        counts = {f.name: len(getattr(self, f.name)) for f in fields(self)}
        return f"<WritePlan: {', '.join(f'{name} {count:,}' for name, count in counts.items())}>"

    def vectors(self, stored: Mapping[str, V], embedded: Mapping[str, V]) -> dict[str, V]:
        """Return the vector of every id in ``embed`` and ``reuse``.

        stored: the vectors before the run, by id; those of ``reuse.values()`` are enough.
        embedded: the new vectors, by id: one for each id in ``embed``.

        Raises ``KeyError`` if a vector is missing.
        """
        repeats = set(self.repeats)
        found = {id_: embedded[id_] for id_ in self.embed}
        for id_, holder in self.reuse.items():
            found[id_] = (embedded if id_ in repeats else stored)[holder]
        return found


def plan_writes(
    current: Iterable[Identified | Mapping[str, Any]],
    prior: Iterable[Identified | Mapping[str, Any]],
) -> WritePlan:
    r"""Plan the writes to a store that contains ``prior`` and will contain ``current``.

    Both may be chunks, results of :meth:`Chunk.to_dict`, or results of :meth:`Chunk.record`, which
    are all that a store has to keep. A vector is reused from any chunk in ``prior`` with the same
    embedded text, so pass all documents at once.

    An id that occurs twice in ``current`` is listed twice. If an id occurs twice in ``prior``, the
    last chunk is compared; ``removed`` lists both. Raises ``KeyError`` for a record without an id
    or a hash.

    >>> from chunkast import chunk, plan_writes
    >>> before = chunk("# A\n\nOne.\n", source="a.md")
    >>> after = chunk("# A\n\nTwo.\n", source="a.md")
    >>> plan = plan_writes(after, [stored.record() for stored in before])
    >>> plan.changed == plan.embed == (after[0].id,)
    True
    """
    earlier = [_identified(chunk) for chunk in prior]
    holders: dict[str, str] = {}
    for chunk in {chunk.id: chunk for chunk in earlier}.values():
        holders.setdefault(chunk.embed_hash, chunk.id)
    return plan_among(map(_identified, current), earlier, holders.get, {})


def _identified(chunk: Identified | Mapping[str, Any]) -> Identified:
    if not isinstance(chunk, Mapping):
        return chunk
    state = chunk.get("state_hash") or (state_hash(chunk) if "embed_text" in chunk else "")
    return _Record(chunk["id"], chunk["content_hash"], chunk["embed_hash"], state)


def plan_among(
    current: Iterable[Identified],
    prior: Sequence[Identified],
    holder: Callable[[str], str | None],
    embedded: MutableMapping[str, str],
) -> WritePlan:
    """Plan the writes for some documents of a store.

    holder: returns the id that had the vector of an ``embed_hash`` before the run, anywhere in the
        store.
    embedded: the ids that get new vectors, by ``embed_hash``; this plan's ids are added.
    """
    known = {chunk.id: chunk for chunk in prior}
    added: list[str] = []
    changed: list[str] = []
    unchanged: list[str] = []
    moved: list[str] = []
    embed: list[str] = []
    reuse: dict[str, str] = {}
    repeats: list[str] = []
    present: set[str] = set()
    for chunk in current:
        id_, wanted = chunk.id, chunk.embed_hash
        present.add(id_)
        before = known.get(id_)
        if before is None:
            added.append(id_)
        elif before.content_hash != chunk.content_hash:
            changed.append(id_)
        else:
            unchanged.append(id_)
            if before.embed_hash != wanted or _state(before) != _state(chunk):
                moved.append(id_)
        if before is not None and before.embed_hash == wanted:
            continue
        stored = holder(wanted)
        if stored is not None:
            reuse[id_] = stored
        elif embedded.setdefault(wanted, id_) == id_:
            embed.append(id_)
        else:
            reuse[id_] = embedded[wanted]
            repeats.append(id_)
    removed = tuple(chunk.id for chunk in prior if chunk.id not in present)
    return WritePlan(
        tuple(added),
        tuple(changed),
        tuple(unchanged),
        removed,
        tuple(embed),
        tuple(moved),
        reuse,
        tuple(repeats),
    )


def _state(chunk: Identified) -> str:
    return getattr(chunk, "state_hash", "")


def digest(chunks: Iterable[Identified]) -> str:
    """Return one hash for all chunks of a store: 64 lower-case hexadecimal digits.

    It is the SHA-256 of the lines ``id:content_hash``, sorted as text, with duplicates, and joined
    by line feeds. The order of ``chunks`` does not matter. Never raises.
    """
    lines = sorted(f"{chunk.id}:{chunk.content_hash}" for chunk in chunks)
    return sha256("\n".join(lines).encode()).hexdigest()
