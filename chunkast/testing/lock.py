r"""Read and write locks: JSON Lines that record chunks for review and comparison.

    {"format": "chunkast lock", "version": 2, "versions": {...}, "root": ".", "options": {...}}
    {"source": "guide.md", "text_hash": "5c0f1e2d3a4b5968", "id": ..., "text": "# Guide\n..."}
    {"source": "guide.md", "id": ..., "headings": ["Guide"], "cut": "h2 90", ..., "text": "..."}

The first line is the header. Every other line is a chunk, with the field names of ``Chunk``.
Positions are relative: ``gap`` and ``gap_lines`` count the characters and the lines since the
previous chunk. ``metadata`` is omitted if it equals the previous chunk's. So an inserted line, or
an edit in the front matter, changes only the record of the next chunk.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from chunkast.errors import ChunkastError
from chunkast.sources.jupyter import cell_source
from chunkast.testing.records import (
    HASH_LENGTH,
    ChunkRecord,
    DocumentRecord,
    Header,
    metadata_hash,
)
from chunkast.text.source_map import SourceMap

__all__ = (
    "LockError",
    "OpenLock",
    "encode_document",
    "encode_header",
    "open_lock",
    "read_side",
    "write_lock",
)

_FORMAT: Final = "chunkast lock"
_VERSION: Final = 2
# The beginning of the first line of a lock.
_START: Final = b'{"format"'
# Escaped: lone surrogates, and characters that are invisible or change the text direction.
_ESCAPED: Final = re.compile(
    "[\x7f-\x9f\xad\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]"
)
_CONFLICT: Final = re.compile(rb"(?:<{7}|={7}|>{7}|\|{7})(?: |\r?$)")
# Larger numbers than this are not exact in every JSON reader.
_LIMIT: Final = 2**53


class LockError(ChunkastError):
    """Raised if a lock or a file of chunks cannot be read.

    path: the path of the file, as the caller gave it.
    reason: a description of the fault.
    line: the 1-based line of the fault, or ``None`` if the fault is not on a single line.
    header: the header of the lock if it could be read, or ``None``.
    """

    def __init__(
        self, path: str, reason: str, line: int | None = None, header: Header | None = None
    ) -> None:
        where = "" if line is None else f", line {line:,}"
        super().__init__(f"{path}{where}: {reason}")
        self.path = path
        self.reason = reason
        self.line = line
        self.header = header


class OpenLock(NamedTuple):
    """The header and the documents of a lock that is being read."""

    header: Header
    documents: Sequence[DocumentRecord]


# Writing


def write_lock(out: BinaryIO, header: Header, documents: Iterable[DocumentRecord]) -> None:
    """Write a lock.

    out: the file, opened for writing bytes.
    header: the header, such as the result of ``header_of(chunker)``.
    documents: the documents in the order of the lock; the source of each must be unique.
    """
    out.write(encode_header(header))
    out.writelines(map(encode_document, documents))


def encode_header(header: Header) -> bytes:
    """Return the first line of a lock."""
    return _line(
        {
            "format": _FORMAT,
            "version": _VERSION,
            "versions": dict(sorted(header.versions.items())),
            "root": header.root,
            "options": header.config,
        }
    )


def encode_document(document: DocumentRecord) -> bytes:
    """Return a document's lines in a lock, one for each chunk."""
    lines = []
    last: ChunkRecord | None = None
    for chunk in document.chunks:
        end_index, end_line = _end_of(last, chunk.cell)
        values: dict[str, Any] = {"source": document.source}
        if last is None:
            values["text_hash"] = document.text_hash
        for f in fields(ChunkRecord):
            value = getattr(chunk, f.name)
            # Most chunks of a document have the same metadata: its front matter.
            default = last.metadata if f.name == "metadata" and last is not None else f.default
            if f.name == "start_index":
                values["gap"] = value - end_index
            elif f.name == "start_line":
                values["gap_lines"] = value - end_line
            elif value != default and f.name != "end_line":
                values[f.name] = value
        lines.append(_line(values))
        last = chunk
    return b"".join(lines)


def _end_of(last: ChunkRecord | None, cell: str) -> tuple[int, int]:
    """Return the position and the line to which the gap before a chunk is relative."""
    if last is None or last.cell != cell:
        return 0, 1
    return last.end_index, last.end_line


