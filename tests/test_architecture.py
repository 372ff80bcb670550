"""The architecture page: its rooms are there, its words are those of the names in the code."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from inspect import CO_GENERATOR
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import pytest

import chunkast
from tests.test_layers import ORDER, room

ROOT = Path(chunkast.__file__).parent
PAGE = (ROOT.parent / "ARCHITECTURE.md").read_text("utf-8")
T = TypeVar("T")
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


class Calls:
    """The calls that are made of functions of the package, in order, each with its callers."""

    def __init__(self) -> None:
        # Frames are kept, so that a generator that goes on is not a call.
        self.frames: dict[FrameType, list[str]] = {}

    def during(self, action: Callable[[], T]) -> T:
        """Record the calls that an action makes."""
        sys.setprofile(self._called)
        try:
            return action()
        finally:
            sys.setprofile(None)

    def _called(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame not in self.frames and called(frame).startswith("chunkast."):
            self.frames[frame] = [called(each) for each in callers(frame)]

    def between_rooms(self) -> set[tuple[str, str]]:
        """Caller and callee where they are in different rooms; no generators."""
        return {
            (room(names[0]), room(called(frame)))
            for frame, names in self.frames.items()
            if names and not frame.f_code.co_flags & CO_GENERATOR
        }


def callers(frame: FrameType) -> Iterator[FrameType]:
    """The frames of the package's functions that led to this one, the nearest first."""
    back = frame.f_back
    while back is not None:
        if called(back).startswith("chunkast."):
            yield back
        back = back.f_back


def called(frame: FrameType) -> str:
    """A function's module and name; a class where that is made."""
    name = frame.f_code.co_name
    if name == "__init__":
        name = type(frame.f_locals["self"]).__name__
    return f"{frame.f_globals.get('__name__', '')}.{name}"


def listed_calls() -> list[tuple[str, str]]:
    """The calls that the page lists, each after the one that makes it."""
    (block,) = re.findall(r"^```text\n(chunker\.chunk\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    found, above = [], [""]
    for line in block.splitlines():
        name = line.strip()
        del above[1 + (len(line) - len(name)) // 2 :]
        found.append((above[-1], name))
        above.append(name)
    return found


@pytest.mark.parametrize("options", [{"max_tokens": 128}, {"packing": "fill", "overlap": 0}])
def test_a_run_makes_the_calls_of_the_page(options: dict[str, Any]) -> None:
    text = (ROOT.parent / "fixtures/documents/tutorial.md").read_text("utf-8")
    chunker = chunkast.Chunker(**options)
    calls = Calls()
    assert len(calls.during(lambda: chunker.chunk(text, "guide.md"))) > 1
    names = {name for _, name in listed_calls()}
    made = []
    for frame, above in calls.frames.items():
        if (name := called(frame).removeprefix("chunkast.")) in names:
            known = (each.removeprefix("chunkast.") for each in above)
            made.append((next((each for each in known if each in names), ""), name))
    assert made == listed_calls()
    up = {(a, b) for a, b in calls.between_rooms() if ORDER.index(a) < ORDER.index(b)}
    assert up == {("heuristics", "analysis")}


def test_files_that_are_named_are_there() -> None:
    named = re.findall(r"`((?:chunkast|tests|fixtures)/[\w/.]+)`", PAGE)
    assert len(named) > 8
    for name in named:
        assert (ROOT.parent / name).exists(), name
