"""The heuristics that repair the XML body of a call. Each is a pure function of a text or a value.

Before the parse: ``normalize-close-tags`` and ``escape-invalid-lt``. After a failed parse:
``balance-tags`` and ``dedupe-shell-string-tags``. After a successful parse:
``repair-against-schema``.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import reduce
from typing import Any, Final

from chunkast.heuristics import Draft, Heuristic, Patch, Pipeline
from chunkast.text.white_space import WHITE_SPACE
from chunkast.toolcalls.call_model import Tool
from chunkast.toolcalls.json_schema import Schema
from chunkast.toolcalls.values import MAX_DEPTH
from chunkast.toolcalls.xml_body import BodyError, read_body

__all__ = (
    "BALANCE_TAGS",
    "DEDUPE_SHELL_STRING_TAGS",
    "ESCAPE_INVALID_LT",
    "NORMALIZE_CLOSE_TAGS",
    "REPAIR_AGAINST_SCHEMA",
    "ToolDraft",
    "ToolHeuristic",
    "ToolPipeline",
    "default_pipeline",
)

# The value is the call's arguments, the context the tool that is called.
ToolDraft = Draft[dict[str, Any], Tool]
# A heuristic for the body of a call.
ToolHeuristic = Heuristic[dict[str, Any], Tool]
# The heuristics for the bodies of calls, by phase.
ToolPipeline = Pipeline[dict[str, Any], Tool]

_MALFORMED_CLOSE: Final = re.compile(rf"</[{WHITE_SPACE}]+([A-Za-z0-9_:-]+)[{WHITE_SPACE}]*>")
_INVALID_LT: Final = re.compile(r"<(?![A-Za-z_:/!?]|[0-9]+/?>)")
# The end of one step of a plan and the beginning of the next.
_STATUS_THEN_STEP: Final = re.compile(rf"</status>[{WHITE_SPACE}]*(?=<step>)")
_TAG_NAME: Final = re.compile(rf"</?[{WHITE_SPACE}]*([^{WHITE_SPACE}<>/]*)")


def normalize_close_tags(text: str) -> str:
    """Remove white space around the name in closing tags such as ``</ name >``.

    Closing tags without white space before the name are left unchanged.
    """
    return _MALFORMED_CLOSE.sub(r"</\1>", text)


def escape_invalid_lt(text: str) -> str:
    """Escape as ``&lt;`` every ``<`` that cannot begin a tag or a numbered item such as ``<0>``."""
    return _INVALID_LT.sub("&lt;", text)


def balance_tags(text: str) -> str:
    """Close open elements in ``text``, and remove unpaired closing tags.

    A closing tag also closes the open elements inside its element. A closing tag that is cut off
    by another tag or by the end of the text is completed. All other tags end at the next ``>``.
    """
    text = _STATUS_THEN_STEP.sub("</status></step>", normalize_close_tags(text))
    out: list[str] = []
    stack: list[str] = []
    waiting: Counter[str] = Counter()
    pos = end = 0
    while (at := text.find("<", pos)) >= 0:
        out.append(text[pos:at])
        if end <= at:
            end = text.find(">", at) + 1 or len(text) + 1  # searched once, however far it is
        if text.startswith("</", at):
            name, pos = _name_of(text, at)
            is_cut = end > len(text) or text.find("<", at + 1, end) >= 0
            if not is_cut:
                pos = end
            if waiting[name]:
                _close(name, f"</{name}>" if is_cut else text[at:pos], stack, waiting, out)
            elif is_cut and (text[at + 2] in WHITE_SPACE if name else pos < len(text)):
                out.append(text[at:pos])  # presumably not a tag
            continue
        if end > len(text):
            # Unfinished; a "<" alone is ignored.
            pos = len(text) if at == len(text) - 1 else at
            break
        pos = end
        name, _ = _name_of(text, at)
        out.append(text[at:end])
        if name and text[at + 1] not in "!?" and not text.endswith("/", at, end - 1):
            stack.append(name)
            waiting[name] += 1
    out.append(text[pos:])
    out.extend(f"</{name}>" for name in reversed(stack))
    return "".join(out)


def _name_of(text: str, at: int) -> tuple[str, int]:
    """Return the name of the tag at ``at``, and the position at which the name ends."""
    match = _TAG_NAME.match(text, at)
    return (match[1], match.end()) if match else ("", at + 1)


def _close(
    name: str, written: str, stack: list[str], waiting: Counter[str], out: list[str]
) -> None:
    """Close the open elements inside the innermost ``name``, then close it with ``written``."""
    while True:
        inner = stack.pop()
        waiting[inner] -= 1
        if inner == name:
            out.append(written)
            return
        out.append(f"</{inner}>")


def _balance_applies(draft: ToolDraft) -> bool:
    """Return whether balancing changes the body and is not merely a guess.

    Adding tags is a guess, unless the body contains a malformed closing tag, because that tag may
    be the missing one.
    """
    normal = normalize_close_tags(draft.original)
    balanced = balance_tags(draft.original)
    adds = len(balanced) > len(normal) and not _MALFORMED_CLOSE.search(draft.original)
    return balanced != normal and not adds


def keep_last_tag(text: str, name: str) -> str:
    """Remove every element ``<name>...</name>`` from ``text`` except the last one."""
    closer = f"</{name}>"
    # Up to the last closing tag, so that no search for one reads the rest of the text in vain.
    end = text.rfind(closer) + len(closer)
    element = re.compile(f"<{re.escape(name)}>.*?{re.escape(closer)}", re.DOTALL)
    starts = [match.start() for match in element.finditer(text, 0, end)]
    last = starts[-1] if starts else 0
    return element.sub("", text[:last]) + text[last:]


def string_properties(schema: Schema) -> list[str]:
    """Return the names of the properties whose only type is string."""
    return [name for name in schema.properties if _type_of(schema, name) == "string"]


def _is_shell(draft: ToolDraft) -> bool:
    """Return whether the tool takes its command as a list.

    Calls of such tools may also repeat the tags of other parameters.
    """
    return _type_of(Schema(draft.context.json_schema), "command") == "array"


def _dedupe(draft: ToolDraft) -> Patch[dict[str, Any]]:
    names = string_properties(Schema(draft.context.json_schema))
    source = reduce(keep_last_tag, names, draft.source)
    return Patch() if source == draft.source else Patch(source=source, retry=True)


def _type_of(schema: Schema, name: str) -> object:
    """Return the type of a property as written in the schema, or ``None`` if it is not declared.

    A list of types is returned as a list.
    """
    known = schema.property(name)
    return known and known.resolved.get("type")


def repair_against_schema(value: Any, schema: Schema, depth: int = 0) -> Any:
    """Return ``value`` with XML strings in lists parsed where the schema requires objects."""
    if depth >= MAX_DEPTH:
        return value
    if isinstance(value, dict):
        return {
            name: member if known is None else repair_against_schema(member, known, depth + 1)
            for name, member in value.items()
            for known in (schema.property(name),)
        }
    if isinstance(value, list) and schema.items is not None:
        return [_repaired_item(item, schema.items, depth) for item in value]
    return value


def _repaired_item(item: Any, schema: Schema, depth: int) -> Any:
    if not isinstance(item, str) or schema.kind != "object":
        return repair_against_schema(item, schema, depth + 1)
    try:
        return read_body(item, schema).arguments or item
    except BodyError:
        return item


# Before a parse: remove white space around the names in closing tags such as ``</ city >``.
NORMALIZE_CLOSE_TAGS: Final[ToolHeuristic] = Heuristic(
    "normalize-close-tags",
    "pre-parse",
    lambda draft: Patch(source=normalize_close_tags(draft.source)),
)
# Before a parse: escape each ``<`` that begins no tag.
ESCAPE_INVALID_LT: Final[ToolHeuristic] = Heuristic(
    "escape-invalid-lt", "pre-parse", lambda draft: Patch(source=escape_invalid_lt(draft.source))
)
# After a failed parse: close open elements, and remove closing tags without an opening tag.
BALANCE_TAGS: Final[ToolHeuristic] = Heuristic(
    "balance-tags",
    "fallback-reparse",
    lambda draft: Patch(source=escape_invalid_lt(balance_tags(draft.original)), retry=True),
    _balance_applies,
)
# After a failed parse: of a parameter of a shell tool that is repeated, keep the last.
DEDUPE_SHELL_STRING_TAGS: Final[ToolHeuristic] = Heuristic(
    "dedupe-shell-string-tags", "fallback-reparse", _dedupe, _is_shell
)
# After a parse: parse strings of XML where the schema requires a list of objects.
REPAIR_AGAINST_SCHEMA: Final[ToolHeuristic] = Heuristic(
    "repair-against-schema",
    "post-parse",
    lambda draft: Patch(
        value=repair_against_schema(draft.value, Schema(draft.context.json_schema))
    ),
    lambda draft: isinstance(draft.value, (dict, list)),
)

# The five repairs above, in this order: the pipeline of the protocol "xml".
default_pipeline: Final[ToolPipeline] = Pipeline(
    (NORMALIZE_CLOSE_TAGS, ESCAPE_INVALID_LT),
    (BALANCE_TAGS, DEDUPE_SHELL_STRING_TAGS),
    (REPAIR_AGAINST_SCHEMA,),
)
