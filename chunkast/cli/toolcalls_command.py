"""``chunkast toolcalls``: print the tool calls in text, and the text around them, as JSON lines."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from chunkast.cli.messages import print_note
from chunkast.cli.shared_options import TOOLS_HELP, load_tools
from chunkast.errors import ConfigError, UsageError
from chunkast.files.read import read_pieces
from chunkast.files.write import stdout
from chunkast.output.formats import json_bytes

if TYPE_CHECKING:
    from chunkast.toolcalls import Part

HELP: Final = "print the tool calls in a text"
DESCRIPTION: Final = (
    "Print the tool calls in a text and the text around them as JSON Lines, each as soon as it is "
    "known. Problems in a call are listed with it and reported on stderr. A call that cannot be "
    "parsed stays text."
)
EXAMPLES: Final = (
    "chunkast toolcalls reply.txt --tools tools.json",
    "model | chunkast toolcalls - --tools tools.json",
)
COMMON: Final = "tools"
OPERANDS: Final = ""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments to ``parser``."""
    parser.add_argument("file", metavar="FILE", help="a text in UTF-8, or - for standard input")
    parser.add_argument("--tools", required=True, metavar="TOOLS.json", help=TOOLS_HELP)


def run(options: Namespace) -> int:
    """Print the tool calls in the input and the text around them. Return 0."""
    from chunkast.toolcalls import ToolCallStream

    try:
        stream = ToolCallStream(load_tools(options.tools), on_problem=print_note)
    except ConfigError as error:
        raise UsageError(f"--tools {options.tools}: {error}") from None
    out = stdout()
    try:
        for piece in read_pieces(options.file):
            _print(stream.feed(piece), out)
    finally:
        # After an error too: the part of the text that could be read.
        _print(stream.close(), out)
    return 0


def _print(parts: Sequence[Part], out: BinaryIO) -> None:
    out.writelines(json_bytes(_plain(part)) + b"\n" for part in parts)
    # The reader gets the known parts while the rest is still coming.
    out.flush()


def _plain(part: Part) -> dict[str, Any]:
    from chunkast.toolcalls import Text

    place = {"start_index": part.start_index, "end_index": part.end_index}
    if isinstance(part, Text):
        return {"type": "text", "text": part.text, **place}
    problems = [
        {"path": problem.path, "what": problem.what, "where": list(problem.where)}
        for problem in part.problems
    ]
    call = {"type": "tool-call", "name": part.name, "arguments": part.arguments}
    return {**call, **place, "problems": problems}
