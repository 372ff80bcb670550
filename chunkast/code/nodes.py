"""Find the role of a syntax node in an outline: its kind, title and errors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from chunkast.code.languages import Language

__all__ = (
    "COMMENT",
    "STATEMENT",
    "definition",
    "errors",
    "has_many_errors",
    "indentation",
    "is_sequence",
    "kind_of",
    "title_of",
)

STATEMENT: Final = "statement"
COMMENT: Final = "comment"
# Nodes that belong to the next node, besides comments.
_ATTACHED: Final = frozenset({"attribute_item", "decorator", "access_specifier"})
# Anonymous nodes between the members of a sequence.
_SEPARATORS: Final = frozenset({";", ",", "\n"})
# More than one error in this many characters is too much: the parser's time and memory grow with
# the square of the number of errors.
_PER_ERROR: Final = 32
_FEW_SITES: Final = 8
_MAX_TITLE: Final = 100


def errors(root: Any, first: int, last: int) -> int:
    """Return the number of characters in rows ``[first, last)`` that are syntax errors."""
    count = 0
    stack = [root]
    while stack:
        node = stack.pop()
        for child in node.children:
            if child.start_point.row >= last or child.end_point.row < first or child.is_extra:
                continue
            if child.child_count and child.has_error:
                stack.append(child)
            elif child.is_error or (node.is_error and not child.child_count):
                count += child.end_byte - child.start_byte
    return count


def has_many_errors(root: Any) -> bool:
    """Return whether a tree has more than one error per ``_PER_ERROR`` characters."""
    sites = 0
    most = max(_FEW_SITES, int(root.end_byte) // _PER_ERROR)
    stack = [root]
    while stack and sites <= most:
        node = stack.pop()
        sites += bool(node.is_error)
        stack.extend(child for child in node.children if child.has_error)
    return sites > most


def kind_of(node: Any) -> str:
    """Return the kind of a node that is not a definition: ``COMMENT`` or ``STATEMENT``."""
    attached = node.type.endswith(COMMENT) or node.type in _ATTACHED
    return COMMENT if attached else STATEMENT


def definition(node: Any, language: Language) -> tuple[str, Any, Any]:
    """Return the kind of a definition, its node without any wrappers, and the node of its name.

    The kind is empty for a node that is not a definition.
    """
    defined = _defined(node, language), node, node.child_by_field_name("name")
    layers = [node]
    while layers:
        layer = layers.pop()
        if layer.type not in language.wrappers:
            continue
        for child in layer.named_children:
            kind = _defined(child, language)
            if kind:
                name = child.child_by_field_name("name") or layer.child_by_field_name("name")
                defined = kind, child, name
            layers.append(child)
    return defined


def _defined(node: Any, language: Language) -> str:
    kind = language.kinds.get(node.type, "")
    # A class without a body is only a mention.
    return "" if kind == "class" and node.child_by_field_name("body") is None else kind


def title_of(
    kind: str, node: Any, name: Any, shift: int, lines: Sequence[str]
) -> tuple[int, int, int] | None:
    """Return the line number of a definition's title, and the title's start and end in the line.

    The line number is the row in the tree plus ``shift``. Returns None if there is no title.
    """
    if kind in ("", "import"):
        return None
    declarator = node
    while name is None and declarator is not None:
        # In C the name is inside declarators.
        declarator = declarator.child_by_field_name("declarator")
        if declarator is not None and not declarator.child_count:
            name = declarator
    row = (name or node).start_point.row + shift
    if not 0 <= row < len(lines):
        return None
    line = lines[row]
    end = min(len(line.rstrip(" \t{:")), indentation(line) + _MAX_TITLE)
    if name is not None and name.end_point.row == name.start_point.row:
        end = min(end, name.end_point.column)
    return row, indentation(line), end


def is_sequence(node: Any, language: Language) -> bool:
    """Return whether a node is only a sequence of nodes on separate lines, or one definition."""
    while node.end_point.row > node.start_point.row:
        # A comment may follow a member on its line.
        named = [child for child in node.named_children if not child.is_extra]
        if len(named) > 1:
            rows = [child.start_point.row for child in named]
            separate = all(one < two for one, two in pairwise(rows))
            others = all(child.is_named or child.type in _SEPARATORS for child in node.children)
            return separate and others and named[0].start_byte == node.start_byte
        if len(named) != 1 or named[0].byte_range != node.byte_range:
            return False
        node = named[0]
        if node.type in language.kinds or node.type in language.wrappers:
            return True
    return False


def indentation(line: str) -> int:
    """Return the number of spaces and tabs at the start of a line."""
    return len(line) - len(line.lstrip(" \t"))
