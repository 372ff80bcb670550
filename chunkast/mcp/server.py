"""The MCP server: four read-only tools over stdio."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from inspect import getdoc
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import Tool, ToolAnnotations

from chunkast.chunker import Chunker
from chunkast.errors import ChunkastError
from chunkast.index import Store
from chunkast.mcp.document_pages import printable
from chunkast.mcp.index_answers import Answers

__all__ = ("serve",)

_TOOLS = ("outline", "search", "read", "quote")
# The smallest limit of an answer.
_LEAST = 100
# The titles in an error may be long.
_ERROR_LENGTH = 1_000
_NEXT = (
    "outline() lists the documents, outline(source) the sections of one, search(query) finds places"
)


class _Server(MCPServer):  # type: ignore[misc]  # the package may be missing
    """A server whose tools cost few tokens: their parameters have no titles."""

    async def list_tools(self) -> list[Tool]:
        tools = await super().list_tools()
        for tool in tools:
            for schema in (tool.input_schema, *tool.input_schema["properties"].values()):
                schema.pop("title", None)
        return list(tools)


def serve(
    store: Store,
    chunker: Chunker,
    embed: Callable[[str], list[float] | None] = lambda _query: None,
) -> None:
    """Serve an index over stdio until the client closes it; ``chunker`` counts and parses.

    ``embed`` returns the vector of a query, or ``None`` to search by words alone.
    """
    answers = Answers(store, chunker, embed)
    server = _Server("chunkast", instructions=_NEXT, log_level="WARNING")
    for name in _TOOLS:
        server.add_tool(
            _with_next_call(getattr(answers, name), store.path),
            description=getdoc(getattr(answers, name)),
            annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
            structured_output=False,
        )
    server.run("stdio")


def _with_next_call(
    tool: Callable[..., Awaitable[str]], path: str
) -> Callable[..., Awaitable[str]]:
    """Report errors to the agent with useful next calls, without the folder of the index."""

    @wraps(tool)
    async def called(*, max_tokens: int, **arguments: object) -> str:
        if max_tokens < _LEAST:
            raise ToolError(f"max_tokens={max_tokens} is too few; {_LEAST} are enough.")
        try:
            return await tool(max_tokens=max_tokens, **arguments)
        except ChunkastError as error:
            text = str(error).replace(path, Path(path).name)
            raise ToolError(printable(f"{text[:_ERROR_LENGTH]}. {_NEXT}")) from error

    return called
