"""Work in several processes: the same results in order, whatever happens to the processes."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import tiktoken

from chunkast import ChunkastError, Chunker, ConfigError, MissingPackageError, SourceError
from chunkast.reading import SectionError
from chunkast.snapshot import LockError
from chunkast.sources.parallel import answers
from chunkast.toolcalls import Tool
from tests.command import children, environment, group_lives, linux, posix, wait_until

# A program without a main guard, and the ways in which its processes do not fork.
PROGRAM = """
import multiprocessing, sys, threading
print("begins", flush=True)
from chunkast import Chunker
def words(text):
    return len(text.split())
def main():
    {first}
    chunker = Chunker(encoding={encoding}, max_tokens=50)
    texts = [f"# {{n}}\\n\\n" + "A sentence of some words stands here. " * {times} for n in range(9)]
    assert chunker.chunk_batch(texts, workers=2) == chunker.chunk_batch(texts)
    print("ends")
{guard}main()
"""
FIRST = {
    "thread": "threading.Thread(target=threading.Event().wait, daemon=True).start()",
    "spawn": "multiprocessing.set_start_method('spawn')",
    "forkserver": "multiprocessing.set_start_method('forkserver')",
}
SLOW = pytest.mark.slow
GUARD = 'if __name__ == "__main__": '


def program(
    first: str = "pass", encoding: str = '"cl100k_base"', guard: str = "", times: int = 20
) -> str:
    return PROGRAM.format(first=first, encoding=encoding, guard=guard, times=times)


def ran(folder: Path, code: str, way: str = "file") -> subprocess.CompletedProcess[str]:
    """Run a program from a file, from standard input or as an argument."""
    file = folder / "program.py"
    file.write_text(code, "utf-8")
    words = {"file": [str(file)], "stdin": ["-"], "-c": ["-c", code]}
    return subprocess.run(
        [sys.executable, *words[way]],
        input=code,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@SLOW
@pytest.mark.parametrize(
    ("first", "way"),
    [
        ("thread", "file"),
        *(("spawn", way) for way in ("file", "stdin", "-c")),
        pytest.param("forkserver", "file", marks=posix),
    ],
)
def test_a_program_without_a_guard_runs_once(tmp_path: Path, first: str, way: str) -> None:
    done = ran(tmp_path, program(FIRST[first]), way)
    assert (done.returncode, done.stdout, done.stderr) == (0, "begins\nends\n", "")


@SLOW
def test_a_function_of_the_main_program_needs_a_guard(tmp_path: Path) -> None:
    done = ran(tmp_path, program(FIRST["spawn"], "words", GUARD))
    assert (done.returncode, done.stderr, done.stdout[-5:]) == (0, "", "ends\n")
    done = ran(tmp_path, program(FIRST["spawn"], "words"))
    assert (done.returncode, done.stdout) == (1, "begins\n")
    assert done.stderr.count("Error: ") == 1
    assert re.match(
        "chunkast.errors.ConfigError: workers=2: .*function or class of the main program, "
        '.*write `if __name__ == "__main__":`',
        done.stderr.splitlines()[-1],
    )


def test_what_other_processes_cannot_have_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing, "get_start_method", lambda **_: "spawn")
    chunker = Chunker(encoding=lambda text: len(text.split()))
    with pytest.raises(ConfigError, match=r"workers=2: .*cannot be sent to other processes"):
        chunker.chunk_batch(["One.", "Two."], workers=2)
    # With "auto", this process is used.
    assert places(lambda _document: os.getpid()) == {os.getpid()}


def places(run: Any, size: int = 10**9) -> set[int | None]:
    """Return the processes in which "auto" runs ``run`` for nine documents of this size."""
    with answers(range(9), run, "auto", size) as answered:
        return {answer.value() for answer in answered}


def place(_document: int) -> int:
    return os.getpid()


class OnlyHere:
    """Something that can be sent, but not be loaded in another process."""

    def __init__(self, process: int) -> None:
        if process != os.getpid():
            raise ImportError("only here")

    def __reduce__(self) -> tuple[Any, ...]:
        return OnlyHere, (os.getpid(),)

    def __call__(self, _document: int) -> int:
        return os.getpid()


def test_auto_uses_this_process_for_small_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert places(place, 999_999) == {os.getpid()}
    monkeypatch.setattr(multiprocessing, "get_start_method", lambda **_: "spawn")
    assert places(place, 3_999_999) == {os.getpid()}


@SLOW
def test_auto_uses_this_process_if_others_cannot_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing, "get_start_method", lambda **_: "spawn")
    assert places(OnlyHere(os.getpid())) == {os.getpid()}


def in_a_pool(_number: int) -> str:
    with pytest.raises(ConfigError) as told:
        Chunker().chunk_batch(["One.", "Two."], workers=2)
    assert places(place) == {os.getpid()}
    return str(told.value)


@linux
def test_a_process_of_a_pool_starts_no_others() -> None:
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map(in_a_pool, [1]) == ["workers=2: must be 1 in a process of a pool"]


def is_loaded(process: int) -> bool:
    """Whether a process has the tokenizer, and so is no longer being started."""
    try:
        return "_tiktoken" in Path(f"/proc/{process}/maps").read_text()
    except OSError:
        return False


@SLOW
@linux
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["INT", "KILL"])
@pytest.mark.parametrize("first", ["pass", FIRST["spawn"]])
def test_a_program_that_is_stopped_leaves_no_process(
    tmp_path: Path, first: str, number: signal.Signals
) -> None:
    file = tmp_path / "program.py"
    file.write_text(program(first, times=60_000), "utf-8")
    command = [sys.executable, str(file)]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, start_new_session=True, env=environment()
    ) as process:
        wait_until(lambda: sum(map(is_loaded, children(process.pid))) == 2)
        if number == signal.SIGINT:
            # As a terminal does it: to the workers as well.
            os.killpg(process.pid, number)
        else:
            process.kill()
        _, err = process.communicate(timeout=120)
    assert process.returncode == -number
    if number == signal.SIGINT:
        # The program's own, and none of a worker's.
        assert err.count(b"Traceback") == 1

    wait_until(lambda: not group_lives(process.pid))


# One document that fails


def stumbling(text: str) -> int:
    """A counter that fails in ways of its own on some texts."""
    if "Panic" in text:
        # As of a library in Rust: no ``Exception``, and of a class that nobody can import.
        raise type("PanicException", (BaseException,), {})("index out of range")
    if "Memory" in text:
        return len(bytearray(2**62))
    return 1 // 0 if "Zero" in text else len(text)


def dying(text: str) -> int:
    """A counter that ends its process on some texts."""
    if "Kill" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    if "Exit" in text:
        os._exit(7)
    return len(text)


@SLOW
@posix
def test_a_process_that_dies_costs_its_document_alone() -> None:
    bad = {4: "Kill", 5: "Kill", 20: "Exit"}
    texts = [f"# {number}\n\nWords. {bad.get(number, '')}" for number in range(24)]
    told: dict[int, str] = {}

    def on_error(number: int, _source: str | None, error: BaseException) -> None:
        assert isinstance(error, ChunkastError)
        told[number] = str(error)

    found = Chunker(encoding=dying).chunk_batch(texts, workers=2, on_error=on_error)
    assert [number for number, chunks in enumerate(found) if not chunks] == [4, 5, 20]
    assert told.keys() == bad.keys()
    assert told[4].startswith("a worker process was lost: it ended by signal 9; perhaps there is ")
    assert told[20] == "a worker process was lost: it ended with exit code 7"


# Some of one source, so that their parts are counted on.
TEXTS = ["# Title\n\n" + "A sentence of some words stands here.\n\n" * 30 for _ in range(40)]
SOURCES = ["one.md" if number % 3 else f"{number}.md" for number in range(40)]
BAD = {4: "Zero", 11: "Memory", 12: "Panic", 31: "Zero"}


def texts_with(bad: Mapping[int, str]) -> list[str]:
    # What fails has been counted in part before.
    return [f"{text}# Last\n\n{bad.get(number, 'Good')}" for number, text in enumerate(TEXTS)]


def test_two_processes_give_what_one_gives() -> None:
    chunker, texts = Chunker(encoding=len), texts_with({})[:12]
    assert chunker.chunk_batch(texts, SOURCES[:12], 2) == chunker.chunk_batch(texts, SOURCES[:12])


def stream(chunker: Chunker) -> list[tuple[str | None, Any]]:
    """Documents of all kinds; some have a source that occurred before, in any other place."""
    names = ("a.md", "b.md", None, "a.md", None, "c.md", "d.md", "b.md", "a.md")
    pairs: list[tuple[str | None, Any]] = [*zip(names, texts_with({}), strict=False)] * 2
    pairs[6:6] = [("d.md", chunker.analyze(TEXTS[0], "d.md")), ("n.ipynb", "{}")]
    # The ids of a notebook's chunks are counted per cell, or without the ids of cells, per heading.
    cells = [{"cell_type": "markdown", "source": TEXTS[0], "id": cell} for cell in ("a", "", "")]
    notebook = json.dumps({"nbformat": 4, "cells": cells})
    return [*pairs, *[("cells.ipynb", notebook)] * 2, (None, notebook)]


def test_a_stream_gives_the_same_chunks_in_several_processes() -> None:
    chunker = Chunker(encoding=len)
    pairs = stream(chunker)
    wanted = list(chunker.chunk_documents(pairs))
    assert list(chunker.iter_chunks(iter(pairs), 2)) == [chunk for each in wanted for chunk in each]


def test_a_stream_is_read_ahead_a_little_and_its_errors_have_their_turn() -> None:
    chunker, read = Chunker(encoding=len), []

    def pairs() -> Iterator[tuple[str, Any]]:
        for number in range(99):
            read.append(number)
            yield f"{number}.md", "Text." if number != 40 else 40

    found = chunker.chunk_documents(pairs(), workers=2)
    assert next(found)[0].source == "0.md"
    assert len(read) <= 17
    assert [chunks[0].source for chunks in islice(found, 39)][-1] == "39.md"
    with pytest.raises(TypeError, match="text is of type int"):
        next(found)
    with pytest.raises(ConfigError, match=r"workers=0: .* at least 1, or \"auto\""):
        list(chunker.iter_chunks([], 0))


def counted_here(text: str) -> int:
    """A counter by which chunks show whether they were made in the process of the tests."""
    return len(text.split()) * (1 if multiprocessing.parent_process() is None else 2)


@SLOW
@pytest.mark.skipif(os.cpu_count() == 1, reason="one core")
def test_auto_uses_other_processes_for_large_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It also depends on whether the process of the tests has threads.
    for name in ("_PAYS", "_PAYS_FORKED"):
        monkeypatch.setattr(f"chunkast.sources.workers.{name}", 1_000)
    chunker = Chunker(encoding=counted_here)
    texts = [f"# {number}\n\n" + "Some words. " * 9 for number in range(12)]
    pairs = [(f"{number:02}.md", text) for number, text in enumerate(texts)]

    def here(documents: Iterable[list[Any] | None]) -> list[bool]:
        return [chunk[0].token_count == len(chunk[0].text.split()) for chunk in documents if chunk]

    for name, text in pairs:
        (tmp_path / name).write_text(text, "utf-8")
    assert here(chunker.chunk_batch(texts[:8], workers="auto")) == [True] * 8
    assert here(chunker.chunk_batch(texts, workers="auto")) == [False] * 12
    folder = chunker.chunk_folder(tmp_path, workers="auto")
    assert here(chunks for _, chunks in folder) == [False] * 12
    # A stream is chunked here until it is large.
    found = here(chunker.chunk_documents(pairs, workers="auto"))
    assert found == [True] * 9 + [False] * 3


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=SLOW)])
def test_a_document_that_fails_costs_itself_alone(workers: int) -> None:
    told: dict[int, tuple[str | None, BaseException]] = {}

    def on_error(number: int, source: str | None, error: BaseException) -> None:
        told[number] = source, error

    chunker = Chunker(encoding=stumbling, max_tokens=500)
    found = chunker.chunk_batch(texts_with(BAD), SOURCES, workers, on_error=on_error)
    kept = [number for number in range(40) if number not in BAD]
    alone = Chunker(encoding=len, max_tokens=500).chunk_batch(
        [texts_with({})[number] for number in kept], [SOURCES[number] for number in kept]
    )
    assert [found[number] for number in kept] == alone
    assert all(not found[number] for number in BAD)
    assert {number: source for number, (source, _) in told.items()} == {n: SOURCES[n] for n in BAD}
    panic = "PanicException" if workers == 1 else "ChunkastError"
    kinds = {"Zero": "ZeroDivisionError", "Memory": "MemoryError", "Panic": panic}
    for number, bad in BAD.items():
        assert type(told[number][1]).__name__ == kinds[bad]
    assert "index out of range" in str(told[12][1])

    # Without ``on_error``, the first failure is raised at the end.
    with pytest.raises(ZeroDivisionError) as caught:
        chunker.chunk_batch(texts_with({4: "Zero", 20: "Memory"}), SOURCES, workers)
    if workers == 1:
        # What the variables held is freed.
        frames = [entry.frame for entry in caught.traceback if "stumbling" in entry.name]
        assert not any(frame.f_locals for frame in frames)
    else:
        assert "in stumbling" in str(caught.value.__cause__)


@pytest.mark.parametrize(
    "chunker",
    [
        Chunker(max_tokens=50, scores={"hr": 90}, extensions=("tables", "mdx")),
        Chunker(model="gpt-4o", tools=[Tool("search", {"type": "object"})]),
        Chunker(encoding=stumbling),
        Chunker(
            encoding=tiktoken.Encoding(
                "tiny",
                pat_str=r"\S+|\s+",
                mergeable_ranks={bytes([n]): n for n in range(256)},
                special_tokens={},
            )
        ),
    ],
    ids=["options", "model", "function", "encoding"],
)
def test_a_chunker_can_be_sent_and_copied(chunker: Chunker) -> None:
    text = texts_with({})[0] + "<search></search>\n"
    data = pickle.dumps(chunker)
    # Not the vocabulary.
    assert len(data) < 10_000
    again = pickle.loads(data)  # noqa: S301 - our own
    assert replace(again.config, encoding="") == replace(chunker.config, encoding="")
    assert again.chunk(text) == chunker.chunk(text) == copy.deepcopy(chunker).chunk(text)


def test_errors_can_be_sent() -> None:
    for error in (
        ConfigError("decay", 2, "must be less"),
        SourceError("a.md", "is gone", 3),
        MissingPackageError("mcp", "mcp"),
        SectionError("Use", "does not exist", ("Install",)),
        LockError("a.lock", "is damaged", 3),
        ChunkastError("other"),
    ):
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
