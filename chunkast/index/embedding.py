"""Embed texts with a user's function or an OpenAI-compatible server, and check the vectors."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException, InvalidURL
from typing import TYPE_CHECKING, Any, Final
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from chunkast.errors import ConfigError, StoreError, describe, warn

if TYPE_CHECKING:
    from chunkast.index.store import Store

__all__ = ("Embed", "EmbeddingServer", "embedded", "query_vector")

# Returns a vector for each text, in order: lists, tuples or the rows of an array.
Embed = Callable[[list[str]], Any]
# The largest number that a vector in single precision can have, and the smallest above 0.
_LARGEST: Final = 3.4e38
_SMALLEST: Final = 1.2e-38
_PATH: Final = "/embeddings"
# A request is sent again after these errors, and after any error of the server (500 and above).
_TEMPORARY: Final = frozenset({408, 425, 429})
# The maximum number of bytes in an answer: for each number of a vector, or for each text if the size of
# vectors is not known, and besides.
_BYTES_A_NUMBER: Final = 64
_BYTES_A_TEXT: Final = 1_000_000
_BYTES_BESIDES: Final = 65_536
# The number of bytes to read at a time.
_PIECE: Final = 65_536
# The maximum number of characters of a server's answer in a message.
_MAX_SHOWN: Final = 200
# The maximum number of seconds that a search waits for a server.
_PATIENCE_S: Final = 10.0


def embedded(embed: Embed, texts: Sequence[str], size: int | None, name: str) -> list[list[float]]:
    """Return the vectors of ``texts``.

    ``size`` is the size of the vectors in the store called ``name``, or ``None`` if it has no
    vectors. Raises ``StoreError`` if ``embed`` fails or does not return one vector per text. All
    vectors must be finite, not zero, and of the same size: ``size``, if it is given.
    """
    try:
        vectors = [_numbers(vector) for vector in embed(list(texts))]
    except StoreError:
        raise
    except Exception as error:
        raise StoreError(name, f"embed failed: {describe(error)}") from error
    if len(vectors) != len(texts):
        reason = f"embed returned {len(vectors):,} vectors for {len(texts):,} texts"
        raise StoreError(name, reason)
    known = "the store has" if size else "the first one has"
    for vector in vectors:
        size = size or len(vector)
        if not vector or len(vector) != size:
            reason = f"embed returned a vector of {len(vector):,} numbers; {known} {size:,}"
            raise StoreError(name, reason)
        if not all(abs(number) <= _LARGEST for number in vector):
            raise StoreError(name, "embed returned a vector with a number that is not finite")
        if not any(abs(number) >= _SMALLEST for number in vector):
            raise StoreError(name, "embed returned a vector of zeros, which has no direction")
    return vectors


def _numbers(vector: Any) -> list[float]:
    if isinstance(vector, (str, bytes)):
        raise TypeError(f"a vector must be numbers, not {type(vector).__name__}")
    values: Iterable[Any] = vector.tolist() if hasattr(vector, "tolist") else vector
    return [float(value) for value in values]


class _NoRedirects(HTTPRedirectHandler):
    """A server that redirects could send the key and the texts to another one."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True, slots=True)
class EmbeddingServer:
    """A callable that embeds texts with a server, for example for :meth:`Store.embed_missing`.

    url: the address before "/embeddings", such as "http://127.0.0.1:8080/v1".
    model: the name of the model.
    key: the key that the server requires, or an empty string.
    pauses: the seconds to wait before each further attempt, if the server cannot be reached, is
        overloaded or fails.
    timeout: the maximum number of seconds to wait for an answer, and then to receive it.
    size: the size of a vector, or 0 if it is unknown. It limits the size of an answer.

    Raises ``ConfigError`` for an invalid ``url`` or ``key``.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    pauses: Sequence[float] = (1, 2, 4, 8, 16)
    timeout: float = 60
    size: int = 0

    def __post_init__(self) -> None:
        if not self.url.lower().startswith(("http://", "https://")):
            raise ConfigError("url", self.url, "must begin with http:// or https://")
        if not (self.key.isascii() and self.key.isprintable()):
            raise ConfigError("key", "...", "must consist of printable ASCII characters")

    def __call__(self, texts: list[str]) -> list[Any]:
        """Return a vector for each text; raise ``StoreError`` if the server returns no vectors."""
        body = json.dumps({"model": self.model, "input": texts}).encode()
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        url = self.url.rstrip("/").removesuffix(_PATH) + _PATH
        pauses = iter(self.pauses)
        while True:
            try:
                request = Request(url, body, headers)  # noqa: S310  (http or https)
                with build_opener(_NoRedirects).open(request, timeout=self.timeout) as answer:
                    return self._vectors(self._read(answer, len(texts)), len(texts))
            except HTTPError as error:
                reason = f"HTTP {error.code}: {self._shown(error)}"
                temporary = error.code in _TEMPORARY or error.code >= 500
            except (OSError, HTTPException, ValueError) as error:
                reason = str(getattr(error, "reason", error)) or describe(error)
                temporary = not isinstance(error, (ValueError, InvalidURL))
            pause = next(pauses, None)
            if pause is None or not temporary:
                raise StoreError(self.url, f"cannot embed: {reason}")
            time.sleep(pause)

    def _read(self, answer: Any, count: int) -> bytes:
        """Return an answer with ``count`` vectors; stop at the limits of time and size."""
        begun, data = time.monotonic(), bytearray()
        most = count * (self.size * _BYTES_A_NUMBER or _BYTES_A_TEXT) + _BYTES_BESIDES
        while piece := answer.read1(_PIECE):
            data += piece
            if len(data) > most:
                raise StoreError(self.url, f"cannot embed: the answer exceeds {most:,} bytes")
            if time.monotonic() - begun > self.timeout:
                raise TimeoutError(f"the answer was not complete after {self.timeout:g} s")
        return bytes(data)

    def _shown(self, error: HTTPError) -> str:
        """Return the beginning of the server's message, without the key."""
        try:
            text = self._read(error.fp, 0).decode("utf-8", "replace")
        except (OSError, HTTPException, StoreError):
            text = ""
        text = " ".join((text or error.reason).split())
        return (text.replace(self.key, "...") if self.key else text)[:_MAX_SHOWN]

    def _vectors(self, answer: bytes, count: int) -> list[Any]:
        """Return the vectors of an answer in the order of the texts."""
        try:
            items = [(item["index"], item["embedding"]) for item in json.loads(answer)["data"]]
            vectors = dict(items)
        except (ValueError, KeyError, TypeError, RecursionError):
            reason = "the answer has no list 'data' of objects with 'index' and 'embedding'"
            raise StoreError(self.url, reason) from None
        if len(items) != count or vectors.keys() != {*range(count)}:
            reason = f"the answer has {len(items):,} vectors for {count:,} texts, or wrong indexes"
            raise StoreError(self.url, reason)
        return [vectors[at] for at in range(count)]


def query_vector(store: Store, query: str, *, url: str, key: str = "") -> list[float] | None:
    """Return the vector of a query from the server at ``url``, for :meth:`Store.search`.

    Returns ``None``, with a ``ChunkastWarning``, if the server fails or the index has no vectors.
    Without vectors, the server is not contacted. Raises ``ConfigError`` for an invalid ``url`` or
    ``key``.
    """
    model, size = store.embedding_model()
    reason = f"{store.path} has no vectors"
    if size:
        server = EmbeddingServer(url, model, key, (), _PATIENCE_S, size)
        try:
            return embedded(server, [query], size, url)[0]
        except StoreError as error:
            reason = str(error)
    warn(f"searched by words alone: {reason}")
    return None
