"""Find the documents of an index that have changed since they were indexed.

For each file and folder, the index stores a stamp (size and modification time) and a hash: of the
file's content, or of the names in the folder. The stamp is empty if the last change is so recent
that another change might not alter the stamp. The name of a file is its source; the name of a
folder ends with a slash.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from hashlib import sha256
from typing import Any, Final

from chunkast.errors import ChunkastError
from chunkast.files.database import SUFFIXES, index_command
from chunkast.files.find import Search, select
from chunkast.files.paths import Root
from chunkast.text.files import read_bytes
from chunkast.text.source_map import encode

__all__ = ("STALE", "differences", "stale_note", "state_of")

# The mark of a place in a document that is not up to date.
STALE: Final = "(file has changed)"
# A file may change again within the resolution of its time.
_RECENT_NS: Final = 2_000_000_000
# The ends of names that determine which files a search selects.
_SELECTING: Final = ("/", ".gitignore")


def _stamp(path: str) -> str:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ""
    old = status.st_mtime_ns < time.time_ns() - _RECENT_NS
    return f"{status.st_size} {status.st_mtime_ns}" if old else ""


def state_of(path: str) -> tuple[str, str]:
    """Return the stamp and the hash of a file or folder; an unreadable one has the hash ""."""
    # If the file changes before it is read, its stamp shows this later.
    stamp, data = _stamp(path), None
    with suppress(ChunkastError, OSError, ValueError):
        if os.path.isfile(path):
            data = read_bytes(path)
        elif os.path.isdir(path):
            data = encode("\0".join(filter(_counts, sorted(os.listdir(path)))))
    return stamp, "" if data is None else sha256(data).hexdigest()


def _counts(name: str) -> bool:
    hidden = name.startswith(".") or name.endswith(SUFFIXES[1:])
    return not hidden or name == ".gitignore"


def differences(
    settings: Mapping[str, str], known: dict[str, tuple[str, str]], stored: frozenset[str]
) -> dict[str, str]:
    """Return "changed", "new" or "gone" for the source of each document that is not up to date.

    settings: the settings of the index, with the options of the last run.
    known: the stamp and hash of each file and folder. The stamps are updated.
    stored: the sources of all documents in the index.
    """
    # What an index remembers may be damaged or made up.
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = json.loads(settings["run"])
        if known and os.path.isdir(run["root"]):
            return dict(sorted(_compared(run, known, stored)))
    return {}


def _compared(
    run: Mapping[str, Any], known: dict[str, tuple[str, str]], stored: frozenset[str]
) -> Iterator[tuple[str, str]]:
    selecting: list[str] = []
    for name, (stamp, content) in known.items():
        path = os.path.join(run["root"], name)
        if stamp and _stamp(path) == stamp:
            continue
        now = state_of(path)
        known[name] = now if now[1] == content else ("", content)
        if now[1] == content:
            continue
        if name.endswith(_SELECTING):
            selecting.append(name)
        if name in stored or (now[1] and not name.endswith(_SELECTING)):
            yield name, "changed" if os.path.lexists(path) else "gone"
    if selecting:
        # If only folders differ, what is outside them is still selected.
        narrow = all(name.endswith("/") for name in selecting) and all(
            map(os.path.lexists, run["paths"])
        )
        paths = [os.path.join(run["root"], name) for name in selecting if narrow] or run["paths"]
        search = Search(**{rule.name: run[rule.name] for rule in fields(Search)})
        found = select(paths, Root.at(run["root"]), search)
        sources = {file.source or "" for file in found.files}
        yield from dict.fromkeys(sources - stored - known.keys(), "new").items()
        gone = set() if narrow or found.problems else (stored & known.keys()) - sources
        yield from dict.fromkeys(gone, "gone").items()


def stale_note(stale: Mapping[str, str], path: str) -> str:
    """Return a one-line note about stale documents, with the command that updates the index."""
    (first, state), more = next(iter(stale.items())), len(stale) - 1
    number = f"{more + 1:,} documents have" if more else "1 document has"
    named = f"{first}{f' is {state}' * (state != 'changed')}{f', {more:,} more' * (more > 0)}"
    since = f"changed since {'they were' if more else 'it was'} indexed"
    return f"{number} {since} ({named}): {index_command(path)[1:-1]}"
