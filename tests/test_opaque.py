"""Opaque runs: what counts as one, and what becomes of those larger than the budget."""

from __future__ import annotations

import random
import warnings
from base64 import b32encode, b64encode, b85encode
from textwrap import wrap
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from chunkast import Chunk, ChunkastWarning, ChunkConfig, Chunker, Replacement
from chunkast.text.opaque import opaque_runs
from tests.checks import check_promises
from tests.frameworks import DOCUMENTS
from tests.strategies import documents, markdown
from tests.test_analysis import after


def noise(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)


BASE64 = b64encode(noise(6_000)).decode()
IMAGE = f"data:image/png;base64,{BASE64}"
LINES = "\n".join(wrap(BASE64, 76))
# Just long enough.
SHORT = (IMAGE[:300], BASE64[:256], "\n".join(wrap(BASE64[:400], 64)))


def found(text: str) -> list[tuple[str, str]]:
    return [(run.kind, text[run.start : run.end]) for run in opaque_runs(text, 0, len(text))]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(("data URI image/png", IMAGE), ("data URI", "data:," + "x%20y" * 400)),
        *(("base64", BASE64), ("base64", LINES), ("base64", LINES.replace("\n", "\n> "))),
        ("base64", b64encode(noise(900), b"-_").decode()),
    ],
)
def test_each_kind_is_found_amid_other_text(kind: str, text: str) -> None:
    assert found(f"Before.\n{text}\nafter it.") == [(kind, text)]
    assert found(f"Before it ({text}). Then.")[0][0] == kind


def test_what_says_something_is_no_run() -> None:
    for text in (
        "a-long-slug-of-many-words/" * 60,
        "ThisIsHowSomeNameTheirTestsAndItGoesOnAndOn" * 40,
        "10, 20, 30, 40, 50, 60, 70, 80, 90, " * 40,
        "2024-01-31 12:30:00\n" * 60,
        "漢字仮名" * 600,
        '{"name": "a title of some words", "text": "and what it says"}, ' * 60,
        b85encode(noise(150)).decode(),
        "data:image/png;base64,iVBORw0KGgo=",
        noise(2_000).hex(),
        b32encode(noise(900)).decode(),
        "!function(e,t){var n=e[t]||(e[t]={});n.q=n.q||[]};" * 60,
    ):
        assert found(text) == [], text[:40]


def test_real_documents_have_few() -> None:
    runs = {name: [kind for kind, _ in found(text)] for name, text in DOCUMENTS.items()}
    assert {name: kinds for name, kinds in runs.items() if kinds} == {"long-words.md": ["base64"]}


def kept(text: str, budget: int = 200, **options: object) -> list[Chunk]:
    return check_promises(text, ChunkConfig(max_tokens=budget, opaque="keep", **options))  # type: ignore[arg-type]


def test_a_run_costs_what_its_placeholder_costs() -> None:
    text = f"# Plan\n\nThe way up.\n\n![The map](<{IMAGE}> 'up')\n\nThe way down."
    [whole] = kept(text)
    assert (whole.text, whole.oversize) == (text, True)
    assert whole.embed_text == text.replace(IMAGE, "[data URI image/png, 8,022 characters]")
    assert whole.token_count > 200 > whole.embed_token_count
    [small] = kept(f"# Map\n\n![up](data:image/png;base64,{BASE64[:400]})\n", 400)
    assert (small.oversize, small.embed_text) == (False, small.text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"```pem\n---\n{LINES}\n---\n```\n", "```pem\n---\n[base64, 8,105 characters]\n---\n```"),
        ("x = 1.\n\n" * 60 + f'p = "{BASE64}"\n\n' + "y = 2\n\n" * 60, 'p = "[base64'),
        (
            "<p>Some words.</p>\n" * 60 + f'<img src="{IMAGE}" alt="A map">\n',
            '\n<img src="[data URI',
        ),
        ("word " * 300 + f"[up]({IMAGE}) " + "more " * 300, "[up]([data URI"),
        ("word " * 300 + f"{IMAGE} " + "more " * 300, "[data URI"),
        (
            "| a | b |\n| - | - |\n" + "| c | d |\n" * 60 + f"| e | ![]({IMAGE}) |\n",
            "| c | d |\n| e | ![]([data URI",
        ),
        (f"- one\n- ![x]({IMAGE})\n- two\n", "- one\n- ![x]([data URI"),
        (f"See [it].\n\n[it]: {IMAGE}\n", "See [it].\n\n[it]: [data URI"),
        (f"# One\n\n{IMAGE}\n\nThe key:\n\n```\n{BASE64}\n```\n", "# One\n\n[data URI"),
    ],
)
def test_it_is_cut_like_other_text(text: str, shown: str) -> None:
    chunks = kept(text, context="none")
    [run] = [chunk for chunk in chunks if chunk.oversize]
    assert shown in run.embed_text
    assert len(chunks) < 9
    # The text beside the run is in its chunk.
    assert len(chunks) == 1 or run.embed_token_count > 50


def test_a_part_of_a_fence_with_a_run_keeps_its_fence_lines() -> None:
    lines = '{"a": 1},\n' * 60
    chunks = kept(f'```json\n{lines}{{"b": "{BASE64}"}},\n{lines}```\n', context="none")
    [run] = [chunk for chunk in chunks if chunk.oversize]
    assert run.embed_text.startswith("```json\n{")
    assert '\n{"b": "[base64, 8,000 characters]"},\n{"a"' in run.embed_text
    assert run.embed_text.endswith("},\n```")
    [whole] = kept(f"Some words. {IMAGE} More words.\n", oversize="keep")
    assert whole.embed_text == "Some words. [data URI image/png, 8,022 characters] More words."


