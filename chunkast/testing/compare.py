"""Compare two snapshots: find changed chunks, the causes, and the texts that need re-embedding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain, groupby
from typing import Any, Final, TypeAlias

from chunkast.config import ChunkConfig
from chunkast.testing.change_kinds import KINDS
from chunkast.testing.records import ChunkRecord, DocumentRecord, Header, plain_config

__all__ = (
    "KINDS",
    "UNKNOWN",
    "Change",
    "Diff",
    "DocumentDiff",
    "Totals",
    "compare",
    "count_changes",
)

# The state of a document if the text of one side is unknown.
UNKNOWN: Final = "edited or cut differently"
# Fields that differ if the same text is embedded in a different context.
_EMBEDDING: Final = frozenset({"id", "headings", "embed_hash", "embed_token_count"})
# Fields that may differ in a chunk that only moved.
_MOVING: Final = frozenset(
    {"cell", "metadata", "pages", "start_index", "start_line", "end_line", "overlap"}
)
# The indices of old chunks, and of new chunks.
Group: TypeAlias = tuple[list[int], list[int]]
_Key: TypeAlias = Callable[[ChunkRecord], Hashable]


@dataclass(frozen=True, slots=True)
class Change:
    """A change to one chunk, or to several consecutive chunks.

    kind: the kind of change, a key of ``KINDS``.
    old: the chunks before the change, in order; empty for added chunks.
    new: the chunks after the change, in order; empty for removed chunks.
    fields: the names of the fields that differ, if each old chunk became one new chunk; else empty.
    """

    kind: str
    old: tuple[ChunkRecord, ...]
    new: tuple[ChunkRecord, ...]
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    """The changes to a document between two snapshots.

    source: the document's source.
    state: "new", "gone" or "edited"; "" if the text is the same; "edited or cut differently" if the
        text is unknown and its chunks differ.
    changes: the changes to the document's chunks, in order.
    """

    source: str
    state: str
    changes: tuple[Change, ...] = ()


@dataclass(slots=True)
class Totals:
    """The numbers of documents, chunks and tokens in a snapshot."""

    documents: int = 0
    chunks: int = 0
    tokens: int = 0
    embed_tokens: int = 0

    def add(self, document: DocumentRecord) -> None:
        """Count a document and its chunks."""
        self.documents += 1 if document.chunks else 0
        self.chunks += len(document.chunks)
        self.tokens += sum(chunk.token_count for chunk in document.chunks)
        self.embed_tokens += sum(chunk.embed_token_count for chunk in document.chunks)


@dataclass(frozen=True, slots=True)
class Diff:
    """The differences between two snapshots.

    config: the configuration fields that differ, each as its name, old value and new value.
    versions: the versions that differ, in the same form; a missing version is ``None``.
    documents: the documents whose text or chunks differ, sorted by source.
    old: the totals of the old snapshot.
    new: the totals of the new snapshot.
    embed: the number of distinct texts that need embedding, because they are new.
    embed_tokens: the number of tokens in these texts.
    """

    config: tuple[tuple[str, Any, Any], ...]
    versions: tuple[tuple[str, str | None, str | None], ...]
    documents: tuple[DocumentDiff, ...]
    old: Totals
    new: Totals
    embed: int
    embed_tokens: int

    @property
    def counts(self) -> dict[str, int]:
        """The number of changed chunks by kind of change, in the order of ``KINDS``."""
        counts = count_changes(change for each in self.documents for change in each.changes)
        return {kind: counts[kind] for kind in KINDS if kind in counts}


def count_changes(changes: Iterable[Change]) -> Counter[str]:
    """Return the number of changed chunks by kind of change."""
    counts: Counter[str] = Counter()
    for change in changes:
        counts[change.kind] += max(len(change.old), len(change.new))
    return counts


def compare(
    old: tuple[Header | None, Iterable[DocumentRecord]],
    new: tuple[Header | None, Iterable[DocumentRecord]],
) -> Diff:
    """Compare two snapshots, each a pair of a header and documents.

    Configurations and versions are compared only if both snapshots have a header.
    """
    (old_header, olds), (new_header, news) = old, new
    totals = Totals(), Totals()
    before = {document.source: document for document in olds}
    known: set[str] = set()
    for document in before.values():
        totals[0].add(document)
        known.update(chunk.embed_hash for chunk in document.chunks)
    wanted: dict[str, int] = {}
    diffs = []
    for document in news:
        totals[1].add(document)
        wanted.update((chunk.embed_hash, chunk.embed_token_count) for chunk in document.chunks)
        was = before.pop(document.source, DocumentRecord(document.source, "", ()))
        diffs.append(_compare_documents(was, document))
    diffs += [_compare_documents(was, DocumentRecord(s, "", ())) for s, was in before.items()]
    changed = [diff for diff in diffs if diff.changes or diff.state not in {"", UNKNOWN}]
    embed = [tokens for text, tokens in wanted.items() if text not in known]
    config: tuple[tuple[str, Any, Any], ...] = ()
    versions: tuple[tuple[str, Any, Any], ...] = ()
    if old_header is not None and new_header is not None:
        # A field that an older version of chunkast does not know has its default there.
        defaults = plain_config(ChunkConfig())
        config = _differing_values(old_header.config, new_header.config, defaults)
        versions = _differing_values(old_header.versions, new_header.versions, {})
    return Diff(
        config,
        versions,
        tuple(sorted(changed, key=lambda diff: diff.source)),
        *totals,
        len(embed),
        sum(embed),
    )


def _differing_values(
    old: Mapping[str, Any], new: Mapping[str, Any], defaults: Mapping[str, Any]
) -> tuple[tuple[str, Any, Any], ...]:
    """Return the name, the old and the new value of each field that differs."""
    one, two = {**defaults, **old}, {**defaults, **new}
    values = ((name, one.get(name), two.get(name)) for name in sorted({*one, *two}))
    return tuple(each for each in values if each[1] != each[2])


def _compare_documents(old: DocumentRecord, new: DocumentRecord) -> DocumentDiff:
    """Compare the old and the new record of a document; a missing document has no chunks."""
    if old == new or not (old.chunks or new.chunks):
        return DocumentDiff(new.source, "")
    if not old.chunks or not new.chunks:
        state = "gone" if old.chunks else "new"
    elif not old.text_hash or not new.text_hash:
        state = UNKNOWN
    else:
        state = "" if old.text_hash == new.text_hash else "edited"
    return DocumentDiff(new.source, state, tuple(_changes(old, new, same=not state)))


def _changes(old: DocumentRecord, new: DocumentRecord, *, same: bool) -> Iterator[Change]:
    """Yield the changes to a document's chunks; changes that are alike are yielded as one."""
    changes = (
        _change(tuple(old.chunks[n] for n in olds), tuple(new.chunks[n] for n in news), same)
        for olds, news in _grouped(old.chunks, new.chunks, same=same)
    )
    for (kind, names, _), group in groupby(changes, key=_run):
        if kind:
            run = list(group)
            olds = chain.from_iterable(change.old for change in run)
            news = chain.from_iterable(change.new for change in run)
            yield Change(kind, tuple(olds), tuple(news), names)


