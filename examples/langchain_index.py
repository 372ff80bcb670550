"""Update a LangChain index after edits: pip install 'chunkast[langchain,stores]'."""

from pathlib import Path

from langchain_classic.embeddings import CacheBackedEmbeddings
from langchain_classic.indexes import SQLRecordManager
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.indexing import index
from langchain_core.stores import InMemoryByteStore
from langchain_core.vectorstores import InMemoryVectorStore

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
store = InMemoryVectorStore(model)
records = SQLRecordManager("readme", db_url="sqlite://")
records.create_schema()


def synchronize(what: str, pages: dict[str, str]) -> None:
    """Bring the store up to date with ``pages``, and print how much was written."""
    embedded.clear()
    parts = splitter.split_documents(
        Document(text, metadata={"source": name}) for name, text in pages.items()
    )
    done = index(
        parts,
        records,
        store,
        cleanup="full",
        source_id_key="source",
        key_encoder="sha256",
    )
    print(
        f"{what}: {done['num_added']} written, {done['num_deleted']} deleted, "
        f"{done['num_skipped']} skipped, {len(embedded)} texts embedded"
    )


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

retriever = VerbatimRetriever(retriever=store.as_retriever(search_kwargs={"k": 1}))
[found] = retriever.invoke("How is the budget counted?")
assert found.page_content in pages[found.metadata["source"]]
print("found:", found.metadata["source"], "under", found.metadata["headings"])
