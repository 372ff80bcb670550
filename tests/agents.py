"""Ask the tools of ``chunkast mcp`` as an agent does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.command import command, environment, run

__all__ = ("Call", "ask")

Call = tuple[str, dict[str, Any]]


def ask(calls: Sequence[Call], *arguments: object, cwd: Path, stdio: bool = False) -> list[Any]:
    """Return the tools and the answers of a server in this process, or of one over stdio."""
    mcp = pytest.importorskip("mcp")
    answers: list[Any] = []

    async def converse(server: Any) -> None:
        async with mcp.Client(server) as client:
            answers.append((await client.list_tools()).tools)
            answers.extend([await client.call_tool(name, given) for name, given in calls])

    if stdio:
        first, *rest = command("mcp", *arguments)
        server = mcp.StdioServerParameters(command=first, args=rest, env=environment(), cwd=cwd)
        asyncio.run(converse(server))
        return answers
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "chunkast.mcp.server._Server.run", lambda server, _: asyncio.run(converse(server))
        )
        assert run("mcp", *arguments, cwd=cwd).returncode == 0
    return answers
