"""From a configured encoding to a function that counts tokens exactly.

tiktoken's ``encode_ordinary`` is used, so that text such as ``<|endoftext|>`` is
ordinary text. Any object with an ``encode`` method and any ``str -> int`` callable
can be used as well.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from chunkast.errors import ConfigError
from chunkast.tokens.long_space import encoder
from chunkast.tokens.pretokens import CountFunctions, by_pretokens
from chunkast.tokens.vocabulary import BUNDLED, load_encoding

if TYPE_CHECKING:
    import tiktoken

__all__ = ("Counter", "Window", "resolve_counter")

# The splitting patterns whose boundaries ``tokens/index.py`` proves. Any other pattern is
# counted without shortcuts.
_PROVEN_PATTERNS: Final = frozenset({"cl100k_base", "o200k_base", "o200k_harmony"})


# transformers has a huge number for a tokenizer without a limit.
_NO_LIMIT: Final = 2**31


@dataclass(frozen=True, slots=True)
class Window:
    """How many ``tokens`` a model reads of a text, and how many ``special`` ones are among them."""

    tokens: int
    special: int

    @property
    def room(self) -> int:
        """The tokens that are left for a text."""
        return self.tokens - self.special


@dataclass(frozen=True, slots=True)
class Counter:
    """How many tokens a text has: ``count(text)``, under the encoding's ``name``.

    ``token_ends(text, start)`` gives for each token of a text a character index that it ends
    at or before, in the same pre-token; the text itself begins at index ``start``. It is None
    for an encoding that does not split text at the boundaries which ``tokens/index.py`` proves.

    ``window`` is what the tokenizer says of its model's limit, if it does.
    """

    name: str
    count: Callable[[str], int]
    token_ends: Callable[[str, int], Iterable[int]] | None = None
    window: Window | None = None

    def window_room(self) -> int:
        """The most tokens of a text that the model reads whole; ``ConfigError`` if not known."""
        if self.window is None or self.window.room < 1:
            allowed = f"{self.name} has no limit of its own; must be a whole number then"
            raise ConfigError("max_tokens", "model", allowed)
        return self.window.room

    def cut_off(self, tokens: int) -> int:
        """How many of a text's ``tokens`` the model would not read, as far as is known."""
        return max(tokens - self.window.room, 0) if self.window else 0


def resolve_counter(
    encoding: object, model: str | None = None, *, allow_download: bool = False
) -> Counter:
    """The counter for a tiktoken encoding's name, a model's name, or a user's own object.

    ``allow_download``: whether tiktoken may fetch a vocabulary that is not on this machine.
    Raises ``ConfigError`` when the encoding is not known or cannot be loaded.
    """
    if model is not None:
        name = _encoding_of_model(model)
        try:
            return _named(name, allow_download)
        except ConfigError as error:
            raise ConfigError(
                "model", model, f"its encoding is {name}: {error.allowed}"
            ) from error.__cause__
    if isinstance(encoding, str):
        return _named(encoding, allow_download)
    import tiktoken

    if isinstance(encoding, tiktoken.Encoding):
        return _of_tiktoken(encoding)
    own_name = getattr(encoding, "name", None) or getattr(encoding, "__qualname__", None)
    label = own_name if isinstance(own_name, str) else type(encoding).__qualname__
    encode = getattr(encoding, "encode", None)
    if callable(encode):
        keywords = {"add_special_tokens": False} if _takes_special_tokens(encode) else {}
        return Counter(label, lambda text: len(encode(text, **keywords)), window=_window(encoding))
    if callable(encoding):
        return Counter(label, encoding)
    raise ConfigError(
        "encoding",
        encoding,
        "must be a tiktoken encoding's name, an object with an encode method, "
        "or a callable from str to int",
    )


def _window(tokenizer: Any) -> Window | None:
    """The limit of a Hugging Face tokenizer, and how many special tokens it adds."""
    limit = getattr(tokenizer, "model_max_length", None)
    if not isinstance(limit, int):
        limit = (getattr(tokenizer, "truncation", None) or {}).get("max_length")
    if not isinstance(limit, int) or limit >= _NO_LIMIT:
        return None
    return Window(limit, tokenizer.num_special_tokens_to_add(False))


def _takes_special_tokens(encode: Callable[..., Any]) -> bool:
    """Whether ``encode`` is a Hugging Face tokenizer's, which adds [CLS] and [SEP] by default."""
    try:
        return "add_special_tokens" in inspect.signature(encode).parameters
    except (TypeError, ValueError):
        return False


def _encoding_of_model(model: str) -> str:
    from tiktoken.model import MODEL_TO_ENCODING, encoding_name_for_model

    try:
        return encoding_name_for_model(model)
    except KeyError:
        known = ", ".join(
            sorted(name for name, encoding in MODEL_TO_ENCODING.items() if encoding in BUNDLED)[:8]
        )
        raise ConfigError(
            "model", model, f"tiktoken knows no such model; it knows {known} and others"
        ) from None


@lru_cache(maxsize=16)
def _named(name: str, allow_download: bool) -> Counter:
    return _of_tiktoken(load_encoding(name, allow_download=allow_download))


# The bytes of UTF-8 that continue a character.
_CONTINUATION = bytes(range(0x80, 0xC0))


@lru_cache(maxsize=4)
def _characters(encoding: tiktoken.Encoding) -> Sequence[int]:
    """How many characters each token begins."""
    found = [0] * encoding.n_vocab
    for token, rank in encoding._mergeable_ranks.items():  # noqa: SLF001 - there is no public way
        # The bytes that begin a character; a token may consist of the others alone.
        found[rank] = len(token.translate(None, _CONTINUATION))
    return found


def _of_tiktoken(encoding: tiktoken.Encoding) -> Counter:
    encode = encoder(encoding)

    def token_ends(text: str, start: int) -> Iterator[int]:
        ends = accumulate(map(_characters(encoding).__getitem__, encode(text)), initial=start)
        next(ends)
        return ends

    functions = by_pretokens(encoding, CountFunctions(lambda text: len(encode(text)), token_ends))
    proven = encoding.name in _PROVEN_PATTERNS
    return Counter(encoding.name, functions.count, functions.token_ends if proven else None)
