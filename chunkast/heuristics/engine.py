"""Runs a pipeline of heuristics around one parse.

1. The pre-parse heuristics run, in order.
2. The source is parsed, unless the draft already has a value or an error.
3. The fallback-reparse heuristics run if there are errors. After a successful reparse, the
   remaining fallback-reparse heuristics still run; a heuristic that should not run then must check
   ``draft.errors`` in ``applies``.
4. The post-parse heuristics run if there is a value.

The fields of a patch are applied in the order source, value, notes, retry, stop. A successful
reparse sets the value and clears the errors; a failed reparse adds an error and keeps the value.
Each phase makes at most ``max_reparses`` reparses; the first parse does not count.

If a heuristic raises an exception, the exception is noted and reported, and the draft does not
change. Only ``MemoryError`` is raised again, because a document's chunks must not depend on how
much memory is free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, Generic, TypeVar

from chunkast.errors import describe
from chunkast.heuristics.pipeline import Draft, Heuristic, Patch, Pipeline

__all__ = ("DEFAULT_REPARSES", "Attempt", "Check", "PipelineRun", "Report", "run_pipeline")

V = TypeVar("V")
C = TypeVar("C")
# Parses a source; raises any exception if it fails.
Attempt = Callable[[str], V]
# Returns the reason why a patch must not be applied, or None. Its exceptions are not caught.
Check = Callable[[Draft[V, C], Patch[V], Heuristic[V, C]], "str | None"]
# Called with the engine's own notes: a heuristic raised an exception, or its patch was dropped.
Report = Callable[[str], object]

# Enough for one repair of the structure and one of the content.
DEFAULT_REPARSES: Final = 2


def run_pipeline(
    draft: Draft[V, C],
    pipeline: Pipeline[V, C],
    attempt: Attempt[V],
    *,
    max_reparses: int = DEFAULT_REPARSES,
    check: Check[V, C] | None = None,
    report: Report | None = None,
) -> Draft[V, C]:
    """Run a pipeline and return the draft with the parsed value, or with the parse errors."""
    run = PipelineRun(attempt, max_reparses, check, report)
    draft = run.phase(pipeline.pre_parse, draft)
    if draft.value is None and not draft.errors:
        draft = run.parse(draft)
    if draft.errors:
        draft = run.phase(pipeline.fallback_reparse, draft)
    if draft.value is not None:
        draft = run.phase(pipeline.post_parse, draft)
    return draft


class PipelineRun(Generic[V, C]):
    """A single run of a pipeline, for callers that need to act between its phases."""

    __slots__ = ("attempt", "check", "max_reparses", "report")

    def __init__(
        self,
        attempt: Attempt[V],
        max_reparses: int = DEFAULT_REPARSES,
        check: Check[V, C] | None = None,
        report: Report | None = None,
    ) -> None:
        self.attempt = attempt
        self.max_reparses = max_reparses
        self.check = check
        self.report = report

    def phase(self, heuristics: tuple[Heuristic[V, C], ...], draft: Draft[V, C]) -> Draft[V, C]:
        reparses = self.max_reparses
        for heuristic in heuristics:
            try:
                patch: Any = heuristic.run(draft) if heuristic.applies(draft) else None
            except MemoryError:
                raise
            except Exception as error:  # noqa: BLE001 - any error of a heuristic
                draft = self.noted(draft, heuristic, describe(error))
                continue
            if patch is None:
                continue
            dropped = self.reason_to_drop(draft, patch, heuristic)
            if dropped is not None:
                draft = self.noted(draft, heuristic, dropped)
                continue
            draft = _patched(draft, patch)
            if patch.retry and patch.source is not None and reparses > 0:
                reparses -= 1
                draft = self.parse(draft)
            if patch.stop:
                break
        return draft

    def parse(self, draft: Draft[V, C]) -> Draft[V, C]:
        try:
            value = self.attempt(draft.source)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - the fallback phase handles failed parses
            # Its traceback would keep the objects of the parse alive.
            return replace(draft, errors=(*draft.errors, error.with_traceback(None)))
        return Draft(draft.source, draft.original, value, (), draft.notes, draft.context)

    def reason_to_drop(
        self, draft: Draft[V, C], patch: Any, heuristic: Heuristic[V, C]
    ) -> str | None:
        if not isinstance(patch, Patch):
            return f"returned {type(patch).__name__}; it must return a Patch or None"
        return None if self.check is None else self.check(draft, patch, heuristic)

    def noted(self, draft: Draft[V, C], heuristic: Heuristic[V, C], what: str) -> Draft[V, C]:
        note = f"heuristic {heuristic.id!r}: {what}"
        if self.report is not None:
            self.report(note)
        return replace(draft, notes=(*draft.notes, note))


def _patched(draft: Draft[V, C], patch: Patch[V]) -> Draft[V, C]:
    # Several times as fast as ``replace``; this runs for every document.
    return Draft(
        draft.source if patch.source is None else patch.source,
        draft.original,
        draft.value if patch.value is None else patch.value,
        draft.errors,
        (*draft.notes, *patch.notes),
        draft.context,
    )
