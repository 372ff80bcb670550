"""The grammars that are installed, and parses of short texts that always come to an end.

tree-sitter recovers from any error, but not in linear time: a few kilobytes of hostile text
may take seconds, and memory to match. So it is given short texts only, and stopped where it
does much more work than code takes. Operations are counted, not time: the same text gives the
same tree everywhere.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

from chunkast.code.languages import ENDINGS, Language

__all__ = ("MAX_BYTES", "parse", "versions")

# The most that is given to tree-sitter at once.
MAX_BYTES: Final = 3_072
# tree-sitter reports once in a hundred operations. Real code has one report in 100 to 500
# bytes, code full of errors one in 20.
_REPORTS: Final = 64
_BYTES_PER_REPORT: Final = 50


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
    reports = 0

    def is_too_much(_position: int, _has_error: bool) -> bool:
        nonlocal reports
        reports += 1
        return reports > _REPORTS + len(data) // _BYTES_PER_REPORT

    try:
        # A parser for each text: one must not be shared between threads.
        tree = (
            import_module("tree_sitter")
            .Parser(grammar)
            .parse(lambda position, _point: data[position:], progress_callback=is_too_much)
        )
    except ValueError:
        return None  # it was stopped
    return tree.root_node
