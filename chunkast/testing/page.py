"""Renders a comparison as one HTML page that shows old and new chunks side by side.

The page uses the style sheet of ``chunkast view`` and does not contain scripts; its content
security policy forbids anything else. All content from documents is shown as plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from importlib.resources import files
from typing import Final

from chunkast.identity import versions
from chunkast.output.view.report import resource, source_hash
from chunkast.output.view.visible import visible
from chunkast.testing.compare import DocumentDiff
from chunkast.testing.records import ChunkRecord
from chunkast.testing.report import (
    Report,
    causes,
    cut_lines,
    described,
    document_title,
    point,
    summary,
)

__all__ = ("render_page",)

# The number of colours for chunks in the style sheet.
_HUES: Final = 6
# Chunks of these kinds have the same text on both sides.
_SAME_TEXT: Final = frozenset({"moved", "renamed", "embedding"})
_HEAD: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src {policy}">
<meta name="generator" content="chunkast {version}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · chunkast</title>
<style>{style}</style>
</head>
<body>
<header class="top">
<h1>{title}</h1>
"""


def render_page(report: Report, text_of: Callable[[str], str | None]) -> str:
    """Return the HTML page of a report.

    ``text_of`` returns the current text of the document with a given source, or ``None``. If the
    text is unknown, only the beginning and the end of each chunk are shown.
    """
    style = resource("page.css") + (files(__package__) / "page.css").read_bytes().decode("utf-8")
    head = _HEAD.format(
        policy=source_hash(style),
        version=versions()["chunkast"],
        title=escape(visible(" → ".join(report.names))),
        style=style,
    )
    return head + "\n".join(_body(report, text_of)) + "\n</main>\n</body>\n</html>\n"


def _body(report: Report, text_of: Callable[[str], str | None]) -> Iterator[str]:
    yield from (f'<p class="facts">{escape(line)}</p>' for line in summary(report))
    yield '<ul class="notes">'
    yield from (f"<li>{escape(cause)}</li>" for cause in causes(report.diff))
    yield '</ul>\n</header>\n<main class="page">'
    for document in report.diff.documents:
        new = None if document.new is None else text_of(document.new)
        # The old text is only known for a document that was not edited.
        yield from _document(document, (new if document.edited is False else None, new))


def _document(document: DocumentDiff, texts: tuple[str | None, str | None]) -> Iterator[str]:
    yield f'<section class="document">\n<h2>{escape(document_title(document))}</h2>'
    for kind, text, change in described(document):
        yield f'<div class="change">\n<p><strong>{kind}</strong> {escape(text)}</p>'
        if kind not in _SAME_TEXT:
            yield '<div class="sides">'
            for chunks, known in zip((change.old, change.new), texts, strict=True):
                yield f"<div>{''.join(_articles(chunks, known))}</div>"
            yield "</div>"
        yield "</div>"
    cuts = "\n".join(escape(line.text.rstrip()) for line in cut_lines(document))
    yield f'<pre class="cuts">{cuts}</pre>\n</section>' if cuts else "</section>"


def _articles(chunks: Sequence[ChunkRecord], text: str | None) -> Iterator[str]:
    for number, chunk in enumerate(chunks):
        place = chunk.place
        about = f"{chunk.tokens:,} tokens · lines {place.start_line:,}-{place.end_line:,}"
        path = escape(visible(" › ".join(chunk.headings)))
        cut = f"✂ {point(chunk.cut)} · " if chunk.cut else ""
        yield (
            f'<article class="chunk c{number % _HUES}"><header class="head">'
            f'<span class="size">{escape(cut + about)}</span><span class="path">{path}</span>'
            f"</header><pre>{_shown(chunk, text)}</pre></article>"
        )


def _shown(chunk: ChunkRecord, text: str | None) -> str:
    place = chunk.place
    if text is None:
        short = place.end_index - place.start_index <= len(chunk.first)
        return escape(visible(chunk.first if short else f"{chunk.first} … {chunk.last}"))
    own, end = chunk.own
    repeated = escape(visible(text[place.start_index : own]))
    marked = f'<span class="repeated">{repeated}</span>' if repeated else ""
    return marked + escape(visible(text[own:end]))
