"""Code shared by ``snapshot``, ``check`` and ``diff``: recording documents and printing reports."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from chunkast.cli.messages import print_text
from chunkast.cli.options import add_report_format
from chunkast.cli.work import Document, Parts
from chunkast.errors import SourceError, UsageError
from chunkast.files.find import Selection
from chunkast.files.paths import Root
from chunkast.files.read import InputFile, read_document
from chunkast.files.write import open_output

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.testing.records import DocumentRecord, Header
    from chunkast.testing.report import Report

__all__ = (
    "add_report",
    "lock_errors",
    "print_report",
    "record",
    "relative_root",
    "source_of",
    "stored_root",
)

# The name of standard input in a lock.
_STDIN: Final = "-"
_FORMATS: Final = ("text", "json", "github", "markdown")
# The maximum number of documents in a text or Markdown report without --show-all.
_MOST_SHOWN: Final = 20


def add_report(parser: ArgumentParser) -> None:
    """Add the options that control the report of a comparison."""
    add_report_format(parser, "; github: workflow annotations", _FORMATS)
    parser.add_argument(
        "--html", metavar="PAGE", help="also write an HTML page with both sides of every change"
    )
    parser.add_argument(
        "--show-all",
        action="store_true",
        help=f"show all documents as text and as Markdown, not only the first {_MOST_SHOWN}",
    )


def source_of(file: InputFile) -> str:
    """Return the name under which a lock records ``file``."""
    return file.source or _STDIN


def relative_root(root: Root, lock: str | None) -> str:
    """Return the path of ``root`` relative to the lock's folder, which is stored in the lock.

    Return an empty string if the lock is written to stdout or is on another drive.
    """
    if lock is None:
        return ""
    try:
        relative = os.path.relpath(root.real, os.path.dirname(os.path.realpath(lock)))
    except ValueError:  # on another drive of Windows
        return ""
    return PurePath(relative).as_posix()


def stored_root(header: Header, lock: str) -> str:
    """Return the path of the root that a lock stores, or an empty string.

    A lock stores the path relative to its own folder (see :func:`relative_root`).
    """
    return header.root and os.path.join(os.path.dirname(os.path.realpath(lock)), header.root)


def record(chunker: Chunker, given: Document, _parts: Parts) -> DocumentRecord:
    """Chunk a document, and return the record of its chunks."""
    from chunkast.testing.records import record_document

    source, document = given
    return record_document(chunker, source or _STDIN, document)


@contextmanager
def lock_errors() -> Iterator[None]:
    """Convert a ``LockError`` raised in the block to a ``UsageError``."""
    from chunkast.testing.lock import LockError

    try:
        yield
    except LockError as error:
        raise UsageError(str(error)) from None


def print_report(options: Namespace, report: Report, selection: Selection | None = None) -> None:
    """Print a report to stdout, in colour if it is text on a terminal.

    With ``--html``, also write the report as an HTML page.
    """
    from chunkast.testing.forms import REPORTS

    files = {} if selection is None else {source_of(file): file for file in selection.files}
    paths = {source: file.path for source, file in files.items()}
    report = replace(report, paths=paths, most=None if options.show_all else _MOST_SHOWN)
    if options.format == "text" and sys.stdout is not None and sys.stdout.isatty():
        print_text(_coloured(report))
    else:
        print_text(REPORTS[options.format](report))
    if options.html is not None:
        from chunkast.testing.page import render_page

        html = render_page(report, lambda source: _text(files.get(source)))
        with open_output(options.html) as output:
            output.stream.write(html.encode())
            output.complete = True


def _text(file: InputFile | None) -> str | None:
    """Return the text of a document, or ``None`` if it is missing, unreadable or a notebook.

    The chunks of a notebook have positions within its cells, not within one text.
    """
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


# Colours of the terminal's own palette, which are readable in its theme.
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
