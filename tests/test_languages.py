"""Sentences in their own language: which one a text is in, and where its sentences end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from chunkast import ChunkConfig, Chunker
from chunkast.text.language import language_of_text
from chunkast.text.sentences import sentence_starts
from tests.checks import check_promises
from tests.frameworks import DOCUMENTS

FOLDER = Path(__file__).parent.parent / "fixtures" / "sentences"
SENTENCES: dict[str, Any] = {
    path.stem: path.read_text("utf-8").splitlines() for path in sorted(FOLDER.glob("*.txt"))
}
# Paragraphs of sentences, one a line, which were written by somebody who had not seen the tables, and
# cut inside 87 times then.
PARAGRAPHS: dict[str, Any] = {
    path.stem: [part.splitlines() for part in path.read_text("utf-8").split("\n\n")]
    for path in sorted((FOLDER.parent / "paragraphs").glob("*.txt"))
}
# The most beginnings found in the middle of a sentence, and of sentences that were not found.
FIGURES = (
    "de 0 0, es 0 1, fr 0 0, it 0 1, nl 1 2, pl 0 0, pt 0 0, ru 0 2, uk 0 0",
    "de 2 2, en 6 0, es 0 2, fr 1 0, it 1 2, nl 1 2, pl 2 1, pt 1 1, ru 3 6",
)


def corpora() -> Iterator[tuple[str, list[list[str]], int, int]]:
    """Each language with its paragraphs, lists of sentences, and its figures."""
    for folder, figures in zip((SENTENCES, PARAGRAPHS), FIGURES, strict=True):
        known = {name: tuple(map(int, most)) for name, *most in map(str.split, figures.split(","))}
        assert known.keys() == folder.keys()
        for name, (wrong, missed) in known.items():
            lines = folder[name]
            fives = [lines[first : first + 5] for first in range(0, len(lines), 5)]
            yield name, fives if folder is SENTENCES else lines, wrong, missed


@pytest.mark.parametrize(("language", "paragraphs", "wrong", "missed"), list(corpora()))
def test_sentences_end_where_their_language_says(
    language: str, paragraphs: list[list[str]], wrong: int, missed: int
) -> None:
    for group in paragraphs:
        ends = set(accumulate(len(line) + 1 for line in group[:-1]))
        found = set(sentence_starts(" ".join(group), language=language))
        wrong -= len(found - ends)
        missed -= len(ends - found)
    assert min(wrong, missed) >= 0


@pytest.mark.parametrize("language", SENTENCES)
def test_a_text_is_known_by_its_words(language: str) -> None:
    text = "\n\n".join(SENTENCES[language])
    assert language_of_text(text) == language
    code = "\n\n```js\n" + "for (const x of list) { if (x) return x.y; }\n" * 20 + "```\n"
    assert language_of_text(text + code) == language
    # As much of another language as leaves it open is English.
    assert language_of_text(text + "\n\nIt is the end of the text, they say. " * 60) == "en"


def test_what_says_nothing_is_english() -> None:
    for text in ("", "der und nicht", "x " * 900, "日本語です。" * 90, "der und the of " * 90):
        assert language_of_text(text) == "en"
    assert {name for name, text in DOCUMENTS.items() if language_of_text(text) != "en"} == set()


def test_front_matter_says_which() -> None:
    assert language_of_text("The text of the page.", "+++\nlang = 'de'\n+++\n") == "de"
    for line in ("lang: de", 'language: "de-AT"', "'lang': de # AT", "language: DE"):
        assert language_of_text("The text of the page.", f"---\n{line}\n---\n") == "de"
    for line in ("langs: de", "language: deutsch", "title: lang: de", "lang:"):
        assert language_of_text("The text of the page.", f"---\n{line}\n---\n") == "en"


def test_sentences_are_cut_in_their_language() -> None:
    text = " ".join(SENTENCES["de"])
    wrong = (" Dr.", " gem.", " 2.", " zzgl.", " im 19.", " Die 3.", " wg.")

    def texts(budget: int, language: str = "auto") -> list[str]:
        return Chunker(max_tokens=budget, overlap=0, sentence_language=language).split_text(text)

    for budget in (24, 28, 32):
        assert not [cut for cut in texts(budget) if cut.endswith(wrong)]
        assert texts(budget) == texts(budget, "de") != texts(budget, "en")
    assert any(cut.endswith(wrong) for budget in range(20, 40) for cut in texts(budget, "en"))


@pytest.mark.parametrize("language", SENTENCES)
def test_the_promises_hold(language: str) -> None:
    text = "\n\n".join(" ".join(SENTENCES[language][at : at + 20]) for at in range(0, 100, 20))
    check_promises(text, ChunkConfig(max_tokens=12))
    check_promises(text, ChunkConfig(max_tokens=40, sentence_language="pl", overlap=0.3))
