"""The index: incremental equals anew, searches and quotes are right, nothing breaks it.

Crashes and concurrency are provoked with real processes on real files.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chunkast import (
    ChunkConfig,
    Chunker,
    ConfigError,
    StoreError,
    digest,
    locate_quote,
    plan_writes,
)
from chunkast.heuristics import Heuristic
from chunkast.index import Hit, Store
from chunkast.index.schema import VERSION
from chunkast.notebook import read_notebook
from chunkast.text.source_map import SourceMap, without_surrogates
from tests.checks import counter_of
from tests.command import command, environment, errors, linux, posix, run, write
from tests.examples import examples
from tests.strategies import documents, markdown
from tests.tables import cases, table
from tests.test_documents import CELLS, notebook

DOCUMENTS = Path(__file__).parents[1] / "fixtures" / "documents"
CORPUS = {
    path.name: path.read_bytes().decode("utf-8", "replace")
    for path in sorted(DOCUMENTS.iterdir())
    if path.is_file() and path.suffix != ".ipynb"  # positions are those of its cells
}
ISLANDS = {row["name"]: row["text"] for row in table("searches", "documents")}
# The default of ``chunkast index``.
INDEX_CHUNKER = Chunker(max_tokens=256, overlap=0)


def filled(corpus: dict[str, str], **options: Any) -> Store:
    store = Store(":memory:", create=True)
    store.update(corpus.items(), Chunker(**options))
    return store


@cache
def indexed() -> Store:
    """An index that no test changes."""
    return filled(ISLANDS)


# Enough of each document for a search.
BEGINNINGS = {name: text[:2_000] for name, text in CORPUS.items()}


each_corpus = pytest.mark.parametrize(
    "corpus", [BEGINNINGS, pytest.param(CORPUS, marks=pytest.mark.slow)], ids=["begin", "whole"]
)


def stored_words(store: Store) -> list[tuple[Any, ...]]:
    """The full-text index itself: each word, in which column and how often, by chunk id."""
    connection = store._connection
    connection.execute(
        "CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', 'search', 'instance')"
    )
    rows = connection.execute(
        "SELECT term, chunks.id, col, offset FROM temp.words "
        "JOIN chunks ON chunks.number = words.doc ORDER BY 1, 2, 3, 4"
    ).fetchall()
    count = connection.execute("SELECT count(*) FROM temp.words").fetchone()[0]
    connection.execute("DROP TABLE temp.words")
    assert len(rows) == count, "words of a chunk that is no more"
    return rows


def state(store: Store) -> tuple[Any, ...]:
    """All that a reader can see of an index."""
    return list(store.chunks()), store.digest(), stored_words(store)


# Writing


@each_corpus
def test_what_is_stored_is_what_the_chunker_gave(corpus: dict[str, str]) -> None:
    expected = list(Chunker(max_tokens=120).iter_chunks(sorted(corpus.items())))
    with filled(corpus, max_tokens=120) as store:
        assert list(store.chunks()) == expected
        assert store.digest() == digest(expected)
        of_one = [chunk for chunk in expected if chunk.source == "faq.md"]
        assert list(store.chunks("faq.md")) == of_one != []


@pytest.mark.slow
@given(
    st.lists(st.dictionaries(st.sampled_from("abcd"), documents(), max_size=4), min_size=2),
    st.sampled_from([15, 60]),
)
@settings(max_examples=settings().max_examples // 4)
def test_an_updated_index_equals_one_made_anew(
    states: Sequence[dict[str, str]], budget: int
) -> None:
    chunker = Chunker(max_tokens=budget)
    with Store(":memory:", create=True) as store:
        for corpus in states:
            prior = list(store.chunks())
            report = store.update(corpus.items(), chunker)
            plan = plan_writes(store.chunks(), prior)
            for name in ("added", "changed", "removed", "moved"):
                assert sorted(getattr(report, name)) == sorted(getattr(plan, name))
            hashes = {chunk.id: chunk.embed_hash for chunk in store.chunks()}
            assert {hashes[i] for i in report.embed} == {hashes[i] for i in plan.embed}
            assert sorted([*report.embed, *report.reuse]) == sorted([*plan.embed, *plan.reuse])
            assert len(report.added) + len(report.changed) + report.unchanged == len(
                list(store.chunks())
            )
            assert len(prior) == len(report.changed) + report.unchanged + len(report.removed)
            with filled(corpus, max_tokens=budget) as anew:
                assert state(store) == state(anew)
                assert report.digest == anew.digest()


def test_only_what_changed_is_chunked_again() -> None:
    with filled(ISLANDS) as store:
        report = store.update(ISLANDS.items(), Chunker())
        assert (report.documents, report.written, report.unchanged) == (4, 0, 4)
        edited = {**ISLANDS, "huts.md": ISLANDS["huts.md"].replace("ten", "nine")}
        del edited["code.md"]
        report = store.update(edited.items(), Chunker())
        assert str(report) == "added 0, changed 1, unchanged 2, removed 1, moved 0"
        assert (report.documents, report.written, len(report.embed)) == (3, 1, 1)
        # Another configuration: all of it anew, though nothing differs in these.
        report = store.update(edited.items(), Chunker(max_tokens=800))
        assert str(report) == "added 0, changed 0, unchanged 3, removed 0, moved 0"
        assert report.written == 3


def test_a_renamed_document_takes_its_vectors_along() -> None:
    renamed = {f"new-{name}": text for name, text in ISLANDS.items()}
    with filled(ISLANDS) as store:
        before = {chunk.id: chunk.embed_hash for chunk in store.chunks()}
        report = store.update(renamed.items(), Chunker())
        assert (report.embed, report.repeats) == ([], [])
        after = {chunk.id: chunk.embed_hash for chunk in store.chunks()}
        assert report.reuse.keys() == after.keys()
        assert {before[old] for old in report.reuse.values()} == set(after.values())
        assert all(before[old] == after[new] for new, old in report.reuse.items())


def test_a_dry_run_and_a_run_that_is_refused_keep_nothing() -> None:
    with filled(ISLANDS) as store:
        before = state(store)
        report = store.update([("new.md", "Something new.")], Chunker(), dry_run=True)
        assert str(report) == "added 1, changed 0, unchanged 0, removed 4, moved 0"
        assert report.digest != before[1]
        with pytest.raises(ConfigError, match=r"source='a.md': is given twice"):
            store.update([("a.md", "One."), ("a.md", "Two.")], Chunker())
        assert state(store) == before


def test_any_string_can_be_stored() -> None:
    corpus = {"a\ud800.md": "# \ud800\0\n\nA \udfff stands\0here.", "b.md": "\0", "c.md": ""}
    with filled(corpus) as store:
        texts = [chunk.text for chunk in store.chunks()]
        assert texts == ["# \ufffd\0\n\nA \ufffd stands\0here.", "\0"]
        assert store.update(corpus.items(), Chunker()).written == 0
        assert [hit.source for hit in store.search("stands")] == ["a\ufffd.md"]


# The file


def test_a_missing_file_and_foreign_files_are_refused(tmp_path: Path) -> None:
    missing, text, foreign = (tmp_path / name for name in ("no.db", "text.db", "foreign.db"))
    text.write_text("this is no database, and long enough to be looked at " * 40)
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE something (else_ TEXT)")
    (tmp_path / "empty.db").touch()
    for path, reason in (
        (missing, "no such file"),
        (text, "not a database"),
        (foreign, "not an index of chunkast"),
        (tmp_path / "empty.db", "an empty file"),
        (tmp_path, "a folder"),
    ):
        with pytest.raises(StoreError, match=reason):
            Store(str(path), read_only=True)
    for path in (text, foreign, tmp_path / "no" / "where.db"):
        with pytest.raises(StoreError):
            Store(str(path), create=True)
    assert not missing.exists()


# Searching


GUIDES = {row["name"]: row["text"] for row in table("searches", "guides")}


@cache
def searched() -> Store:
    return filled(ISLANDS | GUIDES)


@cases("searches", "found")
def test_search_finds(query: str, source: str, section: str) -> None:
    best = searched().search(query)[0]
    assert (best.source, best.section[-1]) == (source, section)


def assert_hits_are_apart(hits: list[Hit], corpus: dict[str, str], budget: int) -> None:
    """Hits are verbatim, counted, within the budget, and no character is in two of them."""
    count = counter_of(ChunkConfig())
    assert sum(hit.token_count for hit in hits) <= budget
    seen: set[tuple[str, int]] = set()
    for hit in hits:
        assert hit.text == corpus[hit.source][hit.start_index : hit.end_index]
        assert hit.token_count == count(hit.text)
        span = {(hit.source, at) for at in range(hit.start_index, hit.end_index)}
        assert not span & seen
        seen |= span


@each_corpus
def test_hits_fit_the_budget_and_do_not_repeat_each_other(corpus: dict[str, str]) -> None:
    with filled(corpus, max_tokens=60, overlap=0.4, context="none") as store:
        chunks = {chunk.id: chunk for chunk in store.chunks()}
        assert any(chunk.overlap for chunk in chunks.values())
        for budget in (1, 50, 300, 2_000, 10**6):
            hits = store.search("the ferry leaves the harbour when the tables are full", budget)
            assert hits or budget == 1
            assert_hits_are_apart(hits, corpus, budget)
            for hit in hits:
                places = SourceMap(corpus[hit.source])
                lines = [places.line(at) for at in (hit.start_index, hit.end_index - 1)]
                assert hit.place == f"{hit.source}:{lines[0]}-{lines[1]}"
                assert hit.text in chunks[hit.id].text
                assert hit.part or chunks[hit.id].text.endswith(hit.text)
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


QUERY_PARTS = st.sampled_from([*"\"'*^()-:{\0\\ ", "AND", "NOT", "NEAR(", "soup", "search"])


@given(st.one_of(markdown(), st.text(), st.lists(QUERY_PARTS, max_size=9).map("".join)))
@example("soup" + "x" * 1_000_000)
def test_any_text_may_be_searched_for(query: str) -> None:
    assert indexed().search(query) == [] or query.strip()


# Quoting


def test_a_quote_is_found_in_every_document_that_has_it() -> None:
    corpus = {**ISLANDS, "copy.md": "> They said:\n\n" + ISLANDS["ferry.md"]}
    with filled(corpus, max_tokens=12, overlap=0.3) as store:
        places = store.quote("Holm   leaves\nat nine.")
        assert [place.source for place in places] == ["copy.md", "ferry.md"]
        for place in places:
            text = corpus[place.source or ""]
            assert text[place.start_index : place.end_index] == "Holm leaves at nine."
            (same,) = locate_quote("Holm leaves at nine.", text)
            assert replace(place, source=None, chunk_ids=(), section=()) == same
        assert store.quote("Holm leaves at ten.") == []


def test_a_search_has_a_limit_and_a_place() -> None:
    with filled(GUIDES) as store:
        assert len(store.search("run one test")) > 1
        assert len(store.search("run one test", limit=1)) == 1
        assert {hit.source for hit in store.search("one", within="no*")} == {"notes.md"}
        assert store.search("one", within="docs/*") == []


@examples(4)
@given(
    st.lists(documents(), min_size=1, max_size=3),
    st.integers(1, 60),
    st.integers(1, 200),
    st.integers(1, 400),
)
def test_expanded_hits_are_verbatim_apart_and_within_the_budget(
    texts: list[str], size: int, most: int, budget: int
) -> None:
    cleaned = enumerate(map(without_surrogates, texts))
    corpus = {f"{number}.md": f"{text}\n\nharbour\n" for number, text in cleaned}
    with filled(corpus, max_tokens=size, overlap=size // 4) as store:
        chunks = {(chunk.source, chunk.id): chunk for chunk in store.chunks()}
        hits = store.search("harbour a b 1", budget, expand=most)
        assert_hits_are_apart(hits, corpus, budget)
        for source, text in corpus.items():
            places = SourceMap(text)
            for hit in (*hits, *store.search("harbour a b 1", budget)):
                lines = places.line(hit.start_index), places.line(hit.end_index - 1)
                assert hit.source != source or lines == (hit.start_line, hit.end_line)
        for hit in hits:
            chunk = chunks[hit.source, hit.id]
            assert hit.token_count <= max(most, chunk.token_count)
            assert hit.start_index < chunk.end_index
            assert hit.end_index > chunk.start_index
        plain = store.search("harbour a b 1", budget)
        assert_hits_are_apart(plain, corpus, budget)
        assert all(hit.text in chunks[hit.source, hit.id].text for hit in plain)


FILLER = "Rain falls on the hills. " * 30
LONG = (
    f"# Islands\n\n{FILLER}\n\n## Ferry\n\nThe ferry leaves at nine.\n\n## Buses\n\n{FILLER}\n\n"
    f"{FILLER}Buses wait on the quay. {FILLER}\n\n```sh\nrun --bus\nstop --bus\n```\n\n{FILLER}"
)


@cases("searches", "parts")
def test_a_part_of_a_chunk_that_exceeds_the_budget_is_a_hit(
    query: str, budget: int, text: str | None
) -> None:
    with filled({"long.md": LONG}, max_tokens=4_000, overlap=0) as store:
        [chunk] = store.chunks()
        for expand in (None, 2_000):
            if text is None:
                assert store.search(query, budget, expand=expand) == []
                continue
            [hit] = store.search(query, budget, expand=expand)
            assert (hit.text, hit.part, hit.id) == (text, True, chunk.id)
            assert hit.text == LONG[hit.start_index : hit.end_index]
            assert hit.start_line == LONG.count("\n", 0, hit.start_index) + 1
            assert hit.end_line == LONG.count("\n", 0, hit.end_index) + 1
            assert hit.section[-1] == ("Ferry" if query.startswith("ferry") else "Buses")
            assert hit.anchor == hit.section[-1].lower()
        assert [hit.part for hit in store.search(query, 4_000)] == [False]


@pytest.mark.parametrize("whole", ["e" + chr(0x301) * 400, f"data:image/png;base64,{'iVBO' * 400}"])
def test_a_part_leaves_out_what_does_not_fit_and_warns_of_nothing(whole: str) -> None:
    text = f"# Ferry\n\nIt leaves at nine.\n\n{whole}\n"
    with filled({"a.md": text}, max_tokens=4_000, overlap=0) as store:
        [hit] = store.search("ferry nine", 20)
        assert (hit.text, hit.part) == ("# Ferry\n\nIt leaves at nine.", True)
    with filled({"a.md": f"e{chr(0x301) * 400}\n"}, max_tokens=4_000) as store:
        assert store.search(f"e{chr(0x301) * 400}", 20) == []


def test_smaller_hits_follow_a_part() -> None:
    corpus = {"a.md": "# Ferry\n\n## Ferry\n\n" + LONG, "b.md": "# Bus\n\nNo ferry.\n"}
    with filled(corpus, max_tokens=4_000, overlap=0) as store:
        hits = store.search("ferry", 60)
        assert [(hit.source, hit.part) for hit in hits] == [("a.md", True), ("b.md", False)]


def test_parts_need_a_known_counter() -> None:
    with filled({"long.md": LONG}, max_tokens=4_000, overlap=0, encoding=len) as store:
        assert store.search("ferry", 300) == []
        [hit] = store.search("ferry", 300, chunker=Chunker(encoding=len, max_tokens=4_000))
        assert hit.part
        assert len(hit.text) == hit.token_count <= 300


def test_a_part_of_a_cell_has_its_positions_in_the_cell() -> None:
    code = "level = 1\n" * 40 + "# The ferry\nferry = 2\n" + "level = 3\n" * 40
    cells = notebook(("markdown", LONG, "aa"), ("code", code, "bb"))
    with filled({"n.ipynb": cells}, max_tokens=4_000, overlap=0) as store:
        for cell, query in ((LONG, "nine"), (code, "ferry = 2")):
            [hit] = store.search(query, 30, limit=1)
            assert hit.part
            assert hit.text == cell[hit.start_index : hit.end_index]
            assert hit.start_line == cell.count("\n", 0, hit.start_index) + 1
            assert query in hit.text


SENTENCES = st.lists(
    st.integers(1, 12).map(lambda n: f"Ferry {'word ' * n}stops."), min_size=1, max_size=6
)


@given(
    st.lists(st.tuples(st.sampled_from(["", "# A ferry\n\n"]), SENTENCES), min_size=1, max_size=8),
    st.integers(1, 200),
    st.sampled_from([0, 0.3]),
)
def test_a_part_has_whole_sentences(
    blocks: list[tuple[str, list[str]]], budget: int, overlap: float
) -> None:
    text = "\n\n".join(heading + " ".join(sentences) for heading, sentences in blocks)
    with filled({"a.md": text}, max_tokens=100, overlap=overlap) as store:
        chunks = {chunk.id: chunk for chunk in store.chunks()}
        hits = store.search("ferry stops", budget)
        assert_hits_are_apart(hits, {"a.md": text}, budget)
        assert hits or budget < 17 + 8
        for hit in hits:
            chunk = chunks[hit.id]
            own = counter_of(ChunkConfig())(chunk.text[chunk.overlap :])
            assert hit.part == (hit.token_count < own)
            assert hit.text.endswith("stops.")
            assert hit.text.startswith(("Ferry", "# A ferry"))


def test_a_hit_names_its_anchor_and_grows() -> None:
    guide = (
        "# Guide\n\n## Install\n\nWith pip.\n\n## Use {#calls}\n\nCall it.\n\n# Notes\n\n## Install\n\n"
        "On a harbour.\n"
    )
    with filled({"guide.md": guide}, max_tokens=12, overlap=0, context="none") as store:
        anchors = [store.search(query)[0].anchor for query in ("pip", "call", "harbour")]
        assert anchors == ["install", "calls", "install-1"]
        [found] = store.search("pip", limit=1, expand=20)
        assert found.text == guide[: guide.index("\n\n# Notes")]
        assert (found.section[-1], found.anchor) == ("Install", "install")
        # The whole document fits: the other hits are in it already.
        assert [hit.text for hit in store.search("pip harbour", expand=99)] == [guide.strip()]
        same = store.read(chunk_id=found.id, max_tokens=20)
        assert same.text == found.text
        assert store.read(chunk_id=found.id).text in same.text
        with pytest.raises(StoreError, match="has no chunk 'none'"):
            store.read(chunk_id="none")
        with pytest.raises(ConfigError, match="source"):
            store.read()
        with pytest.raises(ConfigError, match="max_tokens=0"):
            store.read(chunk_id=found.id, max_tokens=0)
    with filled({"n.ipynb": notebook(*CELLS)}) as store:
        [hit] = store.search(next(store.chunks()).text, expand=500, limit=1)
        assert (hit.text, hit.anchor) == (next(store.chunks()).text, "")


def test_stored_documents_are_read() -> None:
    with filled(GUIDES) as store:
        assert list(store.outline()) == sorted(GUIDES)
        outline = store.outline("tests.md")
        assert outline.sections == Chunker().outline(GUIDES["tests.md"]).sections
        assert store.read("tests.md", "Run one test").text == "## Run one test\n\nGive `--filter`."
        [hit, *_] = store.search("filter")
        grown = store.outline(hit.source).expand(hit, max_tokens=100)
        assert grown.text == GUIDES["tests.md"].rstrip()
        with pytest.raises(StoreError, match=r"has no document 'test.md'; nearest: tests.md"):
            store.outline("test.md")
    with filled({"n.ipynb": notebook(*CELLS)}) as store:
        with pytest.raises(StoreError, match=r"n.ipynb is a notebook, which has no outline"):
            store.read("n.ipynb")
        assert store.update([("n.ipynb", notebook(*CELLS))], Chunker()).written == 0


# Several processes


def write_corpus(folder: Path, count: int, edition: int = 0) -> None:
    """``count`` documents; in each edition a third of them differ from the one before."""
    folder.mkdir(exist_ok=True)
    texts = list(CORPUS.values())
    for number in range(count):
        text = texts[number % len(texts)][:3_000]
        revision = edition if number % 3 == 0 else 0
        (folder / f"{number:04}.md").write_text(
            f"# Document {number}\n\nRevision {revision}.\n\n{text}", newline=""
        )


def digest_of(path: Path) -> str:
    with Store(str(path), read_only=True) as store:
        found = store.digest()
        assert digest(store.chunks()) == found
        return found


@pytest.mark.slow
@posix
def test_a_killed_run_leaves_the_old_state_or_the_new_one(tmp_path: Path) -> None:
    """Kill the indexer at random moments of a run; CHUNKAST_KILLS says how often."""
    kills = int(os.environ.get("CHUNKAST_KILLS", "8"))
    folder, path = tmp_path / "docs", tmp_path / "a.db"
    count = 150
    write_corpus(folder, count)
    started = time.monotonic()
    assert run("index", folder, "--db", path, "-q", cwd=tmp_path).returncode == 0
    seconds = time.monotonic() - started
    moments = random.Random(kills)
    interrupted = 0
    for edition in range(1, kills + 1):
        old = digest_of(path)
        write_corpus(folder, count, edition)
        with Store(":memory:", create=True) as expected:
            files = sorted(folder.iterdir())
            texts = ((f"docs/{file.name}", file.read_bytes().decode()) for file in files)
            new = expected.update(texts, INDEX_CHUNKER).digest
        with subprocess.Popen(
            command("index", folder, "--db", path, "-q"),
            env=environment(),
            stdout=subprocess.DEVNULL,
        ) as process:
            time.sleep(moments.uniform(0.1, seconds))
            process.send_signal(signal.SIGKILL)
        found = digest_of(path)
        assert found in (old, new)
        interrupted += found == old
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        done = run("index", folder, "--db", path, "-q", cwd=tmp_path)
        assert done.returncode == 0
        assert digest_of(path) == new
    assert interrupted, "no run was interrupted"


@pytest.mark.slow
def test_many_writers_and_readers_at_once(tmp_path: Path) -> None:
    folder, path = tmp_path / "docs", tmp_path / "a.db"
    write_corpus(folder, 60)
    assert run("index", folder, "--db", path, "-q", cwd=tmp_path).returncode == 0
    write_corpus(folder, 60, 1)
    files = sorted(folder.iterdir())
    expected = list(
        INDEX_CHUNKER.iter_chunks(
            (f"docs/{file.name}", file.read_bytes().decode()) for file in files
        )
    )
    writers = [
        subprocess.Popen(
            command("index", folder, "--db", path),
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]

    def search(seed: int) -> list[int]:
        words = random.Random(seed)
        found = []
        while any(writer.poll() is None for writer in writers):
            with Store(str(path), read_only=True) as store:
                query = words.choice(["ferry", "table", "harbour revision"])
                found.append(len(store.search(query)))
        return found

    with ThreadPoolExecutor(8) as readers:
        searches = readers.map(search, range(8))
        printed = [writer.communicate(timeout=300) for writer in writers]
        found = [count for counts in searches for count in counts]
    assert min(found) > 0
    assert [writer.returncode for writer in writers] == [0, 0, 0, 0]
    # Each waits for the ones before; the first does the work, the others find it done.
    plans = sorted(out.decode().splitlines()[0] for out, _ in printed)
    total = len(expected)
    assert plans[0].startswith(f"added 0, changed 0, unchanged {total:,}")
    assert plans.count(f"added 0, changed 0, unchanged {total:,}, removed 0, moved 0") == 3
    with Store(str(path), read_only=True) as store:
        assert list(store.chunks()) == expected


@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_a_run_that_waits_says_so_unless_it_is_to_be_quiet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet: list[str]
) -> None:
    write_corpus(tmp_path / "docs", 2)
    assert run("index", "docs", "--db", "a.db", cwd=tmp_path).returncode == 0
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        thread = threading.get_ident()

        def rest(_seconds: float) -> None:
            """The other run ends while this one waits; a package's own threads may sleep too."""
            if threading.get_ident() == thread and other.in_transaction:
                other.execute("ROLLBACK")

        monkeypatch.setattr(time, "sleep", rest)
        done = run("index", "docs", "--db", "a.db", *quiet, cwd=tmp_path)
        assert done.returncode == 0
        assert not other.in_transaction, "it did not wait"
    note = b"chunkast: note: a.db: waiting for another run that writes to it\n"
    assert done.stderr == b"" if quiet else note in done.stderr


