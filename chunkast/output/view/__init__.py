"""Views of a document and its chunks: an HTML page, terminal output and a tree of blocks."""
