"""A ``NodeParser`` and an embedding step for LlamaIndex. Requires ``chunkast[llama-index]``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from chunkast.adapters.common import described, embedded_parts, id_of, metadata_of
from chunkast.chunker import Chunker
from chunkast.config import ChunkConfig
from chunkast.errors import ConfigError, MissingPackageError
from chunkast.identity import PartCounts
from chunkast.model import Chunk
from chunkast.options import ChunkOptions, Unpack
from chunkast.sources.documents import iter_document
from chunkast.text.hashes import content_hash

try:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import Field, SerializeAsAny
    from llama_index.core.node_parser import NodeParser
    from llama_index.core.schema import (
        BaseNode,
        MetadataMode,
        NodeRelationship,
        TextNode,
        TransformComponent,
    )
    from llama_index.core.storage.kvstore import SimpleKVStore
    from llama_index.core.storage.kvstore.types import BaseKVStore
    from llama_index.core.utils import get_tqdm_iterable
except ImportError as error:
    raise MissingPackageError("llama-index-core", "llama-index") from error

__all__ = ("ChunkastNodeParser", "EmbedOnce")

_MODES: Final = (MetadataMode.EMBED, MetadataMode.LLM)
# The metadata shown to a model: the heading path, and the lines, so that it can cite them.
_PATH_KEY: Final = "heading_path"
_LINE_KEYS: Final = ("start_line", "end_line")
# Space is reserved for line numbers up to this one, so that edits do not change the budget.
_LAST_LINE: Final = 999_999
_VECTOR: Final = "vector"


class ParserOptions(ChunkOptions, total=False):
    """The keyword arguments of :class:`ChunkastNodeParser`, including the base class's."""

    include_metadata: bool
    include_prev_next_rel: bool
    callback_manager: Any
    id_func: Callable[[int, BaseNode], str] | None
    uuid_ids: bool
    sections: bool


