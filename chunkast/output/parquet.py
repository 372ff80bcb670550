"""Write chunks as Parquet: one row per chunk, and the configuration in the file's metadata.

The columns are those of ``chunkast.output.columns``. Requires the ``parquet`` extra:
``pip install 'chunkast[parquet]'``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, Final

from chunkast import __version__
from chunkast.errors import ConfigError
from chunkast.model import Chunk
from chunkast.output.columns import arrow_schema, chunk_row

if TYPE_CHECKING:
    from chunkast.chunker import Chunker

__all__ = ("write_parquet",)

_ROW_GROUP_SIZE: Final = 4_096


def write_parquet(chunks: Iterable[Chunk], out: BinaryIO, chunker: Chunker) -> None:
    """Write the chunks as a Parquet file; raise ``ConfigError`` if pyarrow is not installed."""
    try:
        from pyarrow import Table
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        raise ConfigError(
            "format", "parquet", "needs pyarrow: pip install 'chunkast[parquet]'"
        ) from None

    from chunkast.identity import config_values, fingerprint

    encoding = chunker.counter.name
    about = {
        "chunkast.version": __version__,
        "chunkast.config": json.dumps(config_values(chunker.config, encoding), sort_keys=True),
        "chunkast.fingerprint": fingerprint(chunker.config, encoding),
    }
    schema = arrow_schema().with_metadata(about)
    rest = iter(chunks)
    with ParquetWriter(out, schema, compression="zstd") as writer:
        while rows := [chunk_row(chunk) for chunk in islice(rest, _ROW_GROUP_SIZE)]:
            writer.write_table(Table.from_pylist(rows, schema=schema))
