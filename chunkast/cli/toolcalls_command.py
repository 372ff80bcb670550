"""``chunkast toolcalls``: print tool calls and the text around them as JSON lines."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from chunkast.cli.messages import counted, print_note, print_text
from chunkast.cli.shared_options import load_tools
from chunkast.errors import ConfigError, UsageError
from chunkast.files.read import read_pieces
from chunkast.files.write import stdout
from chunkast.output.formats import json_bytes

if TYPE_CHECKING:
    from chunkast.toolcalls import Part, ToolProblem


def run(options: Namespace) -> int:
    """Print the tool calls in the input and the text around them. Return 0."""
    from chunkast.toolcalls import ToolCallStream, protocol_table

    if options.list:
        print_text(protocol_table())
        return 0
    if options.file is None or options.tools is None:
        raise UsageError("FILE and --tools are required, except with --list")
    counts: Counter[str] = Counter()

    def report(problem: ToolProblem) -> None:
        counts[problem.tool or "no tool"] += 1
        print_note(problem)

    tools, names = load_tools(options.tools), getattr(options, "protocols", ("xml",))
    try:
        stream = ToolCallStream(tools, protocols=names, strict=options.strict, on_problem=report)
    except ConfigError as error:
        flag = "--protocol" if error.field == "protocols" else f"--tools {options.tools}"
        raise UsageError(f"{flag}: {error}") from None
    out, calls = stdout(), 0
    try:
        for piece in read_pieces(options.file):
            calls += _print(stream.feed(piece), out)
    finally:
        # After an error too: the part of the text that could be read.
        calls += _print(stream.close(), out)
    if options.strict:
        each = ", ".join(f"{tool}: {count}" for tool, count in counts.most_common(5))
        problems = counted(counts.total(), "problem") + f" ({each})" * bool(each)
        print_note(f"{counted(calls, 'call')} read; {problems}")
    return 0


def _print(parts: Sequence[Part], out: BinaryIO) -> int:
    """Print the parts, and return the number of calls."""
    out.writelines(json_bytes(_plain(part)) + b"\n" for part in parts)
    # The reader gets the known parts while the rest is still coming.
    out.flush()
    return sum(hasattr(part, "arguments") for part in parts)


def _plain(part: Part) -> dict[str, Any]:
    from chunkast.toolcalls import Text

    place = {"start_index": part.start_index, "end_index": part.end_index}
    if isinstance(part, Text):
        return {"type": "text", "text": part.text, **place}
    problems = [{"path": p.path, "what": p.what, "where": p.where} for p in part.problems]
    call = {"type": "tool-call", "name": part.name, "arguments": part.arguments}
    return {**call, **place, "problems": problems, "id": part.id}
