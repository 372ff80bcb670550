"""Splitters inside LangChain, LlamaIndex and Haystack: the frameworks themselves use them."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest
import regex
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chunkast import Chunk, Chunker, ConfigError
from chunkast.errors import MissingPackageError
from tests import strategies
from tests.command import environment
from tests.frameworks import DOCUMENTS, run_example
from tests.test_documents import CELLS, notebook

BUDGET = 60
CHUNKER = Chunker(max_tokens=BUDGET)
# What is searched for here is found in many places.
SAME = "# Same\n\n" + "Same.\n\n" * 200 + "# Same\n\n" + "Same. " * 300
TEXTS = {**DOCUMENTS, "same.md": SAME}
TABLE = "# Guide\n\n## Prices\n\n| item | price |\n| --- | --- |\n" + "| bread | 3 |\n" * 60


def chunks_of(texts: dict[str, str]) -> list[Chunk]:
    return list(CHUNKER.iter_chunks(texts.items()))


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("chunkast.adapters.langchain", "langchain_text_splitters", "langchain"),
        ("chunkast.adapters.llama_index", "llama_index", "llama-index"),
        ("chunkast.adapters.haystack", "haystack", "haystack"),
        ("chunkast.output.arrow", "pyarrow", "arrow"),
    ],
)
def test_an_adapter_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, module: str, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(MissingPackageError, match=rf"^needs .*pip install 'chunkast\[{extra}\]'$"):
        import_module(module)


class TestLangChain:
    def test_a_notebooks_json_is_cut_by_its_cells(self) -> None:
        from langchain_core.documents import Document

        json_text = notebook(*CELLS)
        document = Document(json_text, metadata={"source": "n.ipynb"})
        found = self.splitter(add_start_index=True).split_documents([document])
        expected = CHUNKER.chunk(json_text, "n.ipynb")
        assert [(part.id, part.page_content, part.metadata["cell"]) for part in found] == [
            (chunk.id, chunk.text, chunk.metadata["cell"]) for chunk in expected
        ]
        # A cell's id stays when one is put before it, its number does not.
        [first, *_] = self.splitter().split_documents([document])
        assert first.metadata["cell_id"] or "cell" in first.metadata
        assert not (first.metadata["cell_id"] and "cell" in first.metadata)

    def test_it_shows_its_options_and_names_sections_on_request(self) -> None:
        from chunkast.adapters.langchain import ChunkastTextSplitter

        assert (
            repr(ChunkastTextSplitter(max_tokens=64, sections=True)).partition("\n")[0]
            == "ChunkastTextSplitter(max_tokens=64, sections=True)"
        )
        [found] = ChunkastTextSplitter(max_tokens=64, sections=True).create_documents(
            ["# A\n\nOne.\n\n## B\n\nTwo.\n"]
        )
        assert found.metadata["sections"] == ["A", "A > B"]
        [found] = ChunkastTextSplitter(max_tokens=64).create_documents(
            ["# A\n\nOne.\n\n## B\n\nTwo.\n"]
        )
        assert "sections" not in found.metadata

    @pytest.fixture(autouse=True)
    def _framework(self) -> None:
        pytest.importorskip("langchain_text_splitters", reason="needs chunkast[langchain]")

    def splitter(self, **options: Any) -> Any:
        from chunkast.adapters.langchain import ChunkastTextSplitter

        return ChunkastTextSplitter(**{"max_tokens": BUDGET, **options})

    def documents(self) -> list[Any]:
        from langchain_core.documents import Document

        return [Document(text, metadata={"source": name}) for name, text in TEXTS.items()]

    def test_documents_are_the_chunks(self) -> None:
        found = self.splitter(add_start_index=True).split_documents(self.documents())
        expected = chunks_of(TEXTS)
        assert [(part.id, part.page_content) for part in found] == [
            (chunk.id, chunk.text) for chunk in expected
        ]
        for part, chunk in zip(found, expected, strict=True):
            meta = part.metadata
            start, end = meta["start_index"], meta["end_index"]
            assert part.page_content == TEXTS[meta["source"]][start:end]
            assert (meta["start_line"], meta["end_line"]) == (chunk.start_line, chunk.end_line)
            assert meta["headings"] == " > ".join(chunk.headings)
            assert meta["token_count"] == chunk.token_count <= BUDGET

    def test_every_way_in_gives_the_same(self) -> None:
        splitter, documents = self.splitter(), self.documents()
        expected = splitter.split_documents(iter(documents))
        assert splitter.transform_documents(documents) == expected
        assert asyncio.run(splitter.atransform_documents(documents)) == expected
        metadatas = [document.metadata for document in documents]
        assert splitter.create_documents(list(TEXTS.values()), metadatas) == expected
        assert splitter.split_text(SAME) == CHUNKER.split_text(SAME)
        for other in (pickle.loads(pickle.dumps(splitter)), copy.deepcopy(splitter)):  # noqa: S301
            assert other.split_documents(documents) == expected

    def test_ids_come_from_a_name_or_there_are_none(self) -> None:
        from langchain_core.documents import Document

        splitter = self.splitter()
        assert {part.id for part in splitter.create_documents(["# A\n\nOne.", "Two."])} == {None}
        named = splitter.split_documents([Document("# A\n\nOne.", id="a.md")])
        assert [part.id for part in named] == [c.id for c in CHUNKER.chunk("# A\n\nOne.", "a.md")]
        pages = [Document("Page.", metadata={"source": "a.pdf", "page": page}) for page in (1, 2)]
        assert len({part.id for part in splitter.split_documents(pages)}) == 2
        other = self.splitter(source_key="url").create_documents(["Two."], [{"url": "b"}])
        assert other[0].id == CHUNKER.chunk("Two.", "b")[0].id

    def test_the_names_of_langchain(self) -> None:
        from chunkast.adapters.langchain import ChunkastTextSplitter

        expected = Chunker(max_tokens=50, overlap=5, encoding="o200k_base").split_text(SAME)
        sizes: dict[str, Any] = {"chunk_size": 50, "chunk_overlap": 5}
        by_name = ChunkastTextSplitter.from_tiktoken_encoder("o200k_base", **sizes)
        by_model = ChunkastTextSplitter.from_tiktoken_encoder(model_name="gpt-4o", **sizes)
        assert by_name.split_text(SAME) == by_model.split_text(SAME) == expected
        words = ChunkastTextSplitter.from_huggingface_tokenizer(Words(), **sizes)
        assert 45 < max(len(text.split()) for text in words.split_text(SAME)) <= 50
        parts = self.splitter(add_start_index=False).create_documents([SAME])
        assert "start_index" not in parts[0].metadata

    def test_embedded_with_its_context_and_shown_without(self) -> None:
        from langchain_core.embeddings import DeterministicFakeEmbedding
        from langchain_core.vectorstores import InMemoryVectorStore

        from chunkast.adapters.langchain import VerbatimRetriever

        parts = self.splitter(content="embed_text").create_documents([TABLE], [{"source": "a.md"}])
        store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
        store.add_documents(parts)
        found = store.as_retriever(search_kwargs={"k": len(parts)})
        for answer in (
            VerbatimRetriever(retriever=found).invoke("bread"),
            asyncio.run(VerbatimRetriever(retriever=found).ainvoke("bread")),
        ):
            assert {(part.id, part.page_content) for part in answer} == {
                (chunk.id, chunk.text) for chunk in CHUNKER.chunk(TABLE, "a.md")
            }
            assert all("text" not in part.metadata for part in answer)
        assert found.invoke("bread")[0].metadata["text"]
        # What was split otherwise is returned as it is.
        store.delete([part.id for part in parts])
        store.add_documents(self.splitter().create_documents(["Bread."]))
        assert VerbatimRetriever(retriever=found).invoke("bread") == found.invoke("bread")

    @pytest.mark.parametrize("positions", [False, True])
    def test_index_writes_what_an_edit_changed(self, positions: bool) -> None:
        pytest.importorskip("langchain_classic", reason="needs chunkast[stores]")
        from langchain_classic.indexes import SQLRecordManager
        from langchain_core.documents import Document
        from langchain_core.embeddings import DeterministicFakeEmbedding
        from langchain_core.indexing import index
        from langchain_core.vectorstores import InMemoryVectorStore

        splitter = self.splitter(add_start_index=positions)
        store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
        records = SQLRecordManager("x", db_url="sqlite://")
        records.create_schema()

        def run(text: str) -> dict[str, int]:
            parts = splitter.split_documents([Document(text, metadata={"source": "a.md"})])
            done: dict[str, int] = index(
                parts,
                records,
                store,
                cleanup="incremental",
                source_id_key="source",
                key_encoder="sha256",
                batch_size=len(parts),
            )
            assert {row["text"] for row in store.store.values()} == {p.page_content for p in parts}
            return done

        text = TEXTS["api-reference.md"]
        before = {chunk.text for chunk in CHUNKER.chunk(text, "a.md")}
        edited = "One line more.\n\n" + text
        after = CHUNKER.chunk(edited, "a.md")
        new = [chunk for chunk in after if chunk.text not in before]
        assert run(text)["num_added"] == len(before) > 5
        assert run(text)["num_added"] == 0
        added = run(edited)["num_added"]
        # With positions all that stands after the line is written again.
        assert added == (len(after) if positions else len(new)) > 0

    def test_the_example(self) -> None:
        pytest.importorskip("langchain_classic", reason="needs chunkast[stores]")
        check_synchronized(run_example("langchain_index.py"))


def check_synchronized(printed: str) -> None:
    """What the examples print: texts embedded at first, and after three edits."""
    counts = [
        int(line.split(", ")[-1].split()[0])
        for line in printed.splitlines()
        if line.endswith(" texts embedded")
    ]
    assert counts[0] > 20
    assert counts[1:] == [0, 1, 0]


class Words:
    """A tokenizer as Hugging Face's are: it adds a token at either end unless told."""

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[str]:
        words = text.split()
        return ["[CLS]", *words, "[SEP]"] if add_special_tokens else words


