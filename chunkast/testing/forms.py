"""Formats reports as text, JSON, GitHub workflow annotations or Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any, Final

from chunkast.testing.compare import DocumentDiff, Edge
from chunkast.testing.report import (
    Report,
    Rules,
    causes,
    cut_lines,
    described,
    document_title,
    embedding,
    lines_of,
    verdict,
)

__all__ = ("REPORTS",)


def _text(report: Report) -> str:
    return "".join(f"{line.text.rstrip()}\n" for line in lines_of(report))


def _json(report: Report) -> str:
    diff = report.diff
    values: dict[str, Any] = {
        "before": {"name": report.names[0], **asdict(diff.old), "fill": diff.old.fill},
        "now": {"name": report.names[1], **asdict(diff.new), "fill": diff.new.fill},
        "why": {
            "configuration": _differences(diff.config),
            "versions": _differences(diff.versions),
            "sentences": list(causes(diff)),
        },
        "counts": diff.counts,
        "documents": [_document_data(document) for document in diff.documents],
        "embed": {"chunks": diff.embed, "tokens": diff.embed_tokens},
    }
    if report.rules is not None:
        values["not_allowed"] = report.faults
    return json.dumps(values, ensure_ascii=True, indent=1) + "\n"


def _differences(found: Iterable[tuple[str, Any, Any]]) -> dict[str, Any]:
    return {name: {"before": before, "now": now} for name, before, now in found}


def _document_data(document: DocumentDiff) -> dict[str, Any]:
    return {
        "before": document.old,
        "now": document.new,
        "edited": document.edited,
        "changes": [
            {
                "kind": change.kind,
                "fields": change.fields,
                "before": [asdict(chunk) for chunk in change.old],
                "now": [asdict(chunk) for chunk in change.new],
            }
            for change in document.changes
        ],
        "cuts_before": [_edge_data(edge) for edge in document.gone],
        "cuts_now": [_edge_data(edge) for edge in document.come],
    }


def _edge_data(edge: Edge) -> dict[str, Any]:
    chunk = edge.chunk
    cut = {"kind": None, "score": None} if chunk.cut is None else asdict(chunk.cut)
    line = chunk.place.own_line
    return {"line": line, **cut, "before": edge.before, "after": chunk.first}


def _github(report: Report) -> str:
    """Return GitHub workflow commands that annotate the lines of each change."""
    rules = report.rules or Rules(frozenset({"all"}))
    lines = [
        _annotation("notice", {"title": "Why chunks changed"}, why) for why in causes(report.diff)
    ]
    for document in report.diff.documents:
        path = report.paths.get(document.new or "", document.new or "")
        for kind, text, change in described(document):
            level = "notice" if rules.allows(document, kind) else "error"
            where: dict[str, object] = {"title": f"Chunks {kind}"}
            if change.new:
                place = change.new[0].place
                end = change.new[-1].place.end_line
                where = {"file": path, "line": place.start_line, "endLine": end, **where}
            lines.append(_annotation(level, where, f"{document_title(document)}: {text}"))
    lines.append(_annotation("notice", {"title": "Chunks"}, embedding(report.diff)))
    if report.faults:
        lines.append(_annotation("error", {"title": "Chunks"}, verdict(report, report.faults)))
    return "".join(f"{line}\n" for line in lines)


def _annotation(level: str, where: Mapping[str, object], message: str) -> str:
    properties = ",".join(
        f"{name}={_escaped(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in where.items()
    )
    return f"::{level} {properties}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _markdown(report: Report) -> str:
    """Return a comment for a pull request, with the causes, a table and collapsed details."""
    diff = report.diff
    counts = ", ".join(f"{count:,} {kind}" for kind, count in diff.counts.items())
    lines = [f"### Chunks: {counts or 'nothing has changed'}", ""]
    lines += [f"- {_marked(cause)}" for cause in causes(diff)]
    lines += [
        f"- {_marked(embedding(diff))}",
        *([f"- **{_marked(verdict(report, report.faults))}**"] if report.rules else []),
        "",
        "| | documents | chunks | cuts | tokens | full |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, each in zip(report.names, (diff.old, diff.new), strict=True):
        full = "" if each.fill is None else f"{each.fill:.1%}"
        figures = (each.documents, each.chunks, each.cuts, each.tokens)
        cells = " | ".join(f"{figure:,}" for figure in figures)
        lines.append(f"| {_marked(name)} | {cells} | {full} |")
    for document in report.shown:
        rows = [f"{kind:<9} {text}" for kind, text, _ in described(document)]
        rows += [line.text[2:] for line in cut_lines(document)]
        fence = "`" * 3
        while any(fence in row for row in rows):
            fence += "`"
        summary = _marked(document_title(document))
        lines += ["", f"<details><summary>{summary}</summary>", "", f"{fence}text"]
        lines += [*(row.rstrip() for row in rows), fence, "", "</details>"]
    lines += ["", _marked(report.left_out)] if report.left_out else []
    return "\n".join(lines) + "\n"


def _marked(text: str) -> str:
    """Escape every character that has a special meaning in Markdown or HTML."""
    return "".join(f"&#{ord(c)};" if c in "&<>\\`*_[]|#!~" else c for c in text)


# The first format is the default.
REPORTS: Final[Mapping[str, Callable[[Report], str]]] = {
    "text": _text,
    "json": _json,
    "github": _github,
    "markdown": _markdown,
}
