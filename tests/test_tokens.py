"""Token counts of long and hostile texts, against tiktoken; bundled vocabularies."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from unittest.mock import patch

import pytest
import regex
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tiktoken_ext.openai_public import r50k_pat_str  # type: ignore[import-untyped]

from chunkast import Chunker, count_tokens
from chunkast.text.source_map import line_starts
from chunkast.tokens import Counter, resolve_counter
from chunkast.tokens.index import TokenIndex
from chunkast.tokens.long_space import encoder
from chunkast.tokens.pretokens import CLASSES, KNOWN, PretokenCounter
from chunkast.tokens.vocabulary import BUNDLED, VOCABULARY, load_encoding
from tests.strategies import documents, nasty_text
from tests.test_linear import TIME_LIMIT, time_growth

ENCODINGS = st.sampled_from(["cl100k_base", "o200k_base"])
HOSTILE = st.text(
    alphabet="aB1é中。,.'/_-` \t\n\r\x0b\x0c\x1c\x85\xa0\u2028\u0301\u200d👍½²ªǅ\u0902", max_size=60
)


def encode(name: str, text: str) -> int:
    resolve_counter(name)
    return len(tiktoken.get_encoding(name).encode_ordinary(text))


@given(st.one_of(HOSTILE, documents(), nasty_text()), ENCODINGS, st.data())
def test_the_index_counts_as_tiktoken_does(text: str, name: str, data: st.DataObject) -> None:
    index = TokenIndex(text, resolve_counter(name), line_starts(text)[1:-1])
    place = st.integers(0, len(text))
    for _ in range(8):
        start, end = sorted((data.draw(place), data.draw(place)))
        assert index.count(start, end) == encode(name, text[start:end])
    estimates = [index.estimate(position) for position in range(len(text) + 1)]
    assert estimates == sorted(estimates)


@given(HOSTILE.map(lambda text: text * 90), ENCODINGS, st.data())
def test_the_index_counts_in_blocks_with_inner_anchors(
    text: str, name: str, data: st.DataObject
) -> None:
    index = TokenIndex(text, resolve_counter(name), [])
    place = st.integers(0, len(text))
    for _ in range(3):
        start, end = sorted((data.draw(place), data.draw(place)))
        assert index.count(start, end) == encode(name, text[start:end])


SYMBOLS = r"\p{P}\p{S}\p{Cf}"
LETTERS = (
    "word",
    " word",
    "Ünïcode",
    "ABCdef",
    "µ",
    "ÿ",
    "12345",
    "'s",
    "'LL",
    "'Ve",
    "’s",
    "Łódź",
    "слово",
    "ДА",
    "中文",
    "カー",
    "e\u0301",
    "한글",
)
MARKS = (
    "/",
    ":",
    "--",
    "_",
    "…",
    "→",
    "├──",
    "👍",
    "\n",
    "\r\n",
    " ",
    "\t",
    "\x0b",
    "\x1c",
    "\xa0",
    "\u3000",
    "⚠\ufe0f",
    "。",
    "\u200d",
)
KNOWN_TEXT = st.text(st.from_regex(f"[{KNOWN}]", fullmatch=True)) | st.lists(
    st.sampled_from((*LETTERS, *MARKS)), max_size=40
).map("".join)


def remembers_pieces(counter: Counter) -> bool:
    return isinstance(getattr(counter.count, "__self__", None), PretokenCounter)


@given(KNOWN_TEXT | HOSTILE, st.sampled_from(sorted(BUNDLED)))
def test_remembered_pieces_count_as_tiktoken_does(text: str, name: str) -> None:
    counter = resolve_counter(name)
    # False would be an encoding whose pattern is no longer the one written in pieces.py:
    # counts are still right then, from the encoding alone, but take longer.
    assert remembers_pieces(counter)
    assert counter.count(text) == encode(name, text)
    assert counter.token_ends is not None
    ends = list(counter.token_ends(text, 7))
    assert len(ends) == encode(name, text)
    assert all(7 < end <= 7 + len(text) for end in ends)


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize(
    "text", [" " * 20_000 + "b", "7" * 70_000, "a b, " * 20_000, "中文、" * 30_000, "ก" * 70_000]
)
def test_remembered_pieces_of_a_long_text(name: str, text: str) -> None:
    counter = resolve_counter(name)
    assert counter.token_ends is not None
    shorter = text[-len(text) // 20 :]
    text = text[:-1] + shorter
    assert counter.count(text) == encode(name, text)
    assert sum(1 for _ in counter.token_ends(text, 0)) == encode(name, text)


def test_known_characters_are_what_they_are_taken_for() -> None:
    of_class = {name: regex.compile(f"[{name}]") for name in CLASSES}
    for name, characters in CLASSES.items():
        listed = re.compile(f"[{characters}]")
        for character in filter(listed.match, map(chr, range(0x110000))):
            classes = [other for other, pattern in of_class.items() if pattern.match(character)]
            # Of symbols it matters alone that they are in no other class; some are to come.
            assert classes in ([name], [] if name == SYMBOLS else [name]), hex(ord(character))


@given(st.one_of(HOSTILE, documents()), ENCODINGS)
def test_the_index_counts_without_remembered_pieces(text: str, name: str) -> None:
    with patch("chunkast.tokens.resolve.by_pretokens", lambda _encoding, others: others):
        counter = resolve_counter(load_encoding(name))
    assert not remembers_pieces(counter)
    positions = line_starts(text)[1:-1]
    with_pieces = TokenIndex(text, resolve_counter(name), positions)
    assert with_pieces.exact == TokenIndex(text, counter, positions).exact


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize(
    "text",
    [
        "a" + " " * 20_000 + "b",
        ".\n\n" + " " * 20_000 + "\n" + "\t" * 18_000 + "x",
        "a\n\n" + " \n" * 10_000 + "  c" + " " * 20_000,
        "!" + "\r\n" * 9_000 + "\xa0" * 20_000,
        "x" + "\n" * 20_000 + "/y" + " " * 17_000 + "a" + "\t" * 17_000,
    ],
)
def test_long_white_space_counts_as_tiktoken_counts_it(name: str, text: str) -> None:
    """Where tiktoken still manages these; from a few hundred thousand on its engine overflows."""
    assert count_tokens(text, name) == encode(name, text)


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
        resolve_counter(name)
        return tiktoken.get_encoding(name)
    merges = (b"  ", b"\n\n", b"\t\t", b" \n", b"\n ", b"    ", b"\n\n\n\n", b"! ", b"!\n", b" a")
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {merge: 256 + number for number, merge in enumerate(merges)}
    return tiktoken.Encoding(name, pat_str=r50k_pat_str, mergeable_ranks=ranks, special_tokens={})


@pytest.mark.slow
@pytest.mark.parametrize("name", [*sorted(BUNDLED), "pattern of r50k"])
def test_runs_of_white_space_are_encoded_as_tiktoken_encodes_them(name: str) -> None:
    encoding = of_pattern(name)
    encode_apart = encoder(encoding, long=4)
    for before, run, after in product(BEFORE_SPACE, RUNS, AFTER_SPACE):
        text = before + run + after
        assert encode_apart(text) == encoding.encode_ordinary(text), repr(text)


@given(HOSTILE | nasty_text(), st.sampled_from([*sorted(BUNDLED), "pattern of r50k"]))
def test_any_text_is_encoded_with_runs_apart(text: str, name: str) -> None:
    encoding = of_pattern(name)
    assert encoder(encoding, long=4)(text) == encoding.encode_ordinary(text)


@pytest.mark.parametrize("name", sorted(BUNDLED))
@pytest.mark.parametrize("before", ["Done \ue000.", "\x92", "\U00020000", "\ud800!", "\ue000!\n/"])
@pytest.mark.parametrize("after", ["", "/", "x"])
def test_unknown_characters_before_line_ends_alone(name: str, before: str, after: str) -> None:
    text = before + "\n" * 16_384 + after
    assert count_tokens(text, name) == encode(name, text)
    Chunker(encoding=name).chunk(text)


def test_runs_that_are_not_long_enough_are_looked_at_once() -> None:
    def counted(text: str) -> int:
        return count_tokens(text + "\ue000")

    def build(size: int) -> str:
        return "\t" * (size // 2) + "x" + "\t" * (size // 2)

    assert time_growth(counted, build, 8_000) <= TIME_LIMIT


def test_letters_and_digits_of_python_are_those_of_tiktoken() -> None:
    """What the proofs of ``tokens/index.py`` take for granted, for every character."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    characters = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))

    def found(pattern: str) -> set[str]:
        encoding = tiktoken.Encoding(
            "characters", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
        )
        return {*encoding.decode(encoding.encode_ordinary(characters))}

    words, spaces = found(r"[\p{L}\p{N}]"), found(r"\s")
    assert {character for character in characters if character.isalnum()} <= words
    assert {*SPACES} <= spaces <= {character for character in characters if character.isspace()}


