"""Vectors in the index: each text is embedded once, and nothing that was paid for is lost."""

from __future__ import annotations

import random
import sqlite3
import struct
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunker, ConfigError, MissingPackageError, StoreError
from chunkast.index import Store
from chunkast.index.schema import VERSION
from tests.embedding_server import SIZE, Embed, vector_of
from tests.examples import examples
from tests.strategies import documents
from tests.tables import cases, table

CHUNKER = Chunker(max_tokens=40, overlap=0, min_tokens=0)
GUIDE = "# Guide\n\nA line.\n\n## Water\n\nCarry two litres.\n\n## Food\n\nEvery hut sells soup.\n"
HUTS = "# Huts\n\nHuts are open.\n\n## Beds\n\nA bed costs ten crowns.\n"


def assert_complete(store: Store) -> None:
    """Every chunk has the vector of its text, and the index has no fault."""
    stored = dict(store.vectors())
    for chunk in store.chunks():
        assert stored[chunk.embed_hash] == tuple(vector_of(chunk.embed_text))
    assert store.faults() == []


def filled(corpus: dict[str, str], path: str = ":memory:") -> Store:
    store = Store(path, create=True)
    store.update(corpus.items(), CHUNKER, embed=Embed(), model="words")
    return store


# Updates


def test_each_text_is_embedded_once() -> None:
    embed = Embed()
    corpus = {"a.md": GUIDE, "b.md": HUTS, "copy.md": GUIDE}
    with Store(":memory:", create=True) as store:
        report = store.update(corpus.items(), CHUNKER, embed=embed, model="words")
        assert (len(report.embed), report.embedded, len(embed.texts)) == (5, 5, 5)
        assert_complete(store)
        # The model is remembered.
        report = store.update(corpus.items(), CHUNKER, embed=embed)
        assert (report.embed, report.embedded, len(embed.texts)) == ([], 0, 5)
        corpus["b.md"] = HUTS.replace("ten", "nine")
        report = store.update(corpus.items(), CHUNKER)
        beds = [chunk.id for chunk in store.chunks("b.md") if "nine" in chunk.text]
        # Without a function, what has no vector is counted in every run.
        assert (report.embed, report.embedded) == (beds, 0)
        assert store.update(corpus.items(), CHUNKER).embed == beds
        assert store.update(corpus.items(), CHUNKER, embed=embed, dry_run=True).embed == beds
        assert len(embed.texts) == 5
        assert store.update(corpus.items(), CHUNKER, embed=embed).embedded == 1
        assert_complete(store)


def test_an_index_without_a_model_counts_what_is_new_as_before() -> None:
    with Store(":memory:", create=True) as store:
        assert len(store.update([("a.md", GUIDE)], CHUNKER).embed) == 3
        assert store.update([("a.md", GUIDE)], CHUNKER).embed == []
        assert list(store.vectors()) == []
        report = store.update([("a.md", GUIDE)], CHUNKER, embed=Embed(), model="words")
        assert (len(report.embed), report.embedded, report.written) == (3, 3, 0)


@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), documents(), max_size=3), min_size=2),
    st.randoms(use_true_random=False),
)
@examples(2, share=5)
def test_after_any_edits_the_vectors_are_those_of_a_new_index(
    states: Sequence[dict[str, str]], chance: random.Random
) -> None:
    with Store(":memory:", create=True) as store:
        store.update((), CHUNKER, model="words")
        seen: set[str] = set()
        for corpus in states:
            embed = Embed(chance.choice([None, 0, 1]))
            report = store.update(corpus.items(), CHUNKER)
            current = {chunk.embed_hash: chunk.id for chunk in store.chunks()}
            assert len(report.embed) == len(current.keys() - dict(store.vectors()).keys())
            assert not set(report.embed) & report.reuse.keys()
            try:
                store.embed_missing(embed, batch_size=2)
            except StoreError as error:
                assert "no such host" in str(error)  # noqa: PT017
            vectors = dict(store.vectors())
            assert seen <= vectors.keys()
            seen |= vectors.keys()
        store.embed_missing(Embed())
        assert_complete(store)
        store.prune_vectors()
        with filled(states[-1]) as anew:
            assert dict(store.vectors()) == dict(anew.vectors())


