"""Compares two snapshots: finds the changed chunks, the causes, and the texts to embed again.

A group of corresponding chunks (see ``pairing``) is one change: a changed chunk, a chunk split into
several, several chunks merged into one, or several chunks cut differently.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from heapq import merge
from itertools import groupby, pairwise, product
from operator import itemgetter
from typing import Any, Final

from chunkast.config import ChunkConfig
from chunkast.testing.kinds import KINDS
from chunkast.testing.pairing import Group, grouped
from chunkast.testing.records import (
    UNKNOWN_CUT,
    ChunkRecord,
    DocumentRecord,
    Header,
    ObjectError,
    resolved_config,
)

__all__ = (
    "COMPARED",
    "KINDS",
    "Change",
    "Diff",
    "DocumentDiff",
    "Edge",
    "Totals",
    "compare",
)

# Fields whose difference is a change; the others may differ in a chunk that only moved.
COMPARED: Final = (
    "id",
    "headings",
    "part",
    "tokens",
    "embed_tokens",
    "content_hash",
    "embed_hash",
    "kinds",
    "oversize",
    "cut",
)
# A text that is in more documents than this is not evidence of a renamed document.
_MOST_ALIKE: Final = 8
# Fields that differ if the same text is embedded in a different context.
_EMBEDDING: Final = frozenset({"id", "headings", "part", "embed_hash", "embed_tokens"})


@dataclass(frozen=True, slots=True)
class Change:
    """A change to a group of corresponding chunks.

    kind: the kind of change, a key of ``KINDS``.
    old: the chunks before the change, in order; empty for an added chunk.
    new: the chunks after the change, in order; empty for a removed chunk.
    fields: the names of the fields that differ if a single chunk became a single chunk; else empty.
    """

    kind: str
    old: tuple[ChunkRecord, ...]
    new: tuple[ChunkRecord, ...]
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """A cut that exists in only one of two snapshots.

    before: the end of the text before the cut.
    chunk: the chunk after the cut.
    """

    before: str
    chunk: ChunkRecord


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    """The changes to a document between two snapshots.

    old: the document's source in the old snapshot, or ``None`` for a new document.
    new: the document's source in the new snapshot, or ``None`` for a document that is gone.
    edited: true if the document's text has changed; ``None`` if that is unknown.
    changes: the changes to the document's chunks, in order.
    gone: the cuts that exist only in the old snapshot.
    come: the cuts that exist only in the new snapshot.
    """

    old: str | None
    new: str | None
    edited: bool | None
    changes: tuple[Change, ...] = ()
    gone: tuple[Edge, ...] = ()
    come: tuple[Edge, ...] = ()

    @property
    def source(self) -> str:
        """The document's current source, or its last source if the document is gone."""
        return self.old or "" if self.new is None else self.new

    @property
    def state(self) -> str:
        """The state of the document, such as "renamed and edited"; an empty string if unchanged."""
        if self.old is None or self.new is None:
            return "new" if self.old is None else "gone"
        edited = "edited" if self.edited else ""
        return edited if self.old == self.new else f"renamed{' and edited' if edited else ''}"


@dataclass(slots=True)
class Totals:
    """The totals of all documents in a snapshot.

    ``budget`` is the maximum number of tokens in a chunk, or 0 if unknown.
    """

    budget: int = 0
    documents: int = 0
    chunks: int = 0
    cuts: int = 0
    tokens: int = 0
    embed_tokens: int = 0

    def add(self, document: DocumentRecord) -> None:
        """Add a document and its chunks to the totals."""
        self.documents += 1
        self.chunks += len(document.chunks)
        self.cuts += max(len(document.chunks) - 1, 0)
        self.tokens += sum(chunk.tokens for chunk in document.chunks)
        self.embed_tokens += sum(chunk.embed_tokens for chunk in document.chunks)

    @property
    def fill(self) -> float | None:
        """The average share of the token budget that a chunk uses, or ``None`` if unknown."""
        return self.tokens / (self.chunks * self.budget) if self.chunks * self.budget else None


@dataclass(frozen=True, slots=True)
class Diff:
    """The differences between two snapshots.

    config: the configuration fields that differ, each as its name, old value and new value.
    versions: the versions that differ, in the same form; a missing version is an empty string.
    documents: the documents whose name, text or chunks differ, sorted by source.
    old: the totals of the old snapshot.
    new: the totals of the new snapshot.
    embed: the number of distinct texts to embed that were not embedded before.
    embed_tokens: the number of tokens in these texts.
    """

    config: tuple[tuple[str, Any, Any], ...]
    versions: tuple[tuple[str, str, str], ...]
    documents: tuple[DocumentDiff, ...]
    old: Totals
    new: Totals
    embed: int
    embed_tokens: int

    @property
    def counts(self) -> dict[str, int]:
        """The number of changes of each kind that occurs, in the order of ``KINDS``."""
        found = Counter(change.kind for each in self.documents for change in each.changes)
        return {kind: found[kind] for kind in KINDS if kind in found}


