"""``chunkast index``: keep a database of the chunks of documents up to date."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from chunkast.cli.files import is_folder, is_there
from chunkast.cli.inputs import InputFile, Selection, named_part, read_bytes, select
from chunkast.cli.messages import UsageError, counted, say, say_note
from chunkast.cli.names import Root
from chunkast.cli.options import (
    add_config,
    add_database,
    add_report_format,
    add_selection,
    config_of,
)
from chunkast.cli.output import open_output
from chunkast.cli.work import Document, Parts, Tally, results
from chunkast.errors import SourceError, StoreError

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.index import IndexedDocument, IndexReport, Store
    from chunkast.index.writing import Writing

__all__ = ("DESCRIPTION", "HELP", "OPERANDS", "add_arguments", "run")

HELP: Final = "keep a database of the chunks of documents up to date"
DESCRIPTION: Final = (
    "Chunk Markdown documents into an SQLite database. Documents that have not "
    "changed are skipped, those that are gone removed. All of it happens at once at the end; "
    "a run that is stopped leaves the database as it was. What is damaged in it is made again. "
    "Prints what changed, how many chunks have to be embedded, how many take over a vector that "
    "another had, and the state's digest."
)
OPERANDS: Final = "paths"
# The setting that says what the names in an index are relative to.
_ROOT: Final = "root"


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    add_selection(
        parser,
        text="the folders, files and globs to index, all of them at once",
        root="what the database remembers; at first the folder given, of several the current one",
    )
    add_database(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would change, and change nothing"
    )
    parser.add_argument(
        "--replace",
        action="store_true",
        help="remove documents of other paths or another root than those given",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="check everything in the database, print a line for each fault, and change nothing; "
        "without PATHS",
    )
    add_report_format(parser, "; json lists the ids")
    add_config(parser)


def run(options: Namespace) -> int:
    """Bring the database up to date; 1 if some of the input failed."""
    if options.verify:
        return _verify(options)
    from chunkast.chunker import Chunker
    from chunkast.index import Store

    started = perf_counter()
    if "-" in options.paths:
        raise UsageError("index takes folders and files, not standard input")
    chunker = Chunker(config_of(options))
    tally = Tally()
    # A trial run leaves no files, an empty database neither.
    path = ":memory:" if options.dry_run and not is_there(options.db) else options.db
    with Store(path, create=True) as store:
        report = _update(store, options, chunker, tally)
    with open_output(None) as output:
        output.stream.write(_page(report, options.format).encode())
    if report.faults and not options.quiet:
        say_note(
            f"{options.db}: {counted(len(report.faults), 'fault')} mended: {report.faults[0]}"
            f"{', ...' if len(report.faults) > 1 else ''}"
        )
    if not options.quiet:
        seconds = perf_counter() - started
        failed = f", {tally.failures:,} failed" if tally.failures else ""
        say(
            f"{counted(report.documents, 'file')}, {report.written:,} new or changed, "
            f"{seconds:.2f} s{failed}{' (nothing was kept)' if options.dry_run else ''}"
        )
    return 1 if tally.failures else 0


def _verify(options: Namespace) -> int:
    """Print what is damaged; 1 if anything is."""
    from chunkast.index import Store

    if options.paths:
        raise UsageError("index --verify takes no paths: it reads the database alone")
    with Store(options.db, read_only=True) as store:
        faults = store.faults()
    with open_output(None) as output:
        page = json.dumps(faults, ensure_ascii=False, indent=1) + "\n"
        lines = "".join(f"{options.db}: {fault}\n" for fault in faults)
        form = lines if options.format == "text" else page
        output.stream.write(form.encode("utf-8", "backslashreplace"))
    if not options.quiet:
        say(f"{options.db}: {counted(len(faults), 'fault')}")
    return 1 if faults else 0


def _update(store: Store, options: Namespace, chunker: Chunker, tally: Tally) -> IndexReport:
    def wait() -> None:
        if not options.quiet:
            say_note(f"{options.db}: waiting for another run that writes to it")

    with store.writing(chunker, dry_run=options.dry_run, on_wait=wait) as run:
        before = run.settings.get(_ROOT)
        root = Root.at(options.root or _default_root(before, options.paths, first=not run.absent()))
        selection = select(options, root=root)
        if any(file.data is not None for file in selection.files):
            raise UsageError("index takes folders and files, not pipes")
        _leave_out_unnameable(selection)
        new = _new_files(run, selection)
        gone = _gone(run, selection, root)
        here = _stored(root.real)
        if not options.replace:
            _check_lost(gone, selection, root, options, before if before != here else None)
        run.settings[_ROOT] = here
        for source in gone:
            run.remove(source)
        documents = results(options, replace(selection, files=new), chunker, _index, tally)
        with closing(documents):
            for document in documents:
                run.put(document)
    return run.report


def _default_root(before: str | None, paths: Sequence[str], *, first: bool) -> str:
    """The root that the database remembers; of a first run the folder given, if it is one.

    A database that ``chunkast chunk`` made remembers none: its names are as that command's.
    """
    if before is not None and is_folder(before):
        return before
    if (first or before is not None) and len(paths) == 1 and is_folder(paths[0]):
        return paths[0]
    return "."


def _stored(folder: str) -> str:
    # The database takes UTF-8 alone, and a folder's name may be any bytes.
    return os.fsencode(folder).decode("utf-8", "backslashreplace")


def _leave_out_unnameable(selection: Selection) -> None:
    """A name that is not valid UTF-8 could not be told from others in the database."""
    for file in list(selection.files):
        try:
            (file.source or "").encode()
        except UnicodeEncodeError:
            selection.files.remove(file)
            selection.problems.append(SourceError(file.path, "its name is not valid UTF-8"))


def _new_files(run: Writing, selection: Selection) -> list[InputFile]:
    """The files that have to be chunked; the others are kept."""
    from chunkast.index import text_hash

    new: list[InputFile] = []
    for file in selection.files:
        try:
            known = run.knows(file.source or "", text_hash(read_bytes(file.path)))
        except SourceError:
            known = False  # it is read, and reported, once more
        if known:
            run.keep(file.source or "")
        else:
            new.append(file)
    return new


def _gone(run: Writing, selection: Selection, root: Root) -> list[str]:
    """The stored documents that no longer exist; where nobody could look, they are kept."""
    present = {file.source for file in selection.files}
    unseen = [root.find(problem.path) for problem in selection.problems]
    return [
        source
        for source in run.absent()
        if source not in present
        and not any(where is not None and _is_below(source, where) for where in unseen)
    ]


def _is_below(source: str, where: str) -> bool:
    """Whether a document is a file, or in a folder, of this name."""
    return where in ("", source) or source.startswith(f"{where}/")


def _check_lost(
    gone: Sequence[str],
    selection: Selection,
    root: Root,
    options: Namespace,
    old_root: str | None,
) -> None:
    """Raise ``StoreError`` rather than remove what the paths do not cover.

    ``old_root`` is the root of the names in ``gone`` where it is another one.
    """
    if old_root is None:
        given = [root.find(named_part(path)) for path in options.paths]
        lost = [
            source
            for source in gone
            if not any(where is not None and _is_below(source, where) for where in given)
            and is_there(os.path.join(root.real, source))
        ]
        why = f"not below the paths given ({', '.join(lost[:1])}{', ...' if lost[1:] else ''})"
    else:
        # A file that has another name now is not lost.
        there = {_stored(os.path.realpath(file.path)) for file in selection.files}
        lost = [source for source in gone if os.path.join(old_root, source) not in there]
        why = f"not in {_stored(root.real)}"
    if lost:
        verb = "it is" if len(lost) == 1 else "they are"
        made = "" if old_root is None else f"made from {old_root}; "
        raise StoreError(
            options.db,
            f"{made}{counted(len(lost), 'document')} of it would be removed, for {verb} {why}; "
            "give all its paths, another --db, or --replace to go on",
        )


def _index(chunker: Chunker, given: Document, _parts: Parts) -> IndexedDocument:
    """Chunk a document for the database."""
    from chunkast.index import index_document

    source, document = given
    return index_document(chunker, source or "", document)


def _page(report: IndexReport, form: str) -> str:
    if form == "text":
        vectors = f"embed {len(report.embed):,}, reuse {len(report.reuse):,}"
        return f"{report}\n{vectors}\ndigest {report.digest}\n"
    values: dict[str, Any] = {
        "added": report.added,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "moved": report.moved,
        "embed": report.embed,
        "reuse": report.reuse,
        "repeats": report.repeats,
        "digest": report.digest,
    }
    return json.dumps(values, indent=1) + "\n"
