"""Counts of words and of parts, against the tokenizers that they stand in for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from chunkast.tokens import NOT_EXACT, Counter, index_of, resolve_counter
from chunkast.tokens import words as words_module
from chunkast.tokens.huggingface import byte_level as patterns
from chunkast.tokens.huggingface.boundaries import boundary_of
from chunkast.tokens.huggingface.inputs import PUNCTUATION
from chunkast.tokens.words import Words
from tests.hf import FAMILIES, own_count, train
from tests.strategies import nasty_text

# What a tokenizer may take for a part of a word, for a mark on one, for white space or for nothing.
PARTS = (
    *(
        "word",
        "Wörd",
        "ŉĿ",
        "A1",
        "1a",
        "don't",
        "DON'T",
        "'s",
        "x" * 120,
        "한국",
        "\u1100\u1161",
        "中文字",
        "テスト",
    ),
    *(
        "[CLS]",
        "＜x＞",
        "＜ｘ＞",
        "[CLS",
        "]",
        "[UNK]",
        "[SEP]",
        "<s>",
        "</s>",
        "<mask>",
        "<x>",
        "<|end|>",
        "a|>",
    ),
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
_FOLDER = Path(__file__).parents[1] / "fixtures" / "documents"
DOCUMENT = "".join(
    (_FOLDER / name).read_text("utf-8") for name in ("tutorial.md", "japanese.md", "latex-notes.md")
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
    assert counter.words is not None
    index = index_of(text, counter, [])
    place = st.integers(0, len(text))
    for _ in range(6):
        start, middle, end = sorted(data.draw(place) for _ in range(3))
        expected = count(text[start:end]) if start < end else 0
        if NOT_EXACT not in (index.base(start, middle), index.upto(end)):
            assert index.upto(end) - index.base(start, middle) == expected
        assert index.count(start, end) == expected
        assert index.count_after("A > B\n\n", start, end) == count("A > B\n\n" + text[start:end])
    assert counter.count(text) == count(text)
    estimates = [index.estimate(position) for position in range(len(text) + 1)]
    assert estimates == sorted(estimates)


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_what_the_model_is_given_of_a_piece(kind: str, added: bool) -> None:
    tokenizer = tokenizer_of(kind, added=added)
    boundary, count = boundary_of(tokenizer), own_count(tokenizer)
    assert boundary is not None
    pieces = dict.fromkeys(boundary.split(f"{DOCUMENT} {' '.join(PARTS)} {''.join(PARTS)}"))
    before = count(boundary.before)
    known = 0
    for piece in pieces:
        inputs = boundary.inputs.later(piece)
        if inputs is not None:
            known += 1
            given = sum(len(tokenizer.model.tokenize(each)) for each in inputs)
            assert given == count(boundary.before + piece) - before, piece
        inputs = boundary.inputs.first(piece)
        if inputs is not None:
            assert sum(len(tokenizer.model.tokenize(each)) for each in inputs) == count(piece), (
                piece
            )
    assert known > 0.8 * len(pieces)


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
    assert counter.words is not None
    assert counter.count(text) == count(text)


def test_characters_that_are_normalized_to_several() -> None:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    vocabulary = {each: number for number, each in enumerate([*alphabet, "Â·", "Â·;"])}
    tokenizer = Tokenizer(models.BPE(vocabulary, [("Â", "·"), ("Â·", ";")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.add_tokens(["b,c"])
    counter, count = resolve_counter(tokenizer), own_count(tokenizer)
    assert counter.words is not None
    for text in ("a Ŀ; a", "a b，c d", "a b,c d"):
        assert counter.count(text) == count(text), text


def test_added_tokens_with_all_punctuation() -> None:
    tokenizer = Tokenizer.from_str(train("byte-level").to_str())
    tokenizer.add_tokens([*PUNCTUATION])
    counter, count = resolve_counter(tokenizer), own_count(tokenizer)
    text = "Carry water (two litres), bread; and a map: all of it.\n\n- One\n"
    assert counter.words is not None
    assert counter.count(text) == count(text)


@pytest.mark.parametrize("family", ["wordpiece", "byte-level", "unigram"])
@pytest.mark.parametrize(("content", "piece"), [("mask", " unMasked"), ("É", " École")])
def test_an_added_token_of_letters(family: str, content: str, piece: str) -> None:
    tokenizer = Tokenizer.from_str(train(family).to_str())
    tokenizer.add_tokens([content])
    boundary = boundary_of(tokenizer)
    assert boundary is not None
    assert boundary.inputs.later(" word") is not None
    assert boundary.inputs.later(piece) is None
    counter, count = resolve_counter(tokenizer), own_count(tokenizer)
    for text in ("mask masks Mask unmasked e E É é E\u0301 [É] École", "a É", "É", "mask"):
        assert counter.count(text) == count(text)


@pytest.mark.slow
@pytest.mark.parametrize("family", KINDS)
def test_every_character_between_words(family: str) -> None:
    tokenizer = tokenizer_of(family, added=True)
    counter, count = resolve_counter(tokenizer), own_count(tokenizer)
    assert counter.words is not None
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
    assert boundary_of(tokenizer) is None
    counter, count = resolve_counter(tokenizer), own_count(tokenizer)
    text = "one two words, a <x> b. " * 40
    index = index_of(text, counter, [])
    assert counter.words is None
    assert [index.count(start, 300) for start in range(290)] == [
        count(text[start:300]) for start in range(290)
    ]


def letters(text: str) -> int:
    """As many tokens as letters, and one for the beginning of a text."""
    return 1 + sum(map(str.isalpha, text))


class Asked:
    """Words of letters, each with the white space before it; what was asked for is noted."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.pieces: list[str] = []
        self.words = Words(re.compile(r"(?<=\S)(?=\s)").split, self.first, self.later)

    def first(self, piece: str) -> int:
        self.texts.append(piece)
        return letters(piece)

    def later(self, piece: str) -> int:
        self.pieces.append(piece)
        return letters(piece) - 1


