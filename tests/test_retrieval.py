"""What the retrieval benchmark is made of; ``python -m tests.bench retrieval`` runs it."""

from __future__ import annotations

import tarfile
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest

from tests.bench.contenders import own_name
from tests.bench.facts import Source
from tests.bench.report import write_retrieval
from tests.bench.retrieval import fetch
from tests.bench.retrieval.chunkers import Chunked, Piece, Sizes, Variant
from tests.bench.retrieval.dataset import (
    HALVES,
    Dataset,
    Question,
    fixtures,
    packages,
    raw_questions,
)
from tests.bench.retrieval.fetch import Package, files
from tests.bench.retrieval.rankers import fused, lexical
from tests.bench.retrieval.scores import interval, mean_scores, overlap_of, score
from tests.bench.retrieval.structure import silent, structure
from tests.bench.tables import Table, as_markdown

TEXT = "# Walks\n\nTake water.\n\n# Maps\n\nBuy one in Bergen.\n"
MAPS = TEXT.index("# Maps")
BUY = TEXT.index("Buy")


def words(text: str) -> int:
    return len(text.split())


def cut_words(text: str, count: int) -> int:
    return len(" ".join(text.split(" ")[:count]))


def piece(start: int, end: int, document: int = 0, text: str = TEXT) -> Piece:
    return Piece(document, start, end, words(text[start:end]), text[start:end])


def test_the_questions_are_of_listed_documents_and_of_every_kind_in_both_halves() -> None:
    listed = {(row["name"], path): row["half"] for row in packages() for path in row["files"]}
    assert len(listed) >= 150
    assert len(packages()) >= 8
    assert set(listed.values()) == set(HALVES)
    questions = raw_questions()
    assert len(questions) >= 290
    kinds = Counter((listed[row["package"], row["file"]], row["kind"]) for row in questions)
    projects: dict[str, set[str]] = {}
    for half in HALVES:
        for kind in ("fence", "lead-in", "list", "note", "prose", "table"):
            assert kinds[half, kind] >= 10
        projects[half] = {row["name"] for row in packages() if row["half"] == half}
    assert not set.intersection(*projects.values())
    assert len({row["question"] for row in questions}) == len(questions)
    assert all(0 <= row["start"] < row["end"] for row in questions)


def test_the_fixtures_ask_for_the_blocks_below_their_headings() -> None:
    asked = fixtures()
    assert len(asked.questions) > 50
    for question in asked.questions:
        assert asked.texts[question.document][question.start : question.end].strip()
    titles = list(Source(TEXT).below_headings())
    assert [(title, TEXT[start:end].strip()) for title, start, end in titles] == [
        ("Walks", "Take water."),
        ("Maps", "Buy one in Bergen."),
    ]


