"""Hypothesis profiles, and the switch that regenerates the golden files."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci",
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "nightly", settings.get_profile("ci"), max_examples=2_000, derandomize=False
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens", action="store_true", help="write the golden files anew (not in CI)"
    )


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written rather than compared."""
    wanted = bool(request.config.getoption("--update-goldens"))
    if wanted and os.environ.get("CI"):
        pytest.fail("--update-goldens is refused where CI is set: goldens are read by a person")
    return wanted
