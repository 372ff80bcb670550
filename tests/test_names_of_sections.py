"""Sections are found by their titles and by every anchor that a page gives them."""

from __future__ import annotations

import pytest

from chunkast import Chunker
from chunkast.reading import SectionError


def anchors(text: str, source: str = "page.md") -> list[str]:
    """The anchor of each section but the document."""
    return [section.anchor for section in Chunker().outline(text, source).sections[1:]]


@pytest.mark.parametrize(
    ("title", "anchor"),
    [
        # The anchors of GitHub.
        ("การติดตั้ง", "การติดตั้ง"),
        ("हिन्दी में शुरू करें", "हिन्दी-में-शुरू-करें"),
        ("أَوَّلاً: الرسوم", "أَوَّلاً-الرسوم"),
        ("שָׁלוֹם לָכֶם", "שָׁלוֹם-לָכֶם"),
        ("Đa\u0300 Nẵng & Hue\u0302\u0301", "đa\u0300-nẵng--hue\u0302\u0301"),
        ("1\ufe0f\u20e3 Install", "1\ufe0f\u20e3-install"),
        ("CO₂ in m² (½)", "co-in-m-"),
        ("snake_case‿tie", "snake_case‿tie"),
        ("👨‍👩‍👧 We", "-we"),
    ],
)
def test_an_anchor_keeps_combining_marks(title: str, anchor: str) -> None:
    assert anchors(f"# {title}\n\nText.\n") == [anchor]
    assert Chunker().outline(f"# {title}\n\nText.\n").find(f"#{anchor}").path == (title,)


EMOJI = (
    "🚀 Getting Started",
    "Licence :memo:",
    ":+1:Thanks",
    "1\ufe0f\u20e3 Install",
    "Deutsch 🇩🇪",
    "👩🏽\u200d💻 Authors 👨\u200d👩\u200d👧",
    "✅ Done",
    "Done",
    "क्\u200dष 🌊",
    "🎉",
    "At 10:30:15",
    "© 2020",
)
README = Chunker().outline(
    "# 🌊 Tide\n\n" + "".join(f"## {title}\n\nText.\n\n" for title in EMOJI), "README.md"
)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Getting Started", "🚀 Getting Started"),
        ("tide > getting  started", "🚀 Getting Started"),
        ("🌊 Tide > Getting Started", "🚀 Getting Started"),
        ("Tide > 🚀 Getting Started", "🚀 Getting Started"),
        ("licence", "Licence :memo:"),
        ("Thanks", ":+1:Thanks"),
        ("Install", "1\ufe0f\u20e3 Install"),
        ("Deutsch", "Deutsch 🇩🇪"),
        ("Authors", "👩🏽\u200d💻 Authors 👨\u200d👩\u200d👧"),
        ("Done", "Done"),
        ("✅ Done", "✅ Done"),
        ("क्\u200dष", "क्\u200dष 🌊"),
        ("🎉", "🎉"),
        ("2020", "© 2020"),
    ],
)
def test_a_title_is_found_without_its_emoji(name: str, title: str) -> None:
    assert README.find(name).path[-1] == title
    assert README.read(name).section[-1] == title


@pytest.mark.parametrize("name", ["❌ Done", "At 10 15", "🚀", "Started"])
def test_a_title_is_not_found_by_other_emoji(name: str) -> None:
    with pytest.raises(SectionError):
        README.find(name)


def test_names_with_symbols_differ() -> None:
    names = ("C", "C++", "C\\#", ".NET", "Net", "Set", "set", "SET")
    outline = Chunker().outline("# A\n\n" + "".join(f"## {name}\n\n" for name in names))
    for line, name in enumerate(names):
        assert outline.find(name.replace("\\", "")).start_line == 3 + 2 * line
    for name in ("c+", "C##", "sEt"):
        with pytest.raises(SectionError):
            outline.find(name)


def test_an_exact_title_comes_before_one_in_another_case() -> None:
    outline = Chunker().outline("# install\n\n# Guide\n\n## Install\n")
    assert outline.find("Install").path == ("Guide", "Install")
    assert outline.find("install").path == ("install",)
    assert outline.find(("GUIDE", "INSTALL")).path == ("Guide", "Install")


PAGE = """\
# Gauges[¶](#gauges)

## Other [#](#gauges)

## Setup[¶](#id1) {#set-up}

## Id2[¶](#id3)

## Install[¶](#install_1)

<a name="old-name"></a>
<span class="anchor" id=older></span>

## <a id="inner"></a>Install [¶](#id2)

<a name="gauges"></a>

## Notes

<a name="c"></a><a name="d"></a>
### Notes[¶](#c)
"""


