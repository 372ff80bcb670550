"""Check the types of arguments. Errors name the given type, the allowed types and a remedy."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePath
from typing import Any, Final

__all__ = ("checked_items", "checked_name", "checked_pairs", "checked_text", "source_of_path")

# Types that are passed by mistake instead of a text -> the remedy; the first match counts.
_HINTS: Final[tuple[tuple[type | tuple[type, ...], str], ...]] = (
    (os.PathLike, "chunk_file(path) reads a file"),
    ((bytes, bytearray, memoryview), "decode bytes first: data.decode('utf-8')"),
    (Collection, "chunk_batch(texts) takes several texts"),
)


def checked_text(value: object) -> str:
    """Return ``value`` as a plain str; raise ``TypeError`` if it is not a str.

    A subclass of str is converted, because it may override slicing and joining.
    """
    if isinstance(value, str):
        return str.__str__(value)
    hint = next((hint for types, hint in _HINTS if isinstance(value, types)), "")
    raise _wrong("text", value, f"a str; {hint}" if hint else "a str")


def checked_name(name: str, value: object) -> str | None:
    """Return ``value`` as a plain str, or None if ``value`` is None.

    A path becomes a str with forward slashes. Any other type raises ``TypeError``.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, os.PathLike):
        return source_of_path(value)
    raise _wrong(name, value, "a str, a pathlib.Path or None")


def checked_items(name: str, value: Any) -> list[Any]:
    """Return a list of the items of ``value``.

    Raises ``TypeError`` for a single text, and for a value that is not iterable.
    """
    if isinstance(value, (str, bytes, bytearray)) or not isinstance(value, Iterable):
        raise _wrong(name, value, "a list; wrap a single item in a list: [item]")
    return list(value)


def checked_pairs(documents: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the ``(source, text)`` pairs in ``documents``; raise ``TypeError`` for other items."""
    allowed = "(source, text) pairs; for a mapping, pass mapping.items()"
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise _wrong("documents", documents, allowed)
    for number, pair in enumerate(documents):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise _wrong(f"documents[{number}]", pair, allowed)
        yield pair[0], pair[1]


def source_of_path(path: Any) -> str:
    """Return the source of a file's chunks: its path, with forward slashes.

    Raises ``TypeError`` unless ``path`` is a str or a path that represents one.
    """
    if isinstance(path, (str, os.PathLike)) and isinstance(os.fspath(path), str):
        return PurePath(path).as_posix()
    raise _wrong("path", path, "a str or a pathlib.Path")


def _wrong(name: str, value: object, allowed: str) -> TypeError:
    return TypeError(f"{name} is of type {type(value).__name__}: must be {allowed}")
