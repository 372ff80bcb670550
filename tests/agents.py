"""Ask the tools of ``chunkast mcp`` as an agent does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.command import command, environment, run

__all__ = ("Call", "ask", "introduced")

Call = tuple[str, dict[str, Any]]


def ask(calls: Sequence[Call], *arguments: object, cwd: Path, stdio: bool = False) -> list[Any]:
    """Return the tools and the answers of a server in this process, or of one over stdio."""
    answers: list[Any] = []

    async def converse(client: Any) -> None:
        answers.append((await client.list_tools()).tools)
        answers.extend([await client.call_tool(name, given) for name, given in calls])

    _meet(converse, arguments, cwd, stdio=stdio)
    return answers


def introduced(
    *arguments: object, cwd: Path, stdio: bool = False, mode: str = "legacy"
) -> SimpleNamespace:
    """Return what a server says of itself; by default, in answer to ``initialize``."""
    said = SimpleNamespace()

    async def listen(client: Any) -> None:
        said.info, said.instructions = client.server_info, client.instructions
        said.capabilities = client.server_capabilities.model_dump(exclude_none=True)
        said.tools = {each.name: each for each in (await client.list_tools()).tools}

    _meet(listen, arguments, cwd, stdio=stdio, mode=mode)
    return said


def _meet(
    talk: Callable[[Any], Awaitable[None]],
    arguments: Sequence[object],
    cwd: Path,
    *,
    stdio: bool,
    mode: str = "auto",
) -> None:
    """Let a client talk to a server in this process, or to one over stdio."""
    mcp = pytest.importorskip("mcp")

    async def converse(server: Any) -> None:
        async with mcp.Client(server, mode=mode) as client:
            await talk(client)

    if stdio:
        first, *rest = command("mcp", *arguments)
        asyncio.run(
            converse(
                mcp.StdioServerParameters(command=first, args=rest, env=environment(), cwd=cwd)
            )
        )
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "chunkast.mcp.server.over_stdio", lambda server: asyncio.run(converse(server))
        )
        assert run("mcp", *arguments, cwd=cwd).returncode == 0
