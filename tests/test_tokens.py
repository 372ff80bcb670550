"""Token counts of long and hostile texts, against tiktoken; bundled vocabularies."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken_ext.openai_public import r50k_pat_str  # type: ignore[import-untyped]

from chunkast import Chunker, count_tokens
from chunkast.tokens import resolve_counter
from chunkast.tokens.long_space import encoder
from chunkast.tokens.vocabulary import BUNDLED
from tests.strategies import documents, nasty_text
from tests.test_linear import TIME_LIMIT, time_growth

HOSTILE = st.text(
    alphabet="aB1é中。,.'/_-` \t\n\r\x0b\x0c\x1c\x85\xa0\u2028\u0301\u200d👍½²ªǅ\u0902", max_size=60
)


def encode(name: str, text: str) -> int:
    resolve_counter(name)
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


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize(
    "text", [" " * 20_000 + "b", "7" * 70_000, "a b, " * 20_000, "中文、" * 30_000, "ก" * 70_000]
)
def test_a_long_text_counts_as_tiktoken_counts_it(name: str, text: str) -> None:
    # Its end again, to see what was remembered.
    for each in (text[-len(text) // 20 :], text[:-1] + text[-len(text) // 20 :]):
        assert count_tokens(each, name) == encode(name, each)


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


ALIKE = st.tuples(*map(st.sampled_from, (BEFORE_SPACE, RUNS, AFTER_SPACE))).map("".join)


@given(ALIKE | HOSTILE | nasty_text(), st.sampled_from([*sorted(BUNDLED), "pattern of r50k"]))
@settings(max_examples=4 * settings().max_examples)
def test_any_text_is_encoded_with_runs_apart(text: str, name: str) -> None:
    encoding = of_pattern(name)
    assert encoder(encoding, long=4)(text) == encoding.encode_ordinary(text)


@pytest.mark.parametrize("name", sorted(BUNDLED))
@pytest.mark.parametrize(
    ("before", "after"), [("Done \ue000.", ""), ("\ud800!", "/"), ("\ue000!\n/", "x")]
)
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
