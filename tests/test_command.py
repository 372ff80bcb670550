"""The command on documents of its own.

What it prints is compared with what the library returns for the same text and options. Bad input,
broken pipes and signals are real.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import chunkast
from chunkast.cli.main import COMMANDS, parser_of
from chunkast.cli.option_table import SHELLS
from chunkast.markdown import parser_note
from chunkast.toolcalls import Tool, tools_from_json
from tests.command import (
    GUIDE,
    environment,
    errors,
    expected,
    group_lives,
    linux,
    paragraphs,
    parts,
    posix,
    records,
    refused,
    run,
    sources,
    started,
    wait_until,
    write,
)
from tests.manual import completions
from tests.tables import Case, document, each_case

# Help and usage


def test_help_and_version(tmp_path: Path) -> None:
    for words, begins in (("--help", "usage: chunkast ["), ("--version", "chunkast 0.")):
        done = run(words, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.decode().startswith(begins)
    assert f"{chunkast.__version__}\n{parser_note()}\ntiktoken " in done.stdout.decode()
    assert run(cwd=tmp_path).returncode == 2


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_short_and_help_all_is_not(name: str, tmp_path: Path) -> None:
    def options(flag: str) -> tuple[list[str], str]:
        page = run(name, flag, cwd=tmp_path).stdout.decode()
        described = page.partition("options:")[2]
        return re.findall(r"^  (-\S+)", described, re.MULTILINE), page

    (few, short), (every, full) = options("--help"), options("--help-all")
    assert set(few) <= set(every)
    # Besides --help and --help-all.
    assert len(few) <= 15
    assert len(every) > 20 or len(every) <= 17
    for page in (short, full):
        assert page.partition("examples:\n")[2].count("\n  ") == 1
    # The examples are right about the options.
    for line in short.partition("examples:\n")[2].splitlines():
        words = shlex.split(line.partition("chunkast ")[2])
        assert words[0] == name
        assert set(every) >= {word for word in words if word.startswith("--")}


def test_help_of_a_command_and_its_last_options(tmp_path: Path) -> None:
    assert run("help", cwd=tmp_path).stdout == run("--help", cwd=tmp_path).stdout
    for name in COMMANDS:
        page = run("help", name, cwd=tmp_path)
        assert (page.returncode, page.stdout) == (0, run(name, "--help", cwd=tmp_path).stdout)
        assert b"-q, --quiet" in page.stdout


def test_completions_are_up_to_date(tmp_path: Path) -> None:
    parser = parser_of(every=True)
    flags = {name: set(command._option_string_actions) for name, command in parser.commands.items()}
    for shell in SHELLS:
        done = run("completion", shell, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, b"")
        known = (
            set(re.findall(r"-[\w-]+", done.stdout.decode()))
            | {f"-{option}" for option in re.findall(r" -s (\w)\b", done.stdout.decode())}
            | {f"--{option}" for option in re.findall(r" -l ([\w-]+)", done.stdout.decode())}
        )
        assert set().union(*flags.values()) <= known
        for name in COMMANDS:
            assert re.search(rf"\b{name}\b", done.stdout.decode())
    pytest.importorskip("shtab", reason="no shtab: pip install 'chunkast[test]'")
    for path, text in completions().items():
        assert path.read_text("utf-8") == text, "outdated: python -m tests.manual"


BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
_shtab_chunkast chunkast "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
echo "${COMPREPLY[@]}"
"""


@posix
@each_case("command", "completed")
def test_bash_completes(case: Case, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash")
    write(tmp_path, {"guide.md": "# A\n", "folder/b.md": "# B\n"})
    (tmp_path / "script").write_bytes(run("completion", "bash", cwd=tmp_path).stdout)
    words = [bash, "-c", BASH, "bash", "./script", *case["name"].split(" ")]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=True, text=True)
    assert sorted(done.stdout.split()) == case["words"]


@each_case("command", "mistakes")
def test_a_mistake_is_one_line_before_anything_is_read(case: Case, tmp_path: Path) -> None:
    write(tmp_path, {"a.md": b"\xff"})
    assert case["says"] in refused(*case["name"].split(), cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]


# Terminals and the log


