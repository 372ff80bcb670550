"""LlamaIndex into Qdrant, brought up to date: pip install 'chunkast[llama-index,stores]'."""

from pathlib import Path

from llama_index.core import Document
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.vector_stores.qdrant import QdrantVectorStore
from qdrant_client import QdrantClient

from chunkast.adapters.llama_index import ChunkastNodeParser, EmbedOnce

embedded: list[str] = []


class Model(MockEmbedding):
    """Stands for a model; it notes what it is given."""

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        embedded.extend(texts)
        return [[float(len(text)), float(text.count(" "))] for text in texts]


client = QdrantClient(":memory:")
pipeline = IngestionPipeline(
    # Qdrant takes UUIDs only. A pipeline runs a changed document again as a whole; EmbedOnce asks
    # the model for those texts of it that it has not met.
    transformations=[
        ChunkastNodeParser(chunk_size=300, uuid_ids=True),
        EmbedOnce(embed_model=Model(embed_dim=2)),
    ],
    vector_store=QdrantVectorStore("pages", client=client),
    docstore=SimpleDocumentStore(),
    docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
)


def synchronize(what: str, pages: dict[str, str]) -> None:
    """Bring the store up to date with ``pages``, and say what that took."""
    embedded.clear()
    nodes = pipeline.run(documents=[Document(text=text, id_=name) for name, text in pages.items()])
    for node in nodes:
        assert node.text == pages[node.ref_doc_id][node.start_char_idx : node.end_char_idx]
    stored = client.count("pages").count
    print(f"{what}: {len(nodes)} written, {stored} stored, {len(embedded)} texts embedded")


folder = Path(__file__).parents[1]
pages = {
    path.relative_to(folder).as_posix(): path.read_text("utf-8")
    for path in (folder / "README.md", *sorted((folder / "docs").glob("*.md")))
}
synchronize("first run", pages)
synchronize("nothing changed", pages)
pages["README.md"] = "One line more.\n\n" + pages["README.md"]
synchronize("a line put before a document", pages)
pages["docs/looking.md"] = pages.pop("docs/view.md")
synchronize("a file renamed", pages)
