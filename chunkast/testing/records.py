"""The records in a snapshot: documents, their chunks, and the configuration."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from chunkast.config import ChunkConfig
from chunkast.errors import ChunkastError
from chunkast.identity import versions
from chunkast.model import Analysis, Chunk
from chunkast.output.view.cuts import find_cuts
from chunkast.sources.documents import iter_document
from chunkast.sources.jupyter import Notebook, analyze_cells
from chunkast.text.hashes import content_hash
from chunkast.text.source_map import SourceMap, encode, without_surrogates

if TYPE_CHECKING:
    from chunkast.chunker import Chunker

__all__ = (
    "HASH_LENGTH",
    "ChunkRecord",
    "DocumentRecord",
    "Header",
    "ObjectError",
    "config_of",
    "header_of",
    "metadata_hash",
    "plain_config",
    "record_document",
)

# The number of hexadecimal digits of a hash, and of the hash of the metadata.
HASH_LENGTH: Final = 16
_METADATA_HASH: Final = 12
_CELL_START: Final = "cell start"
# The key of an object's name, which replaces the object in a configuration.
_OBJECT: Final = "object"


class ObjectError(ChunkastError):
    """Raised for a configuration with Python objects, of which a lock records only the names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRecord:
    """The record of a chunk in a snapshot.

    All other fields are those of :class:`chunkast.Chunk`.

    cell: the suffix of the chunk's source that identifies a notebook cell; empty outside notebooks.
    cut: the kind and the score of the break point at the start of the chunk; empty for a document's
        first chunk, and for chunks read from JSON Lines without this field.
    embed_hash: the first 16 digits of the hash of the embedded text.
    metadata: the first 12 digits of the SHA-256 hash of the metadata as JSON; empty if the chunk
        has no metadata.
    pages: the first and the last page of the chunk; empty for a document without pages.
    """

    cell: str = ""
    cut: str = ""
    metadata: str = ""
    start_index: int
    start_line: int
    end_line: int
    id: str
    headings: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    oversize: bool = False
    token_count: int
    embed_token_count: int
    embed_hash: str
    pages: tuple[int, ...] = ()
    overlap: int = 0
    text: str

    @property
    def end_index(self) -> int:
        """The end of the chunk's text in the document or cell, exclusive."""
        return self.start_index + len(self.text)

    @property
    def own_text(self) -> str:
        """The text after the overlap."""
        return self.text[self.overlap :]

    @property
    def own_line(self) -> int:
        """The 1-based line number of the first character after the overlap."""
        return self.start_line + SourceMap(self.text).line(self.overlap) - 1

    @property
    def content_hash(self) -> str:
        """The first 16 digits of the hash of the chunk's text."""
        return content_hash(self.text)[:HASH_LENGTH]


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """The record of a document in a snapshot.

    ``text_hash`` is the first 16 digits of the hash of the document's text, or "" if unknown.
    """

    source: str
    text_hash: str
    chunks: tuple[ChunkRecord, ...]


@dataclass(frozen=True, slots=True)
class Header:
    """The versions and the configuration that produced a snapshot.

    versions: the versions of the packages that affect chunks, by name.
    config: the fields of the configuration as JSON data. A Python object is recorded as
        ``{"object": name}``.
    root: the folder to which sources are relative, as a path relative to the lock's folder; "" if
        unknown.
    """

    versions: Mapping[str, str]
    config: Mapping[str, Any]
    root: str = ""


def header_of(chunker: Chunker) -> Header:
    """Return the header of snapshots made with ``chunker``."""
    config = plain_config(chunker.config)
    if not isinstance(chunker.config.encoding, str):
        config["encoding"] = {_OBJECT: chunker.counter.name}
    return Header(versions(), config)


def plain_config(config: ChunkConfig) -> dict[str, Any]:
    """Return the fields of a configuration, except ``allow_download``, as JSON data.

    Heuristics become ``{"object": id}``; other Python objects become strings.
    """
    values = {f.name: getattr(config, f.name) for f in fields(config)}
    # This field does not affect chunks, and a file must not allow a download.
    del values["allow_download"]
    values["extensions"] = sorted(values["extensions"])
    values["heuristics"] = [{_OBJECT: heuristic.id} for heuristic in values["heuristics"]]
    values["tools"] = {tool.name: tool.json_schema for tool in values["tools"]}
    plain: dict[str, Any] = json.loads(json.dumps(values, default=str))
    return plain


def config_of(header: Header, options: Mapping[str, Any]) -> ChunkConfig:
    """Return the configuration of a snapshot, overridden by ``options``.

    Downloads are allowed only if ``options`` allow them. Raises ``ObjectError`` if the
    configuration contains Python objects that ``options`` do not replace, and ``ConfigError`` for
    unknown fields and invalid values.
    """
    for name in sorted(header.config.keys() - options):
        if objects := _objects(header.config[name]):
            what = f"{name} {', '.join(objects)}"
            raise ObjectError(f"made with Python objects that a lock cannot store: {what}")
    return ChunkConfig.from_file(header.config, options)


def _objects(value: Any) -> list[str]:
    """Return the names of the Python objects that a recorded field had."""
    items = value if isinstance(value, list) else [value]
    names = [each.get(_OBJECT) for each in items if isinstance(each, dict)]
    return [name for name in names if isinstance(name, str)]


def record_document(chunker: Chunker, source: str, document: str | Notebook) -> DocumentRecord:
    """Chunk a text or a notebook, and return the record of the document.

    Lone surrogates in a text are replaced with U+FFFD.
    """
    if isinstance(document, str):
        text = without_surrogates(document)
        analysis = chunker.analyze(text, source)
        chunks = chunker.chunk(analysis, source)
        cuts = ["", *_cuts(analysis, chunks)]
    else:
        text, cuts = document.text, []
        chunks = list(iter_document(chunker, document, source))
        analyses = {cell.number: analysis for cell, analysis in analyze_cells(chunker, document)}
        for number, group in groupby(chunks, key=lambda chunk: chunk.metadata["cell"]):
            cuts.append(_CELL_START if cuts else "")
            cuts += _cuts(analyses[number], list(group))
    text_hash = sha256(encode(text)).hexdigest()[:HASH_LENGTH]
    records = (_record(chunk, cut, source) for chunk, cut in zip(chunks, cuts, strict=False))
    return DocumentRecord(source, text_hash, tuple(records))


def _cuts(analysis: Analysis, chunks: Sequence[Chunk]) -> Iterator[str]:
    for cut in find_cuts(analysis, chunks):
        yield cut.kind if cut.point is None else f"{cut.kind} {cut.point.score:g}"


def _record(chunk: Chunk, cut: str, source: str) -> ChunkRecord:
    same = {f.name: getattr(chunk, f.name, None) for f in fields(ChunkRecord)}
    values: dict[str, Any] = {
        **same,
        "cell": (chunk.source or "").removeprefix(source),
        "cut": cut,
        "embed_hash": chunk.embed_hash[:HASH_LENGTH],
        "metadata": metadata_hash(chunk.metadata),
        "pages": chunk.pages or (),
    }
    return ChunkRecord(**values)


def metadata_hash(metadata: Mapping[str, Any]) -> str:
    """Return the hash of a chunk's metadata for its ``ChunkRecord``; "" if there is no metadata."""
    if not metadata:
        return ""
    plain = json.dumps(dict(metadata), sort_keys=True, default=str)
    return sha256(plain.encode()).hexdigest()[:_METADATA_HASH]
