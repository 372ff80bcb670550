"""``chunkast index``: keep a database of the chunks of documents up to date."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from chunkast.cli.messages import counted, print_json, print_text, say, say_note
from chunkast.cli.options import (
    add_config,
    add_database,
    add_report_format,
    add_selection,
    config_of,
)
from chunkast.cli.work import Document, Parts, Tally, results, root_of, selected
from chunkast.errors import SourceError, StoreError, UsageError
from chunkast.files.find import Selection, named_part
from chunkast.files.paths import Root, is_there
from chunkast.files.read import InputFile
from chunkast.text.files import read_bytes

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.index import IndexedDocument, IndexReport, Store
    from chunkast.index.writing import Writing

__all__ = ("COMMON", "DESCRIPTION", "EXAMPLES", "HELP", "OPERANDS", "add_arguments", "run")

HELP: Final = "keep a database of the chunks of documents up to date"
DESCRIPTION: Final = (
    "Chunk Markdown documents into an SQLite database. Unchanged documents are skipped, deleted "
    "ones are removed. All changes are stored together at the end; an interrupted run leaves the "
    "database unchanged. Damaged data is created again. Prints the changes, how many chunks need "
    "embedding, how many reuse the vector of another chunk, and the digest of the state."
)
EXAMPLES: Final = (
    "chunkast index docs --db chunks.db --max-tokens 512",
    "chunkast index docs --db chunks.db --dry-run",
)
COMMON: Final = "db max_tokens overlap encoding dry_run replace verify format root quiet"
OPERANDS: Final = "paths"
# The setting for the folder that the names in an index are relative to.
_ROOT: Final = "root"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments to ``parser``."""
    add_selection(parser, text="all folders, files and globs to index")
    add_database(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="print the changes without making them"
    )
    parser.add_argument(
        "--replace",
        action="store_true",
        help="also remove documents outside the given paths, or of another root",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="check the whole database and print a line for each fault; changes nothing and takes "
        "no PATHS",
    )
    add_report_format(parser, "; json lists the ids")
    add_config(parser)


def run(options: Namespace) -> int:
    """Update the database, or check it with ``--verify``. Return the exit code."""
    if options.verify:
        return _verify(options)
    from chunkast.chunker import Chunker
    from chunkast.index import Store

    if "-" in options.paths:
        raise UsageError("index takes folders and files, not standard input")
    tally = Tally()
    chunker = Chunker(config_of(options))
    # A dry run leaves no files, not even an empty database.
    path = ":memory:" if options.dry_run and not is_there(options.db) else options.db
    with tally.stoppable(options.db), Store(path, create=True) as store:
        report = _update(store, options, chunker, tally)
    if options.format == "json":
        print_json(_values(report))
    else:
        vectors = f"embed {len(report.embed):,}, reuse {len(report.reuse):,}"
        print_text(f"{report}\n{vectors}\ndigest {report.digest}\n")
    if report.faults and not options.quiet:
        say_note(
            f"{options.db}: {counted(len(report.faults), 'fault')} repaired: {report.faults[0]}"
            f"{', ...' if len(report.faults) > 1 else ''}"
        )
    if not options.quiet:
        tally.say_summary(
            counted(report.documents, "file"),
            f"{report.written:,} new or changed",
            note=" (nothing was stored)" if options.dry_run else "",
        )
    return tally.exit_code


def _verify(options: Namespace) -> int:
    """Print the faults in the database. Return 1 if there are any, else 0."""
    from chunkast.index import Store

    if options.paths:
        raise UsageError("index --verify takes no paths: it only reads the database")
    with Store(options.db, read_only=True) as store:
        faults = store.faults()
    if options.format == "json":
        print_json(faults)
    else:
        print_text("".join(f"{options.db}: {fault}\n" for fault in faults))
    if not options.quiet:
        say(f"{options.db}: {counted(len(faults), 'fault')}")
    return 1 if faults else 0


def _update(store: Store, options: Namespace, chunker: Chunker, tally: Tally) -> IndexReport:
    def wait() -> None:
        if not options.quiet:
            say_note(f"{options.db}: waiting for another run that writes to it")

    with store.writing(chunker, dry_run=options.dry_run, on_wait=wait) as run:
        before = run.settings.get(_ROOT)
        root = root_of(options, before)
        selection = selected(options, root=root)
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


def _stored(folder: str) -> str:
    # The database only stores UTF-8, and a folder's name may be any bytes.
    return os.fsencode(folder).decode("utf-8", "backslashreplace")


def _leave_out_unnameable(selection: Selection) -> None:
    """Remove files whose names are not valid UTF-8, and report each as a problem.

    The database cannot store such names.
    """
    for file in list(selection.files):
        try:
            (file.source or "").encode()
        except UnicodeEncodeError:
            selection.files.remove(file)
            selection.problems.append(SourceError(file.path, "its name is not valid UTF-8"))


def _new_files(run: Writing, selection: Selection) -> list[InputFile]:
    """Return the new, changed and unreadable files; keep the stored documents of all others."""
    from chunkast.index import text_hash

    new: list[InputFile] = []
    for file in selection.files:
        try:
            known = run.knows(file.source or "", text_hash(read_bytes(file.path)))
        except SourceError:
            known = False  # the file is read again later, and the error is reported then
        if known:
            run.keep(file.source or "")
        else:
            new.append(file)
    return new


def _gone(run: Writing, selection: Selection, root: Root) -> list[str]:
    """Return the names of stored documents that were not selected.

    Documents at or below a path that could not be read are not included.
    """
    present = {file.source for file in selection.files}
    unseen = [root.find(problem.path) for problem in selection.problems]
    return [
        source for source in run.absent() if source not in present and not _is_below(source, unseen)
    ]


def _is_below(source: str, names: Iterable[str | None]) -> bool:
    """Return true if ``source`` is one of the named files, or is in one of the named folders."""
    known = (name for name in names if name is not None)
    return any(name in ("", source) or source.startswith(f"{name}/") for name in known)


def _check_lost(
    gone: Sequence[str],
    selection: Selection,
    root: Root,
    options: Namespace,
    old_root: str | None,
) -> None:
    """Raise ``StoreError`` if the update would remove documents that the given paths do not cover.

    ``old_root`` is the root stored in the database if it differs from ``root``, else ``None``.
    """
    if old_root is None:
        given = [root.find(named_part(path)) for path in options.paths]
        lost = [
            source
            for source in gone
            if not _is_below(source, given) and is_there(os.path.join(root.real, source))
        ]
        why = f"not below the given paths ({', '.join(lost[:1])}{', ...' if lost[1:] else ''})"
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
            f"{made}{counted(len(lost), 'document')} would be removed, as {verb} {why}; "
            "give all paths, another --db, or --replace to remove documents",
        )


def _index(chunker: Chunker, given: Document, _parts: Parts) -> IndexedDocument:
    from chunkast.index import index_document

    source, document = given
    return index_document(chunker, source or "", document)


def _values(report: IndexReport) -> dict[str, Any]:
    names = "added changed unchanged removed moved embed reuse repeats digest"
    return {name: getattr(report, name) for name in names.split()}
