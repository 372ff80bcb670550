"""Chunk a Polars data frame: pip install 'chunkast[arrow]' polars.

The documents are those in the folder that is the first argument.
"""

import sys
from pathlib import Path

import polars as pl

from chunkast import ChunkConfig
from chunkast.adapters.arrow import chunk_table

documents_here = Path(__file__).parents[1] / "fixtures" / "documents"
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else documents_here
pages = sorted(folder.rglob("*.md"))
documents = pl.DataFrame(
    {
        # The path in the folder: file names alone are not unique, and ids would not be either.
        "source": [page.relative_to(folder).as_posix() for page in pages],
        "text": [page.read_bytes().decode("utf-8") for page in pages],
    }
)
chunks = pl.from_arrow(chunk_table(documents.to_arrow(), ChunkConfig(max_tokens=300)))
print(
    chunks.group_by("source")
    .agg(pl.len().alias("chunks"), pl.col("token_count").max().alias("most_tokens"))
    .sort("chunks", "source", descending=[True, False])
    .head(5)
)
