"""Adapters for other frameworks, one module for each.

``chunkast.adapters.langchain``, ``.llama_index`` and ``.haystack`` provide splitters for these
frameworks; ``.arrow`` is for distributed engines such as Spark and Ray. Each module requires an
extra of chunkast. If the extra is not installed, the import error names it.
"""
