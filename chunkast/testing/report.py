"""Describe a comparison as text, as JSON, or as workflow annotations for GitHub."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from itertools import groupby, pairwise
from typing import Any, Final

from chunkast.errors import ConfigError
from chunkast.output.view.visible import shorten, visible
from chunkast.testing.compare import Change, Diff, DocumentDiff, Totals
from chunkast.testing.kinds import ALL, ALLOWED, CONFIGURATION, EDITED
from chunkast.testing.records import ChunkRecord

__all__ = ("REPORTS", "Report", "Rules")

# The maximum number of documents in a text report.
_MOST_DOCUMENTS: Final = 20
# The maximum number of characters of a heading path, and of each side of a cut.
_PATH: Final = 60
_SIDE: Final = 34
# The maximum number of differences between two texts to show, and of characters of each.
_MOST_EDITS: Final = 3
_EDIT: Final = 100
# Longer parts of a text are shown as one difference, as comparing them word by word is slow.
_MOST_WORDS: Final = 500
# Kinds of changes that are described in one line if several follow one another.
_TOGETHER: Final = frozenset({"moved", "renamed", "embedding", "added", "removed"})


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
    """

    diff: Diff
    names: tuple[str, str]
    rules: Rules | None = None
    paths: Mapping[str, str] = field(default_factory=dict)

    @property
    def faults(self) -> list[str]:
        """Descriptions of the differences that are not allowed."""
        return [] if self.rules is None else self.rules.faults(self.diff)


# Text