def test_one_document_at_a_time() -> None:
    embed = Embed()
    with Store(":memory:", create=True) as store:
        for source, text in (("a.md", GUIDE), ("b.md", HUTS)):
            pairs = [(source, text)]
            store.update(pairs, CHUNKER, remove_missing=False, embed=embed, model="words")
        assert list(store.outline()) == ["a.md", "b.md"]
        edited = [("b.md", HUTS.replace("ten", "nine"))]
        report = store.update(edited, CHUNKER, remove_missing=False, embed=embed)
        assert str(report) == "added 0, changed 1, unchanged 4, removed 0, moved 0"
        assert [*map(len, embed.batches)] == [3, 2, 1]
        with pytest.raises(StoreError, match=r"has no document 'no\.md'"):
            store.remove(["a.md", "no.md"])
        with pytest.raises(ConfigError, match=r"sources='a\.md': must be a list"):
            store.remove("a.md")
        options = store.settings()["options"]
        report = store.remove(["a.md", "a.md"])
        assert str(report) == "added 0, changed 0, unchanged 2, removed 3, moved 0"
        assert (report.digest, report.embed) == (store.digest(), [])
        assert list(store.outline()) == ["b.md"]
        assert store.settings()["options"] == options
        assert store.search("crowns")[0].source == "b.md"
        # The text comes back: its vectors are still there.
        report = store.update([("c.md", GUIDE)], CHUNKER, remove_missing=False, embed=embed)
        assert (len(report.added), report.embedded) == (3, 0)
        assert_complete(store)


def test_documents_are_only_removed_from_an_index_that_can_be_read(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    with Store(path, create=True) as store, pytest.raises(StoreError, match="no run has completed"):
        store.remove(["a.md"])
    with filled({"a.md": GUIDE}, path) as store:
        store._connection.execute(f"PRAGMA user_version = {VERSION - 1}")
        with pytest.raises(StoreError, match="older chunkast"):
            store.remove(["a.md"])


@cases("edits", "edits")
def test_what_an_edit_costs(
    *, alone: bool, changes: dict[str, str | None], sync: dict[str, int], index: str
) -> None:
    corpus = {row["name"]: row["text"] for row in table("edits", "files")}
    # A document that cannot be read is neither passed nor removed.
    unreadable = "\xff"
    read = {
        name: text for name, text in (corpus | changes).items() if text not in {None, unreadable}
    }
    embed = Embed()
    with Store(":memory:", create=True) as store:
        store.update(corpus.items(), CHUNKER, embed=embed, model="words")
        assert len(embed.texts) == 8
        everything = not alone and unreadable not in changes.values()
        report = store.update(read.items(), CHUNKER, remove_missing=everything, embed=embed)
        counts = [report.added, report.changed, report.removed, report.moved]
        added, changed, removed, moved = map(len, counts)
        assert f"{added} {changed} {report.unchanged} {removed} {moved}" == index
        assert len(embed.texts) - 8 == report.embedded == sync.get("embedded", 0)
        assert_complete(store)


# Failures


def test_a_run_that_failed_goes_on_with_what_is_missing() -> None:
    corpus = {f"{n}.md": f"# {n}\n\nText {n}.\n" for n in range(150)}
    with Store(":memory:", create=True) as store:
        with pytest.raises(StoreError, match="embed failed: OSError: no such host"):
            store.update(corpus.items(), CHUNKER, embed=Embed(fail_after=2), model="words")
        assert len(list(store.chunks())) == 150
        assert len(store.update(corpus.items(), CHUNKER).embed) == 150 - 2 * 64
        done: list[int] = []
        embed = Embed()
        assert store.embed_missing(embed, batch_size=10, on_batch=done.append) == 22
        assert done == [*map(len, embed.batches)] == [10, 10, 2]
        assert_complete(store)


def two(_: list[str]) -> list[list[float]]:
    return [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (two, "returned 2 vectors for 1 texts"),
        (lambda _: [[1.0] * 7], r"returned a vector of 7 numbers; the store has 6"),
        (lambda _: [[]], "returned a vector of 0 numbers"),
        (lambda _: [[float("nan")] * SIZE], "a number that is not finite"),
        (lambda _: [[1e39] * SIZE], "a number that is not finite"),
        (lambda _: [[float("inf")] * SIZE], "a number that is not finite"),
        (lambda _: [["x"] * SIZE], "embed failed: ValueError"),
        (lambda _: ["123456"], "embed failed: TypeError"),
        (lambda _: [None], "embed failed: TypeError"),
        (lambda _: None, "embed failed: TypeError"),
    ],
)
def test_a_wrong_answer_is_not_stored(answer: Callable[[list[str]], Any], message: str) -> None:
    with filled({"a.md": HUTS}) as store:
        edited = HUTS.replace("ten", "nine")
        before = dict(store.vectors())
        with pytest.raises(StoreError, match=message):
            store.update([("a.md", edited)], CHUNKER, embed=answer)
        assert dict(store.vectors()) == before
        assert len(store.update([("a.md", edited)], CHUNKER, embed=Embed()).embed) == 1
        assert_complete(store)


