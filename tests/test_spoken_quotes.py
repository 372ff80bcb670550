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
from tests.tables import cases
from tests.test_linear import TIME_LIMIT, time_growth


@cases("spoken_quotes", "found")
def test_a_quote_is_found_as_models_repeat_it(quote: str, text: str, found: str) -> None:
    [place] = locate_quote(quote, text)
    assert (text[place.start_index : place.end_index], place.verbatim) == (found, False)
    assert locate_quote(quote, text, strict=True) == ()
    assert not validate_quote(quote, text)
    [same] = locate_quote(quote, Chunker().chunk(f"# A\n\n{text}\n", "a.md"))
    assert (same.start_index, same.verbatim) == (place.start_index + 5, False)


@cases("spoken_quotes", "not found")
def test_letters_and_order_must_match(quote: str, text: str) -> None:
    assert locate_quote(quote, text) == ()


def test_only_so_much_text_may_be_left_out() -> None:
    assert locate_quote("one ... two", f"one {'x' * 3_000} two") == ()


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
@cases("spoken_quotes", "repeated")
def test_hostile_text_takes_linear_time(unit: str) -> None:
    growth = time_growth(
        lambda text: locate_quote("x y ... z", text + " x* y"), lambda size: unit * size, 40_000
    )
    assert growth <= TIME_LIMIT
