"""Chunkast inside other frameworks: one module for each, imported by its own name.

``chunkast.adapters.langchain``, ``.llama_index`` and ``.haystack`` are splitters in the style of
their framework; ``.arrow`` is for engines over many machines. Each needs the extra of its
name; its import error names the extra.
"""
