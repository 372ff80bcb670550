"""The MCP server over streamable HTTP, for clients that name an allowed host and know the token."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Sequence
from hmac import compare_digest
from ipaddress import ip_address
from typing import Any, Final

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import Response

from chunkast.errors import UsageError

__all__ = ("over_http",)

_Run = Callable[[Any], None]
# The environment variable with the token.
_TOKEN: Final = "CHUNKAST_MCP_TOKEN"  # noqa: S105  (a name)
_HOST: Final = re.compile(r"(?i:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?")
# The largest body of a request is that of a long quote.
_LIMITS: Final = {"max_sessions": 100, "max_request_body_size": 1_000_000}
# Answers have a second to end when the server is stopped; the streams of waiting clients never do,
# and each would be logged as an error.
_SERVING: Final = {"log_config": None, "log_level": "critical", "timeout_graceful_shutdown": 1}


def over_http(address: str, names: Sequence[str], announce: Callable[[str], None]) -> _Run:
    """Return a function that runs a server at an address until a signal stops it.

    address: the address, such as "127.0.0.1:8000"; the server listens there at the path "/mcp".
    names: further host names that clients may use, with a port, or without one for any port.
    announce: called with a line that names the address once the server listens.

    Raises ``UsageError`` for an invalid address, name or token, and for an address that others can
    reach if a name or the token is missing. The returned function raises ``OSError`` if it cannot
    listen.
    """
    where, token = f"--http {address}", os.environ.get(_TOKEN, "").strip()
    if _TOKEN in os.environ and not re.fullmatch("[!-~]+", token):
        raise UsageError(f"{_TOKEN}: must be visible characters of ASCII without spaces")
    if wrong := [name for name in names if not _HOST.fullmatch(name)]:
        raise UsageError(f"--allow-host {wrong[0]}: must be NAME or NAME:PORT")
    given, host = _HOST.fullmatch(address), address.rpartition(":")[0]
    if given is None or int(given["port"] or 65_536) > 65_535:
        raise UsageError(f"{where}: must be HOST:PORT, such as 127.0.0.1:8000")
    try:
        found = socket.getaddrinfo(host.strip("[]"), int(given["port"]), type=socket.SOCK_STREAM)
    except OSError as error:
        raise UsageError(f"{where}: {error.strerror}") from None
    family, *_, place = found[0]
    if not ip_address(place[0]).is_loopback and not (names and token):
        raise UsageError(f"{where}: others can reach it: give --allow-host and set {_TOKEN}")

    def run(server: Any) -> None:
        with socket.create_server(place[:2], family=family) as listener:
            own = f"{host}:{listener.getsockname()[1]}"
            announce(f"serving http://{own}/mcp")
            app = _guarded(server, (own, *names, *(f"{name}:*" for name in names)), token)
            uvicorn.Server(uvicorn.Config(app, ws="none", **_SERVING)).run(sockets=[listener])

    return run


def _guarded(server: Any, hosts: Sequence[str], token: str) -> Any:
    """Return an application that answers requests for allowed hosts, with the token if it is set."""
    hosts = [*map(str.lower, hosts)]
    origins = [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]
    allowed = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)
    app = server.streamable_http_app(transport_security=allowed, **_LIMITS)
    refusal = Response("Unauthorized", 401, {"WWW-Authenticate": "Bearer"})

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        """Refuse a request without the token, whatever its path is, and read none of it."""
        headers = scope.get("headers", ())
        given = b",".join(value for name, value in headers if name == b"authorization")
        known = compare_digest(given[:7].lower() + given[7:], f"bearer {token}".encode())
        is_open = not token or scope["type"] == "lifespan"
        await (app if known or is_open else refusal)(scope, receive, send)

    return guarded
