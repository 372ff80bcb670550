"""Compute fingerprints of the configuration and of all versions that affect chunks."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import fields
from functools import cache
from hashlib import sha256
from typing import Any, Final

from chunkast import __version__
from chunkast.code import versions as grammars
from chunkast.config import ChunkConfig
from chunkast.scores import CODE_SCORES
from chunkast.text.language import LANGUAGE_RULES
from chunkast.text.source_map import encode

__all__ = ("config_values", "fingerprint", "versions")

# Different versions of these packages, or of the installed grammars, may produce different chunks.
_DISTRIBUTIONS: Final = ("markdown-it-py", "mdit-py-plugins", "regex", "sentencex", "tiktoken")


def config_values(config: ChunkConfig, encoding: str) -> dict[str, Any]:
    """Return the configuration's fields as JSON values.

    The name of the token counter, ``encoding``, replaces the fields ``encoding`` and ``model``.
    ``allow_download`` is omitted, because it does not affect chunks.
    """
    values = {f.name: getattr(config, f.name) for f in fields(config)}
    del values["model"], values["allow_download"]
    values["encoding"] = encoding
    values["overlap"] = config.overlap_tokens
    values["window"] = config.window_tokens
    values["scores"] = dict(config.score_table)
    values["front_matter_keys"] = list(config.front_matter_keys)
    values["extensions"] = sorted(config.extensions)
    values["heuristics"] = [heuristic.id for heuristic in config.heuristics]
    values["tools"] = {tool.name: dict(tool.json_schema) for tool in config.tools}
    return values


def fingerprint(config: ChunkConfig, encoding: str) -> str:
    """Return the SHA-256 of the configuration and of all versions that affect chunks.

    With equal fingerprints, the same text has the same chunks. Your own counter is identified only
    by its name, and a heuristic by its id: change the name or id if the behaviour changes.
    """
    values = {**config_values(config, encoding), **versions()}
    if not grammars():
        # Without a grammar these scores are not used.
        values["scores"] = {k: v for k, v in values["scores"].items() if k not in CODE_SCORES}
    return sha256(encode(json.dumps(values, sort_keys=True))).hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of all packages and rules that affect chunks, by name."""
    return {
        **{name: _version(name) for name in _DISTRIBUTIONS},
        **grammars(),
        "chunkast": __version__,
        "language-rules": LANGUAGE_RULES,
        "unicode": unicodedata.unidata_version,
    }


@cache
def _version(distribution: str) -> str:
    from importlib.metadata import version

    return version(distribution)
