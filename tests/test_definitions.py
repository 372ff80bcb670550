"""Definition lists that are read by default."""

from __future__ import annotations

from chunkast import Chunker
from chunkast.config import DEFAULT_EXTENSIONS
from tests.test_blocks import shape


def test_the_plugins_reading_is_another_extension() -> None:
    extensions = (*DEFAULT_EXTENSIONS, "deflists")
    for text in ("a\n\n: b\n", "a\n~ b\n"):
        assert shape(text, extensions) == "definition-list(term definition(paragraph))"
    without = tuple(name for name in DEFAULT_EXTENSIONS if name != "definitions")
    assert shape("a\n: b\n", without) == "paragraph"


def test_sentences_of_definitions_are_whole() -> None:
    sentences = (
        "Values above one hour are refused by the server, and the log names the client.",
        "Use a queue for such jobs instead.",
        "Dr. Olsen wrote the guide.",
    )
    for indented in ("    ", "  "):
        text = f"timeout\n\n:   The seconds that the client waits.\n\n{indented}{' '.join(sentences)}\n"
        for chunker in (Chunker(max_tokens=size, overlap=0) for size in range(24, 40)):
            chunks = chunker.chunk(text)
            assert all(any(each in chunk.text for chunk in chunks) for each in sentences)
