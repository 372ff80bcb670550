"""Chunks under test: snapshots, the pytest plugin, assertions."""
