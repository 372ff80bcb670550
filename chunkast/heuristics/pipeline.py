"""The data types of a pipeline: drafts, patches, heuristics and their order.

The source may be in any language. ``V`` is the type of the parsed value; ``C`` is the type of the
context that the caller passes to its heuristics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeVar, get_args

from chunkast.errors import ConfigError

__all__ = ("PHASES", "Draft", "Heuristic", "Patch", "Phase", "Pipeline")

V = TypeVar("V")
C = TypeVar("C")
# When a heuristic runs: before a parse, after a failed parse, or after a successful parse.
Phase = Literal["pre-parse", "fallback-reparse", "post-parse"]
# All phases, in the order in which they run.
PHASES: Final[tuple[Phase, ...]] = get_args(Phase)


@dataclass(frozen=True, slots=True)
class Draft(Generic[V, C]):
    """The state of a run: the source and, after a parse, its value.

    Drafts are immutable; each step of the run makes a new draft.

    source: the text as changed by heuristics so far.
    original: the unchanged text.
    value: the parsed value, or None until a parse succeeds.
    errors: the errors of all parses since the last successful parse.
    notes: a sentence for each step that was taken or skipped.
    context: an object that the caller passes to its heuristics.
    """

    source: str
    original: str
    value: V | None
    errors: tuple[Exception, ...]
    notes: tuple[str, ...]
    context: C

    @classmethod
    def of(cls, source: str, context: C, value: V | None = None) -> Draft[V, C]:
        """Return the first draft of a run. If a ``value`` is given, the source is not parsed."""
        return cls(source, source, value, (), (), context)


@dataclass(frozen=True, slots=True)
class Patch(Generic[V]):
    """The changes that a heuristic makes to a draft.

    source: the new source, or None to keep the old one.
    value: the new value, or None to keep the old one.
    retry: whether to parse the new source; ignored if ``source`` is None.
    stop: whether to end the phase after this patch.
    notes: the notes to add to the draft's notes.

    Raises ``TypeError`` if ``source`` is neither a str nor None.
    """

    source: str | None = None
    value: V | None = None
    retry: bool = False
    stop: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.source, (str, type(None))):
            raise TypeError(f"source={self.source!r}: must be a str or None")
        notes: object = self.notes
        notes = (notes,) if isinstance(notes, str) else tuple(self.notes)
        object.__setattr__(self, "notes", notes)


def _always(_draft: object) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Heuristic(Generic[V, C]):
    """A repair: ``run`` takes a draft and returns a patch for the draft, or None.

    ``run`` is called only if ``applies`` returns true for the draft. Drafts and their values are
    shared, so a heuristic must not modify them. Raises ``ConfigError`` for an unknown ``phase``.
    """

    id: str
    phase: Phase
    run: Callable[[Draft[V, C]], Patch[V] | None]
    applies: Callable[[Draft[V, C]], bool] = _always

    def __post_init__(self) -> None:
        if self.phase not in PHASES:
            raise ConfigError("phase", self.phase, f"must be one of {', '.join(PHASES)}")


@dataclass(frozen=True, slots=True)
class Pipeline(Generic[V, C]):
    """The heuristics for each phase, in the order in which they run.

    Pipelines can be added: in each phase, ``first + second`` runs the heuristics of ``first``
    before the heuristics of ``second``. Raises ``ConfigError`` for a heuristic in the wrong phase.
    """

    pre_parse: tuple[Heuristic[V, C], ...] = ()
    fallback_reparse: tuple[Heuristic[V, C], ...] = ()
    post_parse: tuple[Heuristic[V, C], ...] = ()

    def __post_init__(self) -> None:
        for phase, name in zip(PHASES, self.__slots__, strict=True):
            heuristics = tuple(getattr(self, name))
            object.__setattr__(self, name, heuristics)
            for heuristic in heuristics:
                if not isinstance(heuristic, Heuristic) or heuristic.phase != phase:
                    raise ConfigError(name, heuristic, f"must be a heuristic of phase {phase!r}")

    @classmethod
    def of(cls, heuristics: Iterable[Heuristic[V, C]]) -> Pipeline[V, C]:
        """Return a pipeline with each heuristic in its own phase, in the given order."""
        heuristics = tuple(heuristics)
        for heuristic in heuristics:
            if not isinstance(heuristic, Heuristic):
                raise ConfigError("heuristics", heuristic, "must be a Heuristic")
        return cls(*(tuple(h for h in heuristics if h.phase == phase) for phase in PHASES))

    def __add__(self, other: Pipeline[V, C]) -> Pipeline[V, C]:
        if not isinstance(other, Pipeline):
            return NotImplemented
        names = self.__slots__
        return Pipeline(*(getattr(self, name) + getattr(other, name) for name in names))
