"""The protocols in which models write tool calls, one row each.

A row has regular expressions for the beginning of a call (``opener``), for the tags inside its
body (``marks``) and for what closes it (``tail``). Bodies are XML elements ("elements"), tagged
parameters ("tagged") or JSON ("json"); each kind has one reader. The length of every match is
bounded, so that only a bounded part of a stream is kept back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from chunkast.errors import ConfigError
from chunkast.text.white_space import WHITE_SPACE

__all__ = (
    "CLOSERS",
    "NAMES",
    "PROTOCOLS",
    "Protocol",
    "chosen_protocols",
    "plain",
    "protocol_table",
)

_ANY: Final = "auto"
# The closing tags of JSON bodies.
CLOSERS: Final = ("</tool_call>", "</function_call>")
# Stands for the names of the tools in a pattern.
NAMES: Final = "%NAMES%"
_BLANK: Final = f"[{WHITE_SPACE}]{{0,200}}"
_SPACE: Final = r"\s{0,40}"
_NAME: Final = r"[^\s<>\"'=/{}\[\]]{1,256}"
_KEY: Final = r"[^<>\"]{1,256}?"
_PREFIX: Final = r"(?:[\w.-]{1,40}:)?"
_CALLS: Final = r"(?:function_calls|tool_calls?|dots_function_call)"


@dataclass(frozen=True, slots=True)
class Protocol:
    """A way of writing tool calls.

    name: the name of the protocol.
    written_by: the models that write calls like this.
    form: an example of a call of the tool ``N``.
    seen: the projects whose public parsers or templates have this form.
    stays: what looks like a call but stays text.
    kind: how its bodies are read.
    opener: matches the beginning of a call, with the groups ``name`` (if it contains the tool's
        name) and ``body``. The opener of a JSON body ends with the body's first bracket.
    sign: matches a part of everything that ``opener`` matches; it begins with a plain character.
    looks: matches what looks like a call when the protocol is not switched on, if not ``opener``.
    marks: matches a tag inside a body of tags.
    tail: matches one thing that belongs to a call and follows its body, such as a closing tag.
    closers: the closing tags of a value and of a call, which repairs insert.
    is_lenient: whether values are on lines of their own and closing tags inside the body optional.
    """

    name: str
    written_by: str
    form: str
    seen: str
    stays: str
    kind: Literal["elements", "tagged", "json"]
    opener: str
    sign: str
    looks: str = ""
    marks: str = ""
    tail: str = ""
    closers: tuple[str, str] = ("", "")
    is_lenient: bool = False


def _marks(parameter: str, value_end: str, call_end: str) -> str:
    return (
        rf"(?P<parameter>{parameter})|(?P<value_end>{value_end})|(?P<call_end>{call_end})"
        r"|(?P<cdata><!\[CDATA\[)|(?P<cdata_end>\]\]>)"
    )


def _quoted(group: str, text: str) -> str:
    """Return a pattern for an attribute's value, in double, single or no quotes."""
    return "(?:" + "|".join(f"{q}(?P<{group}>{text}){q}" for q in ('"', "'", "")) + ")"


