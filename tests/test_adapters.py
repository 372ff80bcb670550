"""Splitters inside LangChain, LlamaIndex and Haystack: the frameworks themselves use them."""

from __future__ import annotations

import asyncio
import json
import pickle
import re
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunker, ConfigError, plan_writes
from chunkast.errors import MissingPackageError
from tests import strategies
from tests.frameworks import DOCUMENTS, ROOT, run_example
from tests.test_documents import CELLS, notebook

BUDGET = 60
CHUNKER = Chunker(max_tokens=BUDGET)
# What is searched for here is found in many places.
SAME = "# Same\n\n" + "Same.\n\n" * 50 + "# Same\n\n" + "Same. " * 90
NAMES = ("api-reference.md", "crlf-notes.md", "emoji.md", "wide-tables.md")
TEXTS = {**{name: DOCUMENTS[name] for name in NAMES}, "same.md": SAME}
CHUNKS = list(CHUNKER.iter_chunks(TEXTS.items()))
TABLE = "# Guide\n\n## Prices\n\n| item | price |\n| --- | --- |\n" + "| bread | 3 |\n" * 60


def needs(module: str, extra: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(find_spec(module) is None, reason=f"needs chunkast[{extra}]")


def run_page(name: str) -> dict[str, Any]:
    """What the Python of a page has defined when all of its blocks have run in order."""
    page = (ROOT / "docs" / name).read_text("utf-8")
    names: dict[str, Any] = {}
    for code in re.findall(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        exec(code, names)  # noqa: S102 - our own
    return names


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "example"),
    [
        ("langchain_qdrant", "langchain_index.py"),
        ("llama_index.vector_stores.qdrant", "llama_index_pipeline.py"),
        ("haystack", "haystack_pipeline.py"),
    ],
)
def test_an_example_embeds_what_changed_and_keeps_the_other_files(
    package: str, example: str
) -> None:
    pytest.importorskip(package, reason=f"needs {package}")
    printed = run_example(example).splitlines()
    lines = [line for line in printed if line.endswith(" texts embedded")]
    stored, embedded = zip(
        *(re.findall(r"(\d+) (?:stored|texts)", line) for line in lines), strict=True
    )
    assert int(stored[0]) > 20
    assert stored == (stored[0],) * 4
    assert embedded == (stored[0], "0", "1", "0")


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("chunkast.adapters.langchain", "langchain_text_splitters", "langchain"),
        ("chunkast.adapters.llama_index", "llama_index.core.node_parser", "llama-index"),
        ("chunkast.adapters.haystack", "haystack", "haystack"),
        ("chunkast.output.record_batches", "pyarrow", "arrow"),
    ],
)
def test_an_adapter_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, module: str, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(MissingPackageError, match=rf"^needs .*pip install 'chunkast\[{extra}\]'$"):
        import_module(module)


