"""What the README and the pages beside it show runs as it stands, and where they point is there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from chunkast.cli.main import COMMANDS, _parser
from tests.command import environment

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *(ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md"))]
PAGES += sorted((ROOT / "docs").glob("*.md"))


def blocks(page: Path, info: str) -> list[tuple[str, str]]:
    """The fences of a page with this info string: a name for each, and what is in it."""
    text = page.read_text("utf-8")
    found = re.finditer(rf"^```{info}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [
        (f"{page.name}:{text.count(chr(10), 0, match.start()) + 1}", match[1]) for match in found
    ]


SNIPPETS = [each for page in PAGES for each in blocks(page, "python")]


def test_there_are_snippets() -> None:
    assert len(blocks(README, "python")) >= 1
    assert len(SNIPPETS) >= 10


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(code, id=name, marks=() if name.startswith("README") else pytest.mark.slow)
        for name, code in SNIPPETS
    ],
)
def test_each_snippet_runs_alone(tmp_path: Path, code: str) -> None:
    """In a process of its own: nothing of one is there for the next."""
    (tmp_path / "README.md").write_bytes(README.read_bytes())
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    # A log line is what one of them is about.
    assert [line for line in done.stderr.splitlines() if not line.startswith("INFO:chunkast")] == []


def test_the_readme_is_short() -> None:
    assert len(README.read_text("utf-8").split("\n")) <= 200


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        assert target.startswith("https://") or (page.parent / target).exists(), target


def test_the_command_lines_can_be_parsed() -> None:
    """Every option shown is one that the command has."""
    parser = _parser()
    seen = set()
    for page in PAGES:
        for _, script in blocks(page, "sh"):
            for line in script.splitlines():
                words = shlex.split(line.replace(" | ", " ; ").split("; ")[-1], comments=True)
                if words[:1] == ["chunkast"] and words[1] in COMMANDS:
                    parser.parse_args(words[1:])
                    seen.add(words[1])
    assert seen >= {"chunk", "stats", "index", "search", "quote", "view", "toolcalls"}


def test_the_test_command_is_marked_for_those_who_run_it() -> None:
    """A script reads the fence after the mark, and runs it."""
    text = README.read_text("utf-8")
    assert text.count("<!-- test command -->\n```sh\n") == 1
    script = text.split("<!-- test command -->\n```sh\n")[1].split("\n```\n")[0]
    assert script.count("\n") == 0
    assert "-m pytest -q" in script