def compare(
    old: tuple[Header | None, Iterable[DocumentRecord]],
    new: tuple[Header | None, Iterable[DocumentRecord]],
) -> Diff:
    """Compare two snapshots, each given as its header and its documents sorted by source.

    The configurations are compared only if both headers are given.
    """
    (old_header, before), (new_header, after) = old, new
    sums = Totals(_budget(old_header)), Totals(_budget(new_header))
    known: set[str] = set()
    wanted: dict[str, int] = {}
    diffs: list[DocumentDiff] = []
    gone: list[DocumentRecord] = []
    come: list[DocumentRecord] = []
    for was, now in _pairs(before, after):
        if was is not None:
            sums[0].add(was)
            known.update(chunk.embed_hash for chunk in was.chunks)
        if now is not None:
            sums[1].add(now)
            wanted.update((chunk.embed_hash, chunk.embed_tokens) for chunk in now.chunks)
        if was is None or now is None:
            gone += [] if was is None else [was]
            come += [] if now is None else [now]
        elif was != now:
            diff = _compare_documents(was, now)
            # If a text hash is unknown, records that differ without changes do not count.
            if diff.edited is not None or diff.changes:
                diffs.append(diff)
    diffs += _renamed_and_others(gone, come)
    embed = [tokens for text, tokens in wanted.items() if text not in known]
    config, versions = _compare_headers(old_header, new_header)
    return Diff(
        config,
        versions,
        tuple(sorted(diffs, key=lambda diff: (diff.source, diff.old or ""))),
        *sums,
        len(embed),
        sum(embed),
    )


def _budget(header: Header | None) -> int:
    found = None if header is None else header.config.get("max_tokens")
    return found if isinstance(found, int) else 0


def _pairs(
    old: Iterable[DocumentRecord], new: Iterable[DocumentRecord]
) -> Iterator[tuple[DocumentRecord | None, DocumentRecord | None]]:
    """Yield pairs of an old and a new document with the same source.

    If one side does not have the document, ``None`` takes its place. Both sides must be sorted by
    source.
    """
    olds = ((document.source, 0, document) for document in old)
    news = ((document.source, 1, document) for document in new)
    merged = merge(olds, news, key=itemgetter(0, 1))
    for _, group in groupby(merged, itemgetter(0)):
        found = {side: document for _, side, document in group}
        yield found.get(0), found.get(1)


def _compare_headers(
    old: Header | None, new: Header | None
) -> tuple[tuple[tuple[str, Any, Any], ...], tuple[tuple[str, str, str], ...]]:
    """Return the configuration fields that differ, and the versions that differ."""
    if old is None or new is None:
        return (), ()
    plain = ((f.name, f.default) for f in fields(ChunkConfig))
    defaults = {name: list(v) if isinstance(v, tuple) else v for name, v in plain}
    sides = old.config, new.config
    if not old.versions or not new.versions:
        try:
            sides = resolved_config(old), resolved_config(new)
        except ObjectError:
            return (), ()
    # A field that an older version of chunkast does not know has its default there.
    config = (
        (name, *(side.get(name, defaults.get(name)) for side in sides))
        for name in sorted({*sides[0], *sides[1]})
    )
    versions = (
        (name, old.versions.get(name, ""), new.versions.get(name, ""))
        for name in sorted({*old.versions, *new.versions})
        if old.versions and new.versions
    )
    return (
        tuple(each for each in config if each[1] != each[2]),
        tuple(each for each in versions if each[1] != each[2]),
    )


def _renamed_and_others(
    gone: Sequence[DocumentRecord], come: Sequence[DocumentRecord]
) -> Iterator[DocumentDiff]:
    """Yield the differences of documents that were renamed, removed or added."""
    left = {document.source: document for document in gone}
    right = {document.source: document for document in come}
    for one, two in _renames(gone, come):
        if one in left and two in right:
            yield _compare_documents(left.pop(one), right.pop(two))
    nothing = DocumentRecord("", "", ())
    # Documents without chunks do not count: a file of JSON lines does not name them.
    for document in left.values():
        if document.chunks:
            changes, edges, _ = _changes(document, nothing, same=False)
            yield DocumentDiff(document.source, None, True, changes, edges)
    for document in right.values():
        if document.chunks:
            changes, _, edges = _changes(nothing, document, same=False)
            yield DocumentDiff(None, document.source, True, changes, (), edges)


def _renames(
    gone: Sequence[DocumentRecord], come: Sequence[DocumentRecord]
) -> list[tuple[str, str]]:
    """Return the old and new sources of documents that may have been renamed, best match first.

    The two documents of a pair share at least half of the distinct chunk texts of the document that
    has more of them.
    """
    texts = [
        {document.source: {chunk.content_hash for chunk in document.chunks} for document in side}
        for side in (gone, come)
    ]
    having = [defaultdict[str, list[str]](list) for _ in texts]
    for by_source, by_text in zip(texts, having, strict=True):
        for source, found in by_source.items():
            for text in found:
                by_text[text].append(source)
    common: Counter[tuple[str, str]] = Counter()
    for text, olds in having[0].items():
        news = having[1].get(text, [])
        if max(len(olds), len(news)) <= _MOST_ALIKE:
            common.update(product(olds, news))
    shares = {
        (old, new): count / max(len(texts[0][old]), len(texts[1][new]))
        for (old, new), count in common.items()
    }
    alike = [pair for pair, share in shares.items() if share >= 1 / 2]
    return sorted(alike, key=lambda pair: (-shares[pair], min(pair), max(pair)))


