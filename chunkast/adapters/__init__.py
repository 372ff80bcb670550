"""Adapters for other frameworks, one module for each.

``chunkast.adapters.langchain``, ``.llama_index`` and ``.haystack`` have splitters for these
frameworks; ``.arrow`` is for distributed engines such as Spark and Ray. Each module needs an extra
of chunkast. If that is missing, the import error names it.
"""
