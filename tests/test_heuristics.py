"""The pipeline of heuristics: what is not allowed, and what holds for any pipeline."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import ConfigError, HeuristicError
from chunkast.heuristics import PHASES, Draft, Heuristic, Patch, Pipeline, run_pipeline

AnyHeuristic = Heuristic[Any, Any]


def patching(patch: Any, phase: Any = "pre-parse") -> AnyHeuristic:
    return Heuristic("h", phase, lambda _: patch)


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


def test_a_check_sees_each_patch_before_it_is_applied() -> None:
    def same_length(draft: Draft[Any, Any], patch: Patch[Any], heuristic: AnyHeuristic) -> None:
        if len(patch.source or "") != len(draft.source):
            raise HeuristicError(heuristic.id, "source", patch.source, "must have the same length")

    begun: Draft[Any, Any] = Draft.of("xx", None)
    good, bad = (Pipeline.of([patching(Patch(source=source))]) for source in ("yy", "y"))
    assert run_pipeline(begun, good, str, check=same_length).value == "yy"
    with pytest.raises(HeuristicError, match=r"^heuristic 'h': source='y': must have the same"):
        run_pipeline(begun, bad, str, check=same_length)


SOURCES = st.sampled_from(["x", "F", "xF", ""])
PATCHES = st.builds(
    Patch,
    st.none() | SOURCES,
    st.none() | st.just({"set": True}),
    st.booleans(),
    st.booleans(),
    st.just(()),
)
HEURISTICS = st.lists(st.builds(patching, st.none() | PATCHES, st.sampled_from(PHASES)), max_size=8)


@given(SOURCES, HEURISTICS, st.integers(0, 3))
def test_any_pipeline(source: str, given_: list[AnyHeuristic], max_reparses: int) -> None:
    attempts: list[str] = []

    def attempt(text: str) -> dict[str, str]:
        attempts.append(text)
        if "F" in text:
            raise ValueError(f"cannot parse {text!r}")
        return {"content": text}

    begun: Draft[Any, Any] = Draft.of(source, None)
    pipeline = Pipeline.of(given_)
    draft = run_pipeline(begun, pipeline, attempt, max_reparses=max_reparses)
    assert draft.original == source
    # At most the first attempt and so many reparses in each phase.
    phases = (pipeline.pre_parse, pipeline.fallback_reparse, pipeline.post_parse)
    assert len(attempts) <= 1 + max_reparses * sum(map(bool, phases))
    # Something came of it, one way or the other.
    assert draft.value is not None or draft.errors
    assert len(draft.errors) <= sum("F" in text for text in attempts)
    assert begun == Draft.of(source, None)
