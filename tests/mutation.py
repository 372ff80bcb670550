"""Mutation tests: whether a room's own tests notice when its code is changed.

``python -m tests.mutation [ROOM ...]`` has mutmut make one small change after the other to the
functions of a room's modules, and run for each those of the room's own tests that call the
function. It prints a table and the changes that no test noticed, and fails where a room's tests
notice fewer than 95 %. The work is done in copies in ``build/mutation``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mutmut.stats import status_by_exit_code

ROOT: Final = Path(__file__).parents[1]
WORK: Final = ROOT / "build" / "mutation"
MUTMUT: Final = str(Path(sys.executable).with_name("mutmut"))
# What is asked of every room.
LEAST_PER_CENT: Final = 95
UNUSED: Final = ("cacheprovider", "xdist", "pytest_cov", "unraisableexception")
NOTICED: Final = frozenset({"killed", "timeout", "segfault"})


@dataclass(frozen=True)
class Room:
    """Modules below ``chunkast`` that do one job, and the files in ``tests`` that are theirs."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


ROOMS: Final = {
    "packing": Room(
        (
            "engine/packer.py",
            "engine/sections.py",
            "engine/layout.py",
            "engine/anchors.py",
            "boundaries/search.py",
        ),
        ("test_packer.py",),
    ),
    "overlap": Room(("engine/overlap.py",), ("test_overlap.py",)),
    "context": Room(("engine/embed.py",), ("test_context.py",)),
    "split": Room(
        ("engine/divide.py", "engine/cells.py", "engine/refine.py", "engine/protected.py"),
        ("test_divide.py",),
    ),
    "tokens": Room(("tokens/*.py",), ("test_tokens.py",)),
    "identity": Room(("identity/*.py",), ("test_identity.py",)),
}


def configuration(room: Room) -> str:
    """mutmut's configuration for a room, as it reads it from ``setup.cfg``."""

    def listed(key: str, values: Sequence[str]) -> str:
        return "\n    ".join([f"{key} =", *values])

    return "\n".join(
        (
            "[mutmut]",
            "source_paths = chunkast",
            listed("only_mutate", [f"chunkast/{module}" for module in room.modules]),
            listed(
                "pytest_add_cli_args_test_selection", [f"tests/{name}" for name in room.tests]
            ),
            # What a process for every mutant can do without.
            listed("pytest_add_cli_args", [f"-pno:{plugin}" for plugin in UNUSED]),
            "timeout_multiplier = 10",
            "use_git_change_detection = false",
            "",
        )
    )


def run(name: str, room: Room, children: int | None) -> bool:
    """Have mutmut test the mutants of a room; whether it came to its end."""
    work = WORK / name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for folder in ("chunkast", "tests"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, work / folder, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", work)
    (work / "setup.cfg").write_text(configuration(room), encoding="utf-8")
    command = [MUTMUT, "run", *(["--max-children", str(children)] if children else [])]
    environment = {**os.environ, "HYPOTHESIS_PROFILE": "mutation"}
    with (work / "mutmut.log").open("wb") as log:
        done = subprocess.run(command, cwd=work, env=environment, stdout=log, check=False)
    return done.returncode == 0


def verdicts(name: str) -> dict[str, str]:
    """What became of each mutant of a room, by its name."""
    found: dict[str, str] = {}
    for path in sorted((WORK / name).glob("mutants/**/*.meta")):
        codes = json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
        found |= {mutant: status_by_exit_code[code] for mutant, code in codes.items()}
    return found


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("rooms", nargs="*", metavar="ROOM", choices=[*ROOMS, []], default=[])
    parser.add_argument("--max-children", type=int, help="processes at once; as many as CPUs")
    options = parser.parse_args(arguments)
    names = options.rooms or [*ROOMS]
    if not all([run(name, ROOMS[name], options.max_children) for name in names]):
        return 2
    status = 0
    rows = ["| room | mutants | killed | timed out | survived | noticed |", "| --- " * 6 + "|"]
    for name in names:
        found = verdicts(name)
        for mutant, verdict in found.items():
            if verdict not in NOTICED:
                show = [MUTMUT, "show", mutant]
                print(f"\n{verdict}:", flush=True)
                subprocess.run(show, cwd=WORK / name, check=False)
        counts = Counter(found.values())
        noticed = sum(counts[verdict] for verdict in NOTICED)
        per_cent = 100 * noticed / len(found)
        status |= per_cent < LEAST_PER_CENT
        rows.append(
            f"| {name} | {len(found)} | {noticed - counts['timeout']} | {counts['timeout']} "
            f"| {len(found) - noticed} | {per_cent:.1f} % |"
        )
    print("", *rows, sep="\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
