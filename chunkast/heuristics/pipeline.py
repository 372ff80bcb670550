"""The nouns of the pipeline: what is worked on, what changes it, and in which order.

Nothing here knows what a source is written in or what a value is: ``V`` is what the parse
gives, ``C`` is whatever the caller lets its heuristics see.
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
    """A source on its way to a value; every step gives a new one.

    ``source`` is the text as the heuristics so far have left it, ``original`` as it came.
    ``value`` is None as long as nothing is parsed. ``errors`` are those of the attempts
    since the last one that succeeded. ``notes`` say, one sentence each, what was done or
    left out. ``context`` is what the caller lets the heuristics see.
    """

    source: str
    original: str
    value: V | None
    errors: tuple[Exception, ...]
    notes: tuple[str, ...]
    context: C

    @classmethod
    def of(cls, source: str, context: C, value: V | None = None) -> Draft[V, C]:
        """The draft to begin with; one that has a value already is not parsed again."""
        return cls(source, source, value, (), (), context)


@dataclass(frozen=True, slots=True)
class Patch(Generic[V]):
    """What a heuristic changes; what is None stays as it is.

    ``retry`` asks for another parse of the ``source`` given here (without one it does
    nothing). ``stop`` ends the phase, after the rest of the patch is applied.
    """

    source: str | None = None
    value: V | None = None
    retry: bool = False
    stop: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.source, (str, type(None))):
            raise TypeError(f"source={self.source!r}: allowed are a str and None")
        notes: object = self.notes
        given = (notes,) if isinstance(notes, str) else tuple(self.notes)
        object.__setattr__(self, "notes", given)


def _always(_draft: object) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Heuristic(Generic[V, C]):
    """One repair: ``run`` gives a patch for a draft (or None), where ``applies`` says so.

    Drafts and their values are shared: a heuristic changes neither, it gives new values.
    Raises ``ConfigError`` for a phase that does not exist.
    """

    id: str
    phase: Phase
    run: Callable[[Draft[V, C]], Patch[V] | None]
    applies: Callable[[Draft[V, C]], bool] = _always

    def __post_init__(self) -> None:
        if self.phase not in PHASES:
            raise ConfigError("phase", self.phase, f"allowed are {', '.join(PHASES)}")


@dataclass(frozen=True, slots=True)
class Pipeline(Generic[V, C]):
    """Heuristics by phase, in the order in which they run.

    ``first + second`` runs those of ``first`` before those of ``second``, in each phase.
    Raises ``ConfigError`` for a heuristic that stands in another phase than its own.
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
                    raise ConfigError(name, heuristic, f"allowed are heuristics of phase {phase!r}")

    @classmethod
    def of(cls, heuristics: Iterable[Heuristic[V, C]]) -> Pipeline[V, C]:
        """The pipeline of a flat list: each heuristic in its own phase, in the list's order."""
        given = tuple(heuristics)
        for heuristic in given:
            if not isinstance(heuristic, Heuristic):
                raise ConfigError("heuristics", heuristic, "allowed are Heuristic objects")
        return cls(*(tuple(h for h in given if h.phase == phase) for phase in PHASES))

    def __add__(self, other: Pipeline[V, C]) -> Pipeline[V, C]:
        if not isinstance(other, Pipeline):
            return NotImplemented
        names = [_field(phase) for phase in PHASES]
        return Pipeline(*(getattr(self, name) + getattr(other, name) for name in names))


def _field(phase: Phase) -> str:
    return phase.replace("-", "_")
