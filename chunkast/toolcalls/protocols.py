"""The protocols in which models write tool calls, one row for each form.

A row has regular expressions for the beginning of a call (``opener``), for the tags inside its
body (``marks``) and for what closes it (``tail``). Bodies are XML elements ("elements"), tagged
parameters ("tagged"), JSON ("json") or calls in Python ("python"); each kind has one reader. The
length of every match is bounded, so that only a bounded part of a stream is kept back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from typing import Final, Literal

from chunkast.errors import ConfigError
from chunkast.text.white_space import WHITE_SPACE

__all__ = (
    "NAMES",
    "PROTOCOLS",
    "Protocol",
    "chosen_protocols",
    "protocol_table",
)

_ANY: Final = "auto"
# Stands for the names of the tools in a pattern.
NAMES: Final = "%NAMES%"
_BLANK: Final = f"[{WHITE_SPACE}]{{0,200}}"
_SPACE: Final = r"\s{0,40}"
_NAME: Final = r"[^\s<>\"'=/{}\[\]]{1,256}"
_TO: Final = rf"to=(?:functions\.)?(?P<name>{_NAME})"
_KEY: Final = r"[^<>\"]{1,256}?"
_PREFIX: Final = r"(?:[\w.-]{1,40}:|[｜|]{1,2}DSML[｜|]{1,2})?"
_CHANNEL: Final = r"<\|channel\|>(?:commentary|analysis)"
_CALLS: Final = r"(?:function_calls|tool_calls?|dots_function_call)"


@dataclass(frozen=True, slots=True, eq=False)
class Protocol:
    """A form of tool calls; a protocol has one or several.

    name: the name of the protocol.
    kind: how its bodies are read.
    opener: matches the beginning of a call, with the groups ``name`` (if it contains the tool's
        name), ``id`` (if it contains the call's) and ``body``. The opener of a JSON body ends with the body's first bracket, or with
        the closing tag of a call without arguments.
    sign: matches a part of everything that ``opener`` matches; it begins with a plain character.
    begins: the characters with which ``opener`` may begin; "=" is " to=".
    is_token: whether ``sign`` is in no other text, so that it ends the call that it is in.
    looks: matches what looks like a call when the protocol is not switched on, if not ``opener``.
    marks: matches a tag inside a body of tags.
    tail: matches one thing that belongs to a call and follows its body: a tag, after which it is
        matched again, a closing fence, or what is before the next call of the same opener.
    closers: in a tagged body, the closing tags of a value and of a call; otherwise, each tag that
        may close the call. Repairs insert them (the first of the latter).
    is_lenient: whether closing tags are optional, and tagged values on lines of their own.
    """

    name: str
    kind: Literal["elements", "tagged", "json", "python"]
    opener: str
    sign: str
    begins: str = "<"
    is_token: bool = True
    looks: str = ""
    marks: str = ""
    tail: str = ""
    closers: tuple[str, ...] = ()
    is_lenient: bool = False


def _marks(parameter: str, value_end: str, call_end: str) -> str:
    return (
        rf"(?P<parameter>{parameter})|(?P<value_end>{value_end})|(?P<call_end>{call_end})"
        r"|(?P<cdata><!\[CDATA\[)|(?P<cdata_end>\]\]>)"
    )


def _member(names: str) -> str:
    """Return a pattern for the first member of a call in JSON, with its id and index before it."""
    value = r"(?:[\"'][^\"'\n]{0,99}[\"']|[0-9]{1,9})"
    before = rf"[\"'](?:id|index)[\"']{_SPACE}:{_SPACE}{value}{_SPACE},{_SPACE}"
    return rf"{_SPACE}(?:{before}){{0,2}}[\"'](?:{names})[\"']"


def _quoted(group: str, text: str) -> str:
    """Return a pattern for an attribute's value, in double, single or no quotes."""
    return "(?:" + "|".join(f"{q}(?P<{group}>{text}){q}" for q in ('"', "'", "")) + ")"


_ROWS: Final = (
    Protocol(
        "xml",
        "elements",
        rf"<(?P<name>{NAMES})/?>",
        rf"<{NAMES}",
        is_token=False,
        marks=rf"</{_BLANK}{NAMES}{_BLANK}>",
    ),
    Protocol(
        "invoke",
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
        "json",
        rf"<(?:tool_call|function_call)>{_SPACE}(?P<body>)"
        rf"(?:```\w{{0,20}}{_SPACE})?[{{\[]",
        r"<(?:tool_call|function_call)>",
        tail=rf"(?<!>)[}}\]\s]{{0,99}}(?:```{_SPACE})?</[\w:]{{0,20}}(?:tool|call|function)\w{{0,20}}>"
        r"|(?P<more>(?<!>)[\s,]{0,99}(?=\{))",
        closers=("</tool_call>", "</function_call>"),
    ),
    Protocol(
        "qwen3-coder",
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
        "json",
        rf"\[TOOL_CALLS\]{_SPACE}(?:(?P<name>{_NAME}){_SPACE}(?:\[CALL_ID\](?P<id>\w{{1,64}}))?"
        rf"(?:\[ARGS\])?{_SPACE})?(?P<body>)(?:\{{|\[(?={_SPACE}\{{))",
        r"[TOOL_CALLS\]",
        begins="[",
    ),
    Protocol(
        "llama",
        "json",
        rf"<\|python_tag\|>{_SPACE}(?P<body>)(?:\{{|\[(?={_SPACE}\{{))",
        r"<\|python_tag\|>",
        tail=rf"(?P<more>{_SPACE};{_SPACE}(?=\{{))",
    ),
    Protocol(
        "llama",
        "python",
        rf"<\|python_(?:tag|start)\|>{_SPACE}(?P<body>)(?P<name>[\w.]{{1,256}}?)(?:\.call)?\(",
        r"<\|python_(?:tag|start)\|>",
        tail=rf"{_SPACE}<\|python_end\|>",
    ),
    Protocol(
        "llama",
        "json",
        rf"<function={_SPACE}(?P<name>{_NAME}){_SPACE}>{_SPACE}(?P<body>)(?:\{{|</function>)",
        "<function=",
        tail=rf"{_SPACE}</function>",
        closers=("</function>",),
    ),
    Protocol(
        "llama",
        "python",
        rf"(?:<\|python_start\|>{_SPACE})?(?<![\w\]`!\\])(?P<body>)"
        rf"\[(?={_SPACE}[^\W\d][\w.]{{0,255}}\({_SPACE}(?:\)|\w{{1,256}}{_SPACE}=))",
        rf"[{_SPACE}[^\W\d][\w.]{{0,255}}\(",
        begins="[<",
        is_token=False,
        looks=rf"(?<![\w\]`!\\])\[{_SPACE}{NAMES}\({_SPACE}(?:\)|\w{{1,256}}{_SPACE}=)",
        tail=rf"{_SPACE}<\|python_end\|>",
    ),
    Protocol(
        "deepseek",
        "json",
        rf"(?:<｜tool▁calls▁begin｜>{_SPACE})?<｜tool▁call▁begin｜>{_SPACE}"
        rf"(?:\w{{1,40}}{_SPACE}<｜tool▁sep｜>{_SPACE})?(?P<name>{_NAME}){_SPACE}"
        rf"(?:<｜tool▁sep｜>{_SPACE})?(?:```\w{{0,20}}{_SPACE})?(?P<body>)"
        r"(?:\{|<｜tool▁call▁end｜>)",
        "<｜tool▁call▁begin｜>",
        tail=rf"{_SPACE}(?:```{_SPACE})?<｜tool▁calls?▁end｜>",
        closers=("<｜tool▁call▁end｜>",),
    ),
    Protocol(
        "kimi",
        "json",
        rf"(?:<\|tool_calls?_section_begin\|>{_SPACE})?<\|tool_call_begin\|>{_SPACE}"
        rf"(?:(?P<id>(?:functions\.)?(?P<name>{_NAME}?):\d{{1,9}})|(?:functions\.)?(?P<name>{_NAME}?))"
        rf"{_SPACE}"
        rf"<\|tool_call_argument_begin\|>{_SPACE}(?P<body>)(?:\{{|<\|tool_call_end\|>)",
        r"<\|tool_call_begin\|>",
        tail=rf"{_SPACE}<\|tool_calls?(?:_section)?_end\|>",
        closers=("<|tool_call_end|>",),
    ),
    Protocol(
        "harmony",
        "json",
        rf"(?:(?:<\|start\|>assistant\s{{1,9}}|[ \n]){_TO}{_CHANNEL}"
        rf"|(?:<\|start\|>assistant)?{_CHANNEL}\s{{1,9}}{_TO})"
        rf"{_SPACE}(?:<\|constrain\|>)?{_SPACE}(?:json|code)?{_SPACE}<\|message\|>{_SPACE}"
        r"(?P<body>)(?:\{|<\|call\|>)",
        r"<\|channel\|>",
        begins="<=",
        tail=rf"{_SPACE}<\|call\|>",
        closers=("<|call|>",),
        is_lenient=True,
    ),
    Protocol(
        "json",
        "json",
        rf"(?:\n {{0,3}}```\w{{0,20}}[ \t]{{0,9}}\n{_SPACE}|(?<![\w`\"'\\:,\[{{]))"
        rf"(?P<body>)(?:\[(?={_SPACE}\{{{_member('name|type|function')})"
        rf"|\{{(?={_member('name|type|function|arguments|parameters')}))",
        rf"{{{_member('name|type|function|arguments|parameters')}",
        begins="{[\n",
        is_token=False,
        looks=rf"\{{\s{{0,9}}\"name\"\s{{0,9}}:\s{{0,9}}\"{NAMES}\"\s{{0,9}},\s{{0,9}}\"(?:arguments|parameters)\"",
        tail=r"\s{0,99}\n {0,3}```[ \t]{0,99}(?=\n)",
    ),
)

# The rows of each protocol by its name.
PROTOCOLS: Final[Mapping[str, tuple[Protocol, ...]]] = {
    name: tuple(rows) for name, rows in groupby(_ROWS, lambda row: row.name)
}


def chosen_protocols(names: object) -> tuple[Protocol, ...]:
    """Return the rows of the named protocols in the order of the table; "auto" means all rows.

    Llama also writes bare JSON, so "llama" includes "json". Raises ``ConfigError`` for anything but
    "auto" or names of protocols.
    """
    chosen = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    if not chosen or any(not isinstance(n, str) or n not in (_ANY, *PROTOCOLS) for n in chosen):
        raise ConfigError("protocols", names, f"must be 'auto' or some of {', '.join(PROTOCOLS)}")
    chosen += ["json"] * ("llama" in chosen)
    return tuple(row for row in _ROWS if row.name in chosen or _ANY in chosen)


def protocol_table() -> str:
    """Return the forms of all protocols as a Markdown table: who writes them, and what stays text."""
    return (files(__package__) / "protocols.md").read_bytes().decode("utf-8")
