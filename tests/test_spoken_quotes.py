"""Quotes as models repeat them: without markup, with other marks, and with text left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunker, locate_quote, validate_quote
from chunkast.cli.main import main
from chunkast.index import Store
from tests.strategies import markdown
from tests.test_linear import TIME_LIMIT, time_growth

# A quote, a text, and the part of the text that is found, if it is not the whole text.
FOUND = [
    ("Run boat.sh now", "Please **Run** `boat.sh` now.", "Run** `boat.sh` now"),
    ("see the docs for more", "see [the docs](http://x.y/z_(a)) for more", ""),
    ("a ref link too", "a [ref link][1] too", ""),
    ("plain [link](x) text", "plain link text", ""),
    ("an image linked here", "an [![image](a.png)](b 'c') linked here", ""),
    ("alt text here", "![alt text](a.png) here", "alt text](a.png) here"),
    ("a note", "a <b>note</b>[^1].", "a <b>note"),
    ("one two", "one<br/>two", ""),
    ("Vec<T> holds", "Vec\\<T\\> `holds`", "Vec\\<T\\> `holds"),
    ("see https://a.b/c now", "see <https://a.b/c> now", ""),
    ("a_b c", "a\\_b c", ""),
    ("1. no list", "1\\. no list", ""),
    ("hard break here", "hard\\\nbreak here", ""),
    ("don't stop", "They don\u2019t stop.", "don\u2019t stop"),
    ("\u201cquoted\u201d word", 'a "quoted" word', '"quoted" word'),
    ("one \u2014 two", "one - two", ""),
    ("1\u20132 litres", "take 1-2 litres", "1-2 litres"),
    ("wait\u2014what", "wait--what", ""),
    ("wait - what", "wait\u2014what", ""),
    ("Fish & chips\u2014good", "Fish &amp; chips&mdash;good", ""),
    ("don't go", "don&#39;t&nbsp;go", ""),
    ("tea & cof\u00e9", "tea & cof&eacute;", ""),
    ("10 km away", "10\u00a0**km** away", ""),
    ("co-operate soon", "co\u2011op\u00aderate soon", ""),
    ("first line goes on", "> first line\n> goes on", "first line\n> goes on"),
    ("first line goes on", ">first line\n>goes on", "first line\n>goes on"),
    ("> first line\n> goes on", "first line goes on", ""),
    ("one two three", "- one\n- two\n- three", "one\n- two\n- three"),
    ("do this then that", "- [x] do this\n- [ ] then that", "do this\n- [ ] then that"),
    ("#### Run it", "# A\n\n### Run it", "Run it"),
    ("A cell and B", "| A cell | and B |", "A cell | and B"),
    ("Carry two ... soup", "Carry two litres.\n\nHuts sell soup.", "Carry two litres.\n\nHuts sell soup"),
    ("two [\u2026] soup...", "It has two. Carry two litres.\n\nHuts sell soup", "two litres.\n\nHuts sell soup"),
]  # fmt: skip


@pytest.mark.parametrize(("quote", "text", "found"), FOUND)
def test_a_quote_is_found_as_models_repeat_it(quote: str, text: str, found: str) -> None:
    [place] = locate_quote(quote, text)
    assert (text[place.start_index : place.end_index], place.verbatim) == (found or text, False)
    assert locate_quote(quote, text, strict=True) == ()
    assert not validate_quote(quote, text)
    [same] = locate_quote(quote, Chunker().chunk(f"# A\n\n{text}\n", "a.md"))
    assert (same.start_index, same.verbatim) == (place.start_index + 5, False)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("\u00e9", "e\u0301"),
        ("maxtokens", "max_tokens"),
        ("max tokens", "max_tokens"),
        ("are Red", "are red"),
        ("x > 5", "x = 5"),
        ("2*3", "23"),
        ("Carry soup", "Carry two litres of soup"),
        ("soup ... Carry", "Carry soup"),
        ("**", "a * b"),
        ("...", "a"),
        ("one ... two", f"one {'x' * 3_000} two"),
    ],
)
def test_letters_and_order_must_match(quote: str, text: str) -> None:
    assert locate_quote(quote, text) == ()


def test_every_document_is_searched_and_exact_places_come_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = [("a.md", "Run it. **Run** it."), ("b.md", "**Run** it.")]
    database = str(tmp_path / "a.db")
    with Store(database, create=True) as store:
        store.update(corpus, Chunker())
        places = [(at.source, at.start_index, at.verbatim) for at in store.quote("Run it")]
        assert places == [("a.md", 0, True), ("b.md", 2, False)]
        assert [at.source for at in store.quote("Run it", strict=True)] == ["a.md"]
    assert main(["quote", "Run it", "--db", database]) == 0
    exact, marked = capsys.readouterr().out.splitlines()
    assert marked.endswith("(not verbatim)")
    assert "verbatim" not in exact
    assert main(["quote", "run it", "--db", database]) == 1
    assert main(["quote", "Run it. Run it", "--strict", "--db", database]) == 1


@given(markdown(), st.text(max_size=30))
def test_spans_are_in_order_and_any_quote_is_accepted(text: str, quote: str) -> None:
    for wanted in (quote, f"{text[:9]}...{text[-9:]}"):
        end = 0
        for place in locate_quote(wanted, text):
            assert end <= place.start_index < place.end_index <= len(text)
            end = place.end_index


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    ["[a](", "](a", '](a "', "](a(b)", "<a ", "&lt;a ", "&#1", "[a", "_ ", "\\*", "- ", "\n", "\n ",
     "\n-", "-", "> ", "x ... "],
)  # fmt: skip
def test_hostile_text_takes_linear_time(unit: str) -> None:
    growth = time_growth(
        lambda text: locate_quote("x y ... z", text + " x* y"), lambda size: unit * size, 40_000
    )
    assert growth <= TIME_LIMIT
