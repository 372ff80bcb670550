"""What the logger "chunkast" tells, and ``--debug``, which shows it."""

from __future__ import annotations

import importlib.metadata
import logging
import warnings
from pathlib import Path

import pytest

from chunkast import ChunkastWarning, Chunker
from chunkast.cli.main import main
from chunkast.heuristics import Heuristic
from chunkast.markdown import parser, parser_note

VERSIONS = f"markdown-it-py {importlib.metadata.version('markdown-it-py')}, mdit-py-plugins"


@pytest.fixture
def fresh_parsers() -> object:
    """Parsers are made anew in the test, and after it."""
    parser._parser.cache_clear()
    yield
    parser._parser.cache_clear()


def messages(caplog: pytest.LogCaptureFixture, level: int = logging.INFO) -> list[str]:
    assert all(record.name.split(".")[0] == "chunkast" for record in caplog.records)
    return [record.getMessage() for record in caplog.records if record.levelno >= level]


def test_the_library_installs_no_handler() -> None:
    Chunker(max_tokens=20).chunk("# A\n\nText.\n")
    assert logging.getLogger("chunkast").handlers == []


@pytest.mark.usefixtures("fresh_parsers")
def test_the_log_tells_which_parser_serves(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "chunkast")
    Chunker().chunk("# A\n")
    assert messages(caplog) == [parser_note()]
    assert parser_note().startswith(f"fast block parser ({VERSIONS} ")

    caplog.clear()
    parser._parser.cache_clear()
    monkeypatch.setattr("markdown_it.__version__", "4.99.0")
    Chunker().chunk("# A\n")
    [told] = messages(caplog)
    assert told.startswith("stock block parser")
    assert "markdown-it-py 4.99.0" in told


def test_each_note_of_an_analysis_is_logged_once_and_below_warnings(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def failing(_draft: object) -> None:
        raise ValueError("no such thing")

    chunker = Chunker(heuristics=[Heuristic("mine", "post-parse", failing)])
    caplog.set_level(logging.DEBUG, "chunkast")
    with pytest.warns(ChunkastWarning):
        analysis = chunker.analyze("# A\n\nText.\n")
    assert len(analysis.notes) == 1
    told = [record for record in caplog.records if record.getMessage() == analysis.notes[0]]
    assert [record.levelno for record in told] == [logging.INFO]
    assert repr(analysis) in messages(caplog, logging.DEBUG)


def test_code_without_a_grammar_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "chunkast")
    Chunker().chunk("x\n\ny\n", language="klingon")
    assert messages(caplog) == ["no grammar for 'klingon': cut at blank lines and indentation"]


@pytest.mark.usefixtures("fresh_parsers")
@pytest.mark.parametrize("arguments", [["--debug", "chunk", "a.md"], ["chunk", "a.md", "--debug"]])
def test_debug_stands_before_the_command_or_after_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("# A\n\nText.\n", "utf-8", newline="")
    assert main(["chunk", "a.md"]) == 0
    plain = capsys.readouterr()
    parser._parser.cache_clear()
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.out == plain.out
    assert "chunkast: " not in plain.err
    lines = shown.err.splitlines()
    assert f"chunkast: info: {parser_note()}" in lines
    assert any(line.startswith("chunkast: debug: reading ") for line in lines)
    assert logging.getLogger("chunkast").handlers == []
    assert logging.getLogger("chunkast").level == logging.NOTSET


def test_debug_shows_where_an_error_was_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.md").write_bytes(b"\xff\xff")
    for arguments, code in (
        (["chunk", "bad.md"], 1),
        (["chunk", "bad.md", "--encoding", "nonsense"], 2),
        (["view", "missing.md"], 1),
    ):
        assert main(arguments) == code
        plain = capsys.readouterr().err
        [told] = [line for line in plain.splitlines() if "error: " in line]
        assert "Traceback" not in plain
        assert main([*arguments, "--debug"]) == code
        shown = capsys.readouterr().err
        assert told in shown.splitlines()
        assert "chunkast: debug: Traceback" in shown


def test_debug_shows_where_an_error_was_raised_in_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(40):
        (tmp_path / f"{number}.md").write_bytes(b"\xff" if number == 7 else b"# A\n")
    assert main(["--debug", "chunk", ".", "--jobs", "2"]) == 1
    shown = capsys.readouterr().err
    assert "error: 7.md at byte 0" in shown
    assert ", in read_document\n" in shown


def test_after_two_dashes_debug_is_an_operand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--debug").write_text("# A\n", "utf-8")
    assert main(["chunk", "--", "--debug"]) == 0
    assert "debug: " not in capsys.readouterr().err


def test_nothing_is_logged_as_a_warning_without_a_handler(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where logging is not set up, Python prints warnings on stderr."""
    monkeypatch.setattr("chunkast.markdown.fast.VERIFIED", frozenset())
    parser._parser.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Chunker().chunk("# A\n\nText.\n")
    parser._parser.cache_clear()
    assert capsys.readouterr().err == ""
