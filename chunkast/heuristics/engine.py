"""Run a pipeline of heuristics around one parse.

1. The pre-parse heuristics run, in order.
2. The source is parsed, unless the draft already has a value or an error.
3. The fallback-reparse heuristics run if there are errors. After a successful reparse, the
   remaining fallback-reparse heuristics still run; a heuristic that should not run then must check
   ``draft.errors`` in ``applies``.
4. The post-parse heuristics run if there is a value.

The fields of a patch are applied in the order source, value, notes, retry, stop. A successful
reparse sets the value and clears the errors; a failed reparse adds an error and keeps the value.
Each phase makes at most ``max_reparses`` reparses; the first parse does not count.

An exception in a heuristic is propagated, with a note that names the heuristic. If a heuristic
returns anything other than a patch or None, ``HeuristicError`` is raised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

from chunkast.errors import HeuristicError
from chunkast.heuristics.pipeline import Draft, Heuristic, Patch, Pipeline

__all__ = ("DEFAULT_REPARSES", "Attempt", "Check", "PipelineRun", "run_pipeline")

V = TypeVar("V")
C = TypeVar("C")
# Parses a source; raises any exception if it fails.
Attempt = Callable[[str], V]
# Raises ``HeuristicError`` for a patch that must not be applied.
Check = Callable[[Draft[V, C], Patch[V], Heuristic[V, C]], object]

# Enough for one repair of the structure and one of the content.
DEFAULT_REPARSES: Final = 2


def run_pipeline(
    draft: Draft[V, C],
    pipeline: Pipeline[V, C],
    attempt: Attempt[V],
    *,
    max_reparses: int = DEFAULT_REPARSES,
    check: Check[V, C] | None = None,
) -> Draft[V, C]:
    """Run a pipeline and return the draft with the parsed value, or with the parse errors.

    Raises ``HeuristicError`` for an invalid patch.
    """
    run = PipelineRun(attempt, max_reparses, check)
    draft = run.phase(pipeline.pre_parse, draft)
    if draft.value is None and not draft.errors:
        draft = run.parse(draft)
    if draft.errors:
        draft = run.phase(pipeline.fallback_reparse, draft)
    if draft.value is not None:
        draft = run.phase(pipeline.post_parse, draft)
    return draft


@dataclass(slots=True)
class PipelineRun(Generic[V, C]):
    """A single run of a pipeline, for callers that need to act between its phases."""

    attempt: Attempt[V]
    max_reparses: int = DEFAULT_REPARSES
    check: Check[V, C] | None = None

    def phase(self, heuristics: tuple[Heuristic[V, C], ...], draft: Draft[V, C]) -> Draft[V, C]:
        """Return the draft after the heuristics of one phase, in order."""
        reparses = self.max_reparses
        for heuristic in heuristics:
            patch = self.patch(heuristic, draft)
            if patch is None:
                continue
            draft = _patched(draft, patch)
            if patch.retry and patch.source is not None and reparses > 0:
                reparses -= 1
                draft = self.parse(draft)
            if patch.stop:
                break
        return draft

    def patch(self, heuristic: Heuristic[V, C], draft: Draft[V, C]) -> Patch[V] | None:
        """Return the patch of one heuristic, or None if it does not apply or returns no patch.

        Raises ``HeuristicError`` if the heuristic returns anything else.
        """
        try:
            patch: Any = heuristic.run(draft) if heuristic.applies(draft) else None
        except Exception as error:
            # Python 3.11 shows these notes in a traceback.
            notes = getattr(error, "__notes__", [])
            error.__notes__ = [*notes, f"raised by the heuristic {heuristic.id!r}"]
            raise
        if patch is None:
            return None
        if not isinstance(patch, Patch):
            raise HeuristicError(heuristic.id, "run", patch, "must return a Patch or None")
        if self.check is not None:
            self.check(draft, patch, heuristic)
        return patch

    def parse(self, draft: Draft[V, C]) -> Draft[V, C]:
        """Parse the draft's source, and return the draft with the parsed value or the error."""
        try:
            value = self.attempt(draft.source)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - the fallback phase handles failed parses
            # Its traceback would keep the objects of the parse alive.
            return replace(draft, errors=(*draft.errors, error.with_traceback(None)))
        return Draft(draft.source, draft.original, value, (), draft.notes, draft.context)


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
