"""Split text into tool calls and the text around them, at once or as it arrives."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Generic, TypedDict, TypeVar, overload

from chunkast.errors import ChunkastError, ConfigError, MissingPackageError, check_count
from chunkast.heuristics import DEFAULT_REPARSES, Draft, Pipeline, run_pipeline
from chunkast.options import Unpack
from chunkast.toolcalls.body import Opener
from chunkast.toolcalls.call_model import Event, Part, Text, Tool, ToolCall, ToolProblem
from chunkast.toolcalls.deltas import Deltas
from chunkast.toolcalls.finder import KINDS, CallFinder, Found
from chunkast.toolcalls.json_schema import Schema, all_problems, shortened
from chunkast.toolcalls.protocols import chosen_protocols
from chunkast.toolcalls.repairs import ToolDraft, ToolHeuristic, ToolPipeline
from chunkast.toolcalls.tools import tools_by_name
from chunkast.toolcalls.values import json_problem
from chunkast.toolcalls.xml_body import Body, BodyError

__all__ = ("MAX_CALL_SIZE", "OnError", "OnProblem", "ToolCallStream", "parse_tool_calls")

# Called with an error message and the metadata of the call.
OnError = Callable[[str, Mapping[str, Any]], object]
# Called with each problem; see ``ToolCallStream``.
OnProblem = Callable[[ToolProblem], object]
_Mistakes = list[tuple[str, str]]
_AnyPart = Part | Event

_METADATA: Final = ("tool_name", "tool_call", "start_index", "end_index", "error", "notes")
# An opening tag that is not closed within this many characters is text. It is several times
# what a model writes at once.
MAX_CALL_SIZE: Final = 1_000_000


class Options(TypedDict, total=False):
    """The keyword arguments of :class:`ToolCallStream`."""

    protocols: str | Iterable[str]
    strict: bool
    heuristics: Iterable[ToolHeuristic]
    pipeline: ToolPipeline | None
    max_reparses: int
    on_error: OnError | None
    on_problem: OnProblem | None
    max_call_size: int | None


def parse_tool_calls(text: str, tools: Iterable[Tool], **options: Unpack[Options]) -> list[Part]:
    """Return the parts of ``text``: the calls of ``tools``, and the text around the calls.

    Together, the parts cover all of ``text``. A call that cannot be parsed becomes a separate
    ``Text``. The options are the keyword arguments of :class:`ToolCallStream`. A stream returns the
    same parts for any fragments of the text, except that it may split the text between two calls
    into several parts. Raises ``ConfigError`` for an invalid option.
    """
    return ToolCallStream(tools, **options)._read(text, last=True)  # noqa: SLF001 - feed and close


P = TypeVar("P")


class ToolCallStream(Generic[P]):
    """Finds calls in text that arrives in fragments.

    Text outside calls is returned at once, except for characters that may begin a call or a fence.
    A call is returned when its closing tag arrives. Text after an opening tag without a closing tag
    is kept back until it is longer than ``max_call_size`` or the text ends.

    deltas: if true, also return events before a call is complete: a :class:`ToolCallStart` as soon
        as its name is known, and an :class:`ArgumentsDelta` for each piece of its arguments. If the
        call turns out to be text, a :class:`ToolCallFailed` precedes that text.
    protocols: the names of the protocols to read, or "auto" for all protocols in :data:`PROTOCOLS`;
        by default ``("xml",)``.
    strict: if true, a call with problems stays text.
    heuristics: heuristics to add to the pipeline; in each phase, they run last.
    pipeline: the pipeline to use instead of the protocol's own (``default_pipeline`` for ``xml``).
    max_reparses: the maximum number of repaired bodies of a call to parse in each phase.
    on_error: called with ``(message, metadata)`` for a call that could not be parsed. The keys of
        ``metadata`` are "tool_name", "tool_call" (the original text), "start_index", "end_index",
        "error" (the exception, or None) and "notes".
    on_problem: called with each :class:`ToolProblem`: the problems in calls
        (``ToolCall.problems``), calls that stay text, and, once for each other protocol, text that
        looks like a call of that protocol.
    max_call_size: the maximum number of characters in a call, including its tags; None means no
        limit.

    If a callback raises an exception, the next call of :meth:`feed` or :meth:`close` returns the
    parts found before it. A callback may call these methods: they return no parts then, and the
    outer call returns the new parts.

    Raises ``ConfigError`` for an invalid option. No text causes an exception; exceptions in
    callbacks and in a user's heuristics are propagated.
    """

    @overload
    def __init__(
        self: ToolCallStream[Part], tools: Iterable[Tool], **options: Unpack[Options]
    ) -> None: ...

    @overload
    def __init__(
        self: ToolCallStream[_AnyPart],
        tools: Iterable[Tool],
        *,
        deltas: bool,
        **options: Unpack[Options],
    ) -> None: ...

    def __init__(
        self, tools: Iterable[Tool], *, deltas: bool = False, **options: Unpack[Options]
    ) -> None:
        if unknown := options.keys() - Options.__annotations__:
            raise TypeError(f"unknown options: {', '.join(sorted(unknown))}")
        base, size = options.get("pipeline"), options.get("max_call_size", MAX_CALL_SIZE)
        if base is not None and not isinstance(base, Pipeline):
            raise ConfigError("pipeline", base, "must be a Pipeline or None")
        self._reparses = options.get("max_reparses", DEFAULT_REPARSES)
        check_count("max_reparses", self._reparses, least=0)
        if size is not None:
            check_count("max_call_size", size, least=1)
        self._strict = options.get("strict", False)
        self._on_error, self._on_problem = options.get("on_error"), options.get("on_problem")
        self._tools = tools_by_name(tools)
        self._schemas = {name: Schema(tool.json_schema) for name, tool in self._tools.items()}
        rows = chosen_protocols(options.get("protocols", ("xml",)))
        more = Pipeline.of(options.get("heuristics", ()))
        self._pipelines = {row: (base or KINDS[row.kind].pipeline(row)) + more for row in rows}
        self._finder = CallFinder(self._tools, rows, size)
        # Text that is still to be read, and whether it ends the text; the segments found in it.
        self._waiting: deque[tuple[str, bool]] = deque()
        self._segments: deque[Found] = deque()
        self._parts: list[Any] = []
        self._deltas = Deltas(self._finder, self._tools) if deltas else None
        # Calls of the callbacks that are still to be made.
        self._reports: deque[Callable[[], object]] = deque()
        # The last one: a call was reported whose arguments could not be checked.
        self._closed = self._reading = self._unchecked = False

    def feed(self, piece: str) -> list[P]:
        """Return the parts that are complete after ``piece``, the next fragment of the text.

        Raises ``ChunkastError`` if the stream has been closed.
        """
        if self._closed:
            raise ChunkastError("feed() after close(): the text has ended; make a new stream")
        return self._read(piece, last=False)

    def close(self) -> list[P]:
        """End the text, and return the remaining parts."""
        return self._read("", last=True)

    def _read(self, fragment: str, *, last: bool) -> list[P]:
        self._closed = last
        self._waiting.append((fragment, last))
        if self._reading:
            return []  # called by ``on_error``; the outer call reads it
        self._reading = True
        try:
            while self._waiting or self._segments or self._reports:
                self._continue()
        finally:
            self._reading = False
        parts, self._parts = self._parts, []
        return parts

    def _continue(self) -> None:
        """Read the waiting fragments, then report problems; nothing is lost if reporting raises."""
        deltas = self._deltas
        while self._waiting or self._segments:
            if not self._segments:
                fragment, last = self._waiting.popleft()
                self._segments.extend(self._finder.read(fragment, last=last))
            while self._segments:
                found = self._segments[0]
                if isinstance(found, ToolProblem):
                    self._report(found)
                elif isinstance(found, tuple):
                    calls = self._calls(*found)
                    self._parts += calls if deltas is None else deltas.calls(found[0], calls)
                else:
                    self._parts += [found] if deltas is None else deltas.text(found)
                self._segments.popleft()
            if deltas is not None:
                self._parts += deltas.read()
        while self._reports:
            self._reports.popleft()()

    def _calls(self, opener: Opener, text: Text) -> list[Part]:
        parts, start = list[Part](), 0
        for end, source, name in KINDS[opener.protocol.kind].calls(opener, text.text, self._tools):
            one = Text(text.text[start:end], text.start_index + start, text.start_index + end)
            parts.append(self._call(_Call(opener, name, source, one)))
            start = end
        return parts

    def _call(self, call: _Call) -> Part:
        """Return a call, or its text if it cannot be read or is not the call of a tool."""
        row, text, tool = call.opener.protocol, call.text, self._tools.get(call.name)
        if tool is None:
            if row.name != "json":
                self._report(call.problem("it stays text, as no tool has this name"))
            return text
        call.schema = self._schemas[call.name]
        draft: ToolDraft = Draft.of(call.source, tool)
        pipeline = self._pipelines[row]
        draft = run_pipeline(draft, pipeline, call.read, max_reparses=self._reparses)
        arguments = draft.value
        error = draft.errors[-1] if arguments is None else None
        why = json_problem(arguments) if error is None else f"its body cannot be read: {error}"
        if why is None and arguments is not None:
            problems = tuple(call.problems(draft.notes, self._mistakes(call, arguments)))
            for problem in problems:
                self._report(problem)
            if not self._strict or not problems:
                where = text.start_index, text.end_index
                return ToolCall(call.name, arguments, text.text, *where, problems, call.body.id)
            why = "it has problems"
        elif draft.notes and row.kind != "elements":
            why = f"{why}; {'; '.join(draft.notes)}"
        problem = call.problem(f"it stays text, as {why}")
        self._report(problem)
        if self._on_error is not None:
            values = (call.name, text.text, text.start_index, text.end_index, error, draft.notes)
            metadata = dict(zip(_METADATA, values, strict=True))
            self._reports.append(partial(self._on_error, str(problem), metadata))
        return text

    def _mistakes(self, call: _Call, arguments: dict[str, Any]) -> _Mistakes:
        """Return the path and the reason for each argument that does not fit the schema."""
        try:
            return all_problems(arguments, call.schema)
        except MissingPackageError as error:
            if not self._unchecked:
                self._unchecked = True
                self._report(call.problem(f"no arguments are checked: {error}"))
            return []

    def _report(self, problem: ToolProblem) -> None:
        if self._on_problem is not None:
            self._reports.append(partial(self._on_problem, problem))


@dataclass(slots=True)
class _Call:
    """A call of the tool ``name`` with the ``text``, and its parse.

    ``source`` is its body. ``read_source`` and ``body`` are the text and content of the last
    version of it that could be read, and ``error`` is the first error.
    """

    opener: Opener
    name: str
    source: str
    text: Text
    schema: Schema = field(default_factory=lambda: Schema({}))
    read_source: str = ""
    body: Body = field(default_factory=lambda: Body({}, {}, []))
    error: BodyError | None = None

    def read(self, source: str) -> dict[str, Any]:
        """Return the arguments in ``source``; raise ``BodyError`` if it is invalid."""
        try:
            self.body = KINDS[self.opener.protocol.kind].read(source, self.schema, self.opener)
        except BodyError as error:
            self.error = self.error or error
            raise
        self.read_source = source
        return self.body.arguments

    def problem(self, what: str, path: str = "", place: Any = None) -> ToolProblem:
        """Return a problem of the argument at ``place`` in the body, or of the whole call."""
        offset, where = self.opener.body, (self.text.start_index, self.text.end_index)
        # Positions in a repaired body are not those of the text; those in JSON are not known.
        if place and self.read_source == self.source and self.opener.protocol.kind != "json":
            where = offset + place[0], offset + place[1]
        return ToolProblem(self.name, path, what, where)

    def problems(self, notes: Iterable[str], mistakes: _Mistakes) -> Iterator[ToolProblem]:
        """Yield the problems in a call with a valid body; problems of arguments come last."""
        repairs = ", ".join(notes) if self.opener.protocol.kind != "elements" else ""
        if self.error is not None or repairs:
            by = f" by {repairs}" if repairs else ""
            reason = f": {self.error}" if self.error else ""
            yield self.problem(f"its body was repaired{by}{reason}")
        for path, what, (start, end) in self.body.dropped:
            shown = shortened(self.read_source[start:end].strip()) if end else path
            yield self.problem(f"{what} dropped: {shown!r}", path if end else "", (start, end))
        for path, reason in mistakes:
            argument = re.split(r"[.\[]", path, maxsplit=1)[0]
            yield self.problem(reason, path, self.body.places.get(argument))
