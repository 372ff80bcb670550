"""A table of programming languages: their names, file extensions and node types.

To add a language, add a row here, its grammar's package to the ``code`` extra, and a test.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

__all__ = ("ENDINGS", "LANGUAGES", "Language", "language_named", "language_of")


_HEREDOC = re.compile(r"<<[~\-]?(\"[^\"\n]*|'[^'\n]*|`[^`\n]*|\w+)")
_INDICATOR = re.compile(r"[\-?:](?=[ \t]|$)")


@dataclass(frozen=True, slots=True)
class Language:
    """A programming language whose tree-sitter grammar is a separate package.

    names: the language's names in the info string of a fence.
    endings: the file extensions of the language.
    package: the name of the module that contains the grammar.
    entry: the name of the function in ``package`` that returns the grammar.
    kinds: the kind of break point for each node type; nodes of other types are statements.
    wrappers: the types of nodes around a definition, such as decorators and ``export``. A wrapper
        has the same kind as the definition.
    closers: pairs of the start of a line and the text that ends the block that such a line opens;
        brackets are not included.
    filler: a statement to put into a block that must not be empty.
    refuses: a function that returns True for a text that would crash the grammar's scanner.
    """

    name: str
    names: tuple[str, ...]
    endings: tuple[str, ...]
    package: str
    kinds: Mapping[str, str] = field(default_factory=dict)
    wrappers: frozenset[str] = frozenset()
    entry: str = "language"
    closers: tuple[tuple[str, str], ...] = ()
    filler: str = ""
    refuses: Callable[[str], bool] | None = None

    @property
    def distribution(self) -> str:
        """The name of the grammar's package on PyPI."""
        return self.package.replace("_", "-")


def _kinds(*rows: str) -> dict[str, str]:
    """Return a mapping from node types to kinds; a row has a kind, a colon and its node types."""
    pairs = (row.split(":") for row in rows)
    return {name: kind for kind, names in pairs for name in names.split()}


def _has_many_heredocs(source: str) -> bool:
    """Return whether ``source`` has heredocs that may overrun the buffer of Ruby's scanner."""
    heredocs = _HEREDOC.findall(source)
    return len(heredocs) > 24 or any(len(word) > 64 for word in heredocs)


def _is_deep(source: str) -> bool:
    """Return whether ``source`` is nested so deeply that it may overrun YAML's scanner."""
    return any(
        len(line) - len(line.lstrip()) > 100 or len(_INDICATOR.findall(line)) > 50
        for line in source.split("\n")
    )


_JAVASCRIPT: Final = _kinds(
    "class: class_declaration class",
    "function: function_declaration generator_function_declaration method_definition "
    "arrow_function function_expression generator_function export_statement",
    "import: import_statement",
)
_TYPESCRIPT: Final = {
    **_JAVASCRIPT,
    **_kinds(
        "class: abstract_class_declaration interface_declaration internal_module module",
        "function: function_signature abstract_method_signature",
        "type: enum_declaration type_alias_declaration",
    ),
}
_JAVASCRIPT_WRAPPERS: Final = frozenset(
    {"export_statement", "lexical_declaration", "variable_declaration", "variable_declarator"}
)
_TYPESCRIPT_WRAPPERS: Final = _JAVASCRIPT_WRAPPERS | {
    "ambient_declaration",
    "expression_statement",
}
_C: Final = _kinds(
    "class: struct_specifier union_specifier",
    "function: function_definition",
    "type: enum_specifier type_definition",
    "import: preproc_include",
)
_DIRECTIVES: Final = (("#if", "#endif"),)
_RUBY_BLOCKS: Final = tuple((word, "end") for word in ("class", "module", "def"))

