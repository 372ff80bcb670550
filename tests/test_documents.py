"""Documents people have: front matter as data, notebooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkast import (
    Chunk,
    ChunkastWarning,
    ChunkConfig,
    Chunker,
    ConfigError,
    SourceError,
    locate_quote,
    plan_writes,
)
from chunkast.cli.main import main
from chunkast.index import Store
from chunkast.notebook import chunk_notebook, read_notebook
from chunkast.text import front_matter
from chunkast.writers import json_bytes
from tests.strategies import documents


def matter(text: str, **options: Any) -> Any:
    """What the metadata of a document's every chunk says of its front matter."""
    chunks = Chunker(**options).chunk(f"{text}# A\n\nText.\n\n# B\n\nMore.\n")
    (said,) = {json.dumps(chunk.metadata["front_matter"]) for chunk in chunks}
    assert all(json.loads(json_bytes(chunk.to_dict()))["metadata"] for chunk in chunks)
    return json.loads(said)


# Front matter


def test_front_matter_is_raw_unless_asked_for_as_data() -> None:
    text = "---\ntitle: Tides\ntags: [sea, moon]\n---\n"
    pytest.importorskip("yaml", reason="the extra yaml is not installed")
    assert matter(text) == text
    assert matter(text, front_matter="parsed") == {"title": "Tides", "tags": ["sea", "moon"]}
    toml = "+++\r\ntitle = 'Tides'\r\n[author]\r\nname = 'M'\r\n+++\r\n"
    assert matter(toml, front_matter="parsed") == {"title": "Tides", "author": {"name": "M"}}


def test_ids_and_hashes_do_not_depend_on_how_front_matter_is_given() -> None:
    pytest.importorskip("yaml", reason="the extra yaml is not installed")
    text = "---\ntitle: Tides\n---\n\n# A\n\nText.\n"
    raw, parsed = (Chunker(front_matter=form).chunk(text, "a.md") for form in ("raw", "parsed"))
    assert [(c.id, c.embed_hash) for c in raw] == [(c.id, c.embed_hash) for c in parsed]


def test_what_json_cannot_hold_becomes_a_string() -> None:
    pytest.importorskip("yaml", reason="the extra yaml is not installed")
    text = (
        "---\ndate: 2024-06-05\nat: 2024-06-05T10:00:00Z\nnever: .nan\nbytes: !!binary aGk=\n"
        "set: !!set {a, b}\n1: one\non: yes\nbad: 2024-02-31\nown: !mine 3\n"
        "call: !!python/object/apply:os.getcwd []\nbase: &b {k: 1, l: 2}\nmore: {<<: *b, k: 3}\n---\n"
    )
    assert matter(text, front_matter="parsed") == {
        "date": "2024-06-05",
        "at": "2024-06-05T10:00:00+00:00",
        "never": "nan",
        "bytes": "aGk=",
        "set": ["a", "b"],
        "1": "one",
        "on": True,
        "bad": "2024-02-31",
        "own": "3",
        "call": [],
        "base": {"k": 1, "l": 2},
        "more": {"k": 3, "l": 2},
    }
    toml = "+++\nday = 2024-06-05\ntime = 07:32:00\nsize = inf\n+++\n"
    said = matter(toml, front_matter="parsed")
    assert said == {"day": "2024-06-05", "time": "07:32:00", "size": "inf"}


ALIASES = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("a: [\n", "line 3"),
        ("a: b\n- c\n", "line 3"),
        (ALIASES, "more than 10,000 values"),
        ("a: &a {b: *a}\n", "deeper than 50"),
        ("a: " + "[" * 20_000 + "\n", "too deep"),
        ("a: " + "x" * 70_000 + "\n", "characters"),
        ("a: \0\n", "not valid YAML"),
    ],
)
def test_front_matter_that_cannot_be_read_stays_as_it_is(body: str, reason: str) -> None:
    pytest.importorskip("yaml", reason="the extra yaml is not installed")
    text = f"---\n{body}---\n"
    with pytest.warns(ChunkastWarning, match=reason):
        assert matter(text, front_matter="parsed") == text


