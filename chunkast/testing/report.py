"""Describes a comparison in words: the causes, the changes, the cuts and the forbidden changes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from chunkast.errors import ConfigError
from chunkast.output.view.visible import shorten, visible
from chunkast.testing.compare import Change, Diff, DocumentDiff, Edge, Totals
from chunkast.testing.kinds import ALL, ALLOWED, CONFIGURATION, EDITED
from chunkast.testing.records import ChunkRecord, CutRecord

__all__ = (
    "ALLOWED",
    "Line",
    "Report",
    "Rules",
    "causes",
    "cut_lines",
    "described",
    "document_title",
    "embedding",
    "lines_of",
    "point",
    "summary",
    "verdict",
)

# The maximum number of characters of a heading path, and of each side of a cut.
_PATH: Final = 60
_SIDE: Final = 34
# Kinds of changes that are described in one line if several follow one another.
_TOGETHER: Final = frozenset({"moved", "renamed", "embedding", "added", "removed"})
# Widths of the columns of cuts.
_LINE_WIDTH: Final = 9
_POINT_WIDTH: Final = 18


@dataclass(frozen=True, slots=True)
class Rules:
    """The differences that a check allows.

    allow: the allowed kinds of changes (``KINDS``). "edited" allows any change to a new, removed,
        renamed or edited document; "configuration" allows a different configuration; "all" allows
        everything.
    most: the maximum number of texts to embed again; ``None`` for any number.
    share: the maximum number of texts to embed again, as a share of the chunks from 0 to 1;
        ``None`` for any share.

    Raises ``ConfigError`` for an unknown kind.
    """

    allow: frozenset[str] = frozenset()
    most: int | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        for kind in sorted(self.allow - {*ALLOWED}):
            raise ConfigError("allow", kind, f"must be one of {', '.join(ALLOWED)}")

    def allows(self, document: DocumentDiff, kind: str) -> bool:
        """Return True if a change of this kind is allowed in this document."""
        changed = bool(document.state)
        return not self.allow.isdisjoint({ALL, kind, *([EDITED] if changed else [])})

    def faults(self, diff: Diff) -> list[str]:
        """Return descriptions of the differences that are not allowed, or an empty list."""
        found: list[str] = []
        if diff.config and self.allow.isdisjoint({ALL, CONFIGURATION}):
            found.append(f"configuration: {', '.join(name for name, _, _ in diff.config)}")
        counts = Counter(
            change.kind
            for document in diff.documents
            for change in document.changes
            if not self.allows(document, change.kind)
        )
        found += (f"{counts[kind]:,} {kind}" for kind in diff.counts if counts[kind])
        if self.most is not None and diff.embed > self.most:
            found.append(f"{diff.embed:,} to embed again, at most {self.most:,} may be")
        if self.share is not None and diff.embed > self.share * diff.new.chunks:
            found.append(f"{_share(diff)} to embed again, at most {self.share:.4g} may be")
        return found


@dataclass(frozen=True, slots=True)
class Report:
    """A comparison with all the data that its report requires.

    diff: the comparison.
    names: the names of the old and the new snapshot.
    rules: the allowed differences; ``None`` for a report without a verdict.
    paths: the file path of each source that has a file.
    most: the maximum number of documents to show in a text or Markdown report; ``None`` for all.
    """

    diff: Diff
    names: tuple[str, str]
    rules: Rules | None = None
    paths: Mapping[str, str] = field(default_factory=dict)
    most: int | None = None

    @property
    def shown(self) -> tuple[DocumentDiff, ...]:
        """The documents that the report shows."""
        return self.diff.documents[: self.most]

    @property
    def left_out(self) -> str:
        """A note about the documents that are not shown, or an empty string if all are shown."""
        more = len(self.diff.documents) - len(self.shown)
        return f"{_counted(more, 'more document')}: --show-all lists them" if more else ""

    @property
    def faults(self) -> list[str]:
        """Descriptions of the differences that are not allowed."""
        return [] if self.rules is None else self.rules.faults(self.diff)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text report.

    ``style`` is "head", "why", "document", a kind of change, "+", "-", "fault" or "fine"; it is
    empty for a blank line.
    """

    style: str
    text: str


def lines_of(report: Report) -> Iterator[Line]:
    """Yield the lines of a text report, without line endings."""
    diff = report.diff
    *sides, last = summary(report)
    yield from (Line("head", line) for line in sides)
    yield from (Line("why", f"why: {cause}") for cause in causes(diff))
    for document in report.shown:
        yield Line("", "")
        yield Line("document", document_title(document))
        for kind, text, _ in described(document):
            yield Line(kind, f"  {kind:<9} {text}")
        yield from cut_lines(document)
    if report.left_out:
        yield Line("", "")
        yield Line("document", report.left_out)
    yield Line("", "")
    yield Line("head", last)
    if report.rules is not None:
        faults = report.faults
        yield Line("fault" if faults else "fine", verdict(report, faults))


