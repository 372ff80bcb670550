"""Show chunks and search hits in colour on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, Final

from chunkast.model import Chunk
from chunkast.output.text import place_of, section_names
from chunkast.output.view.visible import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from chunkast.index import Hit

__all__ = ("is_terminal", "write_hits", "write_preview")

_CHUNKS: Final = 5
_LINES: Final = 3


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def write_preview(chunks: Iterable[Chunk], out: BinaryIO, _chunker: object = None) -> None:
    """Write the first lines of the first chunks, and the number of chunks that are not shown.

    ``out`` must write to the same terminal as standard output.
    """
    from rich.text import Text

    chunks = iter(chunks)
    with _console(out) as console:
        for chunk in islice(chunks, _CHUNKS):
            oversize = " (oversize)" if chunk.oversize else ""
            sections = section_names(chunk.sections)
            head = _head(place_of(chunk), chunk.token_count, sections, oversize)
            console.print(head, no_wrap=True, overflow="ellipsis")
            for line in _first_lines(chunk):
                console.print(Text(f"  {line}"), no_wrap=True, overflow="ellipsis")
            console.print()
        rest = sum(1 for _ in chunks)
        more = f"… {rest:,} more: -o FILE, or a pipe for all" if rest else ""
        console.print(more or "JSON Lines: --format jsonl, -o FILE, or a pipe", style="dim")


def write_hits(hits: Sequence[tuple[Hit, str, str]], query: str, out: BinaryIO) -> None:
    """Write search hits with their places and headers, and highlight the words of the query."""
    from rich.rule import Rule

    with _console(out) as console:
        for hit, place, header in hits:
            console.print(_head(place, hit.token_count, header))
            console.print()
            console.print(_marked(visible(hit.text.rstrip()), query))
            console.print(Rule(style="dim"))


@contextmanager
def _console(out: BinaryIO) -> Iterator[Console]:
    """Yield a console of the width and the colours of standard output, which writes to ``out``."""
    from rich.console import Console

    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        yield console
    out.write(captured.get().encode("utf-8", "backslashreplace"))


def _head(place: str, tokens: int, sections: str, oversize: str = "") -> Text:
    from rich.text import Text

    head = Text(visible(place), style="bold cyan")
    head.append(f"  {tokens:,} tokens{oversize}", style="not bold yellow")
    return head.append(f"  {visible(sections)}", style="not bold green")


def _marked(text: str, query: str) -> Text:
    """Return ``text`` with the words marked that match the query in the index."""
    from rich.text import Text

    from chunkast.index.ranking import Query, relevance
    from chunkast.index.stems import languages_of
    from chunkast.index.terms import word_places

    marked, places = Text(text), [*word_places(text)]
    words = (("", text[start:end]) for start, end in places)
    scores = relevance(Query(query, languages_of([text])), words)
    for (start, end), score in zip(places, scores, strict=True):
        if score:
            marked.stylize("bold magenta", start, end)
    return marked


def _first_lines(chunk: Chunk) -> Iterator[str]:
    """Yield the first non-blank lines of a chunk, then a line that counts the rest, if any."""
    own = visible(chunk.text[chunk.overlap :])
    lines = [line for line in own.split("\n") if line.strip()]
    yield from (line.rstrip().expandtabs(4) for line in lines[:_LINES])
    if len(lines) > _LINES:
        yield f"… {len(lines) - _LINES:,} more lines"
