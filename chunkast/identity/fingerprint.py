"""Everything that decides where a cut falls, as one hash and as plain values."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import fields
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from chunkast import __version__
from chunkast.code import versions as grammars
from chunkast.config import ChunkConfig
from chunkast.scores import CODE_SCORES
from chunkast.text.source_map import encode

__all__ = ("config_values", "fingerprint")

# Another version of any of these may cut another way: the parser, the tokenizer, the
# splitter of sentences, the grapheme clusters. Grammars do so where they are installed.
_DISTRIBUTIONS: Final = (
    "markdown-it-py",
    "mdit-py-plugins",
    "regex",
    "sentencex",
    "tiktoken",
)


def config_values(config: ChunkConfig, encoding: str) -> dict[str, Any]:
    """The configuration's fields as JSON values.

    ``encoding`` is the name of the counter in use, in place of the fields ``encoding``
    and ``model``. Whether its vocabulary may be downloaded changes no chunk and is left out.
    """
    values = {f.name: getattr(config, f.name) for f in fields(config)}
    del values["model"], values["allow_download"]
    values["encoding"] = encoding
    values["overlap"] = config.overlap_tokens
    values["window"] = config.window_tokens
    values["scores"] = dict(config.score_table)
    values["extensions"] = sorted(config.extensions)
    values["heuristics"] = [heuristic.id for heuristic in config.heuristics]
    values["tools"] = {tool.name: dict(tool.json_schema) for tool in config.tools}
    return values


def fingerprint(config: ChunkConfig, encoding: str) -> str:
    """The SHA-256 of the configuration and of the versions of what moves a boundary.

    Equal fingerprints: the same text gives the same chunks. A user's own counter is known
    by its name alone, a heuristic by its id: give it another one when it does something else.
    """
    given = {**config_values(config, encoding), **_versions()}
    if not grammars():
        # Without a grammar nothing has these scores.
        given["scores"] = {k: v for k, v in given["scores"].items() if k not in CODE_SCORES}
    return sha256(encode(json.dumps(given, sort_keys=True))).hexdigest()


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    from importlib.metadata import version

    versions = {name: version(name) for name in _DISTRIBUTIONS}
    return {
        **versions,
        **grammars(),
        "chunkast": __version__,
        "unicode": unicodedata.unidata_version,
    }
