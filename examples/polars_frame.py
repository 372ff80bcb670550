"""Chunk a Polars data frame: pip install 'chunkast[arrow]' polars."""

from pathlib import Path

import polars as pl

from chunkast import ChunkConfig
from chunkast.adapters.arrow import chunk_table

folder = Path(__file__).parents[1] / "fixtures" / "documents"
pages = sorted(folder.glob("*.md"))
documents = pl.DataFrame(
    {
        "source": [page.name for page in pages],
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
