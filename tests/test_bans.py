"""What no module of the package may use, as it does not mean what it seems to.

- ``str.splitlines`` ends lines at U+2028, vertical tabs and six others; Markdown does not.
- ``len(text)`` is a number of characters, never of bytes.
- ``open``, ``read_text`` and ``write_text`` guess an encoding and translate line ends. Without
  both said they change a text; ``read_text`` cannot be told of line ends before Python 3.13.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import chunkast

PACKAGE = Path(chunkast.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
TEXT_KEYWORDS = frozenset({"encoding", "newline"})
OPENERS = frozenset({"open", "fdopen", "TextIOWrapper", "NamedTemporaryFile", "TemporaryFile"})
# What opens no file.
OTHER_OPENS = frozenset({("os", "open"), ("webbrowser", "open")})
BYTES_NAMES = ("bytes", "byte", "data", "raw", "encoded", "utf8", "buffer")


def called(node: ast.Call) -> str:
    """The last part of the name of what is called."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def owner(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return function.value.id
    return ""


def modes(node: ast.Call) -> list[str]:
    """The constants among the arguments that may be a mode."""
    given = [*node.args[:2], *(word.value for word in node.keywords if word.arg == "mode")]
    found = [part.value for part in given if isinstance(part, ast.Constant)]
    return [value for value in found if isinstance(value, str) and set(value) <= set("rwxabt+")]


def opens_text(node: ast.Call) -> bool:
    """Whether a call opens a text without its encoding and its line ends being said."""
    name = called(node)
    if name not in OPENERS or (owner(node), name) in OTHER_OPENS:
        return False
    given = {word.arg for word in node.keywords}
    if given >= TEXT_KEYWORDS or any("b" in mode for mode in modes(node)):
        return False
    if name in ("NamedTemporaryFile", "TemporaryFile"):
        return bool(modes(node))  # they are binary unless told otherwise
    if isinstance(node.func, ast.Attribute) and name == "open":
        # Others have a method of that name too: those given neither a mode nor nothing at all.
        values = [*node.args, *(word.value for word in node.keywords)]
        return not values or bool(modes(node)) or bool(given & {"mode", "encoding", "newline"})
    return True


def names(node: ast.AST) -> Iterator[str]:
    """The name that a value is kept under."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Tuple):
        for part in node.elts:
            yield from names(part)


def is_bytes(node: ast.expr) -> bool:
    """Whether the code says of an expression that it is bytes."""
    if isinstance(node, ast.Call):
        return "encode" in called(node) or "bytes" in called(node)
    if isinstance(node, ast.Subscript):
        return is_bytes(node.value)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bytes)
    return any(part in name.lower() for name in names(node) for part in BYTES_NAMES)


def lengths(node: ast.AST) -> Iterator[ast.Call]:
    """The calls of ``len`` whose value is the expression's, or a part of its sum."""
    if isinstance(node, ast.Call) and called(node) == "len":
        yield node
    elif isinstance(node, ast.BinOp):
        yield from lengths(node.left)
        yield from lengths(node.right)
    elif isinstance(node, ast.IfExp):
        yield from lengths(node.body)
        yield from lengths(node.orelse)


def counts_bytes(name: str) -> bool:
    return "byte" in name.lower()


def byte_values(node: ast.AST) -> Iterator[ast.AST]:
    """The expressions that become, or are compared with, a number of bytes."""
    if isinstance(node, ast.Assign):
        if any(counts_bytes(name) for target in node.targets for name in names(target)):
            yield node.value
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        if node.value is not None and any(map(counts_bytes, names(node.target))):
            yield node.value
    elif isinstance(node, ast.keyword):
        if node.arg is not None and counts_bytes(node.arg):
            yield node.value
    elif isinstance(node, ast.Compare | ast.BinOp):
        parts = [node.left, *(node.comparators if isinstance(node, ast.Compare) else [node.right])]
        if any(counts_bytes(name) for part in parts for name in names(part)):
            yield from parts
    elif isinstance(node, ast.FunctionDef) and counts_bytes(node.name):
        for inner in ast.walk(node):
            if isinstance(inner, ast.Return) and inner.value is not None:
                yield inner.value


def faults(code: str) -> list[str]:
    """What a module uses that it may not, each with its line."""
    found: set[tuple[int, str]] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute) and node.attr == "splitlines":
            found.add((node.lineno, "splitlines"))
        if isinstance(node, ast.Call):
            is_method = isinstance(node.func, ast.Attribute)
            if is_method and called(node) in ("read_text", "write_text"):
                found.add((node.lineno, called(node)))
            if opens_text(node):
                found.add((node.lineno, called(node)))
        for value in byte_values(node):
            for length in lengths(value):
                if not is_bytes(length.args[0]):
                    found.add((length.lineno, "len as bytes"))
    return [f"{line}: {what}" for line, what in sorted(found)]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_nothing_banned_is_used(path: Path) -> None:
    assert faults(path.read_bytes().decode("utf-8")) == []


@pytest.mark.parametrize(
    "code",
    [
        "text.splitlines()",
        "text[a:b].splitlines(keepends=True)[0]",
        "lines = map(str.splitlines, texts)",
        "open(path)",
        "open(path, 'w')",
        "open(path, encoding='utf-8')",
        "io.open(path, 'r', newline='')",
        "Path(path).open()",
        "path.open('w', encoding='utf-8')",
        "path.open(mode='a', newline='')",
        "path.read_text()",
        "path.read_text(encoding='utf-8')",
        "path.write_text(text, encoding='utf-8')",
        "os.fdopen(number, 'w')",
        "io.TextIOWrapper(raw)",
        "tempfile.NamedTemporaryFile('w')",
        "end_byte = len(text)",
        "self.bytes = start + len(self.text[a:b])",
        "total_bytes += len(text)",
        "size_in_bytes: int = len(text)",
        "emit(end_byte=start_byte + len(text))",
        "if len(text) > MAX_BYTES: pass",
        "end = start_byte + len(text)",
        "def byte_size(text):\n    return len(text) if text else 0",
    ],
)
def test_what_is_banned_is_found(code: str) -> None:
    assert len(faults(code)) == 1


@pytest.mark.parametrize(
    "code",
    [
        "text.split('\\n')",
        "open(path, 'rb')",
        "open(path, encoding='utf-8', newline='')",
        "path.open('xb')",
        "path.open('w', encoding='utf-8', newline='\\n')",
        "path.read_bytes().decode('utf-8')",
        "path.write_bytes(data)",
        "write_text(chunks, out)",
        "os.fdopen(number, 'wb', closefd=False)",
        "os.open(os.devnull, os.O_WRONLY)",
        "webbrowser.open(address)",
        "elements.open(name, 0)",
        "tempfile.NamedTemporaryFile()",
        "end_byte = len(encode(text))",
        "end_byte += len(text[a:b].encode())",
        "if len(data) > MAX_BYTES: pass",
        "end = len(text)",
        "at_byte(len(text))",
    ],
)
def test_what_is_allowed_is_left_alone(code: str) -> None:
    assert faults(code) == []