class TestLlamaIndex:
    @pytest.fixture(autouse=True)
    def _framework(self) -> None:
        pytest.importorskip("llama_index.core", reason="needs chunkast[llama-index]")

    def test_it_shows_its_options_and_names_sections_on_request(self) -> None:
        from llama_index.core import Document

        from chunkast.adapters.llama_index import ChunkastNodeParser

        assert (
            repr(ChunkastNodeParser(max_tokens=64, sections=True)).partition("\n")[0]
            == "ChunkastNodeParser(max_tokens=64, sections=True)"
        )
        document = Document(text="# A\n\nOne.\n\n## B\n\nTwo.\n")
        [found] = ChunkastNodeParser(max_tokens=64, sections=True)([document])
        assert found.metadata["sections"] == ["A", "A > B"]
        [found] = ChunkastNodeParser(max_tokens=64)([document])
        assert "sections" not in found.metadata

    def parser(self, **options: Any) -> Any:
        from chunkast.adapters.llama_index import ChunkastNodeParser

        return ChunkastNodeParser(**{"max_tokens": BUDGET, **options})

    def documents(self, **more: Any) -> list[Any]:
        from llama_index.core import Document

        return [Document(text=text, id_=name, **more) for name, text in TEXTS.items()]

    def test_nodes_are_the_chunks(self) -> None:
        from llama_index.core import Document

        parser = self.parser()
        nodes = parser.get_nodes_from_documents(self.documents())
        # The metadata that is put before a text takes a part of the budget.
        room = BUDGET - parser._reserve(Document(text=""), CHUNKER.counter.count)
        assert room > 40
        expected = list(Chunker(max_tokens=room).iter_chunks(TEXTS.items()))
        assert [
            (node.id_, node.text, node.start_char_idx, node.end_char_idx, node.ref_doc_id)
            for node in nodes
        ] == [
            (chunk.id, chunk.text, chunk.start_index, chunk.end_index, chunk.source)
            for chunk in expected
        ]
        for node, chunk in zip(nodes, expected, strict=True):
            assert node.metadata["headings"] == " > ".join(chunk.headings)
            assert node.metadata["start_line"] == chunk.start_line
            assert node.metadata["end_line"] == chunk.end_line

    def test_every_way_in_gives_the_same(self) -> None:
        from llama_index.core.ingestion import IngestionPipeline

        parser, documents = self.parser(), self.documents()
        expected = [node.to_dict() for node in parser.get_nodes_from_documents(documents)]
        pipeline = IngestionPipeline(transformations=[parser])
        loaded = type(parser).from_dict(json.loads(parser.to_json()))
        assert loaded.to_dict() == parser.to_dict()
        for nodes in (
            parser(documents),
            asyncio.run(parser.aget_nodes_from_documents(documents)),
            pipeline.run(documents=documents),
            loaded(documents),
            pickle.loads(pickle.dumps(parser))(documents),  # noqa: S301
        ):
            assert [node.to_dict() for node in nodes] == expected
        cached = pipeline.run(documents=documents)
        for node, first in zip(cached, expected, strict=True):
            assert node.to_dict() == first

    def test_what_is_embedded_has_the_context(self) -> None:
        from llama_index.core import Document
        from llama_index.core.schema import MetadataMode

        shown = Document(text=TABLE, metadata={"title": "Shop", "path": "x"})
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
        # Braces in a frame are no places of the template.
        fence = "```{python} {a}\nx = {}\n\n" + "y = {1: 2}\n\n" * 60 + "```\n"
        for node in self.parser().get_nodes_from_documents([Document(text=fence)]):
            assert "```{python} {a}\n" in node.get_content(MetadataMode.EMBED)
        # A title is no frame, and without either there is no metadata to show.
        [plain] = self.parser().get_nodes_from_documents([Document(text="# Title\n\nText.")])
        assert plain.get_content(MetadataMode.EMBED) == "# Title\n\nText."

    @given(
        strategies.documents() | strategies.markdown(),
        st.sampled_from([40, 60, 200]),
        st.text(max_size=30),
    )
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_the_budget_holds_with_metadata_and_after_a_store(
        self, text: str, budget: int, title: str
    ) -> None:
        from llama_index.core import Document
        from llama_index.core.schema import MetadataMode, TextNode

        # LlamaIndex hashes a document's text as UTF-8 itself.
        text = text.encode(errors="replace").decode()
        document = Document(text=text, id_="a.md", metadata={"title": title, "hidden": "x " * 99})
        document.excluded_embed_metadata_keys = document.excluded_llm_metadata_keys = ["hidden"]
        try:
            nodes = self.parser(max_tokens=budget).get_nodes_from_documents([document])
        except ConfigError:
            assert CHUNKER.counter.count(title) > budget - 30
            return
        count = CHUNKER.counter.count
        for node in nodes:
            assert node.text == text[node.start_char_idx : node.end_char_idx]
            back = TextNode.from_dict(json.loads(json.dumps(node.to_dict())))
            for mode in (MetadataMode.EMBED, MetadataMode.LLM):
                content = node.get_content(mode)
                assert back.get_content(mode) == content
                single = regex.fullmatch(r"\s*\X\s*", node.text)
                assert count(content) <= budget or single

    def test_metadata_that_leaves_no_room_is_told(self) -> None:
        from llama_index.core import Document

        document = Document(text=TABLE, id_="a.md", metadata={"summary": "word " * BUDGET})
        with pytest.raises(ConfigError, match=r"max_tokens=60: the metadata of document 'a.md'"):
            self.parser().get_nodes_from_documents([document])
        document.excluded_embed_metadata_keys = document.excluded_llm_metadata_keys = ["summary"]
        assert len(self.parser().get_nodes_from_documents([document])) > 5

    def test_each_text_is_embedded_once(self) -> None:
        from llama_index.core import Document, MockEmbedding
        from llama_index.core.schema import MetadataMode
        from llama_index.core.storage.kvstore import SimpleKVStore

        from chunkast.adapters.llama_index import EmbedOnce

        seen: list[str] = []

        class Recorder(MockEmbedding):  # type: ignore[misc] # it is not looked at
            def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
                seen.extend(texts)
                return [[float(len(text)), 1.0] for text in texts]

            async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
                return self._get_text_embeddings(texts)

        step = EmbedOnce(embed_model=Recorder(embed_dim=2))
        nodes = step(self.parser()([Document(text=TABLE, id_="a"), Document(text=TABLE, id_="b")]))
        # Rows are equal, so that few texts differ.
        assert 1 < len(seen) == len(set(seen)) < len(nodes)
        for node in nodes:
            assert node.embedding == [float(len(node.get_content(MetadataMode.EMBED))), 1.0]
        # In another process, for other documents, asynchronously.
        kept = SimpleKVStore.from_dict(json.loads(json.dumps(step.store.to_dict())))
        later = EmbedOnce(embed_model=Recorder(embed_dim=2), store=kept)
        seen.clear()
        again = asyncio.run(
            later.acall(self.parser()([Document(text="New.\n\n" + TABLE, id_="c")]))
        )
        assert len(seen) == 1
        for node in again:
            assert node.embedding == [float(len(node.get_content(MetadataMode.EMBED))), 1.0]
        # Vectors of another model are not taken over.
        seen.clear()
        other = EmbedOnce(embed_model=Recorder(embed_dim=2, model_name="other"), store=kept)
        other(self.parser()([Document(text=TABLE, id_="a")]))
        assert seen

    def test_the_example(self) -> None:
        pytest.importorskip("llama_index.vector_stores.qdrant", reason="needs chunkast[stores]")
        check_synchronized(run_example("llama_index_pipeline.py"))