def summary(report: Report) -> list[str]:
    """Return a line with the totals of each snapshot, and a line about the texts to embed again."""
    diff = report.diff
    names = [visible(name) for name in report.names]
    width = max(map(len, names))
    rows = map(_totals, (diff.old, diff.new))
    sides = [f"{name:{width}}  {row}" for name, row in zip(names, rows, strict=True)]
    return [*sides, embedding(diff)]


def causes(diff: Diff) -> Iterator[str]:
    """Yield the causes of the differences, one sentence each."""
    for name, old, new in diff.config:
        yield f"configuration: {name} {_value(old)} -> {_value(new)}"
    for name, before, now in diff.versions:
        yield f"version: {name} {before or 'none'} -> {now or 'none'}"
    for state in dict.fromkeys(_STATES.values()):
        named = [_name(d) for d in diff.documents if _STATES[d.state] == state]
        if state and named:
            yield f"{_counted(len(named), 'document')} {state}: {_some(named)}"
    unknown = [d.source for d in diff.documents if d.edited is None]
    if unknown:
        yield (
            f"{_counted(len(unknown), 'document')} edited, or cut differently (chunks alone do not "
            f"show which): {_some(unknown)}"
        )
    same = [d for d in diff.documents if d.edited is False and not d.state and d.changes]
    if same and not diff.config and not diff.versions:
        yield (
            f"not known for {_some([d.source for d in same])}: the same text, configuration and "
            "versions; a heuristic or a counter of your own may have changed"
        )


_STATES: Final = {
    "edited": "edited",
    "new": "new",
    "gone": "gone",
    "renamed": "renamed",
    "renamed and edited": "renamed",
    "": "",
}


def _value(value: Any) -> str:
    return shorten(visible(json.dumps(value, ensure_ascii=False)), _PATH)


def _name(document: DocumentDiff) -> str:
    """Return the name of a document, or both names if the document was renamed."""
    if document.old is None or document.new in (None, document.old):
        return document.source
    return f"{document.old} -> {document.new}"


def _some(names: Sequence[str]) -> str:
    more = len(names) - 3
    return visible(", ".join(names[:3])) + (f" and {more:,} more" if more > 0 else "")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _totals(totals: Totals) -> str:
    full = "" if totals.fill is None else f", {totals.fill:.1%} full"
    return (
        f"{_counted(totals.documents, 'document')}, {_counted(totals.chunks, 'chunk')}, "
        f"{_counted(totals.cuts, 'cut')}, {_counted(totals.tokens, 'token')}{full}"
    )


def document_title(document: DocumentDiff) -> str:
    """Return the name of a document, with its state if the document has changed."""
    state = document.state
    if document.old != document.new and document.old is not None and document.new is not None:
        state = state.replace("renamed", f"renamed from {document.old}")
    return visible(document.source) + (f" ({visible(state)})" if state else "")


def _share(diff: Diff) -> str:
    share = diff.embed / diff.new.chunks if diff.new.chunks else 0
    return f"{share:.1%}"


def embedding(diff: Diff) -> str:
    """Return a line about the texts to embed again."""
    return (
        f"embed again: {diff.embed:,} of {_counted(diff.new.chunks, 'chunk')} ({_share(diff)}), "
        f"{diff.embed_tokens:,} of {_counted(diff.new.embed_tokens, 'token')}"
    )


def verdict(report: Report, faults: Sequence[str]) -> str:
    """Return a line that lists the forbidden changes or says that there are none."""
    if faults:
        return f"not allowed: {'; '.join(faults)}"
    return "all of this is allowed" if report.diff.documents else "nothing has changed"


# Changes


def described(document: DocumentDiff) -> Iterator[tuple[str, str, Change]]:
    """Describe each change to a document; describe a run of similar changes in one line.

    Yields the kind, the line and the first change of each run.
    """
    for (kind, _), group in groupby(document.changes, key=_together):
        changes = list(group)
        text = _alone(changes[0]) if len(changes) == 1 else _several(changes)
        yield kind, text, changes[0]


def _together(change: Change) -> tuple[str, Any]:
    """Return a key that is equal for changes to be described in one line."""
    if change.kind not in _TOGETHER:
        return change.kind, change
    if len(change.old) == len(change.new) == 1:
        return change.kind, (_shift(change), frozenset(change.fields) - {"place"})
    return change.kind, None


def _shift(change: Change) -> int:
    return change.new[0].place.start_line - change.old[0].place.start_line


def _alone(change: Change) -> str:
    return f"{_where(change.new or change.old)}{_details(change)}"


def _several(changes: Sequence[Change]) -> str:
    sides = [change.new or change.old for change in changes]
    first, last = sides[0][0].place.start_line, sides[-1][-1].place.end_line
    tokens = sum(chunk.tokens for side in sides for chunk in side)
    more = _details(changes[0], many=True) or f": {_counted(tokens, 'token')}"
    return f"{_counted(len(changes), 'chunk')}, {_lines(first, last)}{more}"


