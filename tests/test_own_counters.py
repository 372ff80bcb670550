"""What ``encoding`` may be besides a tokenizer's file: names, models, and counters of a user's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from chunkast import ChunkConfig, Chunker, ConfigError, count_tokens
from chunkast.text.white_space import WHITE_SPACE
from chunkast.tokens import vocabulary
from chunkast.tokens.vocabulary import BUNDLED, load_encoding
from tests.checks import check_promises
from tests.strategies import documents, nasty_text
from tests.tables import Case, each_case

TEXT = "# A\n\nOne two three.\n\nFour five six.\n"


class Whole:
    """A number of another library: no int, but an index."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


@pytest.mark.parametrize(
    ("count", "tokens"),
    [
        (lambda text: len(text) / 4, 2),
        (lambda text: Fraction(len(text), 3), 2),
        (lambda text: Whole(len(text)), 5),
        (lambda text: float(len(text)), 5),
    ],
)
def test_fractions_are_rounded_up(count: Callable[[str], Any], tokens: int) -> None:
    assert count_tokens("abcde", count) == tokens
    chunks = Chunker(max_tokens=6, overlap=0, encoding=count).chunk(TEXT)
    assert all(type(chunk.token_count) is int for chunk in chunks)


@pytest.mark.parametrize(
    "value", [None, "12", math.nan, math.inf, -1, -0.5, True, 10**400, [1], Decimal(1)]
)
def test_other_values_are_configuration_errors_at_once(value: Any) -> None:
    for make in (
        lambda: Chunker(encoding=lambda _text: value),
        lambda: count_tokens("x", lambda _text: value),
    ):
        with pytest.raises(ConfigError, match=r"^encoding=.*: must count tokens as a number"):
            make()


def test_a_later_value_is_a_configuration_error_too() -> None:
    chunker = Chunker(encoding=lambda text: None if "three" in text else len(text))
    assert chunker.chunk("One.")
    with pytest.raises(ConfigError, match=r"three.* it gave None"):
        chunker.chunk(TEXT)
    failed: list[int] = []
    found = chunker.chunk_batch([TEXT, "One."], on_error=lambda number, *_: failed.append(number))
    assert (failed, [len(chunks) for chunks in found]) == ([0], [0, 1])


@pytest.mark.parametrize("fails", [bool, lambda text: "three" in text, lambda text: not text])
def test_an_error_of_the_counter_is_raised_where_a_text_is_chunked(
    fails: Callable[[str], object],
) -> None:
    def count(text: str) -> int:
        if fails(text):
            raise KeyError(text)
        return len(text)

    chunker = Chunker(encoding=count, max_tokens=20)
    if fails(TEXT):
        with pytest.raises(KeyError):
            chunker.chunk(TEXT)
    else:
        assert len(chunker.chunk(TEXT)) > 1


def test_an_encode_method_returns_tokens() -> None:
    class Words:
        def encode(self, text: str, add_special_tokens: bool = True) -> Any:
            return text.split() + [""] * 2 * add_special_tokens

    class Fields:
        def encode(self, text: str) -> Any:
            return {"input_ids": text.split(), "attention_mask": []}

    class Builtin:
        # It has no signature.
        encode = str

    assert [count_tokens("a b c", own) for own in (Words(), Builtin(), len)] == [3, 5, 5]
    with pytest.raises(ConfigError, match="must count tokens as a number"):
        Chunker(encoding=Fields())
    with pytest.raises(ConfigError, match=r"^encoding=7: must be a tiktoken encoding's name"):
        Chunker(encoding=7)


# Counters with special tokens, that shrink or jump as a text grows, or without any sense of size.
# They have at most the tokens of their budget for an empty text.
ODD: dict[str, Callable[[str], Any]] = {
    "a quarter of the characters, and one": lambda text: 1 + len(text) // 4,
    "words and special tokens": lambda text: 5 + len(text.split()),
    "constant": lambda _text: 3,
    "none": lambda _text: 0,
    "lines": lambda text: text.count("\n"),
    "any": lambda text: len(text) * 7_919 % 13,
    "fewer for more": lambda text: max(0, 20 - len(text)),
    "huge": lambda text: len(text) * 2**22,
    "fractions": lambda text: len(text) * 0.1,
}


BLANK = str.maketrans("", "", WHITE_SPACE)


