"""Update a vector store after an edit; only changed chunks are embedded and written."""

from pathlib import Path
from typing import Any

from chunkast import Chunker, plan_writes

page = Path(__file__).parents[1] / "README.md"
chunker = Chunker(max_tokens=300)
# A stand-in for a vector store: the vector and the payload of each chunk, by id.
vectors: dict[str, list[float]] = {}
payloads: dict[str, dict[str, Any]] = {}


def embed(text: str) -> list[float]:
    """Return a vector; a stand-in for an embedding model."""
    return [float(len(text)), float(text.count(" "))]


def synchronize(name: str, text: str) -> None:
    """Bring the store up to date with one document; an empty text removes the document."""
    current = {chunk.id: chunk for chunk in chunker.chunk(text, source=name)}
    # Only the records of this document: all other stored chunks would count as removed.
    prior = [payload["record"] for payload in payloads.values() if payload["source"] == name]
    plan = plan_writes(current.values(), prior)
    new = {chunk_id: embed(current[chunk_id].embed_text) for chunk_id in plan.embed}
    found = plan.vectors(vectors, new)  # read before anything is written or removed
    for chunk_id in plan.removed:
        del vectors[chunk_id], payloads[chunk_id]
    for chunk_id in (*plan.added, *plan.changed, *plan.moved):
        chunk = current[chunk_id]
        payloads[chunk_id] = {
            "record": chunk.record(),
            "source": name,
            "lines": (chunk.start_line, chunk.end_line),
            "text": chunk.text,
        }
    vectors.update(found)
    print(
        f"{name}, {len(current)} of {len(vectors)} chunks: {len(plan.embed)} to embed, "
        f"{len(plan.reuse)} vectors reused, {len(plan.moved)} moved, {len(plan.removed)} removed"
    )
    stored = {chunk_id for chunk_id in vectors if payloads[chunk_id]["source"] == name}
    assert stored == current.keys()
    assert all(vectors[chunk.id] == embed(chunk.embed_text) for chunk in current.values())


text = page.read_text("utf-8")
synchronize("README.md", text)
synchronize("README.md", text)
text = text.replace("# chunkast\n", "# chunkast\n\nOne more sentence.\n", 1)
synchronize("README.md", text)
synchronize("docs/README.md", "# Manual\n\nAnother document of the same name.\n")
synchronize("docs/README.md", "")
