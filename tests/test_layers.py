"""Imports point one way: a module knows nothing of the modules above it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import chunkast
from tests.command import environment, write

ROOT = Path(chunkast.__file__).parent
# From the lowest room to the highest; a module belongs to the first that fits its name.
ORDER = [
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
    "analysis",
    "cutting",
    "reading",
    "sources",
    "notebook",
    "files",
    "chunker",
    "index",
    "stores",
    "output",
    "view",
    "testing",
    "snapshot",
    "adapters",
    "mcp",
    "cli",
    "__main__",
]
MODULES = sorted(ROOT.rglob("*.py"))
OPENERS = ("open", "fdopen", "os.fdopen", "TextIOWrapper", "io.TextIOWrapper")
# The package itself may name what it offers.
ANYTHING = "__init__"


def room(module: str) -> str:
    """The room of ``chunkast.<room>[.<module>]``."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ANYTHING


@cache
def source(path: Path) -> str:
    return path.read_text("utf-8")


@cache
def imports(path: Path) -> list[str]:
    """Every chunkast module that a file imports, inside functions and for typing as well."""
    assert not re.search(r"^\s*from \.", source(path), re.MULTILINE), f"{path}: a relative import"
    return re.findall(r"^ *(?:from|import) (chunkast[\w.]*)", source(path), re.MULTILINE)


def test_imports_point_down() -> None:
    for path in MODULES:
        own = path.relative_to(ROOT).with_suffix("").parts[0]
        if own == ANYTHING:
            continue
        assert own in ORDER, f"{own} has no place in the order yet"
        for module in imports(path):
            target = room(module)
            if target == ANYTHING:
                # "from chunkast import __version__" and the like: the façade's own facts.
                assert own in ("identity", "cli", "mcp", "output", "view", "__main__"), path
            else:
                assert ORDER.index(target) <= ORDER.index(own), f"{path} imports {module}"


def test_only_the_markdown_room_knows_the_parser() -> None:
    for path in MODULES:
        if path.relative_to(ROOT).parts[0] != "markdown":
            assert not re.search("(import|from) markdown_it", source(path)), path


def test_cutting_asks_the_analysis() -> None:
    below = {"errors", "model", "options", "scores", "config", "text", "tokens", "identity"}
    for path in ROOT.joinpath("cutting").rglob("*.py"):
        rooms = {room(module) for module in imports(path)}
        assert rooms <= {*below, "analysis", "cutting"}, path
        # Only types, and what the analysis exports.
        assert not [name for name in imports(path) if name.startswith("chunkast.analysis.")], path


def test_no_two_modules_share_a_name() -> None:
    names = [path.name for path in MODULES if not path.name.startswith("__")]
    assert sorted(names) == sorted(set(names))


def banned(call: ast.AST) -> bool:
    """Whether code uses what does not mean what it seems to.

    ``splitlines`` ends lines at U+2028 and others; Markdown does not. ``read_text`` and
    ``write_text`` translate line endings, as does ``open`` of a text without ``newline``.
    """
    if isinstance(call, ast.Attribute):
        return call.attr in ("splitlines", "read_text", "write_text")
    if not isinstance(call, ast.Call) or ast.unparse(call.func) not in OPENERS:
        return False
    modes = {ast.unparse(value) for value in call.args[1:2]}
    given = {word.arg for word in call.keywords}
    return not given >= {"encoding", "newline"} and not any("b" in mode for mode in modes)


def test_texts_are_read_with_their_line_ends() -> None:
    for path in MODULES:
        if re.search(r"splitlines|(read|write)_text|(open|Wrapper)\(", source(path)):
            tree = ast.parse(source(path))
            found = [ast.unparse(node) for node in ast.walk(tree) if banned(node)]
            assert found == [], path


HEAVY = {"tiktoken", "markdown_it", "mdit_py_plugins", "sentencex", "regex", "rich", "requests"}
# The steps of a program, and modules that are not loaded after each.
STEPS = {
    "import chunkast.testing.plugin": HEAVY,
    "from chunkast import ChunkConfig": HEAVY,
    "from chunkast.cli.main import main": HEAVY,
    "main(['--help'])": HEAVY,
    "main(['toolcalls', '--help'])": HEAVY,
    "main(['chunk', '--bad'])": HEAVY,
    "chunkast.chunk('# A\\n\\nshort', overlap=0)": {"sentencex", "rich", "sqlite3"},
    "main(['chunk', '.'])": {"rich"},
}


def test_modules_are_loaded_when_they_are_needed(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "a\n", "b.md": "b\n"})
    code = "".join(f"{step}\nprint('loaded', *sys.modules)\n" for step in STEPS)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("loaded ")]
    loaded = [{*line.split()} for line in lines]
    for (step, others), modules in zip(STEPS.items(), loaded, strict=True):
        assert not others & modules, step
    # pytest imports the plugin in every run of it.
    [entry] = [each for each in entry_points(group="pytest11") if each.name == "chunkast"]
    plugin = {"chunkast", "chunkast.testing", entry.value}
    assert {name for name in loaded[0] if name.startswith("chunkast")} == plugin
    assert "tiktoken" in loaded[-1]
