"""Copies of a chunk are one hit, which lists its other places."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkast import Chunker
from chunkast.cli.main import main
from chunkast.index import Store
from tests.tables import cases
from tests.test_index import filled

PAGE = "# Huts\n\n## Food\n\nEvery hut sells soup. Since {}.\n"


def found(
    documents: list[tuple[str, str]], limit: int | None = None
) -> list[tuple[str, list[str]]]:
    with filled(dict(documents), max_tokens=100, overlap=0) as store:
        hits = store.search("soup", limit=limit)
        return [(hit.place, [*map(str, hit.also)]) for hit in hits]


def test_versions_of_a_section_are_one_hit() -> None:
    names = ("1.0", "2.0.x", "latest", "next", "stable", "v1", "v2.0-rc1", "version-3")
    pages = [(f"docs/{name}/huts.md", PAGE.format(name)) for name in names]
    other = ("docs/v1/map.md", "# Map\n\nA hut with soup that is not in the other places at all.\n")
    [first, second] = found([*pages, other], limit=2)
    assert {first[0], *first[1]} == {f"{source}:1-5" for source, _ in pages}
    assert second == ("docs/v1/map.md:1-3", [])


def test_equal_text_is_one_hit_and_the_next_different_one_follows() -> None:
    text = "Soup is sold here.\n"
    pages = [("a.md", text), ("b/c.md", "Soup  is sold\nhere.\n"), ("d.md", f"# D\n\n{text}")]
    assert found(pages, limit=2)[0] == ("a.md:1-1", ["b/c.md:1-2"])
    assert len(found(pages, limit=2)) == 2


@cases("copies", "other")
def test_other_sections_are_hits_of_their_own(source: str, text: str) -> None:
    assert [also for _, also in found([("docs/v1/huts.md", PAGE), (source, text)])] == [[], []]


def test_a_copy_of_a_better_copy_is_no_hit() -> None:
    pages = [("docs/v1/huts.md", PAGE.format(1)), ("docs/v2/huts.md", PAGE.format(2))]
    [hit] = found([*pages, ("docs/w/huts.md", PAGE.format(2))])
    assert {hit[0], *hit[1]} == {"docs/v1/huts.md:1-5", "docs/v2/huts.md:1-5", "docs/w/huts.md:1-5"}


def test_copies_match_within_the_sources_that_are_searched() -> None:
    with filled({f"{name}/a.md": PAGE for name in ("one", "two", "three")}) as store:
        [hit] = store.search("soup", within="t*")
        assert [hit.source, *(place.source for place in hit.also)] == ["three/a.md", "two/a.md"]
        assert store.chunk(hit.also[0].id).source == "two/a.md"


def test_the_command_lists_copies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = str(tmp_path / "a.db")
    with Store(database, create=True) as store:
        store.update([("a.md", PAGE), ("b.md", PAGE)], Chunker())
    assert main(["search", "soup", "--db", database]) == 0
    assert "also in b.md:1-5" in capsys.readouterr().out
