"""Hypothesis profiles, and the switch that regenerates the golden files."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from chunkast.code import versions
from chunkast.tokens.vocabulary import VOCABULARY

# Where tests compare with tiktoken itself, it finds the bundled vocabularies.
os.environ["TIKTOKEN_CACHE_DIR"] = str(VOCABULARY)

# A shell's background job ignores Ctrl-C, what nohup starts a closed terminal; so would the
# programs that the tests start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# "quick" is for the loop; ``.ci/run`` has "ci", and what runs at night "nightly".
settings.register_profile(
    "ci",
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "nightly", settings.get_profile("ci"), max_examples=2_000, derandomize=False
)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=8)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_addoption(parser: pytest.Parser) -> None:
    # The golden files are locks: this repository's name for --chunkast-update.
    parser.addoption(
        "--update-goldens",
        action="store_true",
        dest="chunkast_update",
        help="write the golden files anew (not in CI)",
    )
    parser.addoption("--list-skipped", type=Path, metavar="FILE", help="list skipped tests in FILE")
    parser.addoption("--run-skipped", type=Path, metavar="FILE", help="run only the tests in FILE")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Write the ids of skipped tests, and of modules that are skipped as a whole."""
    if file := config.getoption("list_skipped"):
        reports = terminalreporter.getreports("skipped")
        file.write_text("\n".join(sorted({report.nodeid for report in reports})), "utf-8")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that are not in the file of skipped tests, if there is one."""
    if file := config.getoption("run_skipped"):
        skipped = file.read_text("utf-8").split("\n")
        items[:] = [i for i in items if i.nodeid in skipped or i.nodeid.split("::")[0] in skipped]


@pytest.fixture(scope="session", autouse=True)
def _compiled_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Where no bytecode may be written, programs that tests start have a folder of their own for it."""
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ["PYTHONPYCACHEPREFIX"] = str(tmp_path_factory.getbasetemp() / "bytecode")


@pytest.fixture
def without_grammars(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if the extra ``code`` were not installed, so that cuts do not depend on whether it is."""
    versions.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    yield
    versions.cache_clear()