def test_special_tokens_are_ordinary_text() -> None:
    assert count_tokens("<|endoftext|>") == 7
    assert [chunk.text for chunk in Chunker().chunk("a <|endoftext|> b")] == ["a <|endoftext|> b"]


def fresh(code: str, **environment: str) -> str:
    """What ``code`` prints in a fresh interpreter without any proxy or network."""
    dead = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    kept = {k: v for k, v in os.environ.items() if k not in ("TIKTOKEN_CACHE_DIR", "NO_PROXY")}
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**kept, **dead, **environment},
        timeout=600,
    )
    return run.stdout.strip()


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_bundled_encodings_need_no_network_and_no_cache(name: str, tmp_path: Path) -> None:
    code = f"import chunkast; print(chunkast.count_tokens('hello world', {name!r}))"
    assert fresh(code, TMPDIR=str(tmp_path)) == "2"
    assert not list(tmp_path.iterdir())


def test_the_users_own_cache_is_used_and_left_alone(tmp_path: Path) -> None:
    name = BUNDLED["cl100k_base"]
    (tmp_path / name).write_bytes((VOCABULARY / name).read_bytes())
    code = (
        "import os, chunkast; chunkast.count_tokens('x'); chunkast.count_tokens('x', 'o200k_base');"
        "print(os.environ['TIKTOKEN_CACHE_DIR'])"
    )
    assert fresh(code, TIKTOKEN_CACHE_DIR=str(tmp_path)) == str(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
