"""The kinds of changes between two snapshots, as in reports and ``chunkast check --allow``."""

from __future__ import annotations

from typing import Final

__all__ = ("ALL", "ALLOWED", "CONFIGURATION", "EDITED", "KINDS")

# docs/snapshots.md explains each kind.
KINDS: Final = ("changed", "recut", "added", "removed", "renamed", "embedding", "moved")
# Allowed besides kinds: every change, any change of an edited document, another configuration.
ALL: Final = "all"
EDITED: Final = "edited"
CONFIGURATION: Final = "configuration"
ALLOWED: Final = (ALL, EDITED, CONFIGURATION, *KINDS)
