"""Chunk the rows of a DuckDB query in batches: pip install 'chunkast[arrow]' duckdb.

The documents are those in the folder that is the first argument.
"""

import sys
from pathlib import Path

import duckdb
import pyarrow as pa

from chunkast import ChunkConfig
from chunkast.adapters.arrow import CHUNK_SCHEMA, chunk_record_batches

documents_here = Path(__file__).parents[1] / "fixtures" / "documents"
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else documents_here
# A source is the path in the folder: file names alone are not unique, and ids would not be either.
documents = (
    duckdb.connect()
    .sql(
        "SELECT substr(filename, ?) AS source, content AS text FROM read_text(?)",
        params=[len(f"{folder}/") + 1, f"{folder}/**/*.md"],
    )
    .to_arrow_reader(100)
)
batches = chunk_record_batches(documents, ChunkConfig(max_tokens=300))
chunks = pa.RecordBatchReader.from_batches(CHUNK_SCHEMA, batches)
duckdb.connect().sql(
    "SELECT source, count(*) AS chunks, max(token_count) AS most_tokens FROM chunks "
    "WHERE error IS NULL GROUP BY source ORDER BY chunks DESC, source LIMIT 5"
).show()
