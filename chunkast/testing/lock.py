r"""Read and write locks: JSON Lines that record the chunks of documents, for review and comparison.

    {"format": "chunkast lock", "version": 2, "versions": {...}, "root": ".", "options": {...}}
    {"source": "guide.md", "text_hash": "5c0f1e2d3a4b5968", "id": ..., "text": "# Guide\n..."}
    {"source": "guide.md", "id": ..., "headings": ["Guide"], "cut": "h2 90", ..., "text": "..."}

The first line is the header. Every other line is a chunk, with the field names of ``Chunk``, and
documents are sorted by source. ``gap`` and ``gap_lines`` are the characters and the lines between a
chunk and the previous chunk, and ``metadata`` is left out if the previous chunk has the same.
Therefore, a new line or an edit in the front matter changes only the first chunk after it.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, groupby, takewhile
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, Final

from chunkast.errors import ChunkastError
from chunkast.sources.notebook import cell_source
from chunkast.testing.records import (
    HASH_LENGTH,
    UNKNOWN_CUT,
    ChunkRecord,
    DocumentRecord,
    Header,
    metadata_hash,
)
from chunkast.text.source_map import SourceMap, without_surrogates

__all__ = (
    "LockError",
    "OpenLock",
    "encode_document",
    "encode_header",
    "open_lock",
    "open_side",
    "write_lock",
)

_FORMAT: Final = "chunkast lock"
_VERSION: Final = 2
# The beginning of a lock of version 1, which was not JSON.
_OLD: Final = b"chunkast lock "
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_STDIN: Final = "-"
# Escaped: lone surrogates, and characters that are invisible or change the text direction.
_ESCAPED: Final = re.compile(
    "[\x7f-\x9f\xad\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]"
)
_CONFLICT: Final = re.compile(r"(?:<{7}|={7}|>{7}|\|{7})(?: |$)")
# Larger numbers than this are not exact in every JSON reader.
_LIMIT: Final = 2**53


class LockError(ChunkastError):
    """An error for a lock, or a file of chunks, that cannot be read.

    path: the path of the file, as the caller gave it.
    reason: a description of the fault.
    line: the line of the fault, from 1, or ``None`` if the fault is not in a single line.
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

    def __reduce__(self) -> tuple[type[LockError], tuple[str, str, int | None, Header | None]]:
        return LockError, (self.path, self.reason, self.line, self.header)


@dataclass(frozen=True, slots=True)
class OpenLock:
    """A lock that is being read; ``documents`` reads its documents one at a time."""

    header: Header
    documents: Iterator[DocumentRecord]


# Writing


def write_lock(out: BinaryIO, header: Header, documents: Iterable[DocumentRecord]) -> None:
    """Write a lock; ``documents`` must be sorted by source, and each source must be unique."""
    out.write(encode_header(header))
    out.writelines(map(encode_document, documents))


def encode_header(header: Header) -> bytes:
    """Return the first line of a lock."""
    return _line(
        {
            "format": _FORMAT,
            "version": _VERSION,
            "versions": dict(sorted(header.versions.items())),
            "fingerprint": header.fingerprint,
            "root": header.root,
            "options": header.config,
        }
    )


def encode_document(document: DocumentRecord) -> bytes:
    """Return the lines of a lock for a document; a document without chunks has none."""
    lines = []
    last: ChunkRecord | None = None
    for chunk in document.chunks:
        end_index, end_line = _end_of(last, chunk.cell)
        values: dict[str, Any] = {"source": document.source}
        if last is None:
            values["text_hash"] = document.text_hash
        if chunk.cell:
            values["cell"] = chunk.cell
        if chunk.cut:
            values["cut"] = chunk.cut
        # Most chunks of a document have the same metadata: its front matter.
        if chunk.metadata != (last.metadata if last is not None else ""):
            values["metadata"] = chunk.metadata
        values["gap"] = chunk.start_index - end_index
        values["gap_lines"] = chunk.start_line - end_line
        for name, (_, default) in _FIELDS.items():
            if getattr(chunk, name) != default:
                values[name] = getattr(chunk, name)
        lines.append(_line(values))
        last = chunk
    return b"".join(lines)


def _end_of(last: ChunkRecord | None, cell: str) -> tuple[int, int]:
    """Return the position and the line to which the gap before a chunk is relative."""
    same_cell = last is not None and last.cell == cell
    return (last.end_index, last.end_line) if last is not None and same_cell else (0, 1)


