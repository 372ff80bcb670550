"""Chunks documents of any kind, such as notebooks, one at a time or in parallel."""
