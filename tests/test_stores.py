"""Sync: after any edits the store is as a fresh one, and no vector is computed twice."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from operator import eq, itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chunkast import (
    Chunk,
    Chunker,
    ConfigError,
    MissingPackageError,
    SourceError,
    StoreError,
)
from chunkast.stores import QdrantTarget, SyncError, SyncReport, sync
from chunkast.testing.contract import check_target
from tests.command import environment, linux, records, write
from tests.embedding_server import Embed, vector_of
from tests.examples import examples
from tests.tables import table
from tests.test_folder import NOTEBOOK
from tests.test_plans import edited_folders
from tests.vector_stores import OTHERS, STORES, Rows, Store
from tests.vector_stores import read_points as read

numpy = pytest.importorskip("numpy", reason="needs chunkast[qdrant]")
qdrant_client = pytest.importorskip("qdrant_client", reason="needs chunkast[qdrant]")

CHUNKER = Chunker(max_tokens=24, min_tokens=0, overlap=0)
Documents = list[tuple[str, "list[Chunk] | None"]]


def client() -> Any:
    return qdrant_client.QdrantClient(":memory:")


def assert_same(found: Rows, expected: Rows) -> None:
    assert {id_: values for id_, (values, _) in found.items()} == {
        id_: values for id_, (values, _) in expected.items()
    }
    for id_, (_, numbers) in found.items():
        assert numbers == pytest.approx(expected[id_][1], abs=1e-5)


def fresh(documents: Documents, model: str = "") -> Rows:
    return fresh_of({source: (chunks or [], model) for source, chunks in documents})


def chunked(texts: Mapping[str, str], chunker: Chunker = CHUNKER) -> Documents:
    return [(source, chunker.chunk(text, source)) for source, text in texts.items()]


# The contract


class ServerTarget(QdrantTarget):
    """Uses an embedded collection as one on a server: with filters, pages and indexes."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._embedded = False


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect")
@pytest.mark.parametrize("kind", [QdrantTarget, ServerTarget])
@pytest.mark.parametrize(
    "options", [{}, {"vector": "words"}, {"distance": "dot"}, {"distance": "euclid"}], ids=str
)
def test_qdrant_keeps_the_contract(kind: type[QdrantTarget], options: dict[str, Any]) -> None:
    store = client()
    target = kind(store, "docs", **options)
    check_target(target, lambda: read(store, vector=options.get("vector")))


def test_qdrant_keeps_the_contract_in_a_folder(tmp_path: Path) -> None:
    store = qdrant_client.QdrantClient(path=str(tmp_path))
    check_target(QdrantTarget(store, "docs"), lambda: read(store))
    before = read(store)
    store.close()
    store = qdrant_client.QdrantClient(path=str(tmp_path))
    assert_same(read(store), before)
    store.close()


@pytest.mark.parametrize("kind", OTHERS)
def test_other_stores_keep_the_contract(kind: str) -> None:
    store = STORES[kind]("")
    check_target(store.target, store.read)
    store.close()


WRITE, VECTORS = QdrantTarget.write, QdrantTarget.vectors


def ignores_models(target: QdrantTarget, embed_hashes: Sequence[str], model: str) -> Any:
    return VECTORS(target, embed_hashes, "one" if model == "two" else model)


def mixes_vectors(target: QdrantTarget, rows: Sequence[Any], vectors: Sequence[Any]) -> None:
    WRITE(target, rows, vectors[::-1])


def merges_values(target: QdrantTarget, rows: Sequence[Any], vectors: Sequence[Any]) -> None:
    old = read(target._client)
    merged = [{**old.get(row["chunk_id"], ({},))[0], **row} for row in rows]
    WRITE(target, merged, vectors)


