"""Find files, read them as documents, and write files atomically."""
