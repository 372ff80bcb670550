"""Front matter as data: YAML between lines of ``---``, TOML between lines of ``+++``.

The values are JSON data. Values that JSON cannot represent become strings: dates and times in
ISO format, numbers that are not finite, and binary data in base64. A set becomes a list. A key that
is not a string becomes a string, as written in the YAML source. An integer of more than 640 digits,
which some programs cannot handle, becomes a string: as written in YAML, in hexadecimal for TOML.
YAML is read as by PyYAML's safe loader, except that any tag is allowed. Aliases are copied, and the
size of the result is limited.
"""

from __future__ import annotations

import base64
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time
from importlib.util import find_spec
from typing import Any, Final

__all__ = ("front_matter_value", "missing_library", "parse_front_matter")

# Larger than any front matter written by a person; these limits bound the time.
_MAX_CHARACTERS: Final = 64 * 1024
_MAX_VALUES: Final = 10_000
_MAX_DEPTH: Final = 50
# By default, Python converts integers of at most 4,300 digits; the limit can be configured down to
# 640. The limit here is the same everywhere.
_TOO_LARGE: Final = 10**640
_TOML_LIBRARY: Final = "tomllib" if sys.version_info >= (3, 11) else "tomli"
_TAG: Final = "tag:yaml.org,2002:"
_MERGE: Final = f"{_TAG}merge"


def missing_library() -> str | None:
    """Return the name of a required library that is not installed, or None if all are installed."""
    names = {"yaml": "PyYAML", _TOML_LIBRARY: _TOML_LIBRARY}
    return next((name for module, name in names.items() if find_spec(module) is None), None)


def front_matter_value(raw: str, key: str) -> str:
    """Return the value of a top-level ``key`` in ``raw`` front matter as text, or "" if missing.

    No library is needed. The value is the rest of the key's line, without quotes and without the
    brackets of a list. If the rest of the line is empty, the value is the joined text of the
    indented lines or list items below the key.
    """
    if not raw:
        return ""
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    found = re.search(
        rf"^{re.escape(key)}[ \t]*[:=](.*)((?:\n(?:[ \t]+|-[ \t]).*)*)", text, re.MULTILINE
    )
    if found is None:
        return ""
    value, below = found[1].strip(), [line.strip() for line in found[2].split("\n")[1:]]
    if below and not value.strip("|>+-"):
        items = all(line.startswith("- ") for line in below)
        return (", " if items else " ").join(_bare(line[2 * items :]) for line in below)
    if value.startswith("[") and value.endswith("]"):
        return ", ".join(map(_bare, value[1:-1].split(",")))
    return _bare(value)


def _bare(value: str) -> str:
    return value.strip().strip("\"'")


def parse_front_matter(raw: str) -> dict[str, Any]:
    """Return the data in ``raw`` front matter, which includes its delimiters.

    Raises ``ValueError`` if the front matter is invalid, not a mapping, too large or nested too
    deeply, and ``ImportError`` if the ``chunkast[yaml]`` extra is not installed.
    """
    if len(raw) > _MAX_CHARACTERS:
        raise ValueError(
            f"front matter of {len(raw):,} characters; it must have at most {_MAX_CHARACTERS:,}"
        )
    opening, *lines = (
        raw.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    )
    while lines and not lines[-1].strip():
        lines.pop()
    # An empty line replaces the opening line, so that errors have the document's line numbers.
    body = "\n".join(["", *lines[:-1], ""])
    read = _toml if opening.startswith("+++") else _yaml
    try:
        values = read(body)
    except RecursionError:
        raise ValueError("front matter is nested too deeply") from None
    if isinstance(values, dict):
        return values
    raise ValueError(f"front matter is {type(values).__name__}, not a mapping")


def _toml(body: str) -> object:
    from importlib import import_module

    library = import_module(_TOML_LIBRARY)
    try:
        values = library.loads(body)
    except library.TOMLDecodeError as error:
        raise ValueError(f"front matter is not valid TOML: {error}") from None
    return _Limit().json(values)


def _yaml(body: str) -> object:
    import yaml

    try:
        loader = yaml.SafeLoader(body)
        node = loader.get_single_node()
        return None if node is None else _Nodes(loader).value(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f", line {mark.line + 1}"
        problem = getattr(error, "problem", None) or str(error).split("\n", 1)[0]
        raise ValueError(f"front matter is not valid YAML{where}: {problem}") from None


class _Limit:
    """Limits the number of values in the result, including copies of aliases, and their depth."""

    def __init__(self) -> None:
        self._values = 0
        self._depth = 0

    def inside(self, values: Iterator[Any]) -> Iterator[Any]:
        """Yield the ``values`` of a list or mapping, and raise ``ValueError`` beyond a limit."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ValueError(f"front matter is nested deeper than {_MAX_DEPTH} levels")
        for value in values:
            self._values += 1
            if self._values > _MAX_VALUES:
                raise ValueError(f"front matter has more than {_MAX_VALUES:,} values")
            yield value
        self._depth -= 1

    def json(self, value: object) -> Any:
        """Return ``value`` as JSON data."""
        if isinstance(value, dict):
            return {key: self.json(item) for key, item in self.inside(iter(value.items()))}
        if isinstance(value, list):
            return [self.json(item) for item in self.inside(iter(value))]
        return _scalar(value)


def _scalar(value: object) -> str | int | float | bool | None:
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int):
        return value if -_TOO_LARGE < value < _TOO_LARGE else hex(value)
    return value if value is None or isinstance(value, str) else str(value)


class _Nodes:
    """Converts YAML nodes to JSON data; an alias becomes a copy of its node."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._limit = _Limit()

    def value(self, node: Any) -> Any:
        read: Mapping[str, Callable[[Any], Any]] = {
            "mapping": self._mapping,
            "sequence": lambda node: [
                self.value(item) for item in self._limit.inside(iter(node.value))
            ],
            "scalar": self._plain,
        }
        return read[node.id](node)

    def _mapping(self, node: Any) -> Any:
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, item in self._limit.inside(iter(node.value)):
            if key.tag == _MERGE:
                values = self.value(item)
                for one in values if isinstance(values, list) else [values]:
                    if isinstance(one, dict):
                        merged = {**one, **merged}
            else:
                name = key.value if key.id == "scalar" else str(self.value(key))
                own[name] = self.value(item)
        if node.tag == f"{_TAG}set":
            return list(own)
        # The mapping's own keys come after merged keys and override them.
        return {**merged, **own}

    def _plain(self, node: Any) -> Any:
        try:
            value = self._loader.construct_object(node)
            long = isinstance(value, int) and not -_TOO_LARGE < value < _TOO_LARGE
            return node.value if long else _scalar(value)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - each constructor raises exceptions of its own
            # A custom tag, the 31st of February, a number of thousands of digits.
            return node.value
