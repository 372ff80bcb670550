"""Many documents: in this process or spread over several, in input order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from operator import attrgetter
from typing import Any, Final, Protocol

from chunkast.config import ChunkConfig
from chunkast.model import Chunk
from chunkast.workers import started

__all__ = ("chunk_groups",)

# A work unit holds at least this many characters, so that sending it costs little.
_UNIT_SIZE: Final = 200_000

# (index of the text, its source, the text), all of one source behind one another.
_Group = list[tuple[int, str | None, str]]
_Result = list[tuple[int, list[Chunk]]]
# A chunk's fields in their order, but for its texts: they are cut out of the document again.
_Row = tuple[Any, ...]
_FIELDS: Final = tuple(field.name for field in fields(Chunk))
_TEXT: Final = _FIELDS.index("text")
_START: Final = _FIELDS.index("start_index")
_END: Final = _FIELDS.index("end_index")
_EMBED_TEXT: Final = _FIELDS.index("embed_text")
_values = attrgetter(*_FIELDS)


class _Chunker(Protocol):
    """What is asked of a chunker here; its class builds an equal one from ``config``."""

    config: ChunkConfig

    def chunk_documents(
        self, documents: Iterable[tuple[str | None, str]]
    ) -> Iterator[list[Chunk]]: ...


def chunk_groups(
    chunker: _Chunker,
    texts: Sequence[str],
    sources: Sequence[str | None],
    *,
    workers: int,
    progress: bool,
) -> list[list[Chunk]]:
    """The chunks of every text, in input order; texts of one source go on counting parts."""
    groups: dict[object, _Group] = {}
    for number, (text, source) in enumerate(zip(texts, sources, strict=True)):
        key = number if source is None else source
        groups.setdefault(key, []).append((number, source, text))
    results: list[list[Chunk]] = [[] for _ in texts]
    with (
        _results(chunker, texts, list(groups.values()), workers) as found,
        _progress_bar(len(texts), progress) as advance,
    ):
        for result in found:
            for number, chunks in result:
                results[number] = chunks
                advance()
    return results


@contextmanager
def _results(
    chunker: _Chunker, texts: Sequence[str], groups: Sequence[_Group], workers: int
) -> Iterator[Iterator[_Result]]:
    units = list(_units(groups))
    count = min(workers, len(units))
    if count <= 1:
        yield (_chunk_unit(chunker, unit) for unit in units)
        return
    with started(partial(_row_maker, type(chunker), chunker.config), count) as pool:
        yield (
            [(number, [_from_row(row, texts[number]) for row in rows]) for number, rows in result]
            for result in pool.results(units)
        )


def _units(groups: Iterable[_Group]) -> Iterator[list[_Group]]:
    unit: list[_Group] = []
    size = 0
    for group in groups:
        unit.append(group)
        size += sum(len(text) for _, _, text in group)
        if size >= _UNIT_SIZE:
            yield unit
            unit, size = [], 0
    if unit:
        yield unit


def _chunk_unit(chunker: _Chunker, unit: list[_Group]) -> _Result:
    return [
        (number, chunks)
        for group in unit
        for (number, _, _), chunks in zip(
            group,
            chunker.chunk_documents((source, text) for _, source, text in group),
            strict=True,
        )
    ]


def _row_maker(
    chunker_type: Callable[[ChunkConfig], _Chunker], config: ChunkConfig
) -> Callable[[list[_Group]], list[tuple[int, list[_Row]]]]:
    """What a process does with a unit: chunk it, and leave out what the texts say."""
    chunker = chunker_type(config)

    def rows(unit: list[_Group]) -> list[tuple[int, list[_Row]]]:
        return [
            (number, [_to_row(chunk) for chunk in chunks])
            for number, chunks in _chunk_unit(chunker, unit)
        ]

    return rows


def _to_row(chunk: Chunk) -> _Row:
    """A chunk's fields; of its texts only what ``embed_text`` has before and behind ``text``."""
    row = list(_values(chunk))
    before, found, behind = chunk.embed_text.partition(chunk.text)
    row[_TEXT] = None
    row[_EMBED_TEXT] = (before, behind) if found else before
    return tuple(row)


def _from_row(values: _Row, text: str) -> Chunk:
    row = list(values)
    row[_TEXT] = own = text[row[_START] : row[_END]]
    if not isinstance(row[_EMBED_TEXT], str):
        before, behind = row[_EMBED_TEXT]
        row[_EMBED_TEXT] = f"{before}{own}{behind}" if before or behind else own
    return Chunk(*row)


@contextmanager
def _progress_bar(total: int, wanted: bool) -> Iterator[Callable[[], None]]:
    if not wanted:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("chunking", total=total)
        yield lambda: bar.advance(task)
