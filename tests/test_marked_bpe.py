"""Boundaries of BPE without pre-tokens, by small vocabularies made for each."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

from chunkast.tokens import resolve_counter
from chunkast.tokens.huggingface.boundaries import boundary_of
from chunkast.tokens.huggingface.inputs import BEFORE
from tests.hf import own_count

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
MARKED = normalizers.Replace(" ", "▁")
BEGUN = normalizers.Sequence([normalizers.Prepend("▁"), MARKED])


def made(
    *merged: str | tuple[str, ...],
    also: Sequence[str] = BYTES,
    without: str = "",
    added: Sequence[str | AddedToken] = (),
    normalizer: normalizers.Normalizer | None = BEGUN,
    splitter: pre_tokenizers.PreTokenizer | None = None,
    **settings: Any,
) -> Tokenizer:
    """A tokenizer of letters, and of what is merged of these, one after the other."""
    singles = {*string.ascii_lowercase, *"▁<>/;\n"}.difference(without)
    vocabulary = {each: number for number, each in enumerate(["[UNK]", *sorted(singles), *also])}
    merges = []
    for parts in merged:
        for end in range(2, len(parts) + 1):
            merges.append(("".join(parts[: end - 1]), parts[end - 1]))
            vocabulary.setdefault("".join(parts[:end]), len(vocabulary))
    settings = {"unk_token": "[UNK]", "fuse_unk": True, "byte_fallback": bool(also), **settings}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, **settings))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, splitter
    tokenizer.add_special_tokens([each for each in added if isinstance(each, str)])
    tokenizer.add_tokens([each for each in added if isinstance(each, AddedToken)])
    return tokenizer


def metaspace(scheme: str) -> dict[str, Any]:
    """Settings of a tokenizer whose pre-tokenizer marks spaces."""
    return {
        "normalizer": None,
        "splitter": pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False),
    }


# What is in the tokenizer, a text, and the pieces of the text between boundaries.
CASES = {
    "words": (made("▁a", "ab"), "ab ab  cd\n\n e ", ["ab", " ab", "  cd", "\n\n", " e", " "]),
    "runs of line ends": (made("\n\n\n"), "a\n\n\n\nb", ["a", "\n\n\n\n", "b"]),
    "line ends as bytes": (made(without="\n"), "a\né", ["a", "\n", "é"]),
    "what no token has beside others": (
        made("é中", also=[*BYTES, *"é中文"], added=["<s>"]),
        "a中中文 文<s>文\ud800\ud800字👍👍\n",
        ["a中中", "文", " ", "文", "<s>文", "\ud800\ud800", "字", "👍👍", "\n"],
    ),
    "one of these added": (
        made("▁a", added=["文"]),
        "字文字a文",
        ["字", "文字", "a文"],
    ),
    "a line end after a sign": (made(";\n"), "a;\n;b c", ["a;\n;b", " c"]),
    "a line end before marks": (made("\n▁▁"), "a\n  b c", ["a\n  b", " c"]),
    "a sign before a mark": (made(">▁<"), "a> <b> c d\ne", ["a> <b> c", " d", "\n", "e"]),
    "a mark in the text": (made("▁▁"), "a▁ b c", ["a▁ b", " c"]),
    "at the end of a text": (made(">▁<"), "a>  ", ["a>  "]),
    "unknown ones": (made(also=(), without="\n"), "é\né éa é", ["é\né", " éa", " é"]),
    "unknown bytes": (made(also=BYTES[:9], without="\n"), "é\né b", ["é\né", " b"]),
    "bytes that are not used": (made(byte_fallback=False, without="\n"), "é\né", ["é\né"]),
    "an added token": (
        made("▁a", added=["<s>"]),
        "a<s>\na<s> a\na",
        ["a<s>\n", "a<s> a", "\n", "a"],
    ),
    "nothing put after an added token": (
        made("▁a", added=["<s>"], normalizer=MARKED),
        "a<s>\na<s> a",
        ["a<s>", "\n", "a<s>", " a"],
    ),
    "after what is not merged": (
        made("ab", added=["<s>"], normalizer=MARKED),
        "a\nb<s> c",
        ["a", "\n", "b<s>", " c"],
    ),
    "line ends added": (made("▁a", added=["\n\n"]), "a\n\na b", ["a\n\na", " b"]),
    "white space taken": (
        made("▁a", added=[AddedToken("<s>", lstrip=True)]),
        "a\n <s>a b",
        ["a\n <s>a", " b"],
    ),
    "an added token of words": (made(added=[";▁>", "x\ny"]), "a; >x\nyz b", ["a; >x\nyz", " b"]),
    "marks added": (
        made("▁a", added=[AddedToken("▁▁", normalized=True)]),
        "a   a b",
        ["a", "   a", " b"],
    ),
    "Metaspace": (
        made("▁a", added=["<s>"], **metaspace("always")),
        " a<s>\na a<s> a",
        [" a<s>\n", "a", " a<s> a"],
    ),
    "Metaspace, the first word": (
        made("▁a", added=["<s>"], **metaspace("first")),
        "a<s>\na ▁a<s> a",
        ["a<s>", "\n", "a", " ▁a<s>", " a"],
    ),
    "Metaspace, no word": (
        made("▁a", **metaspace("never")),
        "a\na a",
        ["a", "\n", "a", " a"],
    ),
    "Metaspace that splits": (
        made("▁a", added=["<s>"], normalizer=None, splitter=pre_tokenizers.Metaspace()),
        "a\na<s> a",
        ["a\na<s>", " a"],
    ),
    "characters that are known": (
        made("ab", also=[*BYTES, "\ufffe", "\ue000"]),
        "a\nab \ufffe",
        ["a", "\n", "ab", " \ufffe"],
    ),
    "a private character beside a letter": (
        made("\ue000a", also=[*BYTES, "\ue000"], added=["<s>"]),
        "b\na<s> c",
        ["b\na<s> c"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_pieces_count_what_the_tokenizer_counts(case: str) -> None:
    tokenizer, text, pieces = CASES[case]
    boundary, count = boundary_of(tokenizer), own_count(tokenizer)
    assert boundary is not None
    assert boundary.split(text) == pieces
    counter = resolve_counter(tokenizer)
    for end in range(len(text) + 1):
        assert counter.count(text[:end]) == count(text[:end]), text[:end]
        assert counter.count(text[end:]) == count(text[end:]), text[end:]


def test_most_pieces_are_asked_of_the_model_alone() -> None:
    tokenizer = made(added=["<s>", AddedToken("▁▁", normalized=True)])
    boundary = boundary_of(tokenizer)
    assert boundary is not None
    assert boundary.inputs.first("b") == ["▁b"]
    assert boundary.inputs.later(" b\ud800") == ["▁b\ufffd"]
    assert boundary.inputs.later("    b") is None
    assert boundary.inputs.later("b<s>") is None


def test_a_splitter_at_spaces_finds_none() -> None:
    tokenizer = made(splitter=pre_tokenizers.Split(" ", behavior="merged_with_previous"))
    boundary = boundary_of(tokenizer)
    assert boundary is not None
    assert boundary.split("a b\nc") == ["a", " b", "\n", "c"]
    assert boundary.before != BEFORE


@pytest.mark.parametrize(
    "tokenizer",
    [
        made("a▁b"),
        made(without="▁"),
        made("a\ufffeb", also=[*BYTES, "\ufffe"]),
        made(("<0xC3>", "<0xA9>", "▁")),
        made(dropout=0.1),
        made(ignore_merges=True),
        made(continuing_subword_prefix="##"),
        made(end_of_word_suffix="</w>"),
        made(normalizer=normalizers.Sequence([normalizers.NFKC(), MARKED])),
        made(normalizer=normalizers.Replace("a", "b")),
        made(splitter=pre_tokenizers.Split(" ", behavior="isolated", invert=True)),
        made(splitter=pre_tokenizers.Split("b", behavior="isolated")),
        made(splitter=pre_tokenizers.Metaspace(split=False)),
        made(normalizer=None, splitter=pre_tokenizers.Metaspace("_", split=False)),
        made(
            normalizer=None,
            splitter=pre_tokenizers.Sequence(
                [
                    pre_tokenizers.Metaspace(split=False),
                    pre_tokenizers.Split(" ", behavior="isolated"),
                ]
            ),
        ),
    ],
)
def test_where_no_boundary_is_known(tokenizer: Tokenizer) -> None:
    assert boundary_of(tokenizer) is None


def test_another_model_without_a_splitter() -> None:
    tokenizer = Tokenizer(models.Unigram([("[UNK]", 0.0), ("▁", -1.0), ("a", -1.0)], 0))
    tokenizer.normalizer = BEGUN
    assert boundary_of(tokenizer) is None
