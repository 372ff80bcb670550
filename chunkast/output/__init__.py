"""Output of chunks for people and for other programs: file formats, Arrow tables and an HTML page."""
