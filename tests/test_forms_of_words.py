"""Search finds words that are written in another form."""

from __future__ import annotations

from chunkast import Chunker
from tests.tables import cases
from tests.test_index import filled


@cases("forms_of_words", "forms")
def test_each_form_of_a_word_finds_the_others(queries: list[str], texts: list[str]) -> None:
    for text in texts:
        corpus = {"a.md": f"# A\n\nThe {text} is due.\n", "b.md": "# B\n\nNothing else is here.\n"}
        with filled(corpus, max_tokens=512, overlap=0) as store:
            for query in queries:
                [hit] = store.search(query)
                assert hit.source == "a.md"
                assert hit.text == corpus["a.md"][hit.start_index : hit.end_index]
                assert text in hit.text


def test_names_with_signs_are_words_of_their_own() -> None:
    names = ("C", "C++", "C#", "F#", ".NET", "net weight")
    corpus = {f"{name}.md": f"# {name}\n\nAbout {name} (in {name}).\n" for name in names}
    with filled(corpus) as store:
        for name in names:
            assert [hit.source for hit in store.search(name)] == [f"{name}.md"]
        assert store.faults() == []
        store.update([("D.md", "# D\n\nAnother text.\n")], Chunker())
        assert store.search("C#") == []


def test_the_words_of_a_path_count_like_those_of_a_title() -> None:
    corpus = {
        "text/2497-if-let-chains.md": "- Feature Name: joined\n\nConditions are joined here.\n",
        "text/1-others.md": "# Others\n\nThese let us go on. Chains of huts are long.\n",
        "text/maxTokens.md": "# Budget\n\nA limit.\n",
    }
    with filled(corpus, max_tokens=256, overlap=0) as store:
        assert store.search("let chains")[0].source == "text/2497-if-let-chains.md"
        assert store.search("max tokens")[0].source == "text/maxTokens.md"
        assert store.search("md") == []
        store.update([("a.md", corpus["text/2497-if-let-chains.md"])], Chunker())
        assert store.search("let chains") == []
        assert store.faults() == []


def test_tables_of_contents_come_after_content() -> None:
    titles = ("Water", "Food", "Water and food")
    links = "".join(f"- [{title}](#{title.lower().replace(' ', '-')})\n" for title in titles)
    sections = "".join(f"## {title}\n\n{'Every hut has some of it. ' * 9}\n\n" for title in titles)
    text = f"# Huts\n\n{links}\n{sections}"
    with filled({"a.md": text}, max_tokens=80, overlap=0) as store:
        assert [hit.section[-1] for hit in store.search("water and food", limit=1)] == [titles[-1]]
        assert store.search("huts water food")[-1].text.startswith("# Huts")
