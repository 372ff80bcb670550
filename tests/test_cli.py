"""The command on documents of its own: inside this process, and as one where that matters.

What it prints is compared with what the library gives for the same text and options, and
every behaviour at the edges (bad input, broken pipes, signals) is provoked for real.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import chunkast
from chunkast.cli.main import main
from chunkast.cli.stats import _histogram, _spread
from chunkast.markdown import parser_note

if os.name == "posix":
    import pty

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

HEAVY = ("tiktoken", "markdown_it", "mdit_py_plugins", "rich", "sentencex", "regex")

GUIDE = """# Guide

What this is about, in a sentence or two. It is short, but not too short.

## Set-up

Install it, then run it. Nothing else is needed on any of the usual systems.

- first, the one thing
- then, the other thing
- at last, the third thing

## Use

Call it with a path. It prints what it finds, line by line, and ends.

```python
def use(path):
    return path
```
"""


def paragraphs(count: int, start: int = 0) -> str:
    """A document with a heading and paragraphs that are all different."""
    body = (
        f"Paragraph {n} says that {n} is less than {n + 1}. It ends here, at {n}.\n"
        for n in range(start, start + count)
    )
    return f"# Document {start}\n\n" + "\n".join(body)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    given = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return {**given, "PYTHONPATH": str(Path(chunkast.__file__).parents[1]), **(extra or {})}


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "chunkast", *map(str, arguments)]


def run(*arguments: object, cwd: Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """What the command does and prints, inside this process."""
    streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8") for name in ("stdout", "stderr")}
    words = list(map(str, arguments))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        code = main(words)
    printed = []
    for stream in streams.values():
        stream.flush()
        buffer = stream.buffer
        assert isinstance(buffer, io.BytesIO)
        printed.append(buffer.getvalue())
    return subprocess.CompletedProcess(words, code, *printed)


def run_process(
    *arguments: object,
    cwd: Path,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """The same as a process of its own."""
    return subprocess.run(
        command(*arguments),
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env=environment(env),
        timeout=120,
        check=False,
    )


@contextmanager
def started(*arguments: object, cwd: Path, **settings: Any) -> Iterator[subprocess.Popen[bytes]]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment()}
    with subprocess.Popen(command(*arguments), cwd=cwd, **{**pipes, **settings}) as process:
        try:
            yield process
        finally:
            process.kill()


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def records(stdout: bytes) -> list[dict[str, Any]]:
    """The objects of JSON lines, each line with its end."""
    assert not stdout or stdout.endswith(b"\n")
    return [json.loads(line) for line in stdout.split(b"\n")[:-1]]


def sources(stdout: bytes) -> list[str | None]:
    """The sources of JSON lines, in order, each once."""
    return list(dict.fromkeys(record["source"] for record in records(stdout)))


def expected(documents: Sequence[tuple[str | None, str]], **options: Any) -> list[dict[str, Any]]:
    chunker = chunkast.Chunker(**options)
    return [chunk.to_dict() for chunk in chunker.iter_chunks(documents)]


def errors(stderr: bytes) -> list[str]:
    """The error lines; nothing that looks like a traceback may be among the rest."""
    text = stderr.decode()
    assert "Traceback" not in text
    assert "Exception ignored" not in text
    return [line for line in text.splitlines() if line.startswith("chunkast: error: ")]


# Help, version, usage


def test_no_command_prints_help_on_stderr(tmp_path: Path) -> None:
    done = run(cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"usage: chunkast")
    assert b"stats" in done.stderr


def test_help_and_version(tmp_path: Path) -> None:
    for arguments in (
        ["--help"],
        ["chunk", "--help"],
        ["stats", "--help"],
        ["toolcalls", "--help"],
    ):
        done = run(*arguments, cwd=tmp_path)
        assert done.returncode == 0
        assert done.stdout.startswith(b"usage: chunkast")
        assert done.stderr == b""
    for arguments in (["--help"], ["--version"], ["chunk", "--help"]):
        assert run_process(*arguments, cwd=tmp_path, env={"PYTHONUNBUFFERED": "1"}).returncode == 0
    done = run("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (
        0,
        f"chunkast {chunkast.__version__}\n{parser_note()}\ntiktoken {version('tiktoken')}\n".encode(),
    )


def imported(stderr: bytes) -> set[str]:
    """The top-level packages that ``-X importtime`` lists."""
    lines = (line for line in stderr.decode().splitlines() if line.startswith("import time:"))
    return {line.rsplit("|", 1)[1].strip().partition(".")[0] for line in lines}


def imports_of(*arguments: str, cwd: Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "chunkast", *arguments],
        cwd=cwd,
        capture_output=True,
        env=environment(),
        timeout=120,
        check=False,
    )
    return imported(done.stderr)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["chunk", "--help"],
        ["stats", "--help"],
        ["toolcalls", "--help"],
        ["check", "--help"],
        ["chunk", "--bad"],
    ],
)
def test_arguments_are_parsed_before_heavy_imports(tmp_path: Path, arguments: list[str]) -> None:
    modules = imports_of(*arguments, cwd=tmp_path)
    assert "chunkast" in modules
    assert modules.isdisjoint(HEAVY)


def test_rich_is_imported_for_a_terminal_only(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "a\n", "b.md": "b\n"})
    modules = imports_of("chunk", ".", cwd=tmp_path)
    assert {"tiktoken", "markdown_it"} <= modules
    assert "rich" not in modules


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--max-tokens", "0"], "max_tokens=0: "),
        (["--max-tokens", "many"], "--max-tokens: 'many' is neither a whole number"),
        (["--overlap", "1.0"], "overlap=1.0: "),
        (["--overlap", "900"], "overlap=900: "),
        (["--overlap", "-1"], "overlap=-1: "),
        (["--overlap", "nan"], "overlap=nan: "),
        (["--overlap", "half"], "'half' is not a number"),
        (["--encoding", "klingon"], "encoding='klingon': must be one of cl100k_base, o200k_base, "),
        (["--model", "klingon-4"], "model='klingon-4': "),
        (["--packing", "loose"], "--packing: invalid choice: 'loose'"),
        (["--context", "all"], "--context: invalid choice: 'all'"),
        (["--oversize", "drop"], "--oversize: invalid choice: 'drop'"),
        (["--decay", "2"], "decay=2.0: "),
        (["--window", "-5"], "window=-5: "),
        (["--extensions", "tabels"], "did you mean 'tables'?"),
        (["--set", "max_token=5"], "did you mean 'max_tokens'?"),
        (["--set", 'scores={"h9": 1}'], "scores='h9': must be one of h1, "),
        (["--set", "trim=yes"], "trim='yes': "),
        (["--set", "decay"], "--set decay: expected FIELD=VALUE"),
        (["--decay", "0.5", "--set", "decay=0.5"], "decay is given twice"),
        (["--max-tokens", "5", "--set", "chunk_size=5"], "given twice"),
        (["--format", "yaml"], "--format: invalid choice: 'yaml'"),
        (["--jobs", "0"], "--jobs: '0' is not a whole number of at least 1"),
        (["--max", "5"], "unknown argument --max"),
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


def test_a_command_needs_paths_and_a_known_name(tmp_path: Path) -> None:
    for arguments, says in ((["chunk"], "PATHS"), (["chnk", "a.md"], "'chnk'")):
        done = run(*arguments, cwd=tmp_path)
        assert done.returncode == 2
        [line] = errors(done.stderr)
        assert says in line


def test_main_returns_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert main(["chunk"]) == 2
    assert main([]) == 2
    assert capsys.readouterr().out == (
        f"chunkast {chunkast.__version__}\n{parser_note()}\ntiktoken {version('tiktoken')}\n"
    )


# Which files


def test_a_file_is_named_as_it_was_given(tmp_path: Path) -> None:
    write(tmp_path, {"docs/guide.md": GUIDE, "docs/notes": "Notes.\n"})
    done = run("chunk", "./docs//guide.md", "docs/notes", cwd=tmp_path)
    assert (done.returncode, errors(done.stderr)) == (0, [])
    assert records(done.stdout) == expected([("docs/guide.md", GUIDE), ("docs/notes", "Notes.\n")])


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


def test_a_folder_that_would_be_left_out_is_taken_when_named(tmp_path: Path) -> None:
    write(tmp_path, {"build/a.md": "a\n", ".notes/b.md": "b\n"})
    done = run("chunk", "build", ".notes", cwd=tmp_path)
    assert done.returncode == 0
    assert sources(done.stdout) == [".notes/b.md", "build/a.md"]


def test_the_order_of_arguments_does_not_matter(tmp_path: Path) -> None:
    write(tmp_path, {"b.md": "b\n", "a.md": "a\n", "docs/c.md": "c\n", "docs/0.md": "0\n"})
    one = run("chunk", "b.md", "docs", "a.md", cwd=tmp_path)
    other = run("chunk", "a.md", "docs", "b.md", cwd=tmp_path)
    assert one.stdout == other.stdout
    assert sources(one.stdout) == ["a.md", "b.md", "docs/0.md", "docs/c.md"]


def test_a_file_found_twice_is_taken_once(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": "a\n"})
    done = run("chunk", "docs/a.md", "docs", "docs/../docs/a.md", "docs/*.md", cwd=tmp_path)
    assert done.returncode == 0
    assert [record["source"] for record in records(done.stdout)] == ["docs/a.md"]
    other = run("chunk", "docs", "docs/a.md", tmp_path / "docs/a.md", cwd=tmp_path)
    assert other.stdout == done.stdout


@posix
def test_links(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(tmp_path, {"docs/b.md": "b\n", "docs/sub/c.md": "c\n", "else/d.md": "d\n"})
    (docs / "a.md").symlink_to("b.md")
    (docs / "other.md").symlink_to("../else/d.md")
    (docs / "sub" / "up").symlink_to("..", target_is_directory=True)
    (docs / "else").symlink_to("../else", target_is_directory=True)
    (docs / "self").symlink_to("self")
    for argument in ("docs", "docs/**/*.md", "docs/**"):
        done = run("chunk", argument, cwd=tmp_path)
        assert (done.returncode, errors(done.stderr)) == (0, [])
        names = {str(source).removeprefix("docs/") for source in sources(done.stdout)}
        # A link and its file are one file; a linked folder is not entered.
        assert names == {"b.md", "sub/c.md"}
        [note] = [line for line in done.stderr.decode().splitlines() if "note" in line]
        assert "left out docs/else, docs/other.md: symbolic links out of the folder" in note
        done = run("chunk", argument, "--follow-links", "--code", cwd=tmp_path)
        assert (done.returncode, errors(done.stderr)) == (0, [])
        assert b"note" not in done.stderr
        # A file has one name, whatever link leads to it.
        assert sources(done.stdout) == ["docs/b.md", "docs/sub/c.md", "else/d.md"]
    # What is named is taken.
    done = run("chunk", "docs/other.md", "docs/else", "docs/else/*.md", cwd=tmp_path)
    assert (done.returncode, sources(done.stdout)) == (0, ["else/d.md"])
    # Out of the root, a link is named itself.
    done = run("chunk", "docs/other.md", "--root", "docs", cwd=tmp_path)
    assert (done.returncode, sources(done.stdout)) == (0, ["other.md"])
    (docs / "gone.md").symlink_to("nothing")
    done = run("chunk", "docs", cwd=tmp_path)
    assert done.returncode == 1
    [line] = errors(done.stderr)
    assert "docs/gone.md: No such file" in line


@posix
def test_links_in_circles_end(tmp_path: Path) -> None:
    # Every folder leads to every other one.
    names = [f"d{n}" for n in range(6)]
    for name in names:
        write(tmp_path, {f"docs/{name}/{name}.md": "a\n", "far/x.md": "x\n", "far/y/z.md": "z\n"})
        for other in names:
            (tmp_path / "docs" / name / f"to-{other}").symlink_to(f"../{other}")
        (tmp_path / "docs" / name / "up").symlink_to("../..")
        (tmp_path / "docs" / name / "far").symlink_to(tmp_path / "far")
    for argument in ("docs", "docs/**/*.md", "docs/**"):
        done = run("chunk", argument, "--follow-links", cwd=tmp_path)
        assert (done.returncode, errors(done.stderr)) == (0, [])
        found = [str(source).rpartition("/")[2] for source in sources(done.stdout)]
        assert sorted(found) == sorted([*(f"{name}.md" for name in names), "x.md", "z.md"])


@posix
def test_links_out_of_a_folder_are_left_out_everywhere(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": "a\n", "secret/s.md": "word\n", "docs-2/t.md": "t\n"})
    (tmp_path / "docs" / "s.md").symlink_to("../secret/s.md")
    # The folder's name begins alike; a link to nothing outside is one to the outside.
    (tmp_path / "docs" / "t.md").symlink_to("../docs-2/t.md")
    (tmp_path / "docs" / "u.md").symlink_to("../nothing")
    (tmp_path / "docs" / "v").symlink_to(tmp_path / "secret")
    for number in range(9):
        (tmp_path / "docs" / f"w{number}.md").symlink_to("/etc/passwd")
    # The folder itself may be a link.
    (tmp_path / "link").symlink_to("docs")
    for folder in ("docs", "link"):
        for command_ in (["chunk"], ["stats"], ["index", "--db", "a.db"]):
            done = run(*command_, folder, cwd=tmp_path)
            assert (done.returncode, errors(done.stderr)) == (0, [])
            first = done.stderr.decode().splitlines()[0]
            assert first == (
                f"chunkast: note: left out {folder}/s.md, {folder}/t.md, {folder}/u.md, "
                f"{folder}/v, {folder}/w0.md and 8 more: symbolic links out of the folder given, "
                "which --follow-links takes"
            )
            assert run(*command_, folder, "-q", cwd=tmp_path).stderr == b""
    (tmp_path / "docs" / "u.md").unlink()
    done = run("index", "docs", "--db", "a.db", "--follow-links", cwd=tmp_path)
    assert done.stdout.startswith(b"added 3, changed 0, ")
    assert run("search", "word", "--db", "a.db", cwd=tmp_path).stdout.startswith(b"s.md:1")
    # What is no longer followed is no longer there.
    done = run("index", "docs", "--db", "a.db", cwd=tmp_path)
    assert done.stdout.startswith(b"added 0, changed 0, unchanged 1, removed 3")


@posix
def test_pipes_in_folders_are_left_alone(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": "a\n"})
    os.mkfifo(tmp_path / "docs" / "pipe.md")
    done = run("chunk", "docs", "docs/*.md", cwd=tmp_path)
    assert (done.returncode, sources(done.stdout)) == (0, ["docs/a.md"])


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
        ("docs/*.rst", ["docs/b.rst"]),
        ("docs/?.md", ["docs/a.md"]),
        ("docs/[ab].*", ["docs/a.md"]),
        ("docs/[x].md", ["docs/[x].md"]),
        ("docs/**/*.md", ["docs/[x].md", "docs/a.md", "docs/sub/d.md"]),
        ("**/d.md", ["docs/sub/d.md"]),
        ("docs/**/deep/**/*.MD", ["docs/sub/deep/f.MD"]),
        (
            "docs/**",
            ["docs/[x].md", "docs/a.md", "docs/sub/d.md", "docs/sub/deep/f.MD", "docs/sub/e.txt"],
        ),
        # A folder that matches is searched, as when the shell expands the pattern.
        ("docs/s*", ["docs/sub/d.md", "docs/sub/deep/f.MD", "docs/sub/e.txt"]),
        ("docs/*/deep", ["docs/sub/deep/f.MD"]),
        ("docs/.h*", ["docs/.h.md", "docs/.hid/h.md"]),
        ("docs/*/g.md", []),
        ("docs/node_modules/*.md", ["docs/node_modules/g.md"]),
        ("docs/.hid/*.md", ["docs/.hid/h.md"]),
        ("docs/*.nothing", []),
        ("docs/img/*", []),
        ("nowhere/*.md", []),
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


def test_an_absolute_glob(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": "a\n"})
    done = run("chunk", tmp_path / "d*" / "*.md", cwd=tmp_path)
    assert sources(done.stdout) == ["docs/a.md"]


def test_paths_and_options_in_any_order(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "a\n", "b.md": "b\n", "-c.md": "c\n"})
    done = run("chunk", "a.md", "--max-tokens", "50", "b.md", "-q", "--", "-c.md", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert sources(done.stdout) == ["-c.md", "a.md", "b.md"]


def test_files_of_one_name_in_two_folders(tmp_path: Path) -> None:
    write(tmp_path, {"one/README.md": GUIDE, "two/README.md": GUIDE})
    done = run("chunk", "two", "one", cwd=tmp_path)
    pairs = [("one/README.md", GUIDE), ("two/README.md", GUIDE)]
    assert records(done.stdout) == expected(pairs)


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


def test_nothing_is_normalised(tmp_path: Path) -> None:
    text = (
        "\ufeff# Title\r\n\r\nA\tline\rand\u2028another.\r\n\r\n\x00 — Ünïcode 🙂 e\u0301\x85 end"
    )
    write(tmp_path, {"a.md": text})
    done = run("chunk", "a.md", "--no-trim", "--overlap", "0", cwd=tmp_path)
    assert "".join(record["text"] for record in records(done.stdout)) == text


@pytest.mark.slow
def test_output_is_utf8_whatever_the_locale(tmp_path: Path) -> None:
    text = "# Ünïcode\n\nBlåbærgrød 🙂 漢字\n"
    write(tmp_path, {"ä.md": text})
    plain = {"LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for form in ("jsonl", "json", "text"):
        done = run_process("chunk", ".", "--format", form, cwd=tmp_path, env=plain)
        assert (done.returncode, errors(done.stderr)) == (0, [])
        for part in ("Blåbærgrød 🙂 漢字", "Ünïcode"):
            assert part.encode() in done.stdout


@linux
def test_lone_surrogates_are_escaped(tmp_path: Path) -> None:
    # A file name that is not UTF-8 becomes a str with a lone surrogate.
    name = b"caf\xe9.md"
    (tmp_path / os.fsdecode(name)).write_bytes(b"Text.\n")
    for form in ("jsonl", "json", "text"):
        done = run("chunk", ".", "--format", form, cwd=tmp_path)
        assert done.returncode == 0
        assert rb"caf\udce9.md" in done.stdout
        done.stdout.decode("utf-8")
        if form == "jsonl":
            assert os.fsencode(str(sources(done.stdout)[0])) == name
    (tmp_path / os.fsdecode(name)).write_bytes(b"\xff")
    failed = run("chunk", ".", cwd=tmp_path)
    assert r"caf\udce9.md at byte 0" in errors(failed.stderr)[0]


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


LONG_NUMBERS = {
    "hex.md": f"---\na: 0x{'f' * 5_000}\n---\n# A\n",
    "others.md": f"---\na: 0o{'7' * 6_000}\nb: 0b{'1' * 20_000}\nc: 1{':59' * 4_000}\n---\n# A\n",
    "key.md": f"---\nb: 1\n? [0x{'f' * 5_000}]\n: 1\n---\n# A\n",
    "toml.md": f"+++\na = [0x{'f' * 5_000}]\n+++\n# A\n",
    "decimal.md": f"---\na: {'9' * 5_000}\nb: -{'9' * 700}\n---\n# A\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_numbers_of_thousands_of_digits_are_written(tmp_path: Path, jobs: int) -> None:
    good = {f"{n}.md": paragraphs(1, n) for n in range(48)}
    write(tmp_path / "docs", {**LONG_NUMBERS, **good})
    options = ("--front-matter", "parsed", "--jobs", jobs)
    done = run("chunk", "docs", *options, "-q", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    found = {
        record["source"].removeprefix("docs/"): record["metadata"]
        for record in records(done.stdout)
    }
    assert found.keys() == LONG_NUMBERS.keys() | good.keys()
    given = {name: found[name]["front_matter"] for name in LONG_NUMBERS}
    assert given == {
        "hex.md": {"a": f"0x{'f' * 5_000}"},
        "others.md": {
            "a": f"0o{'7' * 6_000}",
            "b": f"0b{'1' * 20_000}",
            "c": f"1{':59' * 4_000}",
        },
        "key.md": {"b": 1, f"['0x{'f' * 5_000}']": 1},
        "toml.md": {"a": [f"0x{'f' * 5_000}"]},
        "decimal.md": {"a": "9" * 5_000, "b": f"-{'9' * 700}"},
    }
    for ending in ("json", "txt", "parquet", "db"):
        done = run("chunk", "docs", *options, "-q", "-o", f"out.{ending}", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, b"")
    done = run("index", "docs", *options, "-q", "--db", "index.db", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")


def run_in(kilobytes: int, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """Run the command in so much memory."""
    return subprocess.run(
        ["/bin/sh", "-c", f'ulimit -v {kilobytes}; exec "$@"', "sh", *command(*arguments)],
        cwd=cwd,
        capture_output=True,
        env=environment(),
        timeout=120,
        check=False,
    )


@pytest.mark.slow
@linux
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_document_larger_than_memory_costs_itself_alone(tmp_path: Path, jobs: int) -> None:
    good = {f"docs/{n}.md": paragraphs(1, n) for n in range(40)}
    write(tmp_path, {**good, "docs/parsed.md": "a\n\n" * 4_000_000})
    # It takes no room on the disk.
    for name in ("read.md", "book.ipynb"):
        with (tmp_path / "docs" / name).open("wb") as file:
            file.truncate(2**32)
    told = [
        f"chunkast: error: docs/{name}: there is not enough memory"
        for name in ("book.ipynb", "parsed.md", "read.md")
    ]
    for arguments in (["chunk", "docs"], ["stats", "docs"], ["index", "docs", "--db", "a.db"]):
        done = run_in(350_000, *arguments, "--jobs", jobs, cwd=tmp_path)
        assert done.returncode == 1
        assert errors(done.stderr) == told
        if arguments[0] == "chunk":
            assert set(sources(done.stdout)) == good.keys()
    assert run("search", "Paragraph", "--db", "a.db", cwd=tmp_path).stdout


@pytest.mark.slow
@linux
def test_a_view_of_a_document_larger_than_memory_is_one_line(tmp_path: Path) -> None:
    write(tmp_path, {"parsed.md": "a\n\n" * 4_000_000})
    done = run_in(350_000, "view", "parsed.md", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert errors(done.stderr) == ["chunkast: error: parsed.md: there is not enough memory"]
    assert len(list(tmp_path.iterdir())) == 1


@posix
def test_files_without_permission(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": "a\n", "docs/b.md": "b\n", "docs/closed/c.md": "c\n"})
    (tmp_path / "docs" / "b.md").chmod(0)
    if os.access(tmp_path / "docs" / "b.md", os.R_OK):
        pytest.skip("whoever runs this may read everything")
    (tmp_path / "docs" / "closed").chmod(0)
    done = run("chunk", "docs", cwd=tmp_path)
    (tmp_path / "docs" / "closed").chmod(0o700)
    assert (done.returncode, sources(done.stdout)) == (1, ["a.md"])
    assert sorted(errors(done.stderr)) == [
        "chunkast: error: docs/b.md: Permission denied",
        "chunkast: error: docs/closed: Permission denied",
    ]


@posix
def test_a_name_cannot_forge_lines(tmp_path: Path) -> None:
    done = run("chunk", "a\nchunkast: error: b\x1b]0;.md", cwd=tmp_path)
    assert errors(done.stderr) == [
        r"chunkast: error: a\nchunkast: error: b\x1b]0;.md: no such file or folder"
    ]


# Options


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--max-tokens", "60"], {"max_tokens": 60}),
        (["--max-tokens", "60", "--overlap", "0.5"], {"max_tokens": 60, "overlap": 0.5}),
        (["--max-tokens", "60", "--overlap", "30"], {"max_tokens": 60, "overlap": 30}),
        (["--max-tokens", "60", "--overlap", "1"], {"max_tokens": 60, "overlap": 1}),
        (["--max-tokens", "60", "--overlap", "0"], {"max_tokens": 60, "overlap": 0}),
        (["--encoding", "o200k_base"], {"encoding": "o200k_base"}),
        (["--model", "gpt-4o"], {"model": "gpt-4o"}),
        (["--max-tokens", "60", "--packing", "fill"], {"max_tokens": 60, "packing": "fill"}),
        (["--max-tokens", "60", "--context", "none"], {"max_tokens": 60, "context": "none"}),
        (["--min-tokens", "0"], {"min_tokens": 0}),
        (["--max-tokens", "60", "--window", "0"], {"max_tokens": 60, "window": 0}),
        (["--max-tokens", "20", "--oversize", "keep"], {"max_tokens": 20, "oversize": "keep"}),
        (["--no-trim"], {"trim": False}),
        (["--extensions", ""], {"extensions": ()}),
        (
            ["--extensions", "tables, deflists"],
            {"extensions": ("tables", "deflists")},
        ),
        (["--set", "max_tokens=60"], {"max_tokens": 60}),
        (["--set", "chunk_size=60"], {"max_tokens": 60}),
        (["--set", "extensions=tables,deflists"], {"extensions": ("tables", "deflists")}),
        (["--set", 'extensions=["deflists"]'], {"extensions": ("deflists",)}),
        (["--set", "encoding=o200k_base"], {"encoding": "o200k_base"}),
        (["--set", "trim=false"], {"trim": False}),
        (
            ["--set", "max_tokens=60", "--set", 'scores={"sentence": 200, "paragraph": 1}'],
            {"max_tokens": 60, "scores": {"sentence": 200, "paragraph": 1}},
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


def test_decay_reaches_the_configuration(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": paragraphs(30)})
    arguments = ["--max-tokens", 200, "--packing", "fill", "--window", 200, "--decay"]
    options = {"max_tokens": 200, "packing": "fill", "window": 200}
    for decay in (0, 1):
        done = run("chunk", "a.md", *arguments, decay, cwd=tmp_path)
        assert records(done.stdout) == expected([("a.md", paragraphs(30))], decay=decay, **options)


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


def test_no_chunks_at_all(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": " \n\n"})
    for form, out in (("jsonl", b""), ("json", b"[]\n"), ("text", b"")):
        done = run("chunk", "a.md", "--format", form, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, out)


def test_summary(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": GUIDE, "b.md": "Plain.\n"})
    done = run("chunk", ".", "--max-tokens", "60", cwd=tmp_path)
    chunks = records(done.stdout)
    tokens = sum(chunk["token_count"] for chunk in chunks)
    assert re.fullmatch(
        rf"2 files, {len(chunks)} chunks, {tokens} tokens, \d+\.\d\d s\n", done.stderr.decode()
    )
    quiet = run("chunk", ".", "--max-tokens", "60", "--quiet", cwd=tmp_path)
    assert (quiet.stdout, quiet.stderr) == (done.stdout, b"")


def test_each_document_is_written_before_the_next_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "First.\n", "b.md": b"\xff", "c.md": "Third.\n"})
    with started("chunk", ".", cwd=tmp_path, stderr=subprocess.STDOUT) as process:
        out, _ = process.communicate(timeout=60)
    assert [line.split(b'"text":')[-1][:15] for line in out.splitlines()[:3]] == [
        b'"First.","start',
        b"chunkast: error",
        b'"Third.","start',
    ]


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
def test_a_slow_document_does_not_let_the_others_pile_up(tmp_path: Path) -> None:
    write(tmp_path, {f"docs/{n:03}.md": paragraphs(1, n) for n in range(1, 600)})
    write(tmp_path, {"docs/000.md": paragraphs(30_000)})
    with started("chunk", "docs", "--jobs", 2, cwd=tmp_path, bufsize=0) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        (tmp_path / "docs" / "599.md").unlink()
        out, err = process.communicate(timeout=120)
    assert errors(err) == ["chunkast: error: docs/599.md: No such file or directory"]
    assert len(sources(first + out)) == 599


@linux
def test_unbuffered_output_is_complete(tmp_path: Path) -> None:
    # A line that is larger than the pipe, and a write that is stopped half-way.
    write(tmp_path, {"a.md": paragraphs(5000)})
    arguments = ("chunk", "a.md", "--max-tokens", 1_000_000)
    env = environment({"PYTHONUNBUFFERED": "1"})
    with started(*arguments, cwd=tmp_path, env=env, bufsize=0) as process:
        assert process.stdout is not None
        first = process.stdout.read(1)
        time.sleep(0.2)
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
        process.send_signal(signal.SIGCONT)
        out, _ = process.communicate(timeout=60)
    assert records(first + out) == expected([("a.md", paragraphs(5000))], max_tokens=1_000_000)


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
            ["--version"],
            ["chunk", "--help"],
        ):
            for unbuffered in ("", "1"):
                env = environment({"PYTHONUNBUFFERED": unbuffered})
                with started(*arguments, cwd=tmp_path, stdout=full, env=env) as process:
                    _, err = process.communicate(timeout=60)
                assert process.returncode == 1
                assert errors(err) == ["chunkast: error: No space left on device"]


@posix
def test_standard_output_is_closed(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": GUIDE})
    done = subprocess.run(
        ["/bin/sh", "-c", '"$@" >&-', "sh", *command("chunk", "a.md")],
        cwd=tmp_path,
        capture_output=True,
        env=environment(),
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert errors(done.stderr) == ["chunkast: error: standard output is closed"]


# Output files


def test_output_file(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": GUIDE, "out/old.jsonl": "old\n"})
    plain = run("chunk", "a.md", cwd=tmp_path)
    for name in ("old.jsonl", "new.jsonl"):
        done = run("chunk", "a.md", "-o", f"out/{name}", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, b"")
        assert (tmp_path / "out" / name).read_bytes() == plain.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["new.jsonl", "old.jsonl"]
    dash = run("chunk", "a.md", "-o", "-", cwd=tmp_path)
    assert dash.stdout == plain.stdout


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


def test_output_file_of_the_longest_name(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": GUIDE})
    for name in ("n" * 249 + ".jsonl", "é" * 124 + "n.jsonl"):
        assert len(name.encode()) == 255
        assert run("chunk", "a.md", "-o", name, cwd=tmp_path).returncode == 0
        assert sources((tmp_path / name).read_bytes()) == ["a.md"]
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.slow
@linux
def test_runs_of_one_process_id_share_a_folder(tmp_path: Path) -> None:
    # As containers do, in each of which the first process has the id 1.
    unshare = [shutil.which("unshare") or "", "-pf"]
    if not unshare[0] or subprocess.run([*unshare, "true"], check=False, timeout=600).returncode:
        pytest.skip("no process ids of one's own here")
    write(tmp_path, {f"docs/{n:03}.md": paragraphs(300, n) for n in range(40)})
    (tmp_path / "out").mkdir()
    # What another program has left is not this one's.
    write(tmp_path, {"out/.out.jsonl.1.tmp": "left", "out/.out.jsonl.2.tmp": "left"})
    words = [*unshare, *command("chunk", "docs", "-o", "out/out.jsonl", "-q")]
    runs = [
        subprocess.Popen(words, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    ends = [(process.communicate(timeout=120)[1], process.returncode) for process in runs]
    assert ends == [(b"", 0)] * 3
    assert len(sources((tmp_path / "out" / "out.jsonl").read_bytes())) == 40
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [".out.jsonl.1.tmp", ".out.jsonl.2.tmp", "out.jsonl"]


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
    for _ in range(2):
        done = run("chunk", ".", "-o", "out.txt", "--format", "text", cwd=tmp_path)
        assert done.returncode == 0
        assert b"1 file," in done.stderr
    refused = run("chunk", "a.md", "-o", "./a.md", cwd=tmp_path)
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


def workers_of(process: subprocess.Popen[bytes]) -> list[int]:
    """The worker processes of a process, as Linux lists them."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [
        int(child)
        for child in children
        if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


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
    assert (process.returncode, out, err) == (128 + number, b"", b"")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["out.jsonl"]
    assert (tmp_path / "out" / "out.jsonl").read_text() == "old\n"
    deadline = time.monotonic() + 60
    while process_group_lives(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@posix
def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    # As nohup does it.
    write(tmp_path, {f"docs/{n:03}.md": paragraphs(200, n) for n in range(40)})
    (tmp_path / "out").mkdir()
    arguments = ("chunk", "docs", "-o", "out/out.jsonl", "-q")
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with started(*arguments, cwd=tmp_path) as process:
            wait_for_data(process, tmp_path / "out")
            process.send_signal(signal.SIGHUP)
            out, err = process.communicate(timeout=60)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert (process.returncode, out, err) == (0, b"", b"")
    assert len(sources((tmp_path / "out" / "out.jsonl").read_bytes())) == 40


# Runs the command in this process; Ctrl-C comes while a module is imported: where the
# exception would be handed on, or (of a name with a star) where nobody can hand it on.
INTERRUPTED = """
import os, runpy, signal, sys, weakref

NAME = sys.argv.pop(1)

def interrupt(*_):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000):
        pass

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == NAME.rstrip("*"):
            print("found", flush=True)
            if NAME.endswith("*"):
                key = Finder()
                ref = weakref.ref(key, interrupt)
                del key
            else:
                interrupt()

sys.meta_path.insert(0, Finder())
runpy.run_module("chunkast", run_name="__main__", alter_sys=True)
"""


@pytest.mark.slow
@posix
@pytest.mark.parametrize("star", ["", "*"])
@pytest.mark.parametrize(
    "module",
    [
        *("chunkast.cli", "chunkast.cli.main", "argparse", "chunkast.config"),
        *("chunkast.chunker", "tiktoken", "markdown_it", "regex", "chunkast.output.json"),
    ],
)
def test_an_interrupt_while_modules_are_imported_is_quiet(
    tmp_path: Path, module: str, star: str
) -> None:
    write(tmp_path, {"a.md": "a\n"})
    words = [sys.executable, "-c", INTERRUPTED, f"{module}{star}", "chunk", "a.md"]
    done = subprocess.run(
        words, cwd=tmp_path, capture_output=True, env=environment(), timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"found\n", b"")


@pytest.mark.slow
@linux
def test_workers_leave_interrupts_to_the_command(tmp_path: Path) -> None:
    write(tmp_path, {f"docs/{n:03}.md": paragraphs(20, n) for n in range(100)})
    with started("chunk", "docs", "-q", "--jobs", 2, cwd=tmp_path) as process:
        deadline = time.monotonic() + 60
        while not (workers := workers_of(process)):
            assert time.monotonic() < deadline
            time.sleep(0.001)
        # It has only just begun, and has no handler of its own yet.
        os.kill(workers[0], signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert out == run("chunk", "docs", cwd=tmp_path).stdout


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


@pytest.mark.slow
@linux
def test_a_worker_that_dies(tmp_path: Path) -> None:
    write(tmp_path, {f"docs/{n:03}.md": paragraphs(2000, n) for n in range(60)})
    arguments = ("chunk", "docs", "-o", "out/out.jsonl", "--jobs", 2)
    (tmp_path / "out").mkdir()
    with started(*arguments, cwd=tmp_path) as process:
        wait_for_data(process, tmp_path / "out")
        os.kill(workers_of(process)[0], signal.SIGKILL)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    [line] = errors(err)
    assert "a worker process was lost" in line
    assert list((tmp_path / "out").iterdir()) == []


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
    assert (b"\x1b[" in shown and b"5/5" in shown) == bar
    assert b"\x1b[" not in out
    assert records(out)
    assert (b"docs/bad.md at byte 0" in shown) == (arguments != ["docs/1.md"])


@posix
def test_no_progress_among_chunks_on_one_terminal(tmp_path: Path) -> None:
    write(tmp_path, {f"docs/{n}.md": paragraphs(10, n) for n in range(4)})
    shown = []
    for output in ([], ["-o", "out.jsonl"]):
        ours, theirs = pty.openpty()
        with started(
            "chunk", "docs", *output, cwd=tmp_path, stdout=theirs, stderr=theirs
        ) as process:
            os.close(theirs)
            shown.append(read_terminal(ours))
            assert process.wait(timeout=60) == 0
    assert b"\x1b[" not in shown[0]
    assert b'"source":"docs/3.md"' in shown[0]
    assert b"\x1b[" in shown[1]


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


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("# A\n\n" + "a word " * 30 + "\n\n## B\n\n" + "a word " * 30, {"h2": 1}),
        ("One sentence more. " * 40, {"inside paragraph": 2}),
        # The chunk's text begins with a sentence of overlap, its own text with the fence.
        ("One sentence more. " * 18 + "\n\n```\n" + "line = 1\n" * 12 + "```\n", {"fence": 1}),
        ("```\n" + "line = 1\n" * 60 + "```\n", {"inside fence": 3}),
        ("- " + "a word " * 30 + "\n- " + "a word " * 30, {"list-item-0": 1}),
        ("# A\n\n" + "a word " * 60 + ".", {"inside paragraph": 1}),
    ],
)
def test_stats_tell_where_chunks_begin(tmp_path: Path, text: str, begins: dict[str, int]) -> None:
    write(tmp_path, {"a.md": text})
    done = run("stats", "a.md", "--max-tokens", "100", "--format", "json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert report["begins"].pop("document start") == 1
    assert set(report["begins"]) == set(begins)
    assert sum(report["begins"].values()) == report["chunks"] - 1 >= 1


def test_stats_count_what_is_above_the_budget(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "```\n" + "line = 1\n" * 60 + "```\n\nText.\n"})
    arguments = ["stats", "a.md", "--max-tokens", "50", "--oversize", "keep"]
    report = json.loads(run(*arguments, "--format", "json", cwd=tmp_path).stdout)
    assert report["oversize"] == 1
    assert report["histogram"][-1] == {"from": 51, "to": report["tokens"]["max"], "chunks": 1}


