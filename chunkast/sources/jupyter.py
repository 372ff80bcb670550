"""Chunk Jupyter notebooks one cell at a time.

A chunk never spans several cells, so that its cell can be cited. Its positions and lines refer to
the source of the cell. ``chunk.source`` is the name of the notebook with the cell
(``nb.ipynb#cell-id=4f2a``, or ``nb.ipynb#cell=3`` if the cell has no id), and the metadata contains
"cell", "cell_type" and "cell_id". A heading also applies to the cells after it. Outputs and
attachments are ignored.

If cells have ids, chunk ids are computed per cell, so that an inserted cell does not change the
chunk ids of other cells. Otherwise, they are computed per heading path, as in other documents.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from chunkast.config import ChunkConfig
from chunkast.errors import SourceError, warn
from chunkast.identity import PartCounts
from chunkast.model import Analysis, Chunk, Heading

if TYPE_CHECKING:
    from chunkast.tokens import TokenCounter

__all__ = (
    "Cell",
    "Notebook",
    "analyze_cells",
    "cell_source",
    "chunk_cells",
    "chunk_notebook",
    "is_notebook",
    "notebook_in",
    "read_notebook",
)

_MAX_ID: Final = 64
T = TypeVar("T")


class ChunkerLike(Protocol):
    """The attributes of a ``chunkast.Chunker`` that chunking a document requires."""

    config: ChunkConfig
    counter: TokenCounter


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a notebook.

    number: the index of the cell in the notebook, from 0.
    type: the type of the cell: "markdown", "code" or "raw".
    source: the text of the cell, unchanged.
    id: the id of the cell; empty if the notebook's format has no ids.
    language: the language of a code cell; empty for other cells.
    """

    number: int
    type: str
    source: str
    id: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Notebook:
    """The cells of a notebook, in order, and the JSON ``text`` from which they were read."""

    text: str
    cells: tuple[Cell, ...]


def is_notebook(source: str | None) -> bool:
    """Return whether ``source`` has the extension of a notebook."""
    return (source or "").lower().endswith(".ipynb")


def read_notebook(text: str, path: str = "notebook") -> Notebook:
    """Return the notebook whose JSON, in Jupyter's format 4, is ``text``.

    Raises ``SourceError``, with ``path`` and the reason, if ``text`` is not such a notebook.
    """
    try:
        # A byte order mark is not part of the JSON.
        values = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:  # also a number of more digits than Python reads
        raise SourceError(path, f"not a notebook, which is JSON: {error}") from None
    if isinstance(values, dict) and "worksheets" in values:
        reason = f"a notebook of format {values.get('nbformat')}; convert it with: "
        raise _OldFormatError(path, f"{reason}jupyter nbconvert --to notebook --inplace FILE")
    try:
        return Notebook(text, tuple(_cells(values)))
    except _WrongTypeError as error:
        raise SourceError(path, f"not a notebook: {error}") from None


def notebook_in(text: str, path: str = "notebook") -> Notebook | None:
    """Return the notebook whose JSON is ``text``, or ``None`` if ``text`` is not a notebook.

    Issues a ``ChunkastWarning`` for a notebook in an older format.
    """
    try:
        return read_notebook(text, path)
    except _OldFormatError as error:
        warn(f"{error}; until then it is treated as text")
    except SourceError:
        pass
    return None


class _OldFormatError(SourceError):
    """A notebook has a format that is no longer read."""


class _WrongTypeError(Exception):
    """A part of a notebook has the wrong type; the message names the part."""


def _cells(values: Any) -> Iterator[Cell]:
    notebook = _checked(values, "the notebook", dict, "an object")
    language = _language(notebook.get("metadata"))
    for number, value in enumerate(_checked(notebook.get("cells"), "cells", list, "a list")):
        where = f"cells[{number}]"
        cell = _checked(value, where, dict, "an object")
        kind = _checked(cell.get("cell_type"), f"{where}.cell_type", str, "a string")
        source, cell_id = cell.get("source", ""), cell.get("id")
        if isinstance(source, list) and all(isinstance(line, str) for line in source):
            source = "".join(source)
        source = _checked(source, f"{where}.source", str, "a string or a list of strings")
        known_id = cell_id if isinstance(cell_id, str) and len(cell_id) <= _MAX_ID else ""
        yield Cell(number, kind, source, known_id, language if kind == "code" else "")


