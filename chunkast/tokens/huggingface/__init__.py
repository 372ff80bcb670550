"""Hugging Face tokenizers: exact counters, and known boundaries that make them fast."""

from __future__ import annotations

from chunkast.tokens.huggingface.counters import counter_of_file, counter_of_tokenizer

__all__ = ("counter_of_file", "counter_of_tokenizer")
