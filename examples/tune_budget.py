"""Compare budgets for a document: the number of chunks, how full they are, where they begin.

``chunkast view README.md --budgets 128,256,512 --open`` shows the same in a browser.
"""

from collections import Counter
from pathlib import Path

from chunkast import Chunker

page = Path(__file__).parents[1] / "README.md"
text = page.read_text("utf-8")
analysis = Chunker().analyze(text)  # only once: the analysis does not depend on the budget
kinds = {point.pos: point.kind for point in analysis.break_points}
for budget in (128, 256, 512):
    chunks = Chunker(max_tokens=budget, overlap=0).chunk(analysis)
    fill = sum(chunk.token_count for chunk in chunks) / len(chunks) / budget
    begins = Counter(kinds.get(chunk.start_index, "inside a block") for chunk in chunks[1:])
    print(f"{budget:4} tokens: {len(chunks):3} chunks, {fill:.0%} full,", dict(begins))
