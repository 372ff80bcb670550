"""Hugging Face tokenizers: objects and files, in this process and in others."""

from __future__ import annotations

import json
import os
import pickle
import string
import subprocess
import sys
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
)

from chunkast import ChunkConfig, Chunker, ConfigError, count_tokens
from chunkast.identity.fingerprint import config_values
from tests.checks import check_promises
from tests.command import records, run, write
from tests.hf import FAMILIES, UNKNOWN, own_count, train
from tests.strategies import documents, nasty_text

DOCUMENTS = Path(__file__).parents[1] / "fixtures" / "documents"
# One of each way to count: pieces that add up, sums of words, estimates.
QUICK = ("wordpiece", "byte-level with a pattern", "unigram")


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


@pytest.mark.parametrize(
    "family",
    [
        family if family in QUICK else pytest.param(family, marks=pytest.mark.slow)
        for family in FAMILIES
    ],
)
def test_documents_in_any_tokenizer(family: str) -> None:
    tokenizer = train(family)
    count = own_count(tokenizer)
    chunker = Chunker(encoding=tokenizer, max_tokens=120)
    for path in sorted(DOCUMENTS.glob("*.md"))[:: 3 if family in QUICK else 1]:
        for chunk in chunker.chunk(path.read_text("utf-8"), path.name):
            assert chunk.token_count == count(chunk.text) <= 120
            assert chunk.embed_token_count == count(chunk.embed_text) <= 120


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


# BPE without pre-tokens, by small vocabularies made for each

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


MIXED = "a b\na  ▁b é\ufffeab\n\n<s> a_b;a"
# Tokenizers without pre-tokens, each with a text whose words are not merged over spaces, or are.
MARKED_CASES: list[tuple[Tokenizer, str]] = [
    (made("▁a", "ab"), "ab ab  cd\n\n e "),
    (made("\n\n\n"), "a\n\n\n\nb"),
    (made(without="\n"), "a\né"),
    (made("é中", also=[*BYTES, *"é中文"], added=["<s>"]), "a中中文 文<s>文\ud800\ud800字👍👍\n"),
    (made("▁a", added=["文"]), "字文字a文"),
    (made(";\n"), "a;\n;b c"),
    (made("\n▁▁"), "a\n  b c"),
    (made(">▁<"), "a> <b> c d\ne"),
    (made("▁▁"), "a▁ b c"),
    (made(">▁<"), "a>  "),
    (made(also=(), without="\n"), "é\né éa é"),
    (made(also=BYTES[:9], without="\n"), "é\né b"),
    (made(byte_fallback=False, without="\n"), "é\né"),
    (made("▁a", added=["<s>"]), "a<s>\na<s> a\na"),
    (made("▁a", added=["<s>"], normalizer=MARKED), "a<s>\na<s> a"),
    (made("ab", added=["<s>"], normalizer=MARKED), "a\nb<s> c"),
    (made("▁a", added=["\n\n"]), "a\n\na b"),
    (made("▁a", added=[AddedToken("<s>", lstrip=True)]), "a\n <s>a b"),
    (made(added=[";▁>", "x\ny"]), "a; >x\nyz b"),
    (made("▁a", added=[AddedToken("▁▁", normalized=True)]), "a   a b"),
    (made("▁a", added=["<s>"], **metaspace("always")), " a<s>\na a<s> a"),
    (made("▁a", added=["<s>"], **metaspace("first")), "a<s>\na ▁a<s> a"),
    (made("▁a", **metaspace("never")), "a\na a"),
    (made("▁a", added=["<s>"], normalizer=None, splitter=pre_tokenizers.Metaspace()), "a\na<s> a"),
    (made("ab", also=[*BYTES, "\ufffe", "\ue000"]), "a\nab \ufffe"),
    (made("\ue000a", also=[*BYTES, "\ue000"], added=["<s>"]), "b\na<s> c"),
    *(
        (tokenizer, MIXED)
        for tokenizer in (
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
        )
    ),
]


@pytest.mark.parametrize(("tokenizer", "text"), MARKED_CASES)
def test_marked_words_count_as_the_tokenizer_counts_them(tokenizer: Tokenizer, text: str) -> None:
    count, counted = own_count(tokenizer), Chunker(encoding=tokenizer).counter.count
    for end in range(len(text) + 1):
        assert counted(text[:end]) == count(text[:end]), text[:end]
        assert counted(text[end:]) == count(text[end:]), text[end:]


