"""The examples in docstrings are run as they are written."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import chunkast

_FOLDER = Path(chunkast.__file__).parent
_MODULES = [
    ".".join(path.relative_to(_FOLDER.parent).with_suffix("").parts)
    for path in sorted(_FOLDER.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", _MODULES)
def test_examples_in_docstrings_give_what_they_show(name: str) -> None:
    failed, run = doctest.testmod(import_module(name))
    assert run
    assert not failed


def test_what_is_called_most_has_an_example() -> None:
    public = ("Block", "Chunk", "Heading", "best_cut", "chunk_id", "locate_quote", "plan_writes")
    without = [name for name in public if ">>> " not in (getattr(chunkast, name).__doc__ or "")]
    assert not without
