"""``chunkast check``: compare documents with a lock."""

from __future__ import annotations

import os
import shlex
from argparse import Namespace
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from chunkast.cli.messages import print_message, print_note
from chunkast.cli.recording import (
    lock_header,
    print_report,
    record,
    source_of,
    stored_root,
    written,
)
from chunkast.cli.shared_options import config_values
from chunkast.cli.work import Tally, results, root_of, selected
from chunkast.errors import ConfigError, UsageError
from chunkast.files.find import Selection
from chunkast.files.write import open_output

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.testing.compare import Diff
    from chunkast.testing.records import DocumentRecord, Header


def run(options: Namespace) -> int:
    """Compare the documents with the lock, print a report and return the exit code.

    With ``--update``, also rewrite the lock.
    """
    from chunkast.testing.report import Report, Rules

    if options.update and os.environ.get("CI"):
        raise UsageError("--update is refused where CI is set: a person must review the lock")
    rules = Rules(frozenset(options.allow), *(options.max_reembed or ()))
    tally = Tally()
    old, documents = _read(options)
    diff, selection = _compared(options, tally, old, documents or ())
    report = Report(diff, (options.against, "now"), rules)
    wanted = not options.quiet or report.faults or options.format != "text"
    if documents is not None and wanted:
        print_report(options, report, selection)
    if options.update:
        print_message(f"{options.against}: {'unchanged' if tally.failed else 'rewritten'}")
    return 1 if tally.failed or (report.faults and not options.update) else 0


def _read(options: Namespace) -> tuple[Header, list[DocumentRecord] | None]:
    """Return the header and the documents of the lock.

    With ``--update``, the documents are ``None`` if only the header can be read.
    """
    from chunkast.testing.lock import LockError, open_lock

    try:
        with open_lock(options.against) as lock:
            return lock.header, list(lock.documents)
    except LockError as error:
        if not os.path.lexists(options.against):
            raise UsageError(f"{error}; {_snapshot(options)} makes it") from None
        if error.header is None or not options.update:
            raise UsageError(str(error)) from None
        print_note(f"{options.against}: not compared: {error.reason.partition(';')[0]}")
        return error.header, None


def _compared(
    options: Namespace, tally: Tally, old: Header, documents: Iterable[DocumentRecord]
) -> tuple[Diff, Selection]:
    """Return the differences between the lock and the documents, and the selected files.

    With ``--update``, also rewrite the lock.
    """
    from chunkast.testing.compare import compare

    with open_output(options.against) if options.update else nullcontext() as output:
        chunker = _chunker(options, old)
        root = root_of(options, stored_root(old, options.against))
        header = lock_header(chunker, root, options.against)
        selection = selected(options, root=root)
        lock = os.path.realpath(options.against)
        selection.files = [f for f in selection.files if os.path.realpath(f.path) != lock]
        with results(options, selection, chunker, record, tally) as records:
            new = records if output is None else written(output, header, records)
            diff = compare((old, documents), (header, new))
        if output is not None:
            output.complete = tally.documents > 0 and not tally.failed
    # Nothing is known of the chunks of an input that failed.
    unknown = {source_of(file) for file in selection.files if file.path in tally.failed}
    known = tuple(each for each in diff.documents if each.source not in unknown)
    return replace(diff, documents=known), selection


def _chunker(options: Namespace, header: Header) -> Chunker:
    """Return a chunker with the lock's configuration, overridden by the given options."""
    from chunkast.chunker import Chunker
    from chunkast.testing.records import ObjectError, config_of

    values = config_values(options)
    try:
        return Chunker(config_of(header, values))
    except ObjectError as error:
        raise UsageError(
            f"{options.against}: {error}; check it in pytest, with the fixture chunk_snapshot"
        ) from None
    except ConfigError as error:
        # The field may have a key: scores['h1'].
        if error.field.partition("[")[0] in values:
            raise
        raise UsageError(
            f"{options.against}: {error}; {_snapshot(options)} makes it again"
        ) from None


def _snapshot(options: Namespace) -> str:
    """Return the command that makes the lock, in quotation marks."""
    paths = " ".join(map(shlex.quote, (*options.paths, "-o", options.against)))
    return f"'chunkast snapshot {paths}', with its options,"
