"""``chunkast chunk``: write the chunks of documents to stdout or to a file."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from chunkast.cli.messages import counted
from chunkast.cli.preview import is_terminal, write_preview
from chunkast.cli.shared_options import config_of
from chunkast.cli.work import Document, Tally, cut_off, results, selected
from chunkast.errors import UsageError
from chunkast.files.write import open_output
from chunkast.model import Chunk
from chunkast.output.formats import WRITERS, Format, format_of

if TYPE_CHECKING:
    from chunkast.chunker import Chunker


class _Made(NamedTuple):
    """A document's chunks, or their bytes in the output format, with counts for the summary."""

    chunks: int
    tokens: int
    cut: int
    kept: list[Chunk]
    data: bytes


@dataclass(slots=True)
class _Totals(Tally):
    chunks: int = 0
    tokens: int = 0
    cut: int = 0

    def added(self, documents: Iterable[_Made]) -> Iterator[_Made]:
        for document in documents:
            self.chunks += document.chunks
            self.tokens += document.tokens
            self.cut += document.cut
            yield document


def run(options: Namespace) -> int:
    """Write the chunks of the selected documents. Return 1 if any cannot be processed, else 0."""
    from chunkast.chunker import Chunker

    totals = _Totals()
    # Created before anything is read, so that an invalid encoding is reported first.
    chunker = Chunker(config_of(options))
    path = None if options.output == "-" else options.output
    form = WRITERS[format_of(path, options.format)]
    terminal = path is None and is_terminal()
    preview = terminal and options.format is None and options.output is None
    if preview:
        form = Format(write_preview)
    elif terminal and form.binary:
        raise UsageError(f"--format {options.format} is binary, not for a terminal; give -o FILE")
    with totals.stoppable(path), open_output(path) as output:
        selection = selected(options, path)
        task = partial(_chunk, form)
        # No progress bar among the chunks on one terminal; a preview follows the bar.
        shown = BytesIO()
        stream, progress = (shown, True) if preview else (output.stream, not terminal)
        with results(options, selection, chunker, task, totals, progress=progress) as made:
            _write(totals.added(made), form, stream, chunker)
        output.stream.write(shown.getvalue())
        output.complete = totals.documents > 0
    cut = counted(totals.cut, "chunk")
    totals.print_summary(
        counted(totals.documents, "file"),
        counted(totals.chunks, "chunk"),
        counted(totals.tokens, "token"),
        note=f"; the model would not read {cut} to the end" if totals.cut else "",
    )
    return totals.exit_code


def _chunk(form: Format, chunker: Chunker, item: Document) -> _Made:
    from chunkast.sources.documents import iter_document

    source, document = item
    chunks = list(iter_document(chunker, document, source))
    tokens = sum(chunk.token_count for chunk in chunks)
    cut = sum(bool(cut_off(chunker, chunk.embed_token_count)) for chunk in chunks)
    out = BytesIO()
    if form.joins:
        form.write(chunks, out, chunker)
    kept = [] if form.joins else chunks
    return _Made(len(chunks), tokens, cut, kept, out.getvalue())


def _write(documents: Iterable[_Made], form: Format, stream: BinaryIO, chunker: Chunker) -> None:
    if not form.joins:
        form.write((chunk for each in documents for chunk in each.kept), stream, chunker)
        return
    for document in documents:
        stream.write(document.data)
        # The reader gets a document's chunks while the next document is chunked.
        stream.flush()
