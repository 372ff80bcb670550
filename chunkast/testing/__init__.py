"""Tools for testing chunks: snapshots, a pytest plugin and assertions."""
