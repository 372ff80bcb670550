"""Chunk a folder of Markdown with PySpark: pip install 'chunkast[spark]', and Java.

    python examples/spark_job.py [FOLDER] [MASTER]

On a cluster, install chunkast on every worker, and write the chunks instead of counting them:
``chunks.write.parquet("s3://bucket/chunks")``.
"""

import os
import sys
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

from chunkast import ChunkConfig
from chunkast.adapters.arrow import SPARK_SCHEMA, chunk_record_batches

documents_here = Path(__file__).parents[1] / "fixtures" / "documents"
folder = sys.argv[1] if len(sys.argv) > 1 else str(documents_here)
master = sys.argv[2] if len(sys.argv) > 2 else "local[2]"
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
spark = (
    SparkSession.builder.master(master)
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.log.level", "ERROR")
    .getOrCreate()
)

# A source is the whole path: file names alone are not unique, and ids would not be either.
documents = spark.read.text(
    folder, wholetext=True, recursiveFileLookup=True, pathGlobFilter="*.md"
).selectExpr("value AS text", "_metadata.file_path AS source")
config = ChunkConfig(max_tokens=300)
chunks = documents.mapInArrow(partial(chunk_record_batches, config=config), SPARK_SCHEMA).cache()
good, bad = chunks.where("error IS NULL"), chunks.where("error IS NOT NULL")
print(good.count(), "chunks,", bad.count(), "documents failed")
good.groupBy("source").agg(
    sql.count("*").alias("chunks"), sql.max("token_count").alias("most_tokens")
).orderBy(sql.desc("chunks"), "source").show(5, truncate=False)
spark.stop()
