"""Counters, counts of spans against tiktoken itself, and vocabularies that have to be found."""

from __future__ import annotations

import base64
from hashlib import sha1, sha256
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tiktoken.load
import tiktoken.registry
from hypothesis import given
from hypothesis import strategies as st
from tiktoken_ext.openai_public import r50k_pat_str  # type: ignore[import-untyped]

from chunkast import ConfigError
from chunkast.tokens import resolve as resolve_module
from chunkast.tokens import resolve_counter, vocabulary
from chunkast.tokens.index import TokenIndex
from chunkast.tokens.long_space import encoder
from chunkast.tokens.vocabulary import BUNDLED, load_encoding
from tests.units import tokens

ENCODINGS = ("cl100k_base", "o200k_base")
# Loaded once; what is made of them is made anew by every test.
OF = {name: load_encoding(name) for name in ENCODINGS}
ALPHABET = "aaX1é中。,.'/_-`  \t\n\n\r\x0b\x85\xa0\u2028\u0301\u200d👍½ǅ\ud800"
TEXTS = st.text(alphabet=ALPHABET, max_size=80)


def number(name: str, text: str) -> int:
    return len(OF[name].encode_ordinary(text))


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("text", ["ก", "a ½ b", "ǅ. कि 🏴", "x\ue000 y" + " " * 17_000 + "z"])
def test_a_text_with_unknown_characters_is_encoded(name: str, text: str) -> None:
    counter = resolve_counter(OF[name])
    assert counter.count(text) == number(name, text)


def of_pattern(pattern: str, name: str = "own") -> tiktoken.Encoding:
    ranks = {bytes([byte]): byte for byte in range(256)}
    merges = (b"  ", b"\n\n", b"\t\t", b" \n", b"\n ", b"    ", b"! ", b"!\n", b" a")
    ranks |= {merge: 256 + rank for rank, merge in enumerate(merges)}
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def test_counters_of_ones_own() -> None:
    class Tokenizer:
        name = "mine"

        def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
            return [0] * (len(text) + 2 * add_special_tokens)

    class Plain:
        name = 7

        def encode(self, text: str) -> str:
            return text

    class Builtin:
        # It has no signature.
        encode = str

    found = [resolve_counter(own) for own in (Tokenizer(), Plain(), Builtin(), tokens, len)]
    assert [(counter.name, counter.count("w we")) for counter in found] == [
        ("mine", 4),
        ("test_counters_of_ones_own.<locals>.Plain", 4),
        ("test_counters_of_ones_own.<locals>.Builtin", 4),
        ("tokens", 2),
        ("len", 4),
    ]
    with pytest.raises(ConfigError) as raised:
        resolve_counter(7)
    assert str(raised.value) == (
        "encoding=7: must be a tiktoken encoding's name, the path of a tokenizer.json, an object "
        "with an encode method, or a callable from str to int"
    )


def test_the_encoding_of_a_model() -> None:
    assert resolve_counter(len, "gpt-4o").name == "o200k_base"
    assert resolve_counter("o200k_base").name == "o200k_base"
    with pytest.raises(ConfigError) as raised:
        resolve_counter("cl100k_base", "gpt-99")
    known = [word.strip(",") for word in str(raised.value).split(" and others")[0].split()[-8:]]
    assert str(raised.value) == (
        f"model='gpt-99': tiktoken knows no such model; it knows {', '.join(known)} and others"
    )
    assert known == sorted(known)
    assert {tiktoken.model.encoding_name_for_model(model) for model in known} <= {*BUNDLED}


# Vocabularies

