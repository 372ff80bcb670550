"""What the commands about snapshots share: which documents, their records, the report."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from chunkast.cli.inputs import InputFile, Selection, read_document, select
from chunkast.cli.messages import UsageError
from chunkast.cli.options import add_report_format
from chunkast.cli.output import open_output
from chunkast.cli.work import Document, Parts
from chunkast.errors import SourceError

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.testing.records import DocumentRecord
    from chunkast.testing.report import Report

__all__ = (
    "STDIN_SOURCE",
    "add_report",
    "lock_errors",
    "print_report",
    "record",
    "select_named",
)

# The name of standard input in a lock.
STDIN_SOURCE: Final = "-"
_FORMATS: Final = ("text", "json", "github", "markdown")
# The most documents of which a reader is shown the changes, unless all are wanted.
_MOST_SHOWN: Final = 20


def add_report(parser: ArgumentParser) -> None:
    """Add the arguments that say how a comparison is reported."""
    add_report_format(parser, "; github: annotations of a workflow", _FORMATS)
    parser.add_argument(
        "--html", metavar="PAGE", help="write a page with both sides of what has changed, too"
    )
    parser.add_argument(
        "--show-all",
        action="store_true",
        help=f"as text and as Markdown: all documents, not only the first {_MOST_SHOWN}",
    )


def select_named(options: Namespace, output: str | None = None) -> Selection:
    """The files that the arguments mean, sorted by their names in a lock."""
    selection = select(options, output)
    selection.files.sort(key=source_of)
    return selection


def source_of(file: InputFile) -> str:
    """The name of a file in a lock."""
    return STDIN_SOURCE if file.source is None else file.source


def record(chunker: Chunker, given: Document, _parts: Parts) -> DocumentRecord:
    """The record of a document."""
    from chunkast.testing.records import record_document

    source, document = given
    return record_document(chunker, STDIN_SOURCE if source is None else source, document)


@contextmanager
def lock_errors() -> Iterator[None]:
    """Say that a lock cannot be used as wrong usage is said."""
    from chunkast.testing.lock import LockError

    try:
        yield
    except LockError as error:
        raise UsageError(str(error)) from None


def print_report(options: Namespace, report: Report, selection: Selection | None = None) -> None:
    """Print a report on stdout, in colour on a terminal, and write its page if it is wanted."""
    from chunkast.testing.forms import REPORTS

    report = replace(report, most=None if options.show_all else _MOST_SHOWN)
    page = REPORTS[options.format](report)
    if options.format == "text" and sys.stdout is not None and sys.stdout.isatty():
        page = _coloured(report)
    with open_output(None) as output:
        output.stream.write(page.encode("utf-8", "backslashreplace"))
    if options.html is not None:
        from chunkast.testing.page import render_page

        files = {} if selection is None else {source_of(file): file for file in selection.files}
        html = render_page(report, lambda source: _text(files.get(source)))
        with open_output(options.html) as output:
            output.stream.write(html.encode())
            output.complete = True


def _text(file: InputFile | None) -> str | None:
    """A document's text; ``None`` for a notebook, whose chunks are those of its cells."""
    if file is None:
        return None
    try:
        document = read_document(file)
    except SourceError:
        return None
    return document if isinstance(document, str) else None


def _coloured(report: Report) -> str:
    from rich.console import Console
    from rich.text import Text

    from chunkast.testing.report import lines_of

    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        for line in lines_of(report):
            console.print(Text(line.text, style=_STYLES.get(line.style, "")), soft_wrap=True)
    return captured.get()


# The colours of a terminal's own palette, which its owner can read.
_STYLES: Final = {
    "why": "bold yellow",
    "document": "bold",
    "+": "green",
    "-": "red",
    "added": "green",
    "removed": "red",
    "moved": "dim",
    "renamed": "dim",
    "fault": "bold red",
    "fine": "bold green",
}