@pytest.fixture
def archive(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """What the registry has is a tarball with this content of docs/a.md."""

    def serve(content: bytes) -> None:
        def run(_: Package, folder: str) -> None:
            with tarfile.open(Path(folder) / "a-1.tgz", "w:gz") as tar:
                member = tarfile.TarInfo("package/docs/a.md")
                member.size = len(content)
                tar.addfile(member, BytesIO(content))

        monkeypatch.setattr(fetch, "_run", run)

    return serve


def test_a_file_is_fetched_once_and_checked(
    archive: Callable[[bytes], None], tmp_path: Path
) -> None:
    package = Package("npm", "a", "1")
    digest = sha256(b"text").hexdigest()
    said: list[object] = []
    archive(b"text")
    for _ in range(2):
        assert files(package, {"docs/a.md": digest}, tmp_path, said.append) == {
            "docs/a.md": b"text"
        }
    assert said == ["fetching a 1 of npm"]
    (tmp_path / digest).write_bytes(b"damaged")
    with pytest.raises(SystemExit, match=r"docs/a.md of a 1 of npm has the SHA-256"):
        files(package, {"docs/a.md": digest}, tmp_path, said.append)


def test_another_file_or_none_is_refused(archive: Callable[[bytes], None], tmp_path: Path) -> None:
    package = Package("npm", "a", "1")
    archive(b"changed")
    with pytest.raises(SystemExit, match="another file than the questions were written for"):
        files(package, {"docs/a.md": "0" * 64}, tmp_path, print)
    with pytest.raises(SystemExit, match=r"has no docs/b.md; 1 files are missing"):
        files(package, {"docs/b.md": "0" * 64}, tmp_path, print)
    assert not list(tmp_path.glob("*"))


def test_by_words_a_text_that_shares_none_is_left_out() -> None:
    texts = ["Water for walks.", "A map of Bergen.", "Maps and mapping of water"]
    assert lexical(texts, ["Where are maps?", 'water "quoted"', "Oslo"]) == [[2, 1], [0, 2], []]


def test_reciprocal_ranks_prefer_what_both_have() -> None:
    assert fused([[0, 1, 2]], [[2, 1]]) == [[2, 1, 0]]
    assert fused([[0], []], [[1], [5]]) == [[0, 1], [5]]


def test_recall_is_of_the_characters_delivered_and_the_last_chunk_is_cut() -> None:
    question = Question(0, "prose", BUY, len(TEXT) - 1, "where")
    dataset = Dataset("own", (TEXT, TEXT), (question,))
    chunked = Chunked(9, (piece(0, MAPS), piece(MAPS, len(TEXT)), piece(0, len(TEXT), 1)), 0)
    best = score(dataset, chunked, {"r": [[1, 0, 2]]}, cut_words)
    assert best.by_question() == [1]
    assert best.whole == [1]
    assert best.precision == [pytest.approx((len(TEXT) - 1 - BUY) / (2 * len(TEXT)))]
    # Another document of the same text does not count.
    assert score(dataset, chunked, {"r": [[2]]}, cut_words).by_question() == [0]

    long = "word " * 480 + "and the answer " * 10
    answer = Question(0, "prose", 480 * 5, len(long) - 1, "where")
    whole = Chunked(9, (piece(0, len(long), text=long),), 0)
    found = score(Dataset("own", (long,), (answer,)), whole, {"r": [[0]]}, cut_words)
    assert found.recall["r", 500] == [pytest.approx(0.65)]
    assert found.recall["r", 1_000] == [1]


def test_an_excerpt_over_two_chunks_is_whole_in_none() -> None:
    question = Question(0, "prose", 2, BUY + 3, "where")
    chunks = (piece(0, MAPS - 2), piece(MAPS, len(TEXT)))
    dataset = Dataset("own", (TEXT,), (question,))
    found = score(dataset, Chunked(9, chunks, 0), {"r": [[0, 1]]}, cut_words)
    assert found.whole == [0]
    assert found.by_question() == [1]  # white space between them aside
    assert overlap_of(TEXT, question, [(0, MAPS)]) == pytest.approx(15 / 23)
    half = score(dataset, Chunked(9, chunks, 0), {"r": [[0]]}, cut_words)
    assert mean_scores([found, half]).by_question() == [pytest.approx((1 + 15 / 23) / 2)]


def test_the_interval_is_paired_and_over_documents() -> None:
    one, other = [0.9, 0.5, 0.7, 0.2], [0.8, 0.4, 0.6, 0.1]
    assert interval(one, other, [0, 1, 2, 3]) == pytest.approx((0.1, 0.1, 0.1))
    difference, low, high = interval([1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 1])
    assert (difference, low, high) == (0.5, 0, 1)


def test_chunks_of_one_mean_size_are_found_between_budgets() -> None:
    texts = tuple(f"# Part {n}\n\n" + "One sentence of six words. " * 60 for n in range(4))
    sizes = Sizes(Dataset("own", texts, ()), "cl100k_base", words)
    bare = Variant(own_name("sections", 0.0, "none"))
    aim = sizes.at(bare, 100).mean
    assert sizes.of_mean(bare, aim).mean == pytest.approx(aim, rel=0.02)
    outside = sizes.at(Variant(bare.contender, path=True), 100)
    assert outside.pieces[0].embedded.startswith("Part 0\n\n# Part 0\n\nOne")
    assert outside.pieces[1].embedded.startswith("Part 0\n\nOne")
    assert [p.tokens for p in outside.pieces] == [p.tokens for p in sizes.at(bare, 100).pieces]


DOCUMENT = """\
# Tour

Bring these along:

- water and
  bread

- a map. It is sold in town.
"""


@pytest.mark.parametrize(
    ("edge", "cut"),
    [
        ("Bring", {"heading"}),
        ("- water", {"lead-in"}),
        ("bread", {"item", "paragraph", "sentence"}),
        ("- a map", set()),
        ("It is", {"item", "paragraph"}),
        ("sold", {"item", "paragraph", "sentence"}),
    ],
)
def test_what_is_cut_though_it_fits(edge: str, cut: set[str]) -> None:
    at = DOCUMENT.index(edge)
    pieces = [piece(0, at, text=DOCUMENT), piece(at, len(DOCUMENT), text=DOCUMENT)]
    found = structure(Source(DOCUMENT), pieces, 20, lambda text: words(text) <= 20)
    assert {kind for kind in found if found[kind] and "cut" in kind} == {
        f"{kind} cut" for kind in cut
    }
    counts = {kind: found[kind] for kind in ("heading", "lead-in", "item", "paragraph", "sentence")}
    assert counts == {"heading": 1, "lead-in": 1, "item": 2, "paragraph": 3, "sentence": 4}
    assert found["chunks"] == 2
    assert found["tokens"] == words(DOCUMENT)


def test_a_chunk_that_says_nothing() -> None:
    for text in (
        "---\ntitle: A\n---\n",
        "# Title\n",
        "Title\n=====\n",
        "[![build](https://a/b.svg)](https://a) ![x](y)\n",
        "[one]: https://a\n[two]: https://b\n",
        "<!-- a\ncomment -->\n\n***\n",
    ):
        assert silent(text, 0, len(text)), text
    for text in ("# Title\n\nWord\n", "---\ntitle: A\n---\nWord\n", "- a\n", "[a](b)\n"):
        assert not silent(text, 0, len(text)), text
    # Only at the start of a document is it front matter.
    assert not silent("x\n---\n\na\n\nb\n---\n", 2, 15)


def test_the_results_have_the_tables(tmp_path: Path) -> None:
    tables = [
        Table("retrieval, own, 200", "Retrieval around 200 tokens", "", (("", ""),), (("a",),)),
        Table("retrieval, own, structure", "Structure", "", (("", ""), ("fill", "")), (("a", 1),)),
    ]
    write_retrieval(tmp_path, "own", "About", tables)
    text = (tmp_path / "RETRIEVAL-own.md").read_text("utf-8")
    assert all(as_markdown(table) in text for table in tables)
    assert "## What this does not show" in text
