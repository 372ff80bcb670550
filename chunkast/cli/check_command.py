"""``chunkast check``: compare documents with a lock."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from chunkast.cli.messages import print_message, print_note
from chunkast.cli.recording import (
    add_report,
    lock_header,
    print_report,
    record,
    source_of,
    stored_root,
    written,
)
from chunkast.cli.shared_options import add_config, add_flags, add_selection, config_values
from chunkast.cli.work import Tally, results, root_of, selected
from chunkast.errors import ConfigError, UsageError
from chunkast.files.find import Selection
from chunkast.files.write import open_output
from chunkast.testing.change_kinds import ALLOWED

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.testing.compare import Diff
    from chunkast.testing.records import DocumentRecord, Header

HELP: Final = "compare documents with a lock: changed cuts, their causes and their cost"
DESCRIPTION: Final = (
    "Compare the chunks of documents with those in a lock: which differ, how and why, and what "
    "needs re-embedding. The lock's configuration is used unless options override it."
)
EXAMPLES: Final = (
    "chunkast check docs --against chunks.lock",
    "chunkast check docs --against chunks.lock --allow edited --max-reembed 5%",
)
COMMON: Final = "against allow max_reembed update format root max_tokens quiet"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments to ``parser``."""
    add_selection(parser)
    parser.add_argument(
        "--against", metavar="LOCK", required=True, help="the lock ('chunkast snapshot' writes it)"
    )
    parser.add_argument(
        "--allow",
        type=_kinds,
        action="extend",
        default=[],
        metavar="KIND,KIND",
        help=f"changes that do not fail the check: {', '.join(ALLOWED)}; 'edited' is any change "
        "in a document that is edited, new or gone, 'all' every change",
    )
    parser.add_argument(
        "--max-reembed",
        type=_most,
        metavar="N|P",
        help="fail if more than N texts, or P of the chunks, such as 5%%, need re-embedding",
    )
    add_flags(parser, update="rewrite the lock and exit with 0; refused where CI is set")
    add_report(parser)
    add_config(parser)


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
    if documents is not None:
        print_report(options, report, selection)
    if options.update and not options.quiet:
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
    """Return a chunker with the lock's configuration, overridden by the given options.

    With ``--update``, fields of the lock that this version does not know are dropped.
    """
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
        field = error.field.partition("[")[0]
        if field in values:
            raise
        if not options.update or field not in header.config:
            raise UsageError(
                f"{options.against}: {error}; 'chunkast check --update' drops this option"
            ) from None
        print_note(f"{options.against}: dropped an option: {error}")
        kept = {name: value for name, value in header.config.items() if name != field}
    return _chunker(options, replace(header, config=kept))


def _kinds(text: str) -> list[str]:
    """Parse the comma-separated kinds of change that ``--allow`` lists.

    Raises ``ArgumentTypeError`` for an unknown kind.
    """
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in ALLOWED:
            raise ArgumentTypeError(f"{name!r} is not one of {', '.join(ALLOWED)}")
    return names


def _most(text: str) -> tuple[int | None, float | None]:
    """Parse the limit of ``--max-reembed``: a number of texts, or a percentage of the chunks.

    Return ``(number, None)`` for a number, and ``(None, share)`` for a percentage. Raises
    ``ArgumentTypeError`` for any other text.
    """
    limit = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)%", text)
    if limit is None or float(limit[2] or 0) > 100:
        raise ArgumentTypeError(f"{text!r} is neither a whole number nor a percentage such as 5%")
    return (int(limit[1]), None) if limit[1] else (None, float(limit[2]) / 100)
