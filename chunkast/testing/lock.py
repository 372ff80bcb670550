r"""The lock: a text file that records the chunks of documents, for review and comparison.

    chunkast lock 1
    version chunkast "0.1.0"
    fingerprint 3f0c...
    root "."
    set max_tokens 512
    sum 9a41c3d2e5f60718

    document "guide.md" 5c0f1e2d3a4b5968
    chunk 256c2f2d44ce45cb part 0 tokens 148 embed 148
      under ["Guide"]
      ...
    sum 1b2c3d4e5f607182

    end

The file is encoded in UTF-8. Its lines have a fixed order, and its documents are sorted by source.
The positions of a chunk are relative to the previous chunk, and its metadata is omitted if the
previous chunk has the same metadata. Therefore, a new line or an edit in the front matter changes
only the first stanza after it. Each section ends with a hash of its lines, so that manual edits are
detected, and sections that were changed in two branches can be merged. Lines may end with CRLF.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn

from chunkast.errors import ChunkastError
from chunkast.testing.records import ChunkRecord, CutRecord, DocumentRecord, Header, Place

__all__ = (
    "END",
    "LockError",
    "OpenLock",
    "encode_document",
    "encode_header",
    "is_lock",
    "open_lock",
    "write_lock",
)

_FORMAT: Final = 1
_MAGIC: Final = "chunkast lock "
END: Final = b"end\n"
# Escaped: lone surrogates, and characters that are invisible or change the text direction.
_ESCAPED: Final = re.compile(
    "[\x7f-\x9f\xad\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]"
)
_CONFLICT: Final = re.compile(r"(?:<{7}|={7}|>{7}|\|{7})(?: |$)")

_NAME: Final = r"[^\s\"]+"
_NUMBER: Final = "[0-9]{1,18}"
_STEP: Final = f"[+-]{_NUMBER}"
_VERSION: Final = re.compile(rf"version ({_NAME}) (\".*)")
_FINGERPRINT: Final = re.compile("fingerprint ([0-9a-f]{64})")
_ROOT: Final = re.compile(r"root (\".*\")")
_SETTING: Final = re.compile(rf"set ({_NAME}) (.+)")
_SUM: Final = re.compile("sum ([0-9a-f]{16})")
_DOCUMENT: Final = re.compile(r"document (\".*\") ([0-9a-f]{16}|-)")
_CHUNK: Final = re.compile(
    f"chunk ([0-9a-f]{{16}}) part ({_NUMBER}) tokens ({_NUMBER}) embed ({_NUMBER})( oversize)?"
)
_CELL: Final = re.compile(r"  cell (\".*\")")
_CUT: Final = re.compile(r"  cut (\".*\") (\S+)")
_UNDER: Final = re.compile(r"  under (\[.*\])")
_KINDS: Final = re.compile(r"  kinds (\[.*\])")
_PAGES: Final = re.compile(f"  pages ({_NUMBER}) ({_NUMBER})")
_HASH: Final = re.compile("  hash ([0-9a-f]{16}) embed ([0-9a-f]{16})")
_AT: Final = re.compile(
    f"  at lines ({_STEP}) ({_NUMBER}) chars ({_STEP}) ({_NUMBER}) bytes ({_STEP}) ({_NUMBER})"
    f"(?: overlap ({_NUMBER}) ({_NUMBER}))?(?: metadata ([0-9a-f]{{12}}|-))?"
)
_REPEATS: Final = re.compile(r"  repeats (\".*\")")
_FIRST: Final = re.compile(r"  first (\".*\")")
_LAST: Final = re.compile(r"  last (\".*\")")

# Written for an unknown or missing value.
_NOTHING: Final = "-"
_DAMAGED: Final = "the line before this one was edited by hand or is damaged"
_START: Final = Place(0, 0, 0, 0, 1, 1)


class LockError(ChunkastError):
    """An error for a lock that cannot be read.

    path: the path of the lock, as the caller gave it.
    reason: a description of the fault.
    line: the line of the fault, from 1, or ``None`` if the fault is not in a single line.
    """

    def __init__(self, path: str, reason: str, line: int | None = None) -> None:
        where = "" if line is None else f", line {line:,}"
        super().__init__(f"{path}{where}: {reason}")
        self.path = path
        self.reason = reason
        self.line = line

    def __reduce__(self) -> tuple[type[LockError], tuple[str, str, int | None]]:
        return LockError, (self.path, self.reason, self.line)


@dataclass(frozen=True, slots=True)
class OpenLock:
    """A lock that is being read; ``documents`` reads its documents one at a time."""

    header: Header
    documents: Iterator[DocumentRecord]


# Writing


def write_lock(out: BinaryIO, header: Header, documents: Iterable[DocumentRecord]) -> None:
    """Write a lock; ``documents`` must be sorted by source, and each source must be unique."""
    out.write(encode_header(header))
    out.writelines(encode_document(document) for document in documents)
    out.write(END)


def encode_header(header: Header) -> bytes:
    """Return the first section of a lock, which contains the header."""
    return _section(
        [
            f"{_MAGIC}{_FORMAT}",
            "# What these documents are cut into. Written by chunkast; do not edit it.",
            *(f"version {name} {_json(value)}" for name, value in sorted(header.versions.items())),
            f"fingerprint {header.fingerprint}",
            *([f"root {_json(header.root)}"] if header.root else []),
            *(f"set {name} {_json(value)}" for name, value in header.config.items()),
        ]
    )


def encode_document(document: DocumentRecord) -> bytes:
    """Return the section of a lock that contains a document."""
    lines = [f"document {_json(document.source)} {document.text_hash or _NOTHING}"]
    before: ChunkRecord | None = None
    for chunk in document.chunks:
        lines += _stanza(chunk, before)
        before = chunk
    return _section(lines)


def _end_of(before: ChunkRecord | None, cell: str) -> Place:
    """Return the place to which the positions of a chunk are relative.

    This is the place of the previous chunk, ``before``, if it is in the same cell, or else the
    start of the document or cell.
    """
    return before.place if before is not None and before.cell == cell else _START


def _stanza(chunk: ChunkRecord, last: ChunkRecord | None) -> Iterator[str]:
    """Yield the lines of a lock for a chunk; ``last`` is the previous chunk of the document."""
    place, before = chunk.place, _end_of(last, chunk.cell)
    # Most chunks of a document have the same metadata: its front matter.
    same = chunk.metadata == (last.metadata if last is not None else "")
    oversize = " oversize" if chunk.oversize else ""
    yield (
        f"chunk {chunk.id} part {chunk.part} tokens {chunk.tokens} embed {chunk.embed_tokens}"
        f"{oversize}"
    )
    if chunk.cell:
        yield f"  cell {_json(chunk.cell)}"
    if chunk.cut is not None:
        score = chunk.cut.score
        whole = score is not None and score == int(score)
        shown = _NOTHING if score is None else _json(int(score) if whole else score)
        yield f"  cut {_json(chunk.cut.kind)} {shown}"
    yield f"  under {_json(chunk.headings)}"
    yield f"  kinds {_json(chunk.kinds)}"
    if chunk.pages:
        yield f"  pages {' '.join(map(str, chunk.pages))}"
    yield f"  hash {chunk.content_hash} embed {chunk.embed_hash}"
    yield (
        f"  at lines {place.start_line - before.end_line:+} {place.end_line - place.start_line}"
        f" chars {place.start_index - before.end_index:+} {place.end_index - place.start_index}"
        f" bytes {place.start_byte - before.end_byte:+} {place.end_byte - place.start_byte}"
        f"{f' overlap {place.overlap_lines} {place.overlap}' if place.overlap else ''}"
        f"{'' if same else f' metadata {chunk.metadata or _NOTHING}'}"
    )
    if chunk.repeats:
        yield f"  repeats {_json(chunk.repeats)}"
    yield f"  first {_json(chunk.first)}"
    yield f"  last {_json(chunk.last)}"


def _section(lines: list[str]) -> bytes:
    data = "".join(f"{line}\n" for line in lines).encode()
    return data + f"sum {sha256(data).hexdigest()[:16]}\n\n".encode()


def _json(value: Any) -> str:
    plain = json.dumps(value, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", plain)


# Reading


def is_lock(data: bytes) -> bool:
    """Return True if ``data``, the beginning of a file, is the beginning of a lock."""
    return data.removeprefix(b"\xef\xbb\xbf").startswith(_MAGIC.encode())


@contextmanager
def open_lock(path: str) -> Iterator[OpenLock]:
    """Open a lock, and yield its header and an iterator that reads its documents.

    Raises ``LockError`` if the file is not a lock, has a newer format, is truncated, contains a
    merge conflict or was edited by hand. Faults after the header are raised while documents are
    read.
    """
    try:
        with Path(path).open("rb") as stream:
            reader = _Reader(path, stream)
            yield OpenLock(reader.header(), reader.documents())
    except OSError as error:
        raise LockError(path, error.strerror or str(error)) from None


class _Reader:
    """Reads a lock line by line; ``line`` is the current line without its line ending."""

    def __init__(self, path: str, stream: BinaryIO) -> None:
        self._path = path
        self._stream = stream
        self._number = 0
        self._hash = sha256()
        self.line = ""

    def fail(self, reason: str) -> NoReturn:
        again = f"; make it again: chunkast snapshot PATHS -o {self._path}"
        raise LockError(self._path, f"{reason}{again}", self._number)

    def advance(self) -> None:
        """Read the next line into ``line``; fail if the file ends or a merge conflict begins."""
        self._hash.update(f"{self.line}\n".encode("utf-8", "surrogatepass"))
        data = self._stream.readline()
        self._number += 1
        if not data:
            self.fail("the file ends here, before the lock does")
        if self._number == 1:
            data = data.removeprefix(b"\xef\xbb\xbf")
        try:
            self.line = data.rstrip(b"\n").removesuffix(b"\r").decode()
        except UnicodeDecodeError:
            self.fail("this is not UTF-8")
        if _CONFLICT.match(self.line):
            self.fail("an unresolved merge conflict begins here")

    def begin(self) -> None:
        """Read the first line of a section, and start a new hash."""
        self.advance()
        self._hash = sha256()

    def match(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        """Match the current line against ``pattern``, or fail; then read the next line."""
        found = pattern.fullmatch(self.line)
        if found is None:
            self.fail(f"expected {what}, which was edited by hand or is damaged")
        self.advance()
        return found

    def optional(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.fullmatch(self.line)
        if found is not None:
            self.advance()
        return found

    def json(self, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            self.fail(_DAMAGED)

    def text(self, text: str) -> str:
        value = self.json(text)
        if not isinstance(value, str):
            self.fail(_DAMAGED)
        return value

    def strings(self, text: str) -> tuple[str, ...]:
        values = self.json(text)
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            self.fail(_DAMAGED)
        return tuple(values)

    def close_section(self) -> None:
        """Check the hash of the lines in a section, and read the blank line after the section."""
        wanted = self._hash.hexdigest()[:16]
        found = _SUM.fullmatch(self.line)
        if found is None:
            self.fail("expected the section's sum: a line was edited by hand or is damaged")
        if found[1] != wanted:
            self.fail("the section that ends here was edited by hand or is damaged")
        self.advance()
        if self.line:
            self.fail("expected a blank line")

    def header(self) -> Header:
        self.begin()
        if not self.line.startswith(_MAGIC):
            raise LockError(self._path, f"not a chunkast lock, which begins with '{_MAGIC}...'")
        given = self.line.removeprefix(_MAGIC)
        if given != str(_FORMAT):
            newer = re.fullmatch(_NUMBER, given) and int(given) > _FORMAT
            self.fail(
                f"a lock of a newer chunkast (format {given}, this one reads {_FORMAT}): "
                "install a newer version"
                if newer
                else f"expected format {_FORMAT}"
            )
        self.advance()
        while self.line.startswith("#"):
            self.advance()
        versions: dict[str, str] = {}
        while (found := self.optional(_VERSION)) is not None:
            versions[found[1]] = str(self.json(found[2]))
        fingerprint = self.match(_FINGERPRINT, "'fingerprint'")[1]
        root = self.optional(_ROOT)
        config: dict[str, Any] = {}
        while (found := self.optional(_SETTING)) is not None:
            config[found[1]] = self.json(found[2])
        self.close_section()
        return Header(versions, fingerprint, config, self.text(root[1]) if root else "")

    def documents(self) -> Iterator[DocumentRecord]:
        before: str | None = None
        while True:
            self.begin()
            if self.line == "end":
                if self._stream.read(1):
                    self._number += 1
                    self.fail("expected nothing after 'end'")
                return
            found = self.match(_DOCUMENT, "'document' or 'end'")
            source = self.text(found[1])
            if before is not None and source <= before:
                self.fail("documents are not sorted, or one occurs twice")
            chunks = tuple(self.chunks())
            self.close_section()
            yield DocumentRecord(source, found[2].removeprefix(_NOTHING), chunks)
            before = source

    def chunks(self) -> Iterator[ChunkRecord]:
        before: ChunkRecord | None = None
        while not self.line.startswith("sum "):
            before = self.chunk(before)
            yield before

    def chunk(self, before: ChunkRecord | None) -> ChunkRecord:
        chunk = self.match(_CHUNK, "'chunk' or 'sum'")
        found = self.optional(_CELL)
        cell = "" if found is None else self.text(found[1])
        cut = self.optional(_CUT)
        under = self.match(_UNDER, "'under'")
        kinds = self.match(_KINDS, "'kinds'")
        pages = self.optional(_PAGES)
        hashes = self.match(_HASH, "'hash'")
        at = self.match(_AT, "'at'")
        repeats = self.optional(_REPEATS)
        first = self.match(_FIRST, "'first'")
        last = self.match(_LAST, "'last'")
        return ChunkRecord(
            id=chunk[1],
            headings=self.strings(under[1]),
            part=int(chunk[2]),
            tokens=int(chunk[3]),
            embed_tokens=int(chunk[4]),
            content_hash=hashes[1],
            embed_hash=hashes[2],
            kinds=self.strings(kinds[1]),
            oversize=chunk[5] is not None,
            cut=None if cut is None else self.cut(cut),
            cell=cell,
            first=self.text(first[1]),
            last=self.text(last[1]),
            repeats="" if repeats is None else self.text(repeats[1]),
            metadata=(at[9].removeprefix(_NOTHING) if at[9] else before.metadata if before else ""),
            place=_place(_end_of(before, cell), at),
            pages=() if pages is None else (int(pages[1]), int(pages[2])),
        )

    def cut(self, found: re.Match[str]) -> CutRecord:
        score = None if found[2] == _NOTHING else self.json(found[2])
        if score is not None and not isinstance(score, (int, float)):
            self.fail("a score before this line was edited by hand or is damaged")
        return CutRecord(self.text(found[1]), score)


def _place(before: Place, at: re.Match[str]) -> Place:
    """Return the place of a chunk; ``at`` gives its positions relative to the place ``before``."""
    lines, more_lines, chars, length, octets, size = (int(at[n]) for n in range(1, 7))
    overlap_lines, overlap = (int(at[n] or 0) for n in (7, 8))
    line = before.end_line + lines
    start, start_byte = before.end_index + chars, before.end_byte + octets
    return Place(
        start_index=start,
        end_index=start + length,
        start_byte=start_byte,
        end_byte=start_byte + size,
        start_line=line,
        end_line=line + more_lines,
        overlap=overlap,
        overlap_lines=overlap_lines,
    )
