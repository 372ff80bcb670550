"""Haystack: a splitter. Needs the extra ``chunkast[haystack]``.

It is in this namespace because Haystack loads saved pipelines only from here, unless
configured to trust another one.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from chunkast.adapters.common import context_around, metadata_of
from chunkast.chunker import Chunker
from chunkast.config import ChunkConfig
from chunkast.errors import MissingPackageError
from chunkast.model import Chunk
from chunkast.options import ChunkOptions, Unpack

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as error:
    raise MissingPackageError("haystack-ai", "haystack") from error

__all__ = ("ChunkastDocumentSplitter",)


@component
class ChunkastDocumentSplitter:
    """Splits Markdown documents into documents that fit an exact token budget.

    Keywords are the fields of ``ChunkConfig``; ``chunk_size`` and ``chunk_overlap`` count
    tokens. ``meta`` is the document's, with ``source_id``, ``split_id`` and
    ``split_idx_start`` as in Haystack's splitters, ``headings`` (one string),
    ``start_index``, ``end_index``, ``start_line``, ``end_line``, ``token_count``, the
    chunk's own metadata, and ``embed_prefix``: the context before the text. An embedder
    with ``meta_fields_to_embed=["embed_prefix"], embedding_separator=""`` embeds it. For a
    ``SentenceWindowRetriever``, which joins neighbours, use ``trim=False``.

    source_key: the ``meta`` key of a document's name; its chunks' ids are computed from that
        name. If it is None or the document lacks it, the document's id is used.

    Raises ``ConfigError`` for an invalid option.
    """

    def __init__(self, source_key: str | None = None, **options: Unpack[ChunkOptions]) -> None:
        self.source_key = source_key
        self.options: dict[str, Any] = {**options}
        self._config = Chunker(ChunkConfig.of(options)).config

    def to_dict(self) -> dict[str, Any]:
        """The data for :meth:`from_dict`."""
        options = {k: list(v) if isinstance(v, tuple) else v for k, v in self.options.items()}
        return dict(default_to_dict(self, source_key=self.source_key, **options))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ChunkastDocumentSplitter:
        """The splitter that :meth:`to_dict` described."""
        return default_from_dict(cls, data)  # type: ignore[no-any-return]

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """The chunks of all documents, in order.

        Raises ``ValueError`` for a document without text.
        """
        for document in documents:
            if document.content is None:
                raise ValueError(f"document {document.id} has no text: its content is None")
        names = [document.meta.get(self.source_key) for document in documents]
        sources = [
            document.id if name is None else str(name)
            for name, document in zip(names, documents, strict=True)
        ]
        found = Chunker(self._config).chunk_batch(
            [document.content for document in documents], sources
        )
        return {
            "documents": [
                _document(document, chunk)
                for document, chunks in zip(documents, found, strict=True)
                for chunk in chunks
            ]
        }


def _document(document: Document, chunk: Chunk) -> Document:
    return Document(
        id=chunk.id,
        content=chunk.text,
        meta={
            **deepcopy(document.meta),
            **metadata_of(chunk),
            "source_id": document.id,
            "split_id": chunk.index,
            "split_idx_start": chunk.start_index,
            "embed_prefix": context_around(chunk)[0],
        },
    )
