"""Documents of sites and of other programs: their containers, titles and front matter."""

from __future__ import annotations

from typing import Any

from chunkast import Chunker
from tests import test_speaks
from tests.tables import cases, each_case


@each_case("sites", "documents")
def test_documents_of_sites(case: dict[str, Any]) -> None:
    test_speaks.test_chunks_speak(case)


@cases("sites", "titles")
def test_titles_of_sites(content: str, title: str) -> None:
    for heading in (f"# {content}\n", f"{content}\n===\n"):
        [section] = Chunker().outline(f"{heading}\nText.\n").sections[1:]
        assert section.path == (title,)
