"""Public import path for Jupyter notebooks; the code is in ``chunkast.sources.notebook``."""

from chunkast.sources.notebook import (
    Cell,
    Notebook,
    analyze_cells,
    cell_source,
    chunk_cells,
    chunk_notebook,
    document_source,
    is_notebook,
    notebook_in,
    read_notebook,
)

__all__ = (
    "Cell",
    "Notebook",
    "analyze_cells",
    "cell_source",
    "chunk_cells",
    "chunk_notebook",
    "document_source",
    "is_notebook",
    "notebook_in",
    "read_notebook",
)