def _compare_documents(old: DocumentRecord, new: DocumentRecord) -> DocumentDiff:
    """Compare the old and the new record of a document, and return the differences."""
    unknown = not old.text_hash or not new.text_hash
    edited = None if unknown else old.text_hash != new.text_hash
    changes, gone, come = _changes(old, new, same=edited is False)
    return DocumentDiff(old.source, new.source, edited, changes, gone, come)


def _changes(
    old: DocumentRecord, new: DocumentRecord, *, same: bool
) -> tuple[tuple[Change, ...], tuple[Edge, ...], tuple[Edge, ...]]:
    """Return the changes to a document's chunks, the cuts that are gone, and the new cuts.

    ``same`` is true if the document's text is known to be unchanged.
    """
    groups = grouped(old.chunks, new.chunks, same=same)
    changes = []
    # In the order of the new document; removed chunks appear where they were.
    for ones, twos in sorted(groups, key=_place):
        olds = tuple(old.chunks[number] for number in ones)
        change = _change(olds, tuple(new.chunks[number] for number in twos))
        if change is not None:
            changes.append(change)
    gone, come = _cuts(old, new, groups)
    return tuple(changes), gone, come


def _place(group: Group) -> tuple[int, bool]:
    ones, twos = group
    return (*twos, *ones)[0], bool(twos)


def _change(old: tuple[ChunkRecord, ...], new: tuple[ChunkRecord, ...]) -> Change | None:
    """Return the change made to a group of chunks, or ``None`` if nothing differs."""
    if len(old) == len(new) == 1:
        differing = _differing(old[0], new[0])
        kind = _kind(old[0], new[0], differing)
        return Change(kind, old, new, differing) if kind else None
    if not old or not new:
        return Change("removed" if old else "added", old, new)
    kind = "split" if len(old) == 1 else "merged" if len(new) == 1 else "recut"
    return Change(kind, old, new)


def _differing(old: ChunkRecord, new: ChunkRecord) -> tuple[str, ...]:
    """Return the names of the fields in which two chunks differ.

    The cut is ignored if it is unknown for either chunk.
    """
    unknown = UNKNOWN_CUT in (old.cut, new.cut)
    return tuple(
        f.name
        for f in fields(ChunkRecord)
        if getattr(old, f.name) != getattr(new, f.name) and not (unknown and f.name == "cut")
    )


def _kind(old: ChunkRecord, new: ChunkRecord, differing: Sequence[str]) -> str:
    """Return the kind of change made to a chunk, or an empty string if nothing differs."""
    compared = {name for name in differing if name in COMPARED}
    if old.cut is None or new.cut is None:
        # The first chunk of a document has no cut, wherever it was before.
        compared.discard("cut")
    if not compared <= _EMBEDDING:
        return "changed"
    if "embed_hash" in compared:
        return "embedding"
    return "renamed" if compared else "moved" if differing else ""


def _cuts(
    old: DocumentRecord, new: DocumentRecord, groups: Sequence[Group]
) -> Iterator[tuple[Edge, ...]]:
    """Yield a tuple of the cuts that are gone, and then a tuple of the new cuts.

    An old and a new cut are the same if they are between the same two groups, at least one of which
    is an unchanged text, or if the lines next to them are the same.
    """
    unchanged = {
        number
        for number, (ones, twos) in enumerate(groups)
        if len(ones) == len(twos) == 1
        and old.chunks[ones[0]].content_hash == new.chunks[twos[0]].content_hash
    }
    places: list[list[tuple[int, int]]] = []
    for side in (0, 1):
        group_of = {chunk: n for n, group in enumerate(groups) for chunk in group[side]}
        places.append(list(pairwise(group_of[chunk] for chunk in sorted(group_of))))
    same = {place for place in {*places[0]} & {*places[1]} if not unchanged.isdisjoint(place)}
    sides = [
        [Edge(before.last, chunk) for place, (before, chunk) in cuts if place not in same]
        for cuts in map(zip, places, (pairwise(old.chunks), pairwise(new.chunks)))
    ]
    yield _missing(sides[0], sides[1])
    yield _missing(sides[1], sides[0])


def _missing(edges: Sequence[Edge], others: Sequence[Edge]) -> tuple[Edge, ...]:
    """Return the cuts in ``edges`` but not in ``others``, compared by the lines next to them."""
    counts = Counter(map(_lines, others))
    found = []
    for edge in edges:
        if counts[_lines(edge)]:
            counts[_lines(edge)] -= 1
        else:
            found.append(edge)
    return tuple(found)


def _lines(edge: Edge) -> tuple[str, str]:
    """Return the line before a cut and the line after it, as far as they are recorded."""
    return edge.before.strip().rpartition("\n")[2], edge.chunk.first.strip().partition("\n")[0]
