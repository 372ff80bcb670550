"""Many documents: in this process or spread over several, in input order.

An exception while one document is chunked affects only that document.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from operator import attrgetter
from typing import Any, Final, Protocol

from chunkast.config import ChunkConfig
from chunkast.model import Chunk
from chunkast.workers import Answer, attempt, started

__all__ = ("Continued", "OnError", "chunk_groups")

# Called for a document that failed: its position from 0, its source, the exception.
OnError = Callable[[int, "str | None", BaseException], object]

# A work unit has at least this many characters, so that the cost of sending it is small.
_MIN_UNIT_SIZE: Final = 200_000

# (index of the text, its source, the text), all of one source, one after another.
_Group = list[tuple[int, str | None, str]]
_Result = list[tuple[int, Answer[list[Chunk]]]]
# A chunk's fields in order, without its texts, which are cut out of the document again.
_Row = tuple[Any, ...]
_FIELDS: Final = tuple(field.name for field in fields(Chunk))
_TEXT: Final = _FIELDS.index("text")
_START: Final = _FIELDS.index("start_index")
_END: Final = _FIELDS.index("end_index")
_EMBED_TEXT: Final = _FIELDS.index("embed_text")
_values = attrgetter(*_FIELDS)


class _Chunker(Protocol):
    """The part of a chunker that is used here; its class makes an equal one from ``config``."""

    config: ChunkConfig

    def chunk_documents(
        self, documents: Iterable[tuple[str | None, str]], parts: defaultdict[bytes, int]
    ) -> Iterator[list[Chunk]]: ...


class Continued(defaultdict[bytes, int]):
    """Counts that continue those of ``before``, which stays unchanged: a document may fail."""

    def __init__(self, before: Mapping[bytes, int]) -> None:
        super().__init__(int)
        self._before = before

    def __missing__(self, key: bytes) -> int:
        found = self[key] = self._before.get(key, 0)
        return found


def chunk_groups(
    chunker: _Chunker,
    texts: Sequence[str],
    sources: Sequence[str | None],
    *,
    workers: int,
    progress: bool,
    on_error: OnError | None,
) -> list[list[Chunk]]:
    """The chunks of every text, in input order; texts of the same source continue the part count.

    A text that failed has no chunks and is reported to ``on_error``. Without that the exception
    (of several the first by position) is raised when the others are done.
    """
    groups: dict[object, _Group] = {}
    for number, (text, source) in enumerate(zip(texts, sources, strict=True)):
        key = number if source is None else source
        groups.setdefault(key, []).append((number, source, text))
    results: list[list[Chunk]] = [[] for _ in texts]
    failed: tuple[int, BaseException] | None = None
    with (
        _results(chunker, texts, list(groups.values()), workers) as found,
        _progress_bar(len(texts), progress) as advance,
    ):
        for result in found:
            for number, answer in result:
                if answer.error is None:
                    results[number] = answer.value()
                elif on_error is not None:
                    on_error(number, sources[number], answer.exception())
                elif failed is None or number < failed[0]:
                    failed = number, answer.exception()
                advance()
    if failed is not None:
        raise failed[1]
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
            [(number, _from_rows(data, texts[number])) for number, data in result]
            for result in pool.results(units)
        )


def _units(groups: Iterable[_Group]) -> Iterator[list[_Group]]:
    unit: list[_Group] = []
    size = 0
    for group in groups:
        unit.append(group)
        # What is no text fails where it is chunked, alone.
        size += sum(len(text) for _, _, text in group if isinstance(text, str))
        if size >= _MIN_UNIT_SIZE:
            yield unit
            unit, size = [], 0
    if unit:
        yield unit


def _chunk_unit(chunker: _Chunker, unit: list[_Group]) -> _Result:
    return [result for group in unit for result in _chunk_group(chunker, group)]


def _chunk_group(chunker: _Chunker, group: _Group) -> Iterator[tuple[int, Answer[list[Chunk]]]]:
    parts: dict[bytes, int] = {}
    for number, source, text in group:
        counted = Continued(parts)
        answer = attempt(partial(_chunk, chunker, source, text, counted))
        if answer.error is None:
            parts.update(counted)
        yield number, answer


def _chunk(
    chunker: _Chunker, source: str | None, text: str, parts: defaultdict[bytes, int]
) -> list[Chunk]:
    return next(chunker.chunk_documents([(source, text)], parts))


def _row_maker(
    chunker_type: Callable[[ChunkConfig], _Chunker], config: ChunkConfig
) -> Callable[[list[_Group]], list[tuple[int, bytes]]]:
    """The function that a process calls with a unit: it chunks it, and leaves the texts out."""
    chunker = chunker_type(config)

    def rows(unit: list[_Group]) -> list[tuple[int, bytes]]:
        texts = {number: text for group in unit for number, _, text in group}
        found = _chunk_unit(chunker, unit)
        return [(number, _to_rows(answer, texts[number])) for number, answer in found]

    return rows


def _to_rows(answer: Answer[list[Chunk]], text: str) -> bytes:
    """A document's answer, with rows instead of chunks, as bytes; packing may fail for it alone."""
    if answer.error is None:
        return attempt(lambda: [_to_row(chunk, text) for chunk in answer.value()]).packed()
    return answer.packed()


def _from_rows(data: bytes, text: str) -> Answer[list[Chunk]]:
    answer: Answer[list[_Row]] = Answer.unpacked(data)
    if answer.error is None:
        return attempt(lambda: [_from_row(row, text) for row in answer.value()])
    return Answer(error=answer.error, trace=answer.trace)


def _to_row(chunk: Chunk, text: str) -> _Row:
    """A chunk's fields; of its texts only what ``embed_text`` has before and after ``text``.

    A chunk whose positions are those of a notebook's cell is no part of ``text``, the JSON: its
    own text is kept.
    """
    row = list(_values(chunk))
    before, found, after = chunk.embed_text.partition(chunk.text)
    row[_TEXT] = None if text[chunk.start_index : chunk.end_index] == chunk.text else chunk.text
    row[_EMBED_TEXT] = (before, after) if found else before
    return tuple(row)


def _from_row(values: _Row, text: str) -> Chunk:
    row = list(values)
    if row[_TEXT] is None:
        row[_TEXT] = text[row[_START] : row[_END]]
    own = row[_TEXT]
    if not isinstance(row[_EMBED_TEXT], str):
        before, after = row[_EMBED_TEXT]
        row[_EMBED_TEXT] = f"{before}{own}{after}" if before or after else own
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
