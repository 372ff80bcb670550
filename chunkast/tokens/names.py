"""Limits of known models, and suggestions for unknown names of models and encodings."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from chunkast.tokens.counter import Window

__all__ = ("WINDOWS", "remedy_for")

# The limits of embedding models whose encoding tiktoken knows.
WINDOWS: Final = dict.fromkeys(
    ("text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002"), Window(8191, 0)
)
# The name of a model on Hugging Face: with its owner, or with the name of a family of models.
_MODEL: Final = re.compile(
    r"[\w-][\w.-]{0,95}/[\w.-]{1,96}|(?=.*(?:minilm|mpnet|nomic|bert|\b(?:bge|e5|gte|mxbai|jina)-))"
    r"[\w.-]{1,96}",
    re.ASCII | re.IGNORECASE,
)


def remedy_for(name: str) -> str:
    """Return advice on ``name``, which was rejected as an encoding or a model.

    Returns "" if there is no advice.
    """
    import tiktoken
    from tiktoken.model import MODEL_TO_ENCODING, encoding_name_for_model

    encodings, near = tiktoken.list_encoding_names(), name.lower()
    if name in encodings:
        return f"is an encoding: give encoding={name!r} (--encoding {name})"
    with suppress(KeyError):
        encoding_name_for_model(name)
        return f"is a model: give model={name!r} (--model {name})"
    is_folder = os.path.isdir(name)  # noqa: PTH112 - never raises, whatever the name
    if _MODEL.fullmatch(name) and not is_folder:
        home = Path(os.environ.get("HF_HOME") or "~/.cache/huggingface")
        folder = name.replace("/", "--") if "/" in name else f"*--{name}"
        pattern = f"hub/models--{folder}/snapshots/*/tokenizer.json"
        here = Path(os.path.expanduser(home))  # noqa: PTH111 - a user may have no home
        place = next(iter(sorted(here.glob(pattern))), home / pattern)
        return (
            f"give the path of this model's tokenizer.json, usually {place} (needs pip install "
            "'chunkast[hf]')"
        )
    if is_folder or "/" in name or os.sep in name:
        return "is no folder that contains tokenizer.json"
    begun = [known for known in encodings if near and known.startswith(near)]
    close = begun or get_close_matches(near, [*encodings, *MODEL_TO_ENCODING], n=1) or [""]
    shown = close[0] if close[0] in encodings else f"model={close[0]!r} (--model {close[0]})"
    return f"did you mean {shown}?" if close[0] else ""
