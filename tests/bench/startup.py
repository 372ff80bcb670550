"""Start-up times: the command, and the imports of chunkast and of its peers."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

from tests.bench.contenders import PEER_MODULES
from tests.bench.tables import Setting, Table

__all__ = ("KEY", "run")

KEY = "startup"
ROOT = Path(__file__).parents[2]
BARE = "python -c pass"


def run(setting: Setting) -> Iterator[Table]:
    """Yield one table: milliseconds of wall time, each run in a process of its own, in turns."""
    commands = {BARE: _python("pass"), "python -c 'import chunkast'": _python("import chunkast")}
    script = Path(sysconfig.get_path("scripts"), "chunkast")
    start = [str(script)] if script.exists() else [sys.executable, "-m", "chunkast"]
    commands["chunkast --help"] = [*start, "--help"]
    commands["chunkast chunk README.md"] = [*start, "chunk", "README.md"]
    for distribution, module in PEER_MODULES.items():
        try:
            name = f"python -c 'import {module}' ({version(distribution)})"
        except PackageNotFoundError:
            continue
        commands[name] = _python(f"import {module}")
    runs = 1 if setting.smoke else 15
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for command in commands.values():
        _milliseconds(command)  # byte code is written, files are read once
    for _ in range(runs):
        for name, command in commands.items():
            taken[name].append(_milliseconds(command))
    bare = median(taken[BARE])
    yield Table(
        KEY,
        "Start-up and import",
        f"Milliseconds on the wall of a process, {runs} in turns, after one that is not counted.",
        (("", ""), ("median", ",.0f"), ("fastest", ",.0f"), ("beyond bare", ",.0f")),
        tuple(
            (name, median(times), min(times), median(times) - bare) for name, times in taken.items()
        ),
    )


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def _milliseconds(command: list[str]) -> float:
    started = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, check=False)
    taken = (time.perf_counter() - started) * 1e3
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr.decode(errors='replace')}")
    return taken
