"""Tokenizers of the families that Hugging Face models have, trained small here."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

__all__ = ("FAMILIES", "UNKNOWN", "own_count", "train", "train_on")

_CORPUS: Final = Path(__file__).parents[1] / "fixtures" / "documents"
UNKNOWN: Final = "[UNK]"


def _wordpiece() -> tuple[Tokenizer, Any]:
    """BERT, MiniLM, BGE."""
    tokenizer = Tokenizer(models.WordPiece(unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer, trainers.WordPieceTrainer


def _byte_level() -> tuple[Tokenizer, Any]:
    """RoBERTa."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, trainers.BpeTrainer


def _unigram() -> tuple[Tokenizer, Any]:
    """XLM-R, e5, T5: compatibility forms composed, runs of spaces joined, words marked."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(r"[\n\r\t]"), " "),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer, trainers.UnigramTrainer


def _bpe_of_spaces() -> tuple[Tokenizer, Any]:
    """No pre-tokenizer, spaces marked by the normalizer, tokens of several words."""
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    return tokenizer, trainers.BpeTrainer


FAMILIES: Final[dict[str, Callable[[], tuple[Tokenizer, Any]]]] = {
    "wordpiece": _wordpiece,
    "byte-level": _byte_level,
    "unigram": _unigram,
    "bpe of spaces": _bpe_of_spaces,
}


@cache
def train(family: str) -> Tokenizer:
    """A small tokenizer of a family."""
    return train_on(
        [path.read_text("utf-8") for path in sorted(_CORPUS.glob("*.md"))[:12]], family, 1_000
    )


def train_on(texts: list[str], family: str, size: int) -> Tokenizer:
    """A tokenizer with ``size`` tokens, which adds [CLS] and [SEP] to a text as models read it."""
    tokenizer, trainer = FAMILIES[family]()
    special = [UNKNOWN, "[CLS]", "[SEP]"]
    settings: dict[str, Any] = {"vocab_size": size, "special_tokens": special}
    if isinstance(tokenizer.model, models.Unigram):
        settings["unk_token"] = UNKNOWN
    if family.startswith("byte"):
        settings["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
    if family == "bpe of spaces":
        # Without a pre-tokenizer, training takes each text for one word.
        texts = [" ".join(line.split()[:6]) for text in texts for line in text.splitlines()]
    tokenizer.train_from_iterator(texts, trainer(show_progress=False, **settings))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return tokenizer


def own_count(tokenizer: Tokenizer) -> Callable[[str], int]:
    """The tokenizer's own count of a text, all of it, without special tokens."""
    copy = Tokenizer.from_str(tokenizer.to_str())
    copy.no_truncation()
    copy.no_padding()

    def count(text: str) -> int:
        # Its engine takes no lone surrogates.
        known = "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in text)
        return len(copy.encode(known, add_special_tokens=False).ids)

    return count
