"""``chunkast snapshot``, ``check`` and ``diff`` on documents of their own."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chunkast import Chunker
from chunkast.heuristics import Heuristic, Patch
from chunkast.snapshot import header_of, record_document, write_lock
from tests.command import environment, errors, posix, run, run_process, write

if os.name == "posix":
    pass

ROOT = Path(__file__).parents[1]
GUIDE = "".join(
    f"# Part {n}\n\n" + " ".join(f"Sentence {k} of part {n} is short." for k in range(20)) + "\n\n"
    for n in range(6)
)
FILES = {"docs/guide.md": GUIDE, "docs/deep/notes.md": "# Notes\n\nOne.\n", "docs/z.txt": "Two.\n"}
LOCK = ("snapshot", "docs", "-o", "chunks.lock", "--max-tokens", "64", "-q")
CHECK = ("check", "docs", "--against", "chunks.lock", "-q")


@pytest.fixture(autouse=True)
def outside_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Documents, and their lock."""
    write(tmp_path, FILES)
    done = run(*LOCK, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return tmp_path


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_bytes().decode()
    assert before in text
    path.write_bytes(text.replace(before, after).encode())


# snapshot


def test_a_lock_is_the_same_however_it_is_made(folder: Path) -> None:
    lock = (folder / "chunks.lock").read_bytes()
    assert lock.startswith(b"chunkast lock 1\n")
    assert lock.endswith(b"\nend\n")
    assert re.findall(rb'^document "(.*)"', lock, re.MULTILINE) == [
        b"docs/deep/notes.md",
        b"docs/guide.md",
        b"docs/z.txt",
    ]
    spread = run(*LOCK[:2], "--max-tokens", "64", "--jobs", "2", "-o", "2.lock", cwd=folder)
    assert spread.returncode == 0
    assert b"3 files, " in spread.stderr
    assert (folder / "2.lock").read_bytes() == lock
    # On standard output it has no folder, which the root would be relative to.
    process = run_process(*LOCK[:2], "--max-tokens", "64", cwd=folder)
    chunks = process.stdout.partition(b"\nsum ")[2]
    assert lock.endswith(chunks.partition(b"\n")[2])
    assert b'root "."' not in process.stdout
    (folder / "piped.lock").write_bytes(process.stdout)
    assert run("check", "docs", "--against", "piped.lock", cwd=folder).returncode == 0


# check


def test_nothing_changed_is_0(folder: Path) -> None:
    done = run(*CHECK, cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.endswith(b"nothing has changed\n")
    assert run(*CHECK, "--jobs", "2", cwd=folder).stdout == done.stdout
    # The lock may lie among the documents.
    run("snapshot", "docs", "-o", "docs/chunks.txt", "-q", cwd=folder)
    again = run("check", "docs", "--against", "docs/chunks.txt", cwd=folder)
    assert again.returncode == 0


def test_an_edit_is_1_and_says_what_it_costs(folder: Path) -> None:
    edit(folder / "docs/guide.md", "Sentence 3 of part 2 is short", "Sentence 3 of part 2 is brief")
    done = run(*CHECK, cwd=folder)
    assert done.returncode == 1
    page = done.stdout.decode()
    assert "why: 1 document edited: docs/guide.md\n" in page
    assert re.search(r"^  changed +Part 2.*, lines? ", page, re.MULTILINE)
    assert re.search(r"^embed again: 1 of \d+ chunks", page, re.MULTILINE)
    assert page.endswith("not allowed: 1 changed\n")
    for allowed in (
        ["--allow", "edited"],
        ["--allow", "moved, changed"],
        ["--allow", "split", "--allow", "changed"],
        ["--allow", "all", "--max-reembed", "10%"],
        ["--allow", "all", "--max-reembed", "1"],
    ):
        assert run(*CHECK, *allowed, cwd=folder).returncode == 0
    for refused in (
        ["--allow", "moved"],
        ["--allow", "all", "--max-reembed", "0"],
        ["--allow", "all", "--max-reembed", "0.1%"],
        ["--max-reembed", "100%"],
    ):
        assert run(*CHECK, *refused, cwd=folder).returncode == 1


def test_the_configuration_is_the_locks_but_for_what_is_given(folder: Path) -> None:
    done = run(*CHECK, "--max-tokens", "60", cwd=folder)
    page = done.stdout.decode()
    assert done.returncode == 1
    assert "why: configuration: max_tokens 64 -> 60\n" in page
    assert "not allowed: configuration: max_tokens; " in page
    assert re.search(r"^  [-+] line \d", page, re.MULTILINE)
    assert run(*CHECK, "--set", "max_tokens=64", cwd=folder).returncode == 0
    assert run(*CHECK, "--max-tokens", "60", "--allow", "edited", cwd=folder).returncode == 1
    assert run(*CHECK, "--max-tokens", "60", "--allow", "all", cwd=folder).returncode == 0


def test_a_lock_is_written_anew_where_a_person_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(folder / "docs/guide.md", "Part 2", "Third part")
    before = (folder / "chunks.lock").read_bytes()
    monkeypatch.setenv("CI", "true")
    done = run(*CHECK, "--update", cwd=folder)
    assert done.returncode == 2
    assert "--update is refused where CI is set" in errors(done.stderr)[0]
    assert (folder / "chunks.lock").read_bytes() == before
    monkeypatch.delenv("CI")
    done = run(*CHECK[:-1], "--update", "--max-tokens", "60", cwd=folder)
    assert (done.returncode, done.stderr) == (
        0,
        b"chunkast.lock: rewritten\n".replace(b"chunkast.", b"chunks."),
    )
    assert b"not allowed" in done.stdout
    run("snapshot", "docs", "--max-tokens", "60", "-q", "-o", "fresh.lock", cwd=folder)
    fresh = (folder / "fresh.lock").read_bytes()
    assert (folder / "chunks.lock").read_bytes() == fresh
    assert run(*CHECK, cwd=folder).returncode == 0
    # Not where something could not be read.
    write(folder, {"docs/z.txt": b"\xff"})
    done = run(*CHECK[:-1], "--update", cwd=folder)
    assert done.returncode == 1
    assert b"chunks.lock: unchanged" in done.stderr
    assert (folder / "chunks.lock").read_bytes() == fresh


def test_every_form_of_the_report(folder: Path) -> None:
    edit(folder / "docs/guide.md", "# Part 2\n", "# Part 2\n\nOne more line.\n")
    values = json.loads(run(*CHECK, "--format", "json", cwd=folder).stdout)
    assert values["why"]["sentences"] == ["1 document edited: docs/guide.md"]
    assert values["embed"]["chunks"] >= 1
    assert values["not_allowed"]
    [document] = values["documents"]
    assert (document["now"], document["edited"]) == ("docs/guide.md", True)
    lines = run(*CHECK, "--format", "github", cwd=folder).stdout.decode().splitlines()
    assert any(line.startswith("::error file=docs/guide.md,line=") for line in lines)
    page = run(*CHECK, "--format", "markdown", cwd=folder).stdout.decode()
    assert page.startswith("### Chunks: ")
    assert "<details><summary>docs/guide.md (edited)</summary>" in page
    done = run(*CHECK, "--html", "page.html", cwd=folder)
    assert done.returncode == 1
    html = (folder / "page.html").read_bytes().decode()
    assert "One more line." in html
    assert html.count("<article") >= 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check", "docs"], "--against"),
        (["check", "--against", "chunks.lock"], "PATHS missing"),
        (
            ["check", "docs", "--against", "chunks.lock", "--allow", "moves"],
            "'moves' is not one of",
        ),
        (
            ["check", "docs", "--against", "chunks.lock", "--max-reembed", "some"],
            "'some' is neither",
        ),
        (
            ["check", "docs", "--against", "chunks.lock", "--max-reembed", "101%"],
            "'101%' is neither",
        ),
        (["check", "docs", "--against", "chunks.lock", "--max-tokens", "0"], "max_tokens=0"),
        (["check", "docs", "--against", "none.lock"], "none.lock: No such file"),
        (["check", "docs", "--against", "docs/guide.md"], "not a chunkast lock"),
        (["diff", "chunks.lock"], "diff takes two files, not 1"),
        (["diff", "chunks.lock", "chunks.lock", "--max-tokens", "5"], "only with --vs"),
        (["diff", "chunks.lock", "docs/guide.md"], "guide.md, line 1: neither a lock, nor"),
        (["diff", "docs", "--vs", "max_tokens"], "--vs max_tokens: expected FIELD=VALUE"),
        (["diff", "docs", "--vs", "max_token=5"], "did you mean 'max_tokens'?"),
        (["snapshot", "docs", "-o", "nowhere/x.lock"], "--output nowhere/x.lock"),
    ],
)
def test_wrong_usage_is_one_line_and_2(folder: Path, arguments: list[str], says: str) -> None:
    done = run(*arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    [line] = errors(done.stderr)
    assert says in line


def test_a_lock_made_with_objects_is_one_line_and_2(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": "# A\n"})
    own: Heuristic[Any, Any] = Heuristic("own.mask", "pre-parse", lambda _draft: Patch())
    for options, name in (({"heuristics": [own]}, "own.mask"), ({"encoding": len}, "len")):
        chunker = Chunker(**options)
        with (tmp_path / "chunks.lock").open("wb") as out:
            write_lock(out, header_of(chunker), [record_document(chunker, "a.md", "# A\n")])
        done = run(*CHECK, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, b"")
        [line] = errors(done.stderr)
        assert "chunks.lock: made with Python objects that a lock cannot store: " in line
        assert name in line
        # The comparison of two such locks needs no objects.
        assert run("diff", "chunks.lock", "chunks.lock", cwd=tmp_path).returncode == 0
        run("index", "docs", "--root", ".", "--db", "chunks.db", "-q", cwd=tmp_path)
        done = run("diff", "chunks.lock", "chunks.db", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, b"")


# diff


def test_documents_that_come_go_and_change_their_names(folder: Path) -> None:
    (folder / "docs/guide.md").rename(folder / "docs/manual.md")
    (folder / "docs/z.txt").unlink()
    write(folder, {"docs/new.md": "# New\n\nThree.\n"})
    done = run(*CHECK, cwd=folder)
    page = done.stdout.decode()
    assert done.returncode == 1
    for why in ("new: docs/new.md", "gone: docs/z.txt", "renamed: docs/guide.md -> docs/manual.md"):
        assert f"why: 1 document {why}\n" in page
    assert re.search(r"embed again: 1 of ", page)
    assert run(*CHECK, "--allow", "edited", cwd=folder).returncode == 0


def test_standard_input_has_a_name(tmp_path: Path) -> None:
    assert run("snapshot", "-", "-o", "in.lock", "-q", cwd=tmp_path, stdin=b"# A\n").returncode == 0
    for text, code in ((b"# A\n", 0), (b"# B\n", 1)):
        assert (
            run("check", "-", "--against", "in.lock", cwd=tmp_path, stdin=text).returncode == code
        )


def test_locks_databases_and_json_lines_are_compared(folder: Path) -> None:
    run("chunk", "docs", "--max-tokens", "64", "-o", "chunks.jsonl", "-q", cwd=folder)
    run("index", "docs", "--root", ".", "--db", "chunks.db", "--max-tokens", "64", "-q", cwd=folder)
    names = ("chunks.lock", "chunks.jsonl", "chunks.db")
    for one in names:
        for two in names:
            done = run("diff", one, two, cwd=folder)
            assert (done.returncode, done.stderr) == (0, b"")
            assert b"embed again: 0 of " in done.stdout
            assert b"guide.md" not in done.stdout, done.stdout.decode()
    edit(folder / "docs/guide.md", "Sentence 3 of part 2 is short", "Sentence 3 of part 2 is brief")
    run("index", "docs", "--root", ".", "--db", "chunks.db", "--max-tokens", "64", "-q", cwd=folder)
    for one in names[:2]:
        page = run("diff", one, "chunks.db", cwd=folder).stdout.decode()
        assert (
            "why: 1 document edited, or cut differently (chunks alone do not show which): " in page
        )
        assert "\n  changed " in page
        assert "embed again: 1 of " in page
    run("index", "docs", "--root", ".", "--db", "other.db", "--max-tokens", "60", "-q", cwd=folder)
    for one in ("chunks.lock", "chunks.db"):
        page = run("diff", one, "other.db", cwd=folder).stdout.decode()
        assert re.findall(r"^why: configuration: .*", page, re.MULTILINE) == [
            "why: configuration: max_tokens 64 -> 60",
            "why: configuration: window 14 -> 13",
        ]
    write(folder, {"bad.jsonl": "{}\n", "bad.db": b"SQLite format 3\0 and no more"})
    for name in ("bad.jsonl", "bad.db"):
        done = run("diff", "chunks.lock", name, cwd=folder)
        assert done.returncode == 2
        assert name in errors(done.stderr)[0]


def test_two_configurations_are_compared(folder: Path) -> None:
    done = run("diff", "docs", "--max-tokens", "64", "--vs", "max_tokens=128", "-q", cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    page = done.stdout.decode()
    assert "why: configuration: max_tokens 64 -> 128\n" in page
    assert page.startswith("given ")
    assert re.search(r"^max_tokens=128  3 documents, \d+ chunks, \d+ cuts, ", page, re.MULTILINE)
    assert "  merged " in page or "  recut " in page
    spread = run(
        "diff", "docs", "--max-tokens", "64", "--vs", "max_tokens=128", "--jobs", "2", cwd=folder
    )
    assert spread.stdout == done.stdout
    same = run("diff", "docs", "--vs", "decay=0.7", cwd=folder)
    assert b"why" not in same.stdout
    two = run("diff", "docs", "--vs", "max_tokens=64", "--vs", "overlap=0", cwd=folder)
    assert b"configuration: overlap 0.15 -> 0\n" in two.stdout
    html = run("diff", "docs", "--vs", "max_tokens=64", "--html", "p.html", cwd=folder)
    assert html.returncode == 0
    page = (folder / "p.html").read_bytes().decode()
    # Of documents that are the same both sides are known whole.
    assert page.count("Sentence 7 of part 3 is short") >= 2


# In other programs


def test_the_hook_for_pre_commit(folder: Path) -> None:
    yaml = pytest.importorskip("yaml")
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_bytes())
    assert hook["language"] == "python"
    assert not hook["pass_filenames"]
    assert all(re.search(hook["files"], name) for name in (*FILES, "chunks.lock", "a.Rmd"))
    assert not re.search(hook["files"], "setup.py")
    words = [*shlex.split(hook["entry"]), *hook["args"]]
    assert words[0] == "chunkast"
    assert run(*words[1:], cwd=folder).returncode == 0
    edit(folder / "docs/guide.md", "is short", "is brief")
    assert run(*words[1:], cwd=folder).returncode == 1


@pytest.mark.slow
@posix
def test_the_workflow_for_github(folder: Path) -> None:
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load((ROOT / "examples" / "check-chunks.yml").read_bytes())
    steps = workflow["jobs"]["check"]["steps"]
    annotate, report = (step["run"] for step in steps if step.get("name"))
    assert "pip install chunkast" in [step.get("run") for step in steps]
    (folder / "chunkast").write_bytes(
        f'#!/bin/sh\nexec "{sys.executable}" -m chunkast "$@"\n'.encode()
    )
    (folder / "chunkast").chmod(0o755)
    env = environment(
        {"PATH": f"{folder}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": "summary.md", "CI": "1"}
    )

    def step(script: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["/bin/sh", "-e", "-c", script],
            cwd=folder,
            env=env,
            capture_output=True,
            check=False,
            timeout=600,
        )

    assert step(annotate).returncode == 0
    edit(folder / "docs/guide.md", "Sentence 3 of part 2 is short", "Sentence 3 of part 2 is brief")
    done = step(annotate)
    assert done.returncode == 1
    assert done.stdout.startswith(
        b"::notice title=Why chunks changed::1 document edited: docs/guide.md\n"
    )
    assert b"::error file=docs/guide.md,line=" in done.stdout
    assert step(report).returncode == 0
    assert (folder / "summary.md").read_bytes().startswith(b"### Chunks: 1 changed")
