"""The programming languages of ``grammars.json``: their names, file extensions and node types.

To add a language, add a row to that file, its grammar's package to the ``code`` extra, and a test.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

__all__ = ("ENDINGS", "LANGUAGES", "Language", "language_named", "language_of")


_HEREDOC = re.compile(r"<<[~\-]?(\"[^\"\n]*|'[^'\n]*|`[^`\n]*|\w+)")
_INDICATOR = re.compile(r"[\-?:](?=[ \t]|$)")


class Language(NamedTuple):
    """A programming language whose tree-sitter grammar is a separate package.

    package: the name of the module that contains the grammar.
    entry: the name of the function in ``package`` that returns the grammar.
    kinds: the kind of break point for each node type; nodes of other types are statements.
    wrappers: the types of nodes around a definition, such as decorators and ``export``. A wrapper
        has the same kind as the definition.
    closers: the text that ends a block, by the start of the line that opens it; brackets are not
        included.
    filler: a statement that fills a block, if blocks must not be empty.
    """

    name: str
    package: str
    entry: str
    kinds: Mapping[str, str]
    wrappers: frozenset[str]
    closers: Mapping[str, str]
    filler: str

    @property
    def distribution(self) -> str:
        """The name of the grammar's package on PyPI."""
        return self.package.replace("_", "-")

    def refuses(self, source: str) -> bool:
        """Return whether ``source`` is refused because it might crash the grammar's scanner."""
        if self.name == "ruby":
            # Heredocs may overrun the scanner's buffer.
            heredocs = _HEREDOC.findall(source)
            return len(heredocs) > 24 or any(len(word) > 64 for word in heredocs)
        # So may deep nesting in YAML.
        return self.name == "yaml" and any(
            len(line) - len(line.lstrip()) > 100 or len(_INDICATOR.findall(line)) > 50
            for line in source.split("\n")
        )


# By the name in the info string of a fence, and by the file extension.
LANGUAGES: Final[dict[str, Language]] = {}
ENDINGS: Final[dict[str, Language]] = {}


def _add(name: str, row: Mapping[str, Any]) -> None:
    """Add a row of ``grammars.json`` to the tables, completed by the row that it is ``like``."""
    like = LANGUAGES.get(row.get("like", ""))
    kinds = {node: kind for kind, nodes in row.get("kinds", {}).items() for node in nodes.split()}
    language = LANGUAGES[name] = Language(
        name,
        row["package"],
        row.get("entry", "language"),
        {**like.kinds, **kinds} if like else kinds,
        frozenset(row.get("wrappers", "").split()).union(like.wrappers if like else ()),
        like.closers if like else row.get("closers", {}),
        row.get("filler", ""),
    )
    LANGUAGES.update(dict.fromkeys(row["aliases"].split(), language))
    ENDINGS.update(dict.fromkeys(row["extensions"].split(), language))


for _name, _row in json.loads(Path(__file__).with_name("grammars.json").read_bytes()).items():
    _add(_name, _row)
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
    return language.name if language else ""
