"""The records in a snapshot: documents, their chunks, and the configuration."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from chunkast.config import ChunkConfig
from chunkast.errors import ChunkastError
from chunkast.identity import config_values, fingerprint, versions
from chunkast.model import Analysis, Chunk
from chunkast.output.view.cuts import find_cuts
from chunkast.sources.documents import chunk_document
from chunkast.sources.notebook import Notebook, analyze_cells, document_source
from chunkast.text.source_map import SourceMap, encode, without_surrogates
from chunkast.tokens import resolve_counter

if TYPE_CHECKING:
    from chunkast.chunker import Chunker

__all__ = (
    "UNKNOWN_CUT",
    "ChunkRecord",
    "CutRecord",
    "DocumentRecord",
    "Header",
    "ObjectError",
    "Place",
    "config_of",
    "header_of",
    "record_chunks",
    "record_document",
    "resolved_config",
)

# The number of hexadecimal digits of a hash, and of the hash of the metadata.
_HASH: Final = 16
_METADATA_HASH: Final = 12
# The maximum number of characters recorded from each end of a text.
_END: Final = 60
_CELL_START: Final = "cell start"
# The key of an object's name, which replaces the object in a configuration.
_OBJECT: Final = "object"


class ObjectError(ChunkastError):
    """An error for a configuration with Python objects, of which only ``names`` are recorded."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"made with Python objects that a lock cannot store: {', '.join(names)}")
        self.names = tuple(names)

    def __reduce__(self) -> tuple[type[ObjectError], tuple[tuple[str, ...]]]:
        return ObjectError, (self.names,)


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a chunk in its document or cell, in the units of :class:`chunkast.Chunk`.

    ``overlap_lines`` is the number of lines from ``start_line`` to the line in which the text after
    the overlap begins.
    """

    start_index: int
    end_index: int
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    overlap: int = 0
    overlap_lines: int = 0

    @property
    def own_line(self) -> int:
        """The line in which the text after the overlap begins."""
        return self.start_line + self.overlap_lines


@dataclass(frozen=True, slots=True)
class CutRecord:
    """The break point at which a chunk begins: its kind, and its score or ``None``."""

    kind: str
    score: float | None = None


# The cut of a chunk whose document was not analyzed.
UNKNOWN_CUT: Final = CutRecord("?")


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """The record of a chunk in a snapshot.

    id, headings, kinds, tokens, embed_tokens, oversize: as in :class:`chunkast.Chunk`.
    part: the index of the chunk, from 0, among the chunks of its document with the same headings.
    content_hash, embed_hash: the first 16 digits of the chunk's hashes.
    cut: the break point at the start of the chunk; ``None`` for a document's first chunk.
    cell: the end of the chunk's source that identifies the cell of a notebook; else empty.
    first: the first 60 characters of the chunk's text after the overlap. In this text and the next
        two, lone surrogates are replaced with U+FFFD.
    last: the last 60 characters of the chunk's text.
    repeats: the first 60 characters of the chunk's text, including the overlap; empty if there is
        no overlap.
    metadata: the first 12 digits of the SHA-256 hash of the metadata as JSON; empty if the chunk
        does not have metadata.
    place: the positions of the chunk in its document or cell.
    pages: the first and the last page that the chunk is on; empty for a document without pages.
    """

    id: str
    headings: tuple[str, ...]
    part: int
    tokens: int
    embed_tokens: int
    content_hash: str
    embed_hash: str
    kinds: tuple[str, ...]
    oversize: bool
    cut: CutRecord | None
    cell: str
    first: str
    last: str
    repeats: str
    metadata: str
    place: Place
    pages: tuple[int, ...] = ()

    @property
    def own(self) -> tuple[int, int]:
        """The start and the end of the chunk's text without the overlap."""
        return self.place.start_index + self.place.overlap, self.place.end_index


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """The record of a document in a snapshot.

    ``text_hash`` is the first 16 digits of the hash of the document's text; empty if unknown.
    """

    source: str
    text_hash: str
    chunks: tuple[ChunkRecord, ...]


@dataclass(frozen=True, slots=True)
class Header:
    """The versions and the configuration with which the chunks of a snapshot were made.

    versions: the versions of the packages that affect chunks, by name; empty for a database.
    fingerprint: see :func:`chunkast.identity.fingerprint`.
    config: the fields of the configuration as JSON data. A Python object is replaced with a mapping
        that contains its name as "object".
    root: the folder to which sources are relative, given relative to the folder of the lock; empty
        if unknown.
    """

    versions: Mapping[str, str]
    fingerprint: str
    config: Mapping[str, Any]
    root: str = ""


def header_of(chunker: Chunker) -> Header:
    """Return the header for snapshots that are made with ``chunker``."""
    encoding = chunker.counter.name
    config = {f.name: getattr(chunker.config, f.name) for f in fields(chunker.config)}
    # This field does not affect chunks, and a file must not allow a download.
    del config["allow_download"]
    if not isinstance(config["encoding"], str):
        config["encoding"] = {_OBJECT: encoding}
    config["extensions"] = sorted(config["extensions"])
    config["heuristics"] = [{_OBJECT: heuristic.id} for heuristic in config["heuristics"]]
    config["tools"] = {tool.name: tool.json_schema for tool in config["tools"]}
    plain = json.loads(json.dumps(config, default=_name))
    return Header(versions(), fingerprint(chunker.config, encoding), plain)


