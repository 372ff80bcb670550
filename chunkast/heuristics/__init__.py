"""Heuristics: repairs before a parse, after a failed parse, and after a successful parse."""

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
