"""The grammars that are installed, and parses of short texts that always come to an end.

tree-sitter recovers from any error, but not in linear time: a few kilobytes of hostile text
may take seconds, and memory to match. So it is given short texts only, and stopped where it
does much more work than code takes. Operations are counted, not time: the same text gives the
same tree everywhere.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache, lru_cache
from importlib import import_module
from sys import getrefcount
from typing import Any, ClassVar, Final

from chunkast.code.languages import ENDINGS, Language

__all__ = ("MAX_BYTES", "parse", "versions")

# The most that is given to tree-sitter at once.
MAX_BYTES: Final = 3_072
# tree-sitter reports once in a hundred operations. Real code has one report in 100 to 500
# bytes, code full of errors one in 20.
_REPORTS: Final = 64
_BYTES_PER_REPORT: Final = 50
# Bytes that are read at once.
_PART_BYTES: Final = 256
# Bytes that tree-sitter may keep before pairs are read, with which code takes half as long again.
_MOST_KEPT: Final = 32 << 20


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """The version of tree-sitter and of each grammar that is installed; {} without the former."""
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec

    found: dict[str, str] = {}
    if find_spec("tree_sitter") is None:
        return found
    for name in ("tree-sitter", *(language.distribution for language in ENDINGS.values())):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


@lru_cache(maxsize=64)
def _grammar(package: str, entry: str) -> Any:
    """tree-sitter's Language; ``None`` where it or the grammar is missing, or they do not fit."""
    if package.replace("_", "-") not in versions():
        return None
    try:
        return import_module("tree_sitter").Language(getattr(import_module(package), entry)())
    except (ImportError, AttributeError, ValueError):
        return None


def parse(source: str, language: Language) -> Any:
    r"""The root node of ``source``, ASCII of at most ``MAX_BYTES`` with line ends of ``\n``.

    ``None`` without a grammar, and for a text that it is too much for.
    """
    grammar = _grammar(language.package, language.entry)
    if grammar is None or (language.refuses is not None and language.refuses(source)):
        return None
    data = source.encode("ascii")
    parts = _Parts(data)
    most = _REPORTS + len(data) // _BYTES_PER_REPORT
    reports = 0

    def is_too_much(_position: int, _has_error: bool) -> bool:
        nonlocal reports
        reports += 1
        return reports > most

    # A parser for each text: one must not be shared between threads.
    parser = import_module("tree_sitter").Parser(grammar)
    try:
        tree = parser.parse(parts.read, progress_callback=is_too_much)
    except ValueError:
        return None  # it was stopped
    finally:
        parts.count_kept()
    return tree.root_node


class _Parts:
    """A text as tree-sitter reads it, part by part.

    tree-sitter 0.26 never frees what it was given: a part is made once for each position, and
    once megabytes are kept, pairs of characters are given, of which there are few.
    """

    # Bytes of all parts, of this process, that are kept.
    kept: ClassVar[int] = 0

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._made: dict[int, bytes] = {}

    def read(self, position: int, _point: object) -> bytes:
        """What begins at ``position``; nothing at the end."""
        if _Parts.kept > _MOST_KEPT:
            return _pair(self._data[position : position + 2])
        part = self._made.get(position)
        if part is None:
            end = position - position % _PART_BYTES + _PART_BYTES
            part = self._made[position] = self._data[position:end]
        return part

    def count_kept(self) -> None:
        """Note what somebody else still refers to."""
        # One that was never given away has as many references as those that are not kept.
        self._made[-1] = self._data[1:]
        counts = [getrefcount(part) for part in self._made.values()]
        parts = zip(self._made.values(), counts, strict=True)
        _Parts.kept += sum(len(part) for part, count in parts if count > counts[-1])


@cache
def _pair(characters: bytes) -> bytes:
    """The same object for the same characters, which are ASCII."""
    return characters
