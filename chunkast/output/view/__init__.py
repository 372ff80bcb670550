"""Views of a document and its chunks: an HTML page, terminal output, a tree of blocks."""
