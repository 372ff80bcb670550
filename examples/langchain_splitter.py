"""LangChain documents that can be cited: pip install 'chunkast[langchain]'."""

from pathlib import Path

from langchain_core.documents import Document

from chunkast.adapters.langchain import ChunkastTextSplitter

page = Path(__file__).parents[1] / "README.md"
document = Document(page.read_text("utf-8"), metadata={"source": page.name})
splitter = ChunkastTextSplitter(chunk_size=300, chunk_overlap=30)
for part in splitter.split_documents([document])[:5]:
    found = part.metadata
    assert document.page_content.startswith(part.page_content, found["start_index"])
    print(part.id, f"{found['source']}:{found['start_line']}-{found['end_line']}", end="  ")
    print(found["token_count"], "tokens ", found["headings"])
