"""The pytest plugin, in runs of pytest of its own: the fixture, and the assertions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chunkast import Chunk, Chunker, ConfigError
from chunkast.snapshot.assertions import (
    assert_budget,
    assert_cites,
    assert_in_one_chunk,
    assert_whole,
)
from chunkast.testing.fixture import ChunkSnapshot
from tests.command import parts

pytest_plugins = ["pytester"]

GUIDE = parts(4)
TEST = """
from pathlib import Path
import pytest

DOCS = Path(__file__).parent / "docs"

@pytest.mark.parametrize("name", ["guide.md", "notes.md"])
def test_document(chunk_snapshot, name):
    chunk_snapshot.check(DOCS / name, max_tokens=64)

def test_folder(chunk_snapshot):
    chunk_snapshot.check(DOCS, max_tokens=64, lock=DOCS.parent / "all.lock")

def test_texts(chunk_snapshot):
    chunk_snapshot.check("# A\\n\\nOne.\\n", max_tokens=64)
    chunk_snapshot.check("# B\\n\\nTwo.\\n", source="b.md", max_tokens=64)
"""


@pytest.fixture(autouse=True)
def outside_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-q", *arguments)


@pytest.fixture
def tested(pytester: pytest.Pytester) -> pytest.Pytester:
    """Documents, and tests of them."""
    pytester.mkdir("docs")
    (pytester.path / "docs/guide.md").write_bytes(GUIDE.encode())
    (pytester.path / "docs/notes.md").write_bytes(b"# Notes\n\nOne.\n")
    pytester.makepyfile(test_docs=TEST)
    return pytester


# The fixture


def test_a_lock_is_made_and_kept(tested: pytest.Pytester) -> None:
    first = run(tested)
    first.assert_outcomes(failed=4)
    first.stdout.fnmatch_lines(["*there is no lock *; write it with: pytest --chunkast-update"])
    run(tested, "--chunkast-update").assert_outcomes(passed=4)
    locks = sorted(p.relative_to(tested.path).as_posix() for p in tested.path.rglob("*.lock"))
    assert locks == [
        "all.lock",
        "chunks/test_docs/test_document-guide.md.lock",
        "chunks/test_docs/test_document-notes.md.lock",
        "chunks/test_docs/test_texts-2.lock",
        "chunks/test_docs/test_texts.lock",
    ]
    run(tested).assert_outcomes(passed=4)
    edited = GUIDE.replace("Sentence 3 of part 2 is short", "Sentence 3 of part 2 is brief")
    (tested.path / "docs/guide.md").write_bytes(edited.encode())
    done = run(tested)
    done.assert_outcomes(failed=2, passed=2)
    done.stdout.fnmatch_lines(
        [
            "why: 1 document edited: guide.md",
            "guide.md (edited)",
            "  changed   Part 2*, lines *-*",
            "    - short.",
            "    + brief.",
            "embed again: 1 of *",
            "not allowed: 1 changed",
            "if this is right: pytest --chunkast-update",
        ]
    )
    done.stdout.no_fnmatch_line("*Traceback*")
    done.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_a_lock_that_cannot_be_read_fails_with_one_message(tested: pytest.Pytester) -> None:
    (tested.path / "all.lock").write_bytes(b"chunkast lock 1\nset max_tokens 64\n\nend\n")
    done = run(tested, "-k", "folder")
    done.stdout.fnmatch_lines(
        ["*all.lock: not a chunkast lock that can be read: *", "or, * pytest *"]
    )
    done.stdout.no_fnmatch_line("*Traceback*")


def test_an_unknown_kind_of_change_is_refused(chunk_snapshot: ChunkSnapshot) -> None:
    with pytest.raises(ConfigError, match="allow='moves': must be one of all, edited"):
        chunk_snapshot.check("One.", allow=["moved", "moves"])


def test_a_run_that_must_not_go_on_is_refused(
    tested: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    done = run(tested, "--chunkast-update")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "locks are not updated where CI is set" in "\n".join(done.errlines)
    assert not list(tested.path.rglob("*.lock"))
    tested.makepyprojecttoml("[tool.chunkast.snapshots.docs]\nmax_tokens = 64\n")
    done = run(tested)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "[tool.chunkast.snapshots] is not read any more" in "\n".join(done.errlines)


# Assertions

CODE = (
    "# Run\n\nRun it:\n\n```sh\n"
    + "".join(f"make part-{n}\n" for n in range(30))
    + "```\n\nDone.\n"
)


def test_a_block_is_whole_or_not() -> None:
    for kind in ("fence", "paragraph"):
        assert_whole(Chunker(max_tokens=200).chunk(CODE), CODE, kind=kind)
    assert_whole(Chunker(max_tokens=50, oversize="keep").chunk(CODE), CODE)
    with pytest.raises(AssertionError, match=r"fence divided:\n  lines 5-36, in chunk \d \("):
        assert_whole(Chunker(max_tokens=50).chunk(CODE, "run.md"), CODE)
    plain = Chunker(extensions=(), max_tokens=50)
    with pytest.raises(AssertionError, match="there is no math in the text"):
        assert_whole(plain.chunk("$$\nx\n$$\n"), "$$\nx\n$$\n", kind="math", chunker=plain)


CHUNKS = Chunker(max_tokens=50, overlap=0).chunk(CODE)


def test_a_quote_is_in_one_chunk_or_not() -> None:
    assert_in_one_chunk(CHUNKS, "Run Run   it:")
    with pytest.raises(AssertionError, match="'Run twice' is in no chunk"):
        assert_in_one_chunk(CHUNKS, "Run twice")
    over = CHUNKS[1].text[-20:] + "\n" + CHUNKS[2].text[:20]
    with pytest.raises(AssertionError, match=r"divided:\n  lines \d+-\d+, in chunk 1 .*, chunk 2"):
        assert_in_one_chunk(CHUNKS, over)


def test_a_budget_is_kept_or_not() -> None:
    assert_budget(Chunker(max_tokens=50, encoding="o200k_base").chunk(CODE), 50, "o200k_base")
    with pytest.raises(AssertionError, match=r"more than 1 tokens:(?s:.*)\n  and \d+ more$"):
        assert_budget(CHUNKS * 9, 1)
    with pytest.raises(AssertionError, match=r"chunk 0 \(1-\d+\): \d+ tokens with its context$"):
        assert_budget([replace(CHUNKS[0], embed_text=CODE)], 50)


def test_chunks_cite_their_text_or_not() -> None:
    for text in (CODE, "\ufeff" + CODE.replace("\n", "\r\n"), "", " \n", "ä\n\n日本\n"):
        assert_cites(Chunker(max_tokens=50).chunk(text), text)
    first, second, *rest = CHUNKS
    wrong = [
        ([first, *rest], "in no chunk: 'make part-"),
        (CHUNKS[:-1], "in no chunk: 'make part-"),
        ([replace(first, text="# Ran"), second, *rest], "its text is not at characters 0-"),
    ]
    for name in ("start_byte", "end_byte", "start_line", "end_line"):
        moved = Chunk.from_dict({**second.to_dict(), name: 9_999})
        wrong.append(([first, moved, *rest], "its bytes or lines are not those"))
    for chunks, says in wrong:
        with pytest.raises(AssertionError, match=says):
            assert_cites(chunks, CODE)
