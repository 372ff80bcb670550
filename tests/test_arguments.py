"""What callers pass: texts, names, paths and files, right and wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkast
from chunkast import Chunk, ChunkastWarning, Chunker, ConfigError, SourceError, chunk_id
from chunkast.sources.jupyter import chunk_notebook, read_notebook
from tests.strategies import markdown
from tests.test_documents import CELLS, notebook

TEXT = "# Tides\n\nHigh water is at six. Low water is at noon.\n"
CODE = "import os\n\n\ndef tide():\n    return os.name\n"
NOTEBOOK = notebook(*CELLS)
CHUNKER = Chunker(max_tokens=40, overlap=0.3)
LONG = "# Long\n\n" + "Water rises and falls.\n\n" * 900


# Arguments


def test_a_path_is_a_source_and_no_text(recwarn: pytest.WarningsRecorder) -> None:
    for source in (Path("docs") / "a.md", "docs/a.md"):
        [found] = CHUNKER.chunk("One.", source)
        assert (found.source, found.id) == ("docs/a.md", chunk_id("docs/a.md", (), 0))
    assert CHUNKER.analyze("x", Path("a.py")).blocks.children[0].kind != "paragraph"
    [found] = CHUNKER.chunk_batch(["One."], [Path("a.md")])[0]
    assert found.source == "a.md"
    for text in ("See a.md here", "a.md\nb", "x" * 2_000 + ".md", "", ".m"):
        chunkast.chunk(text)
    chunkast.chunk("print.py", source="a.md")
    assert list(recwarn) == []
    for text in ("t.md", "docs/The Guide.MD\n", "C:\\x\\notebook.ipynb", "a.py"):
        with pytest.warns(ChunkastWarning, match=r"looks like a path; chunk_file\(") as told:
            [found] = chunkast.chunk(text)
        assert [warning.filename for warning in told] == [__file__]
        assert found.text == text.strip()


@pytest.mark.parametrize(
    "way",
    [
        CHUNKER.chunk,
        CHUNKER.analyze,
        CHUNKER.split_text,
        lambda text: list(CHUNKER.iter_chunks([("a.md", text)])),
        lambda text: list(CHUNKER.chunk_documents([("a.md", text)])),
        lambda text: CHUNKER.chunk_batch([TEXT, text]),
        chunkast.chunk,
        chunkast.count_tokens,
    ],
)
def test_what_is_no_text_is_told(way: Callable[[Any], object]) -> None:
    for value, message in (
        (None, "type NoneType: must be a str$"),
        (512, "type int: must be a str$"),
        (Path("a.md"), r"type \w+Path: must be a str; chunk_file\(path\) reads a file"),
        (b"# A", r"type bytes: must be a str; decode bytes first: data\.decode"),
        (["a", "b"], r"type list: must be a str; chunk_batch\(texts\) takes several"),
    ):
        with pytest.raises(TypeError, match=rf"^text is of {message}"):
            way(value)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_what_is_no_text_costs_itself_alone(workers: int) -> None:
    texts: list[Any] = [LONG, None, TEXT]
    told: list[tuple[int, str | None, str]] = []
    found = Chunker().chunk_batch(
        texts,
        ["a", "b", "c"],
        workers=workers,
        on_error=lambda number, source, error: told.append((number, source, str(error))),
    )
    assert told == [(1, "b", "text is of type NoneType: must be a str")]
    assert [bool(chunks) for chunks in found] == [True, False, True]


def test_lists_and_pairs_are_told_from_texts() -> None:
    value: Any
    for value in (None, TEXT, b"text", 3):
        with pytest.raises(TypeError, match=r"^texts is of type .*: must be a list"):
            CHUNKER.chunk_batch(value)
    with pytest.raises(TypeError, match=r"^sources is of type .*: must be a list"):
        CHUNKER.chunk_batch([TEXT], TEXT)
    for value, place in ((TEXT, ""), (None, ""), ([TEXT], r"\[0\]"), (["ab"], r"\[0\]")):
        for way in (CHUNKER.iter_chunks, CHUNKER.chunk_documents):
            with pytest.raises(TypeError, match=rf"^documents{place} is of type .*: must be \(so"):
                list(way(value))


# Files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs"


def same_but_names(one: list[Chunk], other: list[Chunk]) -> bool:
    """Whether chunks are equal but for their source and ids."""
    plain = [
        [{**chunk.to_dict(), "source": None, "id": None} for chunk in chunks]
        for chunks in (one, other)
    ]
    return plain[0] == plain[1]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "\ufeff" + TEXT.replace("\n", "\r\n")),
        ("a.MDX", "import a from 'b'\n\nText.\n"),
        ("a.py", CODE),
        ("a.ipynb", NOTEBOOK),
        ("a.IPYNB", '{"cells": 1}'),
        ("noending", TEXT),
    ],
)
def test_a_file_is_what_its_ending_says(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_bytes(text.encode())
    inside = f"docs/{name}"
    found = CHUNKER.chunk_file(Path("docs", name))
    assert found
    assert found == CHUNKER.chunk(text, inside) == CHUNKER.chunk_file(inside)
    assert {(chunk.source or "").split("#")[0] for chunk in found} == {inside}
    options: dict[str, Any] = {"max_tokens": 40, "overlap": 0.3}
    assert chunkast.chunk_file(path, source=inside, **options) == found
    # A name of the caller's own does not change what the file is.
    for own in ("tides", "tides.md", "tides.py", "tides.ipynb"):
        named = CHUNKER.chunk_file(path, own)
        assert same_but_names(named, found)
        assert {(chunk.source or "").split("#")[0] for chunk in named} == {own}


def test_a_file_that_cannot_be_read_is_told(folder: Path) -> None:
    path = str(folder / "a.md")
    with pytest.raises(SourceError, match=r"a\.md: No such file or directory"):
        CHUNKER.chunk_file(path)
    for data, reason, position in (
        (b"# A\n\nna\xefve\n", "0xef is not valid UTF-8 here .*; convert the file to UTF-8", 7),
        ("# A".encode("utf-16"), "this is UTF-16; convert the file to UTF-8", 0),
        (b"\xfe\xff" + "A".encode("utf-16-be"), "this is UTF-16; convert the file", 0),
        (b"# A\n\n\xe2\x82", "0xe2 is not valid UTF-8 here .unexpected end", 5),
    ):
        Path(path).write_bytes(data)
        with pytest.raises(SourceError, match=reason) as told:
            CHUNKER.chunk_file(path)
        assert (told.value.path, told.value.position) == (path, position)
    for name, reason in (
        ("docs", "docs: (Is a directory|Permission denied)"),
        ("a\0.md", "null"),
        ("a" * 5_000, "aaa: "),
    ):
        with pytest.raises(SourceError, match=reason):
            CHUNKER.chunk_file(name)
    for wrong in (None, 3, b"docs/a.md"):
        with pytest.raises(TypeError, match=r"^path is of type \w+: must be a str or a pathlib"):
            CHUNKER.chunk_file(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^source is of type int"):
        CHUNKER.chunk_file(path, 3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="max_tokens='x'"):
        chunkast.chunk_file(path, max_tokens="x")  # type: ignore[arg-type]


# Notebooks


def test_a_notebook_is_one_by_its_name() -> None:
    wanted = chunk_notebook(CHUNKER, NOTEBOOK, "n.ipynb")
    assert CHUNKER.chunk(NOTEBOOK, "n.ipynb") == wanted
    assert chunkast.chunk(NOTEBOOK, source="n.ipynb", max_tokens=40, overlap=0.3) == wanted
    # By no other name, and not if it is said what it is.
    for source, language in ((None, None), ("n.json", None), ("n.ipynb", "json"), ("n.ipynb", "")):
        for chunk in CHUNKER.chunk(NOTEBOOK, source, language):
            assert chunk.text == NOTEBOOK[chunk.start_index : chunk.end_index]
    # Nor an analysis, which is of one text.
    analysis = CHUNKER.analyze(NOTEBOOK, "n.ipynb")
    assert analysis.text == NOTEBOOK
    assert CHUNKER.chunk(analysis, "n.ipynb") == CHUNKER.chunk(NOTEBOOK, "n.ipynb", "")


@pytest.mark.slow
def test_notebooks_among_documents_are_chunked_by_their_cells() -> None:
    chunker = Chunker(max_tokens=200)
    pairs = [("long.md", LONG), ("n.ipynb", NOTEBOOK), ("a.md", TEXT), ("n.ipynb", NOTEBOOK)]
    pairs += [("o.ipynb", notebook(("markdown", TEXT * 30, "aa"), ("code", CODE * 90, "bb")))]
    names, texts = [name for name, _ in pairs], [text for _, text in pairs]
    found = chunker.chunk_batch(texts, names)
    assert found[1] == chunk_notebook(chunker, NOTEBOOK, "n.ipynb")
    # The same source goes on counting.
    assert same_but_names(found[3], found[1])
    assert not {chunk.id for chunk in found[1]} & {chunk.id for chunk in found[3]}
    assert list(chunker.chunk_documents(pairs)) == found
    assert list(chunker.iter_chunks(pairs)) == [chunk for chunks in found for chunk in chunks]
    assert chunker.chunk_batch(texts, names, workers=2) == found


KEYS = st.sampled_from(["cells", "cell_type", "source", "id", "metadata", "nbformat"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
CELL = st.fixed_dictionaries(
    {"cell_type": st.sampled_from(["code", "markdown", "raw", "heading"]) | JSON},
    optional={
        "source": st.text(max_size=60) | markdown() | st.lists(st.text(max_size=9)) | JSON,
        **dict.fromkeys(("id", "level", "metadata", "language"), JSON),
    },
)
NOTEBOOKS = st.fixed_dictionaries(
    {"cells": st.lists(CELL, max_size=4)}, optional={"metadata": JSON}
)


# Notebooks of older formats are text, with a warning.
@pytest.mark.filterwarnings("ignore:.*jupyter nbconvert")
@given(st.builds(json.dumps, JSON | NOTEBOOKS) | st.sampled_from(["", "[" * 5_000, '{"cells": [{']))
def test_no_json_makes_it_raise(text: str) -> None:
    try:
        cells = [cell.source for cell in read_notebook(text).cells]
    except SourceError:
        cells = None
    chunks = CHUNKER.chunk(text, "n.ipynb")
    assert cells is not None or chunks == CHUNKER.chunk(text, "n.ipynb", "")
    for chunk in chunks:
        own = text if cells is None else cells[chunk.metadata["cell"]]
        assert chunk.text == own[chunk.start_index : chunk.end_index]
        assert chunk.token_count <= 40 or chunk.oversize
