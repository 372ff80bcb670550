"""Hugging Face tokenizers: objects and files, their counts, and the limits of their models."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import unicodedata
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from chunkast import ChunkConfig, Chunker, ConfigError, count_tokens
from chunkast.identity.fingerprint import config_values
from chunkast.index import Store
from chunkast.tokens import index_of, resolve_counter
from tests.checks import check_promises
from tests.command import records, run, write
from tests.hf import FAMILIES, UNKNOWN, own_count, train
from tests.strategies import documents, nasty_text

DOCUMENTS = Path(__file__).parents[1] / "fixtures" / "documents"
TEXT = "# Guide\n\n" + "Carry two litres of water, and a map.\n\n## Maps\n\n" * 40


@pytest.fixture(name="folder")
def model_folder(tmp_path: Path) -> Path:
    """A model's folder: its tokenizer cuts and pads at 128 tokens, its model reads 64."""
    tokenizer = Tokenizer.from_str(train("wordpiece").to_str())
    tokenizer.enable_truncation(128)
    tokenizer.enable_padding(length=128)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": 512}')
    (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 64}')
    return tmp_path


@given(st.one_of(documents(), nasty_text()), st.sampled_from([*FAMILIES]), st.integers(1, 60))
def test_promises_hold_in_any_tokenizer(text: str, family: str, budget: int) -> None:
    check_promises(text, ChunkConfig(encoding=train(family), max_tokens=budget))


# A lower-case word has no token, or three, where the text ends with END, and one elsewhere.
@pytest.mark.parametrize("instead", ["", "x y z"])
def test_estimates_that_mislead(instead: str) -> None:
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.Replace(Regex(r"[a-z]+(?=[\s\S]*END\s*\z)"), instead)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    words = "Some words of a sentence. And others, of another one.\n\n"
    text = f"# Title\n\n{words * 12}> {words}\n```\n{words.strip()}\n```\n\n{'ABC DEF. ' * 60}\n\nEND\n"
    for budget in (10, 12, 30, 60):
        check_promises(text, ChunkConfig(encoding=tokenizer, max_tokens=budget))


# BERT's tokenizer, whose words are counted apart

# What it may take for a part of a word, for a mark on one, for white space or for nothing.
PARTS = (
    *("word", "Wörd", "A1", "1a", "don't", "x" * 120, "한국", "\u1100\u1161", "中文字", "テスト"),
    *("[CLS]", "[CLS", "]", "[UNK]", "[ sep ]", "<x>", "<", "＜x＞", "文!", "mask"),
    *("İ", "ΐ", "ﬁ", "½", "ß", "ª", "ﷺ", "\u212b", "\u0958,", "é,", "a\u0301", "\u0301", "\u302e"),
    *("नमस्ते", "ก็", "مرحبا", "、", "。", "…", ".", "'", ",", "!!", "-", "/", "_", "〈", "1,000.5"),
    *(" ", "  ", "\n", "\n\n", "\r\n", "\t", "\r", "\xa0", "\u3000", "\x85", "\u2028"),
    *("\u200b", "\xad", "\u180e", "\ufeff", "\x0b", "\x0c", "\x1c", "\0", "\x7f", "\ufffd"),
    *("\ud83d", "\udc00", "👍", "👨\u200d👩", "\ue000", "\U00020000", "\U0001f1e6"),
)
HOSTILE = st.lists(st.sampled_from(PARTS), max_size=30).map("".join)
CASED = normalizers.BertNormalizer(lowercase=False, handle_chinese_chars=False)
RAW = normalizers.BertNormalizer(clean_text=False, strip_accents=False)


def bert(*added: AddedToken | str, normalizer: normalizers.Normalizer | None = None) -> Tokenizer:
    tokenizer = Tokenizer.from_str(train("wordpiece").to_str())
    tokenizer.add_special_tokens([each for each in added if isinstance(each, str)])
    tokenizer.add_tokens([each for each in added if isinstance(each, AddedToken)])
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    return tokenizer


