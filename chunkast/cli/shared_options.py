"""Get the configuration, the database and the tools from the options."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunkast.cli.messages import print_note
from chunkast.cli.option_table import FIELDS, field_value
from chunkast.config import ENDINGS, ChunkConfig
from chunkast.errors import ConfigError, StoreError, UsageError
from chunkast.files.database import DATABASE, default_database, why_foreign
from chunkast.files.freshness import stale_note

if TYPE_CHECKING:
    from chunkast.index import Store
    from chunkast.toolcalls import Tool

__all__ = (
    "config_of",
    "config_values",
    "database_of",
    "load_tools",
    "open_database",
    "set_values",
    "stale_documents",
)


def database_of(options: argparse.Namespace) -> str:
    """Return the path of the database: ``--db``, or the default.

    Raises ``UsageError`` for an empty name or ``:memory:``, for which SQLite creates no file, and
    if the default database may be another user's. Raises ``StoreError`` if the file is a document.
    """
    path = default_database() if options.db is None else str(options.db)
    found = options.db is None and path == DATABASE and os.path.lexists(path)
    if found and (reason := why_foreign(path)):
        raise UsageError(f"{path} is not used, because {reason}: name it with --db")
    if path in ("", ":memory:"):
        raise UsageError(f"--db: {path!r} is not the name of a file")
    if path.lower().endswith(ENDINGS) and os.path.isfile(path) and not _is_sqlite(path):
        raise StoreError(path, "not an index of chunkast, but a document; give another file")
    return path


def _is_sqlite(path: str) -> bool:
    with suppress(OSError), open(path, "rb") as file:
        return file.read(16) == b"SQLite format 3\0"
    return True


def open_database(options: argparse.Namespace) -> Store:
    """Open the database for reading, and print a note if documents are out of date.

    Sets ``options.stale`` to the documents that are out of date, or to an empty dict with
    ``--no-check``.
    """
    from chunkast.index import Store

    store = Store(database_of(options), read_only=True)
    options.stale = stale_documents(options, store)
    if options.stale:
        print_note(stale_note(options.stale, store.path))
    return store


def stale_documents(options: argparse.Namespace, store: Store) -> dict[str, str]:
    """Return the documents that are out of date. With ``--refresh``, update the database first."""
    if options.no_check and not options.refresh:
        return {}
    stale = store.stale()
    # What an update has left, such as an unreadable file, needs no other update.
    if options.refresh and stale and stale != getattr(options, "left", None):
        from chunkast.cli.index_command import refresh

        updated = refresh(options, store.path)
        stale = store.stale()
        options.left = stale if updated else None
    return stale


def config_of(options: argparse.Namespace) -> ChunkConfig:
    """Return the configuration that the options specify.

    Raises ``ConfigError`` for an invalid value, and ``UsageError`` for an invalid ``--set`` or
    ``--tools``, or for ``--protocol`` without ``--tools``.
    """
    values = config_values(options)
    if getattr(options, "protocols", None) and not values.get("tools"):
        raise UsageError("--protocol has no effect without --tools TOOLS.json")
    return ChunkConfig.of(values)


def config_values(options: argparse.Namespace) -> dict[str, Any]:
    """Return the configuration fields that the options set, by name.

    Raises ``UsageError`` for an invalid ``--set`` or ``--tools``.
    """
    parsed = vars(options)
    values = {name: parsed[name] for name in FIELDS if name in parsed}
    if "tools" in values:
        values["tools"] = load_tools(parsed["tools"])
    return set_values("--set", parsed.get("settings", ()), values)


def set_values(option: str, settings: Iterable[str], values: dict[str, Any]) -> dict[str, Any]:
    """Add each ``FIELD=VALUE`` in ``settings`` to ``values``, and return ``values``.

    ``option`` is the name of the option that the settings belong to. Raises ``UsageError`` for
    a setting that has no value, or for a field that is already set.
    """
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(f"{option} {setting}: expected FIELD=VALUE")
        if name in values:
            raise UsageError(f"{option} {setting}: {name} is given twice")
        values[name] = field_value(name, text)
    return values


def load_tools(path: str) -> list[Tool]:
    """Return the tools in the JSON file at ``path``. Raises ``UsageError`` for an invalid file."""
    from chunkast.toolcalls import tools_from_json

    try:
        return tools_from_json(json.loads(Path(path).read_bytes()))
    except OSError as error:
        raise UsageError(f"--tools {path}: {error.strerror or error}") from None
    except ConfigError as error:
        raise UsageError(f"--tools {path}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--tools {path}: this is not JSON in UTF-8: {error}") from None
