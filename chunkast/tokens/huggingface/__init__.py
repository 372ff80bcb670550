"""Hugging Face tokenizers: exact token counters, made fast by known boundaries."""

from __future__ import annotations

from chunkast.tokens.huggingface.counters import counter_of_file, counter_of_tokenizer

__all__ = ("counter_of_file", "counter_of_tokenizer")
