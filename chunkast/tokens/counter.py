"""From a configured encoding to a function that counts tokens exactly.

tiktoken is asked through ``encode_ordinary``, so that text such as ``<|endoftext|>`` is
ordinary text. Any object with an ``encode`` method and any ``str -> int`` callable
serves as well.
"""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from chunkast.errors import ConfigError
from chunkast.tokens.long_space import encoder
from chunkast.tokens.pieces import Ways, by_pieces

if TYPE_CHECKING:
    import tiktoken

__all__ = ("BUNDLED", "Counter", "resolve_counter")

VOCABULARY: Final = Path(__file__).with_name("vocab")
# Encodings whose vocabulary file ships in the package, under the name tiktoken's cache
# gives it (the SHA-1 of its address); tiktoken checks the content's SHA-256 itself.
BUNDLED: Final = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "o200k_harmony": "fb374d419588a4632f3f557e76b4b70aebbca790",
}
# The splitting patterns whose boundaries ``tokens/index.py`` proves. Any other pattern is
# counted without shortcuts.
_PROVEN_PATTERNS: Final = frozenset({"cl100k_base", "o200k_base", "o200k_harmony"})

_environment = threading.Lock()


@dataclass(frozen=True, slots=True)
class Counter:
    """How many tokens a text has: ``count(text)``, under the encoding's ``name``.

    ``token_ends(text, start)`` gives for each token of a text a character index that it ends
    at or before, in the same piece; the text itself begins at index ``start``. Only encodings have
    it that split text at the boundaries which ``tokens/index.py`` proves.
    """

    name: str
    count: Callable[[str], int]
    token_ends: Callable[[str, int], Iterable[int]] | None = None


def resolve_counter(encoding: object, model: str | None = None) -> Counter:
    """The counter for a tiktoken encoding's name, a model's name, or a user's own object.

    Raises ``ConfigError`` when the encoding is not known or cannot be loaded.
    """
    if model is not None:
        encoding = _encoding_of_model(model)
    if isinstance(encoding, str):
        return _named(encoding)
    import tiktoken

    if isinstance(encoding, tiktoken.Encoding):
        return _of_tiktoken(encoding)
    name = getattr(encoding, "name", None) or getattr(encoding, "__qualname__", None)
    label = name if isinstance(name, str) else type(encoding).__qualname__
    encode = getattr(encoding, "encode", None)
    if callable(encode):
        keywords = {"add_special_tokens": False} if _takes_special_tokens(encode) else {}
        return Counter(label, lambda text: len(encode(text, **keywords)))
    if callable(encoding):
        return Counter(label, encoding)
    raise ConfigError(
        "encoding",
        encoding,
        "allowed are a tiktoken encoding's name, an object with an encode method, "
        "or a callable from str to int",
    )


def _takes_special_tokens(encode: Callable[..., Any]) -> bool:
    """Whether ``encode`` is a Hugging Face tokenizer's, which adds [CLS] and [SEP] unless told."""
    try:
        return "add_special_tokens" in inspect.signature(encode).parameters
    except (TypeError, ValueError):
        return False


def _encoding_of_model(model: str) -> str:
    from tiktoken.model import MODEL_TO_ENCODING, encoding_name_for_model

    try:
        return encoding_name_for_model(model)
    except KeyError:
        known = ", ".join(sorted(MODEL_TO_ENCODING)[:8])
        raise ConfigError(
            "model", model, f"tiktoken knows no such model; it knows {known} and others"
        ) from None


@lru_cache(maxsize=16)
def _named(name: str) -> Counter:
    import tiktoken

    known = tiktoken.list_encoding_names()
    if name not in known:
        raise ConfigError("encoding", name, f"allowed are {', '.join(known)}")
    try:
        with _bundled_vocabulary(name):
            encoding = tiktoken.get_encoding(name)
    except Exception as error:
        raise ConfigError(
            "encoding",
            name,
            f"its vocabulary could not be loaded ({type(error).__name__}: {error}); it is not "
            "bundled with chunkast, so put tiktoken's file for it in the directory that "
            f"TIKTOKEN_CACHE_DIR names, or use one of {', '.join(BUNDLED)}",
        ) from error
    return _of_tiktoken(encoding)


@contextmanager
def _bundled_vocabulary(name: str) -> Iterator[None]:
    """Let tiktoken's loader find the bundled file, unless the user's own cache has it."""
    file = BUNDLED.get(name)
    cache = os.environ.get("TIKTOKEN_CACHE_DIR")
    if file is None or (cache and Path(cache, file).is_file()):
        yield
        return
    with _environment:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(VOCABULARY)
        try:
            yield
        finally:
            if cache is None:
                del os.environ["TIKTOKEN_CACHE_DIR"]
            else:
                os.environ["TIKTOKEN_CACHE_DIR"] = cache


# The bytes of UTF-8 that go on with a character.
_CONTINUATION = bytes(range(0x80, 0xC0))


@lru_cache(maxsize=4)
def _characters(encoding: tiktoken.Encoding) -> Sequence[int]:
    """How many characters each token begins."""
    found = [0] * encoding.n_vocab
    for token, rank in encoding._mergeable_ranks.items():  # noqa: SLF001 - there is no public way
        # The bytes that begin a character; a token may hold the others alone.
        found[rank] = len(token.translate(None, _CONTINUATION))
    return found


def _of_tiktoken(encoding: tiktoken.Encoding) -> Counter:
    encode = encoder(encoding)

    def token_ends(text: str, start: int) -> Iterator[int]:
        ends = accumulate(map(_characters(encoding).__getitem__, encode(text)), initial=start)
        next(ends)
        return ends

    ways = by_pieces(encoding, Ways(lambda text: len(encode(text)), token_ends))
    proven = encoding.name in _PROVEN_PATTERNS
    return Counter(encoding.name, ways.count, ways.token_ends if proven else None)
