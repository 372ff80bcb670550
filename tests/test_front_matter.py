"""Front matter in the chunks' text or in none, and its values in what is embedded."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunk, ChunkastWarning, ChunkConfig, Chunker, count_tokens
from tests.checks import check_promises
from tests.strategies import documents, markdown

MATTER = """---
title: "Tides"
tags: [sea, 'moon']
authors:
  - Ann
  - Bob
about: >
  What the sea
  does all day.
---
"""
BODY = "\n\n# Guide\n\nIntro.\n\n## One\n\n" + "The sea comes and goes. " * 30 + "\n"
TEXT = MATTER + BODY


# A list of nine mappings, each of which merges the list of the level before.
MERGES = "x: &x0 [{a: 1}]\n" + "".join(
    f"x{n}: &x{n} [{', '.join([f'{{<<: *x{n - 1}}}'] * 9)}]\n" for n in range(1, 12)
)


def chunks(text: str = TEXT, **options: object) -> list[Chunk]:
    given = {"max_tokens": 80, "overlap": 0, "front_matter_text": "drop", **options}
    return check_promises(text, ChunkConfig(**given))  # type: ignore[arg-type]


def test_dropped_front_matter_is_in_no_chunk() -> None:
    found = chunks()
    kept = chunks(front_matter_text="keep")
    assert kept[0].text.startswith("---\ntitle")
    assert found[0].text.startswith("# Guide")
    assert found[0].start_line == 13
    assert all(chunk.metadata["front_matter"] == MATTER for chunk in found)
    assert all("front-matter" not in chunk.kinds for chunk in found)
    for text in (MATTER, MATTER.rstrip("\n"), "\ufeff" + MATTER, MATTER + "\n\n"):
        assert chunks(text) == []
    assert chunks("---\nFoo\n---\n")[0].text == "---\nFoo\n---"
    assert chunks(TEXT, extensions=())[0].start_index == 0


@given(
    markdown() | documents(),
    st.sampled_from([MATTER, MATTER.replace("\n", "\r\n"), "+++\na = 1\n+++\n", "---\nx: y\n---"]),
    st.sampled_from(["", "\n", " \n\n", "\u3000\n"]),
    st.sampled_from([1, 8, 40, 300]),
    st.booleans(),
)
def test_the_promises_hold_without_it(
    text: str, matter: str, gap: str, budget: int, trim: bool
) -> None:
    keys = ("title", "tags", "x")
    packing = "fill" if trim else "sections"
    text = matter + gap + text
    chunks(text, overlap=0.2, front_matter_keys=keys, max_tokens=budget, trim=trim, packing=packing)


@pytest.mark.parametrize(
    ("matter", "title"),
    [
        *(("title: null", ""), ("title: ~", ""), ("title:", ""), ('title: ""', "")),
        *(("title: # c", ""), ("title: T # c", "T"), ("title: !!str null", "null")),
        *(("title: .npmrc", ".npmrc"), ("title: '.a'", ".a"), ("title: .5 # c", ".5")),
        *(("title: 'It''s'", "It's"), ('"title": T', "T"), ("title: 'a: b' # c", "a: b")),
        *(("title: |\n  A\n  b", "A b"), ("title: A\n  b", "A b"), ("x: |\n  title: T", "")),
        *(
            ("x: &a T\ntitle: *a", "T"),
            ("x: &b {title: T}\n<<: *b", "T"),
            ("x: 1\n? title\n: T", "T"),
        ),
        *(("title: [T]", ""), ("title: {t: T}", ""), ("title:\n- T", ""), ("x:\n  title: T", "")),
        *(("title: 1.10", "1.10"), ("title: No", "No"), ("title: 2024-06-05", "2024-06-05")),
        *(
            (f"title: {'9' * 5_000}", f"{'9' * 1_999}…"),
            ("title: A\ntitle: T", "T"),
            ("title:\tT", "T"),
        ),
        # Not valid YAML.
        *(("title: React: a library", "React: a library"), ("title: [Beta] Keys", "[Beta] Keys")),
        *(("title: T: a # c", "T: a"), ("x: y: z\ntitle: 'It''s'", "It's"), ("title: @T", "@T")),
        *(("title: T\nx: *none", "T"), ("title: T\nx: \0", "T"), ("title: T\nx: [", "T")),
        ("title: T\nx: " + "[" * 9_000, "T"),
        ("title: T\nx: " + "x" * 90_000, "T"),
        *(("title: T\nx: &a [*a]", "T"), ("title: &a [*a]", "&a [*a]")),
        *((f"{MERGES}title: T", "T"), ("title: !!python/object/apply:os.getcwd []", "")),
        # Keys that are not alone at the start of a line.
        *((" title: T", ""), ("x: [\n1,\n2\n]\ntitle: [\nT\n]", ""), ("&x title: T", "T")),
        *(('title: "A\n\n  b"\nx: 1', "A b"), ("x: |\n\n  a\ntitle: >\n  A\n\n  b", "A b")),
    ],
)
def test_a_title_is_read_as_it_is_written(matter: str, title: str) -> None:
    for line_end in ("\n", "\r\n"):
        text = f"---\nx: 0\n{matter}\n---\nText.\n".replace("\n", line_end)
        for mark in ("", "\ufeff"):
            [chunk] = Chunker(front_matter_text="drop", max_tokens=9_999).chunk(mark + text)
            assert chunk.embed_text == (f"{title}\n\nText." if title else "Text.")


@pytest.mark.parametrize(
    ("matter", "title"),
    [
        *(("title = 'T' # c", "T"), ('"title" = "T"', "T"), ("title = 1.10", "1.10")),
        *(("title = true", "true"), ("title = ['T']", ""), ("page.title = 'T'", "")),
        *(("[page]\ntitle = 'T'", ""), ("x = 1\n[page]\ntitle = 'T'", "")),
        # Not valid TOML.
        *(("title = T\n[page]\ntitle = 'U'", "T"), ("x = y\n[page]\ntitle = T", "")),
        (f"title = 'T'\nx = {'9' * 5_000}", "T"),
    ],
)
def test_a_title_in_toml(matter: str, title: str) -> None:
    [chunk] = Chunker(max_tokens=9_999, front_matter_text="drop").chunk(
        f"+++\n{matter}\n+++\nText.\n"
    )
    assert chunk.embed_text == (f"{title}\n\nText." if title else "Text.")


@pytest.mark.parametrize(
    ("matter", "value"),
    [
        *(("k: [a, 'b, c']", "a, b, c"), ("k:\n- a\n- 1.10", "a, 1.10"), ("k: {a: No}", "a: No")),
        *(("k: [\na,\nb\n]", "a, b"), (f"{MERGES}k: *x11", "*x11")),
        *(("k: [a, [b, ~], {c: d}]", "a, b, c: d"), ("x: y: z\nk: [a, b]", "a, b")),
        *(("k: !!set {a, b}", "a, b"), ("k: 0x1F", "0x1F"), ("k:\n# c\n- a", "a"), ("x: k", "")),
    ],
)
def test_values_of_keys(matter: str, value: str) -> None:
    [chunk] = chunks(f"---\nx: 0\n{matter}\n---\nText.\n", front_matter_keys=["k"])
    assert chunk.embed_text == (f"k: {value}\n\nText." if value else "Text.")


def test_values_are_embedded_and_counted() -> None:
    found = chunks(front_matter_keys=("tags", "none", "authors"))
    start = "tags: sea, moon\nauthors: Ann, Bob\nTides"
    assert found[0].embed_text.startswith(f"{start}\n\n# Guide\n\nIntro.")
    assert found[-1].embed_text.startswith(f"{start} > Guide > One\n\nThe sea")
    assert all(c.embed_token_count == count_tokens(c.embed_text) <= 80 for c in found)
    bare = chunks(front_matter_keys=("tags",), context="none")
    assert bare[-1].embed_text.startswith("tags: sea, moon\n\nThe sea")
    # They are the first to be left out where there is no room.
    small = chunks(front_matter_keys=("tags", "authors"), max_tokens=12)
    assert small[-1].embed_text.startswith("Tides > One\n\nThe sea")


@pytest.mark.parametrize(
    ("number", "read"),
    [
        ("7" * 640, int("7" * 640)),
        ("-1_" + "7" * 640, hex(-int("1" + "7" * 640))),
        ("0x" + "7" * 9_000, "0x" + "7" * 9_000),
    ],
)
def test_a_long_integer_in_toml_is_a_string(number: str, read: object) -> None:
    text = f"+++\nn = {number}\ntitle = 'Tides'\n+++\n\nThe sea.\n"
    [chunk] = Chunker(max_tokens=8_000, front_matter="parsed", front_matter_text="drop").chunk(text)
    assert chunk.metadata["front_matter"] == {"n": read, "title": "Tides"}
    json.dumps(chunk.to_dict())


def test_an_integer_in_toml_that_python_cannot_read_is_not_valid() -> None:
    text = f"+++\nn = {'7' * 20_000}\ntitle = 'Tides'\n+++\n\nThe sea.\n"
    chunker = Chunker(max_tokens=8_000, front_matter="parsed", front_matter_text="drop")
    with pytest.warns(ChunkastWarning, match="not valid TOML: .* 20000 digits"):
        [chunk] = chunker.chunk(text)
    assert chunk.sections == (("Tides",),)
