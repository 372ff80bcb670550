"""Token counts of texts, and of any span of a text, against tiktoken itself."""

from __future__ import annotations

from itertools import accumulate, pairwise, product
from typing import cast

import pytest
import regex
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken_ext.openai_public import r50k_pat_str  # type: ignore[import-untyped]

from chunkast import Chunker, count_tokens
from chunkast.tokens import index_of, resolve_counter
from chunkast.tokens.long_space import encoder
from chunkast.tokens.resolve import pretoken_count
from chunkast.tokens.vocabulary import BUNDLED
from tests.strategies import documents, nasty_text

HOSTILE = st.text(
    alphabet="aB1é中。,.'/_-` \t\n\r\x0b\x0c\x1c\x85\xa0\u2028\u0301\u200d👍½²ªǅ\u0902", max_size=60
)


def encode(name: str, text: str) -> int:
    return len(tiktoken.get_encoding(name).encode_ordinary(text))


# Words, digits, contractions, marks, symbols and white space of several scripts.
WORDS = "word Ünïcode ABCdef µ ÿ 12345 's 'LL 'Ve ’s Łódź слово ДА 中文 カー e\u0301 한글"
MARKS = "/ : -- _ … → ├── 👍 ⚠\ufe0f 。 \u200d"
SPACE = " word|\n|\r\n| |\t|\x0b|\x1c|\xa0|\u3000"
PIECES = [*WORDS.split(), *MARKS.split(), *SPACE.split("|")]
PIECED = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@given(PIECED | HOSTILE | documents() | nasty_text(), st.sampled_from(sorted(BUNDLED)))
def test_any_text_counts_as_tiktoken_counts_it(text: str, name: str) -> None:
    assert count_tokens(text, name) == encode(name, text)


# White space of which tiktoken's engine still manages as much.
LONG = (
    *(" " * 20_000 + "b", "7" * 70_000, "a b, " * 20_000, "中文、" * 30_000, "ก" * 70_000),
    "a" + " " * 20_000 + "b",
    ".\n\n" + " " * 20_000 + "\n" + "\t" * 18_000 + "x",
    "a\n\n" + " \n" * 10_000 + "  c" + " " * 20_000,
    "!" + "\r\n" * 9_000 + "\xa0" * 20_000,
    "x" + "\n" * 20_000 + "/y" + " " * 17_000 + "a" + "\t" * 17_000,
)


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize("text", LONG)
def test_a_long_text_counts_as_tiktoken_counts_it(name: str, text: str) -> None:
    assert count_tokens(text, name) == encode(name, text)


@pytest.mark.slow
def test_white_space_that_tiktoken_cannot_take() -> None:
    assert count_tokens("x" + " " * 1_000_000 + "x", "o200k_base") > 7_000


# What tiktoken takes for white space, and what may stand on either side: letters and digits
# that Python knows or not, punctuation, marks that belong to a word or to punctuation,
# slashes, surrogates alone and in pairs, and white space of Python or JavaScript alone.
SPACES = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2003\u200a\u2028\u2029\u202f\u205f\u3000"
BEFORE_SPACE = (
    *("", "a", "中", "\U00020000", "\U000323b0", "ǅ", "7", "½", "²", "a's", "'s", "_", "a\u0301"),
    *("!", " !", "/", "!\n/", "\x92", "\ue000", "\x1c", "\x1f", "\ufeff", "\u200b"),
    *("\u0301", "!\u0301", "!!\u0301", " !\u0301", "\t!\u0301", "1\u0301"),
    *("!!\n//\u0301", "\n//\u0301", "\ud83d", "\ud83d\ude00", "\ud840\udc00", "\udc00"),
)
AFTER_SPACE = (
    *("", "a", "!", "/", "/x", "//\n\n\n\n\n/x", "/    \n\n\n b", "x\n\n\n\n\n", "7", "'s"),
    *("\u0301", "\x1c", "\x1f", "\ufeff", "\ud840\udc00", "\udc00", "\U00020000"),
)
RUNS = (
    *(character * length for character in SPACES for length in (4, 5, 9)),
    *map("".join, product("\n \t\xa0", repeat=4)),
    *("".join(part) * 2 for part in product("\r\n \x85", repeat=3)),
)


