"""Update a Qdrant collection with LlamaIndex: pip install 'chunkast[llama-index,stores]'."""

from collections.abc import Sequence
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
store = QdrantVectorStore("pages", client=client)
docstore = SimpleDocumentStore()
pipeline = IngestionPipeline(
    # Qdrant requires UUIDs. A pipeline processes all of a changed document again; EmbedOnce only
    # calls the model for texts that are new.
    transformations=[
        ChunkastNodeParser(chunk_size=300, uuid_ids=True),
        EmbedOnce(embed_model=Model(embed_dim=2)),
    ],
    vector_store=store,
    docstore=docstore,
    # UPSERTS_AND_DELETE would remove all documents that are not in a run.
    docstore_strategy=DocstoreStrategy.UPSERTS,
)


def synchronize(what: str, pages: dict[str, str], deleted: Sequence[str] = ()) -> None:
    """Update the files in ``pages`` and remove those in ``deleted``; all others stay."""
    embedded.clear()
    nodes = pipeline.run(documents=[Document(text=text, id_=name) for name, text in pages.items()])
    for name in deleted:
        store.delete(name)
        docstore.delete_document(name)
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
edited = "One line more.\n\n" + pages["README.md"]
synchronize("a line added before a document", {"README.md": edited})
synchronize("a file renamed", {"docs/looking.md": pages["docs/view.md"]}, deleted=["docs/view.md"])
