"""What the README shows in Python runs as it stands, from the first block to the last."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.test_cli import environment

README = Path(__file__).parents[1] / "README.md"


def test_the_python_of_the_readme_runs(tmp_path: Path) -> None:
    text = README.read_text("utf-8")
    (tmp_path / "README.md").write_text(text, "utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(blocks)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