def _run(change: Change) -> tuple[str, tuple[str, ...], object]:
    """Return a key that is equal for changes that can be reported as one."""
    if change.kind in {"changed", "recut"}:
        return change.kind, change.fields, change
    shifts = (new.start_line - old.start_line for old, new in zip(change.old, change.new))  # noqa: B905
    return change.kind, change.fields, next(shifts, None)


def _change(old: tuple[ChunkRecord, ...], new: tuple[ChunkRecord, ...], same: bool) -> Change:
    """Return the change made to a group of chunks; its kind is empty if nothing differs."""
    if len(old) == len(new) == 1:
        differing = _differing(old[0], new[0])
        return Change(_kind(old[0], new[0], differing), old, new, differing)
    if not old or not new:
        return Change("removed" if old else "added", old, new)
    return Change("recut" if same else "changed", old, new)


def _differing(old: ChunkRecord, new: ChunkRecord) -> tuple[str, ...]:
    """Return the names of the fields in which two chunks differ.

    The first chunk of a document has no cut, wherever it was before, so an empty cut is ignored.
    """
    names = [f.name for f in fields(ChunkRecord) if f.name != "cut" or (old.cut and new.cut)]
    return tuple(name for name in names if getattr(old, name) != getattr(new, name))


def _kind(old: ChunkRecord, new: ChunkRecord, differing: Sequence[str]) -> str:
    """Return the kind of change made to a chunk, or an empty string if nothing differs."""
    compared = {*differing} - _MOVING
    if "text" in compared and old.content_hash == new.content_hash:
        compared.discard("text")
    if not compared <= _EMBEDDING:
        return "changed"
    if "embed_hash" in compared:
        return "embedding"
    return "renamed" if compared else "moved" if differing else ""


def _grouped(old: Sequence[ChunkRecord], new: Sequence[ChunkRecord], *, same: bool) -> list[Group]:
    """Group the indices of old and new chunks that correspond, in the order of the new chunks.

    Each chunk is in exactly one group. If the old and the new text are equal (``same``), chunks
    that begin at the same position are paired, and every other chunk belongs to the pair before it.
    Otherwise, chunks with the same text or id are paired, and the others that follow the same pair
    are a group of their own.
    """
    paired = _paired(old, new, _BY_POSITION if same else _BY_TEXT)
    groups: dict[tuple[int, bool], Group] = {}
    for side, chunks in enumerate((old, new)):
        pair, after = -1, True
        for number in range(len(chunks)):
            if number in paired[side]:
                pair, after = paired[side][number], False
            else:
                after = after or not same
            groups.setdefault((pair, after), ([], []))[side].append(number)
    return sorted(groups.values(), key=_place)


def _paired(
    old: Sequence[ChunkRecord], new: Sequence[ChunkRecord], keys: Sequence[_Key]
) -> tuple[dict[int, int], dict[int, int]]:
    """Pair old and new chunks with an equal key, in order, by the first key that is equal.

    Return the number of each paired chunk's pair, for the old and for the new chunks.
    """
    olds: dict[int, int] = {}
    news: dict[int, int] = {}
    for key in keys:
        waiting: dict[Hashable, list[int]] = {}
        for number in reversed(range(len(new))):
            if number not in news:
                waiting.setdefault(key(new[number]), []).append(number)
        for number, chunk in enumerate(old):
            if number not in olds and (others := waiting.get(key(chunk))):
                olds[number] = news[others.pop()] = len(olds)
    return olds, news


# The position of a chunk's first own character. Positions in a notebook are relative to a cell.
_BY_POSITION: Final[Sequence[_Key]] = (
    lambda chunk: (chunk.cell, chunk.start_index + chunk.overlap),
)
_BY_TEXT: Final[Sequence[_Key]] = (
    lambda chunk: (chunk.id, chunk.content_hash),
    lambda chunk: chunk.content_hash,
    lambda chunk: chunk.id,
)


def _place(group: Group) -> tuple[int, bool]:
    olds, news = group
    return (*news, *olds)[0], bool(news)
