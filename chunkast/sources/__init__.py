"""Chunk documents of any kind, such as texts and notebooks, one at a time or in parallel."""
