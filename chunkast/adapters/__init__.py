"""Chunkast inside other frameworks: one module for each, imported by its own name.

``chunkast.adapters.langchain``, ``.llama_index`` and ``.haystack`` are splitters with the
manners of their framework; ``.arrow`` is for engines over many machines. Each needs the
extra of its name and says so where that is missing.
"""
