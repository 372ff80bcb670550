"""A folder in Python: the documents, sources and chunks of the command."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from chunkast import Chunk, Chunker, ConfigError, SourceError, load
from tests.command import records, run, write
from tests.tables import Case, each_case
from tests.test_documents import notebook

CHUNKER = Chunker(max_tokens=30, overlap=0)
NOTEBOOK = notebook(
    *(("markdown", f"# {name}\n\nText of {name}.\n", name) for name in ("one", "two"))
)
FILES: dict[str, str | bytes] = {
    "docs/b.md": "# B\n\nText of B.\n\n## More\n\nMore of B.\n",
    "docs/a.md": "# A\n\nText of A.\n",
    "docs/deep/A.MDX": "# A\n\nText.\n",
    "docs/book.ipynb": NOTEBOOK,
    "docs/empty.md": "",
    "docs/notes.rst": "Notes\n",
    "docs/drafts/x.md": "Draft.\n",
    "docs/build/x.md": "Built.\n",
    "docs/.hidden.md": "Hidden.\n",
    "docs/.gitignore": "drafts/\n",
    "other/c.md": "# C\n",
}
Pairs = list[tuple[str, list[Chunk] | None]]


def flat(pairs: Pairs) -> list[dict[str, Any]]:
    return [chunk.to_dict() for _, chunks in pairs for chunk in chunks or ()]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, a new one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@each_case("command", "folders")
def test_it_yields_what_the_command_prints(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cwd, path, options = case["cwd"], case["path"], case["options"]
    write(tmp_path, FILES)
    path = str(tmp_path / "docs") if path == "ABSOLUTE" else path
    flags = [("--root", options["root"])] if "root" in options else []
    flags += [
        (f"--{name}", glob) for name in ("include", "exclude") for glob in options.get(name, ())
    ]
    words = [word for flag in flags for word in flag]
    done = run("chunk", path, "--max-tokens", 30, "--overlap", 0, *words, cwd=tmp_path / cwd)
    monkeypatch.chdir(tmp_path / cwd)
    found: Pairs = list(CHUNKER.chunk_folder(path, **options))
    assert flat(found) == records(done.stdout)
    assert flat(list(CHUNKER.chunk_folder(Path(path), **options))) == flat(found)
    # Every document with its source, those without a chunk as well.
    assert re.search(rf"^{len(found)} files?, ", done.stderr.decode(), re.MULTILINE)
    names = [name for name, _ in found]
    assert names == sorted(set(names))
    for name, chunks in found:
        assert {(chunk.source or "").split("#cell")[0] for chunk in chunks or ()} <= {name}


def test_it_yields_what_load_reads(here: Path) -> None:
    write(here, FILES)
    run("chunk", ".", "--max-tokens", 30, "--overlap", 0, "-o", "all.parquet", cwd=here)
    chunks = [chunk for _, chunks in CHUNKER.chunk_folder(".") for chunk in chunks or ()]
    assert list(load("all.parquet")) == chunks


BAD: dict[str, str | bytes] = {
    "docs/a.md": b"\xff",
    "docs/b.md": "# B\n\nText.\n",
    "docs/c.ipynb": "{}",
    "docs/d.md": "# D\n\nText.\n",
}


def test_a_document_that_cannot_be_read_is_reported_and_left_open(here: Path) -> None:
    write(here, BAD)
    told: list[tuple[str, BaseException]] = []
    found = list(
        CHUNKER.chunk_folder("docs", on_error=lambda name, error: told.append((name, error)))
    )
    assert [name for name, _ in found] == sorted(BAD)
    assert [name for name, chunks in found if chunks is None] == ["docs/a.md", "docs/c.ipynb"]
    assert [name for name, _ in told] == ["docs/a.md", "docs/c.ipynb"]
    assert all(isinstance(error, SourceError) for _, error in told)
    # Without on_error, the first error is raised when all others are there.
    left: Pairs = []
    with pytest.raises(SourceError, match=r"docs/a\.md at byte 0"):
        left.extend(CHUNKER.chunk_folder("docs"))
    assert left == [pair for pair in found if pair[1] is not None]


def test_an_error_of_the_own_counter_is_that_documents(here: Path) -> None:
    def count(text: str) -> int:
        if "bad" in text:
            raise ZeroDivisionError(text)
        return len(text.split())

    write(here, {"a.md": "Some bad words.", "b.md": "Some words."})
    told: dict[str, BaseException] = {}
    found = dict(Chunker(max_tokens=9, encoding=count).chunk_folder(".", on_error=told.__setitem__))
    assert found["a.md"] is None
    assert [chunk.text for chunk in found["b.md"] or ()] == ["Some words."]
    assert list(map(type, told.values())) == [ZeroDivisionError]


def test_a_folder_that_cannot_be_read_is_open_as_a_whole(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(here, FILES)
    scan = os.scandir

    def refused(path: str) -> Any:  # even for root
        if path.endswith("deep"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refused)
    told: dict[str, BaseException] = {}
    found = dict(CHUNKER.chunk_folder("docs", on_error=told.__setitem__))
    assert [name for name, chunks in found.items() if chunks is None] == ["docs/deep"] == [*told]


def test_a_folder_without_documents_is_an_error(here: Path) -> None:
    write(here, {"docs/x.html": "x"})
    with pytest.raises(SourceError, match=r"docs: no file to chunk in this folder \(\.md "):
        list(CHUNKER.chunk_folder("docs"))
    told: dict[str, BaseException] = {}
    assert list(CHUNKER.chunk_folder("docs", on_error=told.__setitem__)) == [("docs", None)]
    assert [*told] == ["docs"]
    # A link whose file is gone: a link has the name of its file.
    (here / "docs" / "link.md").symlink_to("gone.md")
    found = CHUNKER.chunk_folder("docs", on_error=told.__setitem__)
    assert list(found) == [("docs/gone.md", None)]


def test_wrong_arguments_are_told_at_once(here: Path) -> None:
    write(here, FILES)
    with pytest.raises(SourceError, match="none: no such folder"):
        CHUNKER.chunk_folder("none")
    with pytest.raises(SourceError, match="no such folder"):
        CHUNKER.chunk_folder("docs/a.md")
    with pytest.raises(TypeError, match="include is of type str: must be a list"):
        CHUNKER.chunk_folder("docs", include="*.md")
    with pytest.raises(ConfigError, match=r"exclude=\['!'\]: "):
        CHUNKER.chunk_folder("docs", exclude=["!"])
    with pytest.raises(ConfigError, match="root='other': must be docs or a folder above it"):
        CHUNKER.chunk_folder("docs", root="other")
