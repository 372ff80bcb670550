"""Quality of chunks: chunkast beside its peers, by facts counted on the same documents.

Every chunker has the same budget, no overlap, and the options that help it with Markdown (see
``contenders``). :mod:`tests.bench.facts` counts, except where a column names the chunker's own
objects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple

import tiktoken

from tests.bench.contenders import Contender, Place, named, own_name, peers
from tests.bench.corpus import ENGLISH, load_fixtures, some
from tests.bench.facts import Facts, Source, facts
from tests.bench.tables import Cell, Setting, Table

__all__ = ("KEY", "run")

KEY = "compare"
_CHARACTERS = 1_000_000

# Name, format and how it was checked of every column after the name.
_COLUMNS = (
    ("chunks", ",d", "over all documents on which the chunker did not raise."),
    ("failed", ",d", "documents on which it raised."),
    (
        "over budget",
        "",
        "chunks whose text to embed tiktoken's `encode_ordinary` counts above the budget.",
    ),
    (
        "not verbatim",
        ".2%",
        "chunks that `str.find` does not find in the source from the end of the chunk before.",
    ),
    (
        "fences cut",
        "",
        (
            "`fence` tokens of markdown-it-py (CommonMark with tables and front matter) that fit the "
            "budget by themselves and that no single chunk holds, of all that fit."
        ),
    ),
    ("tables cut", "", "`table_open` tokens, checked as the fences."),
    (
        "headings left",
        "",
        (
            "`heading_open` tokens outside lists and quotes that are the last thing in a chunk, of all "
            "whose section is not empty."
        ),
    ),
    (
        "positions",
        "",
        (
            "what its objects state of start and end in the source, and the share of chunks with "
            "`source[start:end] == text` (where only a start is stated, `start + len(text)` is the "
            "end). The positions of LlamaIndex's two parsers are added up."
        ),
    ),
)


def run(setting: Setting) -> tuple[Table, ...]:
    """Return one table with a row for each chunker."""
    sources = [Source(text) for text in _texts(setting)]
    encode = tiktoken.get_encoding(setting.encoding).encode_ordinary

    def fits(text: str) -> bool:
        return len(encode(text)) <= setting.budget

    contenders = [
        named(own_name("sections", 0.0, "none"), setting.budget, setting.encoding),
        *peers(setting.budget, setting.encoding, setting.say),
    ]
    rows = []
    for contender in contenders:
        setting.say(f"compare: {contender.name}")
        rows.append(_row(contender, sources, fits))
    size = sum(len(source.text.encode(errors="replace")) for source in sources)
    return (
        Table(
            KEY,
            "What the chunks are like",
            f"{len(sources):,} documents, {size / 1e6:.2f} MB: the fixtures and a seeded choice of "
            f"the English corpus; {setting.budget} tokens of {setting.encoding}, no overlap.",
            (("", ""), *((name, spec) for name, spec, _ in _COLUMNS)),
            tuple(rows),
            tuple(f"*{name}*: {how}" for name, _, how in _COLUMNS),
        ),
    )


def _texts(setting: Setting) -> list[str]:
    """Return the fixtures and a sample of English documents."""
    texts = dict.fromkeys(load_fixtures(smoke=setting.smoke))
    others = [text for text in setting.corpora[ENGLISH] if text not in texts]
    return [*texts, *some(others, _CHARACTERS - sum(map(len, texts)))]


def _row(
    contender: Contender, sources: Sequence[Source], fits: Callable[[str], bool]
) -> tuple[Cell, ...]:
    chunker = contender.make()
    over = failed = 0
    found: list[Facts] = []
    places: list[tuple[str, list[Place]]] = []
    for source in sources:
        try:
            embedded, placed = chunker.chunk(source.text), chunker.places(source.text)
        except Exception:
            if not contender.may_fail:
                raise
            failed += 1
            continue
        over += sum(not fits(text) for text in embedded)
        found.append(facts(source, [text for _, _, text in placed], fits))
        places.append((source.text, placed))
    total = Facts(*map(sum, zip(*map(astuple, found), strict=True)))
    return (
        contender.name,
        total.chunks,
        failed,
        _of(over, total.chunks),
        total.rebuilt / total.chunks if total.chunks else None,
        _of(total.fences_cut, total.fences),
        _of(total.tables_cut, total.tables),
        _of(total.headings_left, total.headings),
        _positions(places),
    )


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({part / whole:.1%})" if whole else "0 of 0"


def _positions(documents: Sequence[tuple[str, Sequence[Place]]]) -> str:
    """Describe which positions a chunker states, and the share that is right."""
    chunks = [(text, *place) for text, places in documents for place in places]
    stated = [
        name
        for name, column in (("start", 1), ("end", 2))
        if any(chunk[column] is not None for chunk in chunks)
    ]
    if not stated:
        return "none"
    right = 0
    for text, start, end, chunk in chunks:
        if start is not None and start >= 0:
            right += text[start : start + len(chunk) if end is None else end] == chunk
    return f"{' and '.join(stated)}, {right / len(chunks):.2%} right"