def test_on_a_terminal_chunks_are_for_a_person(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "# Guide\n\nOne \x1b[31m.\n\n- a\n- b\n- c\n"})
    write(tmp_path, {"b.md": f"# {'Title ' * 40}\n\nOne{' word' * 40}.\n"})
    done = run("chunk", "a.md", "b.md", "-o", "-", cwd=tmp_path, terminal="stdout")
    assert len(records(done.stdout)) == 2
    done = run("chunk", "a.md", "--format", "parquet", cwd=tmp_path, terminal="stdout")
    assert (done.returncode, done.stdout) == (2, b"")
    done = run("chunk", "a.md", "b.md", cwd=tmp_path, terminal="stdout")
    assert (done.returncode, done.stderr.count(b"\n")) == (0, 1)
    lines = re.sub(rb"\x1b\[[0-9;]*m", b"", done.stdout).decode().splitlines()
    assert lines[0].startswith("a.md:1-7  ")
    assert lines[0].endswith("tokens  Guide")
    # Nothing in a document acts on the terminal.
    assert lines[1:5] == ["  # Guide", "  One ␛[31m.", "  - a", "  … 2 more lines"]
    # Long lines are cut off at the edge.
    assert [line[:6] for line in lines[6:9]] == ["b.md:1", "  # Ti", "  One "]
    assert all(line.endswith("…") for line in lines[6:9])
    assert "--format jsonl" in lines[-1]


def test_a_preview_has_five_chunks_and_the_number_of_the_others(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": parts(8), "b.md": parts(1)})
    options = ("--max-tokens", "200", "--overlap", "0")
    for words in ("a.md", "a.md b.md"):
        count = len(records(run("chunk", *words.split(), *options, cwd=tmp_path).stdout))
        done = run("chunk", *words.split(), *options, cwd=tmp_path, terminal="stdout")
        page = re.sub(rb"\x1b\[[0-9;]*m", b"", done.stdout).decode()
        assert len(re.findall(r"^[ab]\.md:", page, re.MULTILINE)) == 5
        assert page.endswith(f"\n… {count - 5} more: -o FILE, or a pipe for all\n")
    # All of them where a format is named, or another reader.
    for more, terminal in ((("--format", "text"), "stdout"), ((), "stderr")):
        done = run("chunk", "a.md", *more, *options, cwd=tmp_path, terminal=terminal)
        assert done.stdout.count(b"a.md") >= 8


def test_progress_is_shown_on_a_terminal(tmp_path: Path) -> None:
    write(tmp_path, {f"docs/{n}.md": paragraphs(10, n) for n in range(4)})
    write(tmp_path, {"docs/bad.md": b"\xff"})
    for words, bar in ((["docs"], True), (["docs", "-q"], False), (["docs/1.md"], False)):
        done = run("chunk", *words, cwd=tmp_path, terminal="stderr")
        assert (b"\x1b[" in done.stderr and b"100%" in done.stderr) == bar
        assert records(done.stdout)
        assert (b"docs/bad.md at byte 0" in done.stderr) == (words != ["docs/1.md"])


def test_one_large_file_shows_that_time_passes(tmp_path: Path) -> None:
    write(tmp_path, {"large.md": paragraphs(16_000), "small.md": paragraphs(10)})
    assert (tmp_path / "large.md").stat().st_size > 1_000_000
    for name, bar in (("large.md", True), ("small.md", False)):
        done = run("stats", name, cwd=tmp_path, terminal="stderr")
        assert (re.search(rb"0:00:0\d", done.stderr) is not None) == bar
        assert b"%" not in done.stderr


NO_TEXT: dict[str, tuple[bytes, str]] = {
    "a.md": (b"%PDF-1.7\n1 0 obj\nendobj\n", "this is a PDF; convert it to Markdown, "),
    "b.md": (b"{\\rtf1 Text}", "this is RTF; convert it to Markdown"),
    "c.txt": (b"PK\x03\x04word/document.xml", "this is a ZIP file (Word, PowerPoint, EPUB"),
    "d.md": (b"\x89PNG\r\n\x1a\n", "this is a PNG image; "),
    "e.md": ("Zwölf".encode("utf-16")[2:], "this is binary, or UTF-16; "),
    "f.md": ("Zwölf".encode("utf-16"), "this is UTF-16; convert the file to UTF-8"),
    "g.md": (bytes(range(32)) * 8, "this is binary, or UTF-16; "),
}


def test_what_is_no_text_is_refused_by_its_name(tmp_path: Path) -> None:
    # A text with a NUL in it, or about a format, is a text.
    texts = {"x.md": b"# A\n\nIt ends with a NUL, \0 in C.\n", "y.md": b"# %PDF-\n\nPK\x03\n"}
    write(tmp_path, {name: data for name, (data, _) in NO_TEXT.items()} | texts)
    done = run("chunk", ".", cwd=tmp_path)
    assert (done.returncode, sources(done.stdout)) == (1, ["x.md", "y.md"])
    for (name, (_, says)), line in zip(NO_TEXT.items(), errors(done.stderr), strict=True):
        assert line.startswith(f"chunkast: error: ./{name}")
        assert f": {says}" in line
        [told] = errors(run("outline", name, cwd=tmp_path).stderr)
        assert says in told


def test_debug_shows_the_log_and_where_an_error_was_raised(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "# A\n\nText.\n", "--debug": "# A\n", "bad/0.md": b"\xff"})
    write(tmp_path, {f"bad/{number}.md": "# A\n" for number in range(1, 3)})
    for words, code in (("chunk a.md", 0), ("chunk bad", 1), ("chunk a.md --encoding x", 2)):
        plain = run(*words.split(), cwd=tmp_path)
        assert (plain.returncode, b"debug: " in plain.stderr) == (code, False)
        for debug in (f"--debug {words}", f"{words} --debug"):
            shown = run(*debug.split(), cwd=tmp_path)
            assert (shown.returncode, shown.stdout) == (code, plain.stdout)
            assert (b"\nchunkast: debug: Traceback" in shown.stderr) == bool(code)
            assert {*errors(plain.stderr)} <= {*shown.stderr.decode().splitlines()}
            assert bool(code) or b"chunkast: debug: reading a.md\n" in shown.stderr
    # After two dashes it is a file's name; and the log is as it was.
    assert b"debug: " not in run("chunk", "--", "--debug", cwd=tmp_path).stderr
    logger = logging.getLogger("chunkast")
    assert (logger.handlers, logger.level) == ([], logging.NOTSET)


