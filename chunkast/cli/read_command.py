"""``chunkast read``: print a section, some lines or a chunk of a document within a token budget."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING

from chunkast.cli.messages import print_note, print_result
from chunkast.cli.outline_command import outline_of
from chunkast.cli.shared_options import config_values, open_database
from chunkast.errors import UsageError

if TYPE_CHECKING:
    from chunkast.reading import Passage


def run(options: Namespace) -> int:
    """Print the requested passage. Return 0."""
    if options.id is not None and any((options.file, options.section, options.lines)):
        raise UsageError("read --id cannot be combined with FILE, SECTION or --lines")
    if options.section is not None and options.lines is not None:
        raise UsageError("read takes a SECTION or --lines, not both")
    passage = _chunk(options) if options.id is not None else _section(options)
    text = passage.text + ("" if passage.text.endswith("\n") else "\n")
    stale = passage.source in getattr(options, "stale", ())
    print_result(options.format, {**asdict(passage), "stale": stale}, text)
    if passage.rest and options.format == "text":
        print_note(passage.rest)
    return 0


def _chunk(options: Namespace) -> Passage:
    with open_database(options) as store:
        chunker = store.chunker(reading=True, **config_values(options))
        return store.read(chunk_id=options.id, max_tokens=options.most, chunker=chunker)


def _section(options: Namespace) -> Passage:
    from chunkast.reading import SectionError

    if options.file is None:
        raise UsageError("read needs a FILE, or --id ID (see chunkast read --help)")
    try:
        return outline_of(options).read(
            options.section, lines=options.lines, max_tokens=options.most
        )
    except SectionError as error:
        raise UsageError(f"{options.file}: {error}") from None