def test_a_section_has_all_of_its_anchors() -> None:
    outline = Chunker().outline(PAGE)
    assert [section.anchors for section in outline.sections] == [
        (),
        ("gauges",),
        # The fragment is another section's own anchor.
        ("other",),
        ("set-up", "id1", "setup"),
        ("id3",),
        ("install_1", "install"),
        ("id2", "inner", "old-name", "older", "install-1"),
        ("notes",),
        ("c", "d", "notes-1"),
    ]
    for section in outline.sections[1:]:
        assert section.anchor == section.anchors[0]
        for anchor in section.anchors:
            assert outline.find(f"#{anchor}") == section
            assert outline.find(f"page.md#{anchor}") == section
            assert outline.read(f"#{anchor}").section == section.path


def test_an_anchor_is_found_as_it_is_in_an_address() -> None:
    outline = Chunker().outline("# การ ติดตั้ง\n")
    address = "page.md#%E0%B8%81%E0%B8%B2%E0%B8%A3-%E0%B8%95%E0%B8%B4%E0%B8%94%E0%B8%95%E0%B8%B1%E0%B9%89%E0%B8%87"
    assert outline.find(address).start_line == 1


TARGETS = """\
# Tides

(north)=
## North

Text.

  (south-1)=

(south.2)=\r
(the south)=

## South[¶](#south)

Text before
(west)=
### West

```
(code)=
```

    (indented)=

f (x)=
(a + b)=
() =
(p)(q)=
"""


def test_a_target_is_an_anchor_of_the_section_that_begins_there() -> None:
    outline = Chunker().outline(TARGETS)
    assert [(section.anchors, section.start_line) for section in outline.sections[2:]] == [
        (("north",), 3),
        (("south", "south-1", "south.2", "the south"), 8),
        (("west",), 16),
    ]
    assert outline.find("#south-1").path[-1] == "South"
    plain = Chunker(extensions=()).outline(TARGETS)
    assert [section.start_line for section in plain.sections[2:]] == [4, 13, 17]


@pytest.mark.parametrize("blank", ["", "\n", "\n\n"])
@pytest.mark.parametrize(
    "after", ["## Next\n\nMore.", "A paragraph.", "- item", "| a |\n|---|\n| b |"]
)
def test_a_target_never_ends_a_chunk(blank: str, after: str) -> None:
    text = f"# A\n\nSome words of text.\n\n(one)=\n{blank}(two)=\n{blank}{after}\n"
    for budget in range(12, 40):
        chunks = Chunker(max_tokens=budget, overlap=0, min_tokens=0, context="none").chunk(text)
        assert not [chunk for chunk in chunks[:-1] if chunk.text.endswith(")=")]


WRITTEN = """# Guide

## Run `boat.sh`

It starts.

## What's *new*?

Nothing.

## Install

### Linux

#### Install

Once more.

## Use

### Linux
"""


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("## Run `boat.sh`", 3),
        ("Run `boat.sh`", 3),
        ("run `BOAT.sh`", 3),
        ("## Run `boat.sh` ##", 3),
        ("What\u2019s new?", 7),
        ("## What's *new*?", 7),
        ("Guide > What\u2018s *new*?", 7),
        ("## Install", 11),
        ("#### Install", 15),
        ("**Install** > Linux", 13),
    ],
)
def test_a_section_is_found_as_its_heading_is_written(name: str, line: int) -> None:
    assert Chunker().outline(WRITTEN).find(name).start_line == line


def test_names_as_written_stay_five_and_ambiguous_ones_are_told() -> None:
    names = ("C", "C++", "C#", ".NET", "Net")
    outline = Chunker().outline("".join(f"# {name}\n\n" for name in names))
    for number, name in enumerate(names):
        for written in (name, f"# {name}", f"# **{name}**"):
            assert outline.find(written).start_line == 2 * number + 1
    with pytest.raises(SectionError, match="is ambiguous, 2 match"):
        Chunker().outline(WRITTEN).find("### Linux")


def test_suggestions_have_titles_with_a_word_of_the_name_once() -> None:
    with pytest.raises(SectionError) as raised:
        Chunker().outline(WRITTEN).find("how do you install this on your own machine")
    listed = raised.value.candidates
    assert "Guide > Install" in listed
    assert len(listed) == len(set(listed))
