"""Embed texts: with a function, or a real server that answers as OpenAI's does, or wrongly."""

from __future__ import annotations

import json
import math
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from chunkast.text.hashes import content_hash

__all__ = ("SIZE", "Embed", "Served", "serving", "vector_of")

SIZE = 6
Answer = Callable[[list[str]], Any]


def vector_of(text: str) -> list[float]:
    """Return a vector of length 1 that depends on the words; single precision can store it."""
    numbers = [byte - 127.5 for byte in sha256(content_hash(text).encode()).digest()[:SIZE]]
    unit = (number / math.hypot(*numbers) for number in numbers)
    return list(struct.unpack(f"{SIZE}f", struct.pack(f"{SIZE}f", *unit)))


class Embed:
    """Embeds texts, and keeps the batches; ``fail_after`` is the number of them that succeed."""

    def __init__(self, fail_after: int | None = None) -> None:
        self.batches: list[list[str]] = []
        self._fail_after = fail_after

    def __call__(self, texts: list[str]) -> list[list[float]]:
        if self._fail_after == len(self.batches):
            raise OSError("no such host")
        assert type(texts) is list
        assert 1 <= len(texts) == len(set(texts))
        self.batches.append(texts)
        return [vector_of(text) for text in texts]

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.batches for text in batch]


def _answer(texts: list[str]) -> Any:
    """Return the vectors in another order, with their positions."""
    data = [{"index": at, "embedding": vector_of(text)} for at, text in enumerate(texts)]
    return {"object": "list", "data": data[::-1]}


class Served:
    """What a server was asked: texts, models and keys; ``answer`` makes the answers.

    ``statuses`` are those of the first answers, instead of 200.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.answer: Answer = _answer
        self.statuses: list[int] = []
        self.texts: list[str] = []
        self.models: set[str] = set()
        self.keys: set[str | None] = set()
        self.requests = 0


@contextmanager
def serving(statuses: Sequence[int] = ()) -> Iterator[Served]:
    """Run a server in a thread."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            served.requests += 1
            served.keys.add(self.headers["Authorization"])
            status = served.statuses.pop(0) if served.statuses else 200
            if self.path != "/v1/embeddings":
                status = 404
            body = b"no such thing: " + (self.headers["Authorization"] or "").encode()
            if status == 200:
                served.texts += given["input"]
                served.models.add(given["model"])
                answer = served.answer(given["input"])
                body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"{served.url}/embeddings")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (its name)
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        served = Served(f"http://127.0.0.1:{server.server_port}/v1")
        served.statuses = [*statuses]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
