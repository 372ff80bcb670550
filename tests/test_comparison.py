"""Budgets compared by their chunks, and by the answers that a search returns."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chunkast import Chunker, ConfigError
from chunkast.index import Store, compare_budgets
from tests.command import GUIDE, parts, refused, run, write

HUTS = """\
# Huts

Huts are open from June to September.

## Food

Every hut sells soup. Carry two litres of water.

## Beds

A bed costs ten crowns. Bring a sleeping bag.
"""
DOCUMENTS = [("huts.md", HUTS), ("guide.md", GUIDE), ("parts.md", parts(12))]
QUESTIONS = [
    {"question": "what does a bed cost?", "text": "A bed costs\nten crowns."},
    {"question": "which soup is there?", "source": "huts.md", "section": "food"},
]


def test_the_chunks_at_each_budget() -> None:
    compared = compare_budgets(DOCUMENTS, (64, 32), overlap=0.2)
    assert [each.max_tokens for each in compared] == [64, 32]
    for each in compared:
        chunker = Chunker(max_tokens=each.max_tokens, overlap=0.2)
        documents = [chunker.chunk(text, source) for source, text in DOCUMENTS]
        chunks = [chunk for document in documents for chunk in document]
        assert (each.chunks, each.answers) == (len(chunks), {})
        tokens = [chunk.token_count for chunk in chunks]
        assert each.fill == pytest.approx(sum(tokens) / len(tokens) / each.max_tokens)
        repeated = sum(chunk.overlap for chunk in chunks)
        assert each.overlap == pytest.approx(repeated / sum(len(chunk.text) for chunk in chunks))
        embedded = sum(chunk.embed_token_count for chunk in chunks)
        assert each.context == pytest.approx(embedded / sum(tokens) - 1)
        # In these documents, a section begins with its heading, and nothing else does.
        within = [not c.text[c.overlap :].startswith("#") for d in documents for c in d[1:]]
        assert each.inside == sum(within) > 0
    empty = compare_budgets([], [64])[0]
    assert (empty.chunks, empty.fill, empty.inside, empty.context) == (0, 0, 0, 0)


def test_the_answers_are_those_of_the_index() -> None:
    compared = compare_budgets(DOCUMENTS, (16, 64), QUESTIONS, overlap=0)
    for each in compared:
        assert list(each.answers) == [500, 1000, 2000]
        with closing(Store(":memory:", create=True)) as store:
            store.update(DOCUMENTS, Chunker(max_tokens=each.max_tokens, overlap=0))
            hits = store.search(QUESTIONS[0]["question"], 500)
        assert "A bed costs ten crowns." in hits[0].text
        assert each.answers[2000] == 1.0
    # Hits within fewer tokens have less of an answer that is longer.
    long = [{"question": "word", "source": "parts.md", "section": "Part 3"}]
    text = parts(3) + "# Part 3\n\n" + " ".join(f"Word {n} is here." for n in range(300))
    [only] = compare_budgets([("parts.md", text)], [128], long)
    assert 0 < only.answers[500] < only.answers[1000] <= 1
    # An answer that no hit contains.
    nowhere = [{"question": "zebra", "text": "A bed costs ten crowns."}]
    assert compare_budgets(DOCUMENTS, [64], nowhere)[0].answers[2000] == 0


WRONG: dict[str, tuple[Any, str]] = {
    "a text": ({"question": "a", "text": "zebras"}, "its text is in none of the documents"),
    "a section": (
        {"question": "a", "source": "huts.md", "section": "Foot"},
        "section 'Foot' does not exist; the nearest are: Huts > Food",
    ),
    "a source": ({"question": "a", "source": "hut.md", "section": "Food"}, "has no document"),
    "no answer": ({"question": "a"}, "must have a question, and a text or a source with a section"),
    "no object": (["a"], "must have a question, and a text or a source with a section"),
    "a number": ({"question": "a", "text": 5}, "must have a question, and a text"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_question_without_an_answer_is_an_error(name: str, tmp_path: Path) -> None:
    question, says = WRONG[name]
    with pytest.raises(ConfigError) as raised:
        compare_budgets(DOCUMENTS, [64], [*QUESTIONS, question])
    assert raised.value.field == "questions[2]"
    assert says in raised.value.allowed
    write(tmp_path, dict(DOCUMENTS))
    lines = "".join(f"{json.dumps(each)}\n" for each in [*QUESTIONS, question])
    write(tmp_path, {"q.jsonl": lines})
    words = ("stats", "huts.md", "guide.md", "--budgets", "64", "--questions", "q.jsonl")
    assert f"q.jsonl, line 3: {raised.value.allowed}"[:60] in refused(*words, cwd=tmp_path)


def test_the_command_prints_what_the_function_returns(tmp_path: Path) -> None:
    write(tmp_path, dict(DOCUMENTS))
    write(tmp_path, {"q.jsonl": "".join(f"{json.dumps(each)}\n" for each in QUESTIONS)})
    stats = ("stats", ".", "--budgets", "32,64", "--overlap", "10%", "--questions", "q.jsonl")
    done = run(*stats, "--format", "json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    compared = compare_budgets(sorted(DOCUMENTS), (32, 64), QUESTIONS, overlap=0.1)
    for told, each in zip(json.loads(done.stdout), compared, strict=True):
        assert told["answers"] == {str(most): share for most, share in each.answers.items()}
        assert (told["max_tokens"], told["chunks"]) == (each.max_tokens, each.chunks)
    page = run(*stats, cwd=tmp_path).stdout.decode().splitlines()
    assert page[0].split() == [
        "budget",
        "chunks",
        "fill",
        "inside",
        "overlap",
        "context",
        "500",
        "1,000",
        "2,000",
    ]
    assert [line.split()[:2] for line in page[1:]] == [
        [str(each.max_tokens), str(each.chunks)] for each in compared
    ]
    assert all(len(line) <= 72 for line in page)
    assert "--questions needs --budgets" in refused(
        "stats", ".", "--questions", "q.jsonl", cwd=tmp_path
    )
    write(tmp_path, {"bad.jsonl": '{"question": "a"}\n{"que'})
    line = refused(*stats[:-1], "bad.jsonl", cwd=tmp_path)
    assert "bad.jsonl, line 2: this is not JSON" in line
    # What cannot be read is told, and the others are compared.
    write(tmp_path, {"bad.md": b"\xff"})
    done = run(*stats, cwd=tmp_path)
    assert (done.returncode, done.stdout.decode().splitlines()) == (1, page)
