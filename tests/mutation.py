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

from mutmut.mutation.diff_apply import get_diff_for_mutant
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
            "engine/leaves.py",
            "engine/joining.py",
            "engine/fill.py",
            "engine/previous.py",
            "engine/replaced.py",
            "boundaries/search.py",
        ),
        ("test_packer.py", "test_leaves.py", "test_previous_places.py"),
    ),
    "overlap": Room(("engine/overlap.py",), ("test_overlap.py",)),
    "context": Room(("engine/embed.py",), ("test_context.py",)),
    "split": Room(
        (
            "engine/divide.py",
            "engine/cells.py",
            "engine/html_tables.py",
            "engine/measure.py",
            "engine/opaque.py",
            "engine/refine.py",
            "engine/protected.py",
        ),
        ("test_divide.py", "test_html_tables.py"),
    ),
    # Without what only the counters of other libraries need: its tests take minutes.
    "tokens": Room(
        (
            "tokens/counter.py",
            "tokens/index.py",
            "tokens/long_space.py",
            "tokens/pretokens.py",
            "tokens/resolve.py",
            "tokens/spans.py",
            "tokens/vocabulary.py",
        ),
        ("test_token_index.py",),
    ),
    "identity": Room(("identity/*.py",), ("test_quotes.py", "test_plans.py", "test_pages.py")),
}


def configuration(room: Room) -> str:
    """Mutmut's configuration for a room, as it reads it from ``setup.cfg``."""

    def listed(key: str, values: Sequence[str]) -> str:
        return "\n    ".join([f"{key} =", *values])

    return "\n".join(
        (
            "[mutmut]",
            "source_paths = chunkast",
            listed("only_mutate", [f"chunkast/{module}" for module in room.modules]),
            listed("pytest_add_cli_args_test_selection", [f"tests/{name}" for name in room.tests]),
            # What a process for every mutant can do without.
            listed("pytest_add_cli_args", [f"-pno:{plugin}" for plugin in UNUSED]),
            "timeout_multiplier = 10",
            "use_git_change_detection = false",
            "",
        )
    )


def prepare(name: str, *, again: bool) -> Path:
    """The folder in which mutmut works on a room.

    ``again``: what is there from before is kept, but for what no test noticed.
    """
    work = WORK / name
    if not again:
        shutil.rmtree(work, ignore_errors=True)
    for folder in ("chunkast", "tests"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, work / folder, ignore=ignored, dirs_exist_ok=True)
    shutil.copy(ROOT / "pyproject.toml", work)
    (work / "setup.cfg").write_text(configuration(ROOMS[name]), encoding="utf-8")
    (work / "mutants" / "mutmut-stats.json").unlink(missing_ok=True)
    for path in work.glob("mutants/**/*.meta"):
        known = json.loads(path.read_text(encoding="utf-8"))
        codes = known["exit_code_by_key"]
        for mutant, code in codes.items():
            codes[mutant] = code if status_by_exit_code[code] in NOTICED else None
        path.write_text(json.dumps(known), encoding="utf-8")
    return work


def run(work: Path, children: int) -> bool:
    """Have mutmut test the mutants of a room; whether it came to its end."""
    command = [MUTMUT, "run", "--max-children", str(children)]
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


def difference(name: str, mutant: str, module: str) -> str:
    """The lines that a mutant changes."""
    before = Path.cwd()
    os.chdir(WORK / name)
    try:
        lines = get_diff_for_mutant(mutant, path=module).split("\n")
    finally:
        os.chdir(before)
    return "\n".join(line for line in lines[2:] if line[:1] in ("-", "+"))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("rooms", nargs="*", metavar="ROOM", choices=[*ROOMS, []], default=[])
    parser.add_argument("--again", action="store_true", help="only what no test noticed before")
    parser.add_argument("--max-children", type=int, default=os.cpu_count(), help="at once")
    options = parser.parse_args(arguments)
    names = options.rooms or [*ROOMS]
    for name in names:
        if not run(prepare(name, again=options.again), options.max_children):
            print(f"mutmut failed: see {WORK / name / 'mutmut.log'}")
            return 2
    status = 0
    rows = ["| room | mutants | killed | timed out | survived | noticed |", "| --- " * 6 + "|"]
    for name in names:
        found = verdicts(name)
        for mutant, verdict in found.items():
            if verdict not in NOTICED:
                module = "/".join(mutant.split(".")[:-1]) + ".py"
                print(f"\n{verdict}: {mutant}", difference(name, mutant, module), sep="\n")
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
