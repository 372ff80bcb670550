"""What the logger "chunkast" tells, and ``--debug``, which shows it."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from chunkast import Chunker
from chunkast.markdown import parser, parser_note
from chunkast.toolcalls import Tool
from tests.command import run, write


@pytest.fixture
def fresh_parsers() -> object:
    """Parsers are made anew in the test, and after it."""
    parser._parser.cache_clear()
    yield
    parser._parser.cache_clear()


def test_each_note_of_an_analysis_is_logged_once_and_below_warnings(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "chunkast")
    analysis = Chunker(tools=[Tool("a")]).analyze("# A\n\n<a><x></a>\n")
    assert len(analysis.notes) == 1
    told = [record for record in caplog.records if record.getMessage() == analysis.notes[0]]
    assert [record.levelno for record in told] == [logging.INFO]
    assert repr(analysis) in caplog.messages


@pytest.mark.usefixtures("fresh_parsers")
def test_debug_shows_the_log_before_the_command_or_after_it(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "# A\n\nText.\n", "--debug": "# A\n"})
    plain = run("chunk", "a.md", cwd=tmp_path)
    assert b"chunkast: " not in plain.stderr
    for words in (["--debug", "chunk", "a.md"], ["chunk", "a.md", "--debug"]):
        parser._parser.cache_clear()
        shown = run(*words, cwd=tmp_path)
        assert shown.stdout == plain.stdout
        lines = shown.stderr.decode().splitlines()
        assert f"chunkast: info: {parser_note()}" in lines
        assert any(line.startswith("chunkast: debug: reading ") for line in lines)
        assert logging.getLogger("chunkast").handlers == []
        assert logging.getLogger("chunkast").level == logging.NOTSET
    # After two dashes it is a file's name.
    assert b"debug: " not in run("chunk", "--", "--debug", cwd=tmp_path).stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["chunk", "0.md"], 1),
        (["chunk", ".", "--jobs", "2"], 1),
        (["chunk", "0.md", "--encoding", "nonsense"], 2),
        (["view", "missing.md"], 1),
    ],
)
def test_debug_shows_where_an_error_was_raised(
    tmp_path: Path, arguments: list[str], code: int
) -> None:
    write(tmp_path, {f"{number}.md": b"# A\n" if number else b"\xff" for number in range(40)})
    plain = run(*arguments, cwd=tmp_path)
    [told] = [line for line in plain.stderr.splitlines() if b"error: " in line]
    assert b"Traceback" not in plain.stderr
    shown = run(*arguments, "--debug", cwd=tmp_path)
    assert (plain.returncode, shown.returncode) == (code, code)
    assert told in shown.stderr.splitlines()
    assert b"chunkast: debug: Traceback" in shown.stderr
