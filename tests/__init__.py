"""The tests of chunkast."""
