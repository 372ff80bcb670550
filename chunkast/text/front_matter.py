"""Parse front matter: YAML between ``---`` lines, TOML between ``+++`` lines, or lines of text.

Lines of text are Pandoc's title block (``% title``, ``% author`` and ``% date``) or lines of the
form ``Key: value``, in which the keys are converted to lower case.

The result is JSON data. Values that JSON cannot represent become strings: dates and times in ISO
format, numbers that are not finite, and binary data in base64. Sets become lists. Keys that are not
strings become strings, as written in the YAML source. An integer of more than 640 digits, which
some programs cannot handle, becomes a string: a YAML integer as it is written, a TOML integer in
hexadecimal. TOML with an integer that Python cannot convert is invalid.

YAML is parsed by PyYAML's safe loader, but any tag is allowed. Aliases are copied, and the size of
the result is limited.
"""

from __future__ import annotations

import base64
import math
import re
import sys
from datetime import date, datetime, time
from functools import lru_cache
from typing import Any, Final

from chunkast.text.source_map import without_surrogates

__all__ = ("front_matter_value", "page_title", "parse_front_matter")

# Larger than any front matter written by a person; these limits bound the time.
_MAX_CHARACTERS: Final = 64 * 1024
_MAX_VALUES: Final = 10_000
_MAX_DEPTH: Final = 50
# By default, Python converts integers of at most 4,300 digits; the limit can be configured down to
# 640. The limit here is the same everywhere.
_TOO_LARGE: Final = 10**640
_TAG: Final = "tag:yaml.org,2002:"
# PyYAML calls itself for each level of nesting, in C, where too many overrun the stack. So the
# number of brackets, and of markers in front of a line, is limited.
_MAX_BRACKETS: Final = 500
_MARKERS: Final = re.compile(r"(?:[-?:][ \t]+){16}")
_TOO_DEEP: Final = f"front matter is nested deeper than {_MAX_DEPTH} levels"
# Front matter that may have keys which are not at the start of a line.
_HAS_OTHER_KEYS: Final = re.compile(r"<<|\n[?{\[&!]|\A\n+[ \t]")
# A value that has no other meaning in YAML and TOML, and its quotation mark if it has any.
_PLAIN: Final = re.compile(r"([\"']?)(\.?[^\W_][\w ,.()/&!?+-]*)\1")
_COMMENT: Final = re.compile(r"[ \t]#|\n")
# The beginning of a line that continues the one before.
_CONTINUED: Final = re.compile(r"\n[ \t]+")
_TABLE: Final = re.compile(r"\n[ \t]*\[")


@lru_cache(maxsize=8)
def front_matter_value(raw: str, key: str, *, plain: bool = False) -> str:
    """Return the value of a top-level ``key`` in ``raw`` front matter as one line.

    Returns "" if there is no such key. Numbers and dates stay as written; null becomes "". The
    items of a list are joined with commas. If ``plain`` is true, a list or mapping becomes "". If
    the front matter is invalid, the value is the rest of the key's line.
    """
    if key not in raw and raw[:3] in ("", "---", "+++"):
        return ""
    value = _written(raw, key)
    if plain and isinstance(value, (dict, list)):
        return ""
    return " ".join(filter(None, map(str.strip, _text(value).split("\n"))))


def page_title(raw: str, first_level: int) -> str:
    """Return the title in ``raw`` front matter as a line of text, or "".

    If there is no title, the ``name`` is returned, provided that there is a ``description``, as in
    an agent's skill, and that ``first_level``, the level of the first heading, is not 1.
    """
    title = front_matter_value(raw, "title", plain=True)
    if title or first_level == 1 or not front_matter_value(raw, "description", plain=True):
        return title
    return front_matter_value(raw, "name", plain=True)


def parse_front_matter(raw: str) -> dict[str, Any]:
    """Return the data in ``raw`` front matter, which includes its delimiters.

    Raises ``ValueError`` if the front matter is invalid, not a mapping, too large or nested too
    deeply.
    """
    return _read(*_body(raw))


def _body(raw: str) -> tuple[str, bool]:
    """Return the lines between the delimiters, and whether they are TOML.

    An empty line replaces the opening line, so that errors have the document's line numbers.
    """
    text = without_surrogates(raw).removeprefix("\ufeff").rstrip()
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.startswith(("---", "+++")):
        return _undelimited(text), False
    opening, _, rest = text.partition("\n")
    lines, _, _ = rest.rpartition("\n")
    return f"\n{lines}\n", opening.startswith("+++")


def _undelimited(text: str) -> str:
    """Return front matter without delimiters as YAML; all its values are strings."""
    lines = _CONTINUED.sub(" ", text).split("\n")
    if text.startswith("%"):
        keys = ("title", "author", "date")
        lines = [f"{key}:{line[1:]}" for key, line in zip(keys, lines, strict=False)]
    parts = (line.replace("'", "''").partition(":") for line in lines)
    return "\n" + "".join(f"{key.lower()}: '{value.strip()}'\n" for key, _, value in parts)


