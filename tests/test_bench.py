"""What the benchmarks are made of and write; ``python -m tests.bench --smoke`` runs them."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.bench.contenders import FLOOR, own_name
from tests.bench.corpus import CJK, ENGLISH, by_language, copies, load_corpus, of_size
from tests.bench.report import write_results
from tests.bench.tables import Table, as_markdown

SVG = "{http://www.w3.org/2000/svg}"
DEFAULTS = own_name("sections", 0.15, "headings")


def test_the_fixtures_have_both_languages() -> None:
    corpora = by_language(load_corpus(smoke=True))
    assert all("。" in text or "다." in text for text in corpora[CJK])
    assert len(corpora[CJK]) == 3
    assert len(corpora[ENGLISH]) > 30


def test_copies_differ_and_a_document_has_its_size_in_whole_lines() -> None:
    assert len(set(islice(copies(["One.", "Two."]), 9))) == 9
    text = of_size(["Größe 大小.\n" * 5, "```\nnever closed\n"], 1_000)
    assert 950 < len(text.encode()) <= 1_000
    assert text.endswith("\n")
    assert "```" not in text


def test_a_table_is_markdown_that_reads_as_text() -> None:
    table = Table("k", "Title", "Note.", (("", ""), ("share", ".1%")), (("a|b", 0.5), ("c", None)))
    assert as_markdown(table) == (
        "## Title\n\nNote.\n\n"
        "|      | share |\n"
        "| ---- | ----: |\n"
        "| a\\|b | 50.0% |\n"
        "| c    |     - |\n"
    )


def test_the_results_have_every_figure_and_a_plot(tmp_path: Path) -> None:
    speed = (("", ""), ("MB/s", ".2f"), ("of floor", ".1%"))
    rows = ((FLOOR, 8.0, 1.0), (DEFAULTS, 4.0, 0.5), ("a <peer> 1.0, Kind", 2.0, 0.25))
    sizes = (("", ""), ("1 kB", ".2f"), ("10 kB", ".2f"))
    tables = [
        Table("throughput, English", "English", "", speed, rows),
        Table("throughput, CJK", "CJK", "", speed, rows),
        Table(
            "scaling, size",
            "Size",
            "",
            sizes,
            ((FLOOR, 6.0, 8.0), (DEFAULTS, 3.0, 4.0), ("a <peer> 1.0, Kind", 2.0, None)),
        ),
    ]
    write_results(tmp_path, "About", tables)

    found = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert found["tables"]["scaling, size"]["rows"][2] == {
        "": "a <peer> 1.0, Kind",
        "1 kB": 2.0,
        "10 kB": None,
    }
    text = (tmp_path / "RESULTS.md").read_text("utf-8")
    assert all(as_markdown(table) in text for table in tables)

    picture = ET.parse(tmp_path / "results.svg")  # noqa: S314 - our own file
    words = [element.text for element in picture.iter(f"{SVG}text")]
    assert [word for word in words if word in ("50%", "25%")] == ["50%", "50%", "25%", "25%"]
    # One name at its bars, one in the key of the lines.
    assert words.count("a <peer> 1.0") == 2
    points = [line.get("points", "").split() for line in picture.iter(f"{SVG}polyline")]
    assert [len(line) for line in points] == [2, 2, 1]