def test_each_piece_is_counted_once() -> None:
    asked = Asked()
    assert [asked.words.count("ab cd  ef cd") for _ in range(2)] == [9, 9]
    assert (asked.texts, asked.pieces) == (["ab"], [" cd", "  ef"])
    assert [asked.words.later(piece) for piece in (" cd", " gh", " gh")] == [2, 2, 2]
    assert asked.pieces[2:] == [" gh"]
    assert asked.words.count("") == 1
    # Long ones seldom come again.
    long = " " + "x" * 256
    assert [asked.words.later(long) for _ in range(2)] == [256, 256]
    assert asked.pieces[3:] == [long, long]


def test_a_long_text_is_taken_apart_bit_by_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words_module, "_SPLIT_AT_ONCE", 8)
    asked = Asked()
    text = "ab cdef ghijklmnopqrstu v w"
    assert asked.words.count(text) == letters(text)
    found = [piece for pieces, _ in asked.words.counts(text) for piece in pieces]
    assert found == ["ab", " cdef", " ghijklmnopqrstu", " v", " w"]
    assert asked.pieces == [" cdef", " ghijklmnopqrstu", " v", " w"]


def test_the_index_of_words_counts_ends_alone() -> None:
    asked = Asked()
    text = "ab cde " * 40
    index = index_of(
        text, Counter("letters", asked.words.count, words=asked.words, trusted=False), []
    )
    for start, end in ((0, 280), (1, 200), (3, 203), (2, 276), (5, 9), (9, 9)):
        assert index.count(start, end) == (letters(text[start:end]) if start < end else 0)
    assert index.count_after("x ", 1, 200) == letters("x " + text[1:200])
    assert max(map(len, asked.texts)) < 50
    assert index.exact.get(280) == letters(text)
    # Without estimates each is counted.
    assert index.at_most(0, 9) == float("inf")
    assert [index.is_within(0, 280, room) for room in (200, 201)] == [False, True]
    assert index.may_fit(0, 280, 1)
    counter = Counter("letters", asked.words.count, words=asked.words)
    trusted = index_of(text, counter, [])
    # No token has less than a character of ASCII; one may be put before the text.
    assert trusted.at_most(0, 280) == 281
    assert trusted.is_near(1, 200)
    # Those of all pieces that the span has a part of, one in 32 of them, and eight.
    trusted = index_of(text.replace("c", "ç"), counter, [])
    assert trusted.at_most(0, 280) == 201 + 201 // 32 + 8
    assert trusted.at_most(4, 9) == 3 + 2 + 8


