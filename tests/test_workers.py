"""Work in several processes: the same results in order, whatever happens to the processes."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import tiktoken

from chunkast import ChunkastError, Chunker
from chunkast.heuristics import Heuristic
from chunkast.sources.workers import started
from chunkast.toolcalls import Tool
from tests.command import children, linux, posix

DOCUMENTS = Path(__file__).parents[1] / "fixtures" / "documents"

# Several work units' worth of documents, and what a program does with them.
PROGRAM = """
import multiprocessing, sys
from chunkast import Chunker

def words(text):
    return len(text.split())

def main():
    chunker = Chunker(encoding={encoding}, max_tokens=200)
    texts = [f"# {{n}}\\n\\n" + "A sentence of some words stands here. " * {times} for n in range(24)]
    together = chunker.chunk_batch(texts, workers=2)
    assert together == chunker.chunk_batch(texts), "not the same"
    print(sum(map(len, together)))

if __name__ == "__main__":
    {first}
    main()
"""


def paragraphs(times: int) -> str:
    return "# Title\n\n" + "A sentence of some words stands here.\n\n" * times


def program(
    tmp_path: Path, first: str = "pass", encoding: str = '"cl100k_base"', times: int = 1000
) -> list[str]:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM.format(first=first, encoding=encoding, times=times), "utf-8")
    return [sys.executable, str(file)]


def is_loaded(process: int) -> bool:
    """Whether a process has the tokenizer, and so is no longer being started."""
    try:
        return "_tiktoken" in Path(f"/proc/{process}/maps").read_text()
    except OSError:
        return False


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# What processes do with a unit.


def squares() -> Callable[[int], int]:
    # The first ones take longest.
    def square(number: int) -> int:
        time.sleep(0.05 / (1 + number))
        return number * number

    return square


def failing(how: str) -> Callable[[int], int]:
    def fail(number: int) -> int:
        if number != 3:
            return number
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "exit":
            os._exit(7)
        if how == "local":

            class LocalError(Exception):
                pass

            raise LocalError("cannot be sent")
        return int(how)

    return fail


def test_results_come_in_order_and_units_are_taken_as_they_are_needed() -> None:
    taken: list[int] = []

    def units() -> Iterator[int]:
        for number in range(60):
            taken.append(number)
            yield number

    with started(squares, 2) as workers:
        results = workers.results(units())
        for number in range(20):
            assert next(results) == number * number
            assert len(taken) <= number + 9
        assert list(results) == [number * number for number in range(20, 60)]


@pytest.mark.slow
def test_an_exception_is_raised_where_its_result_would_be() -> None:
    with started(partial(failing, "no number"), 2) as workers:
        results = workers.results(range(8))
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(ValueError, match="no number") as caught:
            next(results)
    assert "in fail" in str(caught.value.__cause__)


@pytest.mark.slow
@posix
@pytest.mark.parametrize(
    ("how", "reason"), [("kill", "it was killed, perhaps for lack of memory"), ("exit", "code 7")]
)
def test_a_process_that_dies_is_told_of(how: str, reason: str) -> None:
    with (
        started(partial(failing, how), 2) as workers,
        pytest.raises(ChunkastError, match=f"a worker process was lost: .*{reason}"),
    ):
        list(workers.results(range(100)))


# Batches


@pytest.mark.slow
def test_chunks_are_the_same_to_the_last_field() -> None:
    texts = [file.read_bytes().decode() for file in sorted(DOCUMENTS.iterdir())] * 3
    sources = [f"{number % 31}.md" if number % 5 else None for number in range(len(texts))]
    chunker = Chunker(max_tokens=64)
    alone = chunker.chunk_batch(texts, sources)
    together = chunker.chunk_batch(texts, sources, workers=2)
    assert together == alone
    assert [chunk.metadata for chunks in together for chunk in chunks] == [
        chunk.metadata for chunks in alone for chunk in chunks
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "first",
    [
        "multiprocessing.set_start_method('spawn')",
        "multiprocessing.set_start_method('forkserver')",
        "import threading; threading.Thread(target=sys.stdin.read, daemon=True).start()",
    ],
)
def test_every_way_to_start_a_process(tmp_path: Path, first: str) -> None:
    if "forkserver" in first and os.name != "posix":
        pytest.skip("there is no fork server here")
    done = subprocess.run(
        program(tmp_path, first, encoding="words"),
        stdin=subprocess.PIPE,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 24


def test_a_configuration_that_cannot_be_sent(tmp_path: Path) -> None:
    first = "multiprocessing.set_start_method('spawn')"
    command = program(tmp_path, first, encoding="lambda text: len(text)")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("chunkast.errors.ConfigError: workers=2: the configuration cannot be")


@pytest.mark.slow
@linux
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["INT", "KILL"])
@pytest.mark.parametrize("first", ["pass", "multiprocessing.set_start_method('spawn')"])
def test_a_program_that_is_stopped_leaves_no_process(
    tmp_path: Path, first: str, number: signal.Signals
) -> None:
    command = program(tmp_path, first, times=20_000)
    with subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True) as process:
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

    def gone() -> bool:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    wait_until(gone)


# One document that fails


def stumbling(text: str) -> int:
    """A counter that fails in ways of its own on some texts."""
    if "Panic" in text:
        # As of a library in Rust: no ``Exception``, and of a class that nobody can import.
        raise type("PanicException", (BaseException,), {})("index out of range")
    if "Memory" in text:
        return len(bytearray(2**62))
    return 1 // 0 if "Zero" in text else len(text)


STUMBLING = Chunker(encoding=stumbling, max_tokens=500)
# Some of one source, so that their parts are counted on, and units of several documents.
TEXTS = [paragraphs(300) for _ in range(40)]
SOURCES = ["one.md" if number % 3 else f"{number}.md" for number in range(40)]
BAD = {4: "Zero", 11: "Memory", 12: "Panic", 31: "Zero", 38: "Memory"}


def texts_with(bad: Mapping[int, str]) -> list[str]:
    # What fails has been counted in part before.
    return [f"{text}# Last\n\n{bad.get(number, 'Good')}" for number, text in enumerate(TEXTS)]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_document_that_fails_costs_itself_alone(workers: int) -> None:
    told: list[tuple[int, str | None, BaseException]] = []

    def on_error(*what: Any) -> None:
        told.append(what)

    found = STUMBLING.chunk_batch(texts_with(BAD), SOURCES, workers, on_error=on_error)
    kept = [number for number in range(40) if number not in BAD]
    alone = Chunker(encoding=len, max_tokens=500).chunk_batch(
        [texts_with({})[number] for number in kept], [SOURCES[number] for number in kept]
    )
    assert [found[number] for number in kept] == alone
    assert all(not found[number] for number in BAD)
    told.sort(key=lambda what: what[0])
    assert [(number, source) for number, source, _ in told] == [(n, SOURCES[n]) for n in BAD]
    kinds = [type(error).__name__ for _, _, error in told]
    panic = "PanicException" if workers == 1 else "ChunkastError"
    assert kinds == [
        *("ZeroDivisionError", "MemoryError", panic, "ZeroDivisionError", "MemoryError"),
    ]
    assert "index out of range" in str(told[2][2])


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_without_on_error_the_first_failure_is_raised_at_the_end(workers: int) -> None:
    counted: list[int] = []

    def counter(text: str) -> int:
        counted.append(len(text))
        return stumbling(text)

    # A function of a test's own cannot be sent to a process that is not forked.
    chunker = Chunker(encoding=counter if workers == 1 else stumbling, max_tokens=500)
    with pytest.raises(ZeroDivisionError) as caught:
        chunker.chunk_batch(texts_with({4: "Zero", 20: "Memory"}), SOURCES, workers)
    if workers == 1:
        assert sum(counted) > 30 * len(TEXTS[0])
        # What the variables held is freed.
        assert not any(
            frame.frame.f_locals for frame in caught.traceback if "stumbling" in frame.name
        )
    else:
        assert "in stumbling" in str(caught.value.__cause__)


# Copies


def nothing(_draft: object) -> None:
    """A heuristic that changes nothing."""


@pytest.mark.parametrize(
    "chunker",
    [
        Chunker(max_tokens=50, overlap=0.3, scores={"hr": 90}, extensions=("tables", "mdx")),
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
        Chunker(heuristics=[Heuristic("nothing", "post-parse", nothing)]),
    ],
    ids=["options", "model", "function", "encoding", "heuristic"],
)
def test_a_chunker_can_be_sent_and_copied(chunker: Chunker) -> None:
    text = texts_with({})[0] + "<search></search>\n"
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        data = pickle.dumps(chunker, protocol)
        # Not the vocabulary.
        assert len(data) < 10_000
        again = pickle.loads(data)  # noqa: S301 - our own
        assert replace(again.config, encoding="") == replace(chunker.config, encoding="")
        assert again.chunk(text) == chunker.chunk(text)
    assert copy.deepcopy(chunker).chunk(text) == chunker.chunk(text)
