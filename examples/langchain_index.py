"""Update a Qdrant collection with LangChain: pip install 'chunkast[langchain,stores]'."""

from collections.abc import Sequence
from pathlib import Path
from uuid import NAMESPACE_OID, uuid5

from langchain_classic.embeddings import CacheBackedEmbeddings
from langchain_classic.indexes import SQLRecordManager
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.indexing import index
from langchain_core.stores import InMemoryByteStore
from langchain_qdrant import QdrantVectorStore
from qdrant_client import QdrantClient
from qdrant_client.models import Distance, VectorParams

from chunkast.adapters.langchain import ChunkastTextSplitter, VerbatimRetriever

embedded: list[str] = []


class Model(DeterministicFakeEmbedding):
    """A stand-in for an embedding model; it records the texts that it embeds."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector for each text."""
        embedded.extend(texts)
        return [*super().embed_documents(texts)]


# Chunks are embedded with their context; the retriever below returns them without it.
splitter = ChunkastTextSplitter(chunk_size=300, content="embed_text")
# ``index`` recognizes a document by its source and content. For the texts of a renamed file, which
# it does not recognize, this cache has the vectors.
model = CacheBackedEmbeddings.from_bytes_store(
    Model(size=8), InMemoryByteStore(), namespace="model", key_encoder="sha256"
)
client = QdrantClient(":memory:")
client.create_collection("pages", VectorParams(size=8, distance=Distance.COSINE))
store = QdrantVectorStore(client, "pages", model)
records = SQLRecordManager("qdrant/pages", db_url="sqlite://")
records.create_schema()


def key(document: Document) -> str:
    """Return a UUID, as Qdrant requires, that changes with the document's text and metadata."""
    return str(uuid5(NAMESPACE_OID, document.model_dump_json(exclude={"id"})))


def synchronize(what: str, pages: dict[str, str], deleted: Sequence[str] = ()) -> None:
    """Update the files in ``pages`` and remove those in ``deleted``; all others stay."""
    embedded.clear()
    parts = splitter.split_documents(
        Document(text, metadata={"source": name}) for name, text in pages.items()
    )
    done = index(
        parts,
        records,
        store,
        cleanup="scoped_full",  # "full" would remove all files that are not in a run
        source_id_key="source",
        key_encoder=key,
    )
    # ``index`` does not see these, nor files that have become empty.
    gone = {*pages, *deleted} - {part.metadata["source"] for part in parts}
    keys = records.list_keys(group_ids=[*gone]) if gone else []
    if keys:
        store.delete(keys)
        records.delete_keys(keys)
    print(
        f"{what}: {done['num_added']} written, {done['num_deleted'] + len(keys)} deleted, "
        f"{client.count('pages').count} stored, {len(embedded)} texts embedded"
    )


folder = Path(__file__).parents[1]
pages = {
    path.relative_to(folder).as_posix(): path.read_text("utf-8")
    for path in (folder / "README.md", *sorted((folder / "docs").glob("*.md")))
}
synchronize("first run", pages)
synchronize("nothing changed", pages)
pages["README.md"] = "One line more.\n\n" + pages["README.md"]
synchronize("a line added before a document", {"README.md": pages["README.md"]})
pages["docs/looking.md"] = pages.pop("docs/view.md")
renamed = {"docs/looking.md": pages["docs/looking.md"]}
synchronize("a file renamed", renamed, deleted=["docs/view.md"])

retriever = VerbatimRetriever(retriever=store.as_retriever(search_kwargs={"k": 1}))
[found] = retriever.invoke("How is the budget counted?")
assert found.page_content in pages[found.metadata["source"]]
print("found:", found.metadata["source"], "under", found.metadata["headings"])