def test_a_missing_library_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_matter, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match=r"PyYAML: pip install 'chunkast\[yaml\]'"):
        ChunkConfig(front_matter="parsed")
    assert ChunkConfig().front_matter == "raw"


# Notebooks


def notebook(*cells: tuple[str, str, str], minor: int = 5) -> str:
    """JSON of cells given as type, source and id; an empty id is left out."""
    listed = [
        {"cell_type": kind, "source": source.splitlines(keepends=True)}
        | ({"id": id_} if id_ else {})
        for kind, source, id_ in cells
    ]
    about = {"language_info": {"name": "python"}}
    return json.dumps(
        {"cells": listed, "metadata": about, "nbformat": 4, "nbformat_minor": minor}, indent=1
    )


CELLS = (
    ("markdown", "# Tides\n\nLevels of ten years.\n\n## Data", "aa"),
    ("code", "def f(x):\n    return x\n\n\nprint(f(1))", "bb"),
    ("markdown", "A note.\n\n# Result\n\nNone.", "cc"),
    ("code", "", "dd"),
    ("raw", "\\newpage", "ee"),
)


def test_chunks_of_a_notebook_cite_their_cells() -> None:
    found = read_notebook(notebook(*CELLS))
    assert [cell.language for cell in found.cells] == ["", "python", "", "python", ""]
    chunks = chunk_notebook(Chunker(min_tokens=0), found, "n.ipynb")
    for number, chunk in enumerate(chunks):
        cell = found.cells[chunk.metadata["cell"]]
        assert chunk.text == cell.source[chunk.start_index : chunk.end_index]
        assert chunk.index == number
        assert chunk.source == f"n.ipynb#cell-id={cell.id}"
        assert chunk.metadata == {"cell": cell.number, "cell_type": cell.type, "cell_id": cell.id}
    assert [(chunk.source, chunk.headings, chunk.start_line) for chunk in chunks] == [
        ("n.ipynb#cell-id=aa", ("Tides",), 1),
        ("n.ipynb#cell-id=bb", ("Tides", "Data"), 1),
        ("n.ipynb#cell-id=cc", ("Tides", "Data"), 1),
        ("n.ipynb#cell-id=cc", ("Result",), 3),
        ("n.ipynb#cell-id=ee", ("Result",), 1),
    ]
    assert chunks[1].embed_text == f"Tides > Data\n\n{chunks[1].text}"
    assert locate_quote("print(f(1))", chunks)[0].source == "n.ipynb#cell-id=bb"


@pytest.mark.parametrize("ids", [True, False])
def test_ids_of_a_notebooks_chunks_outlive_a_cell_put_in_between(ids: bool) -> None:
    cells = [(kind, source, id_ if ids else "") for kind, source, id_ in CELLS]
    more = [*cells[:2], ("markdown", "### Aside\n\nNew.", "zz" if ids else ""), *cells[2:]]
    before, after = (
        chunk_notebook(Chunker(), notebook(*given), "n.ipynb") for given in (cells, more)
    )
    plan = plan_writes(after, before)
    assert not plan.changed
    # What follows stands under the new heading, as in any document.
    assert len(plan.added) == 2
    assert len(plan.removed) == 1
    same = [*cells[:2], ("code", "x = 1", "zz" if ids else ""), *cells[2:]]
    plan = plan_writes(chunk_notebook(Chunker(), notebook(*same), "n.ipynb"), before)
    assert len(plan.added) == 1
    assert not plan.removed
    assert len(plan.changed) == (0 if ids else 1)
    assert len({chunk.id for chunk in after}) == len(after)


def test_front_matter_of_a_notebook_is_in_all_its_chunks() -> None:
    text = notebook(("raw", "---\ntitle: Tides\n---", "aa"), ("code", "x = 1", "bb"))
    chunks = chunk_notebook(Chunker(context="title"), text)
    assert {chunk.metadata["front_matter"] for chunk in chunks} == {"---\ntitle: Tides\n---"}
    assert chunks[1].embed_text == "Tides\n\nx = 1"
    assert chunks[1].source == "#cell-id=bb"


