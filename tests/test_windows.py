"""A model's window: the tokenizer's limit as the budget, room for prefixes, what would be cut."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from chunkast import ChunkConfig, Chunker, ConfigError
from chunkast.cli.main import main
from tests.checks import check_promises
from tests.hf import own_count, train

TEXT = "# Guide\n\n" + "Carry two litres of water, and a map.\n\n## Maps\n\n" * 40


def limited(limit: int) -> Tokenizer:
    tokenizer = Tokenizer.from_str(train("wordpiece").to_str())
    tokenizer.enable_truncation(limit)
    return tokenizer


def test_the_limit_less_the_special_tokens_is_the_budget() -> None:
    tokenizer = limited(64)
    chunker = Chunker(encoding=tokenizer, max_tokens="model")
    assert chunker.config.max_tokens == chunker.config.budget == 62
    chunks = chunker.chunk(TEXT)
    assert len(chunks) > 3
    count = own_count(tokenizer)
    assert all(chunk.embed_token_count == count(chunk.embed_text) <= 62 for chunk in chunks)
    whole = Tokenizer.from_str(tokenizer.to_str())
    whole.no_truncation()
    assert max(len(whole.encode(chunk.embed_text).ids) for chunk in chunks) <= 64


def test_reserved_tokens_are_left_free_in_what_is_embedded() -> None:
    tokenizer = limited(64)
    config = ChunkConfig(encoding=tokenizer, max_tokens="model", reserve_tokens=10)
    chunks = check_promises(TEXT, config)
    assert max(chunk.embed_token_count for chunk in chunks) <= 52
    # They are no part of the budget that overlap and window are shares of.
    assert chunks == Chunker(encoding=tokenizer, max_tokens=52).chunk(TEXT, "doc.md")
    whole = Tokenizer.from_str(tokenizer.to_str())
    whole.no_truncation()
    prefix = "query: "
    room = own_count(tokenizer)(prefix)
    assert room <= 10
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


def test_reserved_tokens_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "guide.md"
    path.write_text(TEXT, "utf-8")
    arguments = ["--max-tokens", "70", "--reserve-tokens", "12"]

    def largest(*options: str) -> int:
        assert main(["chunk", str(path), *options, "-q"]) == 0
        chunks = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        return max(int(chunk["embed_token_count"]) for chunk in chunks)

    assert largest(*arguments) <= 58 < largest("--max-tokens", "70") <= 70
    assert main(["stats", str(path), *arguments, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["max_tokens"], report["reserve_tokens"], report["model"]) == (70, 12, None)
    assert main(["stats", str(path), *arguments]) == 0
    assert "tokens, 12 of them reserved" in capsys.readouterr().out
