"""Describe a comparison as text, as JSON, or as workflow annotations for GitHub."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from typing import Any, Final

from chunkast.errors import ConfigError
from chunkast.output.view.visible import shorten, visible
from chunkast.testing.change_kinds import ALL, ALLOWED, CONFIGURATION, EDITED, KINDS
from chunkast.testing.compare import UNKNOWN, Change, Diff, DocumentDiff, Totals, count_changes
from chunkast.testing.records import ChunkRecord

__all__ = ("REPORTS", "Report", "Rules")

# The maximum number of documents in a text report.
_MOST_DOCUMENTS: Final = 20
# The maximum number of characters of a heading path.
_PATH: Final = 60
# The maximum number of differences between two texts to show, and of characters of each.
_MOST_EDITS: Final = 3
_EDIT: Final = 100
# Longer texts are shown as one difference, as comparing them word by word is slow.
_MOST_WORDS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Rules:
    """The differences that a check allows.

    allow: the allowed kinds of changes (``KINDS``). "edited" allows any change to a new, removed
        or edited document; "configuration" allows a different configuration; "all" allows
        everything.
    most: the maximum number of texts that need re-embedding; ``None`` for no limit.
    share: the same maximum as a share of the chunks, from 0 to 1; ``None`` for no limit.

    Raises ``ConfigError`` for an unknown kind.
    """

    allow: frozenset[str] = frozenset()
    most: int | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        for kind in sorted(self.allow - {*ALLOWED}):
            raise ConfigError("allow", kind, f"must be one of {', '.join(ALLOWED)}")

    def allows(self, document: DocumentDiff, kind: str) -> bool:
        """Return whether a change of this kind is allowed in this document."""
        return not self.allow.isdisjoint({ALL, kind, EDITED if document.state else kind})

    def faults(self, diff: Diff) -> list[str]:
        """Return a description of each difference that is not allowed."""
        faults: list[str] = []
        if diff.config and self.allow.isdisjoint({ALL, CONFIGURATION}):
            faults.append(f"configuration: {', '.join(name for name, _, _ in diff.config)}")
        counts = count_changes(
            change
            for document in diff.documents
            for change in document.changes
            if not self.allows(document, change.kind)
        )
        faults += (f"{counts[kind]:,} {kind}" for kind in KINDS if counts[kind])
        if self.most is not None and diff.embed > self.most:
            faults.append(f"{diff.embed:,} to embed again, at most {self.most:,} may be")
        if self.share is not None and diff.embed > self.share * diff.new.chunks:
            faults.append(f"{_share(diff)} to embed again, at most {self.share:.4g} may be")
        return faults


@dataclass(frozen=True, slots=True)
class Report:
    """A comparison of two snapshots, and the data to report it.

    diff: the differences.
    names: the names of the old and the new snapshot.
    rules: the allowed differences; ``None`` for a report without a verdict.
    paths: the path of each source's file, for sources that have one.
    """

    diff: Diff
    names: tuple[str, str]
    rules: Rules | None = None
    paths: Mapping[str, str] = field(default_factory=dict)

    @property
    def faults(self) -> list[str]:
        """A description of each difference that is not allowed."""
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
        yield visible(document.source) + (f" ({document.state})" if document.state else "")
        for change in document.changes:
            yield f"  {change.kind:<9} {_described(change)}"
            yield from _differences(change)
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
    for state in ("edited", "new", "gone", UNKNOWN):
        sources = [document.source for document in diff.documents if document.state == state]
        if sources:
            yield f"{_counted(len(sources), 'document')} {state}: {_some(sources)}"


def _value(value: Any) -> str:
    return shorten(visible(json.dumps(value, ensure_ascii=False)), _PATH)


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


def _described(change: Change) -> str:
    """Return where a change is, in the old and in the new document, and its details."""
    sides = [side for side in (change.old, change.new) if side]
    run = change.kind not in {"changed", "recut"} and len(sides[-1]) > 1
    counts = dict.fromkeys(f"{len(side):,}" for side in sides)
    lines = dict.fromkeys(
        f"{side[0].start_line:,}-{max(chunk.end_line for chunk in side):,}" for side in sides
    )
    path = "" if run else f"{_path(sides[-1][0])}, "
    chunks = "" if [*counts] == ["1"] else f"{' -> '.join(counts)} chunks, "
    return f"{path}{chunks}lines {' -> '.join(lines)}{_details(change, sides)}"


def _path(chunk: ChunkRecord) -> str:
    """Return a chunk's heading path, or the start of its text, and the cell of a notebook."""
    path = visible(" > ".join(chunk.headings))
    if not path:
        path = shorten(visible(" ".join(chunk.text[: 2 * _PATH].split())), _PATH)
    elif len(path) > _PATH:
        path = f"…{path[1 - _PATH :]}"
    return f"{path}, {visible(chunk.cell)}" if chunk.cell else path