def test_each_note_of_an_analysis_is_logged_once_below_warnings(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "chunkast")
    analysis = chunkast.Chunker(tools=[Tool("a")]).analyze("# A\n\n<a><x></a>\n")
    assert len(analysis.notes) == 1
    told = [record for record in caplog.records if record.getMessage() == analysis.notes[0]]
    assert [record.levelno for record in told] == [logging.INFO]
    assert repr(analysis) in caplog.messages


# Which files


def test_a_folder_is_searched_for_markdown(tmp_path: Path) -> None:
    found = ["B.MD", "a.md", "deep/er/f.txt", "x.markdown", "x.mdx", "x.qmd", "x.rmd", "z.md/in.md"]
    left_out = ["image.png", "code.py", "md", ".hidden.md", ".git/a.md", "deep/__pycache__/a.md"]
    vendored = ["node_modules/p/README.md", "deep/venv/a.md", "dist/a.md", "build/a.md"]
    names = [*found, *left_out, *vendored]
    write(tmp_path / "docs", {name: f"Text of {name}.\n" for name in names})
    done = run("chunk", "docs", cwd=tmp_path)
    assert (done.returncode, errors(done.stderr)) == (0, [])
    assert sources(done.stdout) == sorted(f"docs/{name}" for name in found)
    note = next(line for line in done.stderr.decode().splitlines() if "note" in line)
    assert "docs/node_modules" in note
    assert "docs/deep/venv" in note


@posix
@pytest.mark.parametrize("argument", ["docs", "docs/**"])
def test_links(tmp_path: Path, argument: str) -> None:
    docs = tmp_path / "docs"
    write(tmp_path, {"docs/b.md": "b\n", "docs/sub/c.md": "c\n", "else/d.md": "d\n"})
    os.mkfifo(docs / "pipe.md")
    (docs / "a.md").symlink_to("b.md")
    (docs / "other.md").symlink_to("../else/d.md")
    (docs / "sub" / "up").symlink_to("..", target_is_directory=True)
    (docs / "else").symlink_to("../else", target_is_directory=True)
    (docs / "self").symlink_to("self")
    (tmp_path / "else" / "back").symlink_to("../docs", target_is_directory=True)
    done = run("chunk", argument, cwd=tmp_path)
    # A link and its file are one file; a linked folder is not entered.
    assert (done.returncode, sources(done.stdout)) == (0, ["docs/b.md", "docs/sub/c.md"])
    [note] = [line for line in done.stderr.decode().splitlines() if "note" in line]
    assert "skipped docs/else, docs/other.md: symbolic links out of the folder" in note
    done = run("chunk", argument, "--follow-links", cwd=tmp_path)
    assert (done.returncode, errors(done.stderr)) == (0, [])
    # A file has one name, whatever link leads to it, and circles end.
    assert sources(done.stdout) == ["docs/b.md", "docs/sub/c.md", "else/d.md"]
    # What is named is taken.
    done = run("chunk", "docs/other.md", "docs/else", cwd=tmp_path)
    assert (done.returncode, sources(done.stdout)) == (0, ["else/d.md"])
    (docs / "gone.md").symlink_to("nothing")
    [line] = errors(run("chunk", "docs", cwd=tmp_path).stderr)
    assert "docs/gone.md: No such file" in line


