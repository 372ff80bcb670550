"""Update a Qdrant collection with LlamaIndex: pip install 'chunkast[llama-index,stores]'."""

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
    """A stand-in for an embedding model; it records the texts that it embeds."""

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        embedded.extend(texts)
        return [[float(len(text)), float(text.count(" "))] for text in texts]


client = QdrantClient(":memory:")
pipeline = IngestionPipeline(
    # Qdrant requires UUIDs. A pipeline processes all of a changed document again; EmbedOnce only
    # calls the model for texts that are new.
    transformations=[
        ChunkastNodeParser(chunk_size=300, uuid_ids=True),
        EmbedOnce(embed_model=Model(embed_dim=2)),
    ],
    vector_store=QdrantVectorStore("pages", client=client),
    docstore=SimpleDocumentStore(),
    docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
)


def synchronize(what: str, pages: dict[str, str]) -> None:
    """Bring the store up to date with ``pages``, and print how much was written."""
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
synchronize("a line added before a document", pages)
pages["docs/looking.md"] = pages.pop("docs/view.md")
synchronize("a file renamed", pages)
