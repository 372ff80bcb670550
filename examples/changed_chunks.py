"""A vector store that is sent only the chunks which an edit has changed."""

from pathlib import Path

from chunkast import Chunk, Chunker, plan_writes

page = Path(__file__).parents[1] / "README.md"
chunker = Chunker(max_tokens=300)
# Stands for a vector store: a chunk's id -> the text that its vector is made of.
store: dict[str, str] = {}


def synchronize(text: str, known: list[Chunk]) -> list[Chunk]:
    """Update the store from the chunks ``known`` to those of ``text``, and return these."""
    current = chunker.chunk(text, source=page.name)
    plan = plan_writes(current, known)
    texts = {chunk.id: chunk.embed_text for chunk in current}
    for chunk_id in plan.embed:  # those whose text or heading path has changed
        store[chunk_id] = texts[chunk_id]
    for chunk_id in plan.removed:
        del store[chunk_id]
    print(f"{len(current)} chunks: {len(plan.embed)} to embed, {len(plan.removed)} removed")
    return current


text = page.read_text("utf-8")
known = synchronize(text, [])
known = synchronize(text, known)
known = synchronize(text.replace("# chunkast\n", "# chunkast\n\nOne more sentence.\n", 1), known)
assert store == {chunk.id: chunk.embed_text for chunk in known}