@posix
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_pipe_is_read_once_and_here(tmp_path: Path, jobs: int) -> None:
    # As the shell's <(command) gives it: no worker process can open it.
    write(tmp_path, {f"docs/{n}.md": "a\n" for n in range(50)})
    reads, writes = os.pipe()
    os.write(writes, b"From the pipe.\n")
    os.close(writes)
    done = run("chunk", f"/dev/fd/{reads}", "docs", "--jobs", jobs, cwd=tmp_path)
    os.close(reads)
    assert (done.returncode, errors(done.stderr)) == (0, [])
    assert len(sources(done.stdout)) == 51
    first = records(done.stdout)[0]
    assert (first["source"], first["text"]) == (f"/dev/fd/{reads}", "From the pipe.")


TREE = ["a.md", "b.rst", ".h.md", "sub/d.md", "sub/e.txt", "sub/deep/f.MD", "node_modules/g.md"]
TREE += [".hid/h.md", "c.png", "[x].md"]


@each_case("command", "globs")
@posix
def test_globs_that_no_shell_expanded(case: Case, tmp_path: Path) -> None:
    # A folder that matches is searched, as when the shell expands the pattern.
    write(tmp_path / "docs", dict.fromkeys(TREE, "a\n"))
    done = run("chunk", case["name"], cwd=tmp_path)
    assert sources(done.stdout) == case["sources"]
    assert done.returncode == (0 if case["sources"] else 1)
    told = [] if case["sources"] else [f"chunkast: error: {case['name']}: no file matches"]
    assert errors(done.stderr) == told


# Reading


def test_standard_input(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "a\n"})
    done = run("chunk", "-", cwd=tmp_path, stdin=GUIDE.encode())
    assert (done.returncode, errors(done.stderr)) == (0, [])
    assert records(done.stdout) == expected([(None, GUIDE)])
    both = run("chunk", "a.md", "-", "-", cwd=tmp_path, stdin=b"From stdin.\n")
    found = [(record["source"], record["text"]) for record in records(both.stdout)]
    assert found == [(None, "From stdin."), ("a.md", "a")]
    bad = run("chunk", "-", cwd=tmp_path, stdin=b"ab\xff")
    assert bad.returncode == 1
    assert "<stdin> at byte 2: " in errors(bad.stderr)[0]


def test_bad_inputs_are_told_and_the_others_are_chunked(tmp_path: Path) -> None:
    bad = b"# Good start\n\nthen \xe9 in Latin-1\n"
    write(tmp_path, {"docs/good.md": GUIDE, "docs/bad.md": bad, "images/a.png": b"\x89PNG"})
    (tmp_path / "empty").mkdir()
    long = "long" * 100
    inputs = ("docs", "\x1b[31m.md", "empty", "images", "*.nope", long)
    done = run("chunk", *inputs, cwd=tmp_path)
    assert done.returncode == 1
    assert records(done.stdout) == expected([("docs/good.md", GUIDE)])
    told = errors(done.stderr)
    for line, start in zip(
        told,
        (
            r"\x1b[31m.md: no file matches",
            "empty: no file to chunk in this folder",
            "images: no file to chunk in this folder",
            "*.nope: no file matches",
            f"{long}: no such file or folder",
            "docs/bad.md at byte 19: 0xe9 is not valid UTF-8",
        ),
        strict=True,
    ):
        assert line.startswith(f"chunkast: error: {start}")
    assert done.stderr.splitlines()[-1].endswith(b", 6 failed")
    # Errors are told even when nothing else is.
    quiet = run("chunk", *inputs, "-q", cwd=tmp_path)
    assert quiet.stdout == done.stdout
    assert quiet.stderr.decode().splitlines() == told


# Options

TOOLS = document("tools.json")


@each_case("command", "options")
def test_options_reach_the_configuration(case: Case, tmp_path: Path) -> None:
    text, options = document("options.md"), case["options"]
    write(tmp_path, {"a.md": text, "tools.json": TOOLS})
    done = run("chunk", "a.md", *shlex.split(case["name"]), cwd=tmp_path)
    assert (done.returncode, errors(done.stderr)) == (0, [])
    if "tools" in options:
        options = {**options, "tools": tools_from_json(options["tools"])}
    assert records(done.stdout) == expected([("a.md", text)], **options)


# Output


