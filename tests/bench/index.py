"""An index of many files: time and peak memory of a first run, and of one after an edit.

The files are real documents, each with a line of its own so that no two are equal. Each
run is the command in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.corpus import copies
from tests.bench.tables import Cell, Setting, Table

__all__ = ("KEY", "run")

KEY = "index"
ROOT = Path(__file__).parents[2]
MEASURED = """
import sys
from chunkast.cli.main import main
from tests.bench.peak import peak_bytes
code = main(sys.argv[1:])
print("peak", peak_bytes())
sys.exit(code)
"""


def run(setting: Setting) -> Iterator[Table]:
    """Yield one table with a row for each run of the command."""
    texts = list(chain.from_iterable(setting.corpora.values()))
    count = 50 if setting.smoke else 10_000
    with TemporaryDirectory(prefix="chunkast-bench-") as name:
        folder, database = Path(name, "docs"), Path(name, "chunks.db")
        size = 0
        for number, text in enumerate(islice(copies(texts), count)):
            path = folder / f"{number // 100:03}" / f"{number:05}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            size += path.write_bytes(text.encode())
        rows = [_read(folder)]
        rows.append(_index("first run", folder, database))
        rows.append(_index("nothing changed", folder, database))
        changed = folder / "000" / "00007.md"
        changed.write_text(changed.read_text("utf-8") + "\nOne line more.\n", "utf-8")
        rows.append(_index("one file changed", folder, database))
        stored = database.stat().st_size
    yield Table(
        KEY,
        "An index of many files",
        f"`chunkast index` on {count:,} files, {size / 1e6:.1f} MB, made of {len(texts):,} "
        f"different documents: seconds on the wall, one run each. The database has "
        f"{stored / 1e6:.1f} MB.",
        (("", ""), ("seconds", ".2f"), ("peak MB", ",.0f"), ("plan", "")),
        tuple(rows),
    )


def _read(folder: Path) -> tuple[Cell, ...]:
    """Return the row for reading every file, the least that a check for changes costs."""
    started = time.perf_counter()
    for path in folder.rglob("*.md"):
        path.read_bytes()
    return "reading every file", time.perf_counter() - started, None, None


def _index(name: str, folder: Path, database: Path) -> tuple[Cell, ...]:
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "index", str(folder), "--db", str(database), "-q"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - started
    plan, *_, peak = done.stdout.splitlines()
    return name, seconds, int(peak.split()[1]) / 1e6, plan
