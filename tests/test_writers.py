"""Each format, read back by an independent reader where there is one."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

from chunkast import Chunk, Chunker, ConfigError, MissingPackageError, SourceError, load
from chunkast.output.formats import WRITERS
from tests.command import GUIDE, errors, run, write

CHUNKER = Chunker(max_tokens=30)
CHUNKS = [
    *CHUNKER.chunk(GUIDE, "a/guide.md"),
    *CHUNKER.chunk("# Caf\u00e9 \U0001f468\n\nText \0 and \x1b.\n" + GUIDE, "b.md"),
]

NO_CHUNKS = ("no JSON", '{"id": "1"}', "[]", "7", "\xff")


def written(form: str, chunks: list[Chunk]) -> bytes:
    out = io.BytesIO()
    WRITERS[form].write(iter(chunks), out, CHUNKER)
    return out.getvalue()


def from_parquet(data: bytes) -> list[Chunk]:
    rows = pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()
    return [Chunk.from_dict({**row, "metadata": json.loads(row["metadata"])}) for row in rows]


@pytest.mark.parametrize("chunks", [CHUNKS, CHUNKS[:1], []], ids=["many", "one", "none"])
def test_what_is_written_is_read_back(tmp_path: Path, chunks: list[Chunk]) -> None:
    lines = written("jsonl", chunks).decode().split("\n")[:-1]
    assert [Chunk.from_dict(json.loads(line)) for line in lines] == chunks
    assert [Chunk.from_dict(row) for row in json.loads(written("json", chunks))] == chunks
    assert from_parquet(written("parquet", chunks)) == chunks
    # Whatever the name of the file.
    path = tmp_path / "chunks"
    for form in ("jsonl", "parquet"):
        path.write_bytes(written(form, chunks))
        for found in (load(path), load(str(path))):
            assert iter(found) is found
            assert list(found) == chunks


def test_load_returns_lone_surrogates_and_metadata(tmp_path: Path) -> None:
    chunks = CHUNKER.chunk("---\na: {b: [1, null]}\n---\n# A \ud800\n\nB\u2028\x85\n", "\udc00.md")
    assert chunks[0].metadata
    (tmp_path / "chunks").write_bytes(written("jsonl", chunks))
    assert list(load(tmp_path / "chunks")) == chunks


@pytest.mark.parametrize(
    ("form", "data", "reason"),
    [
        *(("jsonl", f"{line}\n".encode("latin-1"), "line 3 is not a chunk") for line in NO_CHUNKS),
        ("parquet", b"more", "row 1 is not a chunk"),
    ],
)
def test_load_names_the_line_that_is_no_chunk(
    tmp_path: Path, form: str, data: bytes, reason: str
) -> None:
    path = tmp_path / "chunks"
    path.write_bytes(written(form, CHUNKS[:2]) + data)
    found: list[Chunk] = []
    with pytest.raises(SourceError, match=reason) as caught:
        found.extend(load(path))
    assert caught.value.path == str(path)
    # What stands before it is read.
    assert found == (CHUNKS[:2] if form == "jsonl" else [])


def test_load_says_at_once_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SourceError, match="No such file"):
        load(tmp_path / "none.jsonl")
    (tmp_path / "chunks.parquet").write_bytes(written("parquet", CHUNKS))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'chunkast\[parquet\]'"):
        load(tmp_path / "chunks.parquet")


def test_parquet_has_types_and_says_how_it_was_made() -> None:
    schema = pyarrow.parquet.read_schema(io.BytesIO(written("parquet", CHUNKS)))
    assert set(schema.names) == set(CHUNKS[0].to_dict())
    assert str(schema.field("token_count").type) == "int32"
    assert str(schema.field("headings").type).startswith("list<")
    nullable = [field.name for field in schema if field.nullable]
    assert nullable == ["source", "pages", "sections", "section_starts", "section_anchors"]
    about = json.loads(schema.metadata[b"chunkast.config"])
    assert (about["max_tokens"], about["encoding"]) == (30, "cl100k_base")
    assert len(schema.metadata[b"chunkast.fingerprint"]) == 64


def test_lone_surrogates_become_replacement_characters() -> None:
    chunks = CHUNKER.chunk("# A \ud800\n\nB \udfff", "\ud800.md")
    [found] = from_parquet(written("parquet", chunks))
    assert (found.source, found.text) == ("\ufffd.md", "# A \ufffd\n\nB \ufffd")


def test_without_pyarrow_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match=r"pip install 'chunkast\[parquet\]'"):
        written("parquet", [])


def test_the_command_writes_the_format_of_the_extension_or_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"docs/guide.md": GUIDE, "bad.md": b"\xff", "x.SQLITE3": "an index"})
    for name, begins in {
        "out": b'{"id":',
        "out.NDJSON": b'{"id":',
        "out.json": b'[\n{"id":',
        "out.txt": b"docs/guide.md:1-",
        "out.parquet": b"PAR1",
    }.items():
        done = run("chunk", "docs", "-o", name, "--max-tokens", 30, cwd=tmp_path)
        assert done.returncode == 0
        assert (tmp_path / name).read_bytes().startswith(begins)
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    # A failed write changes nothing, and databases are written by another command.
    done = run("chunk", "bad.md", "-o", "out.parquet", cwd=tmp_path)
    assert (done.returncode, len(errors(done.stderr))) == (1, 1)
    for more in ((), ("--format", "jsonl")):
        done = run("chunk", "docs", "-o", "x.SQLITE3", *more, cwd=tmp_path)
        assert done.returncode == 2
        assert "chunkast index PATHS --db x.SQLITE3" in errors(done.stderr)[0]
    assert before == {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
