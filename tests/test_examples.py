"""The recipes in ``examples/`` that need nothing but chunkast run and print what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import environment

EXAMPLES = Path(__file__).parents[1] / "examples"
PRINTED = {
    "agent_transcript": ("session-7.md:1-8 Turn 1\n", "search {'query': '# Refunds', 'limit': 3}"),
    "changed_chunks": (
        ": 0 to embed, 0 vectors taken over, 0 moved, 0 removed\n",
        ": 1 to embed, ",
    ),
    "tune_budget": (" 128 tokens:", " 512 tokens:"),
    "verify_citations": ("'an **exact token budget**'", "NOT FOUND  'a budget that"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PRINTED)
def test_a_recipe_runs(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / f"{name}.py"],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    for line in PRINTED[name]:
        assert line in done.stdout
