"""Chunk an agent's transcript; tool calls stay whole and are listed with their arguments."""

from chunkast import Chunker
from chunkast.toolcalls import Tool

search = Tool("search", {"properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}})
transcript = """\
## Turn 1

The user asks which lines of the handbook speak of refunds. I look them up.

<search>
<query># Refunds</query>
<limit>3</limit>
</search>

## Turn 2

Three passages came back. The second one settles it: refunds take ten days.
"""
chunker = Chunker(max_tokens=60, overlap=0, tools=[search])
for chunk in chunker.chunk(transcript, source="session-7.md"):
    print(f"{chunk.source}:{chunk.start_line}-{chunk.end_line}", " > ".join(chunk.headings))
    for call in chunk.metadata.get("tool_calls", []):
        print("   ", call["name"], call["arguments"])
