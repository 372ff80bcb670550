"""The kinds of changes between two snapshots, for reports and for ``chunkast check --allow``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ("ALL", "ALLOWED", "CONFIGURATION", "EDITED", "KINDS")

# Kind of change -> its meaning.
KINDS: Final[Mapping[str, str]] = {
    "changed": "another text, or other counts, kinds or cut",
    "split": "one chunk is now several",
    "merged": "several chunks are now one",
    "recut": "several chunks are cut into several others",
    "added": "a text that was in no chunk",
    "removed": "a text that is in no chunk any more",
    "renamed": "the same text under another id",
    "embedding": "the same text, embedded with other words around it",
    "moved": "the same chunk at another place, or with other metadata or white space",
}
# Allowed besides kinds: every change, any change of an edited document, another configuration.
ALL: Final = "all"
EDITED: Final = "edited"
CONFIGURATION: Final = "configuration"
ALLOWED: Final = (ALL, EDITED, CONFIGURATION, *KINDS)