def of_pattern(name: str) -> tiktoken.Encoding:
    """A bundled encoding, or one without a vocabulary in which pieces can be told apart."""
    if name in BUNDLED:
        return tiktoken.get_encoding(name)
    merges = (b"  ", b"\n\n", b"\t\t", b" \n", b"\n ", b"    ", b"\n\n\n\n", b"! ", b"!\n", b" a")
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {merge: 256 + number for number, merge in enumerate(merges)}
    return tiktoken.Encoding(name, pat_str=r50k_pat_str, mergeable_ranks=ranks, special_tokens={})


ENCODERS = {name: of_pattern(name) for name in (*sorted(BUNDLED), "r50k_base")}
ENCODE = {name: encoder(encoding, long=4) for name, encoding in ENCODERS.items()}
ALIKE = st.tuples(*map(st.sampled_from, (BEFORE_SPACE, RUNS, AFTER_SPACE))).map("".join)


@given(ALIKE | HOSTILE | nasty_text(), st.sampled_from([*ENCODERS]))
@settings(max_examples=4 * settings().max_examples)
def test_any_text_is_encoded_with_runs_apart(text: str, name: str) -> None:
    assert ENCODE[name](text) == ENCODERS[name].encode_ordinary(text)


@given(PIECED, st.sampled_from(sorted(BUNDLED)))
def test_pretokens_count_the_same_with_and_without_splitting(text: str, name: str) -> None:
    encoding = tiktoken.get_encoding(name)

    def split(pretoken: str) -> int:
        return len(encoding.encode_ordinary(pretoken))

    whole = pretoken_count(encoding, split)
    assert whole is not split, "this tiktoken has no call for a pre-token, so counting is slower"
    for pretoken in regex.findall(encoding._pat_str, text):
        assert whole(pretoken) == split(pretoken)


def test_without_a_call_for_pretokens_they_are_split() -> None:
    without = cast("tiktoken.Encoding", object())
    assert pretoken_count(without, len) is len


def test_special_tokens_are_ordinary_text() -> None:
    assert count_tokens("<|endoftext|>") == 7
    assert [chunk.text for chunk in Chunker().chunk("a <|endoftext|> b")] == ["a <|endoftext|> b"]


def test_an_encoding_of_ones_own_may_split_as_it_likes() -> None:
    own = tiktoken.Encoding(
        "cl100k_base",
        pat_str=r"[\s\S]",
        mergeable_ranks={bytes([byte]): byte for byte in range(256)},
        special_tokens={},
    )
    assert count_tokens("four", own) == 4
    assert all(
        chunk.token_count == len(chunk.text) <= 9
        for chunk in Chunker(max_tokens=9, encoding=own).chunk("Some words. " * 5)
    )


# Spans


@given(PIECED | HOSTILE | nasty_text(), st.sampled_from(sorted(BUNDLED)), st.data())
def test_any_span_counts_as_tiktoken_counts_it(text: str, name: str, data: st.DataObject) -> None:
    places = st.integers(0, len(text))
    lines = [at for at in range(1, len(text)) if text[at - 1] == "\n"]
    index = index_of(text, resolve_counter(name), lines)
    for _ in range(6):
        start, end = sorted((data.draw(places), data.draw(places)))
        assert index.count(start, end) == encode(name, text[start:end])


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_lines_with_any_number_of_spaces(name: str) -> None:
    spaces = [" " * size for size in range(140)]
    lines = [f"{each}a{each}/b\n{each[:3]}\n\n" for each in spaces]
    text = "".join(lines) + "  /"
    starts = [*accumulate(map(len, lines))]
    index = index_of(text, resolve_counter(name), starts)
    for start, end in pairwise([0, *starts, len(text)]):
        assert index.count(start, end) == encode(name, text[start:end])
    assert index.count(0, len(text)) == encode(name, text)


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_any_span_of_long_blocks(name: str) -> None:
    sentence = "It's a 2nd sentence, and_so on/off: `x`.\n"
    text = sentence * 60 + "\n" + "é" * 3_000 + "\n\n" + sentence * 5 + "\n" + sentence * 90
    index = index_of(text, resolve_counter(name), [text.index("é"), text.index("é\n") + 3])
    for start in range(0, len(text), 397):
        for length in (5, 16, 17, 40, 90, 1_000, 5_000):
            end = min(start + length, len(text))
            assert index.count(start, end) == encode(name, text[start:end])
