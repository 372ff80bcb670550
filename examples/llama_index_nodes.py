"""LlamaIndex nodes with exact positions: pip install 'chunkast[llama-index]'."""

from pathlib import Path

from llama_index.core import Document
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import MetadataMode

from chunkast.adapters.llama_index import ChunkastNodeParser

page = Path(__file__).parents[1] / "README.md"
document = Document(text=page.read_text("utf-8"), id_=page.name)
pipeline = IngestionPipeline(transformations=[ChunkastNodeParser(chunk_size=300)])
for node in pipeline.run(documents=[document])[:5]:
    assert node.text == document.text[node.start_char_idx : node.end_char_idx]
    print(node.node_id, f"{node.ref_doc_id}[{node.start_char_idx}:{node.end_char_idx}]", end="  ")
    print("embedded as", repr(node.get_content(MetadataMode.EMBED)[:40]))
