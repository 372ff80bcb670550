"""Choose the token counter for the configured encoding.

An encoding is one of tiktoken's, a Hugging Face tokenizer, an object with an ``encode`` method, or
a callable that takes a str and returns an int. Special tokens of tiktoken's encodings, such as
``<|endoftext|>``, are counted as ordinary text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, lru_cache
from itertools import accumulate
from os import PathLike
from typing import TYPE_CHECKING, Final

from chunkast.errors import ConfigError
from chunkast.text.files import tokenizer_file
from chunkast.tokens.counter import TokenCounter
from chunkast.tokens.huggingface import counter_of_file, counter_of_tokenizer
from chunkast.tokens.long_space import encoder
from chunkast.tokens.names import WINDOWS, remedy_for
from chunkast.tokens.own import own_counter
from chunkast.tokens.pretokens import RULES, CountFunctions, PretokenCounter
from chunkast.tokens.vocabulary import BUNDLED, load_encoding

if TYPE_CHECKING:
    import tiktoken

__all__ = ("pretoken_count", "resolve_counter")

# No encoding's name has this extension.
_FILE_EXTENSION: Final = ".json"


def resolve_counter(
    encoding: object, model: str | None = None, *, allow_download: bool = False
) -> TokenCounter:
    """Return the counter for an encoding: a name, a tokenizer, its file or folder, or a function.

    If a ``model`` is given, its encoding is used instead. With ``allow_download``, tiktoken may
    download a vocabulary that is not on this machine. Raises ``ConfigError`` if the encoding or
    model is unknown or cannot be loaded.
    """
    if model is not None:
        name = _encoding_of_model(model)
        try:
            return replace(_named(name, allow_download), window=WINDOWS.get(model))
        except ConfigError as error:
            raise ConfigError(
                "model", model, f"its encoding is {name}: {error.allowed}"
            ) from error.__cause__
    encoding = tokenizer_file(encoding)
    if isinstance(encoding, PathLike) or (
        isinstance(encoding, str) and encoding.endswith(_FILE_EXTENSION)
    ):
        return counter_of_file(encoding)
    if isinstance(encoding, str):
        return _named(encoding, allow_download)
    import tiktoken

    if isinstance(encoding, tiktoken.Encoding):
        return _of_tiktoken(encoding)
    counter = counter_of_tokenizer(encoding) or own_counter(encoding)
    if counter is None:
        raise ConfigError(
            "encoding",
            encoding,
            "must be a tiktoken encoding's name, the path of a tokenizer.json, an object with an "
            "encode method, or a callable from str to int",
        )
    return counter


def _encoding_of_model(model: str) -> str:
    from tiktoken.model import encoding_name_for_model

    try:
        return encoding_name_for_model(model)
    except KeyError:
        allowed = remedy_for(model) or "tiktoken knows no such model; it knows gpt-4o and others"
        raise ConfigError("model", model, allowed) from None


@lru_cache(maxsize=16)
def _named(name: str, allow_download: bool) -> TokenCounter:
    return _of_known(load_encoding(name, allow_download=allow_download))


# The bytes that continue a character in UTF-8.
_CONTINUATION = bytes(range(0x80, 0xC0))


def _of_tiktoken(encoding: tiktoken.Encoding) -> TokenCounter:
    from tiktoken.registry import ENCODINGS

    if ENCODINGS.get(encoding.name) is not encoding:
        # A user's own may split text in any way, whatever its name.
        return TokenCounter(encoding.name, lambda text: len(encoding.encode_ordinary(text)))
    return _of_known(encoding)


@lru_cache(maxsize=16)
def _of_known(encoding: tiktoken.Encoding) -> TokenCounter:
    """Return the counter of one of tiktoken's own encodings; all chunkers share its cache."""
    encode = encoder(encoding)

    @cache
    def characters(token: int) -> int:
        # Counts the bytes that begin a character; a token may have none.
        return len(encoding.decode_single_token_bytes(token).translate(None, _CONTINUATION))

    def token_ends(text: str, start: int) -> Iterator[int]:
        ends = accumulate(map(characters, encode(text)), initial=start)
        next(ends)
        return ends

    def count(text: str) -> int:
        return len(encode(text))

    bundled = BUNDLED.get(encoding.name)
    if bundled is None:
        return TokenCounter(encoding.name, count)
    others = CountFunctions(count, token_ends)
    pretokens = PretokenCounter(*RULES[bundled.pattern], pretoken_count(encoding, count), others)
    return TokenCounter(encoding.name, pretokens.count, pretokens)


def pretoken_count(
    encoding: tiktoken.Encoding, count: Callable[[str], int]
) -> Callable[[str], int]:
    """Return a function that counts the tokens in a pre-token.

    The pre-token may only contain the characters listed in ``tokens/pretokens.py``. A private
    function of tiktoken encodes it without splitting it, which is four times as fast as ``count``.
    If this private function is missing, returns ``count``.
    """
    encode = getattr(getattr(encoding, "_core_bpe", None), "encode_single_piece", None)
    if encode is None:
        return count
    return lambda pretoken: len(encode(pretoken.encode()))
