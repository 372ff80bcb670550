"""Token counts: the index against tiktoken, the counters, the bundled vocabularies."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import regex
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunker, ConfigError, count_tokens
from chunkast.text.source_map import line_starts
from chunkast.tokens import Counter, TokenIndex, resolve_counter
from chunkast.tokens.pieces import CLASSES, KNOWN, Pieces
from chunkast.tokens.vocabulary import BUNDLED, VOCABULARY
from tests.strategies import documents, nasty_text

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
    return isinstance(getattr(counter.count, "__self__", None), Pieces)


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


def test_more_pieces_than_are_remembered() -> None:
    count = resolve_counter("cl100k_base").count
    texts = [" ".join(f"{prefix}{number:x}q" for number in range(70_000)) for prefix in "ab"]
    for text in (*texts, texts[0]):
        assert count(text) == encode("cl100k_base", text)


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
    with patch("chunkast.tokens.counter.by_pieces", lambda _encoding, others: others):
        counter = resolve_counter(tiktoken.get_encoding(name))
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


def test_special_tokens_are_ordinary_text() -> None:
    assert count_tokens("<|endoftext|>") == 7
    assert [chunk.text for chunk in Chunker().chunk("a <|endoftext|> b")] == ["a <|endoftext|> b"]


def test_any_tokenizer_or_callable_counts() -> None:
    class Characters:
        def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
            return [0] * (len(text) + 2 * add_special_tokens)

    assert count_tokens("four", Characters()) == 4
    assert count_tokens("four", len) == 4
    assert count_tokens("four", tiktoken.get_encoding("cl100k_base")) == 1
    assert Chunker(model="gpt-4o").counter.name == "o200k_base"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoding": "cl100k"}, "encoding='cl100k': allowed are"),
        ({"encoding": 7}, "encoding=7: allowed are a tiktoken encoding's name"),
        ({"model": "gpt-99"}, "model='gpt-99': tiktoken knows no such model"),
    ],
)
def test_an_unknown_encoding_is_a_configuration_error(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")):
        Chunker(**options)


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
