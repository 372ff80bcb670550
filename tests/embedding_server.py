"""A real server that embeds texts as OpenAI's does, with answers that can be made wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.test_vectors import vector_of

__all__ = ("Served", "serving")

Answer = Callable[[list[str]], Any]


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