class ChunkastNodeParser(NodeParser):
    """Parses Markdown documents into nodes that fit a token budget.

    Pass the fields of ``ChunkConfig`` as keywords; they are stored in ``options``. ``chunk_size``
    and ``chunk_overlap`` are numbers of tokens. Node ids are computed from the document's id, so
    they are stable only if that id is: use ``SimpleDirectoryReader(filename_as_id=True)``.
    ``start_char_idx`` and ``end_char_idx`` are exact.

    The budget applies to the embedded text (``MetadataMode.EMBED``) and to the text for language
    models (``MetadataMode.LLM``). Both include the document's metadata and the chunk's context. The
    heading path and the openers are stored in the metadata as ``heading_path``. A repeated table
    header or fence is stored in ``text_template``, so that nodes from a cache or a store embed the
    same text. If ``embed_text`` replaces spans of the text, the template contains all of
    ``embed_text``. With ``include_metadata=False``, no context is added.

    The metadata also contains ``headings`` (a single string), positions, ``token_count`` and the
    chunk's own metadata. These are not embedded, and language models see only the line numbers.

    uuid_ids: use UUIDs as ids (``Chunk.uuid``), for stores that accept only UUIDs.
    sections: add lists of the heading paths and anchors of all sections in the chunk to the
        metadata, as ``sections`` and ``section_anchors``. Many vector stores do not accept lists.

    Raises ``ConfigError`` for an invalid option, and if a document's metadata leaves no room for
    the document's text.
    """

    options: dict[str, Any] = Field(default_factory=dict, description="Fields of ChunkConfig.")
    uuid_ids: bool = Field(default=False, description="Whether ids are UUIDs.")
    sections: bool = Field(default=False, description="Whether metadata has all sections.")
    id_func: Callable[[int, BaseNode], str] | None = Field(
        default=None,
        exclude=True,
        description="Computes the ids of nodes instead of chunkast.",
    )

    def __init__(
        self, options: Mapping[str, Any] | None = None, **keywords: Unpack[ParserOptions]
    ) -> None:
        """Create a parser. Keywords that are not fields of the parser are added to ``options``."""
        fields: dict[str, Any] = {**(options or {}), **keywords}
        own = {name: fields.pop(name) for name in type(self).model_fields if name in keywords}
        super().__init__(options=fields, **own)
        _ = self._chunker  # raises ConfigError for an invalid option

    def __repr__(self) -> str:
        config = ChunkConfig.of(self.options)
        return described(self, config, uuid_ids=self.uuid_ids, sections=self.sections)

    @classmethod
    def class_name(cls) -> str:
        """Return the name of this class in serialized pipelines."""
        return "ChunkastNodeParser"

    @property
    def _chunker(self) -> Chunker:
        return Chunker(ChunkConfig.of(self.options))

    def _parse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **_: Any
    ) -> list[BaseNode]:
        chunker = self._chunker
        parts: defaultdict[str, PartCounts] = defaultdict(lambda: defaultdict(int))
        return [
            node
            for document in get_tqdm_iterable(nodes, show_progress, "Parsing nodes")
            for node in self._nodes(document, chunker, parts)
        ]

    def _nodes(
        self, document: BaseNode, chunker: Chunker, parts: defaultdict[str, PartCounts]
    ) -> list[BaseNode]:
        """Return the nodes of a document; the document's metadata uses up part of the budget.

        ``parts`` contains the number of chunks at each location so far, by the document's name.
        """
        name = document.node_id
        text = document.get_content(metadata_mode=MetadataMode.NONE)
        budget, count = chunker.config.budget, chunker.counter.count
        # Computed once: it hashes the whole document.
        source = document.as_related_node_info()
        reserve = self._reserve(document, count)
        while reserve < budget:
            counted = defaultdict(int, parts[name])
            smaller = Chunker(_with_less(chunker.config, reserve)) if reserve else chunker
            chunks = list(iter_document(smaller, text, name, counted))
            nodes = [self._node(document, source, chunk) for chunk in chunks]
            # Rarely, a text has more tokens than its parts together.
            excess = max(
                (
                    count(node.get_content(metadata_mode=mode)) - budget
                    for node, chunk in zip(nodes, chunks, strict=True)
                    if not chunk.oversize
                    for mode in _MODES
                ),
                default=0,
            )
            if excess <= 0:
                parts[name] = counted
                return nodes
            reserve += excess
        raise ConfigError(
            "max_tokens",
            budget,
            f"the metadata of document {document.node_id!r} leaves no room for its text; list "
            "keys in its excluded_embed_metadata_keys and excluded_llm_metadata_keys, or raise the "
            "budget",
        )

    def _reserve(self, document: BaseNode, count: Callable[[str], int]) -> int:
        """Return the token count of the metadata before a text, without the titles of headings."""
        if not self.include_metadata:
            return 0
        shown = {**document.metadata, _PATH_KEY: "", **dict.fromkeys(_LINE_KEYS, _LAST_LINE)}
        node = TextNode(metadata=shown, **_metadata_settings(document))
        node.excluded_embed_metadata_keys += _LINE_KEYS
        return max(count(node.get_content(metadata_mode=mode)) for mode in _MODES)

    def _node(self, document: BaseNode, source: Any, chunk: Chunk) -> BaseNode:
        before, body, after = embedded_parts(chunk)
        path, separator, frame = before.partition("\n\n")
        if not separator:  # there is no heading path
            path, frame = "", before
        verbatim = body == chunk.text
        # LlamaIndex ignores the template of a node without metadata.
        templated = before or not verbatim
        own = {
            **({_PATH_KEY: path} if templated else {}),
            **metadata_of(chunk, sections=self.sections),
        }
        hidden = own.keys() - {_PATH_KEY}
        manners = _metadata_settings(document)
        manners["excluded_embed_metadata_keys"] += sorted(hidden)
        manners["excluded_llm_metadata_keys"] += sorted(hidden - {*_LINE_KEYS})
        content = "{content}" if verbatim else _literal(body)
        framed = f"{_literal(frame)}{content}{_literal(after)}"
        manners["text_template"] = manners["text_template"].replace("{content}", framed)
        return TextNode(
            id_=self.id_func(chunk.index, document)
            if self.id_func
            else id_of(chunk, as_uuid=self.uuid_ids),
            text=chunk.text,
            start_char_idx=chunk.start_index,
            end_char_idx=chunk.end_index,
            # The base class adds the document's metadata too.
            metadata={**document.metadata, **own} if self.include_metadata else {},
            relationships={NodeRelationship.SOURCE: source},
            **manners,
        )

    def _postprocess_parsed_nodes(
        self, nodes: list[BaseNode], parent_doc_map: dict[str, Any]
    ) -> list[BaseNode]:
        # The base class searches the document for each text, and may find it at a wrong place.
        spans = [(node.start_char_idx, node.end_char_idx) for node in nodes]
        done = super()._postprocess_parsed_nodes(nodes, parent_doc_map)
        for node, (start, end) in zip(done, spans, strict=True):
            node.start_char_idx, node.end_char_idx = start, end
        return list(done)