@pytest.mark.parametrize(
    ("method", "wrong", "reason"),
    [
        ("vectors", ignores_models, "embedded texts: "),
        ("vectors", lambda *_: {}, "embedded texts: "),
        ("update", lambda *_: None, "end_line of "),
        ("delete", lambda *_: None, "rows: "),
        ("write", mixes_vectors, "vector of "),
        ("write", merges_values, "absent values of "),
    ],
)
def test_the_contract_finds_what_a_target_gets_wrong(
    monkeypatch: pytest.MonkeyPatch, method: str, wrong: Callable[..., Any], reason: str
) -> None:
    monkeypatch.setattr(QdrantTarget, method, wrong)
    store = client()
    with pytest.raises(AssertionError, match=f"^{reason}"):
        check_target(QdrantTarget(store, "docs"), lambda: read(store))


# Edits

FILES: dict[str, str] = {row["name"]: row["text"] for row in table("edits", "files")}
EDITS = table("edits", "edits")


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("edit", EDITS, ids=itemgetter("name"))
def test_what_an_edit_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edit: dict[str, Any], kind: str
) -> None:
    """docs/qdrant.md has this table."""
    expected, alone = SyncReport(**edit["sync"]), edit["alone"]
    write(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    store = STORES[kind]("")
    target = store.target
    documents = list(CHUNKER.chunk_folder("docs"))
    first = sync(target, documents, Embed())
    assert first == SyncReport(embedded=8, written=8)
    before = store.read()
    for name, text in edit["changes"].items():
        if text is None:
            (tmp_path / name).unlink()
        else:
            write(tmp_path, {name: text.encode("latin-1")})
    edited = list(CHUNKER.chunk_folder("docs", on_error=lambda *_: None))
    for dry in (True, False, False):
        embed = Embed()
        report = sync(
            target, iter(edited), embed, remove_missing=not alone, batch_size=2, dry_run=dry
        )
        assert report == expected
        assert len(embed.texts) == (0 if dry else expected.embedded)
        if dry:
            assert_same(store.read(), before)
        else:
            # Once more, and there is nothing left to do.
            chunks = expected.written + expected.updated + expected.unchanged
            expected = SyncReport(unchanged=chunks)
    # Documents that were not passed, or could not be read, are as they were.
    passed = {source: chunks for source, chunks in edited if chunks is not None}
    unread = {source for source, chunks in edited if chunks is None}
    kept = [pair for pair in documents if pair[0] not in passed and (alone or pair[0] in unread)]
    assert_same(store.read(), fresh([*kept, *passed.items()]))
    store.close()


def test_the_manual_has_the_table_of_edits() -> None:
    page = Path(__file__).parents[1] / "docs" / "qdrant.md"
    columns = ("embedded", "written", "updated", "deleted", "unchanged")
    rows = [
        f"| {edit['name']} | {' | '.join(str(edit['sync'].get(each, 0)) for each in columns)} |"
        for edit in EDITS
    ]
    assert "\n" + "\n".join(rows) + "\n\n" in page.read_text("utf-8")


# Any edits


@st.composite
def runs(draw: st.DrawFn) -> list[tuple[Documents, dict[str, Any]]]:
    """The arguments of several syncs: of everything, or of some documents, in any order."""
    steps = []
    for folder in draw(edited_folders()):
        documents = draw(st.permutations(chunked(folder, Chunker(max_tokens=60, overlap=0))))
        everything = draw(st.booleans())
        if not everything:
            documents = [pair for pair in documents if draw(st.booleans())]
        options = {
            "remove_missing": everything,
            "batch_size": draw(st.integers(1, 4)),
            "model": draw(st.sampled_from(["one", "one", "two"])),
        }
        if documents or not everything:
            steps.append((documents, options))
    return steps


@examples(3)
@given(runs(), st.sampled_from([QdrantTarget, ServerTarget]))
def test_any_edits_leave_a_store_equal_to_a_fresh_one(
    steps: list[tuple[Documents, dict[str, Any]]], kind: type[QdrantTarget]
) -> None:
    store = client()
    check_runs(Store(kind(store, "docs"), lambda: read(store)), steps)


@pytest.mark.parametrize("kind", OTHERS)
@examples(2, share=25)
@given(steps=runs())
def test_any_edits_leave_other_stores_equal_to_a_fresh_one(
    kind: str, steps: list[tuple[Documents, dict[str, Any]]]
) -> None:
    store = STORES[kind]("")
    check_runs(store, steps)
    store.close()


def check_runs(store: Store, steps: list[tuple[Documents, dict[str, Any]]]) -> None:
    target = store.target
    current: dict[str, tuple[list[Chunk], str]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an embedded collection has no index
        for documents, options in steps:
            model = options["model"]
            has = {(row["embed_hash"], row["model"]) for row, _ in store.read().values()}
            dry = sync(target, documents, Embed(), dry_run=True, **options)
            embed, told = Embed(), list[SyncReport]()
            report = sync(target, iter(documents), embed, on_progress=told.append, **options)
            assert report == dry
            assert told[-1:] in ([], [report])
            assert all(len(batch) <= options["batch_size"] for batch in embed.batches)
            chunks = [chunk for _, passed in documents for chunk in passed or ()]
            missing = {chunk.embed_hash for chunk in chunks if (chunk.embed_hash, model) not in has}
            assert len(embed.texts) == report.embedded == len(missing)
            assert report.written + report.updated + report.unchanged == len(chunks)
            if options["remove_missing"]:
                current = {}
            current |= {source: (passed or [], model) for source, passed in documents}
        assert_same(store.read(), fresh_of(current))


def fresh_of(documents: Mapping[str, tuple[list[Chunk], str]]) -> Rows:
    """What a new store has of documents, each with the name of its model."""
    store = client()
    for source, (chunks, model) in documents.items():
        sync(QdrantTarget(store, "docs"), [(source, chunks)], Embed(), model=model)
    return read(store)


# Interrupted


class Killed(BaseException):
    """Ends a sync as a signal would: nothing that follows is run."""


class KilledTarget(QdrantTarget):
    """Is killed at a row, which is written or not, or at an embedding."""

    def __init__(self, store: Any, moment: int) -> None:
        super().__init__(store, "docs")
        self.left = moment
        self.embed = Embed()

    def step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Killed

    def embedded(self, texts: list[str]) -> list[list[float]]:
        self.step()
        return self.embed(texts)

    def write(self, rows: Sequence[Any], vectors: Sequence[Any]) -> None:
        for row, vector in zip(rows, vectors, strict=True):
            self.step()
            super().write([row], [vector])

    def update(self, rows: Sequence[Any]) -> None:
        for row in rows:
            self.step()
            super().update([row])

    def delete(self, ids: Sequence[str]) -> None:
        for id_ in ids:
            self.step()
            super().delete([id_])


TEXTS = [
    "One.\n",
    "# A\n\nTwo.\n\n## B\n\nThree.\n",
    "# A\n\nFour.\n\n## B\n\nThree.\n",
    "\n\n".join(f"Some words of paragraph {number}, which ends here." for number in range(6)),
    "\n\n".join(f"Some words of paragraph {number}, which ends here." for number in range(3, 12)),
    "",
    *(f"# Same\n\nBut {number}.\n" for number in range(10)),
]
# One below the other has the same id, so that its row is overwritten.
TRADED = st.permutations(TEXTS[6:]).map(lambda texts: dict(zip("abcdefghij", texts, strict=True)))
FOLDERS = TRADED | st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(TEXTS), min_size=1)


def rotated(by: int) -> dict[str, str]:
    return {f"{n:02}.md": f"# Same\n\nBut {(n + by) % 16}.\n" for n in range(16)}


@examples(3)
@given(FOLDERS, FOLDERS, st.integers(0, 30), st.integers(1, 3))
@example(rotated(0), rotated(8), 8, 1)
@example(rotated(0), rotated(1), 8, 1)
def test_a_sync_that_was_killed_is_continued(
    before: dict[str, str], after: dict[str, str], moment: int, batch_size: int
) -> None:
    store = client()
    sync(QdrantTarget(store, "docs"), chunked(before), Embed())
    has = {row["embed_hash"] for row, _ in read(store).values()}
    documents = chunked(after)
    options: dict[str, Any] = {"remove_missing": True, "batch_size": batch_size}
    target = KilledTarget(store, moment)
    try:
        sync(target, documents, target.embedded, **options)
    except Killed:
        # No row is half old and half new.
        for row, numbers in read(store).values():
            texts = {
                chunk.embed_hash: chunk
                for _, c in (*documents, *chunked(before))
                for chunk in c or ()
            }
            assert numbers == pytest.approx(
                vector_of(texts[row["embed_hash"]].embed_text), abs=1e-5
            )
    embed = Embed()
    sync(QdrantTarget(store, "docs"), documents, embed, **options)
    assert_same(read(store), fresh(documents))
    missing = {chunk.embed_hash for _, chunks in documents for chunk in chunks or ()} - has
    twice = len(target.embed.texts) + len(embed.texts) - len(missing)
    # Texts that were changing places may be among them.
    trading = has & {chunk.embed_hash for _, chunks in documents for chunk in chunks or ()}
    assert 0 <= twice <= 2 * batch_size + len(trading)


def test_many_rows_trade_places_without_a_new_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than are read at once, each with the vector that the one before it needs."""
    monkeypatch.setattr("chunkast.stores.syncing._COLLECTED", 16)
    texts = [f"# Same\n\nBut {number}.\n" for number in (*range(39), 0)]
    store, before = client(), [""] * 40
    for moved in (texts, [*texts[1:], texts[0]], [*texts[25:], *texts[:25]]):
        documents = chunked({f"{number}.md": text for number, text in enumerate(moved)})
        embed = Embed()
        report = sync(QdrantTarget(store, "docs"), iter(documents), embed, batch_size=10)
        same = sum(map(eq, moved, before))
        new = 39 if moved is texts else 0
        assert report == SyncReport(embedded=new, written=40 - same, unchanged=same)
        before = moved
        assert len(embed.texts) == report.embedded
    assert_same(read(store), fresh(documents))


# Arguments and errors


def one(text: str = "# A\n\nOne.\n") -> Documents:
    return chunked({"a.md": text})


@pytest.mark.parametrize(
    ("documents", "embed", "options", "reason"),
    [
        (one(), None, {}, "embed=None: must be a function"),
        (one(), Embed(), {"model": None}, "model=None: must be a str"),
        (one(), Embed(), {"batch_size": 0}, "batch_size=0: must be a whole number of at least 1"),
        ([*one(), *one()], Embed(), {}, "documents='a.md': must be passed only once"),
        ([("b.md", one()[0][1])], Embed(), {}, "is not a chunk of 'b.md'"),
        ([("a.md", CHUNKER.chunk("x"))], Embed(), {}, "is not a chunk of 'a.md'"),
        ([("a.md", ["x"])], Embed(), {}, "documents='x': is not a chunk of 'a.md'"),
        ([("a.md", (one()[0][1] or []) * 2)], Embed(), {}, "must be passed only once"),
        ("a.md", Embed(), {}, "documents='a.md': must be pairs of a source and its chunks"),
        (one()[0][1], Embed(), {}, "must be pairs of a source and its chunks"),
        ([], Embed(), {"remove_missing": True}, "remove_missing would delete everything"),
    ],
)
def test_wrong_arguments(documents: Any, embed: Any, options: dict[str, Any], reason: str) -> None:
    store = client()
    before: Documents = [*chunked({"z.md": "Z.\n"}), *one("# A\n\nTwo.\n")]
    sync(QdrantTarget(store, "docs"), before, Embed())
    with pytest.raises(ConfigError, match=re.escape(reason)):
        sync(QdrantTarget(store, "docs"), documents, embed, **options)
    # Nothing is deleted.
    assert read(store).keys() >= fresh(before).keys()


def test_wrong_targets() -> None:
    with pytest.raises(ConfigError, match="must be a QdrantClient, which is not async"):
        QdrantTarget(qdrant_client.AsyncQdrantClient(":memory:"), "docs")
    with pytest.raises(ConfigError, match="distance='far': must be one of cosine, "):
        QdrantTarget(client(), "docs", distance="far")  # type: ignore[arg-type]


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    store = client()
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'chunkast\[qdrant\]'"):
        QdrantTarget(store, "docs")


def broken(_texts: list[str]) -> Any:
    raise TimeoutError("no answer")


@pytest.mark.parametrize(
    ("embed", "reason"),
    [
        (broken, "embed failed: TimeoutError: no answer"),
        (lambda texts: Embed()(texts)[1:], "embed returned 1 vectors for 2 texts"),
        (lambda texts: [[1.0] * 5 for _ in texts], "a vector of 5 numbers; the store has 6"),
        (lambda texts: [[math.nan] * 6 for _ in texts], "a number that is not finite"),
        (lambda texts: [[math.inf] * 6 for _ in texts], "a number that is not finite"),
        (lambda _texts: None, "embed failed: TypeError"),
        (lambda texts: ["abcdef" for _ in texts], "embed failed: TypeError"),
    ],
)
def test_wrong_vectors(embed: Any, reason: str) -> None:
    store = client()
    sync(QdrantTarget(store, "docs"), chunked({"0.md": "# 0\n\nOld.\n", "b.md": "# B\n"}), Embed())
    before = read(store)
    calls: list[list[str]] = []

    def second(texts: list[str]) -> Any:
        calls.append(texts)
        return embed(texts) if len(calls) == 2 else [vector_of(text) for text in texts]

    documents = chunked({f"{n}.md": f"# {n}\n\nNew.\n" for n in range(5)})
    with pytest.raises(SyncError, match=re.escape(reason)) as caught:
        sync(QdrantTarget(store, "docs"), documents, second, batch_size=2, remove_missing=True)
    assert isinstance(caught.value, StoreError)
    assert caught.value.path == "docs"
    # The first batch was written, and nothing was deleted.
    assert caught.value.report.written == 2
    assert len(read(store)) == len(before) + 2
    assert copy(caught.value).report == caught.value.report
    embed = Embed()
    sync(QdrantTarget(store, "docs"), documents, embed, batch_size=2, remove_missing=True)
    assert len(embed.texts) == 3
    assert_same(read(store), fresh(documents))


def test_first_vectors_of_two_sizes_are_refused() -> None:
    store = client()
    documents = chunked({"a.md": "One.\n", "b.md": "Two.\n"})
    with pytest.raises(SyncError, match="a vector of 2 numbers; the first one has 1"):
        sync(QdrantTarget(store, "docs"), documents, lambda _texts: [[1.0], [1.0, 2.0]])
    assert not store.collection_exists("docs")


@pytest.mark.parametrize("form", [tuple, list, numpy.array, lambda rows: map(numpy.float32, rows)])
def test_vectors_may_be_any_numbers(form: Callable[[list[list[float]]], Any]) -> None:
    store = client()
    sync(
        QdrantTarget(store, "docs"), one(), lambda texts: form([vector_of(text) for text in texts])
    )
    assert_same(read(store), fresh(one()))


def test_documents_that_raise_delete_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {**FILES, "docs/bad.md": b"\xff"})
    monkeypatch.chdir(tmp_path)
    store = client()
    target = QdrantTarget(store, "docs")
    sync(target, chunked({"docs/guide.md": "# Old\n\nText.\n", "gone.md": "Gone.\n"}), Embed())
    with pytest.raises(SourceError, match="bad"):
        sync(target, CHUNKER.chunk_folder("docs"), Embed(), remove_missing=True)
    assert {row["document"] for row, _ in read(store).values()} == {*FILES, "gone.md"}
    assert sum(row["document"] == "docs/guide.md" for row, _ in read(store).values()) == 4
    (tmp_path / "docs" / "bad.md").unlink()
    report = sync(target, CHUNKER.chunk_folder("docs"), Embed(), remove_missing=True)
    assert report == SyncReport(deleted=2, unchanged=8)


def test_a_folder_that_cannot_be_read_keeps_what_is_below_it() -> None:
    store = client()
    target = QdrantTarget(store, "docs")
    texts = {"a/x.md": "X.\n", "a/b/y.md": "Y.\n", "ab.md": "Z.\n", "c.md": "C.\n"}
    sync(target, chunked(texts), Embed())
    report = sync(target, [("a", None), *chunked({"c.md": "C.\n"})], Embed(), remove_missing=True)
    assert report == SyncReport(deleted=1, unchanged=1)
    assert {row["document"] for row, _ in read(store).values()} == {"a/x.md", "a/b/y.md", "c.md"}
    # The name of the root itself is empty.
    report = sync(target, [("", None)], Embed(), remove_missing=True)
    assert report == SyncReport()


def test_no_chunks_delete_a_document_and_others_stay() -> None:
    store = client()
    target = QdrantTarget(store, "docs")
    sync(target, chunked({"a.md": "A.\n", "b.md": "B.\n", "c.md": "C.\n"}), Embed())
    report = sync(target, [("a.md", []), ("b.md", None)], Embed())
    assert report == SyncReport(deleted=1)
    assert {row["document"] for row, _ in read(store).values()} == {"b.md", "c.md"}
    with pytest.raises(ConfigError, match=r"'c\.md': must be passed only once"):
        sync(target, [("b.md", []), ("c.md", None), ("c.md", [])], Embed())
    assert len(read(store)) == 2


def test_collections_of_other_programs_are_left_alone() -> None:
    store = client()
    models = qdrant_client.models
    params = models.VectorParams(size=6, distance=models.Distance.COSINE)
    store.create_collection("docs", params)
    # An empty collection may be used.
    sync(QdrantTarget(store, "docs"), one(), Embed())
    own = models.PointStruct(id=1, vector=[1.0] * 6, payload={"document": "a.md", "text": "mine"})
    store.upsert("docs", [own])
    # So may one with other points in it, which stay.
    sync(QdrantTarget(store, "docs"), one("# A\n\nOther.\n"), Embed(), remove_missing=True)
    sync(QdrantTarget(store, "docs"), [("a.md", [])], Embed())
    assert [point.payload for point in store.scroll("docs")[0]] == [own.payload]
    with pytest.raises(SyncError, match="docs: belongs to another program"):
        sync(QdrantTarget(store, "docs"), one(), Embed())
    with pytest.raises(SyncError, match=r"has no vector 'words', only \[None\]"):
        sync(QdrantTarget(store, "docs", vector="words"), one(), Embed())
    store.create_collection("named", {"words": params})
    with pytest.raises(SyncError, match=r"has no vector None, only \['words'\]"):
        sync(QdrantTarget(store, "named"), one(), Embed())


def test_a_refusal_of_the_store_has_the_report() -> None:
    class Refuses(QdrantTarget):
        def delete(self, _ids: Sequence[str]) -> None:
            raise ConnectionError("closed")

    store = client()
    sync(QdrantTarget(store, "docs"), chunked({"a.md": "A.\n", "b.md": "B.\n"}), Embed())
    with pytest.raises(SyncError, match="docs: ConnectionError: closed") as caught:
        sync(Refuses(store, "docs"), chunked({"a.md": "A.\n"}), Embed(), remove_missing=True)
    assert caught.value.report == SyncReport(unchanged=1)


def test_a_report_is_one_line() -> None:
    report = SyncReport(embedded=3, written=3, updated=1, unchanged=1512)
    assert str(report) == "embedded 3 texts; wrote 3 chunks, updated 1, deleted 0; 1,512 unchanged"
    assert str(SyncReport(1, 1)) == (
        "embedded 1 text; wrote 1 chunk, updated 0, deleted 0; 0 unchanged"
    )


# Rows


def test_a_row_has_what_a_citation_needs() -> None:
    text = (
        "---\ntitle: Huts\nbeds: {ridge: [10, null]}\n---\nOpen.\n\n<!-- page 7 -->\n\n# Water \0\n\n"
        "Two \udfff litres.\n\n## Food {#eat}\n\nSoup.\n\n# Water \0\n\nMore.\n"
    )
    chunker = Chunker(max_tokens=24, min_tokens=0, overlap=0, front_matter="parsed")
    documents = chunked({"docs/huts\ud800.md": text}, chunker)
    store = client()
    sync(QdrantTarget(store, "docs"), documents, Embed(), model="mini")
    rows = sorted((row for row, _ in read(store).values()), key=lambda row: row["start_line"])
    [(_, chunks)] = documents
    assert [row["text"] for row in rows] == [
        chunk.text.replace("\0", "\ufffd").replace("\udfff", "\ufffd") for chunk in chunks or ()
    ]
    assert [row.get("anchor") for row in rows[1:]] == ["water-", "eat", "water--1"]
    first, _, third, _ = rows
    assert {"section", "headings", "anchor"}.isdisjoint(first)
    assert first["metadata"] == {"front_matter": {"title": "Huts", "beds": {"ridge": [10, None]}}}
    chunk = (chunks or [])[2]
    [expected] = table("edits", "rows")
    hashes = ("content_hash", "embed_hash", "state_hash")
    assert third == expected["row"] | {"chunk_id": chunk.id} | {
        name: getattr(chunk, name) for name in hashes
    }
    again = sync(QdrantTarget(store, "docs"), documents, Embed(), model="mini", remove_missing=True)
    assert again == SyncReport(unchanged=4)


def test_an_anchor_changes_with_a_title_before_it() -> None:
    """Although nothing else of the row changes."""
    store = client()
    texts = ("# Food\n\nSoup.\n\n# Food\n\nTea.\n", "# Fool\n\nSoup.\n\n# Food\n\nTea.\n")
    for text in texts:
        sync(QdrantTarget(store, "docs"), one(text), Embed())
    assert_same(read(store), fresh(one(texts[1])))
    anchors = {row["text"][:6]: row["anchor"] for row, _ in read(store).values()}
    assert anchors == {"# Fool": "fool", "# Food": "food"}


def test_a_cell_belongs_to_its_notebook(tmp_path: Path) -> None:
    write(tmp_path, {"book.ipynb": NOTEBOOK})
    store = client()
    documents = list(CHUNKER.chunk_folder(tmp_path))
    sync(QdrantTarget(store, "docs"), documents, Embed())
    assert {(row["document"], row["source"]) for row, _ in read(store).values()} == {
        ("book.ipynb", f"book.ipynb#cell-id={name}") for name in ("one", "two")
    }
    # The cells as documents of their own: the same rows, and nothing is embedded again.
    cells: Documents = [(chunk.source or "", [chunk]) for chunk in documents[0][1] or ()]
    report = sync(QdrantTarget(store, "docs"), cells, Embed(), remove_missing=True)
    assert report == SyncReport(written=2)
    assert_same(read(store), fresh(cells))


# For each store, the number of kills here, and by hand 50.
KILLS = {"qdrant": 15, "pgvector": 5}


@linux
@pytest.mark.slow
@pytest.mark.parametrize("kind", KILLS)
def test_a_killed_process_is_continued(tmp_path: Path, kind: str) -> None:
    """Each row is a transaction of its own, which takes long on a disk: in memory if possible."""
    STORES[kind]("").close()  # skip if its package is missing
    memory = Path("/dev/shm")  # noqa: S108
    kills = int(os.environ.get("CHUNKAST_KILLS", KILLS[kind]))
    with TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.killed_sync", kind, folder, str(kills)],
            cwd=Path(__file__).parents[1],
            env=environment(),
            capture_output=True,
            timeout=600,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")
    told = records(done.stdout)
    assert len(told) == kills
    assert all(each["ended"] and 0 <= each["twice"] <= 16 for each in told)
    assert sum(each["killed"] for each in told) > kills / 2
