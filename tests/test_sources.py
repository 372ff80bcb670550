"""Names of documents, and what is left out: on real files, beside git itself."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from chunkast.index import Store
from tests.command import errors, refused, run, sources, write
from tests.tables import Case, each_case

FILES: dict[str, str | bytes] = {
    name: f"# {name}\n\nText of {name}.\n"
    for name in ("src/a.md", "src/ch01/b.md", "src/ch01/c.md", "src/ch02/b.md", "notes/a.md")
}


def notes(stderr: bytes) -> list[str]:
    lines = stderr.decode().splitlines()
    return [line for line in lines if line.startswith("chunkast: note: ")]


# Names


@pytest.mark.parametrize("root", [None, ".", "src/..", "ABSOLUTE", "src"])
def test_a_file_has_one_name_however_its_path_is_typed(tmp_path: Path, root: str | None) -> None:
    write(tmp_path, FILES)
    base = "src/" if root == "src" else ""
    given = [] if root is None else ["--root", tmp_path if root == "ABSOLUTE" else root]
    for typed in (
        ["src/ch01"],
        ["./src/ch01/"],
        ["src/ch01/../ch01"],
        ["src//ch01/b.md", "src/ch01/c.md"],
        ["src/ch01*"],
        ["src/**/ch01/*.md"],
        [tmp_path / "src" / "ch01"],
        [tmp_path / "src" / "c*01" / "*.md"],
        ["src/ch01", "src/ch01/b.md"],
    ):
        done = run("chunk", *typed, *given, cwd=tmp_path)
        assert (done.returncode, errors(done.stderr)) == (0, [])
        names = [f"src/ch01/{name}".removeprefix(base) for name in ("b.md", "c.md")]
        assert sources(done.stdout) == names
    # From another folder, too.
    done = run("chunk", "../ch01", "--root", "../..", cwd=tmp_path / "src" / "ch02")
    assert sources(done.stdout) == ["src/ch01/b.md", "src/ch01/c.md"]


def test_every_command_names_documents_alike(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "here/x.md": "x"})
    outside = tmp_path / "src" / "ch01"
    for cwd, given, options, names in (
        (tmp_path, "src", [], ["src/a.md", "src/ch01/b.md", "src/ch01/c.md", "src/ch02/b.md"]),
        (tmp_path, "src/ch01", ["--root", "src"], ["ch01/b.md", "ch01/c.md"]),
        (tmp_path / "here", outside, [], ["b.md", "c.md"]),
    ):
        done = run("chunk", given, *options, cwd=cwd)
        assert sources(done.stdout) == names
        note = f"sources are relative to {outside}, as it is outside the current folder"
        assert notes(done.stderr) == [f"chunkast: note: {note}"] * (given == outside)
        ids = [json.loads(line)["id"] for line in done.stdout.splitlines()]
        run("index", given, "--db", "chunks.db", *options, cwd=cwd)
        run("snapshot", given, "-o", "chunks.lock", *options, cwd=cwd)
        with Store(str(cwd / "chunks.db")) as store:
            assert [chunk.id for chunk in store.chunks()] == ids
        lines = (cwd / "chunks.lock").read_bytes().splitlines()[1:]
        assert [json.loads(line)["id"] for line in lines] == ids
        # From another folder, by the root that the database and the lock store.
        absolute = cwd / given
        done = run("index", absolute, "--db", cwd / "chunks.db", cwd=tmp_path / "notes")
        assert f"unchanged {len(ids)}, " in done.stdout.decode()
        done = run("check", absolute, "--against", cwd / "chunks.lock", cwd=tmp_path / "notes")
        assert (done.returncode, done.stderr) == (0, b"")
        (cwd / "chunks.db").unlink()


@each_case("command", "outside")
def test_files_outside_are_named_by_the_folder_that_all_are_in(case: Case, tmp_path: Path) -> None:
    given, names, root = case["given"], case["sources"], case["root"]
    write(tmp_path, {**FILES, "here/x.md": "x"})
    here = tmp_path / "here"
    which = "it is" if len(given) == 1 else "an input is"
    note = f"sources are relative to {root or tmp_path}, as {which} outside the current folder"
    for paths in (given, [str((here / path).resolve()) for path in given]):
        done = run("chunk", *paths, cwd=here)
        assert (done.returncode, sources(done.stdout)) == (0, names)
        assert len(notes(done.stderr)) == 1
        if paths == given:
            assert notes(done.stderr) == [f"chunkast: note: {note}"]
    done = run("index", *given, "--db", "a.db", "-q", cwd=here)
    assert (done.returncode, done.stderr) == (0, b"")
    with Store(str(here / "a.db")) as store:
        assert sorted({str(chunk.source) for chunk in store.chunks()}) == names


def test_inputs_that_share_only_a_root_need_one(tmp_path: Path) -> None:
    here = tmp_path / "here"
    write(here, {"x.md": "x"})
    line = refused("chunk", here, Path(json.__file__).parent, cwd=here)
    assert "give a folder above all inputs as --root" in line


@pytest.mark.parametrize(
    ("command", "path"),
    [
        *(("chunk", path) for path in ("notes", "notes/*.md", "src/../notes")),
        ("index", "notes/none.md"),
    ],
)
def test_a_path_outside_the_root_is_told(tmp_path: Path, command: str, path: str) -> None:
    write(tmp_path, FILES)
    more = ["--db", "a.db"] if command == "index" else []
    line = refused(command, "src", path, "--root", "src", *more, cwd=tmp_path)
    assert f"{path.removesuffix('/*.md')}: outside the root src, " in line
    assert line.endswith("give a folder above all inputs as --root")
    assert not (tmp_path / "a.db").exists()


# What is left out


def test_gitignore_files_are_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            **FILES,
            ".gitignore": "\ufeffdrafts/\r\n*.tmp.md\r\n# comment.md\r\n!\r\n",
            "src/.gitignore": "/ch01/*\n!/ch01/b.md\n",
            "src/drafts/x.md": "x",
            "src/comment.md": "x",
            "notes/n.tmp.md": "x",
            "notes/.gitignore": "!n.tmp.md",
        },
    )
    done = run("chunk", ".", cwd=tmp_path)
    assert (done.returncode, errors(done.stderr)) == (0, [])
    taken = ["notes/a.md", "notes/n.tmp.md", "src/a.md", "src/ch01/b.md", "src/ch02/b.md"]
    assert sources(done.stdout) == sorted([*taken, "src/comment.md"])
    [note] = notes(done.stderr)
    why = "ignored by .gitignore files, which --no-ignore disregards"
    assert note == f"chunkast: note: skipped src/ch01/c.md, src/drafts: {why}"
    # A glob and a folder below find the same; files above the root say nothing.
    for typed in (["src/**/*.md"], ["src"], ["src/ch01/", "src"]):
        done = run("chunk", *typed, cwd=tmp_path)
        assert "src/ch01/b.md" in sources(done.stdout)
        assert "src/ch01/c.md" not in sources(done.stdout)
    done = run("chunk", "src/ch01", "--root", "src/ch01", cwd=tmp_path)
    assert sources(done.stdout) == ["b.md", "c.md"]
    everything = run("chunk", ".", "--no-ignore", cwd=tmp_path)
    assert len(sources(everything.stdout)) == len(taken) + 3
    assert notes(everything.stderr) == []


def test_what_is_named_is_taken_although_it_is_ignored(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "out/\nx.md\n", "out/a.md": "a", "out/x.md": "x", "x.md": "x"})
    write(tmp_path, {"out/.gitignore": "b.md", "out/b.md": "b"})
    done = run("chunk", "out", "x.md", cwd=tmp_path)
    assert sources(done.stdout) == ["out/a.md", "out/x.md", "x.md"]
    assert sources(run("chunk", "out/*.md", cwd=tmp_path).stdout) == ["out/a.md", "out/x.md"]
    assert run("chunk", ".", cwd=tmp_path).returncode == 1


FORMATS: dict[str, str | bytes] = {"src/x.rst": "x", "src/ch01/y.rst": "y", "src/z.txt": "z"}


@each_case("command", "patterns")
def test_files_are_included_and_excluded_by_patterns(case: Case, tmp_path: Path) -> None:
    write(tmp_path, FILES | FORMATS)
    for typed in ("src", "src/**"):
        done = run("chunk", typed, *case["name"].split(), cwd=tmp_path)
        assert (done.returncode, sources(done.stdout)) == (0, case["sources"])


def test_patterns_and_paths_that_are_named(tmp_path: Path) -> None:
    write(tmp_path, FILES | FORMATS)
    # Also what the shell has expanded is excluded; it is taken whatever is included.
    done = run("chunk", "src/a.md", "src/z.txt", "--exclude", "*.txt", cwd=tmp_path)
    assert sources(done.stdout) == ["src/a.md"]
    assert notes(done.stderr) == ["chunkast: note: skipped src/z.txt: excluded by --exclude"]
    done = run("chunk", "src/a.md", "--include", "*.rst", cwd=tmp_path)
    assert sources(done.stdout) == ["src/a.md"]
    done = run("chunk", "src", "--include", "*.adoc", cwd=tmp_path)
    assert "src: no file to chunk in this folder (*.adoc)" in errors(done.stderr)[0]
    assert "exclude=['!']: " in refused("chunk", "src", "--exclude", "!", cwd=tmp_path)
    # A range that no regular expression allows: an error here, and a line that says nothing there.
    assert "[z-a]" in refused("chunk", "src/[z-a].md", cwd=tmp_path)
    write(tmp_path, {".gitignore": "[z-a].md\n"})
    assert run("chunk", "src/a.md", "notes", cwd=tmp_path).returncode == 0


PATTERNS = (
    "*|*.md|a*|a.md|/a.md|d/|d|/d/|d/*|d/**|**/d|**/e/|e|!a.md|!*.md|!d/|!*/|!d/e/|!/d/a.md|d/e|"
    "/d/e/b.md|d/**/b.md|?.md|[ab].md|[!a].md|\\a.md|a.md |#a.md|\\#a.md||**|!**/e/|e/*|!e/b.md"
)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_gitignore_files_are_read_as_git_reads_them(tmp_path: Path) -> None:
    chance = random.Random(16)
    folders = ("", "d/", "d/e/", "e/", "e/d/")
    write(tmp_path, {f"{folder}{name}": "x" for folder in folders for name in ("a.md", "b.md")})
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}

    def git(*arguments: str) -> str:
        return subprocess.run(
            [shutil.which("git") or "", *arguments],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, **own},
            timeout=600,
        ).stdout

    git("init", "-q")
    for _ in range(60):
        for folder in folders:
            path = tmp_path / folder / ".gitignore"
            path.unlink(missing_ok=True)
            if not folder or chance.random() < 0.4:
                lines = chance.choices(PATTERNS.split("|"), k=chance.randrange(1, 5))
                path.write_text("\n".join(lines), "utf-8")
        listed = git("ls-files", "-z", "--others", "--exclude-standard", "*.md")
        done = run("chunk", ".", cwd=tmp_path)
        rules = {path: path.read_text("utf-8") for path in tmp_path.rglob(".gitignore")}
        assert sources(done.stdout) == sorted(filter(None, listed.split("\0"))), rules
