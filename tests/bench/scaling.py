"""Speed against the size of one document, and against the number of documents."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from statistics import median
from time import process_time

from tests.bench.contenders import Contender, default_contender, floor, peers, warm_up
from tests.bench.corpus import ENGLISH, copies, of_size
from tests.bench.tables import Cell, Setting, Table

__all__ = ("KEY", "run")

KEY = "scaling"
SIZES = {
    "1 kB": 10**3,
    "10 kB": 10**4,
    "100 kB": 10**5,
    "1 MB": 10**6,
    "10 MB": 10**7,
    "50 MB": 5 * 10**7,
}
COUNTS = {"1": 1, "10": 10, "100": 100, "1,000": 1_000, "10,000": 10_000}
SMOKE_STEPS = 3
# A document among many has at most this many characters.
SMALL = 8_000
# A contender that would take longer, judging by its growth so far, is not run.
MOST_SECONDS = 180.0
# What takes less is measured several times.
ENOUGH_SECONDS = 0.3
MOST_TIMES = 25


def run(setting: Setting) -> Iterator[Table]:
    """Yield a table by the size of one document and one by the number of documents."""
    contenders = [
        floor(setting.encoding),
        default_contender(setting.budget, setting.encoding),
        *peers(setting.budget, setting.encoding, setting.say),
    ]
    warm_up(contenders)
    texts = setting.corpora[ENGLISH]
    small = [text for text in texts if len(text) <= SMALL]
    sizes, counts = (_steps(steps, smoke=setting.smoke) for steps in (SIZES, COUNTS))
    yield _table(
        (
            "size",
            "Scaling: the size of one document",
            "MB/s on one document, made of real documents one after another.",
        ),
        ((name, [of_size(texts, size)]) for name, size in sizes.items()),
        contenders,
        setting,
    )
    yield _table(
        (
            "count",
            "Scaling: the number of documents",
            f"MB/s by the number of real documents, no two equal, of at most {SMALL:,} characters.",
        ),
        ((name, list(islice(copies(small), count))) for name, count in counts.items()),
        contenders,
        setting,
    )


def _steps(steps: Mapping[str, int], *, smoke: bool) -> dict[str, int]:
    return dict(islice(steps.items(), SMOKE_STEPS if smoke else None))


def _table(
    head: tuple[str, str, str],
    steps: Iterable[tuple[str, Sequence[str]]],
    contenders: Sequence[Contender],
    setting: Setting,
) -> Table:
    """Return a table; ``head`` is its key, title and note, ``steps`` its columns' names and texts."""
    key, title, note = head
    names = []
    # Seconds for each byte at each step; none from the step on that a contender did not take.
    paces: dict[str, list[float | None]] = {contender.name: [] for contender in contenders}
    for name, texts in steps:
        names.append(name)
        setting.say(f"{title}: {name}")
        size = sum(len(text.encode(errors="replace")) for text in texts)
        for contender in contenders:
            before = paces[contender.name]
            seconds = None
            if _expected(before) * size <= MOST_SECONDS:
                seconds = _seconds(contender, texts, setting)
            before.append(None if seconds is None else seconds / size)
    rows: list[tuple[Cell, ...]] = [
        (name, *(None if pace is None else 1e-6 / pace for pace in paces))
        for name, paces in paces.items()
    ]
    return Table(
        f"{KEY}, {key}",
        title,
        f"{note} CPU time. A dash: failed, or would have taken more than {MOST_SECONDS:g} s.",
        (("", ""), *((name, ".2f") for name in names)),
        tuple(rows),
    )


def _expected(paces: Sequence[float | None]) -> float:
    """Return the expected pace of the next step, extrapolated from the last two."""
    if not paces:
        return 0.0
    last = paces[-1]
    if last is None:
        return float("inf")
    previous = paces[-2] if len(paces) > 1 else None
    return last if previous is None else last * max(1.0, last / previous)


def _seconds(contender: Contender, texts: Sequence[str], setting: Setting) -> float | None:
    """Return the median of several times, each with a new object; ``None`` when a text failed."""
    taken: list[float] = []
    most = 1 if setting.smoke else MOST_TIMES
    while not taken or (sum(taken) < ENOUGH_SECONDS and len(taken) < most):
        chunk = contender.make()
        gc.collect()
        before = process_time()
        try:
            for text in texts:
                chunk(text)
        except Exception as error:
            if not contender.may_fail:
                raise
            setting.say(f"{contender.name} failed: {type(error).__name__}: {error}")
            return None
        taken.append(process_time() - before)
    return median(taken)
