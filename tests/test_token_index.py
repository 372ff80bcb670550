"""Counters and the token index, each with tiktoken itself to compare with.

What is fast because little is looked at is tested by which texts a counter is asked for.
"""

from __future__ import annotations

import base64
import math
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from hashlib import sha1, sha256
from itertools import combinations, pairwise, product
from pathlib import Path
from random import Random
from typing import Any

import pytest
import regex
import tiktoken
import tiktoken.load
import tiktoken.registry
from hypothesis import given
from hypothesis import strategies as st
from tiktoken_ext.openai_public import r50k_pat_str  # type: ignore[import-untyped]

from chunkast import ConfigError
from chunkast.tokens import (
    NOT_EXACT,
    Counter,
    Window,
    index_of,
    is_far_above,
    long_space,
    pretokens,
    resolve_counter,
    vocabulary,
)
from chunkast.tokens import index as index_module
from chunkast.tokens import resolve as resolve_module
from chunkast.tokens.index import TokenIndex
from chunkast.tokens.long_space import encoder
from chunkast.tokens.pretokens import CountFunctions, PretokenCounter, by_pretokens
from chunkast.tokens.spans import Exact
from chunkast.tokens.vocabulary import BUNDLED, load_encoding
from tests.units import W_ALONE, W_ESTIMATED, W, tokens

ENCODINGS = ("cl100k_base", "o200k_base")
# Loaded once; what is made of them is made anew by every test.
OF = {name: load_encoding(name) for name in ENCODINGS}
ALPHABET = "aaX1é中。,.'/_-`  \t\n\n\r\x0b\x85\xa0\u2028\u0301\u200d👍½ǅ\ud800"
TEXTS = st.text(alphabet=ALPHABET, max_size=80)


def number(name: str, text: str) -> int:
    return len(OF[name].encode_ordinary(text))


# Counters


def pretoken_ends(name: str, text: str, start: int) -> list[int]:
    """For each token where its pre-token ends, by the encoding's own pattern."""
    found = regex.finditer(OF[name]._pat_str, text)
    return [start + match.end() for match in found for _ in OF[name].encode_ordinary(match[0])]


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "A word's end, 12345 'LL  x\n\n  y \t",
        "Ünïcode Łódź’s 中文カー。 e\u0301…→ ⚠\ufe0f",
        "an unusually long word: " + "antidisestablishment" * 9,
        "unremarkable words, " * 3_500,
        "onopvallende één, " * 4_000,
    ],
)
def test_known_characters_are_counted_by_pretokens(name: str, text: str) -> None:
    counter = resolve_counter(OF[name])
    assert counter.name == name
    assert isinstance(getattr(counter.count, "__self__", None), PretokenCounter)
    for _ in range(2):
        assert counter.count(text) == number(name, text)
        assert counter.token_ends is not None
        assert list(counter.token_ends(text, 7)) == pretoken_ends(name, text, 7)


def test_a_long_text_is_split_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    def others(_: str, __: int = 0) -> Any:
        pytest.fail("all characters are known")

    counter = by_pretokens(OF["cl100k_base"], CountFunctions(others, others))
    text = "one two, three's 12345\n" * 3
    found = counter.count(text), list(counter.token_ends(text, 3))
    monkeypatch.setattr(pretokens, "_MAX_SPLIT_AT_ONCE", 5)
    assert (counter.count(text), list(counter.token_ends(text, 3))) == found
    assert found[1] == pretoken_ends("cl100k_base", text, 3)


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("most", [5, 65_536])
def test_the_spans_of_a_text_are_counted_each(
    name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pretokens, "_MAX_SPLIT_AT_ONCE", most)
    text = "one two, three's 12345\n" * 2 + "Grüße – 漢字\n\nก a ½ b 🏴\n" + "x  y\n"
    positions = [0, 3, 3, 23, 46, 52, 60, len(text)]
    spans = [text[start:end] for start, end in pairwise(positions)]
    counter = resolve_counter(OF[name])
    assert counter.counts is not None
    assert list(counter.each(text, positions)) == [number(name, span) for span in spans]
    assert list(replace(counter, counts=None).each(text, positions)) == [
        number(name, span) for span in spans
    ]
    assert not [*counter.each("", [0])]


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("text", ["ก", "a ½ b", "ǅ. कि 🏴", "x\ue000 y" + " " * 17_000 + "z"])
def test_a_text_with_unknown_characters_is_encoded(name: str, text: str) -> None:
    counter = resolve_counter(OF[name])
    assert counter.count(text) == number(name, text)
    assert counter.token_ends is not None
    encoded = OF[name].decode_tokens_bytes(OF[name].encode_ordinary(text))
    ends, end = [], 9
    for token in encoded:
        end += sum(not 0x80 <= byte < 0xC0 for byte in token)
        ends.append(end)
    assert list(counter.token_ends(text, 9)) == ends


