"""Properties of plain text: lines, bytes, grapheme clusters, sentences and spans."""
