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
from chunkast.files.freshness import stale_note
from chunkast.index import Store
from chunkast.mcp.document_pages import printable
from chunkast.mcp.index_answers import Answers

__all__ = ("serve",)

_Tool = Callable[..., Awaitable[str]]
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
    stale: Callable[[], dict[str, str]] = dict,
) -> None:
    """Serve an index over stdio until the client closes the connection.

    chunker: counts tokens and parses documents.
    embed: returns the vector of a query, or ``None`` to search by words alone.
    stale: returns the documents that are out of date; see :meth:`Store.stale`.
    """
    answers = Answers(store, chunker, embed, stale)
    server = _Server("chunkast", instructions=_NEXT, log_level="WARNING")
    for name in _TOOLS:
        server.add_tool(
            _with_notes(getattr(answers, name), answers),
            description=getdoc(getattr(answers, name)),
            annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
            structured_output=False,
        )
    server.run("stdio")


def _with_notes(tool: _Tool, answers: Answers) -> _Tool:
    """Begin answers with a note if documents are not up to date, and report errors with next calls.

    Neither names the folder of the index.
    """
    path, name = answers.store.path, Path(answers.store.path).name

    @wraps(tool)
    async def called(*, max_tokens: int, **arguments: object) -> str:
        if max_tokens < _LEAST:
            raise ToolError(f"max_tokens={max_tokens} is too few; {_LEAST} are enough.")
        try:
            stale = answers.stale()
            note = f"note: {printable(stale_note(stale, name))}\n" if stale else ""
            room = max(max_tokens - answers.count(note), _LEAST)
            answer = f"{note}{await tool(max_tokens=room, **arguments)}"
            return answer if answers.count(answer) <= max_tokens else answer[len(note) :]
        except ChunkastError as error:
            text = str(error).replace(path, name)
            raise ToolError(printable(f"{text[:_ERROR_LENGTH]}. {_NEXT}")) from error

    return called