ADDRESS = "https://vocabularies.invalid/small.tiktoken"
FILE = sha1(ADDRESS.encode(), usedforsecurity=False).hexdigest()
SMALL = b"".join(base64.b64encode(bytes([byte])) + b" %d\n" % byte for byte in range(256))
SHA_256 = sha256(SMALL).hexdigest()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An encoding "small" that needs a file, and the folder that tiktoken looks for it in."""
    tiktoken.list_encoding_names()

    def construct(expected: str | None = SHA_256, address: str = ADDRESS) -> dict[str, Any]:
        ranks = tiktoken.load.load_tiktoken_bpe(address, expected)
        return {"name": "small", "pat_str": ".", "mergeable_ranks": ranks, "special_tokens": {}}

    constructors = {
        "small": construct,
        "unhashed": lambda: construct(None),
        "local": lambda: construct(SHA_256, str(tmp_path / "local")),
        "broken": lambda: construct()["nothing"],
    }
    known = tiktoken.registry.ENCODING_CONSTRUCTORS
    monkeypatch.setattr(
        tiktoken.registry, "ENCODING_CONSTRUCTORS", {**(known or {}), **constructors}
    )
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    resolve_module._named.cache_clear()
    monkeypatch.setattr(tiktoken.load, "read_file", lambda address: {}[address])
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    return tmp_path


def refusal(name: str, **options: Any) -> str:
    own = tiktoken.load.read_file_cached
    with pytest.raises(ConfigError) as raised:
        load_encoding(name, **options)
    assert tiktoken.load.read_file_cached is own
    return str(raised.value)


def test_a_vocabulary_is_read_from_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tiktoken.load.read_file_cached
    (folder / FILE).write_bytes(SMALL)
    assert load_encoding("small").n_vocab == 256
    assert tiktoken.load.read_file_cached is own
    assert [path.name for path in folder.iterdir()] == [FILE]
    (folder / "local").write_bytes(SMALL)
    (folder / FILE).write_bytes(SMALL[: SMALL.index(b" 200")].rpartition(b"\n")[0])
    # tiktoken reads what is no address; a file without a hash counts as it is.
    assert load_encoding("unhashed").n_vocab == 200
    monkeypatch.setattr(tiktoken.load, "read_file", lambda path: Path(path).read_bytes())
    assert load_encoding("local").n_vocab == 256


def test_a_missing_or_damaged_vocabulary(folder: Path) -> None:
    message = refusal("small")
    assert message.startswith("encoding='small': its vocabulary is not bundled with chunkast")
    # It says what helps.
    assert all(word in message for word in (FILE, "TIKTOKEN_CACHE_DIR", "--allow-download"))
    (folder / FILE).write_bytes(b"damaged")
    assert f"{folder / FILE} is damaged" in refusal("small")
    assert (folder / FILE).read_bytes() == b"damaged"


def test_a_bundled_vocabulary_that_is_gone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "VOCABULARY", folder / "vocab")
    file = BUNDLED["cl100k_base"]
    assert f"own file {file} is missing or damaged" in refusal("cl100k_base")
    (folder / "vocab").mkdir()
    (folder / "vocab" / file).touch()
    assert f"{folder / 'vocab' / file} is damaged" in refusal("cl100k_base")


def test_a_vocabulary_is_downloaded_only_if_allowed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def read_file(address: str) -> bytes:
        asked.append(address)
        return SMALL if len(asked) > 1 else b"another"

    monkeypatch.setattr(tiktoken.load, "read_file", read_file)
    assert "nothing is downloaded" in refusal("small")
    assert asked == []
    assert refusal("small", allow_download=True).startswith(
        "encoding='small': its vocabulary could not be downloaded (ValueError: Hash mismatch"
    )
    assert list(folder.iterdir()) == []
    with pytest.raises(ConfigError, match="nothing is downloaded"):
        resolve_counter("small")
    assert resolve_counter("small", allow_download=True).count("four") == 4
    assert asked == [ADDRESS] * 2
    assert (folder / FILE).read_bytes() == SMALL
    assert refusal("broken") == (
        "encoding='broken': its vocabulary could not be loaded (KeyError: 'nothing')"
    )


def test_an_unknown_encoding(folder: Path) -> None:
    others = [name for name in tiktoken.list_encoding_names() if name not in BUNDLED]
    assert {"small", "gpt2"} < {*others}
    assert refusal("cl100k") == (
        "encoding='cl100k': must be one of cl100k_base, o200k_base, o200k_harmony, which are "
        f"bundled with chunkast, or of {', '.join(others)}, which need a file of tiktoken's"
    )
    with pytest.raises(ConfigError) as raised:
        resolve_counter(len, "gpt2")
    message = str(raised.value)
    assert message.startswith("model='gpt2': its encoding is gpt2: its vocabulary is not bundled")
    # Whatever else happens while one is loaded is told as well.
    (folder / FILE).mkdir()
    assert "nothing is downloaded" in refusal("small")


# Long white space

LONG = 8
RUNS = (*map("".join, product("\n \t\r", repeat=2)), "\xa0", "\n\n  ", "  \n\n", "\t\t\t\u3000")
BEFORE = (
    "",
    "a",
    "a's",
    "7",
    "!",
    " !",
    "/",
    "!\n/",
    "\ue000",
    "!\u0301",
    "\ud83d",
    "\ud83d\ude00",
)
AFTER = ("", "a\r", "!", "/x", "'s", "\x1c", "//\n\n\n\n\n\n\n\n\n/x", "b" + " " * 9)


@pytest.mark.parametrize("name", [*ENCODINGS, r50k_pat_str])
@pytest.mark.parametrize("length", [LONG, 2 * LONG + 1])
def test_long_white_space_is_encoded_as_tiktoken_does(name: str, length: int) -> None:
    encoding = OF.get(name) or of_pattern(name)
    encode = encoder(encoding, long=LONG)
    for before, run, after in product(BEFORE, RUNS, AFTER):
        text = before + (run * length)[:length] + after
        assert encode(text) == encoding.encode_ordinary(text), repr(text)


# The index


@given(TEXTS, st.sampled_from(ENCODINGS), st.data())
def test_any_span_counts_as_tiktoken_counts_it(text: str, name: str, data: st.DataObject) -> None:
    places = st.integers(0, len(text))
    lines = [at for at in range(1, len(text)) if text[at - 1] == "\n"]
    index = TokenIndex(text, resolve_counter(OF[name]), lines)
    for _ in range(6):
        start, end = sorted((data.draw(places), data.draw(places)))
        assert index.count(start, end) == number(name, text[start:end])


@pytest.mark.parametrize("name", ENCODINGS)
def test_any_span_of_long_blocks(name: str) -> None:
    sentence = "It's a 2nd sentence, and_so on/off: `x`.\n"
    text = sentence * 60 + "\n" + "é" * 3_000 + "\n\n" + sentence * 5 + "\n" + sentence * 90
    index = TokenIndex(text, resolve_counter(OF[name]), [text.index("é"), text.index("é\n") + 3])
    for start in range(0, len(text), 397):
        for length in (5, 16, 17, 40, 90, 1_000, 5_000):
            end = min(start + length, len(text))
            assert index.count(start, end) == number(name, text[start:end])


def test_surrogates() -> None:
    for text in ("one \ud800 two é", "a \udc00\ud83d b", "a \ud83d\ude00 b"):
        index = TokenIndex(text, resolve_counter(OF["cl100k_base"]), [])
        for start, end in combinations(range(len(text) + 1), 2):
            assert index.count(start, end) == number("cl100k_base", text[start:end])
