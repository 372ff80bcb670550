"""Peak memory of chunking one document, for documents of several kinds.

Each figure is a process of its own: what it held at its peak, less what its peak was once
everything was loaded, the document read and a short text chunked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.contenders import FLOOR, default_contender, named, peers, warm_up
from tests.bench.corpus import FIXTURES, of_size
from tests.bench.peak import peak_bytes
from tests.bench.tables import Cell, Setting, Table

__all__ = ("KEY", "main", "run")

KEY = "memory"
ROOT = Path(__file__).parents[2]
# Documents of the repository, so that the figures are the same documents' everywhere.
KINDS = {
    "prose": ("legal-prose.md", "meeting-minutes.md"),
    "documentation": ("api-reference.md", "tutorial.md", "runbook.md", "faq.md"),
    "dense lists": ("deep-lists.md",),
}


def run(setting: Setting) -> Iterator[Table]:
    """Yield one table: bytes at the peak for each byte of document."""
    size = 100_000 if setting.smoke else 4_000_000
    others = [peer.name for peer in peers(setting.budget, setting.encoding, setting.say)]
    names = [
        FLOOR,
        default_contender(setting.budget, setting.encoding).name,
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


def _used(name: str, path: Path, setting: Setting) -> int | None:
    """Return the bytes that chunking took; ``None`` when the contender failed."""
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
    """Run the measured process: print the peak before and after, in bytes."""
    name, path, budget, encoding = arguments
    text = Path(path).read_bytes().decode()
    contender = named(name, int(budget), encoding)
    warm_up([contender])
    chunk = contender.make().chunk
    before = peak_bytes()
    chunks = chunk(text)
    after = peak_bytes()
    del chunks
    print(json.dumps([before, after]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
