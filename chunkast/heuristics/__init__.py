"""Repairs around a parse, in three phases: before it, after it failed, after it succeeded."""

from chunkast.heuristics.engine import (
    DEFAULT_REPARSES,
    Attempt,
    Check,
    PipelineRun,
    Report,
    run_pipeline,
)
from chunkast.heuristics.pipeline import PHASES, Draft, Heuristic, Patch, Phase, Pipeline

__all__ = (
    "DEFAULT_REPARSES",
    "PHASES",
    "Attempt",
    "Check",
    "Draft",
    "Heuristic",
    "Patch",
    "Phase",
    "Pipeline",
    "PipelineRun",
    "Report",
    "run_pipeline",
)
