"""Definition lists that are read by default."""

from __future__ import annotations

import pytest

from chunkast import Chunker
from chunkast.config import DEFAULT_EXTENSIONS


def kinds(text: str, *extensions: str) -> str:
    leaves = Chunker(extensions=(*DEFAULT_EXTENSIONS, *extensions)).analyze(text).blocks.walk()
    shown = ("term", "definition", "paragraph", "heading", "code", "table", "caption", "legend")
    return " ".join(block.kind for block in leaves if block.kind in shown)


DEFINED = "term definition paragraph"
CASES = [
    ("a\n: b\n", DEFINED),
    ("a\n:   b\n    c\n", DEFINED),
    ("a\n\n:   b\n\n    c\n\nd\n", f"{DEFINED} paragraph paragraph"),
    ("a\n\n:\tb\n", DEFINED),
    ("a\n: b\n: c\n\nd\n: e\n", f"{DEFINED} definition paragraph {DEFINED}"),
    # In a list that has begun, one space is enough.
    ("a\n: b\n\nc\n\n: d\n", f"{DEFINED} {DEFINED}"),
    ("> a\n>\n> :   b\n\n- c\n  : d\n", f"{DEFINED} {DEFINED}"),
    # Not a definition.
    ("a\n\n: b\n", "paragraph paragraph"),
    ("a\n\n:  b\n", "paragraph paragraph"),
    ("a\n\n\n:   b\n", "paragraph paragraph"),
    ("a\n:b\n", "paragraph"),
    ("a\n~ b\n", "paragraph"),
    ("a\nb\n: c\n", "paragraph"),
    ("a\n\n    : b\n", "paragraph code"),
    ("# a\n: b\n", "heading paragraph"),
    (": a\n: b\n", "paragraph"),
    ("| a |\n|---|\n| b |\n\n:   Caption\n\nc\n", "table legend paragraph"),
    ("| a |\n|---|\n| b |\n\n: Caption\nc\n", "table legend"),
    ("a\n\n:   Caption\n\n| a |\n|---|\n| b |\n", "paragraph caption table"),
    ("a\n\n: Caption\n\n<table><tr><td>b</table>\n", "paragraph caption"),
    (":a\n\n| a |\n|---|\n", "paragraph table"),
    ("```\na\n: b\n```\n", ""),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_definitions_are_read_where_they_are_meant(text: str, expected: str) -> None:
    assert kinds(text) == expected
    assert kinds(text.replace("\n", "\r\n")) == expected


def test_the_plugins_reading_is_another_extension() -> None:
    assert kinds("a\n\n: b\n", "deflists") == kinds("a\n~ b\n", "deflists") == DEFINED
    without = tuple(name for name in DEFAULT_EXTENSIONS if name != "definitions")
    blocks = Chunker(extensions=without).analyze("a\n: b\n").blocks
    assert [block.kind for block in blocks.children] == ["paragraph"]


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
