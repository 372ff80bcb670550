"""The command on documents of its own.

What it prints is compared with what the library returns for the same text and options. Bad input,
broken pipes and signals are real.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import chunkast
from chunkast.cli.main import COMMANDS
from tests.command import (
    GUIDE,
    environment,
    errors,
    expected,
    linux,
    paragraphs,
    posix,
    records,
    run,
    sources,
    started,
    write,
)

if os.name == "posix":
    import pty

HEAVY = ("tiktoken", "markdown_it", "mdit_py_plugins", "rich", "sentencex", "regex")

# Help, version, usage


@pytest.mark.parametrize(
    "arguments", [["--help"], ["chunk", "--help"], ["toolcalls", "--help"], ["--version"]]
)
def test_help_and_version(tmp_path: Path, arguments: list[str]) -> None:
    done = run(*arguments, cwd=tmp_path)
    begins = f"chunkast {chunkast.__version__}\n" if "--version" in arguments else "usage: chunkast"
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().startswith(begins)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_short_and_help_all_is_not(name: str, tmp_path: Path) -> None:
    def options(flag: str) -> tuple[list[str], str]:
        page = run(name, flag, cwd=tmp_path).stdout.decode()
        described = page.partition("options:")[2]
        return re.findall(r"^  (-\S+)", described, re.MULTILINE), page

    (few, short), (every, full) = options("--help"), options("--help-all")
    assert set(few) <= set(every)
    # Besides --help and --help-all.
    assert len(few) <= 12
    assert len(every) > 20 or len(every) <= 14
    for page in (short, full):
        assert page.partition("examples:\n")[2].count("\n  ") == 1
    # The examples are right about the options.
    for line in short.partition("examples:\n")[2].splitlines():
        words = shlex.split(line.partition("chunkast ")[2])
        assert words[0] == name
        assert set(every) >= {word for word in words if word.startswith("--")}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["chnk", "a.md"], "unknown command 'chnk'; did you mean chunk?"),
        (["serve"], "unknown command 'serve'; the commands are chunk, stats, "),
        (["chunk", "a.md", "--maxtokens", "9"], "option --maxtokens; did you mean --max-tokens?"),
        (["chunk", "a.md", "--max_tokens=9"], "option --max_tokens; did you mean --max-tokens?"),
        (["view", "a.md", "--budget"], "option --budget; did you mean --budgets?"),
        (["index", "a.md", "--zzz"], "unknown option --zzz (see chunkast index --help-all)"),
        (["chunk", "a.md", "-z"], "unknown option -z"),
        (["chunk", "a.md", "--set", "sentence_language=xx"], "sentence_language='xx': must be "),
        (["chunk"], "PATHS missing"),
        (["chunk", "a.md", "-o", "x.foo"], "--output x.foo: unknown extension; give --format, or"),
        (["chunk", "a.md", "--format", "json", "-o", "x.jsonl"], "--format json contradicts "),
    ],
)
def test_a_mistake_is_answered_with_the_choices(
    arguments: list[str], says: str, tmp_path: Path
) -> None:
    write(tmp_path, {"a.md": GUIDE})
    done = run(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    [line] = errors(done.stderr)
    assert says in line
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]


@posix
def test_on_a_terminal_chunks_are_for_a_person(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "# Guide\n\nOne \x1b[31m.\n\n- a\n- b\n- c\n"})
    write(tmp_path, {"b.md": f"# {'Title ' * 40}\n\nOne{' word' * 40}.\n"})
    for options, begins in (([], b"a.md:1-7  "), (["-o", "-"], b'{"id":')):
        ours, theirs = pty.openpty()
        with started("chunk", "a.md", "b.md", *options, cwd=tmp_path, stdout=theirs) as process:
            os.close(theirs)
            _, err = process.communicate(timeout=60)
        assert (process.returncode, err.count(b"\n")) == (0, 1)
        shown = re.sub(rb"\x1b\[[0-9;]*m", b"", read_terminal(ours))
        assert shown.startswith(begins)
        if not options:
            lines = shown.decode().splitlines()
            assert lines[0].endswith("tokens  Guide")
            # Nothing in a document acts on the terminal.
            assert lines[1:5] == ["  # Guide", "  One ␛[31m.", "  - a", "  … 2 more lines"]
            # Long lines are cut off at the edge.
            assert [line[:6] for line in lines[6:9]] == ["b.md:1", "  # Ti", "  One "]
            assert all(line.endswith("…") for line in lines[6:9])
            assert "--format jsonl" in lines[-1]


@pytest.mark.parametrize(
    ("arguments", "left_out"),
    [
        (["--help"], HEAVY),
        (["toolcalls", "--help"], HEAVY),
        (["chunk", "--bad"], HEAVY),
        (["chunk", "."], ("rich",)),
    ],
)
def test_arguments_are_parsed_before_heavy_imports(
    tmp_path: Path, arguments: list[str], left_out: tuple[str, ...]
) -> None:
    write(tmp_path, {"a.md": "a\n", "b.md": "b\n"})
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "chunkast", *arguments],
        cwd=tmp_path,
        capture_output=True,
        env=environment(),
        timeout=120,
        check=False,
    )
    lines = [line for line in done.stderr.decode().splitlines() if line.startswith("import time:")]
    modules = {line.rsplit("|", 1)[1].strip().partition(".")[0] for line in lines}
    assert "chunkast" in modules
    assert modules.isdisjoint(left_out)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--max-tokens", "0"], "max_tokens=0: "),
        (["--max-tokens", "many"], "--max-tokens: 'many' is neither a whole number"),
        (["--overlap", "1.0"], "overlap=1.0: "),
        (["--overlap", "half"], "'half' is not a number"),
        (["--encoding", "klingon"], "encoding='klingon': must be one of cl100k_base, o200k_base, "),
        (["--model", "klingon-4"], "model='klingon-4': "),
        (["--packing", "loose"], "--packing: invalid choice: 'loose'"),
        (["--set", "decay=2"], "decay=2: "),
        (["--extensions", "tabels"], "did you mean 'tables'?"),
        (["--set", "max_token=5"], "did you mean 'max_tokens'?"),
        (["--set", 'scores={"h9": 1}'], "scores='h9': must be one of h1, "),
        (["--set", "trim=yes"], "trim='yes': "),
        (["--set", "decay"], "--set decay: expected FIELD=VALUE"),
        (["--max-tokens", "5", "--set", "chunk_size=5"], "given twice"),
        (["--format", "yaml"], "--format: invalid choice: 'yaml'"),
        (["--jobs", "0"], "--jobs: '0' is not a whole number of at least 1"),
        (["--max", "5"], "unknown option --max; did you mean --max-tokens?"),
        (["-o", "nowhere/out.jsonl"], "--output nowhere/out.jsonl: No such file or directory"),
        (["-o", "."], "--output .: "),
    ],
)
def test_usage_errors_are_one_line_before_anything_is_read(
    tmp_path: Path, arguments: list[str], says: str
) -> None:
    done = run("chunk", "missing.md", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == b""
    assert len(done.stderr.splitlines()) == 1
    [line] = errors(done.stderr)
    assert says in line
    assert "missing.md" not in line
    assert list(tmp_path.iterdir()) == []


# Which files


def test_a_folder_is_searched_for_markdown(tmp_path: Path) -> None:
    found = ["B.MD", "a.md", "deep/er/f.txt", "x.markdown", "x.mdx", "x.qmd", "x.rmd", "z.md/in.md"]
    left_out = [
        "image.png",
        "code.py",
        "md",
        ".hidden.md",
        ".git/a.md",
        "node_modules/p/README.md",
        "deep/venv/a.md",
        "deep/site-packages/a.txt",
        "deep/__pycache__/a.md",
        "dist/a.md",
        "build/a.md",
        "vendor/a.md",
    ]
    write(tmp_path / "docs", {name: f"Text of {name}.\n" for name in [*found, *left_out]})
    done = run("chunk", "docs", cwd=tmp_path)
    assert (done.returncode, errors(done.stderr)) == (0, [])
    assert sources(done.stdout) == sorted(f"docs/{name}" for name in found)
    assert [record["text"] for record in records(done.stdout)] == [
        f"Text of {name}." for name in sorted(found)
    ]
    note = next(line for line in done.stderr.decode().splitlines() if "note" in line)
    assert "docs/node_modules" in note
    assert "docs/deep/venv" in note


@posix
@pytest.mark.parametrize("argument", ["docs", "docs/**/*.md", "docs/**"])
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
    assert (done.returncode, errors(done.stderr)) == (0, [])
    # A link and its file are one file; a linked folder is not entered.
    assert {str(source).removeprefix("docs/") for source in sources(done.stdout)} == {
        "b.md",
        "sub/c.md",
    }
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
    done = run("chunk", "docs", cwd=tmp_path)
    assert done.returncode == 1
    [line] = errors(done.stderr)
    assert "docs/gone.md: No such file" in line


@posix
def test_a_pipe_is_read_once_and_here(tmp_path: Path) -> None:
    # As the shell's <(command) gives it: no worker process can open it.
    write(tmp_path, {f"docs/{n}.md": "a\n" for n in range(50)})
    for jobs in (1, 2):
        reads, writes = os.pipe()
        os.write(writes, b"From the pipe.\n")
        os.close(writes)
        arguments = ("chunk", f"/dev/fd/{reads}", "docs", "--jobs", jobs)
        with started(*arguments, cwd=tmp_path, pass_fds=[reads]) as process:
            out, err = process.communicate(timeout=60)
        os.close(reads)
        assert (process.returncode, errors(err)) == (0, [])
        assert len(sources(out)) == 51
        first = records(out)[0]
        assert (first["source"], first["text"]) == (f"/dev/fd/{reads}", "From the pipe.")


TREE: dict[str, str | bytes] = {
    "docs/a.md": "a\n",
    "docs/b.rst": "b\n",
    "docs/c.png": b"\x89PNG",
    "docs/.h.md": "hidden\n",
    "docs/sub/d.md": "d\n",
    "docs/sub/e.txt": "e\n",
    "docs/sub/deep/f.MD": "f\n",
    "docs/node_modules/g.md": "g\n",
    "docs/.hid/h.md": "h\n",
    "docs/img/i.png": b"\x89PNG",
    "docs/[x].md": "x\n",
}


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("docs/*.md", ["docs/[x].md", "docs/a.md"]),
        ("docs/?.md", ["docs/a.md"]),
        ("docs/[ab].*", ["docs/a.md"]),
        ("docs/[x].md", ["docs/[x].md"]),
        ("docs/**/*.md", ["docs/[x].md", "docs/a.md", "docs/sub/d.md"]),
        ("docs/**/deep/**/*.MD", ["docs/sub/deep/f.MD"]),
        (
            "docs/**",
            ["docs/[x].md", "docs/a.md", "docs/sub/d.md", "docs/sub/deep/f.MD", "docs/sub/e.txt"],
        ),
        # A folder that matches is searched, as when the shell expands the pattern.
        ("docs/s*", ["docs/sub/d.md", "docs/sub/deep/f.MD", "docs/sub/e.txt"]),
        ("docs/.h*", ["docs/.h.md", "docs/.hid/h.md"]),
        ("docs/*/g.md", []),
        ("docs/node_modules/*.md", ["docs/node_modules/g.md"]),
        ("docs/.hid/*.md", ["docs/.hid/h.md"]),
        ("docs/*.nothing", []),
        ("docs/a.md/*", []),
    ],
)
@posix
def test_globs_that_no_shell_expanded(tmp_path: Path, pattern: str, names: list[str]) -> None:
    write(tmp_path, TREE)
    done = run("chunk", pattern, cwd=tmp_path)
    assert sources(done.stdout) == names
    assert done.returncode == (0 if names else 1)
    assert len(errors(done.stderr)) == (0 if names else 1)
    if not names:
        assert f"{pattern}: no file matches" in errors(done.stderr)[0]


# Reading


def test_standard_input(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "a\n"})
    done = run("chunk", "-", cwd=tmp_path, stdin=GUIDE.encode())
    assert (done.returncode, errors(done.stderr)) == (0, [])
    assert records(done.stdout) == expected([(None, GUIDE)])
    both = run("chunk", "a.md", "-", "-", cwd=tmp_path, stdin=b"From stdin.\n")
    assert [(r["source"], r["text"]) for r in records(both.stdout)] == [
        (None, "From stdin."),
        ("a.md", "a"),
    ]
    bad = run("chunk", "-", cwd=tmp_path, stdin=b"ab\xff")
    assert bad.returncode == 1
    assert "<stdin> at byte 2: " in errors(bad.stderr)[0]


def test_bad_inputs_are_told_and_the_others_are_chunked(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "docs/good.md": GUIDE,
            "docs/bad.md": b"# Good start\n\nthen \xe9 in Latin-1\n",
            "docs/cut.md": "€".encode()[:2],
            "docs/wide.md": "wide".encode("utf-16"),
            "docs/wider.md": "wide".encode("utf-32"),
            "docs/wider-be.md": b"\0\0\xfe\xff" + "wide".encode("utf-32-be"),
            "images/a.png": b"\x89PNG",
        },
    )
    (tmp_path / "empty").mkdir()
    long = "long" * 100
    inputs = ("docs", "missing.md", "empty", "images", "*.nope", long)
    done = run("chunk", *inputs, cwd=tmp_path)
    assert done.returncode == 1
    assert records(done.stdout) == expected([("docs/good.md", GUIDE)])
    told = errors(done.stderr)
    assert len(told) == 10
    for start in (
        "missing.md: no such file or folder",
        f"{long}: no such file or folder",
        "empty: no file to chunk in this folder",
        "images: no file to chunk in this folder",
        "*.nope: no file matches",
        "docs/bad.md at byte 19: 0xe9 is not valid UTF-8",
        "docs/cut.md at byte 0: ",
        "docs/wide.md at byte 0: this is UTF-16; convert",
        "docs/wider.md at byte 0: this is UTF-32; convert",
        "docs/wider-be.md at byte 0: this is UTF-32; convert",
    ):
        assert any(line.startswith(f"chunkast: error: {start}") for line in told), start
    assert done.stderr.splitlines()[-1].endswith(b", 10 failed")
    # Errors are told even when nothing else is.
    quiet = run("chunk", *inputs, "-q", cwd=tmp_path)
    assert quiet.stdout == done.stdout
    assert quiet.stderr.decode().splitlines() == told


# Options


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--max-tokens", "60"], {"max_tokens": 60}),
        (["--max-tokens", "60", "--overlap", "1"], {"max_tokens": 60, "overlap": 1}),
        (["--model", "gpt-4o"], {"model": "gpt-4o"}),
        (
            ["--max-tokens", "60", "--packing", "fill", "--context", "none"],
            {"max_tokens": 60, "packing": "fill", "context": "none"},
        ),
        (["--min-tokens", "0"], {"min_tokens": 0}),
        (["--max-tokens", "20", "--set", "oversize=keep"], {"max_tokens": 20, "oversize": "keep"}),
        (["--extensions", ""], {"extensions": ()}),
        (["--extensions", "tables, deflists"], {"extensions": ("tables", "deflists")}),
        (
            ["--set", "chunk_size=60", "--set", "trim=false"],
            {"max_tokens": 60, "trim": False},
        ),
        (["--set", "extensions=tables,deflists"], {"extensions": ("tables", "deflists")}),
        (["--set", 'extensions=["deflists"]'], {"extensions": ("deflists",)}),
        (
            ["--set", 'scores={"sentence": 200, "paragraph": 1}'],
            {"scores": {"sentence": 200, "paragraph": 1}},
        ),
    ],
)
def test_options_reach_the_configuration(
    tmp_path: Path, arguments: list[str], options: dict[str, Any]
) -> None:
    text = (
        f"---\ntitle: T\n---\n\n{GUIDE}\n## Table\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        f"Word\n: what it means\n\n## Blåbær\n\n{'Rød grød med fløde. ' * 20}\n\n" + paragraphs(8)
    )
    write(tmp_path, {"a.md": text})
    done = run("chunk", "a.md", *arguments, cwd=tmp_path)
    assert (done.returncode, errors(done.stderr)) == (0, [])
    assert records(done.stdout) == expected([("a.md", text)], **options)


# Output


def test_formats(tmp_path: Path) -> None:
    files = {"a.md": GUIDE, "b.md": "Plain.\n", "c.md": ""}
    write(tmp_path, files)
    wanted = expected(list(files.items()), max_tokens=60)
    lines = run("chunk", ".", "--max-tokens", "60", cwd=tmp_path).stdout
    assert records(lines) == wanted
    assert b'": ' not in lines.replace(b"Guide", b"").split(b'"text"')[0]
    array = run("chunk", ".", "--max-tokens", "60", "--format", "json", cwd=tmp_path).stdout
    assert json.loads(array) == wanted
    assert array.count(b"\n") == len(wanted) + 2
    text = run("chunk", ".", "--max-tokens", "60", "--format", "text", cwd=tmp_path).stdout
    rest = text.decode()
    for chunk in wanted:
        tokens = chunk["token_count"]
        place = f"{chunk['source']}:{chunk['start_line']}-{chunk['end_line']}"
        head = f"{place}  {tokens} tokens"
        if chunk["headings"]:
            head += f"  {' > '.join(chunk['headings'])}"
        page = f"{head}\n\n{chunk['text']}\n" + "─" * 72 + "\n"
        assert rest.startswith(page)
        rest = rest.removeprefix(page)
    assert rest == ""
    write(tmp_path, {"empty.md": " \n\n"})
    for form, out in (("jsonl", b""), ("json", b"[]\n"), ("text", b"")):
        done = run("chunk", "empty.md", "--format", form, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, out)
    done = run("chunk", "a.md", "b.md", "--max-tokens", "60", cwd=tmp_path)
    tokens = sum(chunk["token_count"] for chunk in wanted)
    summary = rf"2 files, {len(wanted)} chunks, {tokens} tokens, \d+\.\d\d s\n"
    assert re.fullmatch(summary, done.stderr.decode())


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
        for arguments in (
            ["chunk", "a.md"],
            ["chunk", "a.md", "-o", "/dev/full"],
            ["stats", "a.md"],
            ["--help"],
        ):
            for unbuffered in ("", "1"):
                env = environment({"PYTHONUNBUFFERED": unbuffered})
                with started(*arguments, cwd=tmp_path, stdout=full, env=env) as process:
                    _, err = process.communicate(timeout=60)
                assert process.returncode == 1
                assert errors(err) == ["chunkast: error: No space left on device"]


# Output files


@posix
def test_output_file_keeps_its_rights_and_its_link(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": GUIDE, "b.md": "b\n", "real.jsonl": "old\n"})
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


def test_output_file_stays_when_nothing_was_chunked(tmp_path: Path) -> None:
    write(tmp_path, {"out.jsonl": "old\n", "bad.md": b"\xff", "good.md": "good\n"})
    done = run("chunk", "bad.md", "missing.md", "-o", "out.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    assert (tmp_path / "out.jsonl").read_text() == "old\n"
    # Some of it is worth keeping, and the exit code tells that it is not all.
    done = run("chunk", "bad.md", "good.md", "-o", "out.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    assert sources((tmp_path / "out.jsonl").read_bytes()) == ["good.md"]
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["bad.md", "good.md", "out.jsonl"]


def test_output_file_is_no_input(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": GUIDE, "out.txt": "old\n"})
    done = run("chunk", ".", "-o", "out.txt", "--format", "text", cwd=tmp_path)
    assert (done.returncode, b"1 file," in done.stderr) == (0, True)
    refused = run("chunk", "a.md", "-o", "./a.md", "--format", "text", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--output ./a.md: that is one of the inputs" in errors(refused.stderr)[0]
    assert (tmp_path / "a.md").read_text() == GUIDE


def wait_for_data(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait until data arrives in the temporary file: the work is well under way then."""
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size for path in folder.glob(".*")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)


