"""Search finds words of other languages, and sections by their titles."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunker
from chunkast.index import Store
from chunkast.index.stems import STEMMED, languages_of
from chunkast.index.terms import match_expression, terms
from chunkast.text.folding import composed, fold
from tests.command import run, write
from tests.tables import cases
from tests.test_index import filled

OTHER = "# Another\n\nNothing else is here.\n"
GERMAN = "# Handbuch\n\nDie Häuser sind leer, und die Boote sind nicht im Hafen.\n"


@cases("words", "found")
def test_a_word_is_found_as_readers_type_it(text: str, queries: list[str]) -> None:
    with filled({"a.md": text, "b.md": OTHER}, max_tokens=256, overlap=0) as store:
        for query in queries:
            assert [hit.source for hit in store.search(query)] == ["a.md"], query
        store.update([("b.md", OTHER)], Chunker())
        assert store.faults() == []
        assert [store.search(query) for query in queries] == [[] for _ in queries]


@cases("words", "others")
def test_other_words_are_not_found(text: str, queries: list[str]) -> None:
    with filled({"a.md": text, "b.md": OTHER}, max_tokens=256, overlap=0) as store:
        assert {query: store.search(query) for query in queries} == {query: [] for query in queries}


@cases("words", "english texts")
def test_texts_in_english_are_indexed_as_before(text: str, expected: str) -> None:
    assert languages_of([text]) == ("en",)
    # Characters of the full-text index's own folding are the same with their accents.
    assert without_accents(terms(text)) == without_accents(expected)
    assert not text.isascii() or terms(text) == expected


@cases("words", "english queries")
def test_queries_in_english_are_searched_for_as_before(text: str, expected: str) -> None:
    assert without_accents(match_expression(text, ("en",))) == without_accents(expected)


def without_accents(text: str) -> str:
    return re.sub("[\u0300-\u036f]", "", normalize("NFD", text))


def test_a_query_in_an_index_of_two_languages_finds_both() -> None:
    english = "# Handbook\n\nThe boats of the harbour are old, and the houses are empty.\n"
    with filled({"a.md": english, "b.md": GERMAN}, max_tokens=256, overlap=0) as store:
        assert [hit.source for hit in store.search("house")] == ["a.md"]
        assert [hit.source for hit in store.search("Haus")] == ["b.md"]


@pytest.mark.parametrize("form", ["raw", "parsed"])
def test_front_matter_declares_the_language_of_a_page(form: str) -> None:
    page = "---\ntitle: Boote\nlang: {}\n---\n\nBoote.\n"
    for language, found in (("de", 1), ("en", 0), ("ja", 0)):
        corpus = {"a.md": page.format(language)}
        with filled(corpus, max_tokens=256, overlap=0, front_matter=form) as store:
            assert len(store.search("Booten")) == found


def test_the_part_and_the_section_of_a_hit_are_where_the_word_is() -> None:
    filler = "Der Kran ist auf dem Dach und wird nicht mehr bewegt. " * 12
    text = f"# Buch\n\n## Kran\n\n{filler}\n\n## Leere\n\n{filler}\n\nDie Häuser sind alt.\n"
    with filled({"a.md": text}, max_tokens=900, overlap=0) as store:
        [hit] = store.search("Haus", budget=60)
        assert (hit.section, hit.part) == (("Buch", "Leere"), True)
        assert "Häuser" in hit.text


def test_the_words_of_a_hit_are_marked_in_any_form(tmp_path: Path) -> None:
    text = "Die Häuser sind nicht auf dem Dach, und die Stra\xadße der Boote ist leer."
    write(tmp_path, {"docs/a.md": text})
    run("index", "docs", cwd=tmp_path)
    page = run("search", "Haus strasse Boot", cwd=tmp_path, terminal="stdout").stdout.decode()
    found = re.findall(r"\x1b\[1;35m(.*?)\x1b", page)
    assert found == ["Häuser", "Stra\xadße", "Boote"]


def test_an_index_with_stems_of_another_version_is_rebuilt(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    with Store(path, create=True) as store:
        store.update(
            [("a.md", GERMAN)], Chunker(), embed=lambda texts: [[1.0]] * len(texts), model="m"
        )
        assert store.settings()["snowballstemmer"]
        assert store.update([("a.md", GERMAN)], Chunker()).faults == []
        store._connection.execute(
            "UPDATE settings SET value = '1.0' WHERE name = 'snowballstemmer'"
        )
        report = store.update([("a.md", GERMAN)], Chunker())
        [reason] = report.faults
        assert "1.0 of snowballstemmer" in reason
        assert (store.missing(), len(store.search("Haus"))) == (0, 1)
        assert store.update([("a.md", OTHER)], Chunker()).faults == []
        store._connection.execute("DELETE FROM settings WHERE name = 'snowballstemmer'")
        assert store.update([("a.md", OTHER)], Chunker()).faults == []


@given(st.text(max_size=40))
def test_folding_a_folded_text_changes_nothing(text: str) -> None:
    folded = fold(composed(text))
    assert fold(composed(folded)) == folded
    # The forms of a word in one language come before those of the next word.
    in_all = terms(text, ("en", *sorted(STEMMED))).split()
    assert not Counter(terms(text).split()) - Counter(in_all)


# Titles


def test_the_section_with_the_title_that_is_asked_for_comes_first() -> None:
    repeated = "The package name is a name of a package, and its package has a name. " * 6
    text = f"# Names\n\n## Scopes\n\n{repeated}\n\n## Package *name*\n\nLower case.\n\n## Package names\n\nMany.\n"
    with filled({"a.md": text, "b.md": OTHER}, max_tokens=128, overlap=0, min_tokens=0) as store:
        for query in ("Package name", "package name", "how does Package name work?"):
            hits = store.search(query)
            assert hits[0].section[-1] == "Package name", query
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_later_part_of_a_section_is_not_its_beginning() -> None:
    text = f"# Licence\n\n{'Each boat has papers of its own. ' * 30}\n\nThe licence of a licence.\n"
    with filled({"a.md": text}, max_tokens=64, overlap=0) as store:
        assert store.search("licence")[0].start_index == 0


def test_one_document_does_not_fill_the_hits() -> None:
    pages = {
        f"{name}.md": f"# {name}\n\nThe crane is {name}, and lifts {name} boats.\n"
        for name in "bcd"
    }
    sections = "".join(
        f"## Part {n}\n\nThe crane is old, and lifts {n} boats.\n\n" for n in range(6)
    )
    with filled({"a.md": f"# Guide\n\n{sections}", **pages}, max_tokens=32, overlap=0) as store:
        sources = [hit.source for hit in store.search("crane boats")]
    assert len(sources) == 9
    assert len(set(sources[:5])) > 1
