"""Count the instructions of chunking a few documents beside the stored figures.

    python -m tests.bench.instructions [--update]

Prints one line per budget, and a note if valgrind is missing; the exit code is always 0. Figures
only compare on the same version of Python.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.bench.corpus import FIXTURES, find_documents

__all__ = ("BUDGETS", "ROOT", "ask", "count_instructions", "main")

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("against_worker.py")
STORED = Path(__file__).with_name("instructions.json")
BUDGETS = (512, 254)
# A reference page, prose, lists, HTML, tables, and text that is not ASCII.
COUNTED = (
    *("api-reference.md", "tutorial.md", "legal-prose.md", "deep-lists.md", "html-heavy.md"),
    *("wide-tables.md", "cjk-chinese.md", "emoji.md"),
)
# Longer documents would take longer to chunk than all imports.
LONGEST_WARM = 4_000
_REFERENCES = re.compile(r"I\s+refs:\s+([\d,]+)")
_VALGRIND = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")


def main(arguments: Sequence[str]) -> int:
    """Print the figures, or store them."""
    if not shutil.which("valgrind"):
        print("instructions are not counted: valgrind is not installed")
        return 0
    documents = dict(find_documents([FIXTURES]))
    texts = [documents[name] for name in COUNTED]
    counts = dict(zip(map(str, BUDGETS), count_instructions(ROOT, texts), strict=True))
    found: dict[str, Any] = {"python": platform.python_version(), **counts}
    stored = json.loads(STORED.read_text("utf-8")) if STORED.exists() else found
    print(f"Python {found['python']}; stored: Python {stored['python']}")
    for budget, count in counts.items():
        change = count / stored[budget] - 1
        print(
            f"{budget} tokens: {count / 1e6:.1f} M instructions, stored {change:+.1%}", flush=True
        )
    if "--update" in arguments:
        STORED.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    return 0


def count_instructions(checkout: Path, texts: Sequence[str]) -> list[int]:
    """Return the instructions of chunking ``texts`` once with the package in ``checkout``.

    There is a count for each of ``BUDGETS``. Imports, and anything else that happens on first use,
    do not count: short documents of the fixtures are chunked before.
    """
    others = (text for _, text in find_documents([FIXTURES]) if text not in texts)
    warm = [text for text in others if len(text) <= LONGEST_WARM]
    with TemporaryDirectory(prefix="chunkast-instructions-") as name:
        path = Path(name, "texts.json")
        path.write_text(json.dumps([warm, texts]), "utf-8")

        def run(budgets: Sequence[int]) -> int:
            _, printed = ask(checkout, "once", str(path), *map(str, budgets), under=_VALGRIND)
            counted = _REFERENCES.search(printed)
            assert counted, printed
            return int(counted[1].replace(",", ""))

        with ThreadPoolExecutor() as pool:
            before, *counts = pool.map(run, [(), *((budget,) for budget in BUDGETS)])
    return [count - before for count in counts]


def ask(checkout: Path, *arguments: str, under: Sequence[str] = ()) -> tuple[str, str]:
    """Run the worker with the package in ``checkout``; returns what it prints on both streams."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0"}
    command = [*under, sys.executable, str(WORKER), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    package, _, answer = done.stdout.partition("\n")
    if Path(package) != checkout / "chunkast":
        raise RuntimeError(f"imported {package}, not the package in {checkout}")
    return answer, done.stderr


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
