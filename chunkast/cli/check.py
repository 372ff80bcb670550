"""``chunkast check``: whether documents are still cut as a lock says."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from chunkast.cli.inputs import Selection
from chunkast.cli.messages import UsageError, say
from chunkast.cli.options import add_config, add_selection, config_values
from chunkast.cli.output import open_output
from chunkast.cli.records import (
    add_report,
    lock_errors,
    print_report,
    record,
    select_named,
    source_of,
)
from chunkast.cli.work import Tally, results
from chunkast.errors import ConfigError, SourceError

if TYPE_CHECKING:
    from chunkast.config import ChunkConfig
    from chunkast.testing.compare import Diff
    from chunkast.testing.records import DocumentRecord, Header

__all__ = ("DESCRIPTION", "HELP", "OPERANDS", "add_arguments", "run")

HELP: Final = "compare documents with a lock: what is cut differently, why, at what cost"
DESCRIPTION: Final = (
    "Compare the chunks of documents with those in a lock, under the lock's configuration but for "
    "the options given here. Says why chunks differ, which of them, how, and what has to be "
    "embedded again. Exits with 0 when nothing but what is allowed has changed, else with 1."
)
OPERANDS: Final = "paths"
# The kinds of changes, and the three words for more than one.
_ALLOWED: Final = (
    "all",
    "edited",
    "configuration",
    "changed",
    "split",
    "merged",
    "recut",
    "added",
    "removed",
    "renamed",
    "embedding",
    "moved",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
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
        help=f"changes that do not fail the check: {', '.join(_ALLOWED)}; 'edited' is any change "
        "in a document whose text or name has changed, 'all' every change",
    )
    parser.add_argument(
        "--max-reembed",
        type=_most,
        metavar="N|P%",
        help="fail when more texts than N, or than P %% of the chunks, have to be embedded again",
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="write the lock again, and exit with 0; refused where CI is set",
    )
    add_report(parser)
    add_config(parser)


def run(options: Namespace) -> int:
    """Compare, report, and write the lock again if that is wanted."""
    from chunkast.testing.report import Report, Rules

    if options.update and os.environ.get("CI"):
        raise UsageError("--update is refused where CI is set: a lock is read by a person")
    most, share = options.max_reembed or (None, None)
    rules = Rules(frozenset(options.allow), most, share)
    tally = _Tally()
    with lock_errors():
        diff, selection = _compared(options, tally)
    paths = {source_of(file): file.path for file in selection.files}
    report = Report(diff, (options.against, "now"), rules, paths)
    print_report(options, report, selection)
    if options.update and not options.quiet:
        say(f"{options.against}: {'left as it was' if tally.failures else 'written again'}")
    return 1 if tally.failures or (report.faults and not options.update) else 0


@dataclass(slots=True)
class _Tally(Tally):
    """Remembers which inputs failed: nothing is known of their chunks."""

    failed: set[str] = field(default_factory=set)

    def fail(self, error: SourceError) -> None:
        # Not super(): a dataclass with slots is another class than the one written here.
        Tally.fail(self, error)
        self.failed.add(error.path)


def _compared(options: Namespace, tally: _Tally) -> tuple[Diff, Selection]:
    """What differs from the lock; with --update the lock is written again meanwhile."""
    from chunkast.chunker import Chunker
    from chunkast.testing.compare import compare
    from chunkast.testing.lock import END, encode_header, open_lock
    from chunkast.testing.records import header_of

    # The lock is closed before it is replaced.
    with (
        open_output(options.against) if options.update else nullcontext() as output,
        open_lock(options.against) as lock,
    ):
        chunker = Chunker(_config(options, lock.header))
        header = header_of(chunker)
        selection = select_named(options)
        selection.files = [f for f in selection.files if not _is_same(f.path, options.against)]
        write = _nowhere if output is None else output.stream.write
        write(encode_header(header))
        with closing(results(options, selection, chunker, record, tally)) as documents:
            diff = compare((lock.header, lock.documents), (header, _written(documents, write)))
        write(END)
        if output is not None:
            output.complete = tally.documents > 0 and not tally.failures
    unknown = {source_of(file) for file in selection.files if file.path in tally.failed}
    known = tuple(each for each in diff.documents if each.source not in unknown)
    return replace(diff, documents=known), selection


def _is_same(path: str, lock: str) -> bool:
    return os.path.realpath(path) == os.path.realpath(lock)


def _nowhere(_data: bytes) -> int:
    return 0


def _written(
    documents: Iterable[DocumentRecord], write: Callable[[bytes], int]
) -> Iterator[DocumentRecord]:
    from chunkast.testing.lock import encode_document

    for document in documents:
        if write is not _nowhere:
            write(encode_document(document))
        yield document


def _config(options: Namespace, header: Header) -> ChunkConfig:
    """The lock's configuration, with the options that are given in place of its own."""
    from chunkast.testing.records import ObjectError, config_of

    given = config_values(options)
    try:
        return config_of(header, given)
    except ObjectError as error:
        raise UsageError(
            f"{options.against}: {error}; check it there, with the fixture chunk_snapshot"
        ) from None
    except ConfigError as error:
        if error.field in given:
            raise
        raise UsageError(f"{options.against}: {error}") from None


def _kinds(text: str) -> list[str]:
    """The kinds that --allow names, as argparse wants them told."""
    given = [name.strip() for name in text.split(",")]
    for name in given:
        if name not in _ALLOWED:
            raise ArgumentTypeError(f"{name!r} is none of {', '.join(_ALLOWED)}")
    return given


def _most(text: str) -> tuple[int | None, float | None]:
    """A number of texts, or a share of the chunks."""
    number, percent, rest = text.partition("%")
    try:
        if not rest and (percent and 0 <= float(number) <= 100):
            return None, float(number) / 100
        if not percent and number.isdecimal():
            return int(number), None
    except ValueError:
        pass
    raise ArgumentTypeError(f"{text!r} is neither a whole number nor a percentage such as 5%")
