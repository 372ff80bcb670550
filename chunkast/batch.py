"""Many documents: in this process or spread over several, in input order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from chunkast.config import ChunkConfig
from chunkast.model import Chunk

__all__ = ("chunk_groups",)

# A work unit holds at least this many characters, so that sending it costs little.
_UNIT_SIZE = 200_000

# (index of the text, its source, the text), all of one source behind one another.
_Group = list[tuple[int, str | None, str]]
_Result = list[tuple[int, list[Chunk]]]


class _Chunker(Protocol):
    """What is asked of a chunker here; its class builds an equal one from ``config``."""

    config: ChunkConfig

    def chunk_documents(
        self, documents: Iterable[tuple[str | None, str]]
    ) -> Iterator[list[Chunk]]: ...


# In a worker process: the chunker that its first call built.
_worker: dict[str, _Chunker] = {}


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
    with _progress_bar(len(texts), progress) as advance:
        for result in _results(chunker, list(groups.values()), workers):
            for number, chunks in result:
                results[number] = chunks
                advance()
    return results


def _results(chunker: _Chunker, groups: list[_Group], workers: int) -> Iterator[_Result]:
    units = list(_units(groups))
    if workers == 1 or len(units) <= 1:
        for unit in units:
            yield _chunk_unit(chunker, unit)
        return
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(
        min(workers, len(units)),
        initializer=_start_worker,
        initargs=(type(chunker), chunker.config),
    ) as pool:
        yield from pool.map(_chunk_in_worker, units)


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


def _start_worker(chunker_type: Any, config: ChunkConfig) -> None:
    _worker["chunker"] = chunker_type(config)


def _chunk_in_worker(unit: list[_Group]) -> _Result:
    return _chunk_unit(_worker["chunker"], unit)


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
