"""toktok-rs against tiktoken: what it is used for is the same, and else it is not used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from unittest.mock import patch

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

import chunkast.tokens.fast as fast_module
from chunkast import Chunker
from chunkast.tokens import encoder_note, resolve_counter
from chunkast.tokens.fast import VERIFIED, by_fast_encoder
from chunkast.tokens.long_space import encoder
from chunkast.tokens.pretokens import CountFunctions
from chunkast.tokens.vocabulary import BUNDLED, load_encoding
from tests.strategies import documents, nasty_text
from tests.test_words import HOSTILE
from tests.units import by_tiktoken

toktok = pytest.importorskip("toktok")


@pytest.fixture(autouse=True)
def at_once() -> Iterator[None]:
    """It is loaded for the first text already."""
    with patch.object(fast_module, "_WORTH_LOADING", 0):
        yield


ENCODINGS = sorted(BUNDLED)
# What decides which alternative of a splitting pattern a character belongs to, and what merges.
BESIDE = (
    "{}",
    "a{}b",
    "A{}a",
    "a{}A",
    " {} ",
    "{}'s",
    "'{}",
    "1{}1",
    ".{}.",
    "\n{}\n\n",
    "é{}e\u0301",
)
SCRIPTS = (
    *(
        "The quick brown fox’s 12,345 jumps.",
        "Ça va, Zoë? Łódź — naïve.",
        "Ξεσκεπάζω την ψυχοφθόρα.",
    ),
    *("Съешь ещё этих мягких булок.", "Ինչպե՞ս եք։", "იყო და არა იყო რა.", "שָׁלוֹם עוֹלָם, מה שלומך?"),
    *(
        "السَّلامُ عليكم ورحمة الله ٣٤٥",
        "नमस्ते दुनिया, क्या हाल है?",
        "আমার সোনার বাংলা",
        "ਸਤ ਸ੍ਰੀ ਅਕਾਲ",
        "கணினி மொழி",
    ),
    *("ఆంధ్ర ప్రదేశ్", "ಕನ್ನಡ ನುಡಿ", "മലയാളം ഭാഷ", "ภาษาไทยง่ายนิดเดียว", "ພາສາລາວ", "မြန်မာဘာသာ", "ភាសាខ្មែរ"),
    *(
        "བོད་སྐད་",
        "ሰላም ለዓለም",
        "敏捷的棕色狐狸跳过了懒狗。",
        "いろはにほへと、カタカナも。",
        "다람쥐 헌 쳇바퀴에 타고파.",
    ),
    *("👩‍👩‍👧‍👦🏳️‍🌈🇩🇪 ok", "ᏣᎳᎩ ᐃᓄᒃᑎᑐᑦ ᚠᚢᚦ", "\U00020000\U0002a6d6 𝒳𝟙 ǅ ²½ Ⅷ ㈠"),
)
LONG = (
    "a" * 50_000,
    "a b" * 9_000,
    "7" * 30_000,
    ".," * 20_000,
    "\n" * 30_000,
    "中文" * 9_000,
    "é\u0301" * 9_000,
)


def plain(name: str) -> CountFunctions:
    """What tiktoken counts."""
    encode = encoder(load_encoding(name))
    return CountFunctions(lambda text: len(encode(text)), lambda _text, _start: ())


def fast(name: str) -> CountFunctions:
    """The faster functions, of which nothing is left to tiktoken but what has to be."""
    encoding = load_encoding(name)
    found = by_fast_encoder(encoding, plain(name), lambda _: 1)
    assert found.token_ends is not plain(name).token_ends
    return found


def test_these_versions_are_verified() -> None:
    """With others than these run all of this file with them in ``VERIFIED``, then add them."""
    assert (tiktoken.__version__, toktok.__version__) in VERIFIED
    assert encoder_note() == (
        f"toktok-rs {toktok.__version__}, which counts as tiktoken {tiktoken.__version__} does"
    )


def same(name: str, texts: Iterable[str]) -> None:
    encoding = load_encoding(name)
    ids = toktok._encoding(name).encode_ordinary
    for text in texts:
        assert ids(text) == encoding.encode_ordinary(text), ascii(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("beside", BESIDE)
def test_every_character_that_is_not_left_to_tiktoken(name: str, beside: str) -> None:
    different = fast_module._different().search
    same(
        name,
        (
            beside.replace("{}", character)
            for character in map(chr, range(0x110000))
            if not different(character)
        ),
    )


@pytest.mark.parametrize("name", ENCODINGS)
def test_some_characters_beside_others(name: str) -> None:
    different = fast_module._different().search
    characters = [c for c in map(chr, range(0x21, 0x110000, 977)) if not different(c)]
    same(name, (beside.replace("{}", each) for beside in BESIDE for each in characters))


def test_a_different_character_is_told_wherever_it_stands() -> None:
    different = fast_module._different().search
    ends = {int(end, 16) for part in fast_module._DIFFERENT.split() for end in part.split("-")}
    near = {end + step for end in ends for step in (-1, 0, 1)}
    for character in map(chr, sorted({*near, *range(0x80, 0x110000, 97)})):
        wanted = different(character) is not None
        for beside in ("{}", "é{}", "漢{}😀", "😀 {}a"):
            assert fast_module._has_different(beside.replace("{}", character)) == wanted


@pytest.mark.parametrize("name", ENCODINGS)
def test_scripts_and_long_texts(name: str) -> None:
    same(name, SCRIPTS)
    same(name, (first + second for first in SCRIPTS for second in SCRIPTS))
    same(name, LONG)
    spaces = "x" + " " * 1_000_000 + "x\n" + "\t" * 400_000
    assert fast(name).count(spaces) == plain(name).count(spaces)


@given(HOSTILE | nasty_text() | st.text() | documents(), st.sampled_from(ENCODINGS))
def test_any_text(text: str, name: str) -> None:
    counts = plain(name).count(text)
    assert fast(name).count(text) == counts
    counter = resolve_counter(load_encoding(name))
    assert counter.count(text) == counts
    assert counter.token_ends is not None
    ends = [*counter.token_ends(text, 5)]
    assert len(ends) == counts
    assert all(5 <= end <= 5 + len(text) for end in ends)


@given(documents(), st.sampled_from(ENCODINGS), st.integers(2, 60))
def test_chunks_are_the_same(text: str, name: str, budget: int) -> None:
    chunker = Chunker(encoding=load_encoding(name), max_tokens=budget)
    with patch("chunkast.chunker.resolve_counter", lambda *_, **__: by_tiktoken(name)):
        other = Chunker(encoding=name, max_tokens=budget)
    assert chunker.chunk(text) == other.chunk(text)


@pytest.mark.parametrize("text", ["a\u0c5c", "\u088f's", "\ud800", "\ud83d\ude00", "\U000323b0"])
def test_what_is_left_to_tiktoken(text: str) -> None:
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return 7

    def ends(text: str, start: int) -> list[int]:
        asked.append(f"{start}{text}")
        return [9]

    encoding = load_encoding("cl100k_base")
    found = by_fast_encoder(encoding, CountFunctions(count, ends), lambda _: 1)
    assert found.count("plain é") == 2
    assert (found.count(text), found.token_ends(text, 2), asked) == (7, [9], [text, f"2{text}"])


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("text", ["plain words\n\nand more", "é – 漢字\n\n😀", "plain\n\n\u0378 é"])
def test_the_spans_of_a_text_are_counted_each(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the faster encoder is loaded, after it, and with a character that it does not know."""
    monkeypatch.setattr(fast_module, "_WORTH_LOADING", 1_000)
    positions = [0, 5, text.index("\n") + 2, len(text)]
    count = plain(name).count
    wanted = [count(text[start:end]) for start, end in pairwise(positions)]
    found = fast(name)
    assert found.counts is not None
    assert list(found.counts(text, positions)) == wanted
    assert found.count("x " * 500) > 0
    assert list(found.counts(text, positions)) == wanted