def test_stats_text(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": GUIDE, "b.md": paragraphs(60), "bad.md": b"\xff"})
    done = run("stats", ".", "missing.md", "--max-tokens", "100", cwd=tmp_path)
    assert done.returncode == 1
    assert len(errors(done.stderr)) == 2
    report = json.loads(
        run("stats", ".", "--max-tokens", "100", "--format", "json", cwd=tmp_path).stdout
    )
    page = done.stdout.decode()
    assert re.search(rf"^chunks +{report['chunks']} ", page, re.MULTILINE)
    assert re.search(rf"^fill +{report['fill']:.1%} ", page, re.MULTILINE)
    for row in report["histogram"]:
        name = f"{row['from']}-{row['to']}"
        line = re.search(rf"^  {name} +{row['chunks']} +[\d.]+%(  █+)?$", page, re.MULTILINE)
        assert line
        assert bool(line[1]) == bool(row["chunks"])
    longest = max(report["begins"], key=lambda kind: report["begins"][kind])
    assert re.search(rf"^  {longest} .* █{{40}}$", page, re.MULTILINE)


def test_stats_of_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "\n"})
    for form in ("text", "json"):
        done = run("stats", "a.md", "--format", form, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout
    assert run("stats", "missing", cwd=tmp_path).returncode == 1
    assert run("stats", "a.md", "--max-tokens", "0", cwd=tmp_path).returncode == 2


def test_figures() -> None:
    assert _spread([1, 2, 3, 10]) == {
        "total": 16,
        "min": 1,
        "mean": 4.0,
        "median": 2.5,
        "p95": 10,
        "max": 10,
    }
    assert _spread(list(range(1, 101)))["p95"] == 95
    assert _spread([7])["p95"] == 7
    rows = _histogram([1, 10, 11, 100], 100)
    assert [row["chunks"] for row in rows] == [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    assert [(row["from"], row["to"]) for row in _histogram([], 3)] == [(1, 1), (2, 2), (3, 3)]


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
    edges = [(p["start"], p["end"]) for p in parts]
    assert edges[0][0] == 0
    assert edges[-1][1] == len(CALLS)
    assert all(before[1] == after[0] for before, after in pairwise(edges))
    assert list(parts[0]) == ["type", "text", "start", "end"]
    assert list(parts[1]) == ["type", "name", "arguments", "start", "end"]
    [note] = done.stderr.decode().splitlines()
    assert note == (
        "chunkast: note: tool call 'search' at 92: it stays text, as its body cannot be read: "
        "<query> at 16 comes twice; it must be one string"
    )
    piped = run("toolcalls", "--tools=tools.json", "-", cwd=tmp_path, stdin=CALLS.encode())
    assert (piped.returncode, piped.stdout) == (0, done.stdout)
    dashed = run("toolcalls", "--tools", "tools.json", "--", "calls.txt", cwd=tmp_path)
    assert dashed.stdout == done.stdout


@pytest.mark.parametrize(
    "tools",
    [
        '{"add": {"type": "object"}}',
        '[{"name": "add"}]',
        '[{"name": "add", "input_schema": {}}]',
        '[{"name": "add", "inputSchema": {}}]',
        '[{"name": "add", "json_schema": {}}]',
        '\ufeff[{"type": "function", "function": {"name": "add"}}]',
    ],
)
def test_toolcalls_takes_tools_as_they_are_written_elsewhere(tmp_path: Path, tools: str) -> None:
    write(tmp_path, {"tools.json": tools, "calls.txt": "<add><x>1</x></add>"})
    done = run("toolcalls", "calls.txt", "--tools", "tools.json", cwd=tmp_path)
    assert [p["arguments"] for p in records(done.stdout)] == [{"x": 1}]


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
            "start": 0,
            "end": 1,
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
        ("[", "--tools tools.json: this is not JSON in UTF-8: "),
        (b"\xff", "--tools tools.json: this is not JSON in UTF-8: "),
        ("[" * 100_000, "--tools tools.json: this is not JSON in UTF-8: "),
        ("5", "--tools tools.json: tools=5: must be"),
        ("[5]", "--tools tools.json: tools[0]=5: must be"),
        ('[{"name": "a b"}]', "--tools tools.json: tools[0].name='a b': must be"),
        ('[{"function": {}}]', "--tools tools.json: tools[0].function.name=None: "),
        ('{"a": 5}', "--tools tools.json: tools['a'].json_schema=5: "),
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


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["toolcalls", "a.txt"], "required: --tools"),
        (["toolcalls", "--tools", "tools.json"], "required: FILE"),
        (["toolcalls", "a.txt", "b.txt", "--tools", "tools.json"], "unrecognized arguments: b.txt"),
        (["toolcalls", "a.txt", "--tool", "tools.json"], "required: --tools"),
    ],
)
def test_toolcalls_usage(tmp_path: Path, arguments: list[str], says: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    [line] = errors(done.stderr)
    assert says in line


def test_toolcalls_with_a_bad_file(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "tools.json": TOOLS,
        "bad.txt": b"ab <sea\xffrch>",
        "cut.txt": b"<add/>\xc3",
    }
    write(tmp_path, {**files, "wide.txt": "x".encode("utf-16")})
    for name, position, out in (
        ("bad.txt", 7, ["ab <sea"]),
        ("cut.txt", 6, [None]),
        ("wide.txt", 0, []),
    ):
        for given, shown, stdin in (
            (name, name, b""),
            ("-", "<stdin>", (tmp_path / name).read_bytes()),
        ):
            done = run("toolcalls", given, "--tools", "tools.json", cwd=tmp_path, stdin=stdin)
            assert done.returncode == 1
            [line] = errors(done.stderr)
            assert f"{shown} at byte {position}: " in line
            texts = [record.get("text") for record in records(done.stdout)]
            assert "".join(text or "<add/>" for text in texts) == "".join(
                o or "<add/>" for o in out
            )
    for name in ("missing.txt", "."):
        done = run("toolcalls", name, "--tools", "tools.json", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, b"")
        assert errors(done.stderr)[0].startswith(f"chunkast: error: {name}: ")


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
