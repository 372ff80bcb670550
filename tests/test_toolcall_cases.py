"""Cases that the tool-call pipeline chunkast follows answers itself, kept in fixtures/cases.

The answer has to be ``expect`` where the level is "must", and there or in ``accept``
otherwise: where the original is ambiguous, or a defect, or left to the implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from chunkast.heuristics import Draft, Heuristic, Patch, Pipeline, run_pipeline
from chunkast.toolcalls import (
    BALANCE_TAGS,
    DEDUPE_SHELL_STRING_TAGS,
    REPAIR_AGAINST_SCHEMA,
    Part,
    Text,
    Tool,
    ToolCallStream,
    default_pipeline,
    parse_tool_calls,
)
from chunkast.toolcalls.json_schema import Schema
from chunkast.toolcalls.repairs import (
    balance_tags,
    escape_invalid_lt,
    keep_last_tag,
    normalize_close_tags,
    repair_against_schema,
    string_properties,
)
from tests.test_reference_cases import Case, cases_of, text_of
from tests.test_toolcalls import joined

# Each text of a stream comes in pieces of so many characters; 0: at once.
CUTS: Final = (1, 2, 3, 5, 7, 10, 16, 0)

PHASES: Final = ("pre_parse", "fallback_reparse", "post_parse")
DEFAULTS: Final[dict[str, Heuristic[Any, Any]]] = {
    h.id: h for phase in PHASES for h in getattr(default_pipeline, phase)
}


def holds(case: Case, answer: object) -> None:
    """Whether the answer is right, by the case's level."""
    accepted = [] if case["level"] == "must" else case.get("accept", [])
    assert answer == case["expect"] or answer in accepted


# The engine


def applies_of(gate: Any) -> Callable[[Draft[Any, Any]], bool]:
    if isinstance(gate, dict) and "source_contains" in gate:
        return lambda draft: gate["source_contains"] in draft.source
    if isinstance(gate, dict):
        return lambda draft: bool(draft.context.name == gate["tool"])
    return {
        "always": lambda _: True,
        "never": lambda _: False,
        "has_errors": lambda draft: bool(draft.errors),
        "has_value": lambda draft: draft.value is not None,
    }[gate]


def source_of(change: Any, source: str) -> str | None:
    if change is None or isinstance(change, str):
        return change
    if "append" in change:
        return source + str(change["append"])
    old, new = change["replace"]
    return source.replace(old, new, 1)


def patch_of(run: dict[str, Any], draft: Draft[Any, Any]) -> Patch[Any]:
    value = run.get("value")
    if isinstance(value, dict) and value.keys() == {"set"}:
        value = {**(draft.value or {}), **value["set"]}
    return Patch(
        source_of(run.get("source"), draft.source),
        value,
        run.get("retry", False),
        run.get("stop", False),
        tuple(run.get("notes", ())),
    )


def heuristic_of(given: Any, ran: list[str]) -> Heuristic[Any, Any]:
    """A heuristic written as data; it adds its id to ``ran`` when it runs."""
    if isinstance(given, str):
        return DEFAULTS[given]

    def run(draft: Draft[Any, Any]) -> Patch[Any]:
        ran.append(given["id"])
        return patch_of(given["run"], draft)

    return Heuristic(given["id"], given["phase"], run, applies_of(given.get("applies", "always")))


def pipeline_of(given: dict[str, Any], ran: list[str]) -> Pipeline[Any, Any]:
    phases = (given.get(phase, ()) for phase in PHASES)
    return Pipeline(*(tuple(heuristic_of(h, ran) for h in phase) for phase in phases))


def ids_of(pipeline: Pipeline[Any, Any]) -> dict[str, list[str]]:
    return {phase: [h.id for h in getattr(pipeline, phase)] for phase in PHASES}


def engine_run(case: Case) -> dict[str, Any]:
    attempts: list[str] = []
    ran: list[str] = []

    def attempt(source: str) -> dict[str, str]:
        attempts.append(source)
        if "FAIL" in source:
            raise ValueError(source)
        return {"content": source}

    given = dict(case["input"])
    draft: Draft[Any, Any] = Draft.of(given.pop("source"), None, given.pop("value", None))
    draft = run_pipeline(draft, pipeline_of(case["pipeline"], ran), attempt, **given)
    return {
        "ran": ran,
        "attempts": attempts,
        "value": draft.value,
        "source": draft.source,
        "errors": len(draft.errors),
        "notes": list(draft.notes),
    }


def engine_draft(case: Case) -> dict[str, Any]:
    given = case["input"]
    draft: Draft[Any, Tool] = Draft.of(given["source"], Tool(given["name"], given["schema"]))
    return {
        "source": draft.source,
        "original": draft.original,
        "value": draft.value,
        "errors": len(draft.errors),
        "name": draft.context.name,
        "schema": draft.context.json_schema,
    }


def engine_add(case: Case) -> dict[str, Any]:
    total: Pipeline[Any, Any] = Pipeline()
    for config in case["input"]:
        total += of_ids((name, phase) for phase in PHASES for name in config.get(phase, ()))
    return ids_of(total)