@needs("langchain_text_splitters", "langchain")
class TestLangChain:
    def splitter(self, **options: Any) -> Any:
        from chunkast.adapters.langchain import ChunkastTextSplitter

        return ChunkastTextSplitter(**{"max_tokens": BUDGET, **options})

    def document(self, text: str, name: str | None = None, **fields: Any) -> Any:
        from langchain_core.documents import Document

        return Document(text, **{"metadata": {"source": name} if name else {}, **fields})

    def documents(self) -> list[Any]:
        return [self.document(text, name) for name, text in TEXTS.items()]

    def test_documents_are_the_chunks(self) -> None:
        splitter = self.splitter(add_start_index=True, sections=True)
        assert repr(splitter) == (
            "ChunkastTextSplitter(max_tokens=60, add_start_index=True, sections=True)"
        )
        found = splitter.split_documents(self.documents())
        for part, chunk in zip(found, CHUNKS, strict=True):
            assert (part.id, part.page_content) == (chunk.id, chunk.text)
            assert part.metadata == {
                **chunk.metadata,
                "source": chunk.source,
                "headings": " > ".join(chunk.headings),
                "sections": [" > ".join(path) for path in chunk.sections],
                "section_anchors": list(chunk.section_anchors),
                "token_count": chunk.token_count,
                "start_index": chunk.start_index,
                "end_index": chunk.end_index,
                "start_line": chunk.start_line,
                "end_line": chunk.end_line,
            }
        [plain, *_] = self.splitter().split_documents(self.documents())
        assert plain.metadata.keys() == {"source", "headings", "token_count"}

    def test_every_way_in_gives_the_same(self) -> None:
        splitter, documents = self.splitter(), self.documents()
        expected = splitter.split_documents(iter(documents))
        assert asyncio.run(splitter.atransform_documents(documents)) == expected
        metadatas = [document.metadata for document in documents]
        assert splitter.create_documents(list(TEXTS.values()), metadatas) == expected
        assert splitter.split_text(SAME) == CHUNKER.split_text(SAME)
        copied = pickle.loads(pickle.dumps(splitter))  # noqa: S301
        assert copied.split_documents(documents) == expected

    def test_ids_come_from_a_name_or_there_are_none(self) -> None:
        splitter = self.splitter()
        assert {part.id for part in splitter.create_documents(["# A\n\nOne.", "Two."])} == {None}
        [named] = splitter.split_documents([self.document("# A\n\nOne.", id="a.md")])
        assert named.id == CHUNKER.chunk("# A\n\nOne.", "a.md")[0].id
        pages = [self.document("Page.", "a.pdf") for _ in range(2)]
        assert len({part.id for part in splitter.split_documents(pages)}) == 2
        [other] = self.splitter(source_key="url").create_documents(["Two."], [{"url": "b"}])
        assert other.id == CHUNKER.chunk("Two.", "b")[0].id
        with pytest.raises(ConfigError, match="metadatas=1"):
            splitter.create_documents(["One.", "Two."], [{}])

    def test_a_notebooks_json_is_cut_by_its_cells(self) -> None:
        document = self.document(notebook(*CELLS), "n.ipynb")
        found = self.splitter(add_start_index=True).split_documents([document])
        expected = CHUNKER.chunk(document.page_content, "n.ipynb")
        assert [(part.id, part.page_content, part.metadata["cell"]) for part in found] == [
            (chunk.id, chunk.text, chunk.metadata["cell"]) for chunk in expected
        ]

    def test_the_names_of_langchain(self) -> None:
        from chunkast.adapters.langchain import ChunkastTextSplitter

        expected = Chunker(max_tokens=50, overlap=5, encoding="o200k_base").split_text(SAME)
        sizes: dict[str, Any] = {"chunk_size": 50, "chunk_overlap": 5}
        by_name = ChunkastTextSplitter.from_tiktoken_encoder("o200k_base", **sizes)
        by_model = ChunkastTextSplitter.from_tiktoken_encoder(model_name="gpt-4o", **sizes)
        assert by_name.split_text(SAME) == by_model.split_text(SAME) == expected
        own = ChunkastTextSplitter.from_huggingface_tokenizer(len, **sizes)
        assert 25 < max(map(len, own.split_text(SAME))) <= 50

    def test_embedded_with_its_context_and_shown_without(self) -> None:
        from langchain_core.embeddings import DeterministicFakeEmbedding
        from langchain_core.vectorstores import InMemoryVectorStore

        from chunkast.adapters.langchain import VerbatimRetriever

        parts = self.splitter(content="embed_text").create_documents([TABLE], [{"source": "a.md"}])
        store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
        store.add_documents(parts)
        found = store.as_retriever(search_kwargs={"k": len(parts)})
        retriever = VerbatimRetriever(retriever=found)
        answer = asyncio.run(retriever.ainvoke("bread"))
        assert retriever.invoke("bread") == answer
        assert {(part.id, part.page_content) for part in answer} == {
            (chunk.id, chunk.text) for chunk in CHUNKER.chunk(TABLE, "a.md")
        }
        assert all("text" not in part.metadata for part in answer)
        # What was split otherwise is returned as it is.
        store.delete([part.id for part in parts])
        store.add_documents(self.splitter().create_documents(["Bread."]))
        assert VerbatimRetriever(retriever=found).invoke("bread") == found.invoke("bread")

    @pytest.mark.slow
    @needs("langchain_qdrant", "stores")
    def test_the_page_leaves_nothing_behind_in_qdrant(self) -> None:
        page = run_page("langchain.md")

        points, _ = page["client"].scroll("docs", limit=100)
        assert {point.id for point in points} == {*page["records"].list_keys()}
        assert [point.payload["page_content"] for point in points] == [
            "# Huts\n\nHuts open in May."
        ]


