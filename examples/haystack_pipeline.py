"""Update a Haystack document store after edits: pip install 'chunkast[haystack]'."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from haystack import Document
from haystack.components.embedders import MockDocumentEmbedder
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from chunkast import plan_writes
from chunkast.adapters.haystack import ChunkastDocumentSplitter

splitter = ChunkastDocumentSplitter(max_tokens=300)
# The embedder embeds the context before each text too. It is a stand-in for one with a model.
embedder = MockDocumentEmbedder(meta_fields_to_embed=["embed_prefix"], embedding_separator="")
store = InMemoryDocumentStore()


def record(document: Document) -> dict[str, str]:
    """Return the record of a document for ``plan_writes``."""
    return {"id": document.id, **document.meta}


def synchronize(what: str, pages: dict[str, str], deleted: Sequence[str] = ()) -> None:
    """Update the files in ``pages`` and remove those in ``deleted``; all others stay."""
    documents = [Document(content=text, meta={"file_path": name}) for name, text in pages.items()]
    current = {part.id: part for part in splitter.run(documents)["documents"]}
    # Only what is stored of these files: everything else would count as removed.
    these = {"field": "meta.source_id", "operator": "in", "value": [*pages, *deleted]}
    prior = {part.id: part for part in store.filter_documents(these)}
    plan = plan_writes(map(record, current.values()), map(record, prior.values()))

    new = embedder.run([current[id_] for id_ in plan.embed])["documents"]
    vectors = {id_: part.embedding for id_, part in prior.items()}
    vectors |= plan.vectors(vectors, {part.id: part.embedding for part in new})
    written = [
        replace(current[id_], embedding=vectors[id_])
        for id_ in (*plan.added, *plan.changed, *plan.moved)
    ]
    store.delete_documents([*plan.removed])  # writing does not delete these
    store.write_documents(written, DuplicatePolicy.OVERWRITE)
    print(
        f"{what}: {len(written)} written, {len(plan.removed)} removed, "
        f"{store.count_documents()} stored, {len(plan.embed)} texts embedded"
    )
    for part in store.filter_documents(these):
        text = pages[part.meta["file_path"]]
        assert part.content == text[part.meta["start_index"] : part.meta["end_index"]]


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