# With tokens that take white space, or that are found in the middle of words or of their pieces.
BERTS = {
    "uncased": bert(),
    "cased": bert(normalizer=CASED),
    "raw": bert(normalizer=RAW),
    "MPNet's": bert("<x>", AddedToken("mask", lstrip=True, rstrip=True, normalized=False)),
    "ideographs": bert("文!", "中"),
    "normalized": bert(AddedToken("É", normalized=True)),
    "a part of a word": bert("a"),
    "words": bert("two words", AddedToken("<x>", single_word=True)),
}


@given(HOSTILE | nasty_text(), st.sampled_from([*BERTS]), st.data())
def test_words_count_as_the_tokenizer_counts_them(
    text: str, name: str, data: st.DataObject
) -> None:
    text *= data.draw(st.sampled_from([1, 30]))
    tokenizer = BERTS[name]
    counter, count = resolve_counter(tokenizer), own_count(tokenizer)
    assert counter.count(text) == count(text)
    lines = [at for at in range(1, len(text)) if text[at - 1] == "\n"]
    index = index_of(text, counter, lines)
    place = st.integers(0, len(text))
    for _ in range(3):
        start, end = sorted(data.draw(place) for _ in range(2))
        assert index.count(start, end) == (count(text[start:end]) if start < end else 0)
        assert index.count_after("A > B\n\n", start, end) == count("A > B\n\n" + text[start:end])


@pytest.mark.parametrize("name", [*BERTS])
def test_every_part_beside_every_other(name: str) -> None:
    tokenizer = BERTS[name]
    counter, count = resolve_counter(tokenizer), own_count(tokenizer)
    for part in PARTS:
        text = "".join(f"\n{part}{other}. a{part}{other} 1{part}\n" for other in PARTS)
        assert counter.count(text) == count(text), part


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BERTS])
def test_every_character_between_words(name: str) -> None:
    tokenizer = BERTS[name]
    counter, count = resolve_counter(tokenizer), own_count(tokenizer)
    # Few of those that are not assigned or private.
    characters = [
        char
        for char in map(chr, range(0x110000))
        if unicodedata.category(char) not in ("Cn", "Co") or ord(char) % 64 == 0
    ]
    for first in range(0, len(characters), 32):
        each = characters[first : first + 32]
        text = "\n".join(f"a{char} b {char}, {char}\nb" for char in each)
        assert counter.count(text) == count(text), hex(ord(each[0]))


# Objects and files


def test_truncation_and_padding_touch_no_count(folder: Path) -> None:
    path = folder / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(path))
    text = "water " * 1_000
    wanted = own_count(tokenizer)(text)
    assert wanted > 900
    assert [count_tokens(text, each) for each in (path, str(path), tokenizer)] == [wanted] * 3
    # The user's own is left as it was.
    assert len(tokenizer.encode(text).ids) == 128


def test_the_limit_of_a_file_is_that_of_its_model(folder: Path) -> None:
    path = folder / "tokenizer.json"
    budgets = []
    for name in ("sentence_bert_config.json", "tokenizer_config.json", "none"):
        budgets.append(Chunker(encoding=path, max_tokens="model").config.budget)
        (folder / name).write_text('{"max_seq_length": true, "model_max_length": 1e30}')
    assert budgets == [62, 510, 126]


def test_a_file_is_known_by_its_content(folder: Path) -> None:
    path = folder / "tokenizer.json"
    other = folder / "other.json"
    other.write_bytes(path.read_bytes())
    values = [config_values(c.config, c.counter.name) for c in map(chunker_of, (path, other))]
    assert values[0] == values[1]
    assert sha256(path.read_bytes()).hexdigest() in values[0]["encoding"]
    assert str(folder) not in json.dumps(values[0])
    tokenizer = train("wordpiece")
    assert chunker_of(tokenizer).counter.name != chunker_of(train("unigram")).counter.name
    # Whether it cuts texts at the time is no part of what it is.
    cutting = Tokenizer.from_str(tokenizer.to_str())
    cutting.enable_truncation(7)
    assert chunker_of(cutting).counter.name == chunker_of(tokenizer).counter.name


