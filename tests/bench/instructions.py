"""Compare the instructions of chunking a few fixtures with those of an earlier commit.

    python -m tests.bench.instructions

Both versions run at the same time, in the same environment. The commit is the content of
`instructions.commit`. Prints one line per budget; the exit code is 1 if the instructions rise by more
than 6 %. Without valgrind or that commit, nothing is compared, and the exit code is 0.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from tests.bench.corpus import FIXTURES, find_documents

__all__ = ("BUDGETS", "ROOT", "ask", "count_instructions", "main")

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("against_worker.py")
COMMIT = Path(__file__).with_name("instructions.commit")
# The share by which instructions may rise. What was added since that commit costs about 4 %, and the
# layout of memory moves the count by up to 1 %.
LIMIT = 0.06
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


def main() -> int:
    """Compare and print; returns 1 if the instructions rise by more than ``LIMIT``."""
    commit = COMMIT.read_text("utf-8").strip()
    command = ["git", "-C", str(ROOT), "archive", "--format=zip", commit, "chunkast"]
    if not shutil.which("valgrind"):
        print("instructions are not compared: valgrind is not installed")
        return 0
    found = subprocess.run(command, capture_output=True, check=False)
    if found.returncode:
        print(f"instructions are not compared: this checkout does not have the commit {commit}")
        return 0
    documents = dict(find_documents([FIXTURES]))
    texts = [documents[name] for name in COUNTED]
    with TemporaryDirectory(prefix="chunkast-instructions-") as name:
        other = Path(name).resolve()
        with ZipFile(io.BytesIO(found.stdout)) as archive:
            archive.extractall(other)
        counts = (count_instructions(checkout, texts) for checkout in (other, ROOT))
        changes = []
        for budget, before, after in zip(BUDGETS, *counts, strict=True):
            changes.append(after / before - 1)
            print(
                f"{budget} tokens: {after / 1e6:.1f} M instructions, {changes[-1]:+.1%} "
                f"since {commit[:7]}"
            )
    return int(max(changes) > LIMIT)


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

        def run(budget: int) -> int:
            # Arguments of the same length: the layout of memory, which counts as well, stays the same.
            _, printed = ask(checkout, "once", str(path), f"{budget:04}", under=_VALGRIND)
            counted = _REFERENCES.search(printed)
            assert counted, printed
            return int(counted[1].replace(",", ""))

        with ThreadPoolExecutor() as pool:
            before, *counts = pool.map(run, (0, *BUDGETS))
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
    sys.exit(main())
