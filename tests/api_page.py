"""The page of the API, from the docstrings of every public name; nothing is imported for it."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

__all__ = ("PUBLIC", "api_page", "documented")

_ROOT = Path(__file__).parents[1]
# The public modules, in the order of the page.
PUBLIC = (
    "chunkast",
    "chunkast.options",
    "chunkast.scores",
    "chunkast.reading",
    "chunkast.index",
    "chunkast.stores",
    "chunkast.testing.contract",
    "chunkast.heuristics",
    "chunkast.toolcalls",
    "chunkast.notebook",
    "chunkast.snapshot",
    "chunkast.snapshot.assertions",
    "chunkast.testing.fixture",
    "chunkast.view",
    "chunkast.mcp",
    "chunkast.adapters.arrow",
    "chunkast.adapters.langchain",
    "chunkast.adapters.llama_index",
    "chunkast.adapters.haystack",
)
_HEAD = """\
# API

Every public name, with its signature, its parameters, and the errors that it raises. This page is generated from the
docstrings. All numbers of tokens are counted by the chunker's tokenizer; positions are numbers of characters (code
points) from 0, and their ends are exclusive; lines count from 1. Errors are subclasses of
[`ChunkastError`](#class-chunkasterror).
"""
_WIDTH = 96
_LONGEST_VALUE = 8
_PROPERTIES = ("property", "cached_property")
_KEPT = ("classmethod", "staticmethod", "asynccontextmanager", "contextmanager")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class _Definition(NamedTuple):
    """Where a name is defined: a statement of a module; further ones are overloads."""

    module: str
    nodes: tuple[ast.stmt, ...]


def _path(module: str) -> Path:
    path = _ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _source(module: str) -> str:
    return _path(module).read_text("utf-8")


@cache
def _statements(module: str) -> tuple[ast.stmt, ...]:
    """Return the statements of a module, including those of ``if`` and ``try``."""

    def inside(nodes: list[ast.stmt]) -> Iterator[ast.stmt]:
        for node in nodes:
            yield node
            if isinstance(node, (ast.If, ast.Try)):
                yield from inside(node.body)
                yield from inside(node.orelse)

    return tuple(inside(ast.parse(_source(module)).body))


def _names(node: ast.stmt) -> list[str]:
    """Return the names that a statement defines."""
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return [node.name]
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        targets = [node.target]
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _value_of(node: ast.stmt) -> ast.expr:
    """Return the value that a statement assigns; ``...`` if it assigns none."""
    value = getattr(node, "value", None)
    return value if isinstance(value, ast.expr) else ast.Constant(value=...)


def public_names(module: str) -> list[str]:
    """Return the names in ``__all__`` of a module."""
    found: list[str] = []
    for node in _statements(module):
        if "__all__" in _names(node):
            found += ast.literal_eval(_value_of(node))
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            found += public_names(node.module or "")
    return found


def _definition(module: str, name: str) -> _Definition | None:
    """Return the definition of a name, which may be imported from another module."""
    nodes = [node for node in _statements(module) if name in _names(node)]
    if nodes:
        overloads = [node for node in nodes if _is_decorated(node, "overload")]
        return _Definition(module, (nodes[-1], *overloads))
    for node in _statements(module):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            ("chunkast", "haystack_integrations")
        ):
            for alias in node.names:
                if alias.name == "*" or (alias.asname or alias.name) == name:
                    wanted = name if alias.name == "*" else alias.name
                    if found := _definition(node.module or "", wanted):
                        return found
    return None


def _is_decorated(node: ast.stmt, *names: str) -> bool:
    decorators = getattr(node, "decorator_list", [])
    return any(ast.unparse(each).split("(")[0].split(".")[-1] in names for each in decorators)


# Signatures


def _laid_out(head: str, parameters: list[str], tail: str) -> str:
    line = f"{head}({', '.join(parameters)}){tail}"
    if len(line) <= _WIDTH:
        return line
    return f"{head}(\n" + "".join(f"    {each},\n" for each in parameters) + f"){tail}"


def _value(module: str, node: ast.expr) -> str:
    """Return a default as it is written, or the value of the constant that it names."""
    if isinstance(node, ast.Name) and (found := _definition(module, node.id)):
        try:
            value = ast.literal_eval(_value_of(found.nodes[0]))
        except ValueError:
            return node.id
        return node.id if value is ... else repr(value)
    # Python 3.10 writes a space.
    return ast.unparse(node).replace("lambda :", "lambda:")


def _parameters(module: str, node: _Function, *, bound: bool) -> list[str]:
    arguments = node.args
    ordered = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(ordered) - len(arguments.defaults)) + [*arguments.defaults]
    pairs = zip(ordered, defaults, strict=True)
    shown = [_parameter(module, each, default) for each, default in pairs]
    if arguments.posonlyargs:
        shown.insert(len(arguments.posonlyargs), "/")
    if arguments.vararg:
        shown.append(f"*{ast.unparse(arguments.vararg)}")
    elif arguments.kwonlyargs:
        shown.append("*")
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    shown += [_parameter(module, each, default) for each, default in pairs]
    if arguments.kwarg:
        shown.append(f"**{ast.unparse(arguments.kwarg)}")
    return shown[1:] if bound else shown


def _parameter(module: str, argument: ast.arg, default: ast.expr | None) -> str:
    if default is None:
        return ast.unparse(argument)
    equals = " = " if argument.annotation else "="
    return f"{ast.unparse(argument)}{equals}{_value(module, default)}"


def _signature(module: str, node: _Function, *, bound: bool) -> str:
    name = node.name
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    head = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    if _is_decorated(node, *_PROPERTIES):
        return f"{name}: {ast.unparse(node.returns) if node.returns else 'Any'}"
    mark = next((f"@{each}\n" for each in _KEPT if _is_decorated(node, each)), "")
    bound = bound and mark != "@staticmethod\n"
    return mark + _laid_out(f"{head} {name}", _parameters(module, node, bound=bound), returned)


def _fields(module: str, node: ast.ClassDef) -> list[str]:
    """Return the annotated fields of a class, as parameters."""
    shown = []
    for each in node.body:
        if not isinstance(each, ast.AnnAssign) or not isinstance(each.target, ast.Name):
            continue
        annotation, value = ast.unparse(each.annotation), each.value
        if each.target.id.startswith("_") or annotation.startswith("ClassVar"):
            continue
        default = "" if value is None else f" = {_value(module, value)}"
        if isinstance(value, ast.Call) and ast.unparse(value.func) in ("field", "Field"):
            words = {word.arg: word.value for word in value.keywords}
            if ast.unparse(words.get("init", ast.Constant(value=True))) == "False":
                continue
            given = words.get("default") or words.get("default_factory")
            default = ""
            if given:
                made = {"dict": "{}", "list": "[]"}.get(ast.unparse(given), "...")
                default = f" = {made if 'default_factory' in words else ast.unparse(given)}"
        shown.append(f"{each.target.id}: {annotation}{default}")
    return shown


def _class_signature(module: str, node: ast.ClassDef, init: _Function | None) -> str:
    bases = [ast.unparse(base) for base in node.bases]
    if "TypedDict" in bases:
        rows = "".join(f"\n    {each}" for each in _fields(module, node))
        return f"class {node.name}(TypedDict, total=False):{rows}"
    if "Protocol" in bases or (init is None and not _fields(module, node)):
        return f"class {node.name}" + (f"({', '.join(bases)})" if bases else "")
    parameters = _parameters(module, init, bound=True) if init else _fields(module, node)
    if any("kw_only=True" in ast.unparse(each) for each in node.decorator_list):
        parameters.insert(0, "*")
    return _laid_out(f"class {node.name}", parameters, "")


# Docstrings

_FIELD = re.compile(r"((?:[a-z]\w*, )*[a-z]\w*): (?=\S)")
_ROLE = re.compile(r":[a-z]+:(?=`)")
_QUOTED = re.compile(r"(?<!`)``([^`\n]+(?:\n[^`\n]+)?)``(?!`)")


def _described(docstring: str) -> str:
    """Return a docstring as Markdown: its fields as a list, its doctests as code."""
    lines: list[str] = []
    fenced = listed = False
    # The first line is a sentence, also if it has a colon.
    first, _, rest = docstring.partition("\n")
    lines.append(first)
    for line in [*rest.splitlines(), ""]:
        prompted = line.lstrip().startswith(">>> ")
        if prompted and not fenced:
            lines += ["```pycon"]
            fenced = True
        elif fenced and not line.strip():
            lines += ["```"]
            fenced = False
        if fenced:
            lines.append(line)
        elif (listed or not lines[-1].strip()) and (found := _FIELD.match(line)):
            names = ", ".join(f"`{name}`" for name in found[1].split(", "))
            lines.append(f"- {names}: {line[found.end() :]}")
            listed = True
        elif listed and line.startswith("    "):
            lines.append(f"  {line.strip()}")
        else:
            listed = listed and not line.strip()
            lines.append(line)
    # Code in one line or two.
    return _QUOTED.sub(r"`\1`", _ROLE.sub("", "\n".join(lines).rstrip()))


def _comment_above(module: str, node: ast.stmt) -> str:
    """Return the comment right above a statement."""
    lines = _source(module).splitlines()[: node.lineno - 1]
    found: list[str] = []
    while lines and lines[-1].startswith("#"):
        found.insert(0, lines.pop().lstrip("# "))
    return "\n".join(found)


# Entries


def _entry(module: str, name: str) -> Iterator[str]:
    """Yield the parts of a name's entry."""
    found = _definition(module, name)
    if found is None:
        raise LookupError(f"{module}.{name} is not defined in the repository")
    node = found.nodes[0]
    yield f"### {_heading(node, name)}"
    if module != "chunkast" and name in public_names("chunkast"):
        yield f"The same as `chunkast.{name}`: see [above](#{_slug(_heading(node, name))})."
    elif isinstance(node, ast.ClassDef):
        yield from _class_entry(found.module, node)
    elif isinstance(node, _Function):
        shown = [each for each in found.nodes[1:] if isinstance(each, _Function)] or [node]
        signatures = [_signature(found.module, each, bound=False) for each in shown]
        yield _code("\n".join(signatures))
        yield _described(_docstring(node))
    else:
        yield _code(_assigned(found.module, node))
        yield _described(_comment_above(found.module, node))


def _heading(node: ast.stmt, name: str) -> str:
    if isinstance(node, ast.ClassDef):
        return f"`class {name}`"
    return f"`{name}()`" if isinstance(node, _Function) else f"`{name}`"


def _slug(heading: str) -> str:
    """Return the anchor of a heading, which is the same on GitHub and on the site."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _assigned(module: str, node: ast.stmt) -> str:
    value = _value_of(node)
    table = value.args[0] if isinstance(value, ast.Call) and value.args else None
    if isinstance(table, ast.Dict) and all(isinstance(each, ast.Constant) for each in table.values):
        # A table of constants, with its comments.
        return ast.get_source_segment(_source(module), node) or ""
    text = ast.unparse(node)
    if len(text) > _WIDTH and isinstance(node, ast.AnnAssign):
        return f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}"
    return "\n".join(textwrap.wrap(text, _WIDTH, subsequent_indent="    ")[:_LONGEST_VALUE])


def _class_entry(module: str, node: ast.ClassDef) -> Iterator[str]:
    members = _members(module, node)
    init = members.pop("__init__", None)
    yield _code(_class_signature(module, node, init))
    yield _described(_docstring(node))
    if init and _docstring(init):
        yield _described(_docstring(init))
    for name, method in members.items():
        if not name.startswith("_"):
            is_value = _is_decorated(method, *_PROPERTIES)
            yield f"#### `{node.name}.{name}{'' if is_value else '()'}`"
            yield _code(_signature(module, method, bound=True))
            yield _described(_docstring(method))


def _members(module: str, node: ast.ClassDef) -> dict[str, _Function]:
    """Return the functions of a class, and of its bases in chunkast."""
    own = {each.name: each for each in node.body if isinstance(each, _Function)}
    for base in node.bases:
        found = _definition(module, ast.unparse(base).partition("[")[0])
        if found and isinstance(found.nodes[0], ast.ClassDef):
            own = {**_members(found.module, found.nodes[0]), **own}
    return own


def _docstring(node: _Function | ast.ClassDef) -> str:
    return ast.get_docstring(node) or ""


def _code(text: str) -> str:
    # As the formatter writes strings.
    quoted = re.sub(r"'([^'\"\n]*)'", r'"\1"', text)
    return f"```py\n{quoted}\n```"


def documented(page: str) -> dict[str, list[str]]:
    """Return the names in a page of the API that have a description, by module."""
    found: dict[str, list[str]] = {}
    for chapter in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        module = chapter.partition("\n")[0].strip("`")
        entries = re.split(r"^### ", chapter, flags=re.MULTILINE)[1:]
        found[module] = [
            entry.partition("\n")[0].strip("`()").removeprefix("class ")
            for entry in entries
            # A sentence stands below the signature, or in place of it.
            if re.match(r".*\n\n(?:```py\n(?:.*\n)*?```\n\n)?(?![#`])\S", entry)
        ]
    return found


def api_page() -> str:
    """Return the page of the API."""
    parts = [_HEAD.rstrip()]
    for module in PUBLIC:
        docstring = ast.get_docstring(ast.parse(_source(module))) or ""
        names = public_names(module)
        entries = {name: list(_entry(module, name)) for name in names}
        links = [
            f"[`{name}`](#{_slug(entry[0].removeprefix('### '))})"
            for name, entry in entries.items()
        ]
        listed = textwrap.fill(
            f"{', '.join(links)}.", 118, break_long_words=False, break_on_hyphens=False
        )
        parts += [f"## `{module}`", _described(docstring), listed]
        parts += [part for entry in entries.values() for part in entry]
    return "\n\n".join(part for part in parts if part) + "\n"
