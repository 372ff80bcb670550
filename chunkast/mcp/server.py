"""The MCP server: four read-only tools, by default over stdio."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import wraps
from inspect import getdoc
from os.path import commonprefix
from pathlib import Path
from typing import Any

import anyio
from mcp.server import MCPServer, Server
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult, TextContent, ToolAnnotations

from chunkast import __version__
from chunkast.chunker import Chunker
from chunkast.errors import ChunkastError, counted
from chunkast.files.freshness import stale_note
from chunkast.index import Store
from chunkast.mcp.document_pages import printable, section_path
from chunkast.mcp.index_answers import Answers

__all__ = ("over_stdio", "serve")

_Tool = Callable[..., Awaitable[str]]
_TOOLS = ("outline", "search", "read", "quote")
# The smallest limit of an answer.
_LEAST = 100
# The titles in an error may be long.
_ERROR_LENGTH = 1_000
_NEXT = (
    "outline() lists the documents, outline(source) the sections of one, search(query) finds places"
)


def serve(
    store: Store,
    chunker: Chunker,
    embed: Callable[[str], list[float] | None] = lambda _query: None,
    stale: Callable[[], dict[str, str]] = dict,
    *,
    about: str = "",
    run: Callable[[Any], None] | None = None,
) -> None:
    """Serve an index until the server is stopped.

    chunker: counts tokens and parses documents.
    embed: returns the vector of a query, or ``None`` to search by words alone.
    stale: returns the documents that are out of date; see :meth:`Store.stale`.
    about: the subject of the documents, for agents with several servers; by default, the subject
        that the index stores, or the number of its documents and their folder.
    run: runs the server; by default over stdio, until the client closes the connection.
    """
    known = about.strip() or store.settings().get("about", "").strip() or _contents(store)
    about = printable(section_path([known]))
    (run or over_stdio)(_server(Answers(store, chunker, embed, stale), about))


def over_stdio(server: Any) -> None:
    """Run a server over stdio until the client closes the connection."""

    async def run() -> None:
        async with stdio_server() as streams:
            await server.run(*streams, server.create_initialization_options())

    anyio.run(run)


def _contents(store: Store) -> str:
    """Return the number of documents in an index and the folder that all of them are in."""
    sources = [*store.outline()]
    inside = commonprefix(sources).rpartition("/")[0]  # noqa: RUF071  (cut at a slash)
    root = ""
    # What an index remembers may be damaged or made up; one of ``Store.update`` has no root.
    with suppress(KeyError, TypeError, ValueError, RecursionError):
        root = Path(json.loads(store.settings()["run"])["root"]).name
    folder = f"{root}/{inside}".strip("/")
    return f"{counted(len(sources), 'document')}{f' in {folder}' if folder else ''}"


def _server(answers: Answers, about: str) -> Any:
    """Return a server with the tools, and without the prompts and resources of an ``MCPServer``."""
    # This one reads the tools' signatures and checks arguments.
    tools = MCPServer("chunkast", log_level="WARNING")
    for name in _TOOLS:
        # Many clients show an agent no more of a server than its tools.
        more = f"\n\nAbout: {about}" if name == "search" else ""
        tools.add_tool(
            _with_notes(getattr(answers, name), answers),
            description=f"{getdoc(getattr(answers, name))}{more}",
            annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
            structured_output=False,
        )

    async def listed(*_: object) -> Any:
        # The titles of parameters cost tokens, and repeat their names.
        for tool in (found := await tools.list_tools()):
            for schema in (tool.input_schema, *tool.input_schema["properties"].values()):
                schema.pop("title", None)
        return ListToolsResult(tools=found)

    async def called(_: object, call: Any) -> Any:
        try:
            return await tools.call_tool(call.name, call.arguments or {})
        except UnexpectedToolError:
            # The package logs it.
            raise
        except ToolError as error:
            text = TextContent(type="text", text=str(error))
            return CallToolResult(content=[text], is_error=True)

    return Server(
        "chunkast",
        version=__version__,
        title=about,
        instructions=f"{about.rstrip('.')}. {_NEXT}",
        on_list_tools=listed,
        on_call_tool=called,
    )


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
