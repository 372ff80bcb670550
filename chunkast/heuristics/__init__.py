"""Repair a source with heuristics, before a parse and after a failed or successful parse."""

from chunkast.heuristics.engine import (
    DEFAULT_REPARSES,
    Attempt,
    Check,
    PipelineRun,
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
    "run_pipeline",
)
