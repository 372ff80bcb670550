"""Plan the writes that bring a store up to date, and compute digests of its state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import Any, Protocol, TypeVar

from chunkast.errors import ChunkastError
from chunkast.model import state_hash
from chunkast.text.source_map import encode

__all__ = ("ChunkRecord", "Identified", "WritePlan", "digest", "plan_among", "plan_writes")

V = TypeVar("V")


class Identified(Protocol):
    """The interface of the objects that a write plan compares, such as :class:`chunkast.Chunk`.

    ``state_hash``, the hash of everything that a store keeps, is optional. If only the stored or
    only the current chunk has it, the current chunk counts as moved. If neither has it, only the
    embedded text is compared.
    """

    @property
    def id(self) -> str:
        """The chunk's id."""

    @property
    def content_hash(self) -> str:
        """The hash of the chunk's text."""

    @property
    def embed_hash(self) -> str:
        """The hash of the chunk's embedded text."""


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """The id and hashes of a stored chunk."""

    id: str
    content_hash: str
    embed_hash: str
    state_hash: str = ""


@dataclass(frozen=True, slots=True)
class WritePlan:
    """The ids of chunks, grouped by the writes that bring a store up to date.

    To update a store, delete ``removed``; write ``added``, ``changed`` and ``moved``; and set the
    vector of each id in ``embed`` and ``reuse`` (see :meth:`vectors`). The store then has the same
    content as a store that was filled from scratch.

    Every current id is in exactly one of ``added``, ``changed`` and ``unchanged``. ``moved`` is a
    subset of ``unchanged``. Ids that need a vector are in ``embed`` or are keys of ``reuse``, never
    both.

    added: current ids that are not stored yet, in the order of the current chunks.
    changed: current ids that are stored with a different text, in the order of the current chunks.
    unchanged: current ids that are stored with the same text, ignoring white space, in the order of
        the current chunks.
    removed: stored ids that are not current, in the order of the stored chunks.
    embed: ids whose embedded text has no vector yet. Of several ids with the same embedded text,
        only the first is listed.
    moved: ids in ``unchanged`` whose positions, lines, overlap, metadata, white space or embedded
        text differ from those of the stored chunk.
    reuse: all other ids that need a vector, each mapped to the id whose vector it reuses: a vector
        stored before the run or, for keys in ``repeats``, the new vector of an id in ``embed``.
    repeats: the keys of ``reuse`` that reuse a new vector.
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

        stored: the vectors before the run, by id; only those of ``reuse.values()`` are needed.
        embedded: the new vectors, by id; one for each id in ``embed``.

        Raises ``KeyError`` if a vector is missing.
        """
        repeats = set(self.repeats)
        vectors = {id_: embedded[id_] for id_ in self.embed}
        for id_, holder in self.reuse.items():
            vectors[id_] = (embedded if id_ in repeats else stored)[holder]
        return vectors


def plan_writes(
    current: Iterable[Identified | Mapping[str, Any]],
    prior: Iterable[Identified | Mapping[str, Any]],
) -> WritePlan:
    r"""Plan the writes that replace the stored chunks ``prior`` with the chunks ``current``.

    Both may contain chunks, or results of :meth:`Chunk.to_dict` or :meth:`Chunk.record`. A store
    needs to keep only :meth:`Chunk.record`. A vector can be reused from any chunk in ``prior`` with
    the same embedded text, so pass all documents at once.

    An id that occurs twice in ``current`` is listed twice. If an id occurs twice in ``prior``, the
    last chunk with this id is compared, and ``removed`` may list the id twice. Raises
    ``ChunkastError`` if two chunks in ``current`` have the same id and different texts, and
    ``KeyError`` for a record without an id or a hash.

    >>> from chunkast import chunk, plan_writes
    >>> before = chunk("# A\n\nOne.\n", source="a.md")
    >>> after = chunk("# A\n\nTwo.\n", source="a.md")
    >>> plan = plan_writes(after, [stored.record() for stored in before])
    >>> plan.changed == plan.embed == (after[0].id,)
    True
    """
    earlier = [_identified(chunk) for chunk in prior]
    latest = {chunk.id: chunk for chunk in earlier}
    # If several chunks have the same vector, the first one is used.
    holders = {chunk.embed_hash: chunk.id for chunk in reversed(latest.values())}
    return plan_among(map(_identified, current), earlier, holders.get, {})


def _identified(chunk: Identified | Mapping[str, Any]) -> Identified:
    if not isinstance(chunk, Mapping):
        return chunk
    state = chunk.get("state_hash") or (state_hash(chunk) if "embed_text" in chunk else "")
    return ChunkRecord(chunk["id"], chunk["content_hash"], chunk["embed_hash"], state)


def plan_among(
    current: Iterable[Identified],
    prior: Sequence[Identified],
    holder: Callable[[str], str | None],
    embedded: MutableMapping[str, str],
) -> WritePlan:
    """Plan the writes for some of the documents in a store.

    current: the chunks of these documents.
    prior: the stored chunks of these documents.
    holder: takes an ``embed_hash``, and returns the id of any stored chunk that had its vector
        before the run, or None.
    embedded: the ids that get new vectors, by ``embed_hash``; this plan adds its own.
    """
    known = {chunk.id: chunk for chunk in prior}
    # The ids of the plan, by the name of its field.
    ids: defaultdict[str, list[str]] = defaultdict(list)
    reuse: dict[str, str] = {}
    texts: dict[str, str] = {}
    for chunk in current:
        id_, wanted = chunk.id, chunk.embed_hash
        if texts.setdefault(id_, chunk.content_hash) != chunk.content_hash:
            raise ChunkastError(
                f"two chunks with different texts have the id {id_!r}: "
                "give each document a source of its own"
            )
        before = known.get(id_)
        if before is None:
            ids["added"].append(id_)
        elif before.content_hash != chunk.content_hash:
            ids["changed"].append(id_)
        else:
            ids["unchanged"].append(id_)
            if before.embed_hash != wanted or _state(before) != _state(chunk):
                ids["moved"].append(id_)
        if before is not None and before.embed_hash == wanted:
            continue
        stored = holder(wanted)
        if stored is not None:
            reuse[id_] = stored
        elif embedded.setdefault(wanted, id_) == id_:
            ids["embed"].append(id_)
        else:
            reuse[id_] = embedded[wanted]
            ids["repeats"].append(id_)
    ids["removed"] = [chunk.id for chunk in prior if chunk.id not in texts]
    return WritePlan(reuse=reuse, **{name: tuple(listed) for name, listed in ids.items()})


def _state(chunk: Identified) -> str:
    return getattr(chunk, "state_hash", "")


def digest(chunks: Iterable[Identified]) -> str:
    """Return one hash for all chunks of a store: 64 lower-case hexadecimal digits.

    The hash is the SHA-256 of the lines ``id:content_hash``, sorted as text and joined by line
    feeds; duplicate lines are kept. The order of ``chunks`` does not matter. Never raises.
    """
    lines = sorted(f"{chunk.id}:{chunk.content_hash}" for chunk in chunks)
    return sha256(encode("\n".join(lines))).hexdigest()
