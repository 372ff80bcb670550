"""``chunkast toolcalls``: print the tool calls in text, and the text around them, as JSON lines."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from chunkast.cli.messages import say_note
from chunkast.cli.options import TOOLS_HELP, load_tools
from chunkast.errors import ConfigError, SourceError, UsageError
from chunkast.files.read import read_pieces
from chunkast.files.write import stdout
from chunkast.output.formats import json_bytes

if TYPE_CHECKING:
    from chunkast.toolcalls import Part, ToolProblem

__all__ = ("COMMON", "DESCRIPTION", "EXAMPLES", "HELP", "OPERANDS", "add_arguments", "run")

HELP: Final = "print the tool calls in a text"
DESCRIPTION: Final = (
    "Print the tool calls in a text and the text around them, an object per line, each as "
    "soon as it is known. A call that cannot be parsed is printed as text. Problems in calls are "
    "listed with them and reported on stderr: dropped content, missing and unsuitable arguments, "
    "tags that are never closed."
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
    parser.add_argument(
        "--tools",
        required=True,
        metavar="TOOLS.json",
        help=TOOLS_HELP,
    )


def run(options: Namespace) -> int:
    """Print the tool calls in the input and the text around them. Return 0."""
    from chunkast.toolcalls import ToolCallStream

    try:
        stream = ToolCallStream(load_tools(options.tools), on_problem=_say_problem)
    except ConfigError as error:
        raise UsageError(f"--tools {options.tools}: {error}") from None
    out = stdout()
    try:
        for piece in read_pieces(options.file):
            _print(stream.feed(piece), out)
    except SourceError:
        # Print the part of the text that could be read.
        _print(stream.close(), out)
        raise
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


def _say_problem(problem: ToolProblem) -> None:
    say_note(str(problem))