def _line(values: Mapping[str, Any]) -> bytes:
    plain = json.dumps(values, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", plain).encode() + b"\n"


# Reading


@contextmanager
def open_lock(path: str) -> Iterator[OpenLock]:
    """Open a lock, and yield its header and an iterator that reads its documents.

    Raises ``LockError`` if the file is not a lock, has another format, contains a merge conflict or
    is damaged. Faults after the header are raised while documents are read.
    """
    with _opened(path) as (first, stream):
        yield _open_lock(path, first, stream)


@contextmanager
def open_side(path: str) -> Iterator[tuple[Header | None, Iterable[DocumentRecord]]]:
    """Open one side of a comparison: a lock, or a file of chunks as JSON Lines.

    Yields the header, or ``None`` for JSON Lines, and the documents sorted by source. Raises
    ``LockError`` for a file that cannot be read.
    """
    with _opened(path) as (first, stream):
        if first.startswith(_OLD) or _is_lock(first):
            lock = _open_lock(path, first, stream)
            yield lock.header, lock.documents
        else:
            rows = _rows(path, chain([first], stream), 1, _read_chunk)
            yield None, _documents(sorted(rows, key=itemgetter(0)))


@contextmanager
def _opened(path: str) -> Iterator[tuple[bytes, BinaryIO]]:
    """Open a file for reading, and yield its first line and the stream of the others."""
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 - an OSError of the block is not caught here
    except OSError as error:
        raise LockError(path, error.strerror or str(error)) from None
    with stream:
        yield stream.readline().removeprefix(_BYTE_ORDER_MARK), stream


def _open_lock(path: str, first: bytes, stream: BinaryIO) -> OpenLock:
    """Return the header of a lock and its documents; ``first`` is the first line."""
    if first.startswith(_OLD):
        header = _old_header(path, stream)
        reason = "written by an earlier version of chunkast"
        raise LockError(path, f"{reason}; {_rewrite(path)}", header=header)
    try:
        header = _read_header(_parse(first))
    except (ValueError, RecursionError) as error:
        reason = f"not a chunkast lock that can be read: {_described(error)}"
        raise LockError(path, f"{reason}; 'chunkast snapshot PATHS -o LOCK' writes one") from None
    reader = _Reader()
    rows = _rows(path, stream, 2, reader.read, header)
    return OpenLock(header, _documents(rows))


def _rewrite(path: str) -> str:
    return f"rewrite it: chunkast check PATHS --against {shlex.quote(path)} --update"


def _described(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _is_lock(first: bytes) -> bool:
    """Return True if the first line of a file is the header of a lock."""
    try:
        return bool(_parse(first).get("format") == _FORMAT)
    except (ValueError, RecursionError):
        return False


# A document's source, the hash of its text, and one of its chunks.
_Row = tuple[str, str, ChunkRecord]


def _documents(rows: Iterable[_Row]) -> Iterator[DocumentRecord]:
    for source, group in groupby(rows, itemgetter(0)):
        found = list(group)
        yield DocumentRecord(source, found[0][1], tuple(chunk for _, _, chunk in found))


def _rows(
    path: str,
    lines: Iterable[bytes],
    first: int,
    read: Callable[[dict[str, Any]], _Row],
    header: Header | None = None,
) -> Iterator[_Row]:
    """Yield the chunk on each line; ``first`` is the number of the first line.

    Raises ``LockError`` for a line that ``read`` refuses, and for a chunk that occurs twice.
    """
    known: set[tuple[str, str]] = set()
    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        try:
            row = read(_parse(line))
            _add(row, known)
        except (ValueError, RecursionError) as error:
            advice = (
                "not a lock, nor chunks as JSON Lines ('chunkast chunk PATHS -o FILE.jsonl')"
                if header is None
                else _rewrite(path)
            )
            raise LockError(path, f"{_described(error)}; {advice}", number, header) from None
        yield row


def _add(row: _Row, known: set[tuple[str, str]]) -> None:
    """Add a chunk to ``known``; raise ``ValueError`` if it is there already."""
    key = row[0], row[2].id
    if key in known:
        raise ValueError(f"the chunk {row[2].id} of {row[0]} occurs twice")
    known.add(key)


def _parse(line: bytes) -> dict[str, Any]:
    """Return the JSON object on a line; raise ``ValueError`` if it is none or is ambiguous."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise ValueError("this is not UTF-8") from None
    if _CONFLICT.match(text):
        raise ValueError("an unresolved merge conflict begins here")
    try:
        values = json.loads(
            text,
            parse_int=_whole,
            parse_float=_finite,
            parse_constant=_finite,
            object_pairs_hook=_unique,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not JSON ({error.msg} in column {error.colno:,})") from None
    if not isinstance(values, dict):
        raise ValueError("this is not a JSON object")  # noqa: TRY004 - as for other wrong lines
    return values


def _whole(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python's limit
        raise ValueError(f"a number of {len(digits):,} digits is too long") from None


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is not a finite number")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        [(repeated, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"{repeated!r} occurs twice")
    return values


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LIMIT


def _is_count(value: object) -> bool:
    return isinstance(value, int) and _is_number(value) and value >= 0


def _are(value: object, check: Callable[[object], bool]) -> bool:
    return isinstance(value, (list, tuple)) and all(map(check, value))


# The type of a field, in the words of an error -> its check.
_CHECKS: Final[Mapping[str, Callable[[object], bool]]] = {
    "a string": lambda value: isinstance(value, str),
    "true or false": lambda value: isinstance(value, bool),
    "an object": lambda value: isinstance(value, dict),
    "a whole number": _is_number,
    "a count": _is_count,
    "a list of strings": lambda value: _are(value, _CHECKS["a string"]),
    "a list of counts": lambda value: _are(value, _is_count),
}
# Field of a chunk that all files have -> its type, and its default if it may be left out.
_FIELDS: Final[Mapping[str, tuple[str, object]]] = {
    "id": ("a string", None),
    "headings": ("a list of strings", ()),
    "kinds": ("a list of strings", ()),
    "oversize": ("true or false", False),
    "token_count": ("a count", None),
    "embed_token_count": ("a count", None),
    "embed_hash": ("a string", None),
    "pages": ("a list of counts", ()),
    "overlap": ("a count", 0),
    "text": ("a string", None),
}


def _get(values: Mapping[str, Any], name: str, wanted: str, default: object = None) -> Any:
    """Return a field that has been checked; raise ``ValueError`` if it is missing or wrong."""
    value = default if values.get(name) is None else values[name]
    if not _CHECKS[wanted](value):
        raise ValueError(f"{name!r} must be {wanted}")
    return value


def _read_header(values: Mapping[str, Any]) -> Header:
    if values.get("format") != _FORMAT:
        raise ValueError("its first line is not the header of a lock")
    version = _get(values, "version", "a count")
    if version != _VERSION:
        newer = "; install a newer version of chunkast" if version > _VERSION else ""
        raise ValueError(f"format {version}, this version reads format {_VERSION}{newer}")
    return Header(
        versions=_get(values, "versions", "an object"),
        fingerprint=_get(values, "fingerprint", "a string"),
        config=_get(values, "options", "an object"),
        root=_get(values, "root", "a string", ""),
    )


def _old_header(path: str, lines: Iterable[bytes]) -> Header:
    """Return the options and the root of a lock of version 1, without versions.

    ``lines`` are the lines after the first, such as ``set max_tokens 512`` and ``root "."``.
    """
    try:
        head: Iterator[bytes] = takewhile(lambda line: line.strip(), lines)
        text = b"".join(head).decode()
        found = re.findall(r"^(?:set (\w+)|root) (.*)$", text, re.MULTILINE)
        pairs = ", ".join(f'"{name}": {value}' for name, value in found)
        options = _parse(f"{{{pairs}}}".encode())
        root = str(options.pop("", ""))
        return Header({}, "", options, root)
    except (ValueError, RecursionError) as error:
        reason = f"an old lock that is damaged: {_described(error)}"
        advice = f"write a new lock: chunkast snapshot PATHS -o {shlex.quote(path)}"
        raise LockError(path, f"{reason}; {advice}") from None


def _read_record(values: Mapping[str, Any], **more: Any) -> ChunkRecord:
    """Return the record of a chunk: the fields that lines of both formats have, and ``more``."""
    for name, (kind, default) in _FIELDS.items():
        value = _get(values, name, kind, default)
        more[name] = tuple(value) if isinstance(value, list) else value
    record = ChunkRecord(**more)
    if min(record.start_index, record.start_line - 1) < 0 or record.overlap > len(record.text):
        raise ValueError("the positions of the chunk are outside the text")
    return record


def _read_chunk(values: Mapping[str, Any]) -> _Row:
    """Return the chunk on a line of JSON Lines, which has the fields of ``Chunk``."""
    values = {
        **values,
        "embed_hash": _get(values, "embed_hash", "a string")[:HASH_LENGTH],
        "headings": list(map(without_surrogates, _get(values, "headings", "a list of strings"))),
        "text": without_surrogates(_get(values, "text", "a string")),
    }
    whole = _get(values, "source", "a string", _STDIN)
    metadata = _get(values, "metadata", "an object", {})
    number, cell_id = metadata.get("cell"), metadata.get("cell_id")
    cell = ""
    if _is_count(number) and isinstance(cell_id, str):
        cell = cell_source("", number, cell_id)
    source = whole.removesuffix(cell)
    record = _read_record(
        values,
        cell=whole.removeprefix(source),
        cut=UNKNOWN_CUT,
        metadata=metadata_hash(metadata),
        start_index=_get(values, "start_index", "a count"),
        start_line=_get(values, "start_line", "a count"),
        end_line=_get(values, "end_line", "a count"),
    )
    return source, "", record


class _Reader:
    """Reads the lines of a lock, each of which is relative to the previous line."""

    def __init__(self) -> None:
        self._source: str | None = None
        self._last: ChunkRecord | None = None

    def read(self, values: Mapping[str, Any]) -> _Row:
        """Return the chunk on a line."""
        source = _get(values, "source", "a string")
        if self._source is not None and source < self._source:
            raise ValueError("the documents are not sorted by source")
        last = self._last if source == self._source else None
        cell = _get(values, "cell", "a string", "")
        end_index, end_line = _end_of(last, cell)
        start_line = end_line + _get(values, "gap_lines", "a whole number")
        text = _get(values, "text", "a string")
        before = "" if last is None else last.metadata
        record = _read_record(
            values,
            cell=cell,
            cut=_get(values, "cut", "a string", ""),
            metadata=_get(values, "metadata", "a string", before),
            start_index=end_index + _get(values, "gap", "a whole number"),
            start_line=start_line,
            end_line=start_line + SourceMap(text).line(len(text) - 1) - 1,
        )
        self._source, self._last = source, record
        return source, _get(values, "text_hash", "a string", ""), record