def _line(values: Mapping[str, Any]) -> bytes:
    plain = json.dumps(values, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", plain).encode() + b"\n"


# Reading


@contextmanager
def open_lock(path: str) -> Iterator[OpenLock]:
    """Read a lock, and yield its header and its documents.

    Raises ``LockError`` if the file is not a lock, has another format, contains a merge conflict or
    is damaged.
    """
    yield _read_lock(path, _lines(path))


def read_side(path: str) -> tuple[Header | None, Sequence[DocumentRecord]]:
    """Read one side of a comparison: a lock, or a file of chunks as JSON Lines.

    Returns the header, or ``None`` for JSON Lines, and the documents. Raises ``LockError`` for a
    file that cannot be read.
    """
    lines = _lines(path)
    is_lock = lines[0].startswith(_START)
    return _read_lock(path, lines) if is_lock else (None, _documents(path, lines, None))


def _lines(path: str) -> list[bytes]:
    try:
        return Path(path).read_bytes().split(b"\n")
    except OSError as error:
        raise LockError(path, error.strerror or str(error)) from None


def _read_lock(path: str, lines: Sequence[bytes]) -> OpenLock:
    try:
        header = _read_header(_parse(lines[0]))
    except (ValueError, RecursionError) as error:
        reason = f"not a chunkast lock that can be read: {_described(error)}"
        raise LockError(path, f"{reason}; 'chunkast snapshot PATHS -o LOCK' writes one") from None
    return OpenLock(header, _documents(path, lines, header))


def _documents(
    path: str, lines: Sequence[bytes], header: Header | None
) -> Sequence[DocumentRecord]:
    """Read the documents of a lock, or of a file of JSON Lines if ``header`` is ``None``."""
    chunks: dict[str, list[ChunkRecord]] = {}
    hashes: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or (number == 1 and header is not None):
            continue
        try:
            values = _parse(line)
            if header is None:
                source, record = _read_chunk(values)
            else:
                source = _get(values, "source", "str")
                record = _read_line(values, chunks[source][-1] if source in chunks else None)
                hashes.setdefault(source, _get(values, "text_hash", "str", ""))
        except (ValueError, RecursionError) as error:
            advice = (
                "not a lock, nor chunks as JSON Lines ('chunkast chunk PATHS -o FILE.jsonl')"
                if header is None
                else f"rewrite it: chunkast check PATHS --against {shlex.quote(path)} --update"
            )
            raise LockError(path, f"{_described(error)}; {advice}", number, header) from None
        chunks.setdefault(source, []).append(record)
    return [
        DocumentRecord(source, hashes.get(source, ""), tuple(records))
        for source, records in chunks.items()
    ]


def _parse(line: bytes) -> dict[str, Any]:
    """Return the JSON object on a line; raise ``ValueError`` if there is none."""
    if _CONFLICT.match(line):
        raise ValueError("an unresolved merge conflict begins here")
    values = json.loads(line.decode())
    if not isinstance(values, dict):
        raise ValueError("this is not a JSON object")  # noqa: TRY004 - as for other wrong lines
    return values


def _described(error: Exception) -> str:
    """Return the reason why a line cannot be read."""
    if isinstance(error, json.JSONDecodeError):
        return f"this is not JSON ({error.msg} in column {error.colno:,})"
    if isinstance(error, UnicodeDecodeError):
        return "this is not UTF-8"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _LIMIT


def _are(value: object, check: Callable[[object], bool]) -> bool:
    return isinstance(value, list) and all(map(check, value))


# Type of a field -> its name in an error, and its check.
_TYPES: Final[Mapping[str, tuple[str, Callable[[object], bool]]]] = {
    "str": ("a string", lambda value: isinstance(value, str)),
    "bool": ("true or false", lambda value: isinstance(value, bool)),
    "dict": ("an object", lambda value: isinstance(value, dict)),
    "int": ("a count", _is_count),
    "gap": ("a whole number", lambda value: type(value) is int and abs(value) < _LIMIT),
    "tuple[str, ...]": ("a list of strings", lambda value: _are(value, _TYPES["str"][1])),
    "tuple[int, ...]": ("a list of counts", lambda value: _are(value, _is_count)),
}


def _get(values: Mapping[str, Any], name: str, kind: str, default: object = MISSING) -> Any:
    """Return a field that has been checked; raise ``ValueError`` if it is missing or wrong."""
    value = values.get(name)
    if value is None and default is not MISSING:
        return default
    wanted, check = _TYPES[kind]
    if not check(value):
        raise ValueError(f"{name!r} must be {wanted}")
    return tuple(value) if isinstance(value, list) else value


def _read_header(values: Mapping[str, Any]) -> Header:
    if values.get("format") != _FORMAT:
        raise ValueError("its first line is not the header of a lock")
    version = _get(values, "version", "int")
    if version != _VERSION:
        newer = "; install a newer version of chunkast" if version > _VERSION else ""
        raise ValueError(f"format {version}, this version reads format {_VERSION}{newer}")
    return Header(
        versions=_get(values, "versions", "dict"),
        config=_get(values, "options", "dict"),
        root=_get(values, "root", "str", ""),
    )


def _read_line(values: Mapping[str, Any], last: ChunkRecord | None) -> ChunkRecord:
    """Return the chunk on a line of a lock, which is relative to the document's last chunk."""
    end_index, end_line = _end_of(last, _get(values, "cell", "str", ""))
    start_line = end_line + _get(values, "gap_lines", "gap")
    text = _get(values, "text", "str")
    return _record(
        {
            "metadata": "" if last is None else last.metadata,
            **values,
            "start_index": end_index + _get(values, "gap", "gap"),
            "start_line": start_line,
            "end_line": start_line + SourceMap(text).line(len(text) - 1) - 1,
        }
    )


def _read_chunk(values: Mapping[str, Any]) -> tuple[str, ChunkRecord]:
    """Return the document's source and the chunk on a line of JSON Lines (see ``Chunk``)."""
    metadata = _get(values, "metadata", "dict", {})
    source = _get(values, "source", "str", "-")
    cell = ""
    if isinstance(metadata.get("cell_id"), str):
        cell = cell_source("", metadata.get("cell"), metadata["cell_id"])
    document = source.removesuffix(cell)
    record = _record(
        {
            **values,
            "cell": source.removeprefix(document),
            "cut": "",
            "embed_hash": _get(values, "embed_hash", "str")[:HASH_LENGTH],
            "metadata": metadata_hash(metadata),
        }
    )
    return document, record


def _record(values: Mapping[str, Any]) -> ChunkRecord:
    checked = {f.name: _get(values, f.name, str(f.type), f.default) for f in fields(ChunkRecord)}
    return ChunkRecord(**checked)
