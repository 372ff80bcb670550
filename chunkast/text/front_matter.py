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
from collections.abc import Mapping
from datetime import date, datetime, time
from functools import cache, lru_cache
from typing import Any, Final

from chunkast.text.source_map import without_surrogates

__all__ = ("front_matter_value", "parse_front_matter")

# Larger than any front matter written by a person; these limits bound the time.
_MAX_CHARACTERS: Final = 64 * 1024
_MAX_VALUES: Final = 10_000
_MAX_DEPTH: Final = 50
# By default, Python converts integers of at most 4,300 digits; the limit can be configured down to
# 640. The limit here is the same everywhere.
_TOO_LARGE: Final = 10**640
_TAG: Final = "tag:yaml.org,2002:"
# With more brackets, or more markers in front of a line, front matter may be nested too deeply to
# be composed.
_MAX_BRACKETS: Final = 500
_MARKERS: Final = re.compile(r"(?:[-?:][ \t]+){16}")
_TOO_MANY: Final = f"front matter has more than {_MAX_VALUES:,} values"
_TOO_DEEP: Final = f"front matter is nested deeper than {_MAX_DEPTH} levels"


class _Float(str):
    """A TOML number with a fraction or exponent, as written."""

    __slots__ = ()


def front_matter_value(raw: str, key: str, *, plain: bool = False) -> str:
    """Return the value of a top-level ``key`` in ``raw`` front matter as a line of text, or "".

    Numbers and dates stay as they are written; null is "". The items of a list are joined with
    commas. If ``plain`` is true, a list or mapping is "". In front matter that is not valid, the
    value is the rest of the key's line.
    """
    if key not in raw:
        return ""
    values = _readable(raw)
    value = _from_line(raw, key) if values is None else values.get(key)
    if plain and (isinstance(value, (dict, list)) or isinstance(getattr(value, "value", ""), list)):
        return ""
    try:
        text = _text(_Copy(written=True).of(value))
    except ValueError:  # larger than any list that a person would write
        return ""
    return " ".join(filter(None, map(str.strip, text.split("\n"))))


def parse_front_matter(raw: str) -> dict[str, Any]:
    """Return the data in ``raw`` front matter, which includes its delimiters.

    Raises ``ValueError`` if the front matter is invalid, not a mapping, too large or nested too
    deeply.
    """
    copy: dict[str, Any] = _Copy().of(_read(raw))
    return copy


@lru_cache(maxsize=4)
def _readable(raw: str) -> Mapping[str, Any] | None:
    """Return the values in ``raw`` front matter, or None if it is not valid."""
    try:
        return _read(raw)
    except ValueError:
        return None


def _from_line(raw: str, key: str) -> object:
    """Return the value of ``key`` in front matter that is not valid as a whole."""
    opening, *lines = _lines(raw)
    toml = opening.startswith("+++")
    text = "\n".join(lines)
    # A key in a table is not the page's.
    text = re.split(r"^[ \t]*\[", text, maxsplit=1, flags=re.MULTILINE)[0] if toml else text
    found = re.search(
        rf"^[\"']?{re.escape(key)}[\"']?[ \t]*[:=][ \t]*(.*?)(?:[ \t]#.*)?$(?:\n(?:[ \t]+|-[ \t]).*)*",
        text,
        re.MULTILINE,
    )
    if found is None:
        return None
    values = _readable(f"{opening}\n{found[0]}\n{opening}")
    return found[1] if values is None else values.get(key)


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_text(item)}" for key, item in value.items())
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _lines(raw: str) -> list[str]:
    text = without_surrogates(raw).removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _read(raw: str) -> dict[str, Any]:
    """Return the values in ``raw`` front matter, of which YAML's scalars are nodes."""
    if len(raw) > _MAX_CHARACTERS:
        raise ValueError(
            f"front matter of {len(raw):,} characters; it must have at most {_MAX_CHARACTERS:,}"
        )
    opening, *lines = _lines(raw)
    while lines and not lines[-1].strip():
        lines.pop()
    # An empty line replaces the opening line, so that errors have the document's line numbers.
    body = "\n".join(["", *lines[:-1], ""])
    try:
        values = (_toml if opening.startswith("+++") else _yaml)(body)
    except RecursionError:
        raise ValueError("front matter is nested too deeply") from None
    if isinstance(values, dict):
        return values
    raise ValueError("front matter is not a mapping")


