"""A Haystack pipeline that is saved and loaded: pip install 'chunkast[haystack]'."""

from pathlib import Path

from haystack import Document, Pipeline
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore

from chunkast.adapters.haystack import ChunkastDocumentSplitter

page = Path(__file__).parents[1] / "README.md"
pipeline = Pipeline()
pipeline.add_component("splitter", ChunkastDocumentSplitter("file_path", max_tokens=300))
pipeline.add_component("writer", DocumentWriter(InMemoryDocumentStore()))
pipeline.connect("splitter", "writer")

pipeline = Pipeline.loads(pipeline.dumps())
document = Document(content=page.read_text("utf-8"), meta={"file_path": page.name})
result = pipeline.run({"splitter": {"documents": [document]}}, include_outputs_from={"splitter"})
print(result["writer"]["documents_written"], "documents written")
for part in result["splitter"]["documents"][:5]:
    found = part.meta
    print(part.id, f"{found['file_path']}:{found['start_line']}-{found['end_line']}", end="  ")
    print(found["token_count"], "tokens ", found["headings"])
