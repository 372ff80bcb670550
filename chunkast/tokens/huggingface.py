"""Counters for Hugging Face tokenizers: ``tokenizers``, ``transformers``, ``tokenizer.json`` files.

A copy of the tokenizer, without truncation and padding, counts one text at a time. The library uses
threads only for batches, so no threads compete with worker processes, and the process can be
forked.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from operator import itemgetter
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from chunkast.errors import ConfigError, describe
from chunkast.text.source_map import without_surrogates
from chunkast.tokens.counter import TokenCounter, Window
from chunkast.tokens.estimates import EstimateIndex

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ("counter_of_file", "counter_of_tokenizer")

# The files beside a tokenizer.json that state the model's limit, and their key: the limit of
# sentence-transformers, then that of transformers.
_LIMITS: Final = (
    ("sentence_bert_config.json", "max_seq_length"),
    ("tokenizer_config.json", "model_max_length"),
)
# transformers states a huge number for a tokenizer without a limit.
_NO_LIMIT: Final = 2**31


class _Copy(NamedTuple):
    """A tokenizer with truncation and padding turned off, and its former limit."""

    tokenizer: Tokenizer
    limit: int | None


def counter_of_file(path: str | PathLike[Any]) -> TokenCounter:
    """Return a counter for a ``tokenizer.json``. The counter's name contains the file's SHA-256.

    The context window is read from other files in the same folder. Raises ``ConfigError`` if the
    file is unreadable or not a tokenizer, or if the package ``tokenizers`` is not installed.
    """
    try:
        file = Path(fspath(path))
        content = file.read_bytes()
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError("encoding", path, f"cannot be read ({describe(error)})") from error
    try:
        copy = _copy(content.decode())
    except ImportError as error:
        allowed = "needs tokenizers: pip install 'chunkast[hf]'"
        raise ConfigError("encoding", path, allowed) from error
    except Exception as error:  # tokenizers has no class of its own
        allowed = f"is not a tokenizer.json ({describe(error)})"
        raise ConfigError("encoding", path, allowed) from error
    beside = (_number(file.with_name(name), key) for name, key in _LIMITS)
    return _counter(copy, _name(sha256(content).hexdigest()), next(filter(None, beside), None))


def counter_of_tokenizer(encoding: object) -> TokenCounter | None:
    """Return a counter for a tokenizer of ``tokenizers``, or a fast tokenizer of ``transformers``.

    Returns None for other objects. Raises ``ConfigError`` if the tokenizer truncates or pads texts
    and cannot be copied.
    """
    if "tokenizers" not in sys.modules:
        return None
    from tokenizers import Tokenizer

    tokenizer = getattr(encoding, "backend_tokenizer", encoding)
    if not isinstance(tokenizer, Tokenizer):
        return None
    try:
        content = tokenizer.to_str()
    except Exception as error:  # it has parts written in Python
        if tokenizer.truncation or tokenizer.padding:
            allowed = f"has truncation or padding on, and cannot be copied ({describe(error)})"
            raise ConfigError("encoding", encoding, allowed) from error
        copy, name = _Copy(tokenizer, None), type(encoding).__qualname__
    else:
        copy = _copy(content)
        name = _name(_digest(content))
    limit = getattr(encoding, "model_max_length", None)
    return _counter(copy, name, limit if isinstance(limit, int) else None)


@lru_cache(maxsize=4)
def _copy(content: str) -> _Copy:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(content)
    truncation = tokenizer.truncation
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return _Copy(tokenizer, truncation["max_length"] if truncation else None)


@lru_cache(maxsize=4)
def _digest(content: str) -> str:
    """Return the SHA-256 of a tokenizer, ignoring its truncation and padding settings."""
    return sha256(_copy(content).tokenizer.to_str().encode()).hexdigest()


def _name(digest: str) -> str:
    """Return a tokenizer's name, including the library's version, which may affect counts."""
    import tokenizers

    return f"tokenizers {tokenizers.__version__} sha256:{digest}"


def _counter(copy: _Copy, name: str, limit: int | None) -> TokenCounter:
    """Return the counter of a copied tokenizer; ``limit`` overrides its truncation limit."""
    encode = copy.tokenizer.encode

    def count(text: str) -> int:
        # The library rejects lone surrogates.
        return len(encode(without_surrogates(text), add_special_tokens=False))

    limit = copy.limit if limit is None or limit >= _NO_LIMIT else limit
    special = copy.tokenizer.num_special_tokens_to_add(False)
    window = None if limit is None else Window(limit, special)
    # Counting with tiktoken does not need this.
    from chunkast.tokens.bert import by_words

    words = by_words(copy.tokenizer, count)
    if words is not None:
        return TokenCounter(name, words.count, words, window=window)

    def token_starts(text: str) -> Iterator[int]:
        offsets = encode(without_surrogates(text), add_special_tokens=False).offsets
        return map(itemgetter(0), offsets)

    return TokenCounter(
        name, count, estimates=lambda text: EstimateIndex(text, count, token_starts), window=window
    )


def _number(file: Path, key: str) -> int | None:
    """Return the whole number under ``key`` in a JSON file, or None if there is none."""
    try:
        value = json.loads(file.read_bytes())[key]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
