"""Compute stable chunk ids, write plans and citations."""

from chunkast.identity.fingerprint import config_values, fingerprint, versions
from chunkast.identity.ids import PartCounts, chunk_id, next_chunk_id
from chunkast.identity.plans import WritePlan, digest, plan_among, plan_writes
from chunkast.identity.quotes import Citation, locate_quote, validate_quote

__all__ = (
    "Citation",
    "PartCounts",
    "WritePlan",
    "chunk_id",
    "config_values",
    "digest",
    "fingerprint",
    "locate_quote",
    "next_chunk_id",
    "plan_among",
    "plan_writes",
    "validate_quote",
    "versions",
)