def test_a_run_whose_placeholder_does_not_fit_is_divided() -> None:
    chunks = kept(IMAGE, 6)
    assert len(chunks) > 100
    assert not any(chunk.oversize for chunk in chunks)


def test_replacements_of_a_heuristic_around_a_run_win_and_those_inside_do_not() -> None:
    text = f"One ![a map]({IMAGE}) two.\n"
    start = text.index("![")
    run = text.index("data:")
    for spans, shown in (
        ([(start, text.index(" two"), "(a map)")], "One (a map) two."),
        (
            [(start, run + 30, "crosses"), (run, run + 30, "inside")],
            "One ![a map]([data URI image/png, 8,022 characters]) two.",
        ),
    ):
        replacing = after("captions", replacements=[Replacement(*span) for span in spans])
        [chunk] = Chunker(max_tokens=200, opaque="keep", heuristics=(replacing,)).chunk(text)
        assert (chunk.text, chunk.embed_text) == (text.rstrip(), shown)


def test_a_run_that_is_divided_is_told_with_what_to_do() -> None:
    with pytest.warns(ChunkastWarning) as told:
        chunks = Chunker(max_tokens=200).chunk(f"One.\n\n{IMAGE}\n\n{BASE64[:900]}\n", "map.md")
    assert len(chunks) > 20
    [warning] = told
    assert str(warning.message) == (
        "map.md: opaque data was split across chunks: [data URI image/png, 8,022 characters] and "
        "1 more; opaque='keep' (--opaque keep) keeps it whole"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Chunker(max_tokens=200, opaque="keep").chunk(IMAGE)
        Chunker(max_tokens=200, oversize="keep").chunk(IMAGE)
        Chunker(max_tokens=9_000).chunk(IMAGE)
        # Front matter that is left out is in no chunk.
        text = f"---\nicon: {BASE64}\n---\n\nOne.\n"
        assert len(Chunker(max_tokens=200, front_matter_text="drop").chunk(text)) == 1


@given(
    documents() | markdown(),
    st.lists(
        st.tuples(
            st.integers(0, 600),
            st.sampled_from([*SHORT, f"![map]({SHORT[0]})", f'<a title="{SHORT[1]}">']),
            st.sampled_from(["", " ", "\n", "\n\n", "`", "|", "́", "。", "\n> "]),
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([1, 9, 20, 60, 400]),
    st.sampled_from([0, 0.3]),
    st.booleans(),
)
@settings(max_examples=settings().max_examples // 2)
def test_the_promises_hold_around_runs(
    text: str, runs: list[tuple[int, str, str]], budget: int, overlap: float, trim: bool
) -> None:
    for at, run_, edge in runs:
        text = text[:at] + edge + run_ + edge + text[at:]
    # What is wrong there is below.
    assume(not any(run_ in table for table in html_tables(text) for _, run_, _ in runs))
    kept(text, budget, overlap=overlap, trim=trim)


def html_tables(text: str) -> list[str]:
    leaves = Chunker().analyze(text).blocks.leaves()
    return [text[leaf.start : leaf.end] for leaf in leaves if leaf.kind == "html-table"]


@pytest.mark.xfail(reason="context and rows around data in a cell of an HTML table", strict=True)
@pytest.mark.parametrize(
    ("before", "cell", "at", "run"),
    [
        (
            "a---\ntitle: Example\ntags: [a, b]\ntags: [a, b]\n---\n",
            "γλῶσσα ἑλληνική",
            102,
            f"\n{SHORT[1]}\n",
        ),
    ],
)
def test_the_promises_hold_around_runs_in_html_tables(
    before: str, cell: str, at: int, run: str
) -> None:
    text = f"{before}<table><tbody><tr><td>{cell}</td></tr></tbody></table>\n"
    kept(text[:at] + run + text[at:], 60, overlap=0, trim=False)


@st.composite
def sections_with_runs(draw: st.DrawFn) -> tuple[list[str], int]:
    """Sections of prose and blocks above the budget, and one of them, which may have a run."""
    word = st.sampled_from(["harbour", "crane", "tide", "quay", "mooring", "12", "x"])
    prose = st.lists(word, min_size=40, max_size=90).map(" ".join)
    block = prose | prose.map(lambda text: f"```\n{text.replace('y ', chr(10))}\n```")
    # A heading alone would join a small neighbour.
    body = st.tuples(prose, st.lists(block, max_size=2)).map(lambda parts: [parts[0], *parts[1]])
    bodies = draw(st.lists(body, min_size=2, max_size=4))
    sections = [
        f"# P{number}\n\n" + "\n\n".join(body) + "\n\n" for number, body in enumerate(bodies)
    ]
    return sections, draw(st.integers(0, len(sections) - 1))


@settings(max_examples=settings().max_examples // 4)
@given(
    sections_with_runs(),
    st.sampled_from([f"![x]({IMAGE[:900]})", BASE64[:900], LINES[:900]]),
    st.sampled_from([0, 0.3]),
    st.sampled_from(["none", "headings"]),
)
def test_a_run_moves_no_cut_of_another_section(
    given_: tuple[list[str], int], run_: str, overlap: float, context: Any
) -> None:
    sections, at = given_
    chunker = Chunker(max_tokens=32, overlap=overlap, opaque="keep", context=context)

    def elsewhere(text: str) -> list[str]:
        chunks = chunker.chunk(text)
        assert [chunk.text for chunk in chunker.chunk(chunker.analyze(text))] == [
            chunk.text for chunk in chunks
        ]
        return [chunk.text for chunk in chunks if chunk.headings[-1] != f"P{at}"]

    plain = elsewhere("".join(sections))
    sections[at] += f"{run_}\n\n"
    assert elsewhere("".join(sections)) == plain