def _name(value: object) -> dict[str, str]:
    return {_OBJECT: getattr(value, "__qualname__", type(value).__qualname__)}


def config_of(header: Header, options: Mapping[str, Any]) -> ChunkConfig:
    """Return the configuration of a snapshot, overridden by ``options``.

    Raises ``ObjectError`` if the configuration contains Python objects that ``options`` does not
    replace, and ``ConfigError`` for fields or values that this version does not know.
    """
    values = {**header.config, **options}
    if "encoding" in options and "model" not in options:
        values["model"] = None
    objects = {name: list(_objects(values[name])) for name in header.config.keys() - options}
    named = [f"{name} {', '.join(found)}" for name, found in sorted(objects.items()) if found]
    if named:
        raise ObjectError(named)
    if isinstance(values.get("tools"), dict):
        from chunkast.toolcalls import tools_from_json

        values["tools"] = tools_from_json(values["tools"])
    return ChunkConfig.of(values)


def resolved_config(header: Header) -> Mapping[str, Any]:
    """Return the configuration as a database stores it, with all defaults resolved."""
    if not header.versions:
        return header.config
    config = config_of(header, {})
    counter = resolve_counter(config.encoding, config.model)
    found: dict[str, Any] = json.loads(json.dumps(config_values(config, counter.name)))
    return found


def _objects(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _objects(item)
    elif isinstance(value, dict) and value.keys() == {_OBJECT} and isinstance(value[_OBJECT], str):
        yield value[_OBJECT]


def record_document(chunker: Chunker, source: str, document: str | Notebook) -> DocumentRecord:
    """Chunk a text or a notebook, and return the record of the document."""
    if isinstance(document, str):
        analysis = chunker.analyze(document, source)
        chunks = chunker.chunk(analysis, source)
        first = [None] if chunks else []
        return _recorded(source, document, chunks, [*first, *_cuts(analysis, chunks)])
    chunks = chunk_document(chunker, document, source)
    analyses = {cell.number: analysis for cell, analysis in analyze_cells(chunker, document)}
    cuts: list[CutRecord | None] = []
    for number, group in groupby(chunks, key=lambda chunk: chunk.metadata["cell"]):
        cuts.append(CutRecord(_CELL_START) if cuts else None)
        cuts += _cuts(analyses[number], list(group))
    return _recorded(source, document.text, chunks, cuts)


def _cuts(analysis: Analysis, chunks: Sequence[Chunk]) -> Iterator[CutRecord]:
    for cut in find_cuts(analysis, chunks):
        yield CutRecord(cut.kind, None if cut.point is None else cut.point.score)


def record_chunks(chunks: Iterable[Chunk]) -> Iterator[DocumentRecord]:
    """Yield a record of each document to which the chunks belong.

    The chunks of a document must be adjacent. Its text hash and its cuts are unknown.
    """
    for source, group in groupby(chunks, key=document_source):
        found = list(group)
        cuts: list[CutRecord | None] = [None, *[UNKNOWN_CUT] * (len(found) - 1)]
        yield _recorded("-" if source is None else source, None, found, cuts)


def _recorded(
    source: str, text: str | None, chunks: Sequence[Chunk], cuts: Sequence[CutRecord | None]
) -> DocumentRecord:
    parts: defaultdict[tuple[str, str], int] = defaultdict(int)
    records = []
    for chunk, cut in zip(chunks, cuts, strict=True):
        cell = (chunk.source or "").removeprefix(source) if chunk.source else ""
        # Parts are counted as for ids: per cell if cells have ids, and per heading path.
        location = (cell if chunk.metadata.get("cell_id") else "", " > ".join(chunk.headings))
        records.append(_record(chunk, cut, cell, parts[location]))
        parts[location] += 1
    text_hash = "" if text is None else sha256(encode(text)).hexdigest()[:_HASH]
    return DocumentRecord(source, text_hash, tuple(records))


def _record(chunk: Chunk, cut: CutRecord | None, cell: str, part: int) -> ChunkRecord:
    return ChunkRecord(
        id=chunk.id,
        headings=tuple(map(without_surrogates, chunk.headings)),
        part=part,
        tokens=chunk.token_count,
        embed_tokens=chunk.embed_token_count,
        content_hash=chunk.content_hash[:_HASH],
        embed_hash=chunk.embed_hash[:_HASH],
        kinds=chunk.kinds,
        oversize=chunk.oversize,
        cut=cut,
        cell=cell,
        first=without_surrogates(chunk.text[chunk.overlap : chunk.overlap + _END]),
        last=without_surrogates(chunk.text[-_END:]),
        repeats=without_surrogates(chunk.text[:_END]) if chunk.overlap else "",
        metadata=_digest(chunk.metadata),
        place=Place(
            chunk.start_index,
            chunk.end_index,
            chunk.start_byte,
            chunk.end_byte,
            chunk.start_line,
            chunk.end_line,
            chunk.overlap,
            SourceMap(chunk.text).line(chunk.overlap) - 1 if chunk.overlap else 0,
        ),
        pages=chunk.pages or (),
    )


def _digest(metadata: Mapping[str, Any]) -> str:
    if not metadata:
        return ""
    plain = json.dumps(dict(metadata), sort_keys=True, default=str)
    return sha256(plain.encode()).hexdigest()[:_METADATA_HASH]
