"""Chunkast, its stages and its peers against the speed of the tokenizer alone.

All contenders take turns in one process, round by round, so that what the machine does
meanwhile meets them all. Times are CPU times, the table shows medians.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import process_time

from chunkast.tokens.counter import BUNDLED, VOCABULARY
from tests.bench.contenders import (
    FLOOR,
    Contender,
    chunkast_contenders,
    default_name,
    floor,
    peers,
)
from tests.bench.corpus import load_corpus
from tests.bench.stages import STAGES, measure_stages


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; ``share`` is of the floor's speed, ``seconds`` a round each."""

    name: str
    speed: float
    share: float
    chunks: int
    seconds: list[float]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code says only whether that went well."""
    options = _parser().parse_args(arguments)
    if options.encoding in BUNDLED:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(VOCABULARY)  # for the peers' own tiktoken
    texts = load_corpus(smoke=options.smoke)
    size = sum(len(text.encode(errors="replace")) for text in texts)
    contenders = [
        floor(options.encoding),
        *chunkast_contenders(options.budget, options.encoding),
        *peers(options.budget, options.encoding, _say),
    ]
    rounds = 1 if options.smoke else options.rounds
    _say(
        f"{len(texts)} documents, {size / 1e6:.2f} MB; {options.budget} tokens of "
        f"{options.encoding}; rounds: {rounds}; Python {platform.python_version()}, "
        f"tiktoken {version('tiktoken')}, markdown-it-py {version('markdown-it-py')}"
    )
    rows, stages = _measure(contenders, texts, size, rounds, options)
    _print_table(rows)
    _print_stages(stages, rows)
    if options.json:
        report = {
            "documents": len(texts),
            "bytes": size,
            "budget": options.budget,
            "encoding": options.encoding,
            "rows": [asdict(row) for row in rows],
            "stages": stages,
        }
        options.json.write_text(json.dumps(report, indent=2) + "\n", "utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="the fixtures only, one round")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument("--budget", type=int, default=512, metavar="TOKENS", help="default: 512")
    parser.add_argument("--encoding", default="cl100k_base", help="default: cl100k_base")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    return parser


def _measure(
    contenders: Sequence[Contender],
    texts: Sequence[str],
    size: int,
    rounds: int,
    options: argparse.Namespace,
) -> tuple[list[Row], dict[str, float]]:
    """The rows of the table, and the median seconds of each stage."""
    seconds: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    chunks = dict.fromkeys(seconds, 0)
    stages: list[list[float]] = []
    for contender in contenders:
        contender.make()("# Warm up\n\nWhat is loaded on first use is loaded here.\n")
    for _ in range(rounds):
        for contender in contenders:
            chunk = contender.make()
            gc.collect()
            before = process_time()
            chunks[contender.name] = sum(len(chunk(text)) for text in texts)
            seconds[contender.name].append(process_time() - before)
        gc.collect()
        stages.append(measure_stages(texts, options.budget, options.encoding))
    fastest = median(seconds[FLOOR])
    rows = [
        Row(name, size / median(spent) / 1e6, fastest / median(spent), chunks[name], spent)
        for name, spent in seconds.items()
    ]
    return rows, {
        name: median(spent) for name, spent in zip(STAGES, zip(*stages, strict=True), strict=True)
    }


def _print_table(rows: Sequence[Row]) -> None:
    width = max(len(row.name) for row in rows)
    _say(f"\n{'':{width}}   MB/s  of floor   chunks")
    for row in rows:
        chunks = f"{row.chunks:,}" if row.chunks else "-"
        _say(f"{row.name:{width}} {row.speed:6.2f} {row.share:8.1%} {chunks:>9}")


def _print_stages(stages: dict[str, float], rows: Sequence[Row]) -> None:
    """The stages as shares of their sum, and as multiples of the floor's time."""
    total = sum(stages.values())
    fastest = next(median(row.seconds) for row in rows if row.name == FLOOR)
    _say(f"\nStages of {default_name()}:")
    _say(f"{'':14}seconds    share   floors")
    for name, spent in stages.items():
        _say(f"{name:14}{spent:7.3f} {spent / total:8.1%} {spent / fastest:8.2f}")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
