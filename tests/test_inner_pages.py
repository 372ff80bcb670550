"""Pages inside a file, each with front matter, as in llms-full.txt: sections, context and outline."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import pytest

from chunkast import Chunker, ProtectedRegion
from chunkast.heuristics import Draft, Heuristic, Patch

_TEXT: Final = """\
---
title: Boats
lang: en
---

# Hulls

Hulls are made of oak.

## Paint

Paint them green.

---
title: Sails
lang: de
---

Segel sind aus Hanf.

# Ropes

Ropes are long.

[^a]: A note on ropes.

---
url: https://boats.example/oars
---

# Oars

Oars are short.
"""


def test_a_page_ends_all_sections_and_its_title_is_the_root() -> None:
    chunks = Chunker(max_tokens=24, overlap=0).chunk(_TEXT)
    said = {
        text: chunk
        for chunk in chunks
        for text in ("oak", "green", "Hanf", "long", "short")
        if text in chunk.text
    }
    assert {text: chunk.headings for text, chunk in said.items()} == {
        "oak": ("Hulls",),
        "green": ("Hulls", "Paint"),
        "Hanf": (),
        "long": ("Ropes",),
        "short": (),  # The chunk begins with the front matter.
    }
    assert said["green"].context == "Boats > Hulls\n\n"
    assert said["long"].context == "Sails\n\n"
    assert said["short"].context == ""
    assert [path for chunk in chunks for path in chunk.sections if "Sails" in path] == [
        ("Sails",),
        ("Sails", "Ropes"),
    ]


def test_metadata_and_front_matter_are_those_of_the_page() -> None:
    chunker = Chunker(max_tokens=40, overlap=0, front_matter="parsed", front_matter_keys=("lang",))
    chunks = chunker.chunk(_TEXT)
    of = {
        text: next(chunk for chunk in chunks if text in chunk.text)
        for text in ("oak", "long", "short")
    }
    assert {text: chunk.metadata.get("front_matter") for text, chunk in of.items()} == {
        "oak": {"title": "Boats", "lang": "en"},
        "long": {"title": "Sails", "lang": "de"},
        "short": {"url": "https://boats.example/oars"},
    }
    assert of["long"].context.startswith("lang: de\n")
    assert "lang" not in of["short"].context


def test_every_pages_front_matter_can_be_left_out() -> None:
    for packing in ("sections", "fill"):
        for budget in (12, 24, 60, 1_000):
            chunks = Chunker(
                max_tokens=budget, overlap=0, packing=packing, front_matter_text="drop"
            ).chunk(_TEXT)
            text = "\n".join(chunk.text for chunk in chunks)
            assert "title:" not in text
            assert "url:" not in text
            assert all(word in text for word in ("oak", "green", "Hanf", "long", "note", "short"))


def test_the_outline_lists_pages_and_what_is_inside_them() -> None:
    outline = Chunker().outline(_TEXT)
    listed = [(section.level, " > ".join(section.path)) for section in outline.sections]
    assert listed == [
        (0, "Boats"),
        (1, "Boats > Hulls"),
        (2, "Boats > Hulls > Paint"),
        (0, "Sails"),
        (1, "Sails > Ropes"),
        (1, "Oars"),
    ]
    assert outline.read("Sails").text.startswith("---\ntitle: Sails")
    assert outline.read("Sails").text.endswith("[^a]: A note on ropes.")
    assert outline.read("Ropes").text.endswith("A note on ropes.")
    assert outline.find(_TEXT[: _TEXT.index("Oars are")].count("\n") + 1).path == ("Oars",)
    assert outline.find(17).path == ("Sails",)
    # A page and a heading with its title: the page is meant.
    named = Chunker().outline(_TEXT.replace("# Ropes", "# Sails"))
    assert named.find("Sails").level == 0


def test_headings_without_text_do_not_join_the_next_page() -> None:
    text = "# Alone\n\n---\ntitle: Next\n---\n\nText of the next page.\n"
    chunks = Chunker(max_tokens=64, front_matter_text="drop").chunk(text)
    assert [chunk.text for chunk in chunks] == ["# Alone", "Text of the next page."]


@pytest.mark.parametrize("packing", ["sections", "fill"])
def test_front_matter_is_left_out_inside_a_region_of_a_heuristic_too(packing: Any) -> None:
    text = "# A\n\nText a.\n\n---\ntitle: B\n---\n\nText b.\n\n---\ntitle: C\n---\n\nText c.\n"
    region = ProtectedRegion(text.index("Text a"), text.index("Text b"), "mine")
    around = Heuristic("mine", "post-parse", partial(_with_region, region=region))
    chunks = Chunker(
        max_tokens=60, overlap=0, packing=packing, front_matter_text="drop", heuristics=(around,)
    ).chunk(text)
    words = " ".join(chunk.text for chunk in chunks).split()
    assert words == ["#", "A", "Text", "a.", "Text", "b.", "Text", "c."]


def _with_region(draft: Draft[Any, Any], region: ProtectedRegion) -> Patch[Any]:
    assert draft.value is not None
    return Patch(value=draft.value.plus(regions=[region]))


def test_no_tail_is_repeated_across_dropped_front_matter() -> None:
    # The blank line after the dropped front matter becomes a piece of its own, without text.
    code = "```\n" + "a long line of code\n" * 100 + "```\n"
    hulls = f"# Hulls\n\n{'Hulls are made of oak. ' * 40}\n\n## Paint\n\nGreen.\n\n"
    text = f"{hulls}---\ntitle: Sails\n---\n\n{code}\nHemp.\n"
    chunks = Chunker(max_tokens=64, oversize="keep", front_matter_text="drop").chunk(text)
    assert [chunk.text for chunk in chunks if chunk.oversize][-1] == code.rstrip()
    assert not next(chunk for chunk in chunks if "```" in chunk.text).overlap
