"""Promise 8: time and memory grow linearly with a document's length, on hostile input too.

Every case of ``tests/hostile.py`` is chunked at one size and at four times that size. Only the
growth of the CPU time per character counts: 1 is linear, 4 quadratic. The best of several runs
counts, and a case that seems too slow is measured again.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
import tracemalloc
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from chunkast import Chunker, cutting
from chunkast.index import Store
from chunkast.reading import Outline, SectionError
from tests.hostile import CASES, VARIANTS, Build, filled, options_of, words

if TYPE_CHECKING:
    from _typeshed import TraceFunction

pytestmark = pytest.mark.slow

GROWTH: Final = 4
# How much more a character may take in the larger document. Quadratic growth is GROWTH.
TIME_LIMIT: Final = 2.2
MEMORY_LIMIT: Final = 1.5
# A larger document that takes less than this many seconds shows nothing.
FLOOR: Final = 0.02
ATTEMPTS: Final = 6
SIZE: Final = 8_000

# Characters of the smaller document, where it is not SIZE: more where times are too short to
# be told apart or where what grows starts small, less where a document takes long.
SIZES: Final[dict[str, int]] = {
    **dict.fromkeys(("quotes-deep-lazy", "headings-empty"), 5_000),
    "link-titles-escaped": 16_000,
    # The depths grow with the square root of the size.
    "fence-staircase": 250_000,
    **dict.fromkeys(("surrogates", "table-ragged", "words"), 20_000),
    "heading-long-over-paths": 25_000,
    # White space at a chunk's end is only long in a long document.
    "no-break-paragraphs": 40_000,
    "fences-growing": 32_000,
    **dict.fromkeys(("spaces", "emoji-joined", "html-tables-nested"), 50_000),
    **dict.fromkeys(("bold-headings", "brackets-nested"), 60_000),
    "words/sentences": 80_000,
    "words/words": 80_000,
    # Counting the rest of the document for each chunk shows here.
    **dict.fromkeys(("fill/page-marks", "fill/page-mark-last", "read/page-marks"), 60_000),
    # Reading all of a list for each chunk in it shows only in a long list.
    "small/items": 40_000,
    # Looking back to a line's start shows only in a long line.
    "sentences": 100_000,
}


def cpu_seconds(action: Callable[[str], object], text: str) -> float:
    """The CPU time of one run, without the collector's rounds over what pytest has in memory."""
    gc.disable()
    try:
        before = time.process_time()
        action(text)
        return time.process_time() - before
    finally:
        gc.enable()


def time_growth(action: Callable[[str], object], build: Build, size: int) -> float:
    """How much more a character takes in the larger document: 1 is linear, GROWTH quadratic.

    Best times only ever get better: a noisy run costs time, never a wrong verdict.
    """
    small, large = build(size), build(GROWTH * size)
    low = high = float("inf")
    growth = 1.0
    for _ in range(ATTEMPTS):
        low = min(low, cpu_seconds(action, small), cpu_seconds(action, small))
        high = min(high, cpu_seconds(action, large))
        growth = high / len(large) / (max(low, 1e-9) / len(small))
        if high < FLOOR or growth <= TIME_LIMIT:
            break
    return growth if high >= FLOOR else 1.0


def chunker_of(**options: Any) -> Chunker:
    """A small budget makes many chunks; what is loaded on first use is loaded here."""
    chunker = Chunker(**{"max_tokens": 64, "overlap": 0.15, **options})
    chunker.chunk("# Title\n\n" + "A sentence of a few words stands here. " * 20)
    return chunker


def test_the_measure_tells_quadratic_from_linear() -> None:
    def linear(text: str) -> int:
        return sum(map(ord, text))

    def quadratic(text: str) -> int:
        return sum(text.count("b", start) for start in range(0, len(text), 8))

    build = filled("a")
    assert time_growth(linear, build, 200_000) <= TIME_LIMIT
    # On a busy machine, one measurement may be wrong.
    assert any(time_growth(quadratic, build, 80_000) > TIME_LIMIT for _ in range(5))


@pytest.mark.parametrize(
    ("variant", "name"),
    [
        *(("", name) for name in CASES),
        *((variant, name) for variant, row in VARIANTS.items() for name in row.cases),
    ],
)
def test_time_grows_linearly(variant: str, name: str) -> None:
    options = VARIANTS[variant].options if variant else options_of(name)
    size = SIZES.get(f"{variant}/{name}", SIZES.get(name, SIZE))
    assert time_growth(chunker_of(**options).chunk, CASES[name], size) <= TIME_LIMIT


