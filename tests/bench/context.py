"""What chunks lose when they are read alone: chunkast beside its peers.

Every chunker has the same budgets and no overlap. :mod:`tests.bench.openers` reads the source;
a chunk that is not a slice of it has no place, and is only counted as such.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.bench.contenders import Contender, named, own_name, peers
from tests.bench.corpus import ENGLISH, some
from tests.bench.facts import Source, placed, squeezed
from tests.bench.openers import blocks, heading_ends, sublists
from tests.bench.tables import Cell, Setting, Table

__all__ = ("KEY", "count", "run")

KEY = "context"
_BUDGETS = (128, 256, 512)
_CHARACTERS = 1_000_000

# Key, name and how it was checked of every column of counts.
_COLUMNS = (
    ("heading", "end with a heading", "chunks that end with a heading though text follows."),
    (
        "parent",
        "parents apart",
        "sublists right below the text of an item that begin another chunk than its end.",
    ),
    (
        "list",
        "no lead-in",
        "chunks that begin inside a list without its lead-in, the sentence with a colon before it.",
    ),
    ("item", "no parent", "items that a chunk continues without their first line."),
    ("alert", "no alert", "chunks that begin inside an alert without its marker or title."),
    ("tab", "no tab", "chunks that begin inside a tab without its label."),
)


def run(setting: Setting) -> Iterator[Table]:
    """Yield a table for each budget."""
    texts = setting.documents or some(setting.corpora[ENGLISH], _CHARACTERS)
    for budget in _BUDGETS[:1] if setting.smoke else _BUDGETS:
        rows = []
        for contender in (
            named(own_name("sections", 0.0, "headings"), budget, setting.encoding),
            *peers(budget, setting.encoding, setting.say),
        ):
            setting.say(f"context: {budget} tokens, {contender.name}")
            rows.append(_row(contender, texts))
        yield Table(
            f"{KEY}, {budget} tokens",
            f"Chunks read alone: {budget} tokens",
            f"{len(texts):,} documents, {sum(map(len, texts)) / 1e6:.1f} million characters; "
            f"{budget} tokens of {setting.encoding}, no overlap.",
            (
                ("", ""),
                ("chunks", ",d"),
                ("failed", ",d"),
                ("no place", ",d"),
                *((name, "") for _, name, _ in _COLUMNS),
            ),
            tuple(rows),
            tuple(f"*{name}*: {how}" for _, name, how in _COLUMNS),
        )


def _row(contender: Contender, texts: Sequence[str]) -> tuple[Cell, ...]:
    chunker = contender.make()
    lost: Counter[str] = Counter()
    of: Counter[str] = Counter()
    failed = 0
    for text in texts:
        try:
            embedded, places = chunker.chunk(text), chunker.places(text)
        except Exception:
            if not contender.may_fail:
                raise
            failed += 1
            continue
        own = [chunk for _, _, chunk in places]
        more, out_of = count(text, own, embedded if len(embedded) == len(own) else own)
        lost += more
        of += out_of
    counts = (f"{lost[key]:,} of {of[key]:,}" for key, _, _ in _COLUMNS)
    return contender.name, of["heading"], failed, lost["place"], *counts


def count(
    text: str, chunks: Sequence[str], embedded: Sequence[str]
) -> tuple[Counter[str], Counter[str]]:
    """Return how many chunks lose what they need, and how many need it, by kind."""
    source = Source(text)
    places = placed(source.solid, [squeezed(chunk) for chunk in chunks])
    found = [(*place, shown) for place, shown in zip(places, embedded, strict=True) if place]
    starts = [start for start, _, _ in found]
    ends = {end for _, end, _ in found}
    apart = sublists(source)
    lost = Counter(
        place=places.count(None),
        heading=len(heading_ends(source) & ends),
        parent=len(apart & ends),
    )
    of = Counter(heading=len(chunks), parent=len(apart))
    for block in blocks(source):
        first, last = (bisect_left(starts, pos) for pos in (block.start, block.end))
        for _, _, shown in found[first:last]:
            of[block.kind] += 1
            lost[block.kind] += not any(opener in squeezed(shown) for opener in block.openers)
    return lost, of