def test_formats(tmp_path: Path) -> None:
    files = {"a.md": GUIDE, "b.md": "Plain.\n", "c.md": ""}
    write(tmp_path, {**files, "empty/e.md": " \n\n"})
    wanted = expected(list(files.items()), max_tokens=60)
    chunk = ("chunk", "a.md", "b.md", "c.md", "--max-tokens", "60")
    done = run(*chunk, cwd=tmp_path)
    assert records(done.stdout) == wanted
    tokens = sum(chunk["token_count"] for chunk in wanted)
    summary = rf"3 files, {len(wanted)} chunks, {tokens} tokens, \d+\.\d\d s\n"
    assert re.fullmatch(summary, done.stderr.decode())
    assert json.loads(run(*chunk, "--format", "json", cwd=tmp_path).stdout) == wanted
    pages = []
    for each in wanted:
        place = f"{each['source']}:{each['start_line']}-{each['end_line']}"
        path = f"  {' > '.join(each['headings'])}" if each["headings"] else ""
        head = f"{place}  {each['token_count']} tokens{path}"
        pages.append(f"{head}\n\n{each['text']}\n" + "─" * 72 + "\n")
    assert run(*chunk, "--format", "text", cwd=tmp_path).stdout.decode() == "".join(pages)
    for form, out in (("jsonl", b""), ("json", b"[]\n"), ("text", b"")):
        done = run("chunk", "empty", "--format", form, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, out)


@posix
def test_an_output_file_keeps_its_rights_and_its_link(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": GUIDE, "real.jsonl": "old\n"})
    (tmp_path / "real.jsonl").chmod(0o640)
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    assert run("chunk", "a.md", "-o", "link.jsonl", cwd=tmp_path).returncode == 0
    assert (tmp_path / "link.jsonl").is_symlink()
    assert sources((tmp_path / "real.jsonl").read_bytes()) == ["a.md"]
    assert (tmp_path / "real.jsonl").stat().st_mode & 0o777 == 0o640
    # A new file has the rights that any new file has.
    (tmp_path / "plain").touch()
    assert run("chunk", "a.md", "-o", "new.jsonl", cwd=tmp_path).returncode == 0
    modes = [(tmp_path / name).stat().st_mode for name in ("plain", "new.jsonl")]
    assert modes[0] == modes[1]


def test_an_output_file_is_replaced_if_something_was_chunked_and_is_no_input(
    tmp_path: Path,
) -> None:
    write(tmp_path, {"out.txt": "old\n", "bad.md": b"\xff", "good.md": GUIDE})
    assert run("chunk", "bad.md", "missing.md", "-o", "out.txt", cwd=tmp_path).returncode == 1
    assert (tmp_path / "out.txt").read_text() == "old\n"
    # Some of it is worth keeping, and the exit code tells that it is not all.
    done = run("chunk", ".", "-o", "out.txt", cwd=tmp_path)
    assert (done.returncode, b"1 file," in done.stderr) == (1, True)
    assert (tmp_path / "out.txt").read_text("utf-8").startswith("good.md:1-")
    done = run("chunk", "good.md", "-o", "./good.md", "--format", "text", cwd=tmp_path)
    assert done.returncode == 2
    assert "--output ./good.md: that is one of the inputs" in errors(done.stderr)[0]
    assert (tmp_path / "good.md").read_text() == GUIDE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.md", "good.md", "out.txt"]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_memory_is_not_filled_with_what_nobody_takes(tmp_path: Path, jobs: int) -> None:
    # While the pipe is full no further files are read, so one can still be taken away.
    write(tmp_path, {f"docs/{n:03}.md": paragraphs(150, n) for n in range(250)})
    with started("chunk", "docs", "--jobs", jobs, cwd=tmp_path, bufsize=0) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        (tmp_path / "docs" / "249.md").unlink()
        out, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert errors(err) == ["chunkast: error: docs/249.md: No such file or directory"]
    assert len(sources(first + out)) == 249


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["--jobs", "1"], ["--jobs", "2"], ["--format", "json"]])
def test_a_reader_that_leaves(tmp_path: Path, arguments: list[str], unbuffered: str) -> None:
    env = environment({"PYTHONUNBUFFERED": unbuffered})
    write(tmp_path, {f"docs/{n:03}.md": paragraphs(100, n) for n in range(100)})
    with started("chunk", "docs", *arguments, cwd=tmp_path, env=env) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
        assert process.wait(timeout=60) == 0
    assert err == b""