def lines_run(action: Callable[[str], object], text: str, package: ModuleType) -> int:
    """The number of lines of a package that are run; unlike times, the same in each run."""
    count = 0

    def line(*_: object) -> TraceFunction:
        nonlocal count
        count += 1
        return line

    def call(frame: FrameType, *_: object) -> TraceFunction | None:
        return line if frame.f_code.co_filename.startswith(package.__path__[0]) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        action(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("name", CASES)
def test_cutting_with_overlap_grows_linearly(name: str) -> None:
    # Looking back to a section's start for each cut takes many cuts to show.
    # Only lines of more than 16 tokens are divided: those of the larger document.
    size = 30_000 if name == "containers-growing" else SIZE
    chunk = chunker_of(**options_of(name), max_tokens=16).chunk
    small, large = CASES[name](size), CASES[name](GROWTH * size)
    least, most = (lines_run(chunk, text, cutting) for text in (small, large))
    assert most / len(large) <= TIME_LIMIT * least / len(small)


class Span(NamedTuple):
    """A part of a document to expand."""

    start_index: int
    end_index: int


def unknown(outline: Outline, name: str) -> None:
    with pytest.raises(SectionError):
        outline.find(name)


# What is done with the outline of a text, and the cases of ``tests/hostile.py`` for it.
READING: Final[dict[str, tuple[Callable[[Outline, str], object], tuple[str, ...]]]] = {
    "outline": (
        lambda outline, _: outline.sections,
        ("headings-of-all-levels", "heading-id-unclosed", "headings-empty"),
    ),
    "read": (
        lambda outline, text: outline.read(max_tokens=len(text) // 64),
        ("page-marks", "page-mark-last", "headings-of-all-levels"),
    ),
    "expand": (
        lambda outline, text: outline.expand(Span(len(text) // 2, len(text) // 2 + 1), 9_999),
        ("paragraphs", "items"),
    ),
    "find": (
        lambda outline, text: unknown(outline, f"x{' ' * len(text)}y{'#' * len(text)}"),
        ("headings-of-all-levels", "spaces"),
    ),
}


@pytest.mark.parametrize(
    ("what", "name"), [(what, name) for what, row in READING.items() for name in row[1]]
)
@pytest.mark.parametrize("encoding", ["cl100k_base", words])
def test_reading_grows_linearly(what: str, name: str, encoding: Any) -> None:
    chunker = chunker_of(encoding=encoding)

    def action(text: str) -> None:
        READING[what][0](chunker.outline(text), text)

    assert time_growth(action, CASES[name], SIZES.get(f"{what}/{name}", 12_000)) <= TIME_LIMIT


@pytest.mark.parametrize(
    "build", [filled("\n\nA.", "a"), filled("a\n", "```\n", "```\n"), filled("a"), filled("a b. ")]
)
def test_what_overlap_counts_does_not_grow_with_the_budget(build: Build) -> None:
    # By a counter that does not add up, which is given all that is counted.
    text = build(20_000)

    def counted(budget: int) -> float:
        sizes: list[int] = []

        def count(part: str) -> int:
            sizes.append(len(part))
            return -(-len(part) // 16)

        Chunker(max_tokens=budget, overlap=0.9, trim=False, encoding=count).chunk(text)
        return sum(sizes) / len(text)

    # 65 times at the most here; 1,351 when every tail was counted until one left room.
    assert max(counted(64), counted(256), counted(1_024)) <= 200


@pytest.mark.parametrize("name", ["sentences", "items", "table-rows", "heading-long-over-paths"])
def test_memory_grows_linearly(name: str) -> None:
    chunker = chunker_of()
    peaks: list[float] = []
    for text in (CASES[name](SIZE), CASES[name](GROWTH * SIZE)):
        gc.collect()
        tracemalloc.start()
        chunker.chunk(text)
        peaks.append(tracemalloc.get_traced_memory()[1] / len(text))
        tracemalloc.stop()
    assert peaks[1] <= MEMORY_LIMIT * peaks[0]


def by_search(expand: int | None) -> Callable[[Store, Chunker], object]:
    return lambda store, _: store.search("ferry", 10**9, limit=100, expand=expand)


def by_agent(tool: str, **given: Any) -> Callable[[Store, Chunker], object]:
    def act(store: Store, chunker: Chunker) -> None:
        answers = pytest.importorskip("chunkast.mcp.index_answers", exc_type=ImportError)
        asyncio.run(getattr(answers.Answers(store, chunker), tool)(**given))

    return act


@pytest.mark.parametrize(
    "action",
    [
        by_search(None),
        by_search(40),
        by_agent("search", query="ferry"),
        by_agent("outline", source="a.md"),
        by_agent("read", source="a.md"),
        by_agent("read", source="a.md", lines="901-99999"),
    ],
    ids=["search", "search and expand", "mcp search", "mcp outline", "mcp read", "mcp read on"],
)
def test_search_and_the_tools_of_agents_grow_linearly(
    action: Callable[[Store, Chunker], object],
) -> None:
    chunker = Chunker(max_tokens=16, overlap=0, min_tokens=0)

    def seconds(count: int) -> float:
        text = "".join(f"# Title {n}\n\nferry word {n}.\n\n" for n in range(count))
        best = float("inf")
        for _ in range(3):
            with Store(":memory:", create=True) as store:
                store.update([("a.md", text)], chunker)
                before = time.process_time()
                action(store, chunker)
                best = min(best, time.process_time() - before)
        return best

    small, large = seconds(1_000), seconds(4_000)
    assert large <= GROWTH * TIME_LIMIT * small


@pytest.mark.parametrize(
    "paragraph", ["ferry word {}.\n\n", "ferry word {}. ", "# Title {}\n\nferry.\n\n"]
)
def test_finding_a_part_grows_linearly(paragraph: str) -> None:
    chunker = Chunker(max_tokens=1_000_000, overlap=0)

    def seconds(count: int) -> float:
        text = "".join(map(paragraph.format, range(count)))
        with Store(":memory:", create=True) as store:
            store.update([("a.md", text)], chunker)
            times = []
            for _ in range(3):
                before = time.process_time()
                [hit] = store.search(f"ferry {count // 2}", count)
                times.append(time.process_time() - before)
            assert hit.part
        return min(times)

    small, large = seconds(1_000), seconds(4_000)
    assert large <= GROWTH * TIME_LIMIT * small
