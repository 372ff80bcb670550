"""What one call costs on a text that is hardly worth chunking, beyond tokenizing it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from time import process_time

from tests.bench.contenders import default_contender, floor
from tests.bench.tables import Setting, Table

__all__ = ("KEY", "run")

KEY = "calls"
TEXTS = {
    '"short"': "short",
    "one sentence": "A single sentence with a few words, and then it ends.",
    "a heading and a paragraph": "# Title\n\n" + "Some words that make up a paragraph. " * 8,
}


def run(setting: Setting) -> Iterator[Table]:
    """One table: microseconds of a call, chunker and encoding made before."""
    times = 20 if setting.smoke else 1_000
    encode = floor(setting.encoding).make()
    chunk = default_contender(setting.budget, setting.encoding).make()
    rows = []
    for name, text in TEXTS.items():
        both = [(_each(encode, text, times), _each(chunk, text, times)) for _ in range(5)]
        tokenizing, all_of_it = (median(values) * 1e6 for values in zip(*both, strict=True))
        rows.append((name, tokenizing, all_of_it, all_of_it - tokenizing))
    yield Table(
        KEY,
        "One short text",
        "Microseconds of `chunk(text)` with the default configuration: CPU time of a call, "
        f"median of 5 means over {times:,} calls.",
        (("", ""), ("tokenizing", ",.1f"), ("chunk", ",.1f"), ("beyond tokenizing", ",.1f")),
        tuple(rows),
    )


def _each(call: Callable[[str], object], text: str, times: int) -> float:
    """The mean seconds of a call; the first is not counted."""
    call(text)
    before = process_time()
    for _ in range(times):
        call(text)
    return (process_time() - before) / times
