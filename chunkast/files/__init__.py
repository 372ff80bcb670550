"""Files: found in folders, read as documents, written at once or not at all."""
