"""Preview chunks in a terminal: the place, token count, sections and first lines of each chunk."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO, Final

from chunkast.model import Chunk
from chunkast.output.text import place_of, section_names
from chunkast.output.view.visible import visible

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ("write_preview",)

_LINES: Final = 3


def write_preview(chunks: Iterable[Chunk], out: BinaryIO, _chunker: object = None) -> None:
    """Write a coloured preview of the chunks to ``out``, which must be stdout on a terminal."""
    from rich.console import Console

    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    for chunk in chunks:
        with console.capture() as captured:
            _print(console, chunk)
        out.write(captured.get().encode("utf-8", "backslashreplace"))
        out.flush()
    with console.capture() as captured:
        console.print("JSON Lines: --format jsonl, -o FILE, or a pipe", style="dim")
    out.write(captured.get().encode())


def _print(console: Console, chunk: Chunk) -> None:
    from rich.text import Text

    head = Text()
    head.append(visible(place_of(chunk)), style="bold cyan")
    oversize = " (oversize)" if chunk.oversize else ""
    head.append(f"  {chunk.token_count:,} tokens{oversize}", style="yellow")
    head.append(f"  {visible(section_names(chunk.sections))}", style="green")
    console.print(head, no_wrap=True, overflow="ellipsis")
    for line in _first_lines(chunk):
        console.print(Text(f"  {line}"), no_wrap=True, overflow="ellipsis")
    console.print()


def _first_lines(chunk: Chunk) -> Iterator[str]:
    """Yield the first non-blank lines of a chunk, then a line that counts the rest, if any."""
    own = visible(chunk.text[chunk.overlap :])
    lines = [line for line in own.split("\n") if line.strip()]
    yield from (line.rstrip().expandtabs(4) for line in lines[:_LINES])
    if len(lines) > _LINES:
        yield f"… {len(lines) - _LINES:,} more lines"
