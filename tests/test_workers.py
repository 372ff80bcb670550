"""Work in several processes: the same results in order, whatever happens to the processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from chunkast import ChunkastError, Chunker, ConfigError
from chunkast.workers import started

DOCUMENTS = Path(__file__).parents[1] / "fixtures" / "documents"
posix = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

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


def children(process: int) -> list[int]:
    """The processes that a process has started, but for multiprocessing's own."""
    listing = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [
        int(child)
        for child in listing
        if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


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


def test_nothing_to_do() -> None:
    with started(squares, 2) as workers:
        assert list(workers.results([])) == []


def test_an_exception_is_raised_where_its_result_would_be() -> None:
    with started(partial(failing, "no number"), 2) as workers:
        results = workers.results(range(8))
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(ValueError, match="no number") as caught:
            next(results)
    assert "in fail" in str(caught.value.__cause__)


def test_an_exception_that_cannot_be_sent() -> None:
    with (
        started(partial(failing, "local"), 2) as workers,
        pytest.raises(ChunkastError, match="LocalError: cannot be sent"),
    ):
        list(workers.results(range(8)))


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


@linux
def test_no_process_is_left() -> None:
    before = children(os.getpid())
    with started(squares, 3) as workers:
        assert len(children(os.getpid())) == len(before) + 3
        next(workers.results(range(50)))
    assert children(os.getpid()) == before


# Batches


@pytest.mark.parametrize("context", ["none", "headings"])
def test_chunks_are_the_same_to_the_last_field(context: str) -> None:
    texts = [file.read_bytes().decode() for file in sorted(DOCUMENTS.iterdir())] * 3
    sources = [f"{number % 31}.md" if number % 5 else None for number in range(len(texts))]
    chunker = Chunker(max_tokens=64, context=context)
    alone = chunker.chunk_batch(texts, sources)
    together = chunker.chunk_batch(texts, sources, workers=2)
    assert together == alone
    assert [chunk.metadata for chunks in together for chunk in chunks] == [
        chunk.metadata for chunks in alone for chunk in chunks
    ]


@pytest.mark.parametrize(
    "first",
    [
        "pass",
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


def test_batches_in_several_threads() -> None:
    texts = [paragraphs(300) for _ in range(40)]
    chunker = Chunker(max_tokens=200)
    found: list[int] = []

    def batch() -> None:
        found.append(sum(map(len, chunker.chunk_batch(texts, workers=2))))

    threads = [threading.Thread(target=batch) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [40 * len(chunker.chunk(texts[0]))] * 2


def test_a_configuration_that_cannot_be_sent(tmp_path: Path) -> None:
    first = "multiprocessing.set_start_method('spawn')"
    command = program(tmp_path, first, encoding="lambda text: len(text)")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("chunkast.errors.ConfigError: workers=2: the configuration cannot be")


def test_a_counter_that_raises() -> None:
    def counter(text: str) -> int:
        if "Seven" in text:
            raise ZeroDivisionError("seven")
        return len(text)

    chunker = Chunker(encoding=counter, max_tokens=500)
    texts = [paragraphs(300) for _ in range(40)]
    texts[30] = "Seven"
    with pytest.raises((ZeroDivisionError, ConfigError), match=r"seven|cannot be sent"):
        chunker.chunk_batch(texts, workers=2)


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
