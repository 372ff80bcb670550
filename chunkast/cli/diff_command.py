"""``chunkast diff``: compare two locks, files of chunks or configurations."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from itertools import tee
from typing import TYPE_CHECKING

from chunkast.cli.recording import print_report, record
from chunkast.cli.shared_options import config_values, set_values
from chunkast.cli.work import Document, Tally, results, selected
from chunkast.config import ChunkConfig
from chunkast.errors import UsageError
from chunkast.files.find import Selection

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.testing.compare import Diff
    from chunkast.testing.records import DocumentRecord


def run(options: Namespace) -> int:
    """Compare both sides and print a report. Return 1 if a document cannot be processed, else 0."""
    from chunkast.testing.report import Report

    values = config_values(options)
    if not options.vs:
        if len(options.paths) != 2:
            raise UsageError(
                f"diff takes two files, not {len(options.paths)}; or documents and --vs FIELD=VALUE"
            )
        if values:
            raise UsageError(f"{', '.join(values)}: only with --vs; these files are not chunked")
        diff = _of_files(*options.paths)
        print_report(options, Report(diff, tuple(options.paths)))
        return 0
    tally = Tally()
    other = ChunkConfig.of({**values, **set_values("--vs", options.vs, {})})
    selection = selected(options)
    diff = _of_configurations(options, selection, ChunkConfig.of(values), other, tally)
    print_report(options, Report(diff, ("given", " ".join(options.vs))), selection)
    return tally.exit_code


def _of_files(one: str, two: str) -> Diff:
    from chunkast.testing.compare import compare
    from chunkast.testing.lock import LockError, read_side

    try:
        return compare(read_side(one), read_side(two))
    except LockError as error:
        raise UsageError(str(error)) from None


def _of_configurations(
    options: Namespace, selection: Selection, one: ChunkConfig, two: ChunkConfig, tally: Tally
) -> Diff:
    from chunkast.chunker import Chunker
    from chunkast.testing.compare import compare
    from chunkast.testing.records import header_of

    chunkers = Chunker(one), Chunker(two)
    task = partial(_both, chunkers[1])
    with results(options, selection, chunkers[0], task, tally) as pairs:
        # All old documents are read first; ``tee`` keeps the new ones.
        olds, news = tee(pairs)
        return compare(
            (header_of(chunkers[0]), (pair[0] for pair in olds)),
            (header_of(chunkers[1]), (pair[1] for pair in news)),
        )


def _both(
    other: Chunker, chunker: Chunker, item: Document
) -> tuple[DocumentRecord, DocumentRecord]:
    return record(chunker, item), record(other, item)