def test_older_formats_are_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Old *tides*"]},
        {"cell_type": "code", "input": ["x = 1\n", "y = 2"], "language": "python"},
    ]
    text = json.dumps({"worksheets": [{"cells": cells}, {"cells": cells[1:]}], "nbformat": 3})
    found = read_notebook(text)
    assert [cell.number for cell in found.cells] == [0, 1, 2]
    chunks = chunk_notebook(Chunker(), "\ufeff" + text, "old.ipynb")
    assert [(chunk.text, chunk.headings, chunk.source) for chunk in chunks] == [
        ("Old *tides*", ("Old tides",), "old.ipynb#cell=0"),
        ("x = 1\ny = 2", ("Old tides",), "old.ipynb#cell=1"),
        ("x = 1\ny = 2", ("Old tides",), "old.ipynb#cell=2"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"cells": [\n "é", }', r"n.ipynb at byte 19: not a notebook, which is JSON: .*line 2"),
        ("", "n.ipynb at byte 0: .*JSON"),
        ("[" * 100_000, "nested too deep"),
        ("1" * 10_000, "cannot be read"),
        ("[]", "the notebook is list; allowed is an object"),
        ("{}", "cells is nothing; allowed is a list"),
        ('{"cells": [1]}', r"cells\[0\] is int; allowed is an object"),
        ('{"cells": [{"cell_type": "code"}]}', r"cells\[0\]\.input is nothing"),
        ('{"cells": [{"source": ""}]}', r"cells\[0\]\.cell_type is nothing"),
        ('{"cells": [{"cell_type": "raw", "source": ["a", 1]}]}', r"cells\[0\]\.source is list"),
        ('{"worksheets": [[]]}', r"worksheets\[0\] is list"),
    ],
)
def test_what_is_no_notebook_is_told(text: str, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        read_notebook(text, "n.ipynb")


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["markdown", "code", "raw"]), documents()), max_size=3))
def test_promises_hold_in_every_cell(cells: list[tuple[str, str]]) -> None:
    text = notebook(*((kind, source, "") for kind, source in cells))
    chunker = Chunker(max_tokens=40)
    chunks = chunk_notebook(chunker, text, "n.ipynb")
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for number, cell in enumerate(read_notebook(text).cells):
        at = 0
        for chunk in (chunk for chunk in chunks if chunk.metadata["cell"] == number):
            assert chunk.text == cell.source[chunk.start_index : chunk.end_index]
            assert chunker.counter.count(chunk.embed_text) == chunk.embed_token_count
            assert chunk.oversize or chunk.embed_token_count <= 40
            own = chunk.start_index + chunk.overlap
            assert not cell.source[at:own].strip("\ufeff").strip()
            at = chunk.end_index
        assert not cell.source[at:].strip("\ufeff").strip()


def test_the_command_reads_notebooks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "n.ipynb").write_text(notebook(*CELLS), "utf-8")
    (tmp_path / "a.md").write_text("# A\n\nText.\n", "utf-8")
    (tmp_path / "bad.ipynb").write_text('{"cells": 1}', "utf-8")
    assert main(["chunk", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert "bad.ipynb: not a notebook: cells is int; allowed is a list" in said.err
    chunks = [Chunk.from_dict(json.loads(line)) for line in said.out.splitlines()]
    expected = chunk_notebook(Chunker(), notebook(*CELLS), "n.ipynb")
    assert chunks == [*Chunker().chunk("# A\n\nText.\n", "a.md"), *expected]

    assert main(["stats", str(tmp_path), "--format", "json", "-q"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["documents"], report["chunks"]) == (2, len(chunks))

    made = tmp_path / "made.db"
    for name, again in (("one.db", False), ("one.db", True)):
        assert main(["index", str(tmp_path), "--db", str(tmp_path / name), "-q"]) == 1
        assert ("added 0," in capsys.readouterr().out) == again
    assert main(["chunk", str(tmp_path), "-q", "-o", str(made)]) == 1
    for path in (tmp_path / "one.db", made):
        with Store(str(path)) as store:
            assert list(store.chunks("n.ipynb")) == expected
            assert store.quote("print(f(1))")[0].source == "n.ipynb#cell-id=bb"