class TestHaystack:
    @pytest.fixture(autouse=True)
    def _framework(self) -> None:
        pytest.importorskip("haystack", reason="needs chunkast[haystack]")

    def test_it_shows_its_options_and_names_sections_on_request(self) -> None:
        from haystack import Document

        from chunkast.adapters.haystack import ChunkastDocumentSplitter

        assert (
            repr(ChunkastDocumentSplitter(max_tokens=64, sections=True)).partition("\n")[0]
            == "ChunkastDocumentSplitter(max_tokens=64, sections=True)"
        )
        document = Document(content="# A\n\nOne.\n\n## B\n\nTwo.\n")
        [found] = ChunkastDocumentSplitter(max_tokens=64, sections=True).run([document])[
            "documents"
        ]
        assert found.meta["sections"] == ["A", "A > B"]
        [found] = ChunkastDocumentSplitter(max_tokens=64).run([document])["documents"]
        assert "sections" not in found.meta

    def splitter(self, **options: Any) -> Any:
        from chunkast.adapters.haystack import ChunkastDocumentSplitter

        return ChunkastDocumentSplitter(**{"max_tokens": BUDGET, **options})

    def documents(self) -> list[Any]:
        from haystack import Document

        return [Document(content=text, meta={"file_path": n}) for n, text in TEXTS.items()]

    def test_documents_are_the_chunks(self) -> None:
        found = self.splitter(source_key="file_path").run(self.documents())["documents"]
        expected = chunks_of(TEXTS)
        assert [(part.id, part.content) for part in found] == [
            (chunk.id, chunk.text) for chunk in expected
        ]
        for part, chunk in zip(found, expected, strict=True):
            meta = part.meta
            assert meta["split_id"] == chunk.index
            assert meta["split_idx_start"] == meta["start_index"] == chunk.start_index
            assert (meta["start_line"], meta["end_line"]) == (chunk.start_line, chunk.end_line)
            assert meta["headings"] == " > ".join(chunk.headings)
            assert chunk.embed_text.startswith(meta["embed_prefix"] + chunk.text)

    @pytest.mark.parametrize("key", ["file_path", "url", "source"])
    def test_ids_survive_an_edit(self, key: str) -> None:
        from haystack import Document

        from chunkast import plan_writes

        def run(text: str, author: str = "me") -> list[Any]:
            meta = {key: "a.md", "author": author, "later": "b.md"}
            return self.splitter().run([Document(content=text, meta=meta)])["documents"]  # type: ignore[no-any-return]

        def records(parts: list[Any]) -> list[dict[str, Any]]:
            return [{"id": part.id, **json.loads(json.dumps(part.meta))} for part in parts]

        before, after = run(TABLE), run("# First\n\nA line.\n\n" + TABLE)
        assert [part.id for part in before] == [c.id for c in CHUNKER.chunk(TABLE, "a.md")]
        plan = plan_writes(records(after), records(before))
        assert len(plan.embed) == 1
        assert plan.unchanged == plan.moved == tuple(part.id for part in before)
        assert {part.meta["source_id"] for part in after} == {"a.md"}
        # What the document's own meta says is stored with every part.
        others = plan_writes(records(run(TABLE, "you")), records(before))
        assert (others.moved, others.embed) == (plan.moved, ())

    def test_a_saved_pipeline_is_loaded_by_another_process(self) -> None:
        from haystack import Pipeline

        pipeline = Pipeline()
        options = {"overlap": 0, "extensions": ("tables",), "scores": {"hr": 90}}
        pipeline.add_component("splitter", self.splitter(source_key="name", **options))
        code = (
            "import sys; from haystack import Document, Pipeline\n"
            "pipeline = Pipeline.loads(sys.stdin.read())\n"
            "given = [Document(content='# A\\n\\nOne.', meta={'name': 'a.md'})]\n"
            "for part in pipeline.run({'splitter': {'documents': given}})['splitter']['documents']:\n"
            "    print(part.id, pipeline.get_component('splitter').to_dict() == "
            "Pipeline.loads(pipeline.dumps()).get_component('splitter').to_dict())\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=pipeline.dumps(),
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.stdout == f"{CHUNKER.chunk(chr(35) + ' A', 'a.md')[0].id} True\n", done.stderr

    def test_an_embedder_embeds_the_context(self) -> None:
        from haystack import Document, Pipeline
        from haystack.components.embedders import MockDocumentEmbedder

        seen: list[str] = []

        def embed(text: str) -> list[float]:
            seen.append(text)
            return [1.0]

        pipeline = Pipeline()
        pipeline.add_component("splitter", self.splitter())
        embedder = MockDocumentEmbedder(
            embedding_fn=embed, meta_fields_to_embed=["embed_prefix"], embedding_separator=""
        )
        pipeline.add_component("embedder", embedder)
        pipeline.connect("splitter", "embedder")
        pipeline.run({"splitter": {"documents": [Document(content=TABLE)]}})
        assert seen == [chunk.embed_text for chunk in CHUNKER.chunk(TABLE)]
        assert seen[-1].startswith("Guide > Prices\n\n| item | price |\n")

    def test_what_cannot_be_split_is_named(self) -> None:
        from haystack import Document

        with pytest.raises(ValueError, match="document x has no text"):
            self.splitter().run([Document(id="x", content=None)])
        assert self.splitter().run([Document(content="")]) == {"documents": []}
        with pytest.raises(ConfigError, match="split_length"):
            self.splitter(split_length=3)

    def test_the_example(self) -> None:
        check_synchronized(run_example("haystack_pipeline.py"))
