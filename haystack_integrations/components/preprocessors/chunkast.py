"""A splitter for Haystack. Requires the ``chunkast[haystack]`` extra.

The splitter is in this namespace because Haystack loads the components of saved pipelines only from
trusted namespaces.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final, Literal

from chunkast.adapters.common import checked_content, described, embedded_parts, id_of, metadata_of
from chunkast.chunker import Chunker
from chunkast.config import ChunkConfig
from chunkast.errors import MissingPackageError
from chunkast.model import Chunk
from chunkast.options import ChunkOptions, Unpack
from chunkast.text.hashes import values_hash

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as error:
    raise MissingPackageError("haystack-ai", "haystack") from error

__all__ = ("ChunkastDocumentSplitter",)

# The possible keys of a document's name; the first key that the document has is used.
_SOURCE_KEYS: Final = ("file_path", "url", "source")


@component
class ChunkastDocumentSplitter:
    """Splits Markdown documents into documents that fit a token budget.

    Pass the fields of ``ChunkConfig`` as keywords; ``chunk_size`` and ``chunk_overlap`` are numbers
    of tokens. ``meta`` contains the document's ``meta``, the chunk's own metadata, and:

    - ``source_id``, the document's name, which stays the same when the document is edited,
    - ``split_id`` and ``split_idx_start``, as in Haystack's splitters,
    - ``headings`` (a single string), ``start_index``, ``end_index``, ``start_line``, ``end_line``
      and ``token_count``,
    - ``embed_prefix``, the context before the text. To embed this context, use an embedder with
      ``meta_fields_to_embed=["embed_prefix"], embedding_separator=""``,
    - ``content_hash``, ``embed_hash`` and ``state_hash``, so that
      ``{"id": document.id, **document.meta}`` is a record for :func:`chunkast.plan_writes`.

    If the embedded text replaces parts of the chunk's text, ``meta["embed_text"]`` is the embedded
    text, and ``embed_prefix`` is "". For such documents, use ``content="embed_text"``. For a
    ``SentenceWindowRetriever``, which joins adjacent chunks, use ``trim=False``.

    source_key: the ``meta`` key of a document's name, from which the ids of its chunks are
        computed. Default: the first of ``file_path``, ``url`` and ``source`` that the document has.
        If a document has no name, its id is used instead, which every edit changes. (Haystack's
        converters keep only the last part of a path, unless ``store_full_path=True``.)
    content: the content of the documents: "text", verbatim, or "embed_text", with context. With
        "embed_text", ``meta`` contains the verbatim ``text`` instead of ``embed_prefix``.
    uuid_ids: use UUIDs as ids (``Chunk.uuid``), for stores that accept only UUIDs.
    sections: add a list of the heading paths of all sections in the chunk to ``meta``, as
        ``sections``. Many vector stores do not accept lists.

    Raises ``ConfigError`` for an invalid option.
    """

    def __init__(
        self,
        source_key: str | None = None,
        *,
        content: Literal["text", "embed_text"] = "text",
        uuid_ids: bool = False,
        sections: bool = False,
        **options: Unpack[ChunkOptions],
    ) -> None:
        checked_content(content)
        self.source_key = source_key
        self.content = content
        self.uuid_ids = uuid_ids
        self.sections = sections
        self.options: dict[str, Any] = {**options}
        self._config = Chunker(ChunkConfig.of(options)).config

    def to_dict(self) -> dict[str, Any]:
        """Return the splitter's options as data for :meth:`from_dict`."""
        options = {k: list(v) if isinstance(v, tuple) else v for k, v in self.options.items()}
        own = {
            name: getattr(self, name) for name in ("source_key", "content", "uuid_ids", "sections")
        }
        return dict(default_to_dict(self, **own, **options))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ChunkastDocumentSplitter:
        """Return the splitter whose :meth:`to_dict` returned ``data``."""
        return default_from_dict(cls, data)  # type: ignore[no-any-return]

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Return the chunks of all documents, in order, under the key "documents".

        Raises ``ValueError`` if the content of a document is None.
        """
        for document in documents:
            if document.content is None:
                raise ValueError(f"document {document.id} has no text: its content is None")
        sources = [self._source(document) for document in documents]
        found = Chunker(self._config).chunk_batch(
            [document.content for document in documents], sources
        )
        return {
            "documents": [
                self._part(document, source, chunk)
                for document, source, chunks in zip(documents, sources, found, strict=True)
                for chunk in chunks
            ]
        }

    def _source(self, document: Document) -> str:
        keys = _SOURCE_KEYS if self.source_key is None else (self.source_key,)
        names = (document.meta[key] for key in keys if document.meta.get(key) is not None)
        return str(next(names, document.id))

    def _part(self, document: Document, source: str, chunk: Chunk) -> Document:
        meta = {
            **deepcopy(document.meta),
            **metadata_of(chunk, sections=self.sections),
            "content_hash": chunk.content_hash,
            "embed_hash": chunk.embed_hash,
            "state_hash": values_hash({"chunk": chunk.state_hash, "meta": document.meta}),
            "source_id": source,
            "split_id": chunk.index,
            "split_idx_start": chunk.start_index,
            **self._other_text(chunk),
        }
        id_ = id_of(chunk, as_uuid=self.uuid_ids)
        return Document(id=id_, content=getattr(chunk, self.content), meta=meta)

    def _other_text(self, chunk: Chunk) -> dict[str, str]:
        """Return metadata with the verbatim text or the context, whichever is not the content."""
        if self.content == "embed_text":
            return {"text": chunk.text}
        before, body, _ = embedded_parts(chunk)
        own = {} if body == chunk.text else {"embed_text": body}
        return {"embed_prefix": before, **own}


def _with_options(shown: Callable[[object], str]) -> Callable[[ChunkastDocumentSplitter], str]:
    """Return a ``__repr__`` that adds the options to Haystack's ``__repr__``, named ``shown``."""

    def repr_of(splitter: ChunkastDocumentSplitter) -> str:
        names = ("source_key", "uuid_ids", "sections")
        own = {name: getattr(splitter, name) for name in names}
        content = splitter.content if splitter.content != "text" else ""
        options = described(splitter, splitter._config, content=content, **own)  # noqa: SLF001
        return shown(splitter).replace(object.__repr__(splitter), options, 1)

    return repr_of


# Set here, because the decorator ``component`` replaces the ``__repr__`` of a class.
ChunkastDocumentSplitter.__repr__ = _with_options(ChunkastDocumentSplitter.__repr__)  # type: ignore[method-assign,assignment]
