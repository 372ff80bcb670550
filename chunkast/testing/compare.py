"""Compare two snapshots: find the changed chunks, the causes, and the texts to embed again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from chunkast.config import ChunkConfig
from chunkast.testing.kinds import KINDS
from chunkast.testing.matching import grouped
from chunkast.testing.records import (
    UNKNOWN_CUT,
    ChunkRecord,
    DocumentRecord,
    Header,
    plain_config,
)

__all__ = ("KINDS", "Change", "Diff", "DocumentDiff", "Totals", "compare")

# Fields that differ if the same text is embedded in a different context.
_EMBEDDING: Final = frozenset({"id", "headings", "embed_hash", "embed_token_count"})
# Fields that may differ in a chunk that only moved.
_MOVING: Final = frozenset(
    {"cell", "metadata", "pages", "start_index", "start_line", "end_line", "overlap"}
)


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
class DocumentDiff:
    """The changes to a document between two snapshots.

    old: the document's source in the old snapshot, or ``None`` for a new document.
    new: the document's source in the new snapshot, or ``None`` for a document that is gone.
    edited: true if the document's text has changed; ``None`` if that is unknown.
    changes: the changes to the document's chunks, in order.
    """

    old: str | None
    new: str | None
    edited: bool | None
    changes: tuple[Change, ...] = ()

    @property
    def source(self) -> str:
        """The document's current source, or its last source if the document is gone."""
        return self.old or "" if self.new is None else self.new

    @property
    def state(self) -> str:
        """The state: "new", "gone", "renamed" or "edited"; an empty string if it is unchanged."""
        if self.old is None or self.new is None:
            return "new" if self.old is None else "gone"
        return "renamed" if self.old != self.new else "edited" if self.edited else ""


@dataclass(slots=True)
class Totals:
    """The totals of all documents in a snapshot."""

    documents: int = 0
    chunks: int = 0
    tokens: int = 0
    embed_tokens: int = 0

    def add(self, document: DocumentRecord) -> None:
        """Add a document and its chunks to the totals."""
        self.documents += 1
        self.chunks += len(document.chunks)
        self.tokens += sum(chunk.token_count for chunk in document.chunks)
        self.embed_tokens += sum(chunk.embed_token_count for chunk in document.chunks)


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
    sums = Totals(), Totals()
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
            wanted.update((chunk.embed_hash, chunk.embed_token_count) for chunk in now.chunks)
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
    return Diff(
        *_compare_headers(old_header, new_header),
        tuple(sorted(diffs, key=lambda diff: (diff.source, diff.old or ""))),
        *sums,
        len(embed),
        sum(embed),
    )


def _pairs(
    old: Iterable[DocumentRecord], new: Iterable[DocumentRecord]
) -> Iterator[tuple[DocumentRecord | None, DocumentRecord | None]]:
    """Yield pairs of an old and a new document with the same source, or ``None`` for a missing one.

    Documents without chunks are skipped, because a file does not record them.
    """
    olds = ((document.source, 0, document) for document in old if document.chunks)
    news = ((document.source, 1, document) for document in new if document.chunks)
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
    # A field that an older version of chunkast does not know has its default there.
    defaults = plain_config(ChunkConfig())
    config = (
        (name, *(header.config.get(name, defaults.get(name)) for header in (old, new)))
        for name in sorted({*old.config, *new.config})
    )
    versions = (
        (name, old.versions.get(name, ""), new.versions.get(name, ""))
        for name in sorted({*old.versions, *new.versions})
    )
    return (
        tuple(each for each in config if each[1] != each[2]),
        tuple(each for each in versions if each[1] != each[2]),
    )


def _renamed_and_others(
    gone: Sequence[DocumentRecord], come: Sequence[DocumentRecord]
) -> Iterator[DocumentDiff]:
    """Yield the differences of documents that were renamed, removed or added.

    A document was renamed if at least half of its chunk texts are also in a document that is gone.
    """
    left = {document.source: document for document in gone}
    owners: dict[str, str] = {}
    for document in gone:
        owners.update((chunk.content_hash, document.source) for chunk in document.chunks)
    nothing = DocumentRecord("", "", ())
    for document in come:
        texts = (owners.get(chunk.content_hash) for chunk in document.chunks)
        shared = Counter(source for source in texts if source in left)
        for source, count in shared.most_common(1):
            if 2 * count >= max(len(left[source].chunks), len(document.chunks)):
                yield _compare_documents(left.pop(source), document)
                break
        else:
            yield DocumentDiff(None, document.source, True, _changes(nothing, document))
    for document in left.values():
        yield DocumentDiff(document.source, None, True, _changes(document, nothing))


def _compare_documents(old: DocumentRecord, new: DocumentRecord) -> DocumentDiff:
    """Compare the old and the new record of a document, and return the differences."""
    unknown = not old.text_hash or not new.text_hash
    edited = None if unknown else old.text_hash != new.text_hash
    return DocumentDiff(old.source, new.source, edited, _changes(old, new, edited is False))


def _changes(old: DocumentRecord, new: DocumentRecord, same: bool = False) -> tuple[Change, ...]:
    """Return the changes to a document's chunks; ``same`` is true if the text is known to be so."""
    found = (
        _change(tuple(old.chunks[n] for n in olds), tuple(new.chunks[n] for n in news))
        for olds, news in grouped(old.chunks, new.chunks, same=same)
    )
    return tuple(change for change in found if change.kind)


def _change(old: tuple[ChunkRecord, ...], new: tuple[ChunkRecord, ...]) -> Change:
    """Return the change made to a group of chunks; its kind is empty if nothing differs."""
    if len(old) == len(new) == 1:
        differing = _differing(old[0], new[0])
        return Change(_kind(old[0], new[0], differing), old, new, differing)
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
    compared = {*differing} - _MOVING
    if not old.cut or not new.cut:
        # The first chunk of a document has no cut, wherever it was before.
        compared.discard("cut")
    if "text" in compared and old.content_hash == new.content_hash:
        compared.discard("text")
    if not compared <= _EMBEDDING:
        return "changed"
    if "embed_hash" in compared:
        return "embedding"
    return "renamed" if compared else "moved" if differing else ""