@lru_cache(maxsize=64)
def _entry(key: str) -> re.Pattern[str]:
    """Return a pattern for the lines of a top-level key, of which its group is the value."""
    continued = r"\n(?:[ \t#\]}-].*|$)"
    return re.compile(
        rf"\n[\"']?{re.escape(key)}[\"']?[ \t]*[:=](.*(?:{continued})*)", re.MULTILINE
    )


def _written(raw: str, key: str) -> Any:
    """Return the value of a top-level key as text, a list, a mapping or None.

    The lines of a key that occurs once are read alone, which is much faster. Everything is read if
    these lines are not valid alone, such as an alias, or if the key may be in another place.
    """
    body, is_toml = _body(raw)
    # A key in a table is not the page's.
    entries = list(_entry(key).finditer(_TABLE.split(body, 1)[0] if is_toml else body))
    if not entries and not _HAS_OTHER_KEYS.search(body):
        return None
    value = entries[0][1].strip() if entries else ""
    parts = [body, *(match[0] for match in entries[:1])]
    if len(entries) == 1:
        plain = _PLAIN.fullmatch(value)
        if plain and value.lower() != "null":
            return plain[2]
        parts.reverse()
    for part in parts:
        try:
            return _read(part, is_toml, written=True).get(key)
        except ValueError:
            continue
    return _COMMENT.split(value, 1)[0]


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_text(item)}" for key, item in value.items())
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _read(body: str, is_toml: bool, written: bool = False) -> dict[str, Any]:
    """Return JSON data. If ``written`` is true, YAML's scalars and TOML's floats are not read."""
    if len(body) > _MAX_CHARACTERS:
        raise ValueError(
            f"front matter of {len(body):,} characters; it must have at most {_MAX_CHARACTERS:,}"
        )
    try:
        values = (_toml if is_toml else _yaml)(body, written=written)
    except RecursionError:
        raise ValueError("front matter is nested too deeply") from None
    if isinstance(values, dict):
        return values
    raise ValueError("front matter is not a mapping")


def _toml(body: str, *, written: bool) -> object:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        values = tomllib.loads(body, parse_float=str if written else float)
    except ValueError as error:  # also an integer of too many digits
        raise ValueError(f"front matter is not valid TOML: {error}") from None
    return _Copy().of(values)


def _yaml(body: str, *, written: bool) -> object:
    import yaml

    if _MARKERS.search(body) or body.count("[") + body.count("{") > _MAX_BRACKETS:
        raise ValueError(_TOO_DEEP)
    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(body)
        node = loader.get_single_node()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f", line {mark.line + 1}"
        problem = getattr(error, "problem", None) or str(error).split("\n", 1)[0]
        raise ValueError(f"front matter is not valid YAML{where}: {problem}") from None
    return _Copy(None if written else loader).of(node)


class _Copy:
    """Copies TOML values and YAML nodes as JSON data; limits their number and depth.

    Without a ``loader``, a YAML scalar is copied as written; null is None.
    """

    def __init__(self, loader: Any = None) -> None:
        self._loader = loader
        self._values = 0

    def of(self, value: Any, depth: int = 0) -> Any:
        """Return a copy of ``value``. Raises ``ValueError`` if it is too large or too deep."""
        kind = getattr(value, "id", "")
        if kind == "scalar":
            return self._scalar(value)
        items = value.value if kind else value
        if not isinstance(items, (dict, list)):
            return _json(items)
        self._values += len(items)
        if self._values > _MAX_VALUES:
            raise ValueError(f"front matter has more than {_MAX_VALUES:,} values")
        if depth >= _MAX_DEPTH:
            raise ValueError(_TOO_DEEP)
        if kind == "mapping":
            return self._mapping(value, depth)
        if isinstance(items, dict):
            return {key: self.of(item, depth + 1) for key, item in items.items()}
        return [self.of(item, depth + 1) for item in items]

    def _mapping(self, node: Any, depth: int) -> dict[str, Any] | list[str]:
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, item in node.value:
            value = self.of(item, depth + 1)
            if key.tag == f"{_TAG}merge":
                for one in value if isinstance(value, list) else [value]:
                    merged = {**one, **merged} if isinstance(one, dict) else merged
            else:
                own[key.value if key.id == "scalar" else _text(self.of(key, depth + 1))] = value
        if node.tag == f"{_TAG}set":
            return list(own)
        # The mapping's own keys come after merged keys and override them.
        return {**merged, **own}

    def _scalar(self, node: Any) -> str | int | float | bool | None:
        if self._loader is None:
            return None if node.tag == f"{_TAG}null" else str(node.value)
        try:
            value = self._loader.construct_object(node)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - each constructor raises exceptions of its own
            return str(node.value)  # such as a date that does not exist
        return _json(value, node.value)


def _json(value: object, source: str = "") -> str | int | float | bool | None:
    """Return a scalar as JSON data; ``source`` is a YAML scalar as written."""
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int) and not -_TOO_LARGE < value < _TOO_LARGE:
        return source or hex(value)
    return value if value is None or isinstance(value, (int, str)) else str(value)
