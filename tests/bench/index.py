"""An index of many files: time and peak memory of a first run, and of one after an edit.

The files are real documents, each with a line of its own so that no two are equal. Each
run is the command in a process of its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.corpus import load_corpus

MEASURED = """
import resource, sys
from chunkast.cli.main import main
code = main(sys.argv[1:])
print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
sys.exit(code)
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the files, run the command on them, print what it took."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.index", description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--smoke", action="store_true", help="fixtures only, few files")
    options = parser.parse_args(arguments)
    texts = load_corpus(smoke=options.smoke)
    count = 50 if options.smoke else options.files
    with TemporaryDirectory(prefix="chunkast-bench-") as name:
        folder, database = Path(name, "docs"), Path(name, "chunks.db")
        size = 0
        for number, text in enumerate(islice(cycle(texts), count)):
            path = folder / f"{number // 100:03}" / f"{number:05}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            size += path.write_bytes(f"Edition {number}.\n\n{text}".encode())
        print(f"{count:,} files, {size / 1e6:.1f} MB, {len(texts):,} different documents")
        _read(folder)
        _index("first run", folder, database)
        _index("nothing changed", folder, database)
        changed = folder / "000" / "00007.md"
        changed.write_text(changed.read_text("utf-8") + "\nOne line more.\n", "utf-8")
        _index("one file changed", folder, database)
        print(f"database: {database.stat().st_size / 1e6:.1f} MB")
    return 0


def _read(folder: Path) -> None:
    """What nobody can do without who is to notice every change."""
    started = time.perf_counter()
    for path in folder.rglob("*.md"):
        path.read_bytes()
    print(f"{'reading every file':18} {time.perf_counter() - started:8.2f} s")


def _index(name: str, folder: Path, database: Path) -> None:
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "index", str(folder), "--db", str(database), "-q"],
        check=True,
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - started
    plan, *_, peak = done.stdout.splitlines()
    megabytes = int(peak.split()[1]) / 1024
    print(f"{name:18} {seconds:8.2f} s  {megabytes:7.1f} MB peak  {plan}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