@needs("llama_index", "llama-index")
class TestLlamaIndex:
    def parser(self, **options: Any) -> Any:
        from chunkast.adapters.llama_index import ChunkastNodeParser

        return ChunkastNodeParser(**{"max_tokens": BUDGET, **options})

    def document(self, text: str, **fields: Any) -> Any:
        from llama_index.core import Document

        return Document(text=text, **fields)

    def test_nodes_are_slices_with_their_positions(self) -> None:
        parser = self.parser(sections=True, overlap=0)
        assert repr(parser) == "ChunkastNodeParser(max_tokens=60, overlap=0, sections=True)"
        for name, text in TEXTS.items():
            nodes = parser.get_nodes_from_documents([self.document(text, id_=name)])
            assert "".join(text.split()) == "".join("".join(node.text.split()) for node in nodes)
            for node in nodes:
                start = node.start_char_idx
                assert (node.text, node.ref_doc_id) == (text[start : node.end_char_idx], name)
                assert node.metadata["start_line"] == text.count("\n", 0, start) + 1
                assert node.metadata["headings"] in ("", node.metadata["sections"][0])
            assert nodes[0].id_ == CHUNKER.chunk(text, name)[0].id

    def test_every_way_in_gives_the_same(self) -> None:
        from llama_index.core.ingestion import IngestionPipeline

        parser, documents = self.parser(), [self.document(SAME, id_="a"), self.document(TABLE)]
        expected = [node.to_dict() for node in parser.get_nodes_from_documents(documents)]
        pipeline = IngestionPipeline(transformations=[parser])
        loaded = type(parser).from_dict(json.loads(parser.to_json()))
        for nodes in (
            asyncio.run(parser.aget_nodes_from_documents(documents)),
            pipeline.run(documents=documents),
            pipeline.run(documents=documents),  # from its cache
            loaded(documents),
            pickle.loads(pickle.dumps(parser))(documents),  # noqa: S301
        ):
            assert [node.to_dict() for node in nodes] == expected

    def test_what_is_embedded_has_the_context(self) -> None:
        from llama_index.core.schema import MetadataMode

        shown = self.document(TABLE, metadata={"title": "Shop", "path": "x"})
        shown.excluded_embed_metadata_keys = ["path"]
        node = self.parser().get_nodes_from_documents([shown])[-1]
        embedded = node.get_content(MetadataMode.EMBED)
        assert embedded.startswith(
            "title: Shop\nheading_path: Guide > Prices\n\n| item | price |\n| --- | --- |\n| bread"
        )
        said = node.get_content(MetadataMode.LLM)
        assert said.startswith("title: Shop\npath: x\nheading_path: Guide > Prices\nstart_line: ")
        assert node.get_content(MetadataMode.NONE) == node.text
        # A transformation between parser and embedding may change the text.
        node.set_content("| *** | 3 |")
        assert "bread" not in node.get_content(MetadataMode.EMBED)
        # Braces in a frame are not fields of the template.
        fence = "```{python} {a}\nx = {}\n\n" + "y = {1: 2}\n\n" * 60 + "```\n"
        for node in self.parser().get_nodes_from_documents([self.document(fence)]):
            assert "```{python} {a}\n" in node.get_content(MetadataMode.EMBED)
        shown.metadata["title"] = "word " * BUDGET
        with pytest.raises(ConfigError, match=r"max_tokens=60: the metadata of document '"):
            self.parser().get_nodes_from_documents([shown])
        # A title is no frame, and without either there is no metadata to show.
        [plain] = self.parser().get_nodes_from_documents([self.document("# Title\n\nText.")])
        assert plain.get_content(MetadataMode.EMBED) == "# Title\n\nText."

    @given(
        strategies.documents() | strategies.markdown(),
        st.sampled_from([40, 60, 200]),
        st.text(max_size=30),
    )
    def test_the_budget_holds_with_metadata_and_after_a_store(
        self, text: str, budget: int, title: str
    ) -> None:
        from llama_index.core import Document
        from llama_index.core.schema import MetadataMode, TextNode

        # LlamaIndex hashes a document's text as UTF-8 itself.
        text = text.encode(errors="replace").decode()
        document = Document(text=text, id_="a.md", metadata={"title": title, "hidden": "x " * 99})
        document.excluded_embed_metadata_keys = document.excluded_llm_metadata_keys = ["hidden"]
        count = CHUNKER.counter.count
        try:
            nodes = self.parser(max_tokens=budget).get_nodes_from_documents([document])
        except ConfigError:
            assert count(title) > budget - 30
            return
        for node in nodes:
            assert node.text == text[node.start_char_idx : node.end_char_idx]
            back = TextNode.from_dict(json.loads(json.dumps(node.to_dict())))
            for mode in (MetadataMode.EMBED, MetadataMode.LLM):
                content = node.get_content(mode)
                assert back.get_content(mode) == content
                assert count(content) <= budget or regex.fullmatch(r"\s*\X\s*", node.text)

    def test_each_text_is_embedded_once(self) -> None:
        from llama_index.core import MockEmbedding
        from llama_index.core.storage.kvstore import SimpleKVStore

        from chunkast.adapters.llama_index import EmbedOnce

        seen: list[str] = []

        class Recorder(MockEmbedding):  # type: ignore[misc] # it is not looked at
            def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
                seen.extend(texts)
                return [[float(len(text)), 1.0] for text in texts]

            async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
                return self._get_text_embeddings(texts)

        def nodes_of(*texts: str) -> Any:
            return self.parser()([self.document(text, id_=str(n)) for n, text in enumerate(texts)])

        step = EmbedOnce(embed_model=Recorder(embed_dim=2))
        nodes = [*step(nodes_of(TABLE, TABLE))]
        # Rows are equal, so that few texts differ.
        assert 1 < len(seen) == len(set(seen)) < len(nodes)
        # A saved store, with another document and another model.
        kept = SimpleKVStore.from_dict(json.loads(json.dumps(step.store.to_dict())))
        for name, text, new in (("", "New.\n\n" + TABLE, 1), ("other", TABLE, len(seen))):
            model = Recorder(embed_dim=2, **({"model_name": name} if name else {}))
            seen.clear()
            nodes += asyncio.run(EmbedOnce(embed_model=model, store=kept).acall(nodes_of(text)))
            assert len(seen) == new
        for node in nodes:
            assert node.embedding == [float(len(node.get_content("embed"))), 1.0]

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")
    def test_the_page_keeps_the_other_files(self) -> None:
        pytest.importorskip("llama_index.vector_stores.qdrant", reason="needs chunkast[stores]")
        page = run_page("llama-index.md")
        points, _ = page["store"].client.scroll("docs")
        assert [point.payload["ref_doc_id"] for point in points] == ["winter/huts.md"]