def test_few_pretokens_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = resolve_counter(OF["cl100k_base"]).count
    remembered = counter.__self__._tokens.__self__  # type: ignore[attr-defined]
    assert counter("a" * 256) == number("cl100k_base", "a" * 256)
    counter("b" * 257)
    assert remembered == {"a" * 256: 32}
    monkeypatch.setattr(pretokens, "_MAX_REMEMBERED_PRETOKENS", 3)
    sizes = []
    for word in ("one", "two", "two", "three", "four"):
        assert counter(word) == 1
        sizes.append(len(remembered))
    assert sizes == [2, 3, 3, 1, 2]


def of_pattern(pattern: str, name: str = "own") -> tiktoken.Encoding:
    ranks = {bytes([byte]): byte for byte in range(256)}
    merges = (b"  ", b"\n\n", b"\t\t", b" \n", b"\n ", b"    ", b"! ", b"!\n", b" a")
    ranks |= {merge: 256 + rank for rank, merge in enumerate(merges)}
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def test_another_pattern_is_not_split_here() -> None:
    counter = resolve_counter(of_pattern(r"\s|\S+"))
    assert (counter.name, counter.token_ends) == ("own", None)
    assert counter.count("ab c") == 4
    functions = CountFunctions(len, lambda text, start: range(start, start + len(text)))
    assert by_pretokens(of_pattern(r"\s|\S+"), functions) is functions


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
    assert [(counter.name, counter.count("w we"), counter.token_ends) for counter in found] == [
        ("mine", 4, None),
        ("test_counters_of_ones_own.<locals>.Plain", 4, None),
        ("test_counters_of_ones_own.<locals>.Builtin", 4, None),
        ("tokens", 2, None),
        ("len", 4, None),
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
    what = (
        f"put tiktoken's file {FILE} into the folder that TIKTOKEN_CACHE_DIR names, allow the "
        "download (--allow-download, in Python allow_download=True), or use one of "
        "cl100k_base, o200k_base, o200k_harmony"
    )
    start = (
        "encoding='small': its vocabulary is not bundled with chunkast, and nothing is "
        "downloaded unless that is allowed"
    )
    assert refusal("small") == f"{start}; {what}"
    (folder / FILE).write_bytes(b"damaged")
    assert refusal("small") == f"{start}; {folder / FILE} is damaged; {what}"
    assert (folder / FILE).read_bytes() == b"damaged"


def test_a_bundled_vocabulary_that_is_gone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "VOCABULARY", folder / "vocab")
    file = BUNDLED["cl100k_base"]
    start = f"encoding='cl100k_base': the file {file} of chunkast itself is gone or damaged"
    assert refusal("cl100k_base") == f"{start}; install chunkast again"
    (folder / "vocab").mkdir()
    damaged = [folder / "vocab" / file, folder / file]
    for path in damaged:
        path.touch()
    assert refusal("cl100k_base") == (
        f"{start}; {damaged[0]} is damaged; {damaged[1]} is damaged; install chunkast again"
    )


