"""What no module of the package may use, as it does not mean what it seems to.

- ``str.splitlines`` ends lines at U+2028, vertical tabs and six others; Markdown does not.
- ``open``, ``read_text`` and ``write_text`` guess an encoding and translate line ends unless both
  are given; ``read_text`` has no ``newline`` before Python 3.13.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import chunkast

PACKAGE = Path(chunkast.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
OPENERS = frozenset({"open", "fdopen", "TextIOWrapper", "NamedTemporaryFile"})
# They open no file, or bytes.
OTHERS = frozenset({"os.open", "webbrowser.open", "tempfile.NamedTemporaryFile()"})


def banned(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute) and node.attr == "splitlines":
            yield ast.unparse(node)
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            is_method = isinstance(node.func, ast.Attribute)
            if (is_method and name in ("read_text", "write_text")) or opens_text(node, name):
                yield ast.unparse(node)


def opens_text(node: ast.Call, name: str) -> bool:
    """Whether a call opens a text without its encoding and its line ends."""
    if name not in OPENERS or {ast.unparse(node), ast.unparse(node.func)} & OTHERS:
        return False
    values = [*node.args[:2], *(word.value for word in node.keywords if word.arg == "mode")]
    constants = [part.value for part in values if isinstance(part, ast.Constant)]
    modes = [value for value in constants if isinstance(value, str) and set(value) <= set("rwxab+")]
    if any("b" in mode for mode in modes):
        return False
    given = {word.arg for word in node.keywords}
    # Other objects have a method "open" too, which takes other arguments.
    is_other = "." in ast.unparse(node.func) and name == "open" and node.args and not modes
    return not is_other and not given >= {"encoding", "newline"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_nothing_banned_is_used(path: Path) -> None:
    assert list(banned(path.read_bytes().decode("utf-8"))) == []
