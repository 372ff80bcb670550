"""Chunk a folder of Markdown with Ray Data: pip install 'chunkast[ray]'.

    python examples/ray_job.py [FOLDER]

On a cluster, install chunkast on every node, connect with ``ray.init(address="auto")``, and write
the chunks instead of counting them: ``chunks.write_parquet("s3://bucket/chunks")``.
"""

import sys
from pathlib import Path

import ray
from ray.data.expressions import col

from chunkast import ChunkConfig
from chunkast.adapters.arrow import chunk_table

documents_here = Path(__file__).parents[1] / "fixtures" / "documents"
folder = sys.argv[1] if len(sys.argv) > 1 else str(documents_here)
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
ray.data.DataContext.get_current().enable_progress_bars = False

# A source is the whole path: file names alone are not unique, and ids would not be either.
documents = ray.data.read_binary_files(folder, include_paths=True, file_extensions=["md"]).map(
    lambda row: {"source": row["path"], "text": row["bytes"].decode("utf-8", "replace")}
)
chunks = documents.map_batches(
    chunk_table, batch_format="pyarrow", fn_kwargs={"config": ChunkConfig(max_tokens=300)}
).materialize()
good = chunks.filter(expr=col("error").is_null())
print(good.count(), "chunks,", chunks.count() - good.count(), "documents failed")
for row in good.select_columns(["source", "start_line", "end_line", "token_count"]).take(5):
    print("{source}:{start_line}-{end_line}  {token_count} tokens".format(**row))
ray.shutdown()
