"""``chunkast snapshot``, ``check`` and ``diff`` on documents of their own."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import chunkast
from chunkast import Chunker
from chunkast.heuristics import Heuristic, Patch
from chunkast.snapshot import header_of, record_document, write_lock
from tests.command import parts, refused, run, write

ROOT = Path(__file__).parents[1]
GUIDE = parts(6)
FILES = {"docs/guide.md": GUIDE, "docs/deep/notes.md": "# Notes\n\nOne.\n", "docs/z.txt": "Two.\n"}
LOCK = ("snapshot", "docs", "-o", "chunks.lock", "--max-tokens", "64", "-q")
CHECK = ("check", "docs", "--against", "chunks.lock", "-q")
SHORT, BRIEF = "Sentence 3 of part 2 is short", "Sentence 3 of part 2 is brief"


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
    header, *chunks = map(json.loads, lock.splitlines())
    assert (header["format"], header["version"], header["root"]) == ("chunkast lock", 2, ".")
    assert list(dict.fromkeys(chunk["source"] for chunk in chunks)) == [
        "docs/deep/notes.md",
        "docs/guide.md",
        "docs/z.txt",
    ]
    # On standard output it has no folder, which the root would be relative to.
    piped = run(*LOCK[:2], "--max-tokens", "64", cwd=folder)
    assert b"3 files, " in piped.stderr
    assert piped.stdout == lock.replace(b'"root": "."', b'"root": ""')
    (folder / "piped.lock").write_bytes(piped.stdout)
    assert run("check", "docs", "--against", "piped.lock", cwd=folder).returncode == 0


# check


def test_nothing_changed_is_0(folder: Path) -> None:
    assert run(*CHECK[:-1], cwd=folder).stdout.endswith(b"nothing has changed\n")
    # The lock may be among the documents.
    for _ in range(2):
        run("snapshot", "docs", "-o", "docs/chunks.txt", "-q", cwd=folder)
        done = run("check", "docs", "--against", "docs/chunks.txt", cwd=folder)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.endswith(b"nothing has changed\n")
        done = run("check", "docs", "--against", "docs/chunks.txt", "-q", cwd=folder)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_an_edit_is_1_and_shows_its_words_and_its_cost(folder: Path) -> None:
    edit(folder / "docs/guide.md", SHORT, BRIEF)
    done = run(*CHECK, cwd=folder)
    assert done.returncode == 1
    page = done.stdout.decode()
    assert "why: 1 document edited: docs/guide.md\n" in page
    changed = r"^  changed +Part 2.*, lines \d+-\d+.*\n    - short\.\n    \+ brief\.$"
    assert re.search(changed, page, re.MULTILINE)
    assert re.search(r"^embed again: 1 of \d+ chunks", page, re.MULTILINE)
    assert page.endswith("not allowed: 1 changed\n")
    for options, code in {
        "--allow edited": 0,
        "--allow recut --allow moved,changed": 0,
        "--allow all --max-reembed 10%": 0,
        "--allow all --max-reembed 1": 0,
        "--allow moved": 1,
        "--allow all --max-reembed 0": 1,
        "--allow all --max-reembed 0.1%": 1,
        "--max-reembed 100%": 1,
    }.items():
        assert run(*CHECK, *options.split(), cwd=folder).returncode == code
    values = json.loads(run(*CHECK, "--format", "json", cwd=folder).stdout)
    assert values["why"]["sentences"] == ["1 document edited: docs/guide.md"]
    assert (values["embed"]["chunks"], values["not_allowed"]) == (1, ["1 changed"])
    [document] = values["documents"]
    assert (document["source"], document["state"]) == ("docs/guide.md", "edited")


def test_a_moved_chunk_has_both_positions(folder: Path) -> None:
    edit(folder / "docs/guide.md", "# Part 3", "\n# Part 3")
    page = run(*CHECK[:-1], "--allow", "moved", cwd=folder).stdout.decode()
    assert re.search(r"^  moved +\d+ chunks, lines 13-23 -> 14-24$", page, re.MULTILINE)
    assert page.endswith("all of this is allowed\n")


def test_the_configuration_is_the_locks_unless_overridden(folder: Path) -> None:
    page = run(*CHECK, "--max-tokens", "60", cwd=folder).stdout.decode()
    assert "why: configuration: max_tokens 64 -> 60\n" in page
    assert "not allowed: configuration: max_tokens; " in page
    assert "\n  recut     Part 3, 1 -> 2 chunks, lines 15-15: 60 -> 60 tokens\n" in page
    assert "\n    + line 15, inside paragraph: Sentence 9 of part 3 is short." in page
    for options, code in (("edited", 1), ("all", 0)):
        done = run(*CHECK, "--max-tokens", "60", "--allow", options, cwd=folder)
        assert done.returncode == code
    assert run(*CHECK, "--set", "max_tokens=64", cwd=folder).returncode == 0


def test_a_lock_is_updated_except_in_ci(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(folder / "docs/guide.md", "Part 2", "Third part")
    before = (folder / "chunks.lock").read_bytes()
    monkeypatch.setenv("CI", "true")
    line = refused(*CHECK, "--update", cwd=folder)
    assert "--update is refused where CI is set" in line
    assert (folder / "chunks.lock").read_bytes() == before
    monkeypatch.delenv("CI")
    done = run(*CHECK[:-1], "--update", "--max-tokens", "60", cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"chunks.lock: rewritten\n")
    assert b"not allowed" in done.stdout
    run("snapshot", "docs", "--max-tokens", "60", "-q", "-o", "fresh.lock", cwd=folder)
    fresh = (folder / "fresh.lock").read_bytes()
    assert (folder / "chunks.lock").read_bytes() == fresh
    assert run(*CHECK, cwd=folder).returncode == 0
    # Not if some document could not be read.
    write(folder, {"docs/z.txt": b"\xff"})
    done = run(*CHECK[:-1], "--update", cwd=folder)
    assert done.returncode == 1
    assert b"chunks.lock: unchanged" in done.stderr
    assert (folder / "chunks.lock").read_bytes() == fresh


def test_a_damaged_lock_is_rewritten_with_its_options(folder: Path) -> None:
    run("snapshot", "docs", "--max-tokens", "64", "--root", "docs", "-o", "docs.lock", cwd=folder)
    fresh = (folder / "docs.lock").read_bytes()
    lines = fresh.splitlines(keepends=True)
    conflict = b"".join([*lines[:3], b"<<<<<<< ours\n", *lines[3:5], b"=======\n", *lines[5:]])
    (folder / "chunks.lock").rename(folder / "my chunks.lock")
    check = ("check", "docs", "--against", "my chunks.lock", "-q")
    for damaged, says in (
        (conflict, "line 4: an unresolved merge conflict begins here"),
        (fresh[:-5], "this is not JSON"),
    ):
        (folder / "my chunks.lock").write_bytes(damaged)
        message = refused(*check, cwd=folder)
        assert says in message
        command = message.partition("rewrite it: ")[2].replace("PATHS", "docs")
        assert run(*shlex.split(command)[1:], cwd=folder).returncode == 0
        assert (folder / "my chunks.lock").read_bytes() == fresh
        assert run(*check, cwd=folder).returncode == 0


def test_an_option_that_is_gone_is_an_error_that_names_the_command(folder: Path) -> None:
    edit(folder / "chunks.lock", '"max_tokens": 64', '"gone": 1, "decay": 7, "max_tokens": 64')
    edit(folder / "chunks.lock", ', "decay": 0.7', "")
    before = (folder / "chunks.lock").read_bytes()
    for more in ((), ("--update",)):
        line = refused(*CHECK, *more, cwd=folder)
        assert "chunks.lock: gone=1: no such field; " in line
        assert "'chunkast snapshot docs -o chunks.lock', with its options, makes it again" in line
    assert (folder / "chunks.lock").read_bytes() == before


def test_a_wrong_value_in_a_lock_is_told(folder: Path) -> None:
    whole = (folder / "chunks.lock").read_text("utf-8")
    for wrong in ('"scores": {"h1": "x"}', '"encoding": "none_base"', '"encoding": 7'):
        name = wrong[1:].partition('"')[0]
        edited = re.sub(rf'"{name}": ("[^"]*"|{{}})', wrong, whole, count=1)
        assert edited != whole
        (folder / "chunks.lock").write_text(edited, "utf-8")
        line = refused(*CHECK, cwd=folder)
        assert f"chunks.lock: {name}" in line
        assert "'chunkast snapshot docs -o chunks.lock', with its options, makes it again" in line


def test_a_lock_never_allows_a_download(folder: Path) -> None:
    edit(folder / "chunks.lock", '"max_tokens": 64', '"allow_download": true, "max_tokens": 64')
    edit(folder / "chunks.lock", '"encoding": "cl100k_base"', '"encoding": "gpt2"')
    assert "--allow-download" in refused(*CHECK, cwd=folder)


def test_a_lock_made_with_objects_is_one_line_and_2(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": "# A\n"})
    own: Heuristic[Any, Any] = Heuristic("own.mask", "pre-parse", lambda _draft: Patch())
    for options, name in (({"heuristics": [own]}, "own.mask"), ({"encoding": len}, "len")):
        chunker = Chunker(**options)
        with (tmp_path / "chunks.lock").open("wb") as out:
            write_lock(out, header_of(chunker), [record_document(chunker, "a.md", "# A\n")])
        line = refused(*CHECK, cwd=tmp_path)
        assert "chunks.lock: made with Python objects that a lock cannot store: " in line
        assert name in line
        # The comparison of two such locks needs no objects.
        assert run("diff", "chunks.lock", "chunks.lock", cwd=tmp_path).returncode == 0


def test_standard_input_has_a_name(tmp_path: Path) -> None:
    assert run("snapshot", "-", "-o", "in.lock", "-q", cwd=tmp_path, stdin=b"# A\n").returncode == 0
    check = ("check", "-", "--against", "in.lock")
    assert run(*check, cwd=tmp_path, stdin=b"# A\n").returncode == 0
    assert run(*check, cwd=tmp_path, stdin=b"# B\n").returncode == 1


# diff


def test_locks_and_json_lines_are_compared(folder: Path) -> None:
    cell = {"cell_type": "markdown", "id": "one", "source": "# One"}
    book = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4})
    write(folder, {"docs/n.ipynb": book})
    run(*LOCK, cwd=folder)
    chunk = ("chunk", "docs", "--max-tokens", "64", "-q", "-o")
    run(*chunk, "chunks.jsonl", cwd=folder)
    names = ("chunks.lock", "chunks.jsonl")
    for one in names:
        for two in names:
            done = run("diff", one, two, cwd=folder)
            assert (done.returncode, done.stderr) == (0, b"")
            assert b"embed again: 0 of " in done.stdout
            assert b"guide.md" not in done.stdout, done.stdout.decode()
    edit(folder / "docs/guide.md", SHORT, BRIEF)
    run(*chunk, "new.jsonl", cwd=folder)
    for one in names:
        page = run("diff", one, "new.jsonl", cwd=folder).stdout.decode()
        assert "why: 1 document edited or cut differently: docs/guide.md\n" in page
        assert "\n  changed " in page
        assert "\n    + brief.\n" in page
        assert "embed again: 1 of " in page


def test_damaged_json_lines_are_one_line_and_2(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "# A\n\nOne.\n\n# B\n\nTwo three.\n"})
    run("chunk", "a.md", "--max-tokens", "6", "-q", "-o", "a.jsonl", cwd=tmp_path)
    good = (tmp_path / "a.jsonl").read_bytes()

    diff = ("diff", "a.jsonl", "b.jsonl")
    for before, after, says in (
        (b'"token_count":', b'"token_count":-', "line 1: 'token_count' must be a count"),
        (b'"end_line":', b'"end_line":' + b"7" * 400, "'end_line' must be a count"),
        (b'"start_index":', b'"start_index":' + b"7" * 5_000, "digits"),
        (b'"headings":["A"]', b'"headings":"A"', "'headings' must be a list of strings"),
        (b'"metadata":{}', b'"metadata":[]', "'metadata' must be an object"),
        (b'"pages":null', b'"pages":["1"]', "'pages' must be a list of counts"),
        (good[-30:], b"", "line 2: this is not JSON"),
        (b"One", b"\xff", "line 1: this is not UTF-8"),
        (good, b"[" * 100_000, "line 1: nested too deeply"),
    ):
        (tmp_path / "b.jsonl").write_bytes(good.replace(before, after, 1))
        line = refused(*diff, cwd=tmp_path)
        assert line.startswith("chunkast: error: b.jsonl, line ")
        assert says in line
        assert "not a lock, nor chunks as JSON Lines" in line
    # A number in the metadata is the document's.
    huge = b'"metadata":{"x":1' + b"0" * 400 + b"}"
    (tmp_path / "b.jsonl").write_bytes(good.replace(b'"metadata":{}', huge, 1))
    assert run(*diff, cwd=tmp_path).returncode == 0


def test_two_configurations_are_compared(folder: Path) -> None:
    versus = ("diff", "docs", "--max-tokens", "64", "--vs", "max_tokens=128", "--vs", "overlap=0")
    done = run(*versus, "-q", cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    page = done.stdout.decode()
    assert "why: configuration: max_tokens 64 -> 128\n" in page
    assert "why: configuration: overlap 0.15 -> 0\n" in page
    assert re.search(r"^max_tokens=128 overlap=0  3 documents, \d+ chunks, ", page, re.MULTILINE)
    assert "  merged " in page or "  recut " in page
    assert b"why" not in run("diff", "docs", "--vs", "decay=0.7", cwd=folder).stdout


# In other programs


def test_the_hook_for_pre_commit_and_the_workflow_for_github(folder: Path) -> None:
    yaml = pytest.importorskip("yaml")
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_bytes())
    assert (hook["language"], hook["pass_filenames"]) == ("python", False)
    assert all(re.search(hook["files"], name) for name in (*FILES, "chunks.lock", "a.Rmd"))
    assert not re.search(hook["files"], "setup.py")
    workflow = yaml.safe_load((ROOT / "examples" / "check-chunks.yml").read_bytes())
    *_, install, annotate = (step.get("run") for step in workflow["jobs"]["check"]["steps"])
    page = (ROOT / "docs" / "snapshots.md").read_text("utf-8")
    [copied] = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    [[own]] = [repo["hooks"] for repo in yaml.safe_load(copied)["repos"]]
    assert (own["id"], own["files"]) == (hook["id"], hook["files"])
    assert own.keys() >= {"name", "language"}
    script = re.findall(r"<<'END'\n(.*)^END$", install, re.MULTILINE | re.DOTALL)[0]
    done = subprocess.run(
        [sys.executable, "-"], input=script, cwd=folder, capture_output=True, text=True, check=True
    )
    pinned = dict(line.split("==") for line in done.stdout.splitlines())
    assert pinned["chunkast"] == chunkast.__version__
    assert all(version(name) == number for name, number in pinned.items() if name != "chunkast")
    commands = [
        [*shlex.split(hook["entry"]), *hook["args"]],
        shlex.split(own["entry"]),
        shlex.split(annotate),
    ]
    for name, *words in commands:
        assert name == "chunkast"
        assert run(*words, cwd=folder).returncode == 0
    edit(folder / "docs/guide.md", SHORT, BRIEF)
    write(folder, {"docs/n, 1.md": "New.\n"})
    *hooks, last = (run(*words, cwd=folder) for _, *words in commands)
    assert [done.returncode for done in (*hooks, last)] == [1, 1, 1]
    assert b"::error file=docs/guide.md,line=" in last.stdout
    assert b"::error file=docs/n%2C 1.md,line=1,endLine=1,title=Chunks added::" in last.stdout