@needs("haystack", "haystack")
class TestHaystack:
    def splitter(self, **options: Any) -> Any:
        from chunkast.adapters.haystack import ChunkastDocumentSplitter

        return ChunkastDocumentSplitter(**{"max_tokens": BUDGET, **options})

    def document(self, content: str | None, **fields: Any) -> Any:
        from haystack import Document

        return Document(content=content, **fields)

    def test_documents_are_the_chunks(self) -> None:
        splitter = self.splitter(sections=True)
        first, *_ = repr(splitter).splitlines()
        assert first == "ChunkastDocumentSplitter(max_tokens=60, sections=True)"
        given = [self.document(text, meta={"file_path": n}) for n, text in TEXTS.items()]
        found = splitter.run(given)["documents"]
        for part, chunk in zip(found, CHUNKS, strict=True):
            assert (part.id, part.content) == (chunk.id, chunk.text)
            meta = part.meta
            assert meta["split_id"] == chunk.index
            assert meta["split_idx_start"] == meta["start_index"] == chunk.start_index
            assert (meta["start_line"], meta["end_line"]) == (chunk.start_line, chunk.end_line)
            assert meta["headings"] == " > ".join(chunk.headings)
            assert meta["sections"] == [" > ".join(path) for path in chunk.sections]
            assert meta["section_anchors"] == list(chunk.section_anchors)
            assert chunk.embed_text.startswith(meta["embed_prefix"] + chunk.text)

    @pytest.mark.parametrize("key", ["file_path", "url", "source"])
    def test_ids_survive_an_edit(self, key: str) -> None:
        def run(text: str, author: str = "me") -> list[dict[str, Any]]:
            meta = {key: "a.md", "author": author, "later": "b.md"}
            found = self.splitter().run([self.document(text, meta=meta)])["documents"]
            return [{"id": part.id, **json.loads(json.dumps(part.meta))} for part in found]

        before, after = run(TABLE), run("# First\n\nA line.\n\n" + TABLE)
        ids = tuple(chunk.id for chunk in CHUNKER.chunk(TABLE, "a.md"))
        plan = plan_writes(after, before)
        assert (plan.unchanged, plan.moved, len(plan.embed)) == (ids, ids, 1)
        assert {part["source_id"] for part in after} == {"a.md"}
        # What the document's own meta says is stored with every part.
        others = plan_writes(run(TABLE, "you"), before)
        assert (others.moved, others.embed) == (ids, ())

    def test_a_saved_pipeline_embeds_the_context(self) -> None:
        from haystack import Pipeline
        from haystack.components.embedders import MockDocumentEmbedder

        pipeline = Pipeline()
        options = {"overlap": 0, "extensions": ("tables",), "scores": {"hr": 90}}
        pipeline.add_component("splitter", self.splitter(source_key="name", **options))
        saved = pipeline.dumps()
        pipeline = Pipeline.loads(saved)
        assert pipeline.dumps() == saved

        seen: list[str] = []

        def embed(text: str) -> list[float]:
            seen.append(text)
            return [1.0]

        embedder = MockDocumentEmbedder(
            embedding_fn=embed, meta_fields_to_embed=["embed_prefix"], embedding_separator=""
        )
        pipeline.add_component("embedder", embedder)
        pipeline.connect("splitter", "embedder")
        pipeline.run({"splitter": {"documents": [self.document(TABLE)]}})
        chunker = Chunker(max_tokens=BUDGET, overlap=0)
        assert seen == [chunk.embed_text for chunk in chunker.chunk(TABLE)]
        assert seen[-1].startswith("Guide > Prices\n\n| item | price |\n")

    def test_the_page_embeds_a_chunk(self) -> None:
        [found] = run_page("haystack.md")["documents"]
        assert found.embedding
        assert found.meta["source_id"] == "docs/huts.md"

    def test_what_cannot_be_split_is_named(self) -> None:
        assert self.splitter().run([self.document("")]) == {"documents": []}
        with pytest.raises(ValueError, match="document x has no text"):
            self.splitter().run([self.document(None, id="x")])
        with pytest.raises(ConfigError, match="split_length"):
            self.splitter(split_length=3)