@pytest.mark.slow
@linux
def test_a_full_disk(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": GUIDE})
    with Path("/dev/full").open("wb") as full:
        for arguments in ("chunk a.md", "chunk a.md -o /dev/full", "stats a.md", "--help"):
            with started(*arguments.split(), cwd=tmp_path, stdout=full) as process:
                _, err = process.communicate(timeout=60)
            assert process.returncode == 1
            assert errors(err) == ["chunkast: error: No space left on device"]


# Signals and processes


@pytest.mark.slow
@posix
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_leave_no_files(tmp_path: Path, name: str, jobs: int) -> None:
    number = signal.Signals[name]
    out = tmp_path / "out"
    write(tmp_path, {f"docs/{n:03}.md": paragraphs(2000, n) for n in range(60)})
    write(out, {"out.jsonl": "old\n"})
    arguments = ("chunk", "docs", "-o", "out/out.jsonl", "--jobs", jobs)
    with started(*arguments, cwd=tmp_path, start_new_session=True) as process:
        # When data arrives in the temporary file, the work is well under way.
        wait_until(
            lambda: (
                process.poll() is not None or any(path.stat().st_size for path in out.glob(".*"))
            )
        )
        assert process.poll() is None
        # As a terminal does it: to the workers as well, and SIGHUP more than once.
        for _ in range(2):
            (os.kill if name == "SIGTERM" else os.killpg)(process.pid, number)
        printed, err = process.communicate(timeout=60)
    assert (process.returncode, printed) == (128 + number, b"")
    says = r"chunkast: interrupted; out/out\.jsonl was not written, \d+ files? were read\n"
    assert re.fullmatch(says, err.decode())
    assert [path.name for path in out.iterdir()] == ["out.jsonl"]
    assert (out / "out.jsonl").read_text() == "old\n"
    wait_until(lambda: not group_lives(process.pid))


# Ctrl-C comes while a module is imported.
INTERRUPTED = """
import os, runpy, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == NAME:
            os.kill(os.getpid(), signal.SIGINT)

NAME = sys.argv.pop(1)
sys.meta_path.insert(0, Finder())
runpy.run_module("chunkast", run_name="__main__", alter_sys=True)
"""


@pytest.mark.slow
@posix
@pytest.mark.parametrize("module", ["chunkast.cli", "argparse", "tiktoken", "chunkast.output.json"])
def test_an_interrupt_while_modules_are_imported_is_quiet(tmp_path: Path, module: str) -> None:
    words = [sys.executable, "-c", INTERRUPTED, module, "chunk", "-"]
    done = subprocess.run(
        words, cwd=tmp_path, input=b"A.", capture_output=True, env=environment(), check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.slow
def test_jobs_give_the_same_bytes(tmp_path: Path) -> None:
    # Sources that come twice, a large one, and files that fail.
    files: dict[str, str | bytes] = {f"one/{n:02}.md": paragraphs(20, n) for n in range(40)}
    files |= {f"two/{n:02}.md": paragraphs(5, n) for n in range(20, 40, 3)}
    files |= {"one/03.md": paragraphs(1500), "one/33.md": b"\xff", "two/39.md": b"\xff"}
    write(tmp_path, {**files, "one/0.md": b"\xff"})
    inputs = ("one", "-", "two", "missing")
    for words in (
        ["chunk"],
        ["chunk", "--format", "json"],
        ["snapshot"],
        ["stats", "--format", "json"],
    ):
        alone = run(*words, *inputs, cwd=tmp_path, stdin=GUIDE.encode())
        assert alone.returncode == 1
        assert alone.stdout
        assert len(errors(alone.stderr)) == 4
        together = run(*words, *inputs, "--jobs", 3, cwd=tmp_path, stdin=GUIDE.encode())
        assert (together.returncode, together.stdout) == (1, alone.stdout)
        assert errors(together.stderr) == errors(alone.stderr)
    shown = run("chunk", "one", "--jobs", 2, "--debug", cwd=tmp_path)
    assert b"\nchunkast: debug: Traceback" in shown.stderr


# Statistics and the view


def test_quiet_prints_errors_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    write(tmp_path, {"docs/a.md": GUIDE, "docs/venv/b.md": "# B\n"})
    (tmp_path / "else").mkdir()
    for words, code in (
        ("index ../docs --db a.db", 0),
        ("index --db a.db --dry-run", 0),
        ("snapshot ../docs -o a.lock", 0),
        ("check ../docs --against a.lock", 0),
        ("check ../docs --against a.lock --update", 0),
        ("view ../docs", 0),
        ("chunk ../docs -o a.jsonl", 0),
        ("sync --db a.db --to qdrant:store#docs --dry-run", 1),
    ):
        done = run(*words.split(), "-q", cwd=tmp_path / "else")
        assert (done.returncode, done.stdout) == (code, b"")
        assert len(errors(done.stderr)) == len(done.stderr.splitlines()) == code
    # A note of what is left out of a passage, too.
    read = ("read", "../docs/a.md", "--max-tokens", "20")
    assert run(*read, cwd=tmp_path / "else").stderr.startswith(b"chunkast: note: ")
    assert run(*read, "-q", cwd=tmp_path / "else").stderr == b""


def test_view_opens_a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a.md": GUIDE})
    for found in (True, False):
        monkeypatch.setattr("webbrowser.open", lambda url, found=found: found and "a.chunks" in url)
        done = run("view", "a.md", "--open", "-q", cwd=tmp_path)
        assert done.returncode == (not found)
        assert (b"--open: no browser was found" in done.stderr) == (not found)


def test_stats(tmp_path: Path) -> None:
    files = {"a.md": GUIDE, "b.md": paragraphs(60), "c.md": "", "d.md": "One line.\n"}
    write(tmp_path, files)
    done = run("stats", ".", "--max-tokens", "100", "--format", "json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    told = json.loads(done.stdout)
    chunks = expected(list(files.items()), max_tokens=100)
    tokens = [chunk["token_count"] for chunk in chunks]
    numbers = (told["documents"], told["documents_of_one_chunk"], told["chunks"])
    assert numbers == (4, 1, len(chunks))
    ends = tuple(told["tokens"][name] for name in ("total", "min", "max"))
    assert ends == (sum(tokens), min(tokens), max(tokens))
    assert told["embed_tokens"]["total"] == sum(chunk["embed_token_count"] for chunk in chunks)
    assert told["fill"] == round(sum(tokens) / len(tokens) / 100, 4)
    overlap = sum(chunk["overlap"] for chunk in chunks)
    assert told["overlap"] == round(overlap / sum(len(chunk["text"]) for chunk in chunks), 4) > 0
    assert sum(row["chunks"] for row in told["histogram"]) == len(chunks)
    page = run("stats", ".", "--max-tokens", "100", cwd=tmp_path).stdout.decode()
    assert re.search(rf"^chunks +{len(chunks)}  0 above the budget$", page, re.MULTILINE)
    keep = ("--max-tokens", "7", "--set", "oversize=keep", "--format", "json")
    told = json.loads(run("stats", "a.md", *keep, cwd=tmp_path).stdout)
    over = sum(row["chunks"] for row in told["histogram"] if row["from"] > 7)
    assert 0 < told["oversize"] == over < told["chunks"]
    assert run("stats", "c.md", cwd=tmp_path).stdout.startswith(b"documents           1  0 of one")


# Documents that are named by the end of their path


@pytest.mark.parametrize("indexed", [False, True])
def test_a_document_is_found_by_the_end_of_its_path(tmp_path: Path, indexed: bool) -> None:
    files = {"en/guide/cors.md": "# CORS\n\n## Steps\n\nOne step.\n", "en/a/index.md": "# A\n"}
    write(tmp_path, {**files, "en/b/index.md": "# B\n", "en/plain.md": "Text.\n"})
    if indexed:
        assert run("index", "en", "-q", cwd=tmp_path).returncode == 0
    done = run("read", "cors.md", "Steps", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"## Steps\n\nOne step.\n")
    assert done.stderr == b"chunkast: note: cors.md is en/guide/cors.md\n"
    place = ".chunkast.db" if indexed else "the current folder"
    for name, says in (
        ("index.md", "has 2 documents that end with 'index.md': en/a/index.md, en/b/index.md"),
        ("corz.md", "has no document 'corz.md'; the nearest are: en/guide/cors.md"),
    ):
        done = run("outline", name, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, b"")
        assert errors(done.stderr) == [f"chunkast: error: {place}: {says}"]
    nothing = errors(run("outline", "zzzz.xyz", cwd=tmp_path).stderr)[0]
    assert "nearest" not in nothing
    line = refused("read", "en/plain.md", "Steps", cwd=tmp_path)
    assert line.endswith("section 'Steps' does not exist; the document has no headings")


def test_a_hit_on_a_terminal_fits_it_and_its_words_are_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = (
        "# Huts\n\nEvery **hut** sells soups at maxPrice. \x1b[31m 漢字かな交じり文。 "
        + "Long. " * 30
    )
    write(tmp_path, {"docs/a.md": text})
    run("index", "docs", cwd=tmp_path)
    plain = run("search", "selling soup price 漢字", cwd=tmp_path)
    assert plain.stdout.decode().startswith("docs/a.md:1-3  ")
    done = run("search", "selling soup price 漢字", cwd=tmp_path, terminal="stdout")
    page = done.stdout.decode()
    assert re.findall(r"\x1b\[1;35m(.*?)\x1b", page) == ["sells", "soups", "maxPrice", "漢字"]
    assert "␛[31m" in page
    lines = re.sub(r"\x1b\[[0-9;]*m", "", page).splitlines()
    assert all(len(line) <= 60 for line in lines)
    assert lines[-1] == "─" * 60


# Tool calls

CALLS = document("calls.txt")


def test_toolcalls(tmp_path: Path) -> None:
    write(tmp_path, {"tools.json": TOOLS, "calls.txt": CALLS})
    done = run("toolcalls", "calls.txt", "--tools", "tools.json", cwd=tmp_path)
    assert (done.returncode, errors(done.stderr)) == (0, [])
    parts = records(done.stdout)
    assert [(p.get("name"), p.get("arguments"), p.get("text")) for p in parts] == [
        (None, None, "Ich suche … "),
        ("search", {"query": "Grüße 🚀"}, None),
        (None, None, " and\n"),
        ("add", {"x": 1, "y": 2.5}, None),
        (None, None, ", then "),
        (None, None, "<search><query>a</query><query>b</query></search>"),
        (None, None, ".\n"),
    ]
    assert list(parts[0]) == ["type", "text", "start_index", "end_index"]
    fields = ["type", "name", "arguments", "start_index", "end_index", "problems", "id"]
    assert list(parts[1]) == fields
    assert (parts[1]["start_index"], parts[-1]["end_index"]) == (12, len(CALLS))
    [note] = done.stderr.decode().splitlines()
    assert note == (
        "chunkast: note: tool call 'search' at 92: it stays text, as its body cannot be read: "
        "<query> at 16 comes twice; it must be one string"
    )
    piped = run("toolcalls", "--tools=tools.json", "-", cwd=tmp_path, stdin=CALLS.encode())
    assert (piped.returncode, piped.stdout) == (0, done.stdout)
    # What could be read before an error is printed.
    bad = run("toolcalls", "--tools=tools.json", "-", cwd=tmp_path, stdin=b"A <add></add><a\xff")
    assert bad.returncode == 1
    assert [part.get("text") for part in records(bad.stdout)] == ["A ", None, "<a"]


def test_toolcalls_in_other_protocols(tmp_path: Path) -> None:
    text = '<tool_call>{"name": "add", "arguments": {"x": 1}}</tool_call><tool_call>{"name": "no"}'
    write(tmp_path, {"tools.json": TOOLS, "calls.txt": text})
    words = ("toolcalls", "calls.txt", "--tools", "tools.json", "--protocol")
    done = run(*words, "auto", "--strict", cwd=tmp_path)
    assert [part.get("arguments") for part in records(done.stdout)] == [{"x": 1}, None]
    last = done.stderr.decode().splitlines()[-1]
    assert last == "chunkast: note: 1 call read; 1 problem (no: 1)"
    assert run(*words, "yaml", cwd=tmp_path).returncode == 2
    assert run("toolcalls", cwd=tmp_path).returncode == 2
    table = run("toolcalls", "--list", cwd=tmp_path).stdout.decode()
    assert table in Path("docs/tool-calls.md").read_text(encoding="utf-8")


@posix
def test_toolcalls_come_out_as_soon_as_they_are_known(tmp_path: Path) -> None:
    write(tmp_path, {"tools.json": TOOLS})
    pieces = "é<search><query>ü</query></search>".encode()
    arguments = ("toolcalls", "-", "--tools", "tools.json")
    with started(*arguments, cwd=tmp_path, stdin=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        # A byte at a time: most cuts are inside a tag, some inside a character.
        for number in range(len(pieces)):
            process.stdin.write(pieces[number : number + 1])
            process.stdin.flush()
        assert json.loads(process.stdout.readline())["text"] == "é"
        # The text has not ended yet.
        assert json.loads(process.stdout.readline())["arguments"] == {"query": "ü"}
        process.stdin.write(b"<sea")
        process.stdin.close()
        assert json.loads(process.stdout.readline())["text"] == "<sea"
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize("command", ["toolcalls", "chunk"])
def test_bad_tools_are_told(tmp_path: Path, command: str) -> None:
    for tools, says in (
        (b"\xff", "this is not JSON in UTF-8: "),
        ("[" * 100_000, "this is not JSON in UTF-8: "),
        ("5", "tools=5: must be"),
        ('[{"function": {}}]', "tools[0].function.name=None: "),
        ('[{"name": "a"}, {"name": "a"}]', "tools='a': two tools"),
    ):
        write(tmp_path, {"calls.txt": CALLS, "tools.json": tools})
        assert says in refused(command, "calls.txt", "--tools", "tools.json", cwd=tmp_path)
