"""``chunkast sync``: bring a vector store up to date with a database and its vectors."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from typing import Final

from chunkast.cli.messages import print_result
from chunkast.cli.shared_options import open_database

HELP: Final = "bring a vector store up to date with a database"
DESCRIPTION: Final = (
    "Write the chunks of a database and their vectors to a vector store, update what has changed, "
    "and delete what chunkast wrote there and the database no longer has. Nothing is embedded: "
    "'chunkast index --embed-url URL' fills the vectors of the database."
)
EXAMPLES: Final = (
    "chunkast sync --to qdrant:vectors#docs",
    "chunkast sync --db notes.db --to pgvector:postgresql://localhost/app#docs",
)
OPTIONS: Final = "db to dry_run format"
_FORMS: Final = (
    "qdrant:FOLDER#COLLECTION, qdrant:http://HOST:PORT#COLLECTION, lance:FOLDER#TABLE, "
    "chroma:FOLDER#COLLECTION or pgvector:postgresql://HOST/DATABASE#TABLE"
)


def run(options: Namespace) -> int:
    """Sync the store, and print the report. Return 0."""
    from chunkast.stores import sync
    from chunkast.stores.locations import target_at

    with open_database(options) as store:
        report = sync(target_at(options.to), store, dry_run=options.dry_run)
    print_result(options.format, asdict(report), "" if options.quiet else f"{report}\n")
    return 0