PROTOCOLS: Final = {
    row.name: row
    for row in (
        Protocol(
            "xml",
            "any model that is shown this form",
            "<N><K>v</K></N>",
            "ai-sdk-tool-call-middleware, Cline, Roo Code",
            "a tag with attributes; a call that is never closed",
            "elements",
            rf"<(?P<name>{NAMES})/?>",
            rf"<{NAMES}",
            marks=rf"</{_BLANK}{NAMES}{_BLANK}>",
        ),
        Protocol(
            "invoke",
            "Claude; MiniMax M2, dots and Step3 with other wrappers",
            '<invoke name="N"><parameter name="K">v</parameter></invoke>',
            "vLLM, SGLang, llama.cpp",
            "a call in a fence; a value that is never closed",
            "tagged",
            rf"(?:(?:<{_PREFIX}{_CALLS}>|<｜tool_calls?_begin｜>(?:function<｜tool_sep｜>)?){_SPACE}){{0,3}}"
            rf"<{_PREFIX}invoke\s{{1,99}}name={_quoted('name', _NAME)}\s{{0,9}}>(?P<body>)",
            rf"<{_PREFIX}invoke\s",
            marks=_marks(
                rf"<{_PREFIX}param(?:eter)?\s{{1,99}}name={_quoted('key', _KEY)}"
                r"(?:\s[^<>]{0,200})?>",
                rf"</{_PREFIX}param(?:eter)?>",
                rf"</{_PREFIX}invoke>",
            ),
            tail=rf"{_SPACE}(?:</{_PREFIX}{_CALLS}>|<｜tool_calls?_end｜>)",
            closers=("</parameter>", "</invoke>"),
        ),
        Protocol(
            "hermes",
            "Hermes 2 and 3, Qwen 2.5 and 3",
            '<tool_call>{"name": "N", "arguments": {"K": "v"}}</tool_call>',
            "vLLM, SGLang, llama.cpp, Hermes-Function-Calling",
            "a call in a fence; JSON that is cut off",
            "json",
            rf"<(?:tool_call|function_call)>{_SPACE}(?P<body>)"
            rf"(?:```\w{{0,20}}{_SPACE})?[{{\[]",
            r"<(?:tool_call|function_call)>",
            tail=rf"[}}\]\s]{{0,99}}(?:```{_SPACE})?</[\w:]{{0,20}}(?:tool|call|function)\w{{0,20}}>"
            r"|[\s,]{0,99}(?=\{)",
            closers=("", "</tool_call>"),
        ),
        Protocol(
            "qwen3-coder",
            "Qwen3-Coder, MiMo, Step3.5",
            "<tool_call><function=N><parameter=K>v</parameter></function></tool_call>",
            "vLLM, SGLang, llama.cpp",
            "a call in a fence; a value that is cut off",
            "tagged",
            rf"(?:<tool_call>{_SPACE})?<function={_SPACE}(?P<name>{_NAME}){_SPACE}>(?P<body>)"
            rf"(?={_SPACE}<)",
            "<function=",
            marks=_marks(
                r"<parameter=(?P<key>[^<>]{1,256})>", "</parameter>", "</(?:function|tool_call)>"
            ),
            tail=rf"{_SPACE}</tool_call>",
            closers=("</parameter>", "</function>"),
            is_lenient=True,
        ),
        Protocol(
            "glm",
            "GLM 4.5 to 5",
            "<tool_call>N<arg_key>K</arg_key><arg_value>v</arg_value></tool_call>",
            "vLLM, SGLang, llama.cpp",
            "a call in a fence; a value that is cut off",
            "tagged",
            rf"<tool_call>{_SPACE}(?P<name>{_NAME})(?P<body>){_SPACE}"
            r"(?=<arg_key>|</tool_call>)",
            "<tool_call>",
            marks=_marks(
                rf"<arg_key>(?P<key>[^<>]{{1,256}})</arg_key>{_SPACE}<arg_value>",
                "</arg_value>",
                "</tool_call>",
            ),
            closers=("</arg_value>", "</tool_call>"),
        ),
        Protocol(
            "mistral",
            "Mistral 7B v0.3 to Mistral Large and Devstral",
            '[TOOL_CALLS] [{"name": "N", "arguments": {"K": "v"}}]',
            "vLLM, SGLang, llama.cpp, mistral-common",
            "a call in a fence; a list that is cut off",
            "json",
            rf"\[TOOL_CALLS\]{_SPACE}(?:(?P<name>{_NAME}){_SPACE}(?:\[CALL_ID\]\w{{1,64}})?"
            rf"(?:\[ARGS\])?{_SPACE})?(?P<body>)(?:\{{|\[(?={_SPACE}\{{))",
            r"[TOOL_CALLS\]",
        ),
        Protocol(
            "json",
            "many models, asked for JSON",
            '{"name": "N", "arguments": {"K": "v"}}',
            "vLLM, SGLang, llama.cpp",
            "inline code; a fence with more than the call; a tool's definition",
            "json",
            rf"(?:\n {{0,3}}```\w{{0,20}}[ \t]{{0,9}}\n{_SPACE}|(?<![\w`\"'\\:,\[{{]))"
            rf"(?P<body>)(?:\[(?={_SPACE}\{{{_SPACE}[\"'](?:name|type|function)[\"'])"
            rf"|\{{(?={_SPACE}[\"'](?:name|type|function|arguments|parameters)[\"']))",
            rf"{{{_SPACE}[\"'](?:name|type|function|arguments|parameters)[\"']",
            looks=rf"\{{\s{{0,9}}\"name\"\s{{0,9}}:\s{{0,9}}\"{NAMES}\"\s{{0,9}},\s{{0,9}}\"(?:arguments|parameters)\"",
            tail=r"\s{0,99}\n {0,3}```[ \t]{0,99}(?=\n)",
        ),
    )
}


def chosen_protocols(names: object) -> tuple[Protocol, ...]:
    """Return the rows of the named protocols in the order of the table; "auto" means all rows.

    Raises ``ConfigError`` for anything but "auto" or names of protocols.
    """
    chosen = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    if not chosen or any(not isinstance(n, str) or n not in (_ANY, *PROTOCOLS) for n in chosen):
        raise ConfigError("protocols", names, f"must be 'auto' or some of {', '.join(PROTOCOLS)}")
    return tuple(row for row in PROTOCOLS.values() if row.name in chosen or _ANY in chosen)


def protocol_table() -> str:
    """Return the protocols as a Markdown table: what is read, and what is not."""
    rows = [("protocol", "written by", "a call of the tool N", "seen in", "stays text")]
    rows.append(("---",) * 5)
    rows += [
        (f"`{row.name}`", row.written_by, f"`{row.form}`", row.seen, row.stays)
        for row in PROTOCOLS.values()
    ]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def plain(pattern: str) -> str:
    """Return ``pattern`` without named groups, for use inside another pattern."""
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)
