"""Check which of a model's quotes are really in the chunks that it was given."""

from pathlib import Path

from chunkast import Chunker, locate_quote

page = Path(__file__).parents[1] / "README.md"
text = page.read_text("utf-8")
chunks = Chunker(max_tokens=300).chunk(text, source="README.md")

# Quotes from a model's answer; the white space of the first differs from the source.
quotes = ["fit a token\n   budget", "a budget that is nearly exact"]
for quote in quotes:
    citations = locate_quote(quote, chunks)
    if not citations:
        print(f"NOT FOUND  {quote!r}")
    for citation in citations:
        lines = f"{citation.start_line}-{citation.end_line}"
        print(f"{citation.source}:{lines}  {text[citation.start_index : citation.end_index]!r}")
