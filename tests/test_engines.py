"""Chunks by Arrow batches: alone, in Spark, in Ray, in DuckDB and Polars."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chunkast import Chunk, ChunkConfig, Chunker, ConfigError
from chunkast.output.columns import arrow_schema
from chunkast.output.parquet import write_parquet
from tests.command import write
from tests.frameworks import DOCUMENTS, run_example

pa = pytest.importorskip("pyarrow", reason="needs chunkast[arrow]")

from chunkast.adapters.arrow import (  # noqa: E402 - it needs pyarrow
    CHUNK_SCHEMA,
    chunk_record_batches,
    chunk_table,
)

needs_java = pytest.mark.skipif(
    shutil.which("java") is None and "JAVA_HOME" not in os.environ, reason="PySpark needs Java"
)
CONFIG = ChunkConfig(max_tokens=60)
CHUNKER = Chunker(CONFIG)
SMALL = [name for name, text in DOCUMENTS.items() if len(text) < 2_000]
# Many documents, each with a heading of its own.
MANY = {
    f"{number}/{SMALL[number % len(SMALL)]}": f"# Document {number}\n\n"
    + DOCUMENTS[SMALL[number % len(SMALL)]]
    for number in range(200)
}


def table(documents: dict[str, Any], kind: Any = None) -> Any:
    texts = pa.array(documents.values(), kind or pa.string())
    return pa.table({"source": list(documents), "text": texts})


def read(found: Any) -> list[Chunk]:
    """The chunks that rows with no error describe."""
    rows = found.to_pylist()
    assert [row["error"] for row in rows if row["error"]] == []
    names = arrow_schema().names
    return [
        Chunk.from_dict(
            {name: row[name] for name in names} | {"metadata": json.loads(row["metadata"])}
        )
        for row in rows
    ]


def ordered(chunks: list[Chunk]) -> list[Chunk]:
    return sorted(chunks, key=lambda chunk: (chunk.source, chunk.index))


@pytest.fixture(scope="module")
def expected() -> list[Chunk]:
    return list(CHUNKER.iter_chunks(MANY.items()))


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    pytest.importorskip("pyspark", reason="needs chunkast[spark]")
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="needs chunkast[ray]")
    pytest.importorskip("ray.data", reason="needs chunkast[ray]")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


class TestArrow:
    @pytest.mark.parametrize(
        "kind",
        [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())],
        ids=str,
    )
    def test_the_chunks_of_the_library(self, kind: Any) -> None:
        texts = {name: DOCUMENTS[name] for name in SMALL}
        documents = table(texts, kind)
        expected = list(CHUNKER.iter_chunks(texts.items()))
        found = chunk_table(documents, CONFIG)
        assert found.schema == CHUNK_SCHEMA
        assert read(found) == expected
        batches = documents.to_batches(max_chunksize=7)
        assert read(pa.Table.from_batches(chunk_record_batches(batches, CONFIG))) == expected

    def test_the_schema_is_that_of_parquet_files(self) -> None:
        from pyarrow import parquet

        out = io.BytesIO()
        write_parquet(CHUNKER.chunk("# A\n\nOne.", "a.md"), out, CHUNKER)
        file = parquet.read_schema(out)
        assert CHUNK_SCHEMA.names == [*file.names, "error"]
        for field in file:
            assert CHUNK_SCHEMA.field(field.name).type == field.type

    def test_a_bad_row_is_an_error_and_the_others_are_done(self) -> None:
        rows = {"a": "# A", "null": None, "b": "# B", "": ""}
        found = chunk_table(table(rows)).to_pylist()
        assert [(row["source"], row["text"], row["error"]) for row in found] == [
            ("a", "# A", None),
            ("null", None, "TypeError: text is null, not a string"),
            ("b", "# B", None),
        ]
        empty = {name for name, value in found[1].items() if value is None}
        assert empty == {*CHUNK_SCHEMA.names} - {"source", "error"}

    @pytest.mark.parametrize(
        ("sources", "texts", "error"),
        [
            (["a"], [1], "TypeError: text is of type int64, not a string"),
            ([1], ["# A"], "TypeError: source is of type int64, not a string"),
            # Arrow does not look, and neither does Spark.
            (["a"], pa.array([b"# \xff"], pa.binary()).view(pa.string()), "UnicodeDecodeError: "),
            (["a"], ["This fails."], "ValueError: cannot count \ufffd"),
        ],
    )
    def test_what_cannot_be_chunked_is_an_error(self, sources: Any, texts: Any, error: str) -> None:
        def count(text: str) -> int:
            if "fail" in text:
                raise ValueError("cannot count \ud800")
            return len(text)

        given = pa.table({"source": sources, "text": texts})
        [found] = chunk_table(given, ChunkConfig(encoding=count))["error"].to_pylist()
        assert found.startswith(error)

    def test_columns_have_the_names_that_are_given(self) -> None:
        given = pa.table({"path": ["a.md"], "body": ["# A"], "lang": ["en"]})
        found = chunk_table(given, text="body", source="path")
        assert read(found) == Chunker().chunk("# A", "a.md")
        assert read(chunk_table(given, text="body", source=None)) == Chunker().chunk("# A")
        with pytest.raises(ConfigError, match=r"text='text': .* \('path', 'body', 'lang'\)"):
            chunk_table(given, source="path")
        with pytest.raises(ConfigError, match=r"source='source': .* source=None"):
            next(chunk_record_batches(given.to_batches(), text="body"))

    def test_columns_are_kept_on_request(self) -> None:
        given = table({"a": "# A\n\n" + "One two three. " * 60, "b": None})
        given = given.append_column("lang", [["en", "no"]]).append_column("index", [[1, 2]])
        found = chunk_table(given, CONFIG, keep_columns=["lang"])
        assert found.schema.names == [*CHUNK_SCHEMA.names, "lang"]
        langs = found["lang"].to_pylist()
        assert langs == ["en"] * (len(langs) - 1) + ["no"]
        assert len(langs) > 3
        with pytest.raises(ConfigError, match="keep_columns='index'"):
            chunk_table(given, keep_columns=["index"])

    @pytest.mark.slow
    def test_batches_stay_small(self) -> None:
        texts = {str(number): "One.\n\n" for number in range(10_000)}
        sizes = [batch.num_rows for batch in chunk_record_batches(table(texts).to_batches())]
        assert sum(sizes) == 10_000
        assert max(sizes) < 5_000
        large = ["word " * 200_000] * 12
        found = chunk_table(pa.table({"text": large}), ChunkConfig(max_tokens=10**6), source=None)
        assert found.num_rows == 12
        assert found.nbytes > 23_000_000 > max(batch.nbytes for batch in found.to_batches())


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@needs_java
@pytest.mark.slow
class TestSpark:
    def test_the_chunks_of_the_library(self, spark: Any, expected: list[Chunk]) -> None:
        from chunkast.adapters.arrow import SPARK_SCHEMA

        documents = spark.createDataFrame(table(MANY)).repartition(5)
        chunks = documents.mapInArrow(partial(chunk_record_batches, config=CONFIG), SPARK_SCHEMA)
        found = chunks.orderBy("source", "index").toArrow()
        assert found.schema.names == CHUNK_SCHEMA.names
        assert [field.type for field in found.schema if not pa.types.is_list(field.type)] == [
            field.type for field in CHUNK_SCHEMA if not pa.types.is_list(field.type)
        ]
        assert read(found) == ordered(expected)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data.context")
@pytest.mark.slow
class TestRay:
    def test_the_chunks_of_the_library(self, ray: Any, expected: list[Chunk]) -> None:
        documents = ray.data.from_arrow([table(MANY).slice(at, 70) for at in range(0, 200, 70)])
        chunks = documents.map_batches(
            chunk_table, batch_format="pyarrow", batch_size=60, fn_kwargs={"config": CONFIG}
        )
        found = read(pa.concat_tables(ray.get(chunks.to_arrow_refs())))
        assert ordered(found) == ordered(expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "example"),
    [
        ("duckdb", "duckdb_query.py"),
        ("polars", "polars_frame.py"),
        ("ray", "ray_job.py"),
        pytest.param("pyspark", "spark_job.py", marks=needs_java),
    ],
)
def test_an_example_keeps_files_of_one_name_apart(
    package: str, example: str, tmp_path: Path
) -> None:
    pytest.importorskip(package, reason=f"needs {package}")
    write(tmp_path, {"a/guide.md": "# Guide\n\nOne.\n", "b/guide.md": "# Guide\n\nTwo.\n"})
    printed = run_example(example, str(tmp_path))
    assert "a/guide.md" in printed
    assert "b/guide.md" in printed
