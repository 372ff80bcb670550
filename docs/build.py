"""Build the manual as a site in site/: `python docs/build.py`.

Needs `pip install --group docs`, and no network. Fails on any warning or dead link. Links from the manual
to files of the repository become plain text, as the site does not have these files.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)\s]+\)")


def _make_relative(page: Path) -> None:
    """Make the links of a page in the root of the site relative, so that the site may be in a folder."""
    text = re.sub(r'\b((?:href|src)=")/(?!/)', r"\1", page.read_text("utf-8"))
    page.write_text(text.replace('"base":"/"', '"base":"."'), "utf-8")


def main() -> int:
    """Build from a copy; return the exit code."""
    with TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "docs", copy / "docs", ignore=shutil.ignore_patterns("*.py"))
        shutil.copy(ROOT / "mkdocs.yml", copy)
        for page in (copy / "docs").glob("*.md"):
            page.write_text(_OUTSIDE.sub(r"\1", page.read_text("utf-8")), "utf-8")
        command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
        done = subprocess.run(command, cwd=copy, check=False)
        if not done.returncode:
            _make_relative(copy / "site" / "404.html")
            shutil.rmtree(ROOT / "site", ignore_errors=True)
            shutil.copytree(copy / "site", ROOT / "site")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
