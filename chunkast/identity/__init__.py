"""Names for chunks that stay the same when the text around them changes."""

from chunkast.identity.ids import Location, chunk_id, content_hash, normalize_text

__all__ = ("Location", "chunk_id", "content_hash", "normalize_text")