def test_long_parts_of_pieces_are_estimated_and_remembered() -> None:
    asked = Asked()
    text = f"ab {'x' * 400} cd {'y' * 400}"
    index = index_of(text, Counter("letters", asked.words.count, words=asked.words), [])
    at = text.index("cd")
    asked.texts.clear()
    # Where such a part is at an end a count is made only if the room is near the estimate.
    assert index.is_within(10, at, 2_000)
    assert asked.texts == []
    assert [index.is_within(10, at, room) for room in (393, 394)] == [False, True]
    assert asked.texts == [text[10:403]]
    assert [index.count(10, at), index.count(0, 300)] == [394, 1 + 2 + 297]
    assert asked.texts == [text[10:403]]
    assert asked.pieces[3:] == [" ", text[2:300]]
    assert [index.base(10, at), index.upto(300)] == [NOT_EXACT] * 2
    # A boundary inside of it is needed for a difference.
    assert [index.base(0, end) for end in (0, 1, 2)] == [NOT_EXACT, NOT_EXACT, 0]
    assert index.upto(at + 1) - index.base(0, 2) == index.count(0, at + 1)


def test_a_boundary_in_the_white_space_at_an_end_is_none_of_the_span() -> None:
    words = Words(re.compile("(?=c)").split, letters, lambda piece: letters(piece) - 1)
    index = index_of("aab  cd", Counter("letters", words.count, words=words), [])
    assert [index.base(1, end) for end in (5, 6)] == [NOT_EXACT, 1]
    assert index.upto(6) - index.base(1, 6) == index.count(1, 6) == letters("ab  c")


def starts(text: str) -> Iterator[int]:
    return (match.start() for match in re.finditer(r"\S+", text))


def test_estimates_by_where_tokens_begin() -> None:
    text = "Some words of a line.\n" * 240
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return len(text.split())

    index = index_of(text, Counter("w", count, token_starts=starts), [])
    for start in range(0, 1_320, 22):
        for end in range(start + 22, 1_321, 22):
            tokens = 5 * (end - start) // 22
            assert index.at_most(start, end) == tokens + 8 + tokens // 32
            assert index.is_within(start, end, tokens + 20)
            assert not index.is_within(start, end, tokens - 20)
            assert not index.may_fit(start, end, tokens - 20)
            assert index.may_fit(start, end, tokens)
    assert asked == []
    assert [index.is_within(0, 660, room) for room in (149, 150)] == [False, True]
    assert index.count(0, 660) == 150
    assert asked == [text[:660]]
    assert [index.count(9, 9), index.count_after("a b ", 0, 22)] == [0, 7]
    exact = index_of(text, Counter("w", count, token_starts=starts, trusted=False), [])
    assert not exact.estimated


def test_estimates_that_are_off() -> None:
    more = [0]
    text = "some words " * 160
    counter = Counter("w", lambda text: len(text.split()) + more[0], token_starts=starts)
    near = []
    for more[0] in (-11, -10, 10, 11):
        near.append(index_of(text, counter, []).is_near(0, 440))
    # One in 32 of 80 tokens, and eight.
    assert near == [False, True, True, False]