def _where(chunks: Sequence[ChunkRecord]) -> str:
    """Return a description of where chunks are in their document.

    It contains the heading path of the first chunk, the number of that chunk under the same
    headings, and the lines of all chunks.
    """
    chunk = chunks[0]
    path = _path(chunk.headings) or shorten(visible(" ".join(chunk.first.split())), _PATH)
    part = f" #{chunk.part + 1}" if chunk.part else ""
    cell = f"{visible(chunk.cell)} " if chunk.cell else ""
    return f"{path}{part}, {cell}{_lines(chunk.place.start_line, chunks[-1].place.end_line)}"


def _lines(first: int, last: int) -> str:
    return f"line {first:,}" if first == last else f"lines {first:,}-{last:,}"


def _details(change: Change, *, many: bool = False) -> str:
    """Return the details of a change, with a leading separator, or an empty string.

    ``many`` is true if the change represents several similar changes.
    """
    old, new, differing = change.old, change.new, change.fields
    if not old or not new:
        return "" if many else f": {_counted((old or new)[0].tokens, 'token')}"
    if len(old) > 1 or len(new) > 1:
        counts = (" + ".join(f"{chunk.tokens:,}" for chunk in side) for side in (old, new))
        return f": {' -> '.join(counts)} tokens"
    one, two = old[0], new[0]
    if change.kind == "moved":
        return f": {', '.join(_moved(one, two, differing))}"
    details = [
        f"{name.replace('_', ' ')} {shown(getattr(one, name))} -> {shown(getattr(two, name))}"
        for name, shown in _SHOWN.items()
        if name in differing and not (many and change.kind in _TOGETHER)
    ]
    if change.kind == "renamed":
        details.append("other ids" if many else "other id")
    if change.kind == "embedding":
        other_headings = "headings" in differing
        details.append("embedded under other headings" if other_headings else "other context")
    if change.kind == "changed" and not details:
        same_count = "content_hash" in differing
        details.append(
            "the text, with the same number of tokens" if same_count else ", ".join(differing)
        )
    return f": {', '.join(details)}"


def _moved(old: ChunkRecord, new: ChunkRecord, differing: Sequence[str]) -> list[str]:
    """Return how far a chunk has moved, and the names of other fields that differ."""
    lines = new.place.start_line - old.place.start_line
    characters = new.place.start_index - old.place.start_index
    kept = [name for name in differing if name in ("cut", "cell", "metadata")]
    if lines or characters:
        step, noun = (lines, "line") if lines else (characters, "character")
        return [f"{step:+,} {noun}{'' if abs(step) == 1 else 's'}", *kept]
    return kept or ["white space or overlap"]


def _tokens(value: Any) -> str:
    return f"{value:,}"


def _names(value: Any) -> str:
    return visible(", ".join(value))


def point(value: CutRecord | None) -> str:
    """Return the kind and the score of a break point as text, or "none" for ``None``."""
    if value is None:
        return "none"
    return visible(value.kind) + ("" if value.score is None else f" {value.score:g}")


def _path(value: Any) -> str:
    """Return a heading path as text; shorten a long path at its start."""
    path = visible(" > ".join(value))
    return path if len(path) <= _PATH else f"…{path[1 - _PATH :]}"


# The fields whose values are shown to a reader.
_SHOWN: Final[Mapping[str, Callable[[Any], str]]] = {
    "headings": _path,
    "tokens": _tokens,
    "embed_tokens": _tokens,
    "kinds": _names,
    "cut": point,
    "oversize": str,
}


# Cuts


def cut_lines(document: DocumentDiff) -> Iterator[Line]:
    """Yield a line for each cut that exists in only one of the two snapshots.

    The line shows the text before the cut and the text after it.
    """
    if document.old is None or document.new is None:
        return
    edges = [("-", edge) for edge in document.gone] + [("+", edge) for edge in document.come]
    edges.sort(key=lambda each: (each[1].chunk.place.own_line, each[0] == "+"))
    for sign, edge in edges:
        yield Line(sign, f"  {sign} {_cut(edge)}")


def _cut(edge: Edge) -> str:
    chunk = edge.chunk
    start = chunk.place.own_line
    shown = "" if chunk.cut is None else point(chunk.cut)
    before, after = _side(edge.before, last=True), _side(chunk.first, last=False)
    return f"{f'line {start:,}':<{_LINE_WIDTH}} {shown:<{_POINT_WIDTH}} {before} | {after}"


def _side(text: str, *, last: bool) -> str:
    """Return the line of ``text`` next to a cut; shorten a long line at its other end."""
    lines = [line for line in visible(text).split("\n") if line.strip()] or [""]
    line = lines[-1 if last else 0].strip()
    if len(line) > _SIDE:
        line = f"…{line[1 - _SIDE :]}" if last else shorten(line, _SIDE)
    return f"{line:>{_SIDE}}" if last else line
