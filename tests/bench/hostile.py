"""What hostile documents cost: the time and the memory of each case of ``tests/hostile.py``.

Every case is chunked at three sizes in a process of its own that is ended at a limit. Names:
"case", "variant/case" for another configuration, "source/case" and "fence/case" for code,
"notebook/case". Growth is the time per character at the largest size over that at the
smallest: 1 is linear, 4 quadratic. Memory is what the process's peak grew by, the document
included, per byte of the largest document in UTF-8.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from time import process_time
from typing import Final

from chunkast import Chunker, count_tokens
from chunkast.sources.notebook import chunk_notebook
from tests.hostile import CASES, CODE, NOTEBOOKS, VARIANTS, Build, options_of

MEGABYTE: Final = 1_000_000
SIZES: Final = (60_000, 120_000, 240_000)
# Beyond these a case is marked: it is not linear, it is slow (MB/s), or it takes much memory.
GROWTH: Final = 1.5
SLOW: Final = 0.2
MUCH: Final = 120
# A clock may stand still for less.
LEAST_SECONDS: Final = 0.001
# What a promise names, and what is known to be near a limit; the rest is for full runs.
SMOKE: Final = (
    *("brackets-nested", "link-openers", "begin-lines", "quotes-deep-lazy", "table-wide", "spaces"),
)
# Address space of a process, so that a case that needs too much ends alone.
MEMORY_LIMIT: Final = 8 << 30


@dataclass(frozen=True, slots=True)
class Row:
    """A case at all sizes: CPU seconds and bytes of each; ``problem`` says what went wrong."""

    name: str
    seconds: tuple[float, ...] = ()
    sizes: tuple[int, ...] = ()
    memory: int = 0
    problem: str = ""

    @property
    def growth(self) -> float:
        first, last = (self.seconds[at] / self.sizes[at] for at in (0, -1))
        return last / first

    @property
    def speed(self) -> float:
        """Megabytes a second at the largest size."""
        return self.sizes[-1] / MEGABYTE / self.seconds[-1]

    @property
    def share(self) -> float:
        """Bytes of memory for each byte of the largest document."""
        return self.memory / self.sizes[-1]

    @property
    def good(self) -> bool:
        if self.problem:
            return False
        return self.growth <= GROWTH and self.speed >= SLOW and self.share <= MUCH


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code is 1 if a case could not be measured."""
    options = _parser().parse_args(arguments)
    if options.child:
        print(json.dumps(asdict(_measure(options.child, options.sizes))))
        return 0
    names = list(_selected(options.cases or (SMOKE if options.smoke else ("*",))))
    if not names:
        print("no such case")
        return 2
    width = max(map(len, names))
    seconds = "".join(f"{f's at {size // 1000}k':>10}" for size in options.sizes)
    print(f"{'':{width}}{seconds}  growth   MB/s  B/byte")
    rows = []
    for name in names:
        rows.append(_run(name, options.sizes, options.limit))
        print(f"{name:{width}}{_line(rows[-1])}", flush=True)
    good = sum(row.good for row in rows)
    print(
        f"\n{good} of {len(rows)}: growth at most {GROWTH}, at least {SLOW:g} MB/s, at most {MUCH} B/byte"
    )
    if options.json:
        report = [asdict(row) for row in rows]
        options.json.write_text(json.dumps(report, indent=2) + "\n", "utf-8")
    return int(any(row.problem for row in rows))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.hostile", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="names or patterns; default: all")
    parser.add_argument(
        "--sizes",
        type=_sizes,
        default=SIZES,
        metavar="SIZES",
        help="in characters, with commas; default: 60000,120000,240000",
    )
    parser.add_argument("--smoke", action="store_true", help="a few cases")
    parser.add_argument(
        "--limit", type=int, default=120, metavar="SECONDS", help="of CPU time a case; default: 120"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.split(","))


def _selected(patterns: Sequence[str]) -> Iterator[str]:
    names = [*CASES]
    names += [f"{variant}/{name}" for variant, row in VARIANTS.items() for name in row.cases]
    names += [f"source/{name}" for name in CODE]
    names += [f"fence/{name}" for name in CODE]
    names += [f"notebook/{name}" for name in NOTEBOOKS]
    return (name for name in names if any(fnmatch(name, pattern) for pattern in patterns))


def _run(name: str, sizes: Sequence[int], limit: int) -> Row:
    """Chunk the documents of one case in a process of its own."""
    given = ",".join(map(str, sizes))
    command = [sys.executable, "-m", "tests.bench.hostile", "--child", name, "--sizes", given]

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))

    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limited)
    if done.returncode == 0:
        return Row(**json.loads(done.stdout))
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return Row(name, problem=f"> {limit} s")
    with suppress(IndexError):
        return Row(name, problem=done.stderr.strip().splitlines()[-1][:60])
    return Row(name, problem=signal.Signals(-done.returncode).name)


def _measure(name: str, sizes: Sequence[int]) -> Row:
    """Chunk documents of these sizes here, the largest last."""
    build, chunk = _case(name)
    # What is loaded on first use is loaded here.
    chunk(build(1_000))
    before = _peak()
    seconds: list[float] = []
    encoded: list[int] = []
    for size in sizes:
        text = build(size)
        encoded.append(len(text.encode("utf-8", "surrogatepass")))
        gc.collect()
        started = process_time()
        chunk(text)
        seconds.append(max(process_time() - started, LEAST_SECONDS))
    return Row(name, tuple(seconds), tuple(encoded), _peak() - before)


def _case(name: str) -> tuple[Build, Callable[[str], object]]:
    """What builds the documents of a case, and what chunks them."""
    variant, _, case = name.rpartition("/")
    chunker = Chunker(**VARIANTS[variant].options if variant in VARIANTS else options_of(case))
    usual = "# Title\n\n" + "A sentence of a few words stands here. " * 400
    chunker.chunk(usual)
    # A faster encoder is loaded after a megabyte.
    for _ in range(MEGABYTE // len(usual) + 1):
        count_tokens(usual, chunker.config.encoding)
    if variant == "notebook":
        return NOTEBOOKS[case], lambda text: chunk_notebook(chunker, text, "a.ipynb")
    if variant in ("source", "fence"):
        language, build = CODE[case]
        if variant == "source":
            return build, lambda text: chunker.chunk(text, None, language)
        return lambda n: f"```{language}\n{build(n)}\n```\n", chunker.chunk
    return CASES[case], chunker.chunk


def _peak() -> int:
    """The most memory this process has had, in bytes; macOS counts in bytes, Linux in KiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _line(row: Row) -> str:
    if row.problem:
        return f"  {row.problem}"
    seconds = "".join(f"{taken:10.3f}" for taken in row.seconds)
    mark = "" if row.good else "  <-"
    return f"{seconds}{row.growth:8.2f}{row.speed:7.2f}{row.share:8.0f}{mark}"


if __name__ == "__main__":
    sys.exit(main())
