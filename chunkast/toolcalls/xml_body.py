"""Parse the XML body of a call into arguments.

If the schema declares a value as a string, the value is the text between its tags, including white
space and markup, with the five XML entities decoded. All other values are read as elements: text is
trimmed and decoded, child elements become an object, and repeated elements become a list. Comments
and declarations are ignored. Attributes and text between parameters are dropped and reported. Text
with markup stays text if it has no schema.

If the schema of an element requires an object, and the element has no child elements, its text is
read as JSON or YAML. If the text is neither, and the schema's only property is a string, the text
is the value of that property.

An element that no schema declares is transparent: inside it, names have the same schemas as
outside. This is how parameters inside a wrapper such as ``<arguments>`` are found.

A second element with the name of a string parameter makes the call invalid, because either element
may be meant. Elements inside a string do not count. If all elements with that name are inside
objects, they belong to those objects.

Elements must be closed in the right order; heuristics repair bodies in which they are not. The text
is read only once.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from chunkast.text.white_space import WHITE_SPACE
from chunkast.toolcalls.json_schema import Schema, shortened
from chunkast.toolcalls.values import MAX_DEPTH, coerced, guessed, listed, load_json

__all__ = ("Body", "BodyError", "read_body")

# A tag with a name or with the number of an item. An attribute contains no "<", in quotes or not,
# so that a search stops at the next one.
_TAG: Final = re.compile(
    r"""<(?P<close>/?)(?P<name> [^\W\d][^\s<>/="'!?]* | :[^\s<>/="'!?]* | [0-9]+(?=/?>) )
    (?![^\s<>/="'!?])
    (?: [^<>"']* (?: (?:"[^"<]*"|'[^'<]*') [^<>"']* )* | [^<>]* )>""",
    re.VERBOSE,
)
_TAG_BEGINNING: Final = re.compile(r"</?[A-Za-z_:]")
_CDATA: Final = "<![CDATA["
# The beginning and end of markup that is not read.
_IGNORED_MARKUP: Final = (("<!--", "-->"), ("<!", ">"), ("<?", ">"))
# "&amp;" is last, so that nothing is decoded twice.
_ENTITIES: Final = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))


class BodyError(ValueError):
    """Raised if the arguments in a body cannot be read, for example because a tag is not closed."""


@dataclass(frozen=True, slots=True)
class Body:
    """The arguments in a body, and the positions of arguments and dropped content.

    places: the span of each outermost element's content, by the element's name.
    dropped: the pieces of dropped content, each with the path of its element, its kind ("text" or
        "attributes") and its span.
    id: the id of the call, or ``None`` if the body does not contain it.
    """

    arguments: dict[str, Any]
    places: dict[str, tuple[int, int]]
    dropped: list[tuple[str, str, tuple[int, int]]]
    id: str | None = None


@dataclass(slots=True)
class _Element:
    """An element that is being read.

    ``schema`` is the schema of the element's value, or ``None`` if the element is not declared.
    ``members`` is the schema that declares the elements inside it. ``start`` is the position at
    which its content begins. ``spans`` are the positions of the pieces of text in ``text``.
    """

    name: str
    start: int
    schema: Schema | None
    members: Schema | None
    children: list[tuple[str, Any]] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)


def read_body(source: str, schema: Schema) -> Body:
    """Return the arguments in a call's body, and the positions of arguments and dropped content.

    Raises ``BodyError`` if the body cannot be read.
    """
    reader = _BodyReader(source, schema)
    members = reader.read()
    if len(members) == 1 and not members.keys() & schema.properties.keys():
        [inside] = members.values()
        if isinstance(inside, str) and schema.properties:
            inside = _object_in(inside, schema)
        if isinstance(inside, dict) and schema.properties.keys() & inside.keys():
            members = inside
    arguments: dict[str, Any] = {}
    for name, value in members.items():
        known = schema.property(name)
        arguments[name] = guessed(value) if known is None else coerced(value, known, 1)
    return Body(arguments, reader.places, reader.dropped)


class _BodyReader:
    """Reads a body once, from beginning to end."""

    def __init__(self, source: str, schema: Schema) -> None:
        self.source, self.parameters = source, schema
        # The string parameters that were read, and the elements of a string parameter's name
        # that were read inside objects.
        self.seen: set[str] = set()
        self.nested: set[str] = set()
        self.open = [_Element("", 0, schema, schema)]
        self.places: dict[str, tuple[int, int]] = {}
        self.dropped: list[tuple[str, str, tuple[int, int]]] = []

    def read(self) -> dict[str, Any]:
        """Return the value of each outermost element by name, or the object in the text."""
        source, pos = self.source, 0
        while (at := source.find("<", pos)) >= 0:
            self.text(pos, at)
            pos = self.markup(at)
        self.text(pos, len(source))
        if len(self.open) > 1:
            name, at = shortened(self.open[-1].name), self.open[-1].start
            raise BodyError(f"<{name}>, with its content from {at} on, is not closed")
        [body] = self.open
        whole = None if body.children else self.whole("".join(body.text))
        if whole is not None:
            return whole
        self.drop(body.spans)
        return _grouped(body.children)

    def whole(self, text: str) -> dict[str, Any] | None:
        """Return the arguments in a body without elements, or ``None`` if the text is no object."""
        found, names = _object_in(text, self.parameters), [*self.parameters.properties]
        known = self.parameters.property(names[0]) if len(names) == 1 else None
        is_string = known and known.kind == "string" and text.strip(WHITE_SPACE)
        return {names[0]: text} if found is None and is_string else found

    def text(self, start: int, end: int) -> None:
        """Add the text in ``[start, end)`` to the innermost open element."""
        self.open[-1].text.append(decoded(self.source[start:end]))
        self.open[-1].spans.append((start, end))

    def drop(self, spans: list[tuple[int, int]], what: str = "text", *inside: str) -> None:
        """Record the content in ``spans`` as dropped, except for blank spans.

        ``what`` is the kind of content. ``inside`` is the path from the innermost open element to
        the element that the content belongs to.
        """
        path = ".".join((*(element.name for element in self.open[1:]), *inside))
        for start, end in spans:
            if self.source[start:end].strip(WHITE_SPACE):
                self.dropped.append((path, what, (start, end)))

    def markup(self, at: int) -> int:
        """Read the markup whose "<" is at ``at``, and return the position at which to continue."""
        source = self.source
        tag = _TAG.match(source, at)
        if tag is not None:
            return self.close(tag) if tag["close"] else self.begin(tag)
        if source.startswith(_CDATA, at):
            end = self.find("]]>", at)
            self.open[-1].text.append(source[at + len(_CDATA) : end - 3])
            self.open[-1].spans.append((at, end))
            return end
        for opener, closer in _IGNORED_MARKUP:
            if source.startswith(opener, at):
                return self.find(closer, at)
        if _TAG_BEGINNING.match(source, at):
            raise BodyError(f"the tag at {at} has no end")
        self.open[-1].text.append("<")
        return at + 1

    def find(self, closer: str, at: int) -> int:
        end = self.source.find(closer, at)
        if end < 0:
            raise BodyError(f"the markup at {at} has no {closer}")
        return end + len(closer)

    def begin(self, tag: re.Match[str]) -> int:
        name, parent = tag["name"], self.open[-1]
        schema = parent.members and parent.members.property(name)
        self.count(tag, parent)
        attributes = tag.end("name"), tag.end() - (2 if _is_empty(tag) else 1)
        if schema is not None and schema.kind == "string":
            self.drop([attributes], "attributes", name)
            return self.string(tag, parent)
        if len(self.open) > MAX_DEPTH:
            at = tag.start()
            raise BodyError(f"the element at {at} is nested deeper than {MAX_DEPTH} levels")
        members = parent.members if schema is None else _members_of(schema)
        self.open.append(_Element(name, tag.end(), schema, members))
        self.drop([attributes], "attributes")
        if _is_empty(tag):
            self.end(tag.end())
        return tag.end()

    def count(self, tag: re.Match[str], parent: _Element) -> None:
        """Record an element that has the name of a string parameter.

        Raises ``BodyError`` if this element and an earlier one may both be that parameter.
        """
        name = tag["name"]
        parameter = self.parameters.property(name)
        if parameter is None or parameter.kind != "string":
            return
        own = parent.members is self.parameters
        if name in self.seen or (own and name in self.nested):
            raise BodyError(
                f"<{shortened(name)}> at {tag.start()} comes twice; it must be one string"
            )
        (self.seen if own else self.nested).add(name)

    def string(self, tag: re.Match[str], parent: _Element) -> int:
        """Read the string that begins after ``tag``, and return the end of its closing tag."""
        name = tag["name"]
        start = end = stop = tag.end()
        depth = 0 if _is_empty(tag) else 1
        while depth:
            inner = _tags_of(name).search(self.source, stop)
            if inner is None:
                raise BodyError(f"<{shortened(name)}> at {tag.start()} is not closed")
            end, stop = inner.span()
            if not _is_empty(inner):
                depth += -1 if inner["close"] else 1
        parent.children.append((name, decoded(self.source[start:end])))
        if parent is self.open[0]:
            self.places[name] = start, end
        return stop

    def close(self, tag: re.Match[str]) -> int:
        name = self.open[-1].name
        if tag["name"] != name:
            expected = f"</{shortened(name)}>" if name else "no closing tag"
            raise BodyError(f"</{shortened(tag['name'])}> at {tag.start()}; expected {expected}")
        self.end(tag.start())
        return tag.end()

    def end(self, pos: int) -> None:
        """Close the innermost element, whose content ends at ``pos``, and add it to its parent."""
        element = self.open[-1]
        value = self.value(element, pos)
        self.open.pop()
        self.open[-1].children.append((element.name, value))
        if len(self.open) == 1:
            self.places[element.name] = element.start, pos

    def value(self, element: _Element, end: int) -> Any:
        written = "".join(element.text)
        text = written.strip(WHITE_SPACE)
        kind = element.schema and element.schema.kind
        if not element.children:
            found = _object_in(written, element.schema) if kind == "object" else None
            return text if found is None else found
        members = _grouped(element.children)
        declared = element.members.properties.keys() if element.members else frozenset[str]()
        if kind == "object" or declared & members.keys():
            self.drop(element.spans)
            return members
        items = listed(members, numbers=kind is None)
        if text and items is None:
            # Presumably text that contains markup.
            return decoded(self.source[element.start : end]).strip(WHITE_SPACE)
        self.drop(element.spans)
        return members if items is None or kind is not None else items


def _object_in(text: str, schema: Schema | None) -> dict[str, Any] | None:
    """Return the object that is the text of an element, as JSON or YAML, or ``None``."""
    if schema is None or schema.kind not in (None, "object"):
        return None
    with suppress(ValueError):
        if isinstance(value := load_json(text), dict):
            return value
    from chunkast.toolcalls.yaml_body import read_yaml

    return read_yaml(text, schema)


def _members_of(schema: Schema) -> Schema | None:
    """Return the schema that declares the elements inside a value, or ``None``.

    For a list, it is the schema of the list's items.
    """
    inner: Schema | None = schema
    for _ in range(MAX_DEPTH):  # a list's items may be lists of the same schema, without end
        if inner is None or inner.kind != "array":
            break
        inner = inner.items
    return inner if inner is not None and inner.properties else None


def _grouped(children: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the values of elements by name, in order of first appearance.

    The values of elements with the same name become a list.
    """
    groups: dict[str, list[Any]] = {}
    for name, value in children:
        groups.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in groups.items()}


def _is_empty(tag: re.Match[str]) -> bool:
    return not tag["close"] and tag[0].endswith("/>")


@lru_cache(maxsize=256)
def _tags_of(name: str) -> re.Pattern[str]:
    return re.compile(
        rf"<(?P<close>/[{WHITE_SPACE}]*)?{re.escape(name)}(?=[{WHITE_SPACE}/>])[^<>]*>"
    )


def decoded(text: str) -> str:
    """Return ``text`` with the five XML entities decoded."""
    if "&" in text:
        for entity, character in _ENTITIES:
            text = text.replace(entity, character)
    return text
