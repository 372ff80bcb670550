"""Facts about plain text: lines, bytes, grapheme clusters, sentences, spans."""