def _with_less(config: ChunkConfig, tokens: int) -> ChunkConfig:
    """Return the configuration with ``tokens`` more reserved tokens, and an overlap that fits."""
    overlap = config.overlap
    if isinstance(overlap, int):
        overlap = min(overlap, config.budget - tokens - 1)
    return replace(config, reserve_tokens=config.reserve_tokens + tokens, overlap=overlap)


def _metadata_settings(document: BaseNode) -> dict[str, Any]:
    """Return a document's metadata settings, which its nodes inherit."""
    return {
        "excluded_embed_metadata_keys": list(document.excluded_embed_metadata_keys),
        "excluded_llm_metadata_keys": list(document.excluded_llm_metadata_keys),
        "metadata_separator": document.metadata_separator,
        "metadata_template": document.metadata_template,
        "text_template": document.text_template,
    }


def _literal(text: str) -> str:
    """Escape the braces in ``text`` for use in a template."""
    return text.replace("{", "{{").replace("}", "}}")


class EmbedOnce(TransformComponent):
    """A pipeline step that embeds every text only once.

    If a document changes, a pipeline processes all of it again. Use this step in place of the
    embedding model: it stores each vector by the hash of its text, and calls the model only for
    texts without a stored vector.

    embed_model: the embedding model.
    store: the store for the vectors, with a collection for each model. To keep the vectors in a
        file, use ``SimpleKVStore.from_persist_path`` and ``persist``.
    """

    embed_model: SerializeAsAny[BaseEmbedding]
    store: BaseKVStore = Field(default_factory=SimpleKVStore, exclude=True)

    @classmethod
    def class_name(cls) -> str:
        """Return the name of this class in serialized pipelines."""
        return "EmbedOnce"

    def __call__(self, nodes: Sequence[BaseNode], **options: Any) -> Sequence[BaseNode]:
        """Set the embedding of each node, and return the nodes."""
        hashes, new = self._wanted(nodes)
        self._keep(new, self.embed_model.get_text_embedding_batch(list(new.values()), **options))
        return self._filled(nodes, hashes)

    async def acall(self, nodes: Sequence[BaseNode], **options: Any) -> Sequence[BaseNode]:
        """Set the embedding of each node, and return the nodes."""
        hashes, new = self._wanted(nodes)
        vectors = await self.embed_model.aget_text_embedding_batch(list(new.values()), **options)
        self._keep(new, vectors)
        return self._filled(nodes, hashes)

    @property
    def _collection(self) -> str:
        return f"vectors of {self.embed_model.model_name}"

    def _wanted(self, nodes: Sequence[BaseNode]) -> tuple[list[str], dict[str, str]]:
        """Return the hash of each node's embedded text, and the texts to embed by their hashes."""
        texts = [node.get_content(metadata_mode=MetadataMode.EMBED) for node in nodes]
        hashes = [content_hash(text) for text in texts]
        pairs = dict(zip(hashes, texts, strict=True)).items()
        return hashes, {key: text for key, text in pairs if self._known(key) is None}

    def _known(self, embed_hash: str) -> Any:
        return self.store.get(embed_hash, collection=self._collection)

    def _keep(self, new: Mapping[str, str], vectors: Sequence[Any]) -> None:
        for embed_hash, vector in zip(new, vectors, strict=True):
            self.store.put(embed_hash, {_VECTOR: vector}, collection=self._collection)

    def _filled(self, nodes: Sequence[BaseNode], hashes: Sequence[str]) -> Sequence[BaseNode]:
        for node, embed_hash in zip(nodes, hashes, strict=True):
            node.embedding = self._known(embed_hash)[_VECTOR]
        return nodes
