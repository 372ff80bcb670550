"""A ``TextSplitter`` for LangChain. Requires the ``chunkast[langchain]`` extra."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, Final, Literal

from chunkast.adapters.common import checked_content, described, id_of, metadata_of
from chunkast.chunker import Chunker
from chunkast.errors import ConfigError, MissingPackageError
from chunkast.model import Chunk
from chunkast.options import ChunkOptions, Unpack

try:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_text_splitters import TextSplitter
except ImportError as error:
    raise MissingPackageError("langchain-text-splitters", "langchain") from error

__all__ = ("ChunkastTextSplitter", "VerbatimRetriever")

# The metadata key of a chunk's verbatim text if ``page_content`` is the text to embed.
_TEXT_KEY: Final = "text"


class SplitterOptions(ChunkOptions, total=False):
    """The keyword arguments of :class:`ChunkastTextSplitter`."""

    source_key: str
    content: Literal["text", "embed_text"]
    add_start_index: bool
    uuid_ids: bool
    sections: bool


class ChunkastTextSplitter(TextSplitter):
    """Splits Markdown into chunks that fit a token budget.

    Pass the fields of ``ChunkConfig`` as keywords; ``chunk_size`` and ``chunk_overlap`` are numbers
    of tokens. The metadata of each chunk is the document's metadata, the chunk's own metadata,
    ``headings`` (a single string) and ``token_count``.

    source_key: the metadata key of a document's name. The ids of chunks are computed from this
        name or, if there is none, from the document's id. The chunks of a document with neither
        have no ids, because these would not be unique. If several documents in one call have the
        same name, the ids of their chunks still differ.
    content: the text in ``page_content``: "text", verbatim, or "embed_text", with context. With
        "embed_text", the verbatim text is stored in the metadata as ``text``, and
        :class:`VerbatimRetriever` returns it.
    add_start_index: add positions to the metadata: ``start_index``, ``end_index``, ``start_line``
        and ``end_line``. If a line is inserted before a chunk, its positions change, and
        ``langchain_core.indexing.index`` writes the chunk again.
    uuid_ids: use UUIDs as ids (``Chunk.uuid``), for stores that accept only UUIDs.
    sections: add lists of the heading paths and anchors of all sections in the chunk to the
        metadata, as ``sections`` and ``section_anchors``. Many vector stores do not accept lists.

    Raises ``ConfigError`` for an invalid option.
    """

    def __init__(
        self,
        *,
        source_key: str = "source",
        content: Literal["text", "embed_text"] = "text",
        add_start_index: bool = False,
        uuid_ids: bool = False,
        sections: bool = False,
        **options: Unpack[ChunkOptions],
    ) -> None:
        checked_content(content)
        self.config = config = Chunker(**options).config
        self.source_key = source_key
        self.content = content
        self.uuid_ids = uuid_ids
        self.sections = sections
        super().__init__(
            chunk_size=config.budget,
            chunk_overlap=config.overlap_tokens,
            add_start_index=add_start_index,
            strip_whitespace=config.trim,
        )

    def __repr__(self) -> str:
        own = {name: getattr(self, name) for name in ("uuid_ids", "sections")}
        content = self.content if self.content != "text" else ""
        return described(
            self, self.config, content=content, add_start_index=self._add_start_index, **own
        )

    @classmethod
    def from_tiktoken_encoder(
        cls,
        encoding_name: str = "cl100k_base",
        model_name: str | None = None,
        **options: Unpack[SplitterOptions],
    ) -> ChunkastTextSplitter:
        """Return a splitter that counts tokens with tiktoken.

        Special tokens in a text are counted as ordinary text.
        """
        # Python raises ``TypeError`` if the encoding is given twice.
        return cls(encoding=encoding_name, model=model_name, **options)  # type: ignore[misc]

    @classmethod
    def from_huggingface_tokenizer(
        cls, tokenizer: Any, **options: Unpack[SplitterOptions]
    ) -> ChunkastTextSplitter:
        """Return a splitter that counts tokens with ``tokenizer``, without special tokens."""
        return cls(encoding=tokenizer, **options)  # type: ignore[misc]

    def split_text(self, text: str) -> list[str]:
        """Return the contents of the chunks of ``text``, in order."""
        return [getattr(chunk, self.content) for chunk in Chunker(self.config).chunk(text)]

    def create_documents(
        self, texts: list[str], metadatas: list[dict[Any, Any]] | None = None
    ) -> list[Document]:
        """Return one document for each chunk of ``texts``, with a copy of the text's metadata.

        Raises ``ConfigError`` if ``texts`` and ``metadatas`` differ in length.
        """
        metadatas = metadatas or [{} for _ in texts]
        if len(metadatas) != len(texts):
            raise ConfigError("metadatas", len(metadatas), f"must be one per text ({len(texts)})")
        pairs = zip(texts, metadatas, strict=True)
        return self.split_documents(Document(text, metadata=metadata) for text, metadata in pairs)

    def split_documents(self, documents: Iterable[Document]) -> list[Document]:
        """Return one document for each chunk of ``documents``, in order."""
        documents = list(documents)
        sources = [self._source(document) for document in documents]
        texts = [document.page_content for document in documents]
        batch = Chunker(self.config).chunk_batch(texts, sources)
        return [
            Document(
                page_content=getattr(chunk, self.content),
                metadata={**deepcopy(document.metadata), **self._metadata(chunk)},
                id=None if source is None else id_of(chunk, as_uuid=self.uuid_ids),
            )
            for chunks, document, source in zip(batch, documents, sources, strict=True)
            for chunk in chunks
        ]

    def _source(self, document: Document) -> str | None:
        name = document.metadata.get(self.source_key)
        return document.id if name is None else str(name)

    def _metadata(self, chunk: Chunk) -> dict[str, Any]:
        own = metadata_of(chunk, positions=self._add_start_index, sections=self.sections)
        return own if self.content == "text" else {**own, _TEXT_KEY: chunk.text}


class VerbatimRetriever(BaseRetriever):
    """A retriever that returns the verbatim text of each chunk that ``retriever`` finds.

    Use it for documents that were split with ``content="embed_text"``. They are embedded and found
    with their context, but returned without it. Other documents are returned unchanged.
    """

    retriever: BaseRetriever

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        config = {"callbacks": run_manager.get_child()}
        return [_verbatim(document) for document in self.retriever.invoke(query, config)]

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        config = {"callbacks": run_manager.get_child()}
        return [_verbatim(document) for document in await self.retriever.ainvoke(query, config)]


def _verbatim(document: Document) -> Document:
    metadata = dict(document.metadata)
    text = metadata.pop(_TEXT_KEY, document.page_content)
    return Document(page_content=text, metadata=metadata, id=document.id)
