"""What hostile documents of megabytes cost: the time and the memory of each case.

Every case of ``tests/hostile.py`` is chunked at two sizes, ten times apart, each in a
process of its own that is ended at a limit. Times are CPU seconds per megabyte of UTF-8;
a ratio of 1 is linear, 10 quadratic. Memory is what the process's peak grew by, the
document included, per byte of the larger document.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from time import process_time
from typing import Final

from chunkast import Chunker
from tests.hostile import CASES, EXTENDED, VARIANTS

MEGABYTE: Final = 1_000_000
STEP: Final = 10
# Above these a case is marked: it is not flat, or it is slow.
RATIO: Final = 1.3
SLOW: Final = 5.0
# What a promise names, and what is known to be near a limit; the rest is for full runs.
SMOKE: Final = ("brackets", "link-openers", "begin-lines", "quotes-deep", "table-wide", "spaces")
# Address space of a process, so that a case that needs too much ends alone.
MEMORY_LIMIT: Final = 8 << 30


@dataclass(frozen=True, slots=True)
class Run:
    """One document chunked in a process of its own: ``problem`` says why it was not."""

    size: int = 0
    seconds: float = 0.0
    memory: int = 0
    problem: str = ""

    @property
    def per_megabyte(self) -> float:
        return self.seconds / self.size * MEGABYTE


@dataclass(frozen=True, slots=True)
class Row:
    """A case at both sizes."""

    name: str
    small: Run
    large: Run

    @property
    def ratio(self) -> float:
        return self.large.per_megabyte / self.small.per_megabyte

    @property
    def flat(self) -> bool:
        done = not self.small.problem and not self.large.problem
        return done and self.ratio <= RATIO and self.large.per_megabyte <= SLOW


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code is 1 if a case could not be measured."""
    options = _parser().parse_args(arguments)
    if options.child:
        print(json.dumps(asdict(_measure(*options.child.rsplit(":", 1)))))
        return 0
    names = list(_selected(options.cases or (SMOKE if options.smoke else ("*",))))
    if not names:
        print("no such case")
        return 2
    size = MEGABYTE if options.smoke else options.size
    width = max(map(len, names))
    print(f"{'':{width}}  s/MB at {_megabytes(size // STEP)}  at {_megabytes(size)}  ratio  B/byte")
    rows = []
    for name in names:
        small = _run(name, size // STEP, options.limit)
        large = Run(problem="-") if small.problem else _run(name, size, options.limit)
        rows.append(Row(name, small, large))
        print(f"{name:{width}}  {_line(rows[-1])}", flush=True)
    flat = sum(row.flat for row in rows)
    print(f"\n{flat} of {len(rows)} flat: ratio up to {RATIO}, up to {SLOW:g} s/MB")
    if options.json:
        report = [asdict(row) for row in rows]
        options.json.write_text(json.dumps(report, indent=2) + "\n", "utf-8")
    return int(any(row.small.problem or row.large.problem for row in rows))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.hostile", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="names or patterns; default: all")
    parser.add_argument(
        "--size", type=_bytes, default=10 * MEGABYTE, metavar="SIZE", help="default: 10MB"
    )
    parser.add_argument("--smoke", action="store_true", help="a few cases, at 1MB")
    parser.add_argument(
        "--limit", type=int, default=120, metavar="SECONDS", help="of CPU time a run; default: 120"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser


def _bytes(text: str) -> int:
    number = text.upper().removesuffix("B").removesuffix("M")
    return round(float(number) * (MEGABYTE if "M" in text.upper() else 1))


def _megabytes(size: int) -> str:
    return f"{size / MEGABYTE:g} MB"


def _selected(patterns: Sequence[str]) -> Iterator[str]:
    """The names that match: a case's in the default configuration, or "variant/case"."""
    names = [name for name in CASES if name not in EXTENDED]
    names += [f"{variant}/{name}" for variant, row in VARIANTS.items() for name in row.cases]
    return (name for name in names if any(fnmatch(name, pattern) for pattern in patterns))


def _run(name: str, size: int, limit: int) -> Run:
    """Chunk one document in a process of its own."""
    command = [sys.executable, "-m", "tests.bench.hostile", "--child", f"{name}:{size}"]

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))

    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limited)
    if done.returncode == 0:
        return Run(**json.loads(done.stdout))
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return Run(problem=f"> {limit} s")
    with suppress(IndexError):
        return Run(problem=done.stderr.strip().splitlines()[-1][:60])
    return Run(problem=signal.Signals(-done.returncode).name)


def _measure(name: str, size: str) -> Run:
    """Chunk a document of about ``size`` bytes here."""
    variant, _, case = name.rpartition("/")
    chunker = Chunker(**VARIANTS[variant].options if variant else {})
    # What is loaded on first use is loaded here.
    chunker.chunk("# Title\n\n" + "A sentence of a few words stands here. " * 400)
    probe = CASES[case](10_000)
    before = _peak()
    text = CASES[case](int(size) * len(probe) // _size(probe))
    started = process_time()
    chunker.chunk(text)
    seconds = process_time() - started
    return Run(_size(text), seconds, _peak() - before)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _peak() -> int:
    """The most memory this process has had, in bytes; macOS counts in bytes, Linux in KiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _line(row: Row) -> str:
    if row.small.problem or row.large.problem:
        return row.small.problem or row.large.problem
    small, large = row.small.per_megabyte, row.large.per_megabyte
    mark = "" if row.flat else "  <-"
    memory = row.large.memory / row.large.size
    return f"{small:14.2f} {large:9.2f} {row.ratio:6.2f} {memory:7.0f}{mark}"


if __name__ == "__main__":
    sys.exit(main())
