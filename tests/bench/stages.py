"""Where chunkast's time goes: the stages of its default configuration.

This is the only bench that knows chunkast's inner names, and ``SEAMS`` is the only place
that has them. Each seam is a function that is timed while it runs, less the time of other
seams it calls. What no seam covers is "other".
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import wraps
from importlib import import_module
from inspect import isgenerator
from statistics import median
from time import process_time
from typing import Any
from unittest.mock import patch

from chunkast import Chunker
from tests.bench.contenders import default_contender, floor, warm_up
from tests.bench.tables import Setting, Table

__all__ = ("KEY", "SEAMS", "run")

KEY = "stages"
OTHER = "other"
# Stage, module, and the name that is called there.
SEAMS = (
    ("parse", "chunkast.core.analysis.markdown", "parse_document"),
    ("find boundaries", "chunkast.sources.documents", "analyze"),
    ("tokenize", "chunkast.core.document", "index_of"),
    ("divide", "chunkast.core.run", "divide"),
    ("pack", "chunkast.core.run", "pack"),
    ("emit", "chunkast.core.run", "assemble"),
)


class _Clock:
    """The seconds of each stage; of two that are nested only the inner one runs."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.running = [OTHER]
        self.since = process_time()

    def switch(self) -> None:
        now = process_time()
        self.seconds[self.running[-1]] += now - self.since
        self.since = now

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def run_timed(*arguments: Any, **keywords: Any) -> Any:
            with self.stage(stage):
                result = function(*arguments, **keywords)
            return self.each(stage, result) if isgenerator(result) else result

        return run_timed

    @contextmanager
    def stage(self, stage: str) -> Iterator[None]:
        self.switch()
        self.running.append(stage)
        try:
            yield
        finally:
            self.switch()
            self.running.pop()

    def each(self, stage: str, items: Iterator[Any]) -> Iterator[Any]:
        """The items, the time that each takes being the stage's."""
        end = object()
        while True:
            with self.stage(stage):
                item = next(items, end)
            if item is end:
                return
            yield item


def run(setting: Setting) -> Iterator[Table]:
    """A table for each language."""
    contenders = [
        floor(setting.encoding),
        default_contender(setting.budget, setting.encoding),
    ]
    warm_up(contenders)
    encode = contenders[0].make()
    for language, texts in setting.corpora.items():
        rounds: list[dict[str, float]] = []
        floors: list[float] = []
        for _ in range(setting.rounds):
            before = process_time()
            for text in texts:
                encode(text)
            floors.append(process_time() - before)
            rounds.append(_stages(texts, setting))
        spent = {
            stage: median(seconds[stage] for seconds in rounds)
            for stage in [*(stage for stage, _, _ in SEAMS), OTHER]
        }
        total = sum(spent.values())
        yield Table(
            f"{KEY}, {language}",
            f"Stages: {language}",
            "Where the time of chunkast's default configuration goes. *floors*: as a multiple "
            "of the time it takes to encode each text once.",
            (("", ""), ("seconds", ".3f"), ("share", ".1%"), ("floors", ".2f")),
            (
                *(
                    (stage, seconds, seconds / total, seconds / median(floors))
                    for stage, seconds in spent.items()
                ),
                ("all", total, 1.0, total / median(floors)),
            ),
        )


def _stages(texts: Any, setting: Setting) -> dict[str, float]:
    chunker = Chunker(max_tokens=setting.budget, encoding=setting.encoding)
    clock = _Clock()
    # Encoding is tokenizing wherever it is asked for.
    counter = chunker.counter
    ends = counter.token_ends
    chunker.counter = replace(
        counter,
        count=clock.timed("tokenize", counter.count),
        token_ends=ends and clock.timed("tokenize", ends),
    )
    gc.collect()
    with _seams(clock):
        clock.since = process_time()
        for text in texts:
            chunker.chunk(text)
        clock.switch()
    return clock.seconds


@contextmanager
def _seams(clock: _Clock) -> Iterator[None]:
    with ExitStack() as stack:
        for stage, module, path in SEAMS:
            *holders, name = path.split(".")
            owner: Any = import_module(module)
            try:
                for holder in holders:
                    owner = getattr(owner, holder)
                function = getattr(owner, name)
            except AttributeError as error:
                raise SystemExit(f"{module} has no {path}: correct SEAMS in {__file__}") from error
            stack.enter_context(patch.object(owner, name, clock.timed(stage, function)))
        yield