@given(documents() | nasty_text(), st.sampled_from([*ODD]), st.data())
def test_the_promises_hold_for_any_counter(text: str, name: str, data: st.DataObject) -> None:
    count = ODD[name]
    config = ChunkConfig(
        max_tokens=data.draw(st.integers(max(1, math.ceil(count(""))), 30)),
        overlap=data.draw(st.sampled_from([0, 0.2])),
        packing=data.draw(st.sampled_from(["sections", "fill"])),
        encoding=count,
    )
    chunks = Chunker(config).chunk(text)
    own = "".join(chunk.text[chunk.overlap :] for chunk in chunks)
    assert own.translate(BLANK) == text.translate(BLANK)
    for chunk in chunks:
        assert chunk.token_count == math.ceil(count(chunk.text))
        assert chunk.embed_token_count == math.ceil(count(chunk.embed_text))
        assert chunk.oversize or max(chunk.token_count, chunk.embed_token_count) <= config.budget


def test_a_table_is_cut_only_at_its_end() -> None:
    text = "word.\n\n> ```\n> ```\n> \n> <table><tr><td>\n> x\n> x\n> </td></tr></table>\n> \n"
    chunks = Chunker(max_tokens=3, overlap=0, encoding=lambda text: text.count("\n")).chunk(text)
    assert "".join(chunk.text for chunk in chunks).translate(BLANK) == text.translate(BLANK)


@given(documents())
def test_the_promises_hold_for_an_estimate(text: str) -> None:
    check_promises(text, ChunkConfig(max_tokens=20, overlap=4, encoding=lambda t: len(t) / 4))


def test_a_budget_that_special_tokens_fill_is_a_configuration_error() -> None:
    count = ODD["words and special tokens"]
    with pytest.raises(ConfigError, match=r"^max_tokens=4: must be at least 5, as the encoding"):
        Chunker(max_tokens=4, encoding=count)
    with pytest.raises(ConfigError, match=r"^max_tokens=6: must be at least 7"):
        Chunker(max_tokens=6, reserve_tokens=2, encoding=count)
    assert Chunker(max_tokens=6, encoding=count).chunk(TEXT)


# Names


def test_the_encoding_of_a_model() -> None:
    assert Chunker(model="gpt-4o", encoding="cl100k_base").counter.name == "o200k_base"
    with pytest.raises(ConfigError, match=r"^model='gpt2': its encoding is gpt2: .* not bundled"):
        Chunker(model="gpt2")


@each_case("config", "names")
def test_a_name_that_is_no_encoding_says_what_to_give(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    cached = tmp_path / "hub" / "models--BAAI--bge-m3" / "snapshots" / "a1" / "tokenizer.json"
    cached.parent.mkdir(parents=True)
    cached.touch()
    with pytest.raises(ConfigError) as raised:
        Chunker(**case["options"])
    assert str(raised.value).replace(str(tmp_path), "HF_HOME") == case["message"]


def test_the_limit_of_an_embedding_model() -> None:
    for model in ("text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002"):
        chunker = Chunker(model=model, max_tokens="model", reserve_tokens=4)
        assert (chunker.config.max_tokens, chunker.config.budget) == (8191, 8187)
        assert Chunker(model=model).counter.cut_off(8200) == 9
    assert Chunker(encoding="cl100k_base").counter.window is None
    with pytest.raises(ConfigError, match="no limit of its own"):
        Chunker(model="gpt-4o", max_tokens="model")


def test_encodings_that_are_unknown_or_not_bundled() -> None:
    with pytest.raises(ConfigError, match=r"^encoding='klingon': must be one of .*, or of gpt2"):
        Chunker(encoding="klingon")
    with pytest.raises(ConfigError, match=r"not bundled .*--allow-download"):
        Chunker(encoding="p50k_base")


def test_tiktoken_loads_what_is_not_bundled_if_that_is_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def own(name: str) -> tiktoken.Encoding:
        if name == "r50k_base":
            raise OSError("no network here")
        ranks = {bytes([byte]): byte for byte in range(256)}
        return tiktoken.Encoding(name, pat_str=".", mergeable_ranks=ranks, special_tokens={})

    monkeypatch.setattr(tiktoken, "get_encoding", own)
    assert load_encoding("p50k_base", allow_download=True).n_vocab == 256
    with pytest.raises(ConfigError, match=r"could not be downloaded \(OSError: no network here\)"):
        Chunker(encoding="r50k_base", allow_download=True)


@pytest.mark.parametrize("content", [None, b"", b"IQ== 0\n"])
def test_a_bundled_vocabulary_that_is_gone_or_damaged(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vocabulary, "VOCABULARY", tmp_path)
    file = BUNDLED["cl100k_base"].file
    if content is not None:
        (tmp_path / file).write_bytes(content)
    with pytest.raises(ConfigError, match=f"own file {file} is missing or damaged; reinstall"):
        load_encoding("cl100k_base")