_ROWS: Final = (
    Language(
        "python",
        ("python", "py", "python3", "py3", "pyi"),
        (".py", ".pyi", ".pyw"),
        "tree_sitter_python",
        _kinds(
            "class: class_definition",
            "function: function_definition decorated_definition",
            "type: type_alias_statement",
            "import: import_statement import_from_statement future_import_statement",
        ),
        frozenset({"decorated_definition"}),
        filler="pass",
    ),
    Language(
        "javascript",
        ("javascript", "js", "jsx", "mjs", "cjs", "node"),
        (".js", ".jsx", ".mjs", ".cjs"),
        "tree_sitter_javascript",
        _JAVASCRIPT,
        _JAVASCRIPT_WRAPPERS,
    ),
    Language(
        "typescript",
        ("typescript", "ts", "mts", "cts"),
        (".ts", ".mts", ".cts"),
        "tree_sitter_typescript",
        _TYPESCRIPT,
        _TYPESCRIPT_WRAPPERS,
        entry="language_typescript",
    ),
    Language(
        "tsx",
        ("tsx",),
        (".tsx",),
        "tree_sitter_typescript",
        _TYPESCRIPT,
        _TYPESCRIPT_WRAPPERS,
        entry="language_tsx",
    ),
    Language(
        "go",
        ("go", "golang"),
        (".go",),
        "tree_sitter_go",
        _kinds(
            "function: function_declaration method_declaration",
            "type: type_declaration",
            "import: import_declaration",
        ),
    ),
    Language(
        "rust",
        ("rust", "rs"),
        (".rs",),
        "tree_sitter_rust",
        _kinds(
            "class: struct_item trait_item impl_item mod_item union_item",
            "function: function_item function_signature_item macro_definition",
            "type: enum_item type_item",
            "import: use_declaration extern_crate_declaration",
        ),
    ),
    Language(
        "java",
        ("java",),
        (".java",),
        "tree_sitter_java",
        _kinds(
            "class: class_declaration interface_declaration record_declaration "
            "annotation_type_declaration",
            "function: method_declaration constructor_declaration compact_constructor_declaration",
            "type: enum_declaration",
            "import: import_declaration package_declaration",
        ),
    ),
    Language(
        "c",
        ("c", "h"),
        (".c", ".h"),
        "tree_sitter_c",
        _C,
        frozenset({"type_definition"}),
        closers=_DIRECTIVES,
    ),
    Language(
        "c++",
        ("c++", "cpp", "cc", "cxx", "hpp", "hxx"),
        (".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"),
        "tree_sitter_cpp",
        {
            **_C,
            **_kinds(
                "class: class_specifier namespace_definition",
                "type: alias_declaration concept_definition",
            ),
        },
        frozenset({"type_definition", "template_declaration"}),
        closers=_DIRECTIVES,
    ),
    Language(
        "ruby",
        ("ruby", "rb"),
        (".rb", ".rake"),
        "tree_sitter_ruby",
        _kinds("class: class module singleton_class", "function: method singleton_method"),
        closers=_RUBY_BLOCKS,
        refuses=_has_many_heredocs,
    ),
    Language(
        "shell",
        ("bash", "sh", "shell", "zsh", "ksh"),
        (".sh", ".bash", ".zsh", ".ksh"),
        "tree_sitter_bash",
        _kinds("function: function_definition"),
    ),
    Language(
        "json", ("json", "jsonc", "geojson"), (".json", ".jsonc", ".geojson"), "tree_sitter_json"
    ),
    Language(
        "yaml",
        ("yaml", "yml"),
        (".yaml", ".yml"),
        "tree_sitter_yaml",
        refuses=_is_deep,
    ),
    Language(
        "toml",
        ("toml",),
        (".toml",),
        "tree_sitter_toml",
        _kinds("type: table table_array_element"),
    ),
)
LANGUAGES: Final[Mapping[str, Language]] = MappingProxyType(
    {name: language for language in _ROWS for name in language.names}
)
ENDINGS: Final[Mapping[str, Language]] = MappingProxyType(
    {ending: language for language in _ROWS for ending in language.endings}
)
# The language in an info string: ``python title=...``, ``{.python}``, ``{r}``, ``rust,no_run``.
_WORD = re.compile(r"[\w+#]+")


def language_named(info: str) -> Language | None:
    """Return the language named at the start of a fence's info string, or None if unknown."""
    word = _WORD.search(info)
    return LANGUAGES.get(word.group().lower()) if word else None


def language_of(path: str) -> str:
    """Return the name of a file's programming language by its extension, or "" if unknown."""
    # Several times faster than ``PurePath.suffix``; this runs for every document.
    name = path[path.rfind("/") + 1 :].lower()
    dot = name.rfind(".")
    language = ENDINGS.get(name[dot:]) if dot > 0 else None
    return language.names[0] if language else ""
