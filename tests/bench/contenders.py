"""Who is measured: the floor, chunkast in several configurations, other chunkers.

A contender is made anew for every round, so that nothing is remembered from one round to
the next. It chunks one text and gives the texts that would be embedded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from itertools import product
from typing import Any

from chunkast import Chunker

__all__ = ("FLOOR", "Contender", "chunkast_contenders", "default_name", "floor", "peers")

Chunk = Callable[[str], list[str]]

FLOOR = "tiktoken encode_ordinary"
# A model of each encoding, for libraries that ask for a model's name.
MODELS = {"cl100k_base": "gpt-4", "o200k_base": "gpt-4o"}


@dataclass(frozen=True, slots=True)
class Contender:
    """A name for the table, and how a fresh object comes to be."""

    name: str
    make: Callable[[], Chunk]


def floor(encoding: str) -> Contender:
    """Every text encoded once: what nobody who counts exactly can do without."""

    def make() -> Chunk:
        encode = import_module("tiktoken").get_encoding(encoding).encode_ordinary

        def chunk(text: str) -> list[str]:
            encode(text)
            return []

        return chunk

    return Contender(FLOOR, make)


def _chunkast_name(overlap: float, packing: str, context: str) -> str:
    return f"chunkast {packing}, overlap {overlap:g}, context {context}"


def default_name() -> str:
    """The name of the contender that has chunkast's own defaults."""
    return _chunkast_name(0.15, "sections", "headings")


def chunkast_contenders(budget: int, encoding: str) -> Iterator[Contender]:
    """Every packing, with and without overlap and context."""
    for packing, overlap, context in product(
        ("sections", "fill"), (0.15, 0.0), ("headings", "none")
    ):
        options = {"overlap": overlap, "packing": packing, "context": context}

        def make(options: dict[str, Any] = options) -> Chunk:
            chunker = Chunker(max_tokens=budget, encoding=encoding, **options)
            return lambda text: [chunk.embed_text for chunk in chunker.chunk(text)]

        yield Contender(_chunkast_name(overlap, packing, context), make)


def _semantic_text_splitter(module: Any, budget: int, overlap: int, encoding: str) -> Chunk:
    splitter = module.MarkdownSplitter.from_tiktoken_model(MODELS[encoding], budget, overlap)
    return lambda text: list(splitter.chunks(text))


def _langchain(module: Any, budget: int, overlap: int, encoding: str) -> Chunk:
    splitter = module.RecursiveCharacterTextSplitter
    separators = splitter.get_separators_for_language(module.Language.MARKDOWN)
    made = splitter.from_tiktoken_encoder(
        encoding,
        disallowed_special=(),
        separators=separators,
        is_separator_regex=True,
        chunk_size=budget,
        chunk_overlap=overlap,
    )
    return lambda text: list(made.split_text(text))


def _semchunk(module: Any, budget: int, overlap: int, encoding: str) -> Chunk:
    # Its memory of counts is part of the object, which is a fresh one each round.
    made = module.chunkerify(import_module("tiktoken").get_encoding(encoding), budget)
    return lambda text: list(made(text, overlap=overlap or None))


# Module, distribution and class of each peer, and how its chunker is made.
_PEERS: tuple[tuple[str, str, str, Callable[[Any, int, int, str], Chunk]], ...] = (
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
)


def peers(
    budget: int, encoding: str, skip: Callable[[str], None], overlap: int = 0
) -> Iterator[Contender]:
    """The other chunkers that are installed; ``skip`` hears of the rest."""
    for module_name, distribution, kind, make_peer in _PEERS:
        try:
            module = import_module(module_name)
            make_peer(module, budget, overlap, encoding)("# Title\n\nText.")
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, the others go on
            skip(f"{distribution} is left out: {type(error).__name__}: {error}")
            continue

        def make(
            module: Any = module, make_peer: Callable[[Any, int, int, str], Chunk] = make_peer
        ) -> Chunk:
            return make_peer(module, budget, overlap, encoding)

        yield Contender(f"{distribution} {version(distribution)}, {kind}", make)
