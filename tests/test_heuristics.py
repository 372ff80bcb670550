"""The pipeline itself: order, gates, budget, and heuristics that go wrong."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import ConfigError
from chunkast.heuristics import PHASES, Draft, Heuristic, Patch, Phase, Pipeline, run_pipeline

AnyHeuristic = Heuristic[Any, Any]


def parse(source: str) -> dict[str, str]:
    """Fails on what has an "F" in it."""
    if "F" in source:
        raise ValueError(f"cannot parse {source!r}")
    return {"content": source}


def run(source: str, pipeline: Pipeline[Any, Any], **options: Any) -> Draft[Any, Any]:
    draft: Draft[Any, Any] = Draft.of(source, None)
    return run_pipeline(draft, pipeline, parse, **options)


def patching(patch: Any, phase: Phase = "pre-parse", name: str = "h") -> AnyHeuristic:
    return Heuristic(name, phase, lambda _: patch)


def raising(
    where: Literal["run", "applies"], error: Exception, phase: Phase = "pre-parse"
) -> AnyHeuristic:
    def fail(_: object) -> Any:
        raise error

    if where == "run":
        return Heuristic("bad", phase, fail)
    return Heuristic("bad", phase, lambda _: Patch(source="never"), fail)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Heuristic("h", "mid-parse", lambda _: None),  # type: ignore[arg-type]
        lambda: Pipeline(post_parse=(patching(None),)),
        lambda: Pipeline(pre_parse=("normalize",)),  # type: ignore[arg-type]
        lambda: Pipeline.of(["normalize"]),  # type: ignore[arg-type]
    ],
)
def test_what_is_not_allowed(build: Any) -> None:
    with pytest.raises(ConfigError, match="must be"):
        build()


@pytest.mark.parametrize("where", ["run", "applies"])
@pytest.mark.parametrize("error", [ValueError("oh"), RecursionError("deep")])
def test_a_heuristic_that_raises(where: Literal["run", "applies"], error: Exception) -> None:
    reports: list[str] = []
    for phase, source in (("pre-parse", "x"), ("fallback-reparse", "F"), ("post-parse", "x")):
        bad = raising(where, error, phase)  # type: ignore[arg-type]
        last = patching(Patch(notes=("ran",)), phase, "last")  # type: ignore[arg-type]
        draft = run(source, Pipeline.of([bad, last]), report=reports.append)
        assert (draft.source, len(draft.errors)) == (source, int("F" in source))
        note, ran = draft.notes
        assert note.startswith(f"heuristic 'bad': {type(error).__name__}")
        assert ran == "ran"
        assert reports.pop() == note


def test_a_patch_can_be_dropped() -> None:
    def same_length(
        draft: Draft[Any, Any], patch: Patch[Any], heuristic: AnyHeuristic
    ) -> str | None:
        assert heuristic.id == "mask"
        same = patch.source is None or len(patch.source) == len(draft.source)
        return None if same else f"{len(draft.source)} characters became {len(patch.source or '')}"

    reports: list[str] = []
    patches: list[Patch[Any]] = [Patch(source="y", stop=True), Patch(source="zz")]
    pipeline = Pipeline.of([patching(patch, name="mask") for patch in patches])
    draft = run("xx", pipeline, check=same_length, report=reports.append)
    assert draft.value == {"content": "zz"}
    assert draft.notes == ("heuristic 'mask': 2 characters became 1",) == tuple(reports)


SOURCES = st.sampled_from(["x", "F", "xF", ""])
PATCHES = st.builds(
    Patch,
    st.none() | SOURCES,
    st.none() | st.just({"set": True}),
    st.booleans(),
    st.booleans(),
    st.just(()),
)


@st.composite
def heuristics(draw: st.DrawFn) -> AnyHeuristic:
    phase = draw(st.sampled_from(PHASES))
    if draw(st.integers(0, 4)) == 0:
        return raising(draw(st.sampled_from(["run", "applies"])), ValueError("oh"), phase)
    return patching(draw(st.none() | PATCHES), phase)


@given(SOURCES, st.lists(heuristics(), max_size=8), st.integers(0, 3))
def test_any_pipeline(source: str, given_: list[AnyHeuristic], max_reparses: int) -> None:
    attempts: list[str] = []

    def attempt(text: str) -> dict[str, str]:
        attempts.append(text)
        return parse(text)

    begun: Draft[Any, Any] = Draft.of(source, None)
    pipeline = Pipeline.of(given_)
    draft = run_pipeline(begun, pipeline, attempt, max_reparses=max_reparses)
    assert draft.original == source
    # At most the first attempt and so many reparses in each phase.
    assert len(attempts) <= 1 + max_reparses * sum(
        map(bool, (pipeline.pre_parse, pipeline.fallback_reparse, pipeline.post_parse))
    )
    # Something came of it, one way or the other.
    assert draft.value is not None or draft.errors
    assert len(draft.errors) <= sum("F" in text for text in attempts)
    assert begun == Draft.of(source, None)
    # The same again.
    assert run_pipeline(begun, pipeline, parse, max_reparses=max_reparses).value == draft.value
