"""Counters of Hugging Face tokenizers: ``tokenizers``, ``transformers``, ``tokenizer.json`` files.

A copy of the tokenizer counts, without the truncation and padding that it may have switched
on, and one text at a time: the library has threads for batches only, so that none compete with
worker processes, and a process stays one that can be forked.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from operator import itemgetter
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from chunkast.errors import ConfigError, describe
from chunkast.text.source_map import without_surrogates
from chunkast.tokens.counter import Counter, Window
from chunkast.tokens.words import Words

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from chunkast.tokens.huggingface.inputs import Boundary, InputsOf

__all__ = ("counter_of_file", "counter_of_tokenizer")

# Where a model's limit stands beside its tokenizer.json: what sentence-transformers cuts at,
# then what transformers does.
_LIMITS: Final = (
    ("sentence_bert_config.json", "max_seq_length"),
    ("tokenizer_config.json", "model_max_length"),
)
# transformers has a huge number for a tokenizer without a limit.
_NO_LIMIT: Final = 2**31


class _Copy(NamedTuple):
    """A tokenizer that neither cuts nor pads, the limit that it would cut at, and its boundaries."""

    tokenizer: Tokenizer
    limit: int | None
    boundary: Boundary | None


def counter_of_file(path: str | PathLike[Any]) -> Counter:
    """The counter of a ``tokenizer.json``, named by the SHA-256 of the file's content.

    The model's limit is taken from the files beside it. Raises ``ConfigError`` for a file that
    cannot be read or is not a tokenizer, and where the package ``tokenizers`` is missing.
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


def counter_of_tokenizer(given: object) -> Counter | None:
    """The counter of a tokenizer of ``tokenizers`` or a fast one of ``transformers``; None for others.

    Raises ``ConfigError`` for a tokenizer that cuts texts and cannot be copied.
    """
    if "tokenizers" not in sys.modules:
        return None
    from tokenizers import Tokenizer

    tokenizer = getattr(given, "backend_tokenizer", given)
    if not isinstance(tokenizer, Tokenizer):
        return None
    try:
        content = tokenizer.to_str()
    except Exception as error:  # it has parts that are written in Python
        if tokenizer.truncation or tokenizer.padding:
            allowed = f"has truncation or padding on, and cannot be copied ({describe(error)})"
            raise ConfigError("encoding", given, allowed) from error
        copy, name = _Copy(tokenizer, None, None), type(given).__qualname__
    else:
        copy = _copy(content)
        name = _name(_digest(content))
    limit = getattr(given, "model_max_length", None)
    return _counter(copy, name, limit if isinstance(limit, int) else None)


@lru_cache(maxsize=4)
def _copy(content: str) -> _Copy:
    from tokenizers import Tokenizer

    # Whoever counts by tiktoken does not wait for this.
    from chunkast.tokens.huggingface.boundaries import boundary_of

    tokenizer = Tokenizer.from_str(content)
    truncation = tokenizer.truncation
    tokenizer.no_truncation()
    tokenizer.no_padding()
    limit = truncation["max_length"] if truncation else None
    return _Copy(tokenizer, limit, boundary_of(tokenizer))


@lru_cache(maxsize=4)
def _digest(content: str) -> str:
    """The SHA-256 of what a tokenizer is without truncation and padding."""
    return sha256(_copy(content).tokenizer.to_str().encode()).hexdigest()


def _name(digest: str) -> str:
    """What a tokenizer is named in fingerprints: another version of the library may count otherwise."""
    import tokenizers

    return f"tokenizers {tokenizers.__version__} sha256:{digest}"


def _counter(copy: _Copy, name: str, limit: int | None) -> Counter:
    """The counter of a copy; ``limit`` comes before the one that the copy would cut at."""
    encode = copy.tokenizer.encode

    def count(text: str) -> int:
        # The engine takes no lone surrogates.
        return len(encode(without_surrogates(text), add_special_tokens=False))

    limit = copy.limit if limit is None or limit >= _NO_LIMIT else limit
    special = copy.tokenizer.num_special_tokens_to_add(False)
    window = None if limit is None else Window(limit, special)
    if copy.boundary is None:

        def token_starts(text: str) -> Iterator[int]:
            offsets = encode(without_surrogates(text), add_special_tokens=False).offsets
            return map(itemgetter(0), offsets)

        return Counter(name, count, token_starts=token_starts, window=window)
    split, before, inputs = copy.boundary
    own, ask = count(before), copy.tokenizer.model.tokenize
    words = Words(
        split,
        _by_model(ask, inputs.first, count),
        _by_model(ask, inputs.later, lambda piece: count(before + piece) - own),
    )
    return Counter(name, words.count, words=words, window=window)


def _by_model(
    tokenize: Callable[[str], Sequence[object]], inputs_of: InputsOf, count: Callable[[str], int]
) -> Callable[[str], int]:
    """A function that asks the model about pieces whose inputs are known, and counts others."""

    def count_piece(piece: str) -> int:
        inputs = inputs_of(piece)
        return count(piece) if inputs is None else sum(map(len, map(tokenize, inputs)))

    return count_piece


def _number(file: Path, key: str) -> int | None:
    """A whole number in a JSON file, if there is one."""
    try:
        value = json.loads(file.read_bytes())[key]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
