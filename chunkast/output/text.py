"""Write chunks as readable text: a header line, the chunk's text and a rule.

The header line shows the chunk's source, lines, token count and headings:

    docs/guide.md:12-40  312 tokens  Guide > Set-up
    docs/guide.md:41-90  480 tokens  Guide > Use … Guide > Errors (4 sections)

The chunk's text is verbatim, except that lone surrogates are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, BinaryIO, Final

from chunkast.model import Chunk
from chunkast.text.pages import pages_note

if TYPE_CHECKING:
    from chunkast.reading import Section

__all__ = ("page", "place_of", "section_line", "section_names", "write_text")

_RULE: Final = "─" * 72


def write_text(chunks: Iterable[Chunk], out: BinaryIO, _chunker: object = None) -> None:
    """Write the chunks as text, each between a header line and a rule."""
    for chunk in chunks:
        written = page(
            place_of(chunk), chunk.token_count, chunk.sections, chunk.text, oversize=chunk.oversize
        )
        out.write(written.encode("utf-8", "backslashreplace"))


def place_of(chunk: Chunk) -> str:
    """Return a chunk's source ("-" for standard input), lines and pages as text."""
    source = "-" if chunk.source is None else chunk.source
    return f"{source}:{chunk.start_line}-{chunk.end_line}{pages_note(chunk.pages)}"


def section_names(sections: Sequence[Sequence[str]], separator: str = " > ") -> str:
    """Return the heading paths ``sections`` as text.

    If there are more than two, only the first and last paths are shown, followed by the number of
    sections.
    """
    paths = [separator.join(path) for path in sections]
    if len(paths) < 2:
        return "".join(paths)
    count = f" ({len(paths)} sections)" if len(paths) > 2 else ""
    return f"{paths[0]} … {paths[-1]}{count}"


def section_line(section: Section) -> str:
    """Return the title, lines and token count of a section as one line, indented by its level."""
    title = section.path[-1] if section.path else "(document)"
    lines = f"{section.start_line:,}-{section.end_line:,}"
    return f"{'  ' * section.level}{title}  lines {lines}  {section.total_tokens:,} tokens"


def page(
    place: str,
    token_count: int,
    sections: Sequence[Sequence[str]],
    text: str,
    *,
    oversize: bool = False,
) -> str:
    """Return ``text`` with a header line before it and a rule after it.

    The header line shows the place, token count and sections of the text.
    """
    tokens = f"{token_count} token{'' if token_count == 1 else 's'}"
    if oversize:
        tokens += " (oversize)"
    header = "  ".join(filter(None, (place, tokens, section_names(sections))))
    end = "" if text.endswith("\n") else "\n"
    return f"{header}\n\n{text}{end}{_RULE}\n"