def test_rows_of_an_array_are_vectors() -> None:
    numpy = pytest.importorskip("numpy")
    with Store(":memory:", create=True) as store:
        rows: Callable[[list[str]], Any] = lambda texts: numpy.array(list(map(vector_of, texts)))  # noqa: E731
        store.update([("a.md", HUTS)], CHUNKER, embed=rows, model="words")
        assert_complete(store)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"embed": two}, "model=None: must be the name"),
        ({"embed": two, "model": ""}, "model='': must be the name"),
        ({"model": 3}, "model=3: must be the name"),
        ({"embed": "x", "model": "m"}, "embed='x': must be a function"),
    ],
)
def test_invalid_arguments_store_nothing(options: dict[str, Any], message: str) -> None:
    with Store(":memory:", create=True) as store:
        with pytest.raises(ConfigError, match=message):
            store.update([("a.md", HUTS)], CHUNKER, **options)
        assert list(store.chunks()) == []
        with pytest.raises(ConfigError, match="model=None"):
            store.embed_missing(two)
    with filled({}) as store, pytest.raises(ConfigError, match="batch_size=0"):
        store.embed_missing(two, batch_size=0)


# What is kept


def test_vectors_are_pruned_only_on_request() -> None:
    with filled({"a.md": GUIDE, "b.md": HUTS}) as store:
        store.remove(["a.md"])
        assert len(dict(store.vectors())) == 5
        assert store.prune_vectors() == 3
        assert store.prune_vectors() == 0
        assert_complete(store)
        # Another model, and back: vectors of both are kept until then.
        embed = Embed()
        store.update([("b.md", HUTS)], CHUNKER, embed=embed, model="other")
        store.update([("b.md", HUTS)], CHUNKER, embed=embed, model="words")
        assert len(embed.texts) == 2
        assert store.prune_vectors() == 2
        assert_complete(store)


