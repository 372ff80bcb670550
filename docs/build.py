"""Build the manual as a site in site/: `python docs/build.py`.

Needs `pip install '.[docs]'`, and no network. Fails on any warning or dead link. Links from the manual
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
_DOCSTRING = re.compile(r'^ *r?"""(?:.*?)"""', re.MULTILINE | re.DOTALL)
# "name: text" in a docstring, with its further lines indented.
_FIELD = re.compile(r"(?<=\n)( +)((?:[a-z]\w*, )*[a-z]\w*): (?=\S)")
# From a line with a prompt to the next blank line.
_DOCTEST = re.compile(r"(?m)^( +)>>> .*(?:\n\1(?!\"\"\").+)*")
_ROLE = re.compile(r":[a-z]+:(?=`)")


def _as_markdown(docstring: re.Match[str]) -> str:
    """Make a list of the fields in a docstring, and code of its references."""
    listed = _FIELD.sub(r"\1- **\2**: ", docstring[0])
    # A list needs a blank line before it.
    listed = re.sub(r"(\n *[^-\s][^\n]*)(\n +- \*\*)", r"\1\n\2", listed)
    fenced = _DOCTEST.sub(lambda found: f"{found[1]}```pycon\n{found[0]}\n{found[1]}```", listed)
    return _ROLE.sub("", fenced)


def main() -> int:
    """Build from a copy; return the exit code."""
    with TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "docs", copy / "docs", ignore=shutil.ignore_patterns("*.py"))
        shutil.copytree(ROOT / "chunkast", copy / "chunkast")
        shutil.copy(ROOT / "mkdocs.yml", copy)
        for page in (copy / "docs").glob("*.md"):
            page.write_text(_OUTSIDE.sub(r"\1", page.read_text("utf-8")), "utf-8")
        for module in (copy / "chunkast").rglob("*.py"):
            module.write_text(
                _DOCSTRING.sub(_as_markdown, module.read_text("utf-8")), encoding="utf-8"
            )
        command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
        done = subprocess.run(command, cwd=copy, check=False)
        if not done.returncode:
            shutil.rmtree(ROOT / "site", ignore_errors=True)
            shutil.copytree(copy / "site", ROOT / "site")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
