"""Write plans, citations, and chunk ids that do not change when other text is edited."""

from chunkast.identity.fingerprint import config_values, fingerprint, versions
from chunkast.identity.ids import PartCounts, chunk_id, next_chunk_id
from chunkast.identity.plans import Identified, WritePlan, digest, plan_among, plan_writes
from chunkast.identity.quotes import Citation, locate_quote, validate_quote
from chunkast.text.hashes import chunk_uuid, content_hash, normalize_text

__all__ = (
    "Citation",
    "Identified",
    "PartCounts",
    "WritePlan",
    "chunk_id",
    "chunk_uuid",
    "config_values",
    "content_hash",
    "digest",
    "fingerprint",
    "locate_quote",
    "next_chunk_id",
    "normalize_text",
    "plan_among",
    "plan_writes",
    "validate_quote",
    "versions",
)
