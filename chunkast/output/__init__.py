"""Write chunks to files, Arrow tables and an HTML page."""
