"""Parse short texts with the installed tree-sitter grammars, within limits.

tree-sitter recovers from any error, but not in linear time: a few kilobytes of malicious text may
take seconds and much memory. So only short texts are parsed, and parsing stops after much more work
than real code requires. The limit counts operations, not time, so that the same text has the same
tree everywhere.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, ClassVar, Final

from chunkast.code.languages import ENDINGS, Language

__all__ = ("MAX_BYTES", "parse", "versions")

# The longest text that is parsed at once.
MAX_BYTES: Final = 3_072
# tree-sitter reports every hundred operations: once in 100 to 500 bytes of real code, once in 20
# bytes of code full of errors.
_REPORTS: Final = 64
_BYTES_PER_REPORT: Final = 50
# Bytes read at once.
_PART_BYTES: Final = 256
# Bytes that tree-sitter may keep before it is passed pairs of bytes, which takes 1.5 times as long.
_MOST_KEPT: Final = 32 << 20


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Return the versions of tree-sitter and its installed grammars by package name.

    The result is empty if tree-sitter is not installed.
    """
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec

    known: dict[str, str] = {}
    if find_spec("tree_sitter") is None:
        return known
    for name in ("tree-sitter", *(language.distribution for language in ENDINGS.values())):
        with suppress(PackageNotFoundError):
            known[name] = version(name)
    return known


@lru_cache(maxsize=64)
def _grammar(package: str, entry: str) -> Any:
    """Return a tree-sitter ``Language``, or None if a package is missing or incompatible."""
    if package.replace("_", "-") not in versions():
        return None
    try:
        return import_module("tree_sitter").Language(getattr(import_module(package), entry)())
    except (ImportError, AttributeError, ValueError):
        return None


def parse(source: str, language: Language) -> Any:
    r"""Return the root node of the syntax tree of ``source``.

    Returns None if the grammar is not installed, ``language`` refuses ``source``, or parsing takes
    too much work. ``source`` must be ASCII of at most ``MAX_BYTES``, with ``\n`` line endings.
    """
    grammar = _grammar(language.package, language.entry)
    if grammar is None or language.refuses(source):
        return None
    data = source.encode("ascii")
    code = _Source(data)
    most = _REPORTS + len(data) // _BYTES_PER_REPORT
    reports = 0

    def is_too_much(_position: int, _has_error: bool) -> bool:
        nonlocal reports
        reports += 1
        return reports > most

    # A parser must not be shared between threads, so each text has its own.
    parser = import_module("tree_sitter").Parser(grammar)
    try:
        tree = parser.parse(code.read, progress_callback=is_too_much)
    except ValueError:
        return None  # the parse was stopped
    return tree.root_node


class _Source:
    """Passes a text to tree-sitter in parts.

    tree-sitter 0.26 never frees the bytes that it receives. So only one part is made for each
    position. After some megabytes, only pairs of characters are passed, because there are few
    different pairs.
    """

    # The bytes that tree-sitter was passed in this process, and keeps.
    kept: ClassVar[int] = 0

    def __init__(self, data: bytes) -> None:
        self._data = data
        _Source.kept += len(data)
        self._made: dict[int, bytes] = {}

    def read(self, position: int, _point: object) -> bytes:
        """Return the part of the text at ``position``, or ``b""`` at the end."""
        if _Source.kept > _MOST_KEPT:
            return _pair(self._data[position : position + 2])
        part = self._made.get(position)
        if part is None:
            end = position - position % _PART_BYTES + _PART_BYTES
            part = self._made[position] = self._data[position:end]
        return part


@cache
def _pair(characters: bytes) -> bytes:
    """Return the same object whenever it is called with an equal pair of ASCII characters."""
    return characters
