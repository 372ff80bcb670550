"""Imports point one way: a module knows nothing of the modules above it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import chunkast
from chunkast.config import EXTENSIONS
from chunkast.markdown import CONSTRUCTS
from chunkast.markdown.dialects import DIALECTS

ROOT = Path(chunkast.__file__).parent
# From the lowest room to the highest; a module belongs to the first that fits its name.
ORDER = (
    "errors",
    "text",
    "scores",
    "model",
    "heuristics",
    "code",
    "options",
    "toolcalls",
    "config",
    "tokens",
    "markdown",
    "identity",
    "core",
    "reading",
    "sources",
    "notebook",
    "files",
    "chunker",
    "index",
    "output",
    "view",
    "testing",
    "snapshot",
    "adapters",
    "mcp",
    "cli",
    "__main__",
)
# The modules that compare a block's kind with one by name, and why.
ASKS_FOR_KINDS = {
    "markdown/dialects/tags.py": "divides leaves of text and HTML, of which it is a reading",
    "markdown/dialects/html_blocks.py": "pairs leaves of HTML, of which it is a reading",
    "markdown/dialects/html_headings.py": "relabels leaves of HTML, of which it is a reading",
    "core/analysis/headings.py": "the title of an HTML heading is HTML",
    "markdown/dialects/html_tables.py": "joins what the parser made of a table",
    "markdown/blocks.py": "the rest of an HTML block beside a tag is text",
    "markdown/tree.py": "an alert's type is on its first line",
    "core/analysis/tool_calls.py": "a masked call is HTML to the parser",
}
# The modules that ask for an extension by name: what is done before a parse, in titles, and
# where brackets close.
ASKS_FOR_EXTENSIONS = {
    "reading/sections.py": {"attributes"},
    "config.py": {"dialects"},
    "markdown/parser.py": {"front_matter"},
    "markdown/inline.py": {"footnotes"},
    "core/analysis/headings.py": {"attributes"},
    "core/analysis/markdown.py": {"page_markers"},
}
# The package itself may name what it offers.
ANYTHING = "__init__"


def room(module: str) -> str:
    """The room of ``chunkast.<room>[.<module>]``."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ANYTHING


def imports(path: Path) -> list[str]:
    """Every chunkast module that a file imports, inside functions and for typing as well."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append(node.module)
        elif isinstance(node, ast.ImportFrom):
            found.append("chunkast.relative-import-not-allowed")
        elif isinstance(node, ast.Import):
            found.extend(alias.name for alias in node.names)
    return [name for name in found if name.split(".")[0] == "chunkast"]


MODULES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_point_down(path: Path) -> None:
    own = path.relative_to(ROOT).with_suffix("").parts[0]
    if own == ANYTHING:
        return
    assert own in ORDER, f"{own} has no place in the order yet"
    for module in imports(path):
        target = room(module)
        if target == ANYTHING:
            # "from chunkast import __version__" and the like: the façade's own facts.
            assert own in ("identity", "cli", "output", "view", "__main__"), (
                f"{path} imports the package itself"
            )
            continue
        assert ORDER.index(target) <= ORDER.index(own), f"{own} imports {module}"


def test_only_the_markdown_room_knows_the_parser() -> None:
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        inside = path.relative_to(ROOT).parts[0] == "markdown"
        assert inside or ("import markdown_it" not in text and "from markdown_it" not in text), path


def test_a_construct_is_a_row() -> None:
    """How a kind is treated is read off its row: no other module asks which kind a block has."""
    asked = set()
    for path in MODULES:
        for node in comparisons(path):
            sides = [node.left, *node.comparators]
            about = {getattr(side, "attr", getattr(side, "id", "")) for side in sides}
            if about & {"kind", "named"} and strings(node) & CONSTRUCTS.keys():
                asked.add(path.relative_to(ROOT).as_posix())
    assert asked == ASKS_FOR_KINDS.keys()


def test_a_dialect_is_a_module_and_a_row() -> None:
    """What an extension changes is in its row: no other module asks whether it is on."""
    asked: dict[str, set[str]] = {}
    for path in MODULES:
        for node in comparisons(path):
            if isinstance(node.ops[0], (ast.In, ast.NotIn)) and (
                found := strings(node.left) & EXTENSIONS.keys()
            ):
                asked.setdefault(path.relative_to(ROOT).as_posix(), set()).update(found)
    assert asked == ASKS_FOR_EXTENSIONS
    rows = [dialect.extension for dialect in DIALECTS]
    elsewhere = set().union(*ASKS_FOR_EXTENSIONS.values())
    assert len(rows) == len(set(rows))
    assert set(rows) | elsewhere == EXTENSIONS.keys()


def comparisons(path: Path) -> list[ast.Compare]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Compare)]


def strings(node: ast.AST) -> set[str]:
    """The strings in an expression."""
    parts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
    return {value for value in parts if isinstance(value, str)}


def loaded_after(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after running ``code``."""
    listing = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    return set(listing.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import chunkast",
        "from chunkast import ChunkConfig, ConfigError",
        "import chunkast.cli.main",
    ],
)
def test_importing_loads_no_heavy_module(code: str) -> None:
    heavy = {"tiktoken", "markdown_it", "mdit_py_plugins", "sentencex", "regex", "rich", "requests"}
    assert not heavy & loaded_after(code)


def test_chunking_a_short_text_loads_neither_sentences_nor_rich() -> None:
    loaded = loaded_after("import chunkast; chunkast.chunk('# A\\n\\nshort', overlap=0)")
    assert "tiktoken" in loaded
    assert not {"sentencex", "rich", "sqlite3"} & loaded
