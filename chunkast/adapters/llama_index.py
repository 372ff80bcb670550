"""LlamaIndex: a ``NodeParser``. Needs the extra ``chunkast[llama-index]``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from chunkast.adapters.common import POSITION_KEYS, context_around, metadata_of
from chunkast.chunker import Chunker
from chunkast.config import ChunkConfig
from chunkast.errors import MissingPackageError
from chunkast.model import Chunk
from chunkast.options import ChunkOptions, Unpack

try:
    from llama_index.core.bridge.pydantic import Field
    from llama_index.core.node_parser import NodeParser
    from llama_index.core.schema import BaseNode, MetadataMode, NodeRelationship, TextNode
    from llama_index.core.utils import get_tqdm_iterable
except ImportError as error:
    raise MissingPackageError("llama-index-core", "llama-index") from error

__all__ = ("ChunkastNode", "ChunkastNodeParser")

# Metadata that is useless to a model, unlike the lines, which it can cite.
_NOT_FOR_LLM: Final = tuple(key for key in POSITION_KEYS if not key.endswith("_line"))


class ChunkastNode(TextNode):
    """A node that is embedded with its chunk's context around its text.

    ``get_content(MetadataMode.EMBED)`` is the chunk's ``embed_text``, below the metadata
    that the document or an extractor shows to embedding models. Caches and stores return a
    plain ``TextNode``, in which the heading path is metadata before the text.
    """

    context_before: str = Field(default="", description="Embedded before the text.")
    context_after: str = Field(default="", description="Embedded after the text.")

    @classmethod
    def class_name(cls) -> str:
        """The name in serialized nodes."""
        return "ChunkastNode"

    def get_content(self, metadata_mode: MetadataMode = MetadataMode.NONE) -> str:
        """The text, with the metadata of the mode."""
        if metadata_mode != MetadataMode.EMBED:
            return str(super().get_content(metadata_mode))
        text = f"{self.context_before}{self.text}{self.context_after}"
        # The heading path is part of the context.
        hidden = [*self.excluded_embed_metadata_keys, "headings"]
        shown = self.model_copy(update={"excluded_embed_metadata_keys": hidden})
        metadata = shown.get_metadata_str(metadata_mode).strip()
        if not metadata:
            return text
        return str(self.text_template.format(content=text, metadata_str=metadata).strip())


class ParserOptions(ChunkOptions, total=False):
    """The keywords of :class:`ChunkastNodeParser`: also the fields of every node parser."""

    include_metadata: bool
    include_prev_next_rel: bool
    callback_manager: Any
    id_func: Callable[[int, BaseNode], str] | None


class ChunkastNodeParser(NodeParser):
    """Parses Markdown documents into nodes that fit an exact token budget.

    Keywords are the fields of ``ChunkConfig``, kept in ``options``; ``chunk_size`` and
    ``chunk_overlap`` count tokens. Ids are computed from the document's id: with
    stable ids of documents (``SimpleDirectoryReader(filename_as_id=True)``) those of nodes are
    stable too.
    ``start_char_idx`` and ``end_char_idx`` are exact. The metadata has ``headings`` (one
    string), ``start_line``, ``end_line`` and the chunk's own metadata.

    Raises ``ConfigError`` for an invalid option.
    """

    options: dict[str, Any] = Field(default_factory=dict, description="Fields of ChunkConfig.")
    id_func: Callable[[int, BaseNode], str] | None = Field(
        default=None,
        exclude=True,
        description="Makes the ids of nodes in place of chunkast.",
    )

    def __init__(
        self, options: Mapping[str, Any] | None = None, **keywords: Unpack[ParserOptions]
    ) -> None:
        """The configuration consists of ``options`` and of fields that a node parser lacks."""
        given: dict[str, Any] = {**keywords}
        own = {name: given.pop(name) for name in type(self).model_fields if name in given}
        super().__init__(options={**(options or {}), **given}, **own)
        _ = self._chunker  # raises ConfigError for an invalid option

    @classmethod
    def class_name(cls) -> str:
        """The name in serialized pipelines."""
        return "ChunkastNodeParser"

    @property
    def _chunker(self) -> Chunker:
        return Chunker(ChunkConfig.of(self.options))

    def _parse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **_: Any
    ) -> list[BaseNode]:
        texts = [node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        names = [node.node_id for node in nodes]
        found = self._chunker.chunk_documents(zip(names, texts, strict=True))
        shown = get_tqdm_iterable(nodes, show_progress, "Parsing nodes")
        return [
            node
            for document, chunks in zip(shown, found, strict=True)
            for node in self._nodes(document, chunks)
        ]

    def _nodes(self, document: BaseNode, chunks: Sequence[Chunk]) -> list[BaseNode]:
        # Computed once: it hashes the whole document.
        source = document.as_related_node_info()
        return [self._node(document, source, chunk) for chunk in chunks]

    def _node(self, document: Any, source: Any, chunk: Chunk) -> BaseNode:
        before, after = context_around(chunk)
        return ChunkastNode(
            id_=self.id_func(chunk.index, document) if self.id_func else chunk.id,
            text=chunk.text,
            start_char_idx=chunk.start_index,
            end_char_idx=chunk.end_index,
            context_before=before,
            context_after=after,
            metadata=metadata_of(chunk) if self.include_metadata else {},
            excluded_embed_metadata_keys=[
                *document.excluded_embed_metadata_keys,
                *POSITION_KEYS,
                *chunk.metadata,
            ],
            excluded_llm_metadata_keys=[
                *document.excluded_llm_metadata_keys,
                *_NOT_FOR_LLM,
                *chunk.metadata,
            ],
            metadata_separator=document.metadata_separator,
            metadata_template=document.metadata_template,
            text_template=document.text_template,
            relationships={NodeRelationship.SOURCE: source},
        )

    def _postprocess_parsed_nodes(
        self, nodes: list[BaseNode], parent_doc_map: dict[str, Any]
    ) -> list[BaseNode]:
        # The base class searches for each text and may find an equal text at another place.
        spans = [(node.start_char_idx, node.end_char_idx) for node in nodes]
        done = super()._postprocess_parsed_nodes(nodes, parent_doc_map)
        for node, (start, end) in zip(done, spans, strict=True):
            node.start_char_idx, node.end_char_idx = start, end
        return list(done)
