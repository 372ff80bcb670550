"""Documents with their chunks as an HTML page, in a terminal and as a tree of blocks."""