def _checked(value: Any, where: str, of: type[T], name: str) -> T:
    if isinstance(value, of):
        return value
    actual = "nothing" if value is None else type(value).__name__
    raise _WrongTypeError(f"{where} is {actual}; must be {name}")


def _language(metadata: Any) -> str:
    """Return the language of a notebook's code, or an empty string if it is not specified."""
    for place, key in (("language_info", "name"), ("kernelspec", "language")):
        about = metadata.get(place) if isinstance(metadata, dict) else None
        name = about.get(key) if isinstance(about, dict) else None
        if isinstance(name, str):
            return name
    return ""


def cell_source(source: str | None, number: int, cell_id: str = "") -> str:
    """Return the source of a cell's chunks: the notebook's source and the cell's id or number."""
    return f"{source or ''}#cell-id={cell_id}" if cell_id else f"{source or ''}#cell={number}"


def id_source(source: str, chunk: Chunk) -> str:
    """Return the source from which the id of a document's chunk is computed.

    This is the source of the chunk's cell if the cell has an id, else the document's ``source``:
    the number of a cell must not affect chunk ids.
    """
    own = chunk.source or source
    return own if own.startswith(f"{source}#cell-id=") else source


def analyze_cells(chunker: ChunkerLike, notebook: Notebook) -> Iterator[tuple[Cell, Analysis]]:
    """Yield each cell of a notebook with its analysis.

    An analysis continues the heading path of earlier cells, and has the front matter of the first.
    """
    path: list[tuple[int, str]] = []
    first: Analysis | None = None
    for cell in notebook.cells:
        analysis = replace(_analyze(chunker.config, cell), path=tuple(title for _, title in path))
        if first is not None and first.front_matter:
            matter, data = first.front_matter, first.front_matter_data
            analysis = replace(analysis, front_matter=matter, front_matter_data=data)
        first = first or analysis
        if cell.type == "code":  # its definitions are headings inside the cell alone
            headings = tuple(replace(h, path=(*analysis.path, *h.path)) for h in analysis.headings)
        else:
            headings = tuple(_continued(analysis.headings, path))
        yield cell, replace(analysis, headings=headings)


def _continued(headings: Iterable[Heading], path: list[tuple[int, str]]) -> Iterator[Heading]:
    """Yield ``headings`` with paths that include the headings of earlier cells; update ``path``."""
    for heading in headings:
        while path and path[-1][0] >= heading.level:
            path.pop()
        if heading.title:
            path.append((heading.level, heading.title))
        yield replace(heading, path=tuple(title for _, title in path))


def _analyze(config: ChunkConfig, cell: Cell) -> Analysis:
    from chunkast.analysis import analyze

    if cell.type == "markdown":
        return analyze(cell.source, config)
    if cell.type == "raw" and cell.number == 0:
        analysis = analyze(cell.source, config)
        if analysis.front_matter:
            return analysis
    return analyze(cell.source, config, language=cell.language or "text")


def chunk_notebook(
    chunker: ChunkerLike, notebook: Notebook | str, source: str | None = None
) -> list[Chunk]:
    """Return the chunks of a notebook, which may be given as JSON, cell by cell.

    ``Chunk.index`` counts the chunks of all cells. Raises ``SourceError`` for a text that is not
    the JSON of a notebook.
    """
    if isinstance(notebook, str):
        notebook = read_notebook(notebook, source or "notebook")
    return list(chunk_cells(chunker, notebook, source, defaultdict(int)))


def chunk_cells(
    chunker: ChunkerLike, notebook: Notebook, source: str | None, parts: PartCounts
) -> Iterator[Chunk]:
    """Yield the chunks of a notebook, cell by cell.

    ``parts`` counts the chunks so far by heading path, and by cell if the cell has an id.
    """
    from chunkast.analysis import structure_of
    from chunkast.cutting import chunks_of

    index = count()
    for cell, analysis in analyze_cells(chunker, notebook):
        name = cell_source(source, cell.number, cell.id)
        # Where cells have no id, their number must not be part of the chunks' ids.
        location = name if cell.id else source or ""
        about = {"cell": cell.number, "cell_type": cell.type, "cell_id": cell.id}
        structure = structure_of(analysis, chunker.config)
        for chunk in chunks_of(structure, chunker.config, chunker.counter, location, parts):
            yield replace(
                chunk,
                source=name,
                index=next(index),
                metadata={**chunk.metadata, **about},
                section_anchors=("",) * len(chunk.sections),
            )
