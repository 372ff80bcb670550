"""Documents of sites and of other programs: their containers, titles and front matter."""

from __future__ import annotations

from typing import Any

from tests import test_speaks
from tests.tables import each_case


@each_case("sites", "documents")
def test_documents_of_sites(case: dict[str, Any]) -> None:
    test_speaks.test_chunks_speak(case)