def _text(report: Report) -> str:
    return "".join(f"{line.rstrip()}\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[str]:
    diff = report.diff
    names = [visible(name) for name in report.names]
    for name, totals in zip(names, (diff.old, diff.new), strict=True):
        yield f"{name:{max(map(len, names))}}  {_totals(totals)}"
    yield from (f"why: {cause}" for cause in _causes(diff))
    for document in diff.documents[:_MOST_DOCUMENTS]:
        yield ""
        yield _title(document)
        for kind, text, changes in _described(document):
            yield f"  {kind:<9} {text}"
            if len(changes) == 1:
                yield from _differences(changes[0])
    more = len(diff.documents) - _MOST_DOCUMENTS
    if more > 0:
        yield ""
        yield f"and {_counted(more, 'more document')}: --format json lists all"
    yield ""
    yield _embedding(diff)
    if report.rules is not None:
        yield _verdict(report)


def _causes(diff: Diff) -> Iterator[str]:
    """Yield the causes of the differences, one sentence each."""
    for name, old, new in diff.config:
        yield f"configuration: {name} {_value(old)} -> {_value(new)}"
    for name, before, now in diff.versions:
        yield f"version: {name} {before or 'none'} -> {now or 'none'}"
    for state in ("edited", "new", "gone", "renamed"):
        named = [_name(d) for d in diff.documents if d.state == state]
        if named:
            yield f"{_counted(len(named), 'document')} {state}: {_some(named)}"
    unknown = [d.source for d in diff.documents if d.edited is None]
    if unknown:
        yield (
            f"{_counted(len(unknown), 'document')} edited, or cut differently (chunks alone do not "
            f"show which): {_some(unknown)}"
        )
    same = [d.source for d in diff.documents if d.edited is False and not d.state and d.changes]
    if same and not diff.config and not diff.versions:
        yield (
            f"not known for {_some(same)}: the same text, configuration and versions; "
            "a heuristic or a counter of your own may have changed"
        )


def _value(value: Any) -> str:
    return shorten(visible(json.dumps(value, ensure_ascii=False)), _PATH)


def _name(document: DocumentDiff) -> str:
    """Return the name of a document, or both names if the document was renamed."""
    renamed = document.state == "renamed"
    return f"{document.old} -> {document.new}" if renamed else document.source


def _some(names: Sequence[str]) -> str:
    more = len(names) - 3
    return visible(", ".join(names[:3])) + (f" and {more:,} more" if more > 0 else "")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _totals(totals: Totals) -> str:
    return (
        f"{_counted(totals.documents, 'document')}, {_counted(totals.chunks, 'chunk')}, "
        f"{_counted(totals.tokens, 'token')}"
    )


def _title(document: DocumentDiff) -> str:
    """Return the name of a document, with its state if the document has changed."""
    return visible(_name(document)) + (f" ({document.state})" if document.state else "")


def _share(diff: Diff) -> str:
    return f"{diff.embed / diff.new.chunks if diff.new.chunks else 0:.1%}"


def _embedding(diff: Diff) -> str:
    return (
        f"embed again: {diff.embed:,} of {_counted(diff.new.chunks, 'chunk')} ({_share(diff)}), "
        f"{diff.embed_tokens:,} of {_counted(diff.new.embed_tokens, 'token')}"
    )


def _verdict(report: Report) -> str:
    if report.faults:
        return f"not allowed: {'; '.join(report.faults)}"
    return "all of this is allowed" if report.diff.documents else "nothing has changed"


# Changes


def _described(document: DocumentDiff) -> Iterator[tuple[str, str, list[Change]]]:
    """Yield the kind, the line and the changes of each run of similar changes."""
    for (kind, _), group in groupby(document.changes, key=_together):
        changes = list(group)
        count = "" if len(changes) == 1 else f"{_counted(len(changes), 'chunk')}, "
        yield kind, f"{count}{_where(changes)}{_details(changes)}", changes


def _together(change: Change) -> tuple[str, Any]:
    """Return a key that is equal for changes to be described in one line."""
    if change.kind not in _TOGETHER:
        return change.kind, change
    shifts = (two.start_line - one.start_line for one, two in zip(change.old, change.new))  # noqa: B905
    return change.kind, next(shifts, None)


def _where(changes: Sequence[Change]) -> str:
    """Return the heading path of a change, unless there are several, and the old and new lines."""
    sides = [side for side in (_chunks(changes, 0), _chunks(changes, 1)) if side]
    lines = dict.fromkeys(
        f"{side[0].start_line:,}-{max(chunk.end_line for chunk in side):,}" for side in sides
    )
    chunk = sides[-1][0]
    cell = f"{visible(chunk.cell)} " if chunk.cell else ""
    path = "" if len(changes) > 1 else f"{_path(chunk)}, "
    return f"{path}{cell}lines {' -> '.join(lines)}"


def _chunks(changes: Sequence[Change], side: int) -> list[ChunkRecord]:
    return [chunk for change in changes for chunk in (change.old, change.new)[side]]


def _path(chunk: ChunkRecord) -> str:
    """Return a chunk's heading path, or the start of its text; shorten a long path at its start."""
    path = visible(" > ".join(chunk.headings))
    if not path:
        return shorten(visible(" ".join(chunk.text[: 2 * _PATH].split())), _PATH)
    return path if len(path) <= _PATH else f"…{path[1 - _PATH :]}"


def _details(changes: Sequence[Change]) -> str:
    """Return the details of similar changes, with a leading separator, or an empty string."""
    change = changes[0]
    if not change.old or not change.new:
        tokens = sum(c.token_count for side in (0, 1) for c in _chunks(changes, side))
        return f": {_counted(tokens, 'token')}"
    if not change.fields:
        counts = (
            " + ".join(f"{c.token_count:,}" for c in side) for side in (change.old, change.new)
        )
        return f": {' -> '.join(counts)} tokens"
    if len(changes) > 1:
        return ""
    old, new = change.old[0], change.new[0]
    details = [
        f"{name.replace('_', ' ')} {_shown(getattr(old, name))} -> {_shown(getattr(new, name))}"
        for name in _SHOWN
        if name in change.fields
    ]
    return f": {', '.join(details)}" if details else ""


# The fields whose values are shown.
_SHOWN: Final = ("token_count", "embed_token_count", "headings", "kinds", "cut", "metadata")


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return visible(", ".join(value))
    return f"{value:,}" if type(value) is int else visible(str(value)) or "none"


def _differences(change: Change) -> Iterator[str]:
    """Yield the changed words of a chunk, or the cuts that only one of the two snapshots has."""
    if change.kind == "changed" and "text" in change.fields:
        edits = list(_edits(change.old[0].text.split(), change.new[0].text.split()))
        for words in edits[:_MOST_EDITS]:
            for sign, side in zip("-+", words, strict=True):
                if side:
                    yield f"    {sign} {shorten(visible(' '.join(side)), _EDIT)}"
        if len(edits) > _MOST_EDITS:
            yield f"    and {_counted(len(edits) - _MOST_EDITS, 'more difference')}"
    elif change.kind in ("split", "merged", "recut"):
        cuts = [("-", *pair) for pair in _cuts(change.old, change.new)]
        cuts += (("+", *pair) for pair in _cuts(change.new, change.old))
        for sign, before, chunk in sorted(cuts, key=lambda cut: (cut[2].own_line, cut[0] == "+")):
            sides = f"{_side(before.text, last=True)} | {_side(_own(chunk), last=False)}"
            yield f"    {sign} {f'line {chunk.own_line:,}':<9} {visible(chunk.cut):<18} {sides}"


def _edits(old: list[str], new: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words that differ between two texts."""
    start, most = 0, min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(old), len(new)) > _MOST_WORDS:
        yield old, new
        return
    for name, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if name != "equal":
            yield old[i:j], new[k:m]


def _cuts(
    chunks: Sequence[ChunkRecord], others: Sequence[ChunkRecord]
) -> Iterator[tuple[ChunkRecord, ChunkRecord]]:
    """Yield the neighbouring chunks between which only one of the two snapshots has a cut."""
    starts = {_side(_own(other), last=False) for other in others[1:]}
    for before, chunk in pairwise(chunks):
        if _side(_own(chunk), last=False) not in starts:
            yield before, chunk


def _own(chunk: ChunkRecord) -> str:
    return chunk.text[chunk.overlap :]


def _side(text: str, *, last: bool) -> str:
    """Return the line of ``text`` next to a cut; shorten a long line at its other end."""
    lines = [line for line in visible(text).split("\n") if line.strip()] or [""]
    line = lines[-1 if last else 0].strip()
    if len(line) > _SIDE:
        line = f"…{line[1 - _SIDE :]}" if last else shorten(line, _SIDE)
    return f"{line:>{_SIDE}}" if last else line


# JSON, GitHub


def _json(report: Report) -> str:
    diff = report.diff
    values: dict[str, Any] = {
        "before": {"name": report.names[0], **asdict(diff.old)},
        "now": {"name": report.names[1], **asdict(diff.new)},
        "why": {
            "configuration": _by_name(diff.config),
            "versions": _by_name(diff.versions),
            "sentences": list(_causes(diff)),
        },
        "counts": diff.counts,
        "documents": [asdict(document) for document in diff.documents],
        "embed": {"chunks": diff.embed, "tokens": diff.embed_tokens},
    }
    if report.rules is not None:
        values["not_allowed"] = report.faults
    return json.dumps(values, ensure_ascii=True, indent=1) + "\n"


def _by_name(found: Iterable[tuple[str, Any, Any]]) -> dict[str, Any]:
    return {name: {"before": before, "now": now} for name, before, now in found}


def _github(report: Report) -> str:
    """Return GitHub workflow commands that annotate the lines of each change."""
    rules = report.rules or Rules(frozenset({ALL}))
    lines = [
        _annotation("notice", {"title": "Why chunks changed"}, why) for why in _causes(report.diff)
    ]
    for document in report.diff.documents:
        path = report.paths.get(document.new or "", document.new or "")
        for kind, text, changes in _described(document):
            level = "notice" if rules.allows(document, kind) else "error"
            where: dict[str, object] = {"title": f"Chunks {kind}"}
            if chunks := _chunks(changes[:1], 1):
                place = {"line": chunks[0].start_line, "endLine": chunks[-1].end_line}
                where = {"file": path, **place, **where}
            lines.append(_annotation(level, where, f"{_title(document)}: {text}"))
    lines.append(_annotation("notice", {"title": "Chunks"}, _embedding(report.diff)))
    if report.faults:
        lines.append(_annotation("error", {"title": "Chunks"}, _verdict(report)))
    return "".join(f"{line}\n" for line in lines)


def _annotation(level: str, where: Mapping[str, object], message: str) -> str:
    properties = ",".join(
        f"{name}={_escaped(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in where.items()
    )
    return f"::{level} {properties}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


# The first format is the default.
REPORTS: Final[Mapping[str, Callable[[Report], str]]] = {
    "text": _text,
    "json": _json,
    "github": _github,
}
