"""The contenders: the floor, chunkast in several configurations, other chunkers.

A contender is made anew for every round, so that nothing is remembered from one round to
the next. It chunks one text and gives the texts that would be embedded; asked for its
places, it gives the chunks' own texts with the positions that its objects state.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from typing import Any, NamedTuple

import tiktoken

from chunkast import Chunker

__all__ = (
    "FLOOR",
    "Chunk",
    "Contender",
    "Place",
    "chunkast_contenders",
    "floor",
    "named",
    "own_name",
    "peers",
    "warm_up",
)

Chunk = Callable[[str], list[str]]
# Start and end in code points, as far as the library has them, and the chunk's own text.
Place = tuple[int | None, int | None, str]


class ChunkFunctions(NamedTuple):
    """Two functions of one chunker: texts to embed, and chunks with their positions."""

    chunk: Chunk
    places: Callable[[str], list[Place]]


FLOOR = "tiktoken encode_ordinary"
# A model of each encoding, for libraries that ask for a model's name.
MODELS = {"cl100k_base": "gpt-4", "o200k_base": "gpt-4o"}


@dataclass(frozen=True, slots=True)
class Contender:
    """A chunker to measure: its name, a factory, and whether it may fail on a text."""

    name: str
    make: Callable[[], ChunkFunctions]
    may_fail: bool = False


def warm_up(contenders: Iterable[Contender]) -> None:
    """Trigger lazy loading, and exclude what was loaded from garbage collection.

    Otherwise every collection walks through what all the peers have imported, and who
    makes many objects pays for it.
    """
    for contender in contenders:
        contender.make().chunk("# Title\n\nText.\n")
    gc.collect()
    gc.freeze()


def floor(encoding: str) -> Contender:
    """Return the floor: encode every text once."""

    def make() -> ChunkFunctions:
        encode = tiktoken.get_encoding(encoding).encode_ordinary

        def chunk(text: str) -> list[str]:
            encode(text)
            return []

        return ChunkFunctions(chunk, lambda _: [])

    return Contender(FLOOR, make)


def own_name(packing: str, overlap: float, context: str) -> str:
    """Return the name of chunkast with these options."""
    return f"chunkast {packing}, overlap {overlap:g}, context {context}"


def chunkast_contenders(budget: int, encoding: str) -> Iterator[Contender]:
    """Yield every packing, with and without overlap and context."""
    for packing, overlap, context in product(
        ("sections", "fill"), (0.15, 0.0), ("headings", "none")
    ):
        options = {"overlap": overlap, "packing": packing, "context": context}

        def make(options: dict[str, Any] = options) -> ChunkFunctions:
            # Given the encoding itself, it remembers no piece of a text from an earlier round.
            known = tiktoken.get_encoding(encoding)
            chunker = Chunker(max_tokens=budget, encoding=known, **options)
            return ChunkFunctions(
                lambda text: [chunk.embed_text for chunk in chunker.chunk(text)],
                lambda text: [
                    (chunk.start_index, chunk.end_index, chunk.text)
                    for chunk in chunker.chunk(text)
                ],
            )

        yield Contender(own_name(packing, overlap, context), make)


def _semantic_text_splitter(
    module: Any, budget: int, overlap: int, encoding: str
) -> ChunkFunctions:
    splitter = module.MarkdownSplitter.from_tiktoken_model(MODELS[encoding], budget, overlap)
    return ChunkFunctions(
        lambda text: list(splitter.chunks(text)),
        lambda text: [(start, None, chunk) for start, chunk in splitter.chunk_indices(text)],
    )


def _langchain(module: Any, budget: int, overlap: int, encoding: str) -> ChunkFunctions:
    splitter = module.RecursiveCharacterTextSplitter
    separators = splitter.get_separators_for_language(module.Language.MARKDOWN)
    made = splitter.from_tiktoken_encoder(
        encoding,
        disallowed_special=(),
        add_start_index=True,  # read by create_documents alone
        separators=separators,
        is_separator_regex=True,
        chunk_size=budget,
        chunk_overlap=overlap,
    )
    return ChunkFunctions(
        lambda text: list(made.split_text(text)),
        lambda text: [
            (document.metadata["start_index"], None, document.page_content)
            for document in made.create_documents([text])
        ],
    )


def _semchunk(module: Any, budget: int, overlap: int, encoding: str) -> ChunkFunctions:
    # Its memory of counts is part of the object, which is a fresh one each round.
    made = module.chunkerify(tiktoken.get_encoding(encoding), budget)

    def places(text: str) -> list[Place]:
        chunks, offsets = made(text, offsets=True, overlap=overlap or None)
        return [(start, end, chunk) for chunk, (start, end) in zip(chunks, offsets, strict=True)]

    return ChunkFunctions(lambda text: list(made(text, overlap=overlap or None)), places)


def _chonkie(module: Any, budget: int, overlap: int, encoding: str) -> ChunkFunctions:
    ordinary = _without_special_tokens(encoding)
    level = module.RecursiveLevel
    headings = [f"\n{'#' * depth} " for depth in range(1, 7)]
    # As in its documentation for Markdown; its own recipe needs a download.
    rules = module.RecursiveRules(
        [
            level(delimiters=headings, include_delim="next"),
            level(delimiters=["\n\n"]),
            level(delimiters=["\n"]),
            level(delimiters=[". ", "! ", "? ", "。", "！", "？"]),
            level(whitespace=True),
            level(),
        ]
    )
    made = module.RecursiveChunker(tokenizer=ordinary, chunk_size=budget - overlap, rules=rules)
    refine = (
        module.OverlapRefinery(tokenizer=ordinary, context_size=overlap, method="prefix")
        if overlap
        else list
    )

    def chunks(text: str) -> list[Any]:
        return list(refine(made.chunk(text)))

    return ChunkFunctions(
        lambda text: [chunk.text for chunk in chunks(text)],
        lambda text: [(chunk.start_index, chunk.end_index, chunk.text) for chunk in chunks(text)],
    )


@cache
def _without_special_tokens(encoding: str) -> Any:
    """Return the encoding without special tokens, for libraries that call ``encode``.

    One for all rounds: it remembers no text, and is slow to make.
    """
    known = tiktoken.get_encoding(encoding)
    return tiktoken.Encoding(
        encoding,
        pat_str=known._pat_str,
        mergeable_ranks=known._mergeable_ranks,
        special_tokens={},
    )


def _llama_index(module: Any, budget: int, overlap: int, encoding: str) -> ChunkFunctions:
    parsers = import_module("llama_index.core.node_parser")
    encode = tiktoken.get_encoding(encoding).encode_ordinary
    sections = parsers.MarkdownNodeParser()
    sentences = parsers.SentenceSplitter(chunk_size=budget, chunk_overlap=overlap, tokenizer=encode)
    embedded = module.schema.MetadataMode.EMBED

    def chunk(text: str) -> list[str]:
        nodes = sections.get_nodes_from_documents([module.Document(text=text)])
        cut = sentences.get_nodes_from_documents(nodes)
        return [node.get_content(metadata_mode=embedded) for node in cut]

    def places(text: str) -> list[Place]:
        # The second parser counts from the start of the section that the first one made, so
        # that both positions have to be added up, section by section.
        found: list[Place] = []
        for section in sections.get_nodes_from_documents([module.Document(text=text)]):
            base = section.start_char_idx
            for node in sentences.get_nodes_from_documents([section]):
                start, end = node.start_char_idx, node.end_char_idx
                if base is None or start is None or end is None:
                    found.append((None, None, node.text))
                else:
                    found.append((base + start, base + end, node.text))
        return found

    return ChunkFunctions(chunk, places)


def _md_chunker(module: Any, budget: int, _overlap: int, _encoding: str) -> ChunkFunctions:
    # It counts characters, and has no overlap; a token of English has about four. By default it
    # drops front matter, imports and comments.
    config = module.ChunkConfig(max_chars=4 * budget, min_chars=budget, skip_kinds=())
    made = module.Chunker(config)
    return ChunkFunctions(
        lambda text: [chunk.content for chunk in made.split_text(text)],
        lambda text: [(chunk.start, chunk.end, chunk.text) for chunk in made.split_text(text)],
    )


# Module, distribution and class of each peer, and how its chunker is made.
_PEERS: tuple[tuple[str, str, str, Callable[[Any, int, int, str], ChunkFunctions]], ...] = (
    (
        "semantic_text_splitter",
        "semantic-text-splitter",
        "MarkdownSplitter",
        _semantic_text_splitter,
    ),
    (
        "langchain_text_splitters",
        "langchain-text-splitters",
        "Recursive, Markdown",
        _langchain,
    ),
    ("semchunk", "semchunk", "chunkerify", _semchunk),
    ("chonkie", "chonkie", "Recursive, Markdown rules", _chonkie),
    ("llama_index.core", "llama-index-core", "Markdown, Sentence", _llama_index),
    ("langchain_md_chunker", "langchain-md-chunker", "four characters a token", _md_chunker),
)


def peers(
    budget: int, encoding: str, skip: Callable[[str], object], overlap: int = 0
) -> Iterator[Contender]:
    """Yield the other chunkers that are installed and work; ``skip`` is called for the rest."""
    for contender in _peers(budget, encoding, skip, overlap):
        try:
            contender.make().chunk("# Title\n\nText.")
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, the others go on
            skip(f"{contender.name} is left out: {type(error).__name__}: {error}")
            continue
        yield contender


def named(name: str, budget: int, encoding: str) -> Contender:
    """Return the contender of this name without importing another peer."""
    everyone = (
        floor(encoding),
        *chunkast_contenders(budget, encoding),
        *_peers(budget, encoding, lambda _: None, 0),
    )
    return next(contender for contender in everyone if contender.name == name)


def _peers(
    budget: int, encoding: str, skip: Callable[[str], object], overlap: int
) -> Iterator[Contender]:
    """Yield the other chunkers that are installed, without importing them."""
    for module_name, distribution, kind, make_peer in _PEERS:
        try:
            name = f"{distribution} {version(distribution)}, {kind}"
        except PackageNotFoundError:
            skip(f"{distribution} is not installed")
            continue

        def make(
            module_name: str = module_name,
            make_peer: Callable[[Any, int, int, str], ChunkFunctions] = make_peer,
        ) -> ChunkFunctions:
            return make_peer(import_module(module_name), budget, overlap, encoding)

        yield Contender(name, make, may_fail=True)
