"""What a contributor is told to run is there: hooks, commands, files."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.bench.__main__ import BENCHES

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "CONTRIBUTING.md"


def commands() -> list[list[str]]:
    """Every command line of the guide, its words."""
    text = GUIDE.read_text("utf-8")
    scripts = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = "".join(scripts).replace(" && ", "\n").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def test_hooks_are_the_checks_that_have_to_pass() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"]]
    for repo in config["repos"]:
        assert repo["repo"] == "local"
    for hook in hooks:
        assert hook.keys() >= {"id", "name", "entry", "language"}
        assert hook["language"] == "system"
    entries = [shlex.split(hook["entry"])[:2] for hook in hooks]
    assert entries == [["ruff", "check"], ["ruff", "format"], ["mypy"]]
    script = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert {"ruff check .", "ruff format --check .", "mypy"} <= set(script)
    pinned = (ROOT / "pyproject.toml").read_text("utf-8")
    for program in ("ruff", "mypy"):
        assert re.search(rf'"{program}==[\d.]+"', pinned)


def test_files_and_benchmarks_of_the_guide_are_there() -> None:
    named = [word.split("::")[0] for words in commands() for word in words]
    files = [word for word in named if re.fullmatch(r"(?:tests|fixtures|\.ci)/\S*", word)]
    assert len(files) >= 5
    for name in files:
        assert (ROOT / name).exists(), name
    benches = [words[3:] for words in commands() if words[:3] == ["python", "-m", "tests.bench"]]
    assert benches
    for words in benches:
        assert all(word.startswith("--") or word in BENCHES for word in words), words


def test_the_extras_that_are_installed_are_there() -> None:
    pyproject = (ROOT / "pyproject.toml").read_text("utf-8")
    extras = re.findall(r"'\.\[([a-z,-]+)\]'", GUIDE.read_text("utf-8"))
    assert extras
    for name in ",".join(extras).split(","):
        assert re.search(rf"^{name} = \[", pyproject, re.MULTILINE), name
