"""Output formats: one table, from which the command's ``--format`` takes its choices.

A writer takes chunks as they come and a binary stream, and writes each chunk before it
asks for the next one. A new format is a module and a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import BinaryIO, Final

from chunkast.model import Chunk
from chunkast.writers.json import json_bytes, write_json, write_jsonl
from chunkast.writers.text import write_text

__all__ = ("WRITERS", "Writer", "json_bytes", "write_json", "write_jsonl", "write_text")

Writer = Callable[[Iterable[Chunk], BinaryIO], None]

# The first one is the default.
WRITERS: Final[Mapping[str, Writer]] = MappingProxyType(
    {
        "jsonl": write_jsonl,
        "json": write_json,
        "text": write_text,
    }
)
