"""The values of the pipeline: what is worked on, what changes it, and in which order.

Nothing here depends on the language of the source or the type of the value: ``V`` is the
result of the parse, ``C`` is what the caller lets its heuristics see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeVar, get_args

from chunkast.errors import ConfigError

__all__ = ("PHASES", "Draft", "Heuristic", "Patch", "Phase", "Pipeline")

V = TypeVar("V")
C = TypeVar("C")
Phase = Literal["pre-parse", "fallback-reparse", "post-parse"]
PHASES: Final[tuple[Phase, ...]] = get_args(Phase)


@dataclass(frozen=True, slots=True)
class Draft(Generic[V, C]):
    """The state of one run: a source, and its value once it is parsed; every step makes a new one.

    ``source`` is the text as changed by the heuristics so far, ``original`` the unchanged one.
    ``value`` is None until a parse succeeded. ``errors`` are those of the attempts
    since the last one that succeeded. ``notes`` describe the steps that were taken or skipped,
    a sentence each. ``context`` is an object of the caller for the heuristics.
    """

    source: str
    original: str
    value: V | None
    errors: tuple[Exception, ...]
    notes: tuple[str, ...]
    context: C

    @classmethod
    def of(cls, source: str, context: C, value: V | None = None) -> Draft[V, C]:
        """The first draft of a run; if it has a value, the source is not parsed."""
        return cls(source, source, value, (), (), context)


@dataclass(frozen=True, slots=True)
class Patch(Generic[V]):
    """The changes of a heuristic; a field that is None changes nothing.

    ``retry`` requests another parse, of the patch's ``source`` (without one it does
    nothing). ``stop`` ends the phase after the patch is applied.

    Raises ``TypeError`` for a source that is neither a string nor None.
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
        given = (notes,) if isinstance(notes, str) else tuple(self.notes)
        object.__setattr__(self, "notes", given)


def _always(_draft: object) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Heuristic(Generic[V, C]):
    """One repair: ``run`` returns a patch for a draft or None; it is called if ``applies`` is true.

    Drafts and their values are shared: a heuristic must not change them, but return new ones.
    Raises ``ConfigError`` for a phase that does not exist.
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
    """Heuristics by phase, in the order in which they run.

    ``first + second`` runs those of ``first`` before those of ``second``, in each phase.
    Raises ``ConfigError`` for a heuristic in a phase that is not its own.
    """

    pre_parse: tuple[Heuristic[V, C], ...] = ()
    fallback_reparse: tuple[Heuristic[V, C], ...] = ()
    post_parse: tuple[Heuristic[V, C], ...] = ()

    def __post_init__(self) -> None:
        for phase in PHASES:
            name = _field(phase)
            heuristics = tuple(getattr(self, name))
            object.__setattr__(self, name, heuristics)
            for heuristic in heuristics:
                if not isinstance(heuristic, Heuristic) or heuristic.phase != phase:
                    raise ConfigError(name, heuristic, f"must be a heuristic of phase {phase!r}")

    @classmethod
    def of(cls, heuristics: Iterable[Heuristic[V, C]]) -> Pipeline[V, C]:
        """The pipeline of a flat list: each heuristic in its own phase, in the list's order."""
        given = tuple(heuristics)
        for heuristic in given:
            if not isinstance(heuristic, Heuristic):
                raise ConfigError("heuristics", heuristic, "must be a Heuristic")
        return cls(*(tuple(h for h in given if h.phase == phase) for phase in PHASES))

    def __add__(self, other: Pipeline[V, C]) -> Pipeline[V, C]:
        if not isinstance(other, Pipeline):
            return NotImplemented
        names = [_field(phase) for phase in PHASES]
        return Pipeline(*(getattr(self, name) + getattr(other, name) for name in names))


def _field(phase: Phase) -> str:
    return phase.replace("-", "_")