def chunker_of(encoding: Any) -> Chunker:
    return Chunker(encoding=encoding, max_tokens=60)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("missing.json", None, "cannot be read"),
        ("wrong.json", b"{}", "is not a tokenizer.json"),
        ("wrong.json", b"\xff", "is not a tokenizer.json"),
    ],
)
def test_a_file_that_is_no_tokenizer(
    tmp_path: Path, name: str, content: bytes | None, why: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    for given_path in (path, str(path)):
        with pytest.raises(ConfigError, match=rf"^encoding=.*: {why}"):
            Chunker(encoding=given_path)


@pytest.mark.slow
def test_copies_in_other_processes(folder: Path) -> None:
    for encoding in (folder / "tokenizer.json", train("unigram")):
        chunker = chunker_of(encoding)
        texts = [path.read_text("utf-8") for path in sorted(DOCUMENTS.glob("*.md"))[:6]]
        alone = chunker.chunk_batch(texts)
        copy = pickle.loads(pickle.dumps(chunker))  # noqa: S301 - our own
        assert copy.chunk_batch(texts) == alone
        assert chunker.chunk_batch(texts, workers=2) == alone


@pytest.mark.slow
def test_no_threads_are_started(folder: Path) -> None:
    code = (
        "import os, sys; from chunkast import Chunker\n"
        "chunker = Chunker(encoding=sys.argv[1], max_tokens=40)\n"
        "assert len(chunker.chunk('Some words here. ' * 500)) > 9\n"
        "assert 'TOKENIZERS_PARALLELISM' not in os.environ\n"
        "print(len(os.listdir('/proc/self/task')) if os.path.exists('/proc/self/task') else 1)"
    )
    command = [sys.executable, "-c", code, str(folder / "tokenizer.json")]
    kept = {name: value for name, value in os.environ.items() if name != "TOKENIZERS_PARALLELISM"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=kept, timeout=600
    )
    assert (done.stdout.strip(), done.stderr) == ("1", "")


def test_a_file_on_the_command_line(folder: Path) -> None:
    write(folder, {"guide.md": "# Guide\n\n" + "Carry two litres of water, and a map.\n\n" * 60})
    encoding = ["guide.md", "--encoding", folder / "tokenizer.json", "--max-tokens"]
    done = run("chunk", *encoding, "model", cwd=folder)
    assert (done.returncode, b"would not read" in done.stderr) == (0, False)
    count = own_count(train("wordpiece"))
    chunks = records(done.stdout)
    assert all(chunk["embed_token_count"] == count(chunk["embed_text"]) <= 62 for chunk in chunks)
    done = run("chunk", *encoding, "200", cwd=folder)
    embedded = [chunk["embed_token_count"] for chunk in records(done.stdout)]
    cut = [tokens - 62 for tokens in embedded if tokens > 62]
    assert f"; the model would not read {len(cut)} chunk" in done.stderr.decode()
    done = run("stats", *encoding, "200", "--format", "json", cwd=folder)
    report = {"limit": 64, "special_tokens": 2, "chunks_cut": len(cut), "tokens_cut": sum(cut)}
    assert json.loads(done.stdout)["model"] == report
    done = run("stats", *encoding, "200", cwd=folder)
    assert b"64  tokens, 2 of them special; it would not read" in done.stdout


def test_a_folder_stands_for_its_tokenizer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(folder / "tokenizer.json")
    monkeypatch.chdir(folder.parent)
    for encoding in (folder, str(folder), folder.name, f"{folder}{os.sep}"):
        chunker = Chunker(encoding=encoding, max_tokens="model")
        assert (chunker.config.max_tokens, chunker.counter.name) == (
            62,
            Chunker(encoding=path).counter.name,
        )
        text = "Carry two litres of water."
        assert count_tokens(text, encoding) == count_tokens(text, path)
    # An index remembers the file, from any folder.
    write(folder, {"guide.md": "# Guide\n\n" + "Carry water, and a map.\n\n" * 60})
    assert run("index", "guide.md", "--encoding", ".", "-q", cwd=folder).returncode == 0
    with Store(str(folder / ".chunkast.db")) as store:
        assert json.loads(store.settings()["options"])["encoding"] == path
    # A folder of the same name as an encoding is no tokenizer, unless it has one.
    (folder / "o200k_base").mkdir()
    monkeypatch.chdir(folder)
    assert Chunker(encoding="o200k_base").counter.name == "o200k_base"


# Limits


def limited(limit: int) -> Tokenizer:
    tokenizer = Tokenizer.from_str(train("wordpiece").to_str())
    tokenizer.enable_truncation(limit)
    return tokenizer


@pytest.mark.parametrize(("reserved", "prefix"), [(0, ""), (10, "query: ")])
def test_the_limit_less_special_and_reserved_tokens_is_the_budget(
    reserved: int, prefix: str
) -> None:
    tokenizer, budget = limited(64), 62 - reserved
    config = ChunkConfig(encoding=tokenizer, max_tokens="model", reserve_tokens=reserved)
    chunks = check_promises(TEXT, config)
    assert Chunker(config).config.budget == budget >= max(c.embed_token_count for c in chunks)
    # Reserved tokens are no part of the budget that overlap and window are shares of.
    assert chunks == Chunker(encoding=tokenizer, max_tokens=budget).chunk(TEXT, "doc.md")
    whole = Tokenizer.from_str(tokenizer.to_str())
    whole.no_truncation()
    assert own_count(tokenizer)(prefix) <= reserved
    assert max(len(whole.encode(prefix + chunk.embed_text).ids) for chunk in chunks) <= 64


@pytest.mark.parametrize(
    ("encoding", "why"),
    [
        ("cl100k_base", "the encoding has no limit of its own"),
        (len, "the encoding has no limit of its own"),
        (train("wordpiece"), "the encoding has no limit of its own"),
        (limited(2), "special tokens take all 2"),
    ],
)
def test_a_tokenizer_without_a_limit_is_a_configuration_error(encoding: object, why: str) -> None:
    with pytest.raises(
        ConfigError, match=rf"^max_tokens='model': must be a whole number, as {why}"
    ):
        Chunker(max_tokens="model", encoding=encoding)


def test_a_budget_that_is_not_known_yet() -> None:
    config = ChunkConfig(max_tokens="model", overlap=100)
    with pytest.raises(
        ConfigError, match=r"^max_tokens='model': is resolved to a number only in Chunker"
    ):
        _ = config.budget
    with pytest.raises(ConfigError, match=r"^overlap=100: .*max_tokens=62"):
        Chunker(replace(config, encoding=limited(64)))
    with pytest.raises(ConfigError, match=r"^reserve_tokens=62: must be less than max_tokens=62"):
        Chunker(encoding=limited(64), max_tokens="model", reserve_tokens=62)
    with pytest.raises(ConfigError, match=r"^max_tokens='models': .*\"model\""):
        ChunkConfig(max_tokens="models")  # type: ignore[arg-type]


def test_reserved_tokens_on_the_command_line(tmp_path: Path) -> None:
    write(tmp_path, {"guide.md": TEXT})
    arguments = ["guide.md", "--max-tokens", "70", "--reserve-tokens", "12"]
    chunks = records(run("chunk", *arguments, cwd=tmp_path).stdout)
    assert max(chunk["embed_token_count"] for chunk in chunks) <= 58
    done = run("stats", *arguments, "--format", "json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert (report["max_tokens"], report["reserve_tokens"], report["model"]) == (70, 12, None)
    done = run("stats", *arguments, cwd=tmp_path)
    assert b"tokens, 12 of them reserved" in done.stdout
