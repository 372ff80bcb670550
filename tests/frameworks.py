"""Documents for the tests of adapters and engines, and the programs in ``examples/``."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

from tests.command import environment

__all__ = ("DOCUMENTS", "QUIET", "ROOT", "run_example")

ROOT = Path(__file__).parents[1]
DOCUMENTS = {
    path.name: path.read_bytes().decode("utf-8")
    for path in sorted((ROOT / "fixtures" / "documents").iterdir())
    if path.suffix != ".ipynb"  # positions are those of its cells
}
# No telemetry; and what would download something finds nobody at the other end.
QUIET = {
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "localhost,127.0.0.1",
    "PYSPARK_PYTHON": sys.executable,
    # Ray would write one to the home directory.
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    "RAY_USAGE_STATS_ENABLED": "0",
    "SPARK_LOCAL_IP": "127.0.0.1",
}
os.environ.update({name: value for name, value in QUIET.items() if "PROXY" not in name})


def run_example(name: str, *arguments: str) -> str:
    """What a program of ``examples/`` prints."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name), *arguments],
        env=environment(QUIET),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