def test_any_other_version_is_not_used() -> None:
    others = plain("cl100k_base")
    encoding = load_encoding("cl100k_base")
    with patch.object(fast_module, "_installed", lambda: ("0.14.0", "9.9")):
        assert by_fast_encoder(encoding, others, lambda _: 1) is others
        assert re.fullmatch(r"tiktoken 0.14.0 \(toktok-rs 9.9 is not used; .*\)", encoder_note())
    with patch.object(fast_module, "_installed", lambda: ("0.14.0", None)):
        assert by_fast_encoder(encoding, others, lambda _: 1) is others
        assert encoder_note() == "tiktoken 0.14.0"


def test_an_encoding_of_ones_own_is_not_the_bundled_one() -> None:
    known = load_encoding("cl100k_base")
    own = tiktoken.Encoding(
        known.name,
        pat_str=known._pat_str,
        mergeable_ranks=known._mergeable_ranks,
        special_tokens={},
    )
    others = plain("cl100k_base")
    assert by_fast_encoder(own, others, lambda _: 1) is others


def test_a_package_that_cannot_be_loaded_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    fast_module._installed.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "toktok", None)
    try:
        assert fast_module._installed() == (tiktoken.__version__, None)
    finally:
        fast_module._installed.cache_clear()


def test_it_is_loaded_once_that_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_module, "_WORTH_LOADING", 10)
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return 5

    others = CountFunctions(count, lambda _text, _start: ())
    found = by_fast_encoder(load_encoding("cl100k_base"), others, lambda _: 0)
    assert [found.count(text) for text in ("five ", "more.", "words and words")] == [5, 5, 3]
    assert asked == ["five ", "more."]
    assert [*found.token_ends("words and words", 7)] == [7, 7, 7]
