"""Each format, read back by an independent reader where there is one."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow.parquet
import pytest

from chunkast import Chunk, Chunker, ConfigError
from chunkast.index import Store
from chunkast.output.formats import WRITERS, format_of
from tests.command import GUIDE, errors, run, write

CHUNKER = Chunker(max_tokens=30)
CHUNKS = [
    *CHUNKER.chunk(GUIDE, "a/guide.md"),
    *CHUNKER.chunk("# Caf\u00e9 \U0001f468\n\nText \0 and \x1b.\n" + GUIDE, "b.md"),
]


def written(form: str, chunks: list[Chunk]) -> bytes:
    out = io.BytesIO()
    WRITERS[form].write(iter(chunks), out, CHUNKER)
    return out.getvalue()


def from_parquet(data: bytes) -> list[Chunk]:
    rows = pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()
    return [Chunk.from_dict({**row, "metadata": json.loads(row["metadata"])}) for row in rows]


def from_sqlite(data: bytes, folder: Path) -> list[Chunk]:
    path = folder / "read.db"
    path.write_bytes(data)
    with Store(str(path), read_only=True) as store:
        return list(store.chunks())


@pytest.mark.parametrize("chunks", [CHUNKS, CHUNKS[:1], []], ids=["many", "one", "none"])
def test_what_is_written_is_read_back(chunks: list[Chunk], tmp_path: Path) -> None:
    lines = written("jsonl", chunks).decode().split("\n")[:-1]
    assert [Chunk.from_dict(json.loads(line)) for line in lines] == chunks
    assert [Chunk.from_dict(row) for row in json.loads(written("json", chunks))] == chunks
    assert from_parquet(written("parquet", chunks)) == chunks
    assert from_sqlite(written("sqlite", chunks), tmp_path) == chunks


def test_parquet_has_types_and_says_how_it_was_made() -> None:
    schema = pyarrow.parquet.read_schema(io.BytesIO(written("parquet", CHUNKS)))
    assert set(schema.names) == set(CHUNKS[0].to_dict())
    assert str(schema.field("token_count").type) == "int32"
    assert str(schema.field("headings").type).startswith("list<")
    assert [field.name for field in schema if field.nullable] == [
        "source",
        "pages",
        "sections",
        "section_starts",
    ]
    about = json.loads(schema.metadata[b"chunkast.config"])
    assert (about["max_tokens"], about["encoding"]) == (30, "cl100k_base")
    assert len(schema.metadata[b"chunkast.fingerprint"]) == 64


def test_lone_surrogates_become_replacement_characters(tmp_path: Path) -> None:
    chunks = CHUNKER.chunk("# A \ud800\n\nB \udfff", "\ud800.md")
    for found in (
        from_parquet(written("parquet", chunks)),
        from_sqlite(written("sqlite", chunks), tmp_path),
    ):
        assert [(chunk.source, chunk.text) for chunk in found] == [
            ("\ufffd.md", "# A \ufffd\n\nB \ufffd")
        ]


def test_without_pyarrow_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ConfigError, match=r"pip install 'chunkast\[parquet\]'"):
        written("parquet", [])


@pytest.mark.parametrize(
    ("path", "form"),
    [
        (None, "jsonl"),
        ("out", "jsonl"),
        ("a.parquet", "parquet"),
        ("A.JSON", "json"),
        ("x.ndjson", "jsonl"),
        ("x.db", "sqlite"),
        ("notes.txt", "text"),
    ],
)
def test_a_files_ending_says_its_format(path: str | None, form: str) -> None:
    assert format_of(path) == form


def test_the_command_writes_every_format(tmp_path: Path) -> None:
    write(tmp_path, {"docs/guide.md": GUIDE})
    for ending in ("jsonl", "json", "txt", "parquet", "db"):
        done = run("chunk", "docs", "-o", f"out.{ending}", "--max-tokens", 30, cwd=tmp_path)
        assert done.returncode == 0
        assert (tmp_path / f"out.{ending}").stat().st_size > 0
    done = run("search", "path", "--db", "out.db", cwd=tmp_path)
    assert done.stdout.startswith(b"docs/guide.md:")
    # The texts are there, but whether a file has changed since cannot be told.
    done = run("index", "docs", "--db", "out.db", "--max-tokens", 30, cwd=tmp_path)
    assert done.stdout.startswith(b"added 0, changed 0, ")
    assert done.stderr.startswith(b"1 file, 1 new or changed")


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    write(tmp_path, {"bad.md": b"\xff", "out.parquet": b"before"})
    done = run("chunk", "bad.md", "-o", "out.parquet", cwd=tmp_path)
    assert done.returncode == 1
    assert len(errors(done.stderr)) == 1
    assert (tmp_path / "out.parquet").read_bytes() == b"before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.md", "out.parquet"]
