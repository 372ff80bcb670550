"""Views of a document: an HTML page with its chunks, and a tree of its blocks."""
