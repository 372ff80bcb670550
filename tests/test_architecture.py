"""The architecture page: its rooms are there, its words are those of the names in the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import chunkast
from tests.test_layers import ORDER

ROOT = Path(chunkast.__file__).parent
PAGE = (ROOT.parent / "ARCHITECTURE.md").read_text("utf-8")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def rows(title: str) -> list[list[str]]:
    """The cells of the table below the heading, without its head."""
    section = PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]
    table = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]


def public_names(path: Path) -> Iterator[str]:
    """The name of a module, and the public names of its classes, their members, its functions."""
    yield from path.relative_to(ROOT).with_suffix("").parts
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
            yield node.name
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    yield member.name
                elif isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
                    yield member.target.id


def words(name: str) -> str:
    """The words of a name or term, each in the singular, roughly: enough to find "leaves"."""
    found = (re.sub(r"ves$", "f", word.lower()).removesuffix("s") for word in _WORDS.findall(name))
    return f" {' '.join(found)} "


NAMES = [name for path in ROOT.rglob("*.py") for name in public_names(path)]
KNOWN = {words(name) for name in NAMES if not name.startswith("_")}
GLOSSARY = rows("Glossary")


def test_the_words_of_the_glossary_are_in_order_and_once() -> None:
    terms = [term for term, _ in GLOSSARY]
    assert len(terms) > 20
    assert terms == sorted(set(terms))


@pytest.mark.parametrize("term", [term for term, _ in GLOSSARY])
def test_a_word_of_the_glossary_is_one_of_the_code(term: str) -> None:
    assert any(words(term) in known for known in KNOWN)


@pytest.mark.parametrize("term", ["draughtboard", "point break", "unit region"])
def test_a_word_that_is_nowhere_is_noticed(term: str) -> None:
    assert not any(words(term) in known for known in KNOWN)


@pytest.mark.skipif(not (ROOT / "engine").exists(), reason="the page is about chunkast/engine")
def test_every_room_has_a_row_in_the_order_of_imports() -> None:
    rooms = [where.strip("`") for where, _ in rows("The rooms")]
    found = {f"{path.name}/" for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    found |= {path.name for path in ROOT.glob("*.py") if path.name != "__init__.py"}
    assert set(rooms) == found
    names = [room.removesuffix("/").removesuffix(".py") for room in rooms]
    assert names == sorted(names, key=ORDER.index)


def test_files_that_are_named_are_there() -> None:
    named = re.findall(r"`((?:chunkast|tests|fixtures)/[\w/.]+)`", PAGE)
    assert len(named) > 8
    for name in named:
        assert (ROOT.parent / name).exists(), name
