"""``chunkast sync``: bring a vector store up to date with a database and its vectors."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from chunkast.cli.messages import print_result
from chunkast.cli.shared_options import open_database


def run(options: Namespace) -> int:
    """Sync the store, and print the report. Return 0."""
    from chunkast.stores import sync
    from chunkast.stores.locations import target_at

    with open_database(options) as store:
        report = sync(target_at(options.to), store, dry_run=options.dry_run)
    print_result(options.format, asdict(report), "" if options.quiet else f"{report}\n")
    return 0
