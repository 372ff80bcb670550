"""Peak memory of chunking one document, for documents of several kinds.

Each figure is a process of its own: what it held at its peak, less what its peak was once
everything was loaded, the document read and a short text chunked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from chunkast import Chunker
from tests.bench.contenders import FLOOR, default_contender, named, peers, warm_up
from tests.bench.corpus import FIXTURES, of_size
from tests.bench.tables import Cell, Setting, Table
from tests.small_blocks import SMALL_BLOCKS

__all__ = ("KEY", "main", "peak_bytes", "run")

KEY = "memory"
# In place of a contender's name: no chunk is kept.
ONE_BY_ONE = "chunkast, one by one"
ROOT = Path(__file__).parents[2]
# Documents of the repository, so that the figures are the same documents' everywhere.
KINDS = {
    "prose": ("legal-prose.md", "meeting-minutes.md"),
    "documentation": ("api-reference.md", "tutorial.md", "runbook.md", "faq.md"),
    "dense lists": ("deep-lists.md",),
}


def run(setting: Setting) -> Iterator[Table]:
    """One table: bytes at the peak for each byte of document."""
    size = 100_000 if setting.smoke else 4_000_000
    others = [peer.name for peer in peers(setting.budget, setting.encoding, setting.say)]
    names = [
        FLOOR,
        own_default(setting),
        *(others[:1] if setting.smoke else others),
    ]
    rows: dict[str, list[Cell]] = {name: [] for name in names}
    with TemporaryDirectory(prefix="chunkast-bench-") as folder:
        for kind, files in KINDS.items():
            text = of_size([(FIXTURES / file).read_bytes().decode() for file in files], size)
            path = Path(folder, f"{kind}.md")
            length = path.write_bytes(text.encode())
            for name in names:
                used = _used(name, path, setting)
                rows[name].append(None if used is None else used / length)
    yield Table(
        KEY,
        "Peak memory",
        f"Bytes at the peak for each byte of one document of {size / 1e6:g} MB (so MB per MB), "
        "beyond what the process held with everything loaded and the document read.",
        (("", ""), *((kind, ",.1f") for kind in KINDS)),
        tuple((name, *cells) for name, cells in rows.items()),
    )
    yield _small_blocks(setting)


def _small_blocks(setting: Setting) -> Table:
    """Chunkast alone, on documents of many small blocks."""
    size = 20_000 if setting.smoke else 1_000_000
    names = list(SMALL_BLOCKS)[:2] if setting.smoke else list(SMALL_BLOCKS)
    rows: list[tuple[Cell, ...]] = []
    with TemporaryDirectory(prefix="chunkast-bench-") as folder:
        for name in names:
            path = Path(folder, f"{name}.md")
            length = path.write_bytes(SMALL_BLOCKS[name](size).encode())
            used = [_used(way, path, setting) for way in (own_default(setting), ONE_BY_ONE)]
            rows.append((name, *(None if each is None else each / length for each in used)))
    return Table(
        f"{KEY}, small blocks",
        "Peak memory: many small blocks",
        f"The same of chunkast alone, on documents of {size / 1e6:g} MB that are one small block "
        "again and again. *one by one*: `iter_chunks`, no chunk kept.",
        (("", ""), ("list", ",.1f"), ("one by one", ",.1f")),
        tuple(rows),
    )


def own_default(setting: Setting) -> str:
    return default_contender(setting.budget, setting.encoding).name


def _used(name: str, path: Path, setting: Setting) -> int | None:
    """The bytes that chunking took; none when the contender failed."""
    arguments = [name, str(path), str(setting.budget), setting.encoding]
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.memory", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        setting.say(f"{name} failed on {path.stem}: {done.stderr.strip().splitlines()[-1]}")
        return None
    before, after = json.loads(done.stdout.splitlines()[-1])
    return int(after) - int(before)


def main(arguments: list[str]) -> int:
    """The measured process: print the peak before and after, in bytes."""
    name, path, budget, encoding = arguments
    text = Path(path).read_bytes().decode()
    chunk: Callable[[str], object]
    if name == ONE_BY_ONE:
        chunker = Chunker(max_tokens=int(budget), encoding=encoding)

        def chunk(text: str) -> None:
            deque(chunker.iter_chunks([(None, text)]), maxlen=0)

        chunk("# Title\n\nA sentence.\n")
    else:
        contender = named(name, int(budget), encoding)
        warm_up([contender])
        chunk = contender.make()
    before = peak_bytes()
    chunks = chunk(text)
    after = peak_bytes()
    del chunks
    print(json.dumps([before, after]))
    return 0


def peak_bytes() -> int:
    """The largest resident size of this process so far."""
    status = Path("/proc/self/status")
    if status.exists():
        # On Linux ru_maxrss begins with the size of the process that started this one.
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(peak.split()[1]) * 1024
    import resource  # not there on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