def test_two_processes_that_embed_the_same_texts_store_them_once(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    with Store(path, create=True) as one, Store(path) as other:
        one.update([("a.md", GUIDE)], CHUNKER, model="words")

        def slow(texts: list[str]) -> list[list[float]]:
            other.embed_missing(Embed(), batch_size=1)
            return Embed()(texts)

        one.embed_missing(slow, batch_size=2)
        assert len(list(one.vectors())) == 3
        assert_complete(other)


def damage(path: str, *statements: str) -> None:
    """Change the file with other means, which store what the schema forbids."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            connection.execute(statement)


def rebuilt(path: str) -> tuple[list[str], int]:
    """Return the faults that the next run finds, and the number of its texts."""
    embed = Embed()
    with Store(path) as store:
        report = store.update([("a.md", GUIDE)], CHUNKER, embed=embed)
        assert_complete(store)
        return report.faults, len(embed.texts)


@cases("damage", "vectors")
def test_a_rebuilt_index_keeps_the_vectors_that_are_whole(
    tmp_path: Path, *, statement: str, fault: str, faults: int, texts: int, searched: bool
) -> None:
    path = str(tmp_path / "a.db")
    filled({"a.md": GUIDE}, path).close()
    damage(path, statement)
    if searched:
        pytest.importorskip("numpy")
        with Store(path) as store, pytest.raises(StoreError, match=r"damaged: .* rebuilds it"):
            store.search("soup", vector=vector_of("soup"))
    found, embedded = rebuilt(path)
    assert len(found) == faults
    assert all(each.startswith(fault) for each in found)
    assert embedded == texts


BLOCKS = """CREATE TABLE vector_blocks (number INTEGER PRIMARY KEY, model TEXT NOT NULL,
    size INTEGER NOT NULL, count INTEGER NOT NULL, hashes TEXT NOT NULL, checksum INTEGER NOT NULL,
    vectors BLOB NOT NULL)"""


@pytest.mark.parametrize(
    ("change", "factor", "texts"),
    [("checksum", 1, 0), ("checksum + 1", 1, 3), ("NULL", 1, 3), ("checksum", 0, 3)],
)
def test_an_upgrade_keeps_the_vectors_of_version_8_that_are_whole(
    tmp_path: Path, change: str, factor: int, texts: int
) -> None:
    path = str(tmp_path / "a.db")
    with filled({"a.md": GUIDE}, path) as store:
        hashes = [text for text, _ in store.vectors()]
        scaled = ([factor * number for number in vector] for _, vector in store.vectors())
        data = b"".join(struct.pack(f"<{SIZE}f", *vector) for vector in scaled)
        checksum = crc32(data, crc32(repr(("words", SIZE, hashes)).encode()))
        execute = store._connection.execute
        execute(BLOCKS.replace("checksum INTEGER NOT NULL", "checksum INTEGER"))
        values = "words", SIZE, len(hashes), " ".join(hashes), checksum, data
        execute("INSERT INTO vector_blocks VALUES (NULL, ?, ?, ?, ?, ?, ?)", values)
        execute("DROP TABLE text_vectors")
    damage(path, f"UPDATE vector_blocks SET checksum = {change}", "PRAGMA user_version = 8")  # noqa: S608
    _, embedded = rebuilt(path)
    assert embedded == texts


# Searching


def unit(*numbers: float) -> list[float]:
    return [*numbers, *[0.0] * (SIZE - len(numbers))]


PLACES = {
    "ferry.md": ("The ferry leaves at nine.", unit(1)),
    "boat.md": ("A vessel departs in the morning.", unit(0.9, 0.1)),
    "copy.md": ("A vessel departs in the morning.", unit(0.9, 0.1)),
    "soup.md": ("Huts sell soup.", unit(0, 1)),
}


def placed(**more: tuple[str, list[float]]) -> Store:
    """An index of ``PLACES``, whose texts have the given vectors."""
    corpus = PLACES | more
    store = Store(":memory:", create=True)

    def embed(texts: list[str]) -> list[list[float]]:
        return [next(v for text, v in corpus.values() if text in each) for each in texts]

    documents = [(source, text) for source, (text, _) in corpus.items()]
    store.update(documents, CHUNKER, embed=embed, model="places")
    return store


def test_words_and_vectors_are_joined_by_their_ranks() -> None:
    pytest.importorskip("numpy")
    with placed() as store:
        assert store.embedding_model() == ("places", SIZE)
        assert [hit.source for hit in store.search("ferry")] == ["ferry.md"]
        hits = store.search("ferry", vector=unit(1))
        assert [hit.source for hit in hits] == ["ferry.md", "boat.md", "soup.md"]
        assert [hit.score for hit in hits] == [
            pytest.approx(score) for score in (2 / 61, 1 / 62, 1 / 64)
        ]
        # A copy that only the vectors find is a place of the first hit as well.
        assert [[place.source for place in hit.also] for hit in hits] == [[], ["copy.md"], []]
        # Length does not count, nor do words that are not there.
        assert next(hit.source for hit in store.search("zebra", vector=unit(0, 9))) == "soup.md"
        assert next(hit.source for hit in store.search("", vector=unit(0, 9))) == "soup.md"
        assert [hit.source for hit in store.search("soup", limit=1, vector=unit(1))] == ["soup.md"]
        # Within a budget and some documents.
        [hit] = store.search("", 8, vector=unit(1))
        assert (hit.source, hit.token_count) == ("ferry.md", 6)
        found = store.search("", vector=unit(1), within="[cs]o*")
        assert [hit.source for hit in found] == ["copy.md", "soup.md"]
        # A removed text keeps its vector, and is no hit.
        store.remove(["ferry.md"])
        assert next(hit.source for hit in store.search("", vector=unit(1))) == "boat.md"


def test_without_vectors_the_search_is_by_words() -> None:
    with Store(":memory:", create=True) as store:
        store.update([("a.md", GUIDE)], CHUNKER)
        assert store.embedding_model() == ("", 0)
        assert store.search("soup", vector=unit(1)) == store.search("soup")
        store.update([("a.md", GUIDE)], CHUNKER, model="words")
        assert store.embedding_model() == ("words", 0)
        assert store.search("soup", vector=unit(1)) == store.search("soup")


@pytest.mark.parametrize(
    "vector", [[1.0], [0.0] * SIZE, [float("nan")] * SIZE, "abc", 7, ["x"] * SIZE]
)
def test_an_invalid_vector_is_refused(vector: Any) -> None:
    pytest.importorskip("numpy")
    with placed() as store, pytest.raises(ConfigError, match="must be 6 finite numbers"):
        store.search("soup", vector=vector)


def test_a_search_sees_the_vectors_of_every_process(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    path = str(tmp_path / "a.db")
    with filled({"a.md": GUIDE}, path) as store, Store(path) as other:
        for text, writer in (("Bus.", other), ("Tram.", store)):
            assert store.search("", vector=vector_of(text))[0].text != text
            writer.update([("b.md", text)], CHUNKER, remove_missing=False, embed=Embed())
            assert store.search("", vector=vector_of(text))[0].text == text


@given(st.integers(0, 2**32))
@examples(1, share=30)
def test_the_nearest_of_many_vectors_are_found(seed: int) -> None:
    numpy = pytest.importorskip("numpy")
    chance = random.Random(seed)
    texts = {f"{n}.md": f"Text {n}." for n in range(1_100)}
    vectors = {name: [chance.gauss(0, 1) for _ in range(4)] for name in texts}
    by_text = {text: vectors[name] for name, text in texts.items()}
    with Store(":memory:", create=True) as store:
        store.update(texts.items(), CHUNKER, model="chance")
        store.embed_missing(lambda batch: [by_text[text] for text in batch], batch_size=400)
        query = [chance.gauss(0, 1) for _ in range(4)]
        rows = numpy.array([*vectors.values()], "f4")
        likeness = rows @ numpy.array(query, "f4") / numpy.linalg.norm(rows, axis=1)
        order = [list(texts)[at] for at in numpy.argsort(-likeness)]
        by_source = dict(zip(texts, likeness.tolist(), strict=True))
        # Two of them may be equally near in single precision.
        found = [by_source[hit.source] for hit in store.search("", 10**9, vector=query)]
        assert found == pytest.approx([by_source[each] for each in order[:100]], abs=1e-5)
        # Only the last ones of the whole order are in these documents.
        kept = order[-3:]
        store.update([(name, texts[name]) for name in kept], CHUNKER)
        assert {hit.source for hit in store.search("", vector=query)} == {*kept}


def test_a_search_by_vectors_needs_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    with placed() as store:
        monkeypatch.setitem(sys.modules, "numpy", None)
        with pytest.raises(MissingPackageError, match=r"chunkast\[vectors\]"):
            store.search("soup", vector=unit(1))
        assert store.search("soup")