def test_folders_in_which_vocabularies_are_looked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    (folder / "data-gym-cache").mkdir()
    (folder / "data-gym-cache" / FILE).write_bytes(SMALL)
    # The first of the two names counts, and no other folder where there is one.
    assert "nothing is downloaded" in refusal("small")
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(folder / "data-gym-cache"))
    for own in (str(folder), ""):
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", own)
        assert "nothing is downloaded" in refusal("small")
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    assert load_encoding("small").n_vocab == 256
    tiktoken.registry.ENCODINGS.clear()
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", "")
    assert "nothing is downloaded" in refusal("small")
    monkeypatch.delenv("DATA_GYM_CACHE_DIR")
    assert load_encoding("small").n_vocab == 256


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


def test_other_threads_keep_tiktokens_own_function(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[bytes] = []
    monkeypatch.setattr(tiktoken.load, "read_file", lambda address: address.encode())

    def elsewhere() -> None:
        found.append(tiktoken.load.read_file_cached(ADDRESS, None))

    def construct() -> dict[str, Any]:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        return {}

    known = tiktoken.registry.ENCODING_CONSTRUCTORS
    assert known is not None
    monkeypatch.setitem(known, "elsewhere", construct)
    refusal("elsewhere")
    assert found == [ADDRESS.encode()]
    assert (folder / FILE).read_bytes() == ADDRESS.encode()


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


def test_only_a_text_with_a_long_run_is_looked_through() -> None:
    for before, after in product(range(2 * LONG), repeat=2):
        text = "x" * before + " \n" * (LONG // 2) + "x" * after
        assert long_space._may_have_long_run(text, LONG)
    # Runs shorter than half a long one are in no sample.
    for before in range(2 * LONG):
        text = "x" * before + ("xx" + " " * (LONG // 2 - 1)) * 9 + "x"
        assert not long_space._may_have_long_run(text, LONG)
    # A sample has at most 64 characters.
    assert long_space._may_have_long_run("x" * 1_000 + " " * 64 + "x" * 9, 1_000)
    assert not long_space._may_have_long_run("x" * 1_000 + " " * 63 + "x" * 9, 1_000)
    assert long_space._may_have_long_run("x" * 936 + " " * 64 + "x" * 9, 1_000)


def test_a_short_text_or_another_pattern_is_encoded_resolve_counter() -> None:
    asked: list[str] = []

    class Asked:
        """An encoding that says what it is asked for."""

        def __init__(self, of: tiktoken.Encoding) -> None:
            self._pat_str = of._pat_str
            self._encode_single_piece = of._encode_single_piece
            self._of = of

        def encode_ordinary(self, text: str) -> list[int]:
            asked.append(text)
            return self._of.encode_ordinary(text)

    def asked_for(text: str, of: tiktoken.Encoding, **options: int) -> list[str]:
        encode = encoder(Asked(of), **options)  # type: ignore[arg-type]
        asked.clear()
        assert encode(text) == of.encode_ordinary(text)
        return list(asked)

    run = " " * LONG
    assert asked_for(run, OF["cl100k_base"], long=LONG) == ["\n \n", "\n \n"]
    assert asked_for(run[1:], OF["cl100k_base"], long=LONG) == [run[1:]]
    assert asked_for(f"a{run}b", of_pattern(r50k_pat_str), long=LONG) == ["a", " b"]
    # A vocabulary in which the probe is no token; a pattern that is not known.
    for pattern in (OF["cl100k_base"]._pat_str, r"\s|\S+"):
        assert asked_for(f"a{run}b", of_pattern(pattern), long=LONG) == [f"a{run}b"]
    run = " " * 16_384
    assert asked_for(f"a{run[1:]}b", OF["cl100k_base"]) == [f"a{run[1:]}b"]
    assert asked_for(f"a{run}b", OF["cl100k_base"]) == ["a\n \n", "\n \n", " b"]


# The index

PUNCTUATION = '!"#$%&()*+,-.:;<=>?@[\\]^`{|}~、。，！？；：（）「」『』《》'


def by_rule(text: str, position: int) -> bool:
    """Whether a position inside a text is safe by rules 2 to 5 of the index."""
    before, after = text[position - 1], text[position]
    return (
        (after == " " and not before.isspace())
        or (before.isalnum() and after in PUNCTUATION + "\r\n")
        or (before.isascii() and before.isalpha() and after.isascii() and after.isdigit())
    )


def begins_safely(name: str, text: str, position: int) -> bool:
    line = text[position:].lstrip(" \t\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u2028\u2029\u3000")
    return line[:1] not in ("", "\r", "\n") and not (name == "o200k_base" and text[position] == "/")


def mixed(parts: Sequence[str], seed: int) -> str:
    return "".join(Random(seed).choices(parts, k=240))


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("text", [mixed(ALPHABET, seed) for seed in range(6)])
def test_safe_positions(text: str, name: str) -> None:
    index = TokenIndex(text, resolve_counter(OF[name]), [])
    text = index.text
    assert index.additive
    found = {position for position in range(len(text) + 1) if index._is_safe(position)}
    assert found == {0, len(text)} | {
        position
        for position in range(1, len(text))
        if (
            begins_safely(name, text, position)
            if text[position - 1] in "\r\n"
            else by_rule(text, position)
        )
    }
    for position in found:
        whole = number(name, text[:position]) + number(name, text[position:])
        assert whole == number(name, text)
    ends = [at for at in range(len(text)) if not at or text[at - 1] in "\r\n"]
    for at in ends:
        assert index.adds_up_after_line_end(at) == begins_safely(name, text, at)


def test_an_empty_text() -> None:
    index = TokenIndex("", W, [])
    assert (index.count(0, 0), index.upto(0), index.estimate(0)) == (0, 0, 0)
    assert (*index.exact.positions, *index.exact.tokens) == (0, 0)
    assert not TokenIndex("a", W_ALONE, []).adds_up_after_line_end(0)
    assert TokenIndex("a", W, []).adds_up_after_line_end(0)


FEW_SAFE = (
    ("a", "ab ", "é", "1", ".", "\n", "\n  ", "_", "/"),
    ("_", "_", "'", "/", "'\n", "'\r", "\r\n", "_" * 30, "_" * 60),
)


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("text", [mixed(parts, seed) for parts in FEW_SAFE for seed in range(4)])
def test_the_nearest_safe_positions(text: str, name: str) -> None:
    random = Random(0)
    places = sorted(random.choices(range(len(text)), k=3))
    index = TokenIndex(text, resolve_counter(OF[name]), places)
    checkpoints = index.exact.positions
    for end in range(1, len(text) + 1):
        first = max(at for at in checkpoints if at < end)
        near = max(first, end - 64)
        inside = [at for at in range(near + 1, end) if by_rule(text, at)]
        lines = [at for at in range(near + 1, end) if text[at - 1] in "\r\n"][-1:]
        lines = [at for at in lines if begins_safely(name, text, at)]
        assert index._safe_before(end, 0) == max([first, *(inside or lines)])
        for start in (first, end - 1):
            assert index._safe_before(end, start) >= start
    # What was found for one start is used for others: in order, and in any.
    for start in (*range(len(text)), *random.choices(range(len(text)), k=len(text))):
        end = random.randint(start + 1, min(start + 80, len(text)))
        inside = [at for at in range(start + 1, end) if by_rule(text, at)]
        assert index._safe_after(start, end) == min(
            [end, *inside, *(at for at in checkpoints if at > start)]
        )
    assert index._safe_after(len(text), len(text) + 9) == len(text) + 9


@given(TEXTS, st.sampled_from(ENCODINGS), st.data())
def test_any_span_counts_as_tiktoken_counts_it(text: str, name: str, data: st.DataObject) -> None:
    places = st.integers(0, len(text))
    lines = [at for at in range(1, len(text)) if text[at - 1] == "\n"]
    index = TokenIndex(text, resolve_counter(OF[name]), lines)
    for _ in range(6):
        start, end = sorted((data.draw(places), data.draw(places)))
        assert index.count(start, end) == number(name, text[start:end])
        assert index.count(end, start) == 0 or start == end
        assert index.at_most(start, end) >= index.count(start, end)
        assert index.upto(end) == number(name, text[:end])
    for position, found in zip(index.exact.positions, index.exact.tokens, strict=True):
        assert found == number(name, text[:position]) == index.exact.get(position)


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
    for text, additive in (
        ("one \ud800 two é", True),
        ("one \udc00\ud83d two", True),
        ("one \ud83d\ude00 two", False),
        ("é", True),
    ):
        index = TokenIndex(text, resolve_counter(OF["cl100k_base"]), [])
        assert index.additive is additive
        expected = text.replace("\ud800", "\ufffd").replace("\udc00\ud83d", "\ufffd" * 2)
        assert index.text == expected
        for start, end in product(range(len(text) + 1), repeat=2):
            assert index.count(start, end) == number("cl100k_base", text[start:end])
    # Another counter is given what the text has.
    assert TokenIndex("\ud800", W_ALONE, []).text == "\ud800"


@pytest.mark.parametrize("counter", [W, W_ALONE, W_ESTIMATED])
def test_every_index_answers_of_any_span(counter: Counter) -> None:
    text = "ww\n  w w\nwww"
    index = index_of(text, counter, [0, 3, 9])
    for start, end in combinations(range(len(text) + 1), 2):
        size = tokens(text[start:end])
        assert index.count(start, end) == size
        if index.base(start, end) != NOT_EXACT:
            assert index.upto(end) - index.base(start, end) == size
        assert index.count_after("ww ", start, end) == size + 2
        assert [index.is_within(start, end, size + more) for more in (-1, 0)] == [False, True]
        assert index.may_fit(start, end, size)
        assert index.is_near(start, end)
    assert index.adds_up_after_line_end(3) is index.additive is (counter is W)
    assert index.estimated is (counter is W_ESTIMATED)


def test_what_a_model_reads_of_a_text() -> None:
    reads = [Counter("w", tokens, window=Window(size, 2)) for size in (2, 3, 10)]
    assert [counter.cut_off(9) for counter in reads] == [9, 8, 1]
    assert (reads[2].cut_off(7), W.cut_off(99)) == (0, 0)
    assert [counter.window_room() for counter in reads[1:]] == [1, 8]
    for counter, allowed in (
        (reads[0], "must be a whole number, as special tokens take all 2"),
        (W, "must be a whole number, as the encoding has no limit of its own"),
    ):
        with pytest.raises(ConfigError, match=f"^max_tokens='model': {allowed}$"):
            counter.window_room()


def test_checkpoints() -> None:
    def at(text: str, positions: Sequence[int] = (), counter: Counter = W) -> list[int]:
        return [*TokenIndex(text, counter, positions).exact.positions]

    text = "ww\n  w\n\n(w\n  \nw"
    starts = [0, 3, 7, 8, 11, 14]
    assert at(text, starts) == [0, 3, 8, 14, len(text)]
    assert at("w\n/w", [2]) == [0, 2, 4]
    assert at("w\n/w", [2], resolve_counter(OF["cl100k_base"])) == [0, 2, 4]
    assert at("w\n/w", [2], resolve_counter(OF["o200k_base"])) == [0, 4]
    # Others inside what is long.
    assert at("w " * 1_024) == [0, 2_048]
    assert at("w " * 1_024 + "w") == [0, 1_025, 2_049]
    assert at("w " * 2_000) == [0, 1_025, 2_049, 4_000]
    assert at("w " * 2_000, [3_000]) == [0, 1_025, 3_000, 4_000]
    assert at("w " * 2_000, counter=W_ALONE) == [0, 4_000]
    assert at("x" * 5_000 + "\n" + "w " * 2, [5_001]) == [0, 5_000, 5_001, 5_005]
    assert at("x" * 5_000, [2_500]) == [0, 2_500, 5_000]
    index = TokenIndex(text, W, starts)
    assert list(index.exact.tokens) == [0, 2, 3, 4, 5]


def test_exact_counts() -> None:
    exact = Exact([0, 4, 9], [0, 2, 5])
    assert [exact.get(position) for position in (0, 1, 4, 8, 9, 10)] == [
        0,
        NOT_EXACT,
        2,
        NOT_EXACT,
        5,
        NOT_EXACT,
    ]
    assert list(exact.each([0, 1, 4, 4, 8, 9])) == [0, NOT_EXACT, 2, 2, NOT_EXACT, 5]
    assert list(exact.each([3, 9, 9])) == [NOT_EXACT, 5, 5]


def test_estimates() -> None:
    # 6 tokens in 12 characters, then 4 in 5.
    index = TokenIndex("ww\nww\nww\n\n\n\nwwww\n", W, [12])
    expected = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10]
    assert [index.estimate(position) for position in range(18)] == expected
    assert [index.at_most(*span) for span in ((0, 9), (3, 4), (5, 5))] == [9, 1, 0]
    assert TokenIndex("wé", W, []).at_most(0, 2) == 8
    assert TokenIndex("ww", W_ALONE, []).at_most(0, 2) == math.inf
    assert [is_far_above(number, 10) for number in (104, 105)] == [False, True]
    assert [is_far_above(number, 0) for number in (64, 65)] == [False, True]


class Asked:
    """A counter of letters "w" that notes which texts it is asked for."""

    def __init__(self, *, adds_up: bool = True) -> None:
        self.counted: list[str] = []
        self.ended: list[tuple[int, int]] = []
        self.counter = Counter("w", self.count, self.ends if adds_up else None)

    def count(self, text: str) -> int:
        self.counted.append(text)
        return tokens(text)

    def ends(self, text: str, start: int) -> Iterable[int]:
        self.ended.append((start, start + len(text)))
        assert W.token_ends is not None
        return W.token_ends(text, start)

    def during(self, do: Callable[[], Any]) -> tuple[list[str], list[tuple[int, int]]]:
        """What is asked for while something is done."""
        self.counted.clear()
        self.ended.clear()
        do()
        return [*self.counted], [*self.ended]


LINE = "ww w_w w/w w'w\n"
BLOCKS = LINE * 20 + LINE * 20


def test_what_is_counted() -> None:
    asked = Asked()
    index = TokenIndex(BLOCKS, asked.counter, [300])
    assert asked.counted == [BLOCKS[:300], BLOCKS[300:]]

    def of(start: int, end: int) -> tuple[list[str], list[tuple[int, int]]]:
        """What a new index asks for."""
        asked = Asked()
        index = TokenIndex(BLOCKS, asked.counter, [300])

        def count() -> None:
            assert index.count(start, end) == tokens(BLOCKS[start:end])

        return asked.during(count)

    # Nothing between checkpoints; a short span itself.
    assert of(0, 300) == of(300, 600) == of(0, 600) == ([], [])
    assert of(5, 21) == ([BLOCKS[5:21]], [])
    assert of(9, 9) == of(9, 8) == ([], [])
    # Next to a checkpoint what is between; elsewhere where the tokens before the next end.
    assert of(0, 285) == ([BLOCKS[285:300]], [])
    assert of(0, 240) == ([BLOCKS[240:300]], [])
    assert of(0, 225) == ([], [(0, 300)])
    assert of(300, 525) == ([], [(300, 600)])
    assert of(15, 225) == ([], [(0, 300)])
    # From and to the nearest safe positions.
    assert of(1, 300) == ([BLOCKS[1:2]], [(0, 300)])
    assert of(4, 300) == ([BLOCKS[4:6]], [(0, 300)])
    assert of(0, 30 + 5) == ([BLOCKS[32:35]], [(0, 300)])
    assert of(4, 30 + 5) == ([BLOCKS[32:35], BLOCKS[4:6]], [(0, 300)])
    assert index.count(0, 600) == 320
    for between, ends in ((64, []), (65, [(0, 66)])):
        text = "w " + "_" * (between - 2) + "\nw"
        index = TokenIndex(text, asked.counter, [between + 1])
        counted = [] if ends else [text[1:65]]
        assert asked.during(lambda: index.upto(1)) == (counted, ends)  # noqa: B023


def test_a_span_without_a_safe_position_is_counted_whole() -> None:
    text = "w\n" + "w_" * 60
    asked = Asked()
    index = TokenIndex(text, asked.counter, [2])
    assert asked.during(lambda: index.count(5, 90)) == ([text[5:90]], [])
    assert asked.during(lambda: index.count(5, 122)) == ([text[5:122]], [])
    # From a safe start no text before it is looked at.
    assert asked.during(lambda: index.count(2, 90)) == ([text[2:90]], [])
    assert asked.during(lambda: index.upto(20, 2)) == ([text[2:20]], [])
    index = TokenIndex("w " + text[2:], asked.counter, [])
    assert asked.during(lambda: index.count(1, 90)) == ([" " + text[2:90]], [(0, 122)])
    alone = Asked(adds_up=False)
    index = TokenIndex(text, alone.counter, [2])
    assert alone.during(lambda: index.count(2, 4)) == (["w_"], [])
    assert index.count(0, 122) == 61


def test_what_was_counted_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked()
    index = TokenIndex(BLOCKS, asked.counter, [300])
    for start, end in ((4, 35), (0, 285), (1, 9), (4, 500)):
        index.count(start, end)
        assert asked.during(lambda: index.count(start, end)) == ([], [])  # noqa: B023
    # Not a long one.
    long = "w_" * 40
    index = TokenIndex(long, asked.counter, [])
    for length in (64, 65):
        index.count(1, 1 + length)
    assert asked.during(lambda: index.count(1, 65)) == ([], [])
    assert asked.during(lambda: index.count(1, 66)) == ([long[1:66]], [])
    monkeypatch.setattr(index_module, "_MAX_REMEMBERED", 3)
    index = TokenIndex(BLOCKS, asked.counter, [300])
    sizes = []
    for start in range(4, 10):
        index.count(start, start + 9)
        sizes.append(len(index._lengths))
    assert sizes == [1, 2, 3, 1, 2, 3]
    sizes.clear()
    for end in (33, 48, 63, 78, 93):
        assert index.upto(end) == tokens(BLOCKS[:end])
        sizes.append(len(index._remembered))
    assert sizes == [1, 2, 3, 1, 2]
    # Up to places that are not safe, however far the last safe one is.
    text = "w " + long
    index = TokenIndex(text, asked.counter, [])
    sizes.clear()
    for end in (70, 71, 72, 73):
        assert asked.during(lambda: index.upto(end))[0] == [text[:end]]  # noqa: B023
        assert asked.during(lambda: index.upto(end)) == ([], [])  # noqa: B023
        assert index.upto(end) == tokens(text[:end])
        sizes.append(len(index._unsafe))
    assert sizes == [1, 2, 3, 1]


def test_token_ends_are_freed() -> None:
    asked = Asked()
    text = LINE * 60
    index = TokenIndex(text, asked.counter, [300, 600])

    def in_block(number: int) -> list[tuple[int, int]]:
        # Another position each time, since counts are remembered.
        return asked.during(lambda: index.upto(positions.pop()))[1] if not number else []

    positions = [*range(17, 230, 15)]
    assert in_block(0) == [(0, 300)]
    assert asked.during(lambda: index.upto(317))[1] == [(300, 600)]
    assert asked.during(lambda: index.upto(617))[1] == [(600, 900)]
    index.release(299)
    assert in_block(0) == []
    index.release(300)
    assert in_block(0) == [(0, 300)]
    assert asked.during(lambda: index.upto(332))[1] == []
    index.release(600)
    index.release(600)
    assert asked.during(lambda: index.upto(347))[1] == [(300, 600)]
    assert asked.during(lambda: index.upto(632))[1] == []
    for position in range(901):
        assert index.upto(position) == tokens(text[:position])


def test_token_ends_of_a_text_that_is_too_long_for_four_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def kind() -> str:
        index = TokenIndex(BLOCKS, W, [300])
        assert index.upto(32) == 18
        return index._inner[1].typecode  # type: ignore[attr-defined, no-any-return]

    assert kind() == "I"
    monkeypatch.setattr(index_module, "_UNSIGNED_INT_LIMIT", len(BLOCKS) + 1)
    assert kind() == "I"
    monkeypatch.setattr(index_module, "_UNSIGNED_INT_LIMIT", len(BLOCKS))
    assert kind() == "Q"
