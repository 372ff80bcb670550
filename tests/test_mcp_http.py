"""The server for agents over HTTP: which requests it answers, and what others cost it."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.command import (
    environment,
    errors,
    linux,
    posix,
    refused,
    run,
    started,
    wait_until,
    write,
)
from tests.tables import cases

mcp = pytest.importorskip("mcp")
httpx = pytest.importorskip("httpx2")
streamable_http_client = pytest.importorskip("mcp.client.streamable_http").streamable_http_client

TOKEN = "a-b.c~d+e/f="  # noqa: S105
KNOWN = {"Authorization": f"Bearer {TOKEN}"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


class Served(NamedTuple):
    url: str
    port: int
    process: subprocess.Popen[bytes]

    def ask(
        self, method: str = "POST", path: str = "/mcp", body: Any = None, **headers: str
    ) -> tuple[int, http.client.HTTPMessage]:
        """Send a request, by default one that opens a session; return its status and headers."""
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **headers,
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, json.dumps(HELLO) if body is None else body, sent)
            answer = connection.getresponse()
            answer.read()
        finally:
            connection.close()
        return answer.status, answer.headers


@contextmanager
def serving(folder: Path, *arguments: str, **variables: str) -> Iterator[Served]:
    """A server in a process of its own, at a free port."""
    write(folder, {"docs/guide.md": "# Guide\n\nInstall it with pip.\n"})
    assert run("index", "docs", "-q", cwd=folder).returncode == 0
    log = folder / "log.txt"
    words = ("mcp", "--http", "127.0.0.1:0", *arguments)
    with (
        log.open("wb") as stderr,
        started(*words, cwd=folder, stderr=stderr, env=environment(variables)) as process,
    ):
        wait_until(lambda: b"\n" in log.read_bytes() or process.poll() is not None)
        said = re.match(r"serving (http://127\.0\.0\.1:(\d+)/mcp)\n", log.read_text())
        assert said, log.read_text()
        yield Served(said[1], int(said[2]), process)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("guarded")
    names = ("--allow-host", "Docs.example", "--allow-host", "[::1]:99")
    with serving(folder, *names, CHUNKAST_MCP_TOKEN=f"{TOKEN}\n") as served:
        yield served


@cases("agents", "requests")
def test_a_request_needs_an_allowed_host_and_the_token(
    guarded: Served, path: str, headers: dict[str, str | None], status: int
) -> None:
    sent = {
        name: value.replace("PORT", str(guarded.port))
        for name, value in {**KNOWN, **headers}.items()
        if value is not None
    }
    answered, about = guarded.ask(path=path, **sent)
    assert answered == status
    assert about.get("WWW-Authenticate") == ("Bearer" if status == 401 else None)


@pytest.mark.parametrize("method", ["GET", "DELETE", "OPTIONS", "PUT"])
def test_no_method_needs_no_token(guarded: Served, method: str) -> None:
    assert guarded.ask(method)[0] == 401
    assert guarded.ask(method, **KNOWN)[0] in (400, 405)


@cases("agents", "addresses")
def test_an_address_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    token: str | None,
    says: str,
) -> None:
    monkeypatch.delenv("CHUNKAST_MCP_TOKEN", raising=False)
    if token is not None:
        monkeypatch.setenv("CHUNKAST_MCP_TOKEN", token)
    assert says in refused("mcp", *words, cwd=tmp_path)


def test_an_address_in_use_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "# A\n"})
    assert run("index", "a.md", "-q", cwd=tmp_path).returncode == 0
    with socket.create_server(("127.0.0.1", 0)) as taken:
        taken_port = taken.getsockname()[1]
        address = f"127.0.0.1:{taken_port}"
        done = run("mcp", "--http", address, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    [error] = errors(done.stderr)
    assert str(taken_port) in error


def test_two_clients_ask_at_the_same_time(guarded: Served) -> None:
    async def talk() -> list[str]:
        async with (
            httpx.AsyncClient(headers=KNOWN) as known,
            mcp.Client(streamable_http_client(guarded.url, http_client=known), mode="auto") as one,
            mcp.Client(
                streamable_http_client(guarded.url, http_client=known), mode="legacy"
            ) as other,
        ):
            assert one.server_info.title == other.server_info.title
            calls = [
                client.call_tool("search", {"query": f"install {number}"})
                for number in range(5)
                for client in (one, other)
            ]
            return [answer.content[0].text for answer in await asyncio.gather(*calls)]

    answers = asyncio.run(talk())
    assert len(answers) == 10
    assert all(re.match(r"docs/guide\.md:1-3  Guide  id=", answer) for answer in answers)


def test_a_real_client_needs_the_token(guarded: Served) -> None:
    async def talk() -> None:
        async with mcp.Client(guarded.url, mode="legacy") as client:
            await client.list_tools()

    with pytest.raises(Exception, match=r"401|unhandled|Unauthorized"):
        asyncio.run(talk())


@linux
def test_a_large_body_is_not_read(guarded: Served) -> None:
    def peak() -> int:
        status = Path(f"/proc/{guarded.process.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0])

    assert guarded.ask(**KNOWN)[0] == 200
    before, piece = peak(), b"x" * 100_000
    for headers, status in (({}, 401), (KNOWN, 413)):
        # The second has no length, and is sent in pieces.
        for body in (piece * 1_000, (piece for _ in range(1_000))):
            # The server may close the connection before all of it is sent.
            try:
                assert guarded.ask(body=body, **headers)[0] == status
            except ConnectionError:
                continue
    assert peak() - before < 20_000
    assert guarded.ask(**KNOWN)[0] == 200


def test_clients_that_drip_keep_out_nobody(guarded: Served) -> None:
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{guarded.port}\r\n"
        f"Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
    )
    # More bodies than there may be sessions.
    beginnings = [head, f"{head}Content-Length: 999\r\n\r\n{{"]
    with ExitStack() as dripping:
        for beginning in beginnings * 120:
            drip = dripping.enter_context(socket.create_connection(("127.0.0.1", guarded.port)))
            drip.sendall(beginning.encode())
        assert guarded.ask(**KNOWN)[0] == 200


@posix
@pytest.mark.slow
def test_there_are_at_most_100_sessions_and_ctrl_c_ends_them(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        opened = [served.ask() for _ in range(101)]
        assert [status for status, _ in opened] == [*[200] * 100, 503]
        session = {"Mcp-Session-Id": opened[0][1]["Mcp-Session-Id"]}
        assert served.ask("DELETE", body=b"", **session)[0] == 200
        assert served.ask()[0] == 200
        # A client waits for messages.
        waiting = {"Mcp-Session-Id": opened[1][1]["Mcp-Session-Id"]}
        stream = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
        stream.request("GET", "/mcp", headers={"Accept": "text/event-stream", **waiting})
        assert stream.getresponse().status == 200
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(120) == 130
        stream.close()
    assert "Traceback" not in (tmp_path / "log.txt").read_text()