def of_ids(rows: Iterable[tuple[str, str]]) -> Pipeline[Any, Any]:
    """A pipeline of heuristics with these ids and phases, which do nothing."""
    given = ({"id": name, "phase": phase.replace("_", "-"), "run": {}} for name, phase in rows)
    return Pipeline.of([heuristic_of(row, []) for row in given])


ENGINE: Final[dict[str, Callable[[Case], dict[str, Any]]]] = {
    "run": engine_run,
    "draft": engine_draft,
    "add": engine_add,
    "with_defaults": lambda case: ids_of(default_pipeline + of_ids(case["input"])),
}


@cases_of("heuristic_engine")
def test_engine(case: Case) -> None:
    holds(case, ENGINE[case["function"]](case))


# The default heuristics


def draft_of(source: str, schema: Any = None) -> Draft[dict[str, Any], Tool]:
    return Draft.of(source, Tool("tool", schema or {}))


def patched(patch: Patch[Any] | None) -> dict[str, Any]:
    assert patch is not None
    return {"source": patch.source, "retry": patch.retry}


FUNCTIONS: Final[dict[str, Callable[[Any], Any]]] = {
    "normalize_close_tags": normalize_close_tags,
    "escape_invalid_lt": escape_invalid_lt,
    "balance_tags": balance_tags,
    "balance_applies": lambda given: BALANCE_TAGS.applies(draft_of(given)),
    "balance": lambda given: patched(BALANCE_TAGS.run(draft_of(given))),
    "keep_last_tag": lambda given: keep_last_tag(**given),
    "dedupe_applies": lambda given: DEDUPE_SHELL_STRING_TAGS.applies(draft_of("", given)),
    "dedupe": lambda given: patched(DEDUPE_SHELL_STRING_TAGS.run(draft_of(**given))),
    "string_properties": lambda given: string_properties(Schema(given)),
    "repair": lambda given: repair_against_schema(given["value"], Schema(given["schema"])),
    "repair_applies": lambda given: REPAIR_AGAINST_SCHEMA.applies(
        Draft.of("", Tool("tool"), given)
    ),
}


@cases_of("default_heuristics")
def test_default_heuristics(case: Case) -> None:
    holds(case, FUNCTIONS[case["function"]](case["input"]))


# Parts


def tools_of(case: Case) -> list[Tool]:
    return [Tool(tool["name"], tool["schema"]) for tool in case["tools"]]


def plain(parts: Iterable[Part]) -> list[Any]:
    return [part.text if isinstance(part, Text) else [part.name, part.arguments] for part in parts]


def streamed(pieces: Sequence[str], tools: Sequence[Tool], **options: Any) -> list[Any]:
    stream = ToolCallStream(tools, **options)
    parts = [part for piece in pieces for part in stream.feed(piece)] + stream.close()
    return plain(joined(parts))


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)] if size else [text]


@cases_of("tool_call_parse")
def test_parse(case: Case) -> None:
    """At once, and in pieces: the stream's answer is the same."""
    text, tools, failed = text_of(case["input"]), tools_of(case), list[str]()
    parts = parse_tool_calls(text, tools, on_error=lambda _, data: failed.append(data["tool_name"]))
    holds(case, [part for part in plain(parts) if not isinstance(part, str) or part.strip()])
    assert failed == case.get("failed", [])
    for size in CUTS:
        assert streamed(cut(text, size), tools) == plain(joined(parts))


@cases_of("tool_call_pipeline")
def test_pipeline(case: Case) -> None:
    """With heuristics of one's own, at once and in pieces."""
    text, tools, options = text_of(case["input"]), tools_of(case), dict(case["options"])
    if "heuristics" in options:
        options["heuristics"] = [heuristic_of(h, []) for h in options["heuristics"]]
    if "pipeline" in options:
        options["pipeline"] = pipeline_of(options["pipeline"], [])
    parts = parse_tool_calls(text, tools, **options)
    holds(case, plain(parts))
    for size in CUTS:
        assert streamed(cut(text, size), tools, **options) == plain(joined(parts))


@cases_of("tool_call_stream")
def test_stream(case: Case) -> None:
    """Whatever the pieces; some cases say how much is out after each of them."""
    tools = tools_of(case)
    if "pieces" in case:
        stream = ToolCallStream(tools)
        parts: list[Part] = []
        lengths, calls = [], []
        for piece in case["pieces"]:
            parts += stream.feed(piece)
            lengths.append(sum(len(part.text) for part in parts if isinstance(part, Text)))
            calls.append(sum(not isinstance(part, Text) for part in parts))
        least = case["expect"].get("min_text_length_after_each", lengths)
        assert all(length >= low for length, low in zip(lengths, least, strict=True))
        assert calls == case["expect"].get("calls_after_each", calls)
        return
    text = text_of(case["input"])
    for pieces in (*(cut(text, size) for size in CUTS), *case.get("cuts", ())):
        assert "".join(pieces) == text
        holds(case, streamed(pieces, tools))
    holds(case, plain(joined(parse_tool_calls(text, tools))))
