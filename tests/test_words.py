"""Counts of words and of parts, against the tokenizers that they stand in for."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from chunkast.tokens import index_of, resolve_counter
from chunkast.tokens.huggingface import byte_level as patterns
from tests.hf import FAMILIES, own_count, train
from tests.strategies import nasty_text

# What a tokenizer may take for a part of a word, for a mark on one, for white space or for nothing.
PARTS = (
    *("word", "Wörd", "ŉĿ", "A1", "1a", "don't", "DON'T", "'s", "x" * 120, "한국", "\u1100\u1161"),
    *("中文字", "テスト", "[CLS]", "＜x＞", "＜ｘ＞", "[CLS", "]", "[UNK]", "[SEP]", "<s>", "</s>"),
    *("<mask>", "<x>", "<|end|>", "a|>"),
    *("İ", "ΐ", "ﬁ", "½", "ß", "ª", "ﷺ", "ͺ", "ﹰ", "ﾞ", "ൎ", "\u212b", "\u0958", "\u0958,", "é,"),
    *("a\u0301", "\u0301", "\u302e", "\u0327", "e\u0301\n", "<\u0338", "नमस्ते", "ก็", "مرحبا"),
    *("、", "。", "…", ".", "'", ",", "!!", "-", "/", "_", "▁", "a▁b", "〈", "123", "1,000.5"),
    *(" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "\r", "\xa0", "\u3000", "\x85", "\u2028"),
    *(
        "\u200b",
        "\xad",
        "\u2000",
        "\u180e",
        "\ufeff",
        "\x0b",
        "\x0c",
        "\x1c",
        "\0",
        "\x7f",
        "\ufffd",
    ),
    *("\ud83d", "\udc00", "👍", "👨\u200d👩", "\ue000", "\U00020000", "\U0001f1e6"),
)
HOSTILE = st.lists(st.sampled_from(PARTS), max_size=30).map("".join)


def byte_level(*patterns: str, spaced: bool = False, **splits: Any) -> pre_tokenizers.PreTokenizer:
    """A pre-tokenizer that splits by patterns, one after the other."""
    settings = splits or {"behavior": "isolated"}
    parts = [pre_tokenizers.Split(Regex(each), **settings) for each in patterns]
    last = pre_tokenizers.ByteLevel(add_prefix_space=spaced, use_regex=False)
    return pre_tokenizers.Sequence([*parts, last])


# Tokenizers of other settings than those of a family: the family, the part, and what it is instead.
VARIANTS: dict[str, tuple[str, str, Any]] = {
    "unknown characters": ("bpe of marked words", "model.byte_fallback", False),
    "Yi": (
        "bpe of marked words",
        "normalizer",
        normalizers.Sequence([normalizers.Replace(" ", "▁")]),
    ),
    "a space before": ("byte-level", "pre_tokenizer", pre_tokenizers.ByteLevel()),
    "Claude": ("byte-level", "normalizer", normalizers.NFKC()),
    "StarCoder": (
        "byte-level",
        "pre_tokenizer",
        pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False),
            ]
        ),
    ),
    "no form": ("byte-level", "normalizer", normalizers.Sequence([])),
    "Qwen": ("byte-level", "pre_tokenizer", byte_level(patterns._QWEN)),
    "GPT-4o": ("byte-level", "pre_tokenizer", byte_level(patterns._GPT_4O)),
    "Nemo": ("byte-level", "pre_tokenizer", byte_level(patterns._NEMO)),
    "spaces before words": (
        "byte-level",
        "pre_tokenizer",
        byte_level(patterns._QWEN, spaced=True),
    ),
    "what is matched": (
        "byte-level",
        "pre_tokenizer",
        byte_level(patterns._LLAMA_3, behavior="removed", invert=True),
    ),
    "DeepSeek": (
        "byte-level",
        "pre_tokenizer",
        byte_level(
            *(each.replace(r"\r", "\r").replace(r"\n", "\n") for each in patterns._DEEPSEEK)
        ),
    ),
    "cased": (
        "wordpiece",
        "normalizer",
        normalizers.BertNormalizer(lowercase=False, handle_chinese_chars=False),
    ),
    "marked words": (
        "unigram",
        "pre_tokenizer",
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]),
    ),
    "the first word is not marked": (
        "unigram",
        "pre_tokenizer",
        pre_tokenizers.Metaspace(prepend_scheme="never"),
    ),
    "marks and words": (
        "bpe of words",
        "pre_tokenizer",
        pre_tokenizers.Sequence([pre_tokenizers.Metaspace(), pre_tokenizers.Whitespace()]),
    ),
    "digits": (
        "bpe of words",
        "pre_tokenizer",
        pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Metaspace()]
        ),
    ),
}
# One of each way to find boundaries.
QUICK = (
    *("wordpiece", "unigram", "Claude", "DeepSeek", "a space before", "marks and words"),
    *("bpe of runs",),
)
# Line ends are boundaries in these, as long as no added token takes white space.
LINES = ("bpe of marked words", "bpe of runs")
KINDS = [*(name for name in FAMILIES if name != "bpe of spaces"), *VARIANTS]


@cache
def tokenizer_of(kind: str, *, added: bool) -> Tokenizer:
    """A tokenizer of the kind, as it is or with tokens that were added to it."""
    family, part, instead = VARIANTS.get(kind, (kind, "", None))
    tokenizer = Tokenizer.from_str(train(family).to_str())
    if part:
        *holder, name = part.split(".")
        setattr(attrgetter(*holder)(tokenizer) if holder else tokenizer, name, instead)
    if added:
        takes_space = kind not in LINES
        mask = AddedToken("<mask>", lstrip=takes_space)
        tokenizer.add_special_tokens([mask, "<s>", "</s>", "<|end|>"])
        # Where words are marked before they are split there is no boundary known after normalized ones.
        plain = kind == "marks and words"
        tokenizer.add_tokens(
            [AddedToken(each, normalized=not plain) for each in ("don't", "<x>", "中文")]
        )
        if "byte" in family:
            tokenizer.add_tokens(["  ", "    ", "\n\n"])
        if kind == "bpe of runs":
            runs = ("▁▁", "▁▁▁▁", "\n\n")
            tokenizer.add_tokens([AddedToken(run, normalized=False) for run in runs])
    return tokenizer


@given(HOSTILE | nasty_text(), st.sampled_from(KINDS), st.booleans(), st.data())
def test_words_count_as_the_tokenizer_counts_them(
    text: str, family: str, added: bool, data: st.DataObject
) -> None:
    text *= data.draw(st.sampled_from([1, 60]))
    tokenizer = tokenizer_of(family, added=added)
    counter, count = resolve_counter(tokenizer), own_count(tokenizer)
    index = index_of(text, counter, [])
    place = st.integers(0, len(text))
    for _ in range(6):
        start, end = sorted(data.draw(place) for _ in range(2))
        expected = count(text[start:end]) if start < end else 0
        assert index.count(start, end) == expected
        assert index.count_after("A > B\n\n", start, end) == count("A > B\n\n" + text[start:end])
    assert counter.count(text) == count(text)


@pytest.mark.parametrize("added", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize(
    "kind",
    [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS],
)
def test_every_part_beside_every_other(kind: str, added: bool) -> None:
    tokenizer = tokenizer_of(kind, added=added)
    counter, count = resolve_counter(tokenizer), own_count(tokenizer)
    for part in PARTS:
        text = "".join(f"\n{part}{other}. a{part}{other} 1{part}\n" for other in PARTS)
        assert counter.count(text) == count(text), part


def test_an_added_token_that_is_normalized_to_a_common_letter() -> None:
    tokenizer = Tokenizer.from_str(train("bpe of words").to_str())
    tokenizer.add_tokens(["Á"])
    counter, count = resolve_counter(tokenizer), own_count(tokenizer)
    text = "A map and a lamp. Á la carte, bring water."
    assert counter.count(text) == count(text)


def test_characters_that_are_normalized_to_several() -> None:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    vocabulary = {each: number for number, each in enumerate([*alphabet, "Â·", "Â·;"])}
    tokenizer = Tokenizer(models.BPE(vocabulary, [("Â", "·"), ("Â·", ";")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.add_tokens(["b,c"])
    counter, count = resolve_counter(tokenizer), own_count(tokenizer)
    for text in ("a Ŀ; a", "a b，c d", "a b,c d"):
        assert counter.count(text) == count(text), text


def test_added_tokens_with_all_punctuation() -> None:
    tokenizer = Tokenizer.from_str(train("byte-level").to_str())
    tokenizer.add_tokens([*string.punctuation])
    counter, count = resolve_counter(tokenizer), own_count(tokenizer)
    text = "Carry water (two litres), bread; and a map: all of it.\n\n- One\n"
    assert counter.count(text) == count(text)


@pytest.mark.parametrize("family", ["wordpiece", "byte-level", "unigram"])
@pytest.mark.parametrize("content", ["mask", "É"])
def test_an_added_token_of_letters(family: str, content: str) -> None:
    tokenizer = Tokenizer.from_str(train(family).to_str())
    tokenizer.add_tokens([content])
    counter, count = resolve_counter(tokenizer), own_count(tokenizer)
    for text in ("mask masks Mask unmasked e E É é E\u0301 [É] École", "a É", "É", "mask"):
        assert counter.count(text) == count(text)


@pytest.mark.slow
@pytest.mark.parametrize("family", KINDS)
def test_every_character_between_words(family: str) -> None:
    tokenizer = tokenizer_of(family, added=True)
    counter, count = resolve_counter(tokenizer), own_count(tokenizer)
    # Some at once, and few of those that are not assigned or private: all would take an hour.
    characters = [
        char
        for char in map(chr, range(0x110000))
        if unicodedata.category(char) not in ("Cn", "Co") or ord(char) % 16 == 0
    ]
    for first in range(0, len(characters), 32):
        each = characters[first : first + 32]
        text = "\n".join(f"a{char} b {char}, {char}\nb" for char in each)
        assert counter.count(text) == count(text), hex(ord(each[0]))


def mark_after_normalized(made: Tokenizer) -> None:
    """A mark is put before what follows an added token, and any letters may be normalized to that."""
    made.add_tokens(["<x>"])
    made.pre_tokenizer = VARIANTS["marks and words"][2]


# What is known of none of these: white space inside a token or taken with it, spaces that are
# joined to words or that words are made of, patterns and components of another's own.
@pytest.mark.parametrize(
    ("family", "change"),
    [
        ("wordpiece", lambda made: made.add_tokens(["two words"])),
        ("wordpiece", lambda made: made.add_tokens([AddedToken("<x>", rstrip=True)])),
        ("wordpiece", lambda made: made.add_tokens([AddedToken("<x>", single_word=True)])),
        ("byte-level", lambda made: made.add_tokens(["a"])),
        ("byte-level", lambda made: made.add_tokens(["two words"])),
        (
            "byte-level",
            lambda made: setattr(
                made,
                "pre_tokenizer",
                pre_tokenizers.Sequence(
                    [pre_tokenizers.Split("wo", "merged_with_next"), pre_tokenizers.ByteLevel()]
                ),
            ),
        ),
        (
            "byte-level",
            lambda made: setattr(
                made,
                "pre_tokenizer",
                byte_level(*patterns._DEEPSEEK, behavior="removed", invert=True),
            ),
        ),
        ("byte-level", lambda made: setattr(made, "normalizer", normalizers.NFKD())),
        (
            "byte-level",
            lambda made: setattr(
                made,
                "pre_tokenizer",
                pre_tokenizers.Sequence(
                    [
                        pre_tokenizers.Split(Regex(r"\S+\s*"), "isolated"),
                        pre_tokenizers.ByteLevel(use_regex=False),
                    ]
                ),
            ),
        ),
        (
            "unigram",
            lambda made: setattr(made, "normalizer", normalizers.Replace(Regex("a b"), " ")),
        ),
        ("unigram", lambda made: setattr(made, "normalizer", normalizers.Replace(" ", "_"))),
        ("unigram", lambda made: setattr(made, "pre_tokenizer", None)),
        ("bpe of words", lambda made: setattr(made, "pre_tokenizer", pre_tokenizers.Digits())),
        ("bpe of spaces", lambda _: None),
        ("bpe of words", mark_after_normalized),
    ],
)
def test_where_no_boundary_is_known(family: str, change: Callable[[Tokenizer], object]) -> None:
    tokenizer = Tokenizer.from_str(train(family).to_str())
    change(tokenizer)
    counter, count = resolve_counter(tokenizer), own_count(tokenizer)
    text = "one two words, a <x> b. " * 40
    index = index_of(text, counter, [])
    assert [index.count(start, 300) for start in range(290)] == [
        count(text[start:300]) for start in range(290)
    ]