def _details(change: Change, sides: Sequence[Sequence[ChunkRecord]]) -> str:
    """Return the fields or the tokens that differ, with a leading separator, or nothing."""
    if not change.fields:
        tokens = (f"{sum(chunk.token_count for chunk in side):,}" for side in sides)
        return f": {' -> '.join(tokens)} tokens"
    if len(change.new) > 1:
        return ""
    old, new = change.old[0], change.new[0]
    details = [
        f"{name.replace('_', ' ')} {_value(getattr(old, name))} -> {_value(getattr(new, name))}"
        for name in _SHOWN
        if name in change.fields
    ]
    return f": {', '.join(details)}" if details else ""


# The fields whose values are shown.
_SHOWN: Final = ("token_count", "embed_token_count", "headings", "kinds", "cut", "metadata")


def _differences(change: Change) -> Iterator[str]:
    """Yield the words that differ, or the cuts that only one of the two snapshots has."""
    if change.kind == "recut":
        cuts = [("-", chunk) for chunk in change.old[1:]]
        cuts += (("+", chunk) for chunk in change.new[1:])
        for sign, chunk in sorted(cuts, key=lambda cut: (cut[1].own_line, cut[0] == "+")):
            text = " ".join(chunk.own_text[:_EDIT].split())
            yield f"    {sign} line {chunk.own_line:,}, {visible(chunk.cut)}: {visible(text)}"
    elif change.kind == "changed":
        edits = _edits(_words(change.old), _words(change.new))
        for edit in edits[:_MOST_EDITS]:
            for sign, words in zip("-+", edit, strict=True):
                if words:
                    yield f"    {sign} {shorten(visible(' '.join(words)), _EDIT)}"
        if len(edits) > _MOST_EDITS:
            yield f"    and {_counted(len(edits) - _MOST_EDITS, 'more difference')}"


def _words(chunks: Sequence[ChunkRecord]) -> list[str]:
    return "".join([chunks[0].text, *(chunk.own_text for chunk in chunks[1:])]).split()


def _edits(old: list[str], new: list[str]) -> list[tuple[list[str], list[str]]]:
    """Return the words that differ between two texts."""
    if max(len(old), len(new)) > _MOST_WORDS:
        return [(old, new)]
    steps = SequenceMatcher(None, old, new).get_opcodes()
    return [(old[i:j], new[k:m]) for name, i, j, k, m in steps if name != "equal"]


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


def _by_name(values: Iterable[tuple[str, Any, Any]]) -> dict[str, Any]:
    return {name: {"before": before, "now": now} for name, before, now in values}


def _github(report: Report) -> str:
    """Return GitHub workflow commands that annotate the lines of each change."""
    rules = report.rules or Rules(frozenset({ALL}))
    lines = [
        ("notice title=Chunks", text) for text in (*_causes(report.diff), _embedding(report.diff))
    ]
    for document in report.diff.documents:
        path = report.paths.get(document.source, document.source).translate(_IN_PATHS)
        for change in document.changes:
            level = "notice" if rules.allows(document, change.kind) else "error"
            place = f"file={path}"
            if change.new:
                place += f",line={change.new[0].start_line},endLine={change.new[-1].end_line}"
            lines.append((f"{level} {place},title=Chunks {change.kind}", _described(change)))
    if report.faults:
        lines.append(("error title=Chunks", _verdict(report)))
    return "".join(f"::{command}::{text.translate(_IN_TEXTS)}\n" for command, text in lines)


# Characters that a workflow command must escape.
_IN_TEXTS: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PATHS: Final = {**_IN_TEXTS, **str.maketrans({":": "%3A", ",": "%2C"})}


# The first format is the default.
REPORTS: Final[Mapping[str, Callable[[Report], str]]] = {
    "text": _text,
    "json": _json,
    "github": _github,
}