# The commands


def write_islands(folder: Path) -> None:
    folder.mkdir()
    for name, text in ISLANDS.items():
        (folder / name).write_text(text, "utf-8")


def test_the_commands_index_search_and_quote(tmp_path: Path) -> None:
    write_islands(tmp_path / "docs")
    done = run("index", "docs", "--db", "a.db", "--dry-run", cwd=tmp_path)
    assert done.stdout.decode().startswith("added 4, ")
    assert not (tmp_path / "a.db").exists()
    done = run("index", "docs", "--db", "a.db", cwd=tmp_path)
    assert done.returncode == 0
    first, embed = done.stdout.decode().splitlines()
    assert first == "added 4, changed 0, unchanged 0, removed 0, moved 0"
    assert embed == "embed 4, reuse 0"
    assert done.stderr.decode().startswith("4 files, 4 new or changed, ")

    done = run("search", "who", "sells", "soup?", "--db", "a.db", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.decode().startswith("docs/huts.md:1-7  21 tokens  Huts  #huts\n\n# Huts\n")
    done = run("search", "soup", "--db", "a.db", "--format", "json", cwd=tmp_path)
    assert b'"source": "docs/huts.md"' in done.stdout
    done = run("search", "zebra", "--db", "a.db", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")

    done = run("quote", "costs ten  crowns", "--db", "a.db", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.decode().startswith("docs/huts.md:7-7  characters 40-56  ")
    done = run("quote", "-", "--db", "a.db", stdin=b"costs nine crowns", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert errors(done.stderr) == ["chunkast: error: a.db: the quote is in none of its documents"]

    (tmp_path / "docs" / "huts.md").unlink()
    done = run("index", "docs", "--db", "a.db", "--dry-run", "--format", "json", cwd=tmp_path)
    told = json.loads(done.stdout)
    assert len(told["removed"]) == 1
    # A dry run leaves the index as it was.
    assert told["digest"] != digest_of(tmp_path / "a.db")
    quiet = run("index", "docs", "--db", "a.db", "-q", cwd=tmp_path)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, b"", b"")
    assert told["digest"] == digest_of(tmp_path / "a.db")


def test_what_cannot_be_read_stays_as_it_was(tmp_path: Path) -> None:
    write_islands(tmp_path / "docs")
    run("index", "docs", "--db", "a.db", cwd=tmp_path)
    before = digest_of(tmp_path / "a.db")
    (tmp_path / "docs" / "huts.md").write_bytes(b"# Huts \xff")
    done = run("index", "docs", "--db", "a.db", cwd=tmp_path)
    assert done.returncode == 1
    assert len(errors(done.stderr)) == 1
    assert done.stdout.decode().startswith("added 0, changed 0, unchanged 4, removed 0")
    assert digest_of(tmp_path / "a.db") == before
    # An empty folder may be one that is not mounted.
    for file in (tmp_path / "docs").iterdir():
        file.unlink()
    done = run("index", "docs", "--db", "a.db", cwd=tmp_path)
    assert done.returncode == 1
    assert digest_of(tmp_path / "a.db") == before


def test_another_folder_does_not_take_the_place_of_the_first(tmp_path: Path) -> None:
    write_islands(tmp_path / "docs")
    run("index", "docs", "--root", "docs", "--db", "a.db", cwd=tmp_path)
    (tmp_path / "docs").rename(tmp_path / "moved")
    done = run("index", "moved", "--root", "moved", "--db", "a.db", cwd=tmp_path)
    assert done.stdout.decode().startswith("added 0, changed 0, unchanged 4, removed 0")
    write_corpus(tmp_path / "other", 3)
    done = run("index", "other", "--db", "a.db", cwd=tmp_path)
    assert done.returncode == 2
    (message,) = errors(done.stderr)
    assert f"other: outside the root {tmp_path}/moved, " in message
    assert "--root" in message
    done = run("index", "other", "--root", "other", "--db", "a.db", cwd=tmp_path)
    assert done.returncode == 1
    (message,) = errors(done.stderr)
    assert "4 documents would be removed" in message
    done = run("index", "other", "--root", "other", "--db", "a.db", "--replace", cwd=tmp_path)
    assert done.returncode == 0
    assert b"removed 4" in done.stdout


@cases("usage", "wrong")
def test_wrong_usage_is_told_in_one_line(
    tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    write_islands(tmp_path / "docs")
    done = run(*(each.replace("HUGE", "9" * 5_000) for each in arguments), cwd=tmp_path)
    assert done.returncode == code
    assert done.stdout == b""
    (line,) = errors(done.stderr)
    assert message in line
    assert not (tmp_path / "a.db").exists()


def test_the_nearest_database_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CHUNKAST_DB", raising=False)
    (tmp_path / ".git").mkdir()
    write_islands(tmp_path / "docs")
    made = tmp_path / ".chunkast.db"
    done = run("index", "docs", "--dry-run", cwd=tmp_path)
    assert (done.returncode, made.exists(), b"made" in done.stderr) == (0, False, False)
    done = run("index", "docs", cwd=tmp_path)
    assert done.stderr.decode().startswith(f"chunkast: note: made {made}\n")
    inside = tmp_path / "docs" / "inside"
    inside.mkdir()
    (inside / "own.md").write_bytes(b"# Own\n\nHere only.\n")
    found = b"docs/huts.md"
    for cwd in (tmp_path, inside):
        assert run("search", "soup", cwd=cwd).stdout.startswith(found)
        assert run("quote", "costs ten crowns", cwd=cwd).stdout.startswith(found)
        assert found in run("outline", cwd=cwd).stdout
        for source in ("docs/huts.md", tmp_path / "docs" / "huts.md"):
            assert b"costs ten crowns" in run("read", source, cwd=cwd).stdout
        assert run("index", "--verify", cwd=cwd).stdout == b""
    # A file comes before a document of that name, unless the index is given.
    assert b"Here only." in run("read", "own.md", cwd=inside).stdout
    done = run("read", "own.md", "--db", made, cwd=inside)
    assert f"{made}: has no document 'own.md'" in errors(done.stderr)[0]
    # It is no document, in any folder.
    for copy in (inside / made.name, inside / f"{made.name}-wal"):
        copy.write_bytes(made.read_bytes())
    done = run("chunk", ".", *inside.iterdir(), "--include", "*", "--no-ignore", cwd=tmp_path)
    assert (done.returncode, *errors(done.stderr)) == (0,)
    assert ".chunkast.db-wal: an index of chunkast" in done.stderr.decode()
    (inside / made.name).unlink()
    done = run("index", cwd=inside)
    assert done.stdout.decode().startswith("added 1, changed 0, unchanged 4, ")
    assert done.stderr.decode().startswith(f"chunkast: note: updated {made}\n")
    monkeypatch.setenv("CHUNKAST_DB", str(tmp_path / "other.db"))
    done = run("search", "soup", cwd=tmp_path)
    assert errors(done.stderr)[0].endswith("'chunkast index PATHS' makes one")
    assert run("index", "own.md", cwd=inside).returncode == 0
    assert run("search", "soup", cwd=tmp_path).returncode == 1
    assert run("search", "soup", "--db", made, cwd=inside).returncode == 0
    done = run("search", "soup", "--db", ".chunkast.db", cwd=inside)
    assert errors(done.stderr)[0].endswith("'chunkast index PATHS --db .chunkast.db' makes one")


def test_an_empty_file_is_filled_and_a_run_without_files_makes_none(tmp_path: Path) -> None:
    write_islands(tmp_path / "docs")
    (tmp_path / "empty.db").touch()
    done = run("index", "docs", "--db", "empty.db", cwd=tmp_path)
    assert (done.returncode, *errors(done.stderr)) == (0,)
    done = run("index", "typo", cwd=tmp_path)
    assert done.returncode == 1
    assert b"made" not in done.stderr
    assert not (tmp_path / ".chunkast.db").exists()


@posix
def test_a_file_that_cannot_be_written_stays_as_it_is() -> None:
    # A folder that every user may enter, since root may write to any file.
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_islands(folder / "docs")
        assert run("index", "docs", cwd=folder).returncode == 0
        with (folder / "docs" / "huts.md").open("a") as file:
            file.write("\nMore.\n")
        data = (folder / ".chunkast.db").read_bytes()
        is_root = os.geteuid() == 0
        for file_mode, mode in ((0o444, 0o777), (0o444, 0o555), (0o644, 0o555)):
            (folder / ".chunkast.db").chmod(file_mode)
            folder.chmod(mode)
            if is_root:
                os.seteuid(65_534)
            try:
                searching = run("search", "soup", cwd=folder)
                writing = run("index", cwd=folder)
            finally:
                if is_root:
                    os.seteuid(0)
            assert searching.returncode == 0
            assert writing.returncode == 1
            assert "readonly" in errors(writing.stderr)[0]
            assert (folder / ".chunkast.db").read_bytes() == data
        folder.chmod(0o755)


@linux
def test_a_run_in_a_folder_whose_name_is_not_utf_8_is_repeated(tmp_path: Path) -> None:
    here = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    here.mkdir()
    write_islands(here / "docs")
    assert run("index", "docs", "--db", "../a.db", cwd=here).returncode == 0
    (here / "docs" / "huts.md").unlink()
    done = run("index", "--db", "a.db", cwd=tmp_path)
    assert done.stdout.decode().startswith("added 0, changed 0, unchanged 3, removed 1, ")
    done = run("index", "docs", "--db", "../a.db", cwd=here)
    assert done.stdout.decode().startswith("added 0, changed 0, unchanged 3, removed 0, ")


def test_another_version_is_refused_and_an_older_one_rebuilt(tmp_path: Path) -> None:
    write_islands(tmp_path / "docs")
    assert run("index", "docs", "--db", "a.db", cwd=tmp_path).returncode == 0
    path = str(tmp_path / "a.db")

    def set_version(version: int) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA user_version = {version}")

    set_version(VERSION + 1)
    for options in ({}, {"create": True}, {"read_only": True}):
        with pytest.raises(StoreError, match=rf"newer chunkast: .* {VERSION + 1}, this one reads"):
            Store(path, **options)
    set_version(VERSION - 1)
    done = run("search", "soup", "--db", "a.db", cwd=tmp_path)
    assert "'chunkast index PATHS --db a.db' rebuilds it" in errors(done.stderr)[0]
    done = run("index", "docs", "--db", "a.db", cwd=tmp_path)
    # The positions in an older index are not compared.
    assert done.stdout.startswith(b"added 0, changed 0, unchanged 4, removed 0, moved 4\nembed 0,")
    assert b"note: a.db: rebuilt, because its schema has version" in done.stderr
    assert run("search", "soup", "--db", "a.db", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("version", [4, 5])
def test_an_index_of_an_earlier_release_is_rebuilt(tmp_path: Path, version: int) -> None:
    path = tmp_path / "older.db"
    path.write_bytes((DOCUMENTS.parent / "databases" / f"version-{version}.db").read_bytes())
    with pytest.raises(StoreError, match="older chunkast"):
        Store(str(path), read_only=True)
    with Store(str(path)) as store:
        for dry_run in (True, False):
            report = store.update(ISLANDS.items(), Chunker(), dry_run=dry_run)
            assert str(report) == "added 0, changed 0, unchanged 4, removed 0, moved 4"
            assert (report.embed, len(report.faults)) == ([], 1)
        assert store.faults() == []
        assert store.read("huts.md").text == ISLANDS["huts.md"].rstrip()


# The file, as other programs read it


def test_a_view_has_the_text_of_each_chunk(tmp_path: Path) -> None:
    corpus = {**BEGINNINGS, "odd \ud800.md": "# \U0001f30a\r\n\r\nA \udfff\r\nand é.\r\n" * 40}
    with Store(str(tmp_path / "a.db"), create=True) as store:
        pairs: list[tuple[str, Any]] = [*corpus.items()]
        pairs.append(("book.ipynb", read_notebook(notebook(*CELLS), "book.ipynb")))
        store.update(pairs, Chunker(max_tokens=60))
        chunks = list(store.chunks())
    expected = [
        (c.id, c.index, c.start_index, c.end_index, c.start_line, c.end_line, c.text)
        for c in chunks
    ]
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        columns = "id, position, start_index, end_index, start_line, end_line, text"
        query = f"SELECT {columns} FROM chunk_texts ORDER BY source, position"  # noqa: S608
        assert connection.execute(query).fetchall() == expected
        lists = connection.execute("SELECT headings FROM chunk_texts ORDER BY source, position")
        assert [tuple(json.loads(each)) for (each,) in lists] == [c.headings for c in chunks]
        # Only what is no slice of its document is stored again.
        query = "SELECT DISTINCT source FROM chunks JOIN documents ON document = documents.number"
        own = connection.execute(f"{query} WHERE chunks.text IS NOT NULL").fetchall()
        nul = {(without_surrogates(name),) for name, text in corpus.items() if "\0" in text}
        assert {*own} == {("book.ipynb",), *nul}


def test_a_text_with_a_nul_is_whole_in_the_view(tmp_path: Path) -> None:
    text = "# A\0B\n\nOne \0 two.\n\n# C\n\nThree.\n"
    with Store(str(tmp_path / "a.db"), create=True) as store:
        store.update([("a.md", text)], Chunker(max_tokens=12, min_tokens=0, overlap=0))
        texts = [chunk.text for chunk in store.chunks()]
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        stored = connection.execute("SELECT text FROM chunk_texts ORDER BY position")
        assert [each for (each,) in stored] == texts
    assert "".join(texts).count("\0") == 2


def test_the_text_of_a_document_is_read_once_for_its_chunks() -> None:
    texts = {name: "".join(f"# T{n}\n\nSoup {n}.\n\n" for n in range(200)) for name in "ab"}
    with filled(texts, max_tokens=12, min_tokens=0, overlap=0) as store:
        statements: list[str] = []
        store._connection.set_trace_callback(statements.append)
        assert len(list(store.chunks())) == 400
        assert store.faults() == []
        assert len(store.search("soup", limit=50)) == 50
        read = [each for each in statements if "SELECT text FROM documents" in each]
        assert len(read) <= 8


# What an index remembers


def test_a_new_index_has_its_own_default_and_an_old_one_keeps_its_options(tmp_path: Path) -> None:
    write(tmp_path, {"docs/long.md": LONG})
    old = tmp_path / "old.db"
    with Store(str(old), create=True) as store:
        store.update([("docs/long.md", LONG)], Chunker())
    runs: tuple[tuple[str, tuple[str, ...], Chunker], ...] = (
        ("old.db", (), Chunker()),
        ("new.db", (), INDEX_CHUNKER),
        ("other.db", ("--max-tokens", "300"), Chunker(max_tokens=300, overlap=0)),
        ("chunk.db", ("--max-tokens", "900", "--overlap", "0.15"), Chunker()),
    )
    for name, options, chunker in runs:
        done = run("index", "docs", "--db", name, *options, cwd=tmp_path)
        assert (done.returncode, b"changes from" in done.stderr) == (0, False)
        with Store(str(tmp_path / name), read_only=True) as store:
            assert list(store.chunks()) == chunker.chunk(LONG, "docs/long.md")
    done = run("index", "docs", "--db", "old.db", "--replace", cwd=tmp_path)
    assert b"max_tokens changes from 900 to 256, overlap changes from 0.15 to 0: " in done.stderr


def test_a_run_without_paths_repeats_the_last_one(tmp_path: Path) -> None:
    write_islands(tmp_path / "docs")
    write(tmp_path, {"docs/skip.md": "# Skip\n", "docs/more.rst": "More\n", "else/where.md": "W\n"})
    index = ("index", "--db", tmp_path / "a.db")
    selection = ("--include", "*.md", "--exclude", "skip.md", "--packing", "fill")
    done = run(*index, "docs", "--max-tokens", 12, "--set", "decay=0.5", *selection, cwd=tmp_path)
    assert done.returncode == 0
    before = digest_of(tmp_path / "a.db")
    for paths in ((), ("docs",)):
        done = run(*index, *paths, cwd=tmp_path if paths else tmp_path / "else")
        assert done.stdout.decode().endswith("embed 0, reuse 0\n")
        assert digest_of(tmp_path / "a.db") == before
        assert b"4 files, 0 new or changed" in done.stderr
        assert b"changes from" not in done.stderr
    # A given option replaces one that is remembered, and is remembered itself.
    done = run(*index, "--max-tokens", 24, "--format", "json", cwd=tmp_path / "else")
    embed = len(json.loads(done.stdout)["embed"])
    note = f"note: max_tokens changes from 12 to 24: {embed} texts to embed again"
    assert embed
    assert note in done.stderr.decode()
    chunker = Chunker(max_tokens=24, packing="fill", decay=0.5)
    with Store(str(tmp_path / "a.db"), read_only=True) as store:
        assert list(store.chunks("docs/huts.md")) == chunker.chunk(
            ISLANDS["huts.md"], "docs/huts.md"
        )
    # Documents outside other paths are kept; --replace forgets all of it.
    done = run(*index, "else", cwd=tmp_path)
    assert done.returncode == 1
    assert "4 documents would be removed" in errors(done.stderr)[0]
    done = run(*index, "else", "--replace", cwd=tmp_path)
    assert b"1 file, 1 new or changed" in done.stderr
    assert "max_tokens changes from 24 to 256" in done.stderr.decode()
    # What is gone stays in the index, as it may be on a disk that is not mounted.
    (tmp_path / "else").rename(tmp_path / "moved")
    done = run(*index, cwd=tmp_path)
    assert done.returncode == 1
    assert "else: no such file or folder" in errors(done.stderr)[0]
    assert b"unchanged 1, removed 0" in done.stdout


def test_readers_use_the_options_of_the_index(tmp_path: Path) -> None:
    text = "1. One\n\n**Two**\n\nText.\n"
    write(tmp_path, {"a.md": text, "tools.json": '[{"name": "add", "parameters": {}}]'})
    index = ("index", "a.md", "--db", "a.db", "--encoding", "o200k_base")
    calls = ("--tools", "tools.json", "--protocol", "json", "--protocol", "hermes")
    assert run(*index, *calls, "--set", "pseudo_headings=true", cwd=tmp_path).returncode == 0
    with Store(str(tmp_path / "a.db"), read_only=True) as store:
        chunker = store.chunker(extensions=("tables",))
        assert chunker.config.pseudo_headings
        assert [tool.name for tool in chunker.config.tools] == ["add"]
        assert chunker.config.protocols == ("hermes", "json")
        assert chunker.config.extensions == ("tables",)
        assert chunker.counter.name == "o200k_base"
        assert store.chunker(model="gpt-4").counter.name == "cl100k_base"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_tokens": 256, "overlap": 0},
        {"chunk_size": 64, "chunk_overlap": 8, "encoding": "o200k_base"},
        {"max_tokens": 48, "min_tokens": 0, "packing": "fill", "scores": {"h1": 7}, "window": 9},
        {"context": "title", "front_matter_keys": ("a", "b"), "extensions": ("tables",)},
        {"tools": {"add": {}}, "protocols": ("json",), "trim": False},
    ],
)
def test_the_chunker_of_an_index_changes_nothing_in_it(options: dict[str, Any]) -> None:
    with filled(ISLANDS, **options) as store:
        settings = store.settings()
        assert store.update(ISLANDS.items(), store.chunker()).written == 0
        assert store.settings() == settings
        budget = store.chunker().config.budget
        assert store.chunker(max_tokens=budget + 9).config.budget == budget + 9
        # A reader needs no budget of the index.
        assert store.chunker(reading=True).config.budget == Chunker().config.budget
        assert store.chunker(reading=True).counter.name == store.chunker().counter.name


def test_a_chunker_with_heuristics_needs_them() -> None:
    heuristic: Heuristic[Any, Any] = Heuristic("test.nothing", "post-parse", lambda _draft: None)
    with filled(ISLANDS, heuristics=(heuristic,), max_tokens=64) as store:
        with pytest.raises(ConfigError, match=r"heuristics='test\.nothing'"):
            store.chunker()
        chunker = store.chunker(heuristics=(heuristic,))
        assert store.update(ISLANDS.items(), chunker).written == 0
        assert store.chunker(reading=True).config.heuristics == ()
        assert store.outline("huts.md")
        assert store.search("soup", expand=50)