def _toml(body: str) -> object:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(body, parse_float=_Float)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"front matter is not valid TOML: {error}") from None


def _yaml(body: str) -> object:
    import yaml

    # PyYAML calls itself for each level of nesting, in C, where too many overrun the stack.
    if _MARKERS.search(body) or body.count("[") + body.count("{") > _MAX_BRACKETS:
        raise ValueError(_TOO_DEEP)
    try:
        node = _loader()(body).get_single_node()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f", line {mark.line + 1}"
        problem = getattr(error, "problem", None) or str(error).split("\n", 1)[0]
        raise ValueError(f"front matter is not valid YAML{where}: {problem}") from None
    return _items(node) if getattr(node, "id", "") == "mapping" else node


@cache
def _loader() -> Any:
    """Return a YAML loader that gives plain scalars no tag until it is needed."""
    import yaml

    base: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

    class Loader(base):  # type: ignore[misc]
        def resolve(self, _kind: object, value: str | None, implicit: Any) -> str:
            return "" if value is None or implicit[0] else f"{_TAG}str"

        def descend_resolver(self, *_: object) -> None:
            """Do nothing: tags never depend on the path of a node."""

        def ascend_resolver(self) -> None:
            """Do nothing."""

    return Loader


def _tag(node: Any) -> str:
    from yaml.resolver import Resolver

    resolver: Any = Resolver()
    tag: str = node.tag or resolver.resolve(type(node), node.value, (True, False))
    return tag.removeprefix(_TAG)


def _items(mapping: Any, depth: int = 0) -> dict[str, Any]:
    """Return the nodes in a YAML mapping by the text of their keys, with merged mappings."""
    own: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    if depth > _MAX_DEPTH:
        raise ValueError(_TOO_DEEP)
    for key, value in mapping.value:
        if key.value == "<<" and _tag(key) == "merge":
            for one in value.value if value.id == "sequence" else [value]:
                if one.id == "mapping":
                    merged = {**_items(one, depth + 1), **merged}
        else:
            own[key.value if key.id == "scalar" else _text(_Copy(written=True).of(key))] = value
    # The mapping's own keys come after merged keys and override them.
    return {**merged, **own} if merged else own


class _Copy:
    """Copies values as JSON data, or as text if ``written``; limits their number and depth."""

    def __init__(self, *, written: bool = False) -> None:
        self._written = written
        self._values = 0
        self._depth = 0

    def of(self, value: Any) -> Any:
        """Return a copy of ``value``. Raises ``ValueError`` beyond a limit."""
        kind = getattr(value, "id", "")
        names_only = kind == "mapping" and _tag(value) == "set"
        if kind == "mapping":
            value = list(_items(value)) if names_only else _items(value)
        elif kind == "sequence":
            value = value.value
        if not isinstance(value, (dict, list)):
            return _scalar(value, written=self._written)
        self._values += len(value)
        self._depth += 1
        if self._values > _MAX_VALUES:
            raise ValueError(_TOO_MANY)
        if self._depth > _MAX_DEPTH:
            raise ValueError(_TOO_DEEP)
        copy = (
            {key: self.of(item) for key, item in value.items()}
            if isinstance(value, dict)
            else [self.of(item) for item in value]
        )
        self._depth -= 1
        return copy


def _scalar(value: Any, *, written: bool) -> str | int | float | bool | None:
    """Return a YAML node or a TOML value as JSON data, or as text or None if ``written``."""
    source: str | None = getattr(value, "value", None)
    if source is not None:
        if written:
            return None if _tag(value) == "null" else source
        value = _constructed(value)
    elif isinstance(value, _Float):
        value = value if written else float(value)
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int) and not -_TOO_LARGE < value < _TOO_LARGE:
        return hex(value) if source is None else source
    return value if value is None or isinstance(value, (int, str)) else str(value)


def _constructed(node: Any) -> object:
    from yaml import ScalarNode
    from yaml.constructor import SafeConstructor

    tag = f"{_TAG}{_tag(node)}" if not node.tag else node.tag
    try:
        return SafeConstructor().construct_object(ScalarNode(tag, node.value))
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - each constructor raises exceptions of its own
        return node.value  # such as a date that does not exist
