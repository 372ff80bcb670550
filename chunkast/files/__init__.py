"""Finds files, reads them as documents, and writes files atomically."""
