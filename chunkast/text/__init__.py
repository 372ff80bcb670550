"""Read text files, and find lines, sentences, pages, front matter and other parts of a text."""