# Words, by random combinations of what tokenizers have

NORMALIZERS: dict[str, Callable[[], normalizers.Normalizer]] = {
    "lower": normalizers.Lowercase,
    "nfc": normalizers.NFC,
    "nfkc": normalizers.NFKC,
    "nfd": normalizers.NFD,
    "accents": normalizers.StripAccents,
    "nmt": normalizers.Nmt,
    "bert": normalizers.BertNormalizer,
    "prepend": lambda: normalizers.Prepend("▁"),
    "mark": lambda: MARKED,
    "mark runs": lambda: normalizers.Replace(Regex(" {2,}"), "▁"),
    "join": lambda: normalizers.Replace(Regex(" {2,}"), " "),
    "lines": lambda: normalizers.Replace(Regex(r"[\n\r\t]"), " "),
    "strip": normalizers.Strip,
    "strip right": lambda: normalizers.Strip(left=False),
}
SPLITTERS: dict[str, Callable[[], pre_tokenizers.PreTokenizer]] = {
    "words": pre_tokenizers.Whitespace,
    "spaces": pre_tokenizers.WhitespaceSplit,
    "digits": pre_tokenizers.Digits,
    "punctuation": pre_tokenizers.Punctuation,
    "bert": pre_tokenizers.BertPreTokenizer,
    "marks": pre_tokenizers.Metaspace,
    "marks first": lambda: pre_tokenizers.Metaspace(prepend_scheme="first"),
    "never marks": lambda: pre_tokenizers.Metaspace(prepend_scheme="never"),
    "no split": lambda: pre_tokenizers.Metaspace(split=False),
}
WORDS = (
    "a",
    "b",
    "c",
    "ab",
    "abc",
    "1",
    "12",
    ".",
    "!",
    "▁",
    "▁a",
    "▁ab",
    "é",
    "中",
    "\n",
    "##a",
    "tok",
)
PIECES = st.sampled_from(
    (
        *"ab.1A!",
        "abc",
        " ",
        "  ",
        "\n",
        "\t",
        "\r\n",
        "12",
        "?!",
        "é",
        "é",
        "中",
        "▁",
        "<s>",
        "tok",
        "\xa0",
        "\u3000",
        "¼",
        "İ",
        "ß",
        "\u200b",
        "\x00",
        "٣",
        "ﬁ",
    )
)


def combined(normal: Sequence[str], split: Sequence[str], added: Sequence[AddedToken]) -> Tokenizer:
    vocabulary = {word: number for number, word in enumerate(["[UNK]", *WORDS])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=UNKNOWN))
    if normal:
        tokenizer.normalizer = normalizers.Sequence([NORMALIZERS[name]() for name in normal])
    parts = [SPLITTERS[name]() for name in split]
    tokenizer.pre_tokenizer = parts[0] if len(parts) == 1 else pre_tokenizers.Sequence(parts)
    tokenizer.add_tokens(list(added))
    return tokenizer


@example(["mark"], ["words"], [], "! a")
@example(["mark runs"], ["words"], [], "?!  ")
@example(["mark runs"], ["spaces"], [], "中a   A")
@example(["mark runs"], ["bert"], [], ".  A!")
@example(["strip"], ["marks"], [AddedToken("tok")], "tok  a")
@example(["strip"], ["marks first"], [], "  12")
@example(["bert"], ["words", "marks"], [], "中.٣")
@given(
    st.lists(st.sampled_from(sorted(NORMALIZERS)), max_size=3),
    st.lists(st.sampled_from(sorted(SPLITTERS)), min_size=1, max_size=2),
    st.lists(
        st.sampled_from(("<s>", "tok", "b!")).flatmap(
            lambda text: st.builds(
                AddedToken, st.just(text), lstrip=st.booleans(), normalized=st.booleans()
            )
        ),
        max_size=1,
    ),
    st.lists(PIECES, max_size=8).map("".join),
)
def test_every_combination_counts_as_the_library_counts(
    normal: list[str], split: list[str], added: list[AddedToken], text: str
) -> None:
    tokenizer = combined(normal, split, added)
    assert Chunker(encoding=tokenizer).counter.count(text) == own_count(tokenizer)(text)
