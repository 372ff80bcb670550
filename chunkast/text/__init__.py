"""Find lines, bytes, grapheme clusters, sentences, pages and spans of plain text."""
