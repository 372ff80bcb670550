"""What edits of a folder cost in each framework's store, and what its positions say afterwards.

``python -m tests.bench.edits DIR`` brings the stores of LangChain, LlamaIndex, Haystack and
``chunkast index`` up to date after edits of the Markdown in DIR, one at a time, each made on the
state before. Needs the frameworks; one that is not installed is left out::

    pip install 'chunkast[langchain,llama-index,haystack,stores]'
"""

from __future__ import annotations

import argparse
import io
import json
import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Final, Protocol

from chunkast import Chunker, content_hash, plan_writes
from chunkast.cli.main import main as command
from chunkast.index import Store
from tests.bench.tables import Cell, Table, as_markdown

Pages = dict[str, str]
Vector = list[float]
# A word of prose, on a line that is no heading, no table and no code as far as one can see.
_WORD: Final = re.compile(r"^[A-Z][^|#`<>\n]*? ([a-z]{4,}) ", re.MULTILINE)
_SECTION: Final = re.compile(r"^## ", re.MULTILINE)
_TITLE: Final = re.compile(r"^# (.+)$", re.MULTILINE)
_FRONT_MATTER: Final = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


class Model:
    """Stands for a model: a vector is the hash of its text, and every text is noted."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: Sequence[str]) -> list[Vector]:
        self.texts += texts
        return [vector_of(text) for text in texts]


def vector_of(text: str) -> Vector:
    """A vector that differs where the texts do, white space aside."""
    return [float(byte) for byte in bytes.fromhex(content_hash(text)[:16])]


class System(Protocol):
    """A store with what keeps it up to date."""

    model: Model
    # Whether vectors are kept of texts that are stored no more.
    remembers: bool

    def synchronize(self, pages: Pages) -> int:
        """Bring it up to date; how many rows were written."""

    def rows(self) -> Iterator[tuple[str, int | None, int | None, str, str, Vector]]:
        """Source, start, end, text, embedded text and vector of all that is stored."""


class LangChain:
    """``index`` with a record manager, and with a cache of vectors where that is wanted."""

    def __init__(self, budget: int, *, cache: bool, positions: bool = False) -> None:
        from langchain_classic.embeddings import CacheBackedEmbeddings
        from langchain_classic.indexes import SQLRecordManager
        from langchain_core.embeddings import Embeddings
        from langchain_core.stores import InMemoryByteStore
        from langchain_core.vectorstores import InMemoryVectorStore

        from chunkast.adapters.langchain import ChunkastTextSplitter

        self.model = model = Model()
        self.remembers = cache

        class Embedder(Embeddings):  # type: ignore[misc] # it is not looked at
            def embed_documents(self, texts: list[str]) -> list[Vector]:
                return model(texts)

            def embed_query(self, text: str) -> Vector:
                return vector_of(text)

        embedder = Embedder()
        if cache:
            embedder = CacheBackedEmbeddings.from_bytes_store(
                embedder, InMemoryByteStore(), namespace="model", key_encoder="sha256"
            )
        self.positions = positions
        self.splitter = ChunkastTextSplitter(
            max_tokens=budget, content="embed_text", add_start_index=positions
        )
        self.store = InMemoryVectorStore(embedder)
        self.records = SQLRecordManager("bench", db_url="sqlite://")
        self.records.create_schema()

    def synchronize(self, pages: Pages) -> int:
        from langchain_core.documents import Document
        from langchain_core.indexing import index

        parts = self.splitter.split_documents(
            Document(text, metadata={"source": name}) for name, text in pages.items()
        )
        done = index(
            parts,
            self.records,
            self.store,
            cleanup="incremental",
            source_id_key="source",
            key_encoder="sha256",
            batch_size=len(parts),
        )
        # A file that is gone is not among the sources that "incremental" looks at.
        gone = [id_ for id_, r in self.store.store.items() if r["metadata"]["source"] not in pages]
        self.store.delete(gone)
        self.records.delete_keys(gone)
        return int(done["num_added"])

    def rows(self) -> Iterator[tuple[str, int | None, int | None, str, str, Vector]]:
        for row in self.store.store.values():
            about = row["metadata"]
            place = (about.get("start_index"), about.get("end_index"))
            yield about["source"], *place, about["text"], row["text"], row["vector"]


class LlamaIndex:
    """An ``IngestionPipeline`` into Qdrant, with ``EmbedOnce`` in the place of the model."""

    def __init__(self, budget: int) -> None:
        from llama_index.core.base.embeddings.base import BaseEmbedding
        from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
        from llama_index.core.storage.docstore import SimpleDocumentStore
        from llama_index.vector_stores.qdrant import QdrantVectorStore
        from qdrant_client import QdrantClient

        from chunkast.adapters.llama_index import ChunkastNodeParser, EmbedOnce

        self.model = model = Model()
        self.remembers = True

        class Embedder(BaseEmbedding):  # type: ignore[misc] # it is not looked at
            def _get_text_embeddings(self, texts: list[str]) -> list[Vector]:
                return model(texts)

            def _get_text_embedding(self, text: str) -> Vector:
                return model([text])[0]

            def _get_query_embedding(self, query: str) -> Vector:
                return vector_of(query)

            async def _aget_query_embedding(self, query: str) -> Vector:
                return vector_of(query)

        self.client = QdrantClient(":memory:")
        self.pipeline = IngestionPipeline(
            transformations=[
                ChunkastNodeParser(max_tokens=budget, uuid_ids=True),
                EmbedOnce(embed_model=Embedder()),
            ],
            vector_store=QdrantVectorStore("bench", client=self.client),
            docstore=SimpleDocumentStore(),
            docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
        )

    def synchronize(self, pages: Pages) -> int:
        from llama_index.core import Document

        documents = [
            Document(
                text=text,
                id_=name,
                metadata={"file_path": name, "project": "bench"},
                # Or a renamed file would be another text.
                excluded_embed_metadata_keys=["file_path"],
            )
            for name, text in pages.items()
        ]
        return len(self.pipeline.run(documents=documents))

    def rows(self) -> Iterator[tuple[str, int | None, int | None, str, str, Vector]]:
        from llama_index.core.schema import MetadataMode
        from llama_index.core.vector_stores.utils import metadata_dict_to_node

        points, _ = self.client.scroll("bench", limit=10**6, with_payload=True, with_vectors=True)
        for point in points:
            node = metadata_dict_to_node(point.payload)
            named = point.vector
            vector = named if isinstance(named, list) else next(iter(named.values()))
            place = (node.start_char_idx, node.end_char_idx)
            embedded = node.get_content(MetadataMode.EMBED)
            yield node.ref_doc_id, *place, node.text, embedded, vector


class Haystack:
    """A document store that follows plans, as in the example."""

    def __init__(self, budget: int) -> None:
        from haystack.components.embedders import MockDocumentEmbedder
        from haystack.document_stores.in_memory import InMemoryDocumentStore

        from chunkast.adapters.haystack import ChunkastDocumentSplitter

        self.model = Model()
        self.remembers = False
        self.splitter = ChunkastDocumentSplitter(max_tokens=budget)
        self.embedder = MockDocumentEmbedder(
            embedding_fn=lambda text: self.model([text])[0],
            meta_fields_to_embed=["embed_prefix"],
            embedding_separator="",
        )
        self.store = InMemoryDocumentStore()

    def synchronize(self, pages: Pages) -> int:
        from dataclasses import replace

        from haystack import Document
        from haystack.document_stores.types import DuplicatePolicy

        given = [Document(content=text, meta={"file_path": name}) for name, text in pages.items()]
        current = {part.id: part for part in self.splitter.run(given)["documents"]}
        prior = {part.id: part for part in self.store.filter_documents()}
        plan = plan_writes(
            ({"id": id_, **part.meta} for id_, part in current.items()),
            ({"id": id_, **part.meta} for id_, part in prior.items()),
        )
        new = self.embedder.run([current[id_] for id_ in plan.embed])["documents"]
        vectors = {id_: part.embedding for id_, part in prior.items()}
        vectors |= plan.vectors(vectors, {part.id: part.embedding for part in new})
        written = [
            replace(current[id_], embedding=vectors[id_])
            for id_ in (*plan.added, *plan.changed, *plan.moved)
        ]
        self.store.delete_documents([*plan.removed])
        self.store.write_documents(written, DuplicatePolicy.OVERWRITE)
        return len(written)

    def rows(self) -> Iterator[tuple[str, int | None, int | None, str, str, Vector]]:
        for part in self.store.filter_documents():
            about, text = part.meta, part.content
            place = (about["start_index"], about["end_index"])
            yield about["file_path"], *place, text, about["embed_prefix"] + text, part.embedding


class Index:
    """``chunkast index`` on files, and vectors beside it that follow what it prints."""

    def __init__(self, budget: int, folder: Path) -> None:
        self.model = Model()
        self.remembers = False
        self.folder, self.database, self.budget = folder / "docs", folder / "chunks.db", budget
        self.vectors: dict[str, Vector] = {}
        self.pages: Pages = {}

    def synchronize(self, pages: Pages) -> int:
        for name in self.pages.keys() - pages.keys():
            (self.folder / name).unlink()
        for name, text in pages.items():
            if self.pages.get(name) != text:
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode())
        self.pages = dict(pages)
        options = ("--max-tokens", str(self.budget), "--format", "json", "-q", "--no-ignore")
        with redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")) as printed:
            code = command(["index", str(self.folder), "--db", str(self.database), *options])
            printed.seek(0)
            report = json.loads(printed.read())
        assert code == 0
        with Store(str(self.database), read_only=True) as store:
            texts = {chunk.id: chunk.embed_text for chunk in store.chunks()}
        new = dict(
            zip(report["embed"], self.model([texts[i] for i in report["embed"]]), strict=True)
        )
        found = {
            i: (new if i in report["repeats"] else self.vectors)[h]
            for i, h in report["reuse"].items()
        }
        for id_ in report["removed"]:
            del self.vectors[id_]
        self.vectors |= new | found
        return len(report["added"]) + len(report["changed"]) + len(report["moved"])

    def rows(self) -> Iterator[tuple[str, int | None, int | None, str, str, Vector]]:
        with Store(str(self.database), read_only=True) as store:
            for chunk in store.chunks():
                place = (chunk.start_index, chunk.end_index)
                vector = self.vectors[chunk.id]
                yield chunk.source or "", *place, chunk.text, chunk.embed_text, vector


SYSTEMS: Final[Mapping[str, Callable[[int, Path], System]]] = {
    "LangChain index()": lambda budget, _: LangChain(budget, cache=False),
    "LangChain index(), cached vectors": lambda budget, _: LangChain(budget, cache=True),
    "the same with positions": lambda budget, _: LangChain(budget, cache=True, positions=True),
    "LlamaIndex IngestionPipeline": lambda budget, _: LlamaIndex(budget),
    "Haystack with plan_writes": lambda budget, _: Haystack(budget),
    "chunkast index": Index,
}


# Edits: each takes the pages, gives others, and may find nothing to do.


def _body(text: str) -> int:
    """Where a document begins after its front matter."""
    front = _FRONT_MATTER.match(text)
    return front.end() if front else 0


def line_at_top(pages: Pages, chance: random.Random, number: int) -> Pages:
    name = chance.choice([*pages])
    text = pages[name]
    at = _body(text)
    line = f"Sentence number {number} was put here, before all that follows.\n\n"
    return {**pages, name: text[:at] + line + text[at:]}


def changed_word(pages: Pages, chance: random.Random, number: int) -> Pages:
    name = chance.choice([*pages])
    found = [*_WORD.finditer(pages[name], _body(pages[name]))]
    if not found:
        return pages
    start, end = chance.choice(found).span(1)
    return {**pages, name: pages[name][:start] + f"word{number}" + pages[name][end:]}


def renamed_file(pages: Pages, chance: random.Random, number: int) -> Pages:
    name = chance.choice([*pages])
    path = Path(name)
    other = path.with_name(f"renamed-{number}{path.suffix}").as_posix()
    return {other if n == name else n: text for n, text in pages.items()}


def renamed_title(pages: Pages, chance: random.Random, number: int) -> Pages:
    name = chance.choice([*pages])
    title = _TITLE.search(pages[name], _body(pages[name]))
    if title is None:
        return pages
    start, end = title.span(1)
    return {**pages, name: pages[name][:start] + f"Title {number}" + pages[name][end:]}


def new_section(pages: Pages, chance: random.Random, number: int) -> Pages:
    name = chance.choice([*pages])
    places = [match.start() for match in _SECTION.finditer(pages[name])][1:]
    if not places:
        return pages
    at = places[len(places) // 2]
    section = f"## Section {number}\n\n" + f"What section {number} says is new here. " * 12 + "\n\n"
    return {**pages, name: pages[name][:at] + section + pages[name][at:]}


def nothing(pages: Pages, _chance: random.Random, _number: int) -> Pages:
    return dict(pages)


Edit = Callable[[Pages, random.Random, int], Pages]
EDITS: Final[Mapping[str, tuple[Edit, int]]] = {
    "(a) a line at the top": (line_at_top, 50),
    "(b) a changed word": (changed_word, 50),
    "(c) a renamed file": (renamed_file, 10),
    "(d) a renamed H1": (renamed_title, 10),
    "(e) a new section": (new_section, 10),
    "(f) nothing": (nothing, 2),
}


def measure(
    name: str, pages: Pages, budget: int, times: Callable[[int], int] = lambda n: n
) -> Iterator[tuple[Cell, ...]]:
    """A row for each kind of edit, of which ``times(n)`` are made where ``n`` are usual.

    Raises ``AssertionError`` where a store differs from what a fresh one would have: a text or a
    vector that is not the current one, or a position that does not cite its text.
    """
    with TemporaryDirectory(prefix="chunkast-bench-") as folder:
        system = SYSTEMS[name](budget, Path(folder))
        written = system.synchronize(pages)
        state = _checked(system, pages, budget)
        seen = set(state)
        yield (
            name,
            "first run",
            1,
            len(system.model.texts),
            None,
            len(state),
            written,
            _cited(system),
        )
        for kind, (edit, count) in EDITS.items():
            # The same edits for every system.
            chance = random.Random(kind)
            embedded: list[int] = []
            new: list[int] = []
            rewritten: list[int] = []
            while len(embedded) < times(count):
                after = edit(pages, chance, len(embedded))
                if after == pages and edit is not nothing:
                    continue
                pages = after
                system.model.texts.clear()
                rewritten.append(system.synchronize(pages))
                before, state = state, _checked(system, pages, budget)
                embedded.append(len(system.model.texts))
                new.append(len(state - (seen if system.remembers else before)))
                seen |= state
            equal = sum(e == n for e, n in zip(embedded, new, strict=True))
            yield (
                name,
                kind,
                len(embedded),
                mean(embedded),
                max(embedded),
                mean(new),
                mean(rewritten),
                f"{equal} of {len(new)}",
            )


def _checked(system: System, pages: Pages, budget: int) -> set[str]:
    """The hashes of what is embedded, once everything stored is what it has to be."""
    rows = [*system.rows()]
    for source, start, end, text, embedded, vector in rows:
        assert start is None or pages[source][start:end] == text, (source, start)
        assert [round(part) for part in vector] == vector_of(embedded) or _parallel(
            vector, vector_of(embedded)
        ), source
    if not isinstance(system, LlamaIndex):  # whose budget counts its metadata
        fresh = Chunker(max_tokens=budget).iter_chunks(pages.items())
        assert sorted((c.source or "", c.text) for c in fresh) == sorted((r[0], r[3]) for r in rows)
    return {content_hash(row[4]) for row in rows}


def _parallel(one: Vector, other: Vector) -> bool:
    """Whether a store that keeps vectors of length 1 has this one."""
    length = sum(part * part for part in other) ** 0.5 or 1.0
    return all(abs(a - b / length) < 1e-3 for a, b in zip(one, other, strict=True))


def _cited(system: System) -> str:
    """How many rows have positions; all that have any are checked."""
    rows = [*system.rows()]
    return f"{sum(row[1] is not None for row in rows):,} of {len(rows):,} cite"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.edits", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR", help="Markdown documents")
    parser.add_argument("--budget", type=int, default=512, metavar="TOKENS", help="default: 512")
    parser.add_argument("--only", action="append", default=[], metavar="SYSTEM")
    options = parser.parse_args(arguments)
    pages = {
        path.relative_to(options.folder).as_posix(): path.read_bytes().decode()
        for path in sorted(options.folder.rglob("*.md*"))
    }
    rows: list[tuple[Cell, ...]] = []
    for name in options.only or SYSTEMS:
        print(name, file=sys.stderr, flush=True)
        try:
            rows += measure(name, pages, options.budget)
        except ImportError as error:
            print(f"left out: {error}", file=sys.stderr)
    size = sum(len(text.encode()) for text in pages.values())
    table = Table(
        "edits",
        "What edits cost",
        f"{len(pages)} documents, {size / 1e3:,.0f} kB, {options.budget} tokens. Texts embedded and "
        "rows written per edit.",
        (
            ("", ""),
            ("edit", ""),
            ("edits", ",d"),
            ("embedded, mean", ",.2f"),
            ("most", ",d"),
            ("new embed_hash, mean", ",.2f"),
            ("written, mean", ",.1f"),
            ("embedded = new", ""),
        ),
        tuple(rows),
    )
    print(as_markdown(table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
