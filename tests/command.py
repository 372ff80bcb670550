"""Run the command: inside this process, and as a process of its own where that matters."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import chunkast
from chunkast.cli.main import main
from tests.tables import document

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

GUIDE = document("guide.md")


def paragraphs(count: int, start: int = 0) -> str:
    """Return a document with a heading and paragraphs that are all different."""
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


def run(
    *arguments: object, cwd: Path, stdin: bytes = b"", terminal: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """Run the command inside this process; ``terminal`` names a stream that says it is one."""
    streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8") for name in ("stdout", "stderr")}
    words = list(map(str, arguments))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        if terminal:
            patch.setattr(streams[terminal], "isatty", lambda: True)
            patch.setenv("TERM", "xterm")
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


def run_process(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """Run the command as a process of its own."""
    words = command(*arguments)
    return subprocess.run(
        words, cwd=cwd, capture_output=True, env=environment(), timeout=120, check=False
    )


@contextmanager
def started(*arguments: object, cwd: Path, **settings: Any) -> Iterator[subprocess.Popen[bytes]]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment()}
    with subprocess.Popen(command(*arguments), cwd=cwd, **{**pipes, **settings}) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds; fail if it does not within two minutes."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def group_lives(group: int) -> bool:
    """Return whether a group of processes has any left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def children(process: int) -> list[int]:
    """The processes that a process has started, but for multiprocessing's own."""
    try:
        listing = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        lines = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in listing}
    except OSError:  # one of them has just ended
        return []
    return [child for child, line in lines.items() if b"resource_tracker" not in line]


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def records(stdout: bytes) -> list[dict[str, Any]]:
    """Parse JSON lines, of which each must have its line end."""
    assert not stdout or stdout.endswith(b"\n")
    return [json.loads(line) for line in stdout.split(b"\n")[:-1]]


def sources(stdout: bytes) -> list[str | None]:
    """Return the sources in JSON lines, in order, each once."""
    return list(dict.fromkeys(record["source"] for record in records(stdout)))


def expected(documents: Sequence[tuple[str | None, str]], **options: Any) -> list[dict[str, Any]]:
    chunker = chunkast.Chunker(**options)
    return [chunk.to_dict() for chunk in chunker.iter_chunks(documents)]


def errors(stderr: bytes) -> list[str]:
    """Return the error lines, and check that there is no traceback."""
    text = stderr.decode()
    assert "Traceback" not in text
    assert "Exception ignored" not in text
    return [line for line in text.splitlines() if line.startswith("chunkast: error: ")]


def refused(*arguments: object, cwd: Path) -> str:
    """Run a command that cannot do anything; return its only line, an error."""
    done = run(*arguments, cwd=cwd)
    assert (done.returncode, done.stdout) == (2, b"")
    [line] = errors(done.stderr)
    assert len(done.stderr.splitlines()) == 1
    return line


def parts(count: int) -> str:
    """Return a document of sections with many short sentences."""
    sections = (
        f"# Part {n}\n\n" + " ".join(f"Sentence {k} of part {n} is short." for k in range(20))
        for n in range(count)
    )
    return "".join(f"{section}\n\n" for section in sections)
