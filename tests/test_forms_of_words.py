"""Search finds words that are written in another form."""

from __future__ import annotations

import pytest

from chunkast import Chunker
from chunkast.index import Store

FORMS = [
    ("sign-off", "signoff", "sign off"),
    ("dry-run", "--dry-run", "dryrun", "dry run"),
    ("e-mail", "email", "e mail"),
    ("maxTokens", "max_tokens", "max tokens", "MAX_TOKENS", "maxtokens", "max-tokens"),
    ("httpServer", "http_server", "http server"),
    ("Node.js", "node.js", "NodeJS"),
    ("\u0451\u043b\u043a\u0430", "\u0435\u043b\u043a\u0430", "\u0401\u041b\u041a\u0410"),
    ("\ufb01le\u2122", "file", "\uff26\uff49\uff4c\uff45"),
    ("\uff76\uff9e\uff80\uff76\uff85", "\u30ac\u30bf\u30ab\u30ca"),
    ("C++", "c++", "cplusplus"),
    ("C#", "c\\#", "Csharp"),
    (".NET", ".net", "dotnet"),
]
PAIRS = [(query, text) for forms in FORMS for query in forms for text in forms if query != text]
# A word inside a text without spaces.
INSIDE = [
    ("\u884c\u304f", "\u6771\u4eac\u3078\u884c\u304f"),
    ("\u0e40\u0e14\u0e34\u0e19", "\u0e01\u0e32\u0e23\u0e40\u0e14\u0e34\u0e19\u0e17\u0e32\u0e07"),
]


@pytest.mark.parametrize(("query", "text"), [*PAIRS, *INSIDE])
def test_each_form_of_a_word_finds_the_others(query: str, text: str) -> None:
    corpus = {"a.md": f"# A\n\nThe {text} is due.\n", "b.md": "# B\n\nNothing else is here.\n"}
    with Store(":memory:", create=True) as store:
        store.update(corpus.items(), Chunker(max_tokens=512, overlap=0))
        [hit] = store.search(query)
        assert hit.source == "a.md"
        assert hit.text == corpus["a.md"][hit.start_index : hit.end_index]
        assert text in hit.text


def test_names_with_signs_are_words_of_their_own() -> None:
    names = ("C", "C++", "C#", "F#", ".NET", "net weight")
    corpus = {f"{name}.md": f"# {name}\n\nAbout {name} (in {name}).\n" for name in names}
    with Store(":memory:", create=True) as store:
        store.update(corpus.items(), Chunker())
        for name in names:
            assert [hit.source for hit in store.search(name)] == [f"{name}.md"]
        assert store.faults() == []
        store.update([("C#.md", "# D\n\nAnother text.\n")], Chunker())
        assert store.search("C#") == []