def process_group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
@posix
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_leave_no_files(tmp_path: Path, name: str, jobs: int) -> None:
    number = signal.Signals[name]
    write(tmp_path, {f"docs/{n:03}.md": paragraphs(2000, n) for n in range(60)})
    write(tmp_path, {"out/out.jsonl": "old\n"})
    arguments = ("chunk", "docs", "-o", "out/out.jsonl", "--jobs", jobs)
    with started(*arguments, cwd=tmp_path, start_new_session=True) as process:
        wait_for_data(process, tmp_path / "out")
        # As a terminal does it: to the workers as well, and SIGHUP more than once.
        for _ in range(2):
            (os.kill if name == "SIGTERM" else os.killpg)(process.pid, number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (128 + number, b"")
    says = r"chunkast: interrupted; out/out\.jsonl is as it was before, \d+ files? were read\n"
    assert re.fullmatch(says, err.decode())
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["out.jsonl"]
    assert (tmp_path / "out" / "out.jsonl").read_text() == "old\n"
    deadline = time.monotonic() + 60
    while process_group_lives(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)


# Runs the command in this process; Ctrl-C comes while a module is imported.
INTERRUPTED = """
import os, runpy, signal, sys

NAME = sys.argv.pop(1)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == NAME:
            print("found", flush=True)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
runpy.run_module("chunkast", run_name="__main__", alter_sys=True)
"""


@pytest.mark.slow
@posix
@pytest.mark.parametrize(
    "module",
    [
        *("chunkast.cli", "argparse", "chunkast.config"),
        *("tiktoken", "chunkast.output.json"),
    ],
)
def test_an_interrupt_while_modules_are_imported_is_quiet(tmp_path: Path, module: str) -> None:
    write(tmp_path, {"a.md": "a\n"})
    words = [sys.executable, "-c", INTERRUPTED, module, "chunk", "a.md"]
    done = subprocess.run(
        words, cwd=tmp_path, capture_output=True, env=environment(), timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"found\n", b"")


# Processes


@pytest.mark.slow
def test_jobs_give_the_same_bytes(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"one/{n:03}.md": paragraphs(20, n) for n in range(90)}
    # Unlike sizes, sources that come twice, and files that fail.
    files |= {f"two/{n:03}.md": paragraphs(5, n) for n in range(20, 90, 3)}
    files |= {f"one/{n:03}.md": paragraphs(1500, n) for n in (3, 40)}
    files |= {"one/033.md": b"\xff", "two/089.md": b"\xff", "one/0.md": b"\xff"}
    write(tmp_path, files)
    arguments = ["chunk", "one", "-", "two", "missing", "--max-tokens", "120"]
    alone = run(*arguments, cwd=tmp_path, stdin=GUIDE.encode())
    assert alone.returncode == 1
    assert len(errors(alone.stderr)) == 4
    ids = [(record["source"], record["id"]) for record in records(alone.stdout)]
    assert len(set(ids)) == len(ids) > 400
    for jobs in (2, 5):
        together = run(*arguments, "--jobs", jobs, cwd=tmp_path, stdin=GUIDE.encode())
        assert together.returncode == 1
        assert together.stdout == alone.stdout
        assert errors(together.stderr) == errors(alone.stderr)
    stats = ["stats", "one", "two", "--format", "json"]
    assert (
        run(*stats, cwd=tmp_path).stdout == run(*stats, "--jobs", "2", cwd=tmp_path).stdout != b""
    )


# Progress


def read_terminal(ours: int) -> bytes:
    """All that was written to the other end of a pseudo-terminal."""
    shown = b""
    # Linux says with an error that the other end was closed.
    with suppress(OSError):
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    return shown


@posix
@pytest.mark.parametrize(
    ("arguments", "bar"),
    [(["docs"], True), (["docs", "-q"], False), (["docs/1.md"], False)],
)
def test_progress_on_a_terminal(tmp_path: Path, arguments: list[str], bar: bool) -> None:
    write(tmp_path, {f"docs/{n}.md": paragraphs(10, n) for n in range(4)})
    write(tmp_path, {"docs/bad.md": b"\xff"})
    ours, theirs = pty.openpty()
    with started("chunk", *arguments, cwd=tmp_path, stderr=theirs) as process:
        os.close(theirs)
        out, _ = process.communicate(timeout=60)
    shown = read_terminal(ours)
    assert (b"\x1b[" in shown and b"100%" in shown) == bar
    assert b"\x1b[" not in out
    assert records(out)
    assert (b"docs/bad.md at byte 0" in shown) == (arguments != ["docs/1.md"])


# Statistics


def test_stats_json(tmp_path: Path) -> None:
    files = {"a.md": GUIDE, "b.md": paragraphs(60), "c.md": "", "d.md": "One line.\n"}
    write(tmp_path, files)
    done = run("stats", ".", "--max-tokens", "100", "--format", "json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    report = json.loads(done.stdout)
    chunks = expected(list(files.items()), max_tokens=100)
    tokens = sorted(chunk["token_count"] for chunk in chunks)
    assert report["documents"] == 4
    assert report["documents_of_one_chunk"] == 1
    assert report["chunks"] == len(chunks)
    assert report["oversize"] == 0
    assert report["tokens"]["total"] == sum(tokens)
    assert (report["tokens"]["min"], report["tokens"]["max"]) == (tokens[0], tokens[-1])
    assert report["embed_tokens"]["total"] == sum(chunk["embed_token_count"] for chunk in chunks)
    assert report["fill"] == round(sum(tokens) / len(tokens) / 100, 4)
    characters = sum(len(chunk["text"]) for chunk in chunks)
    overlap = sum(chunk["overlap"] for chunk in chunks)
    assert report["overlap"] == round(overlap / characters, 4) > 0
    assert sum(row["chunks"] for row in report["histogram"]) == len(chunks)
    assert sum(report["begins"].values()) == len(chunks)
    assert report["begins"]["document start"] == 3


# Tool calls

TOOLS = """[
  {"name": "search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}},
  {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
]"""
CALLS = """Ich suche … <search><query>Grüße 🚀</query></search> and
<add><x>1</x><y>2.5</y></add>, then <search><query>a</query><query>b</query></search>.
"""


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
    edges = [(p["start_index"], p["end_index"]) for p in parts]
    assert edges[0][0] == 0
    assert edges[-1][1] == len(CALLS)
    assert all(before[1] == after[0] for before, after in pairwise(edges))
    assert list(parts[0]) == ["type", "text", "start_index", "end_index"]
    assert list(parts[1]) == ["type", "name", "arguments", "start_index", "end_index", "problems"]
    [note] = done.stderr.decode().splitlines()
    assert note == (
        "chunkast: note: tool call 'search' at 92: it stays text, as its body cannot be read: "
        "<query> at 16 comes twice; it must be one string"
    )
    piped = run("toolcalls", "--tools=tools.json", "-", cwd=tmp_path, stdin=CALLS.encode())
    assert (piped.returncode, piped.stdout) == (0, done.stdout)
    dashed = run("toolcalls", "--tools", "tools.json", "--", "calls.txt", cwd=tmp_path)
    assert dashed.stdout == done.stdout


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
        assert json.loads(process.stdout.readline()) == {
            "type": "text",
            "text": "é",
            "start_index": 0,
            "end_index": 1,
        }
        # The text has not ended yet.
        assert json.loads(process.stdout.readline())["arguments"] == {"query": "ü"}
        process.stdin.write(b"<sea")
        process.stdin.close()
        assert json.loads(process.stdout.readline())["text"] == "<sea"
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize(
    ("tools", "says"),
    [
        (None, "--tools tools.json: No such file or directory"),
        (b"\xff", "--tools tools.json: this is not JSON in UTF-8: "),
        ("[" * 100_000, "--tools tools.json: this is not JSON in UTF-8: "),
        ("5", "--tools tools.json: tools=5: must be"),
        ('[{"name": "a b"}]', "--tools tools.json: tools[0].name='a b': must be"),
        ('[{"function": {}}]', "--tools tools.json: tools[0].function.name=None: "),
        ('[{"name": "a"}, {"name": "a"}]', "--tools tools.json: tools='a': two tools"),
    ],
)
def test_toolcalls_with_bad_tools(tmp_path: Path, tools: str | bytes | None, says: str) -> None:
    write(tmp_path, {"calls.txt": CALLS})
    write(tmp_path, {"tools.json": tools} if tools else {})
    done = run("toolcalls", "calls.txt", "--tools", "tools.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    [line] = errors(done.stderr)
    assert says in line
    assert len(done.stderr.splitlines()) == 1


def test_chunk_keeps_tool_calls_whole(tmp_path: Path) -> None:
    text = "Text before. " * 9 + "\n\n<add><a>1</a>\n\n# no heading\n</add>\n\n" + "Behind. " * 9
    tools = [{"name": "add", "parameters": {"properties": {"a": {"type": "integer"}}}}]
    write(tmp_path, {"a.md": text, "tools.json": json.dumps(tools), "bad.json": "[5]"})
    done = run("chunk", "a.md", "--tools", "tools.json", "--max-tokens", 30, cwd=tmp_path)
    assert done.returncode == 0
    calls = [call for row in records(done.stdout) for call in row["metadata"].get("tool_calls", [])]
    assert [(call["name"], call["arguments"]["a"]) for call in calls] == [("add", 1)]
    for name, reason in (("bad.json", "must be an object"), ("no.json", "No such file")):
        done = run("chunk", "a.md", "--tools", name, cwd=tmp_path)
        assert done.returncode == 2
        (line,) = errors(done.stderr)
        assert line.startswith(f"chunkast: error: --tools {name}: ")
        assert reason in line
