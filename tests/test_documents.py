"""Documents people have: front matter as data, notebooks, dialects of Markdown."""

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
    SourceError,
    count_tokens,
    locate_quote,
    plan_writes,
)
from chunkast.config import DEFAULT_EXTENSIONS
from chunkast.index import Store
from chunkast.output.formats import json_bytes
from chunkast.sources.jupyter import chunk_notebook, read_notebook
from tests.checks import check_promises
from tests.command import records, run, write
from tests.strategies import documents, markdown, nasty_text
from tests.tables import Case, each_case


def matter(text: str, **options: Any) -> Any:
    """What the metadata of a document's every chunk says of its front matter."""
    chunks = Chunker(**options).chunk(f"{text}# A\n\nText.\n\n# B\n\nMore.\n")
    (said,) = {json.dumps(chunk.metadata["front_matter"]) for chunk in chunks}
    assert all(json.loads(json_bytes(chunk.to_dict()))["metadata"] for chunk in chunks)
    return json.loads(said)


# Front matter


@each_case("formats", "front_matter")
def test_front_matter_is_raw_unless_asked_for_as_data(case: Case) -> None:
    """What JSON cannot hold becomes a string."""
    text = case["text"]
    assert matter(text) == text
    assert matter(text, front_matter="parsed") == case["parsed"]
    raw, parsed = (Chunker(front_matter=form).chunk(text, "a.md") for form in ("raw", "parsed"))
    assert [(c.id, c.embed_hash) for c in raw] == [(c.id, c.embed_hash) for c in parsed]


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
        ("a: " + "[" * 20_000 + "\n", "nest"),
        ("a: " + "x" * 70_000 + "\n", "characters"),
        ("a: \0\n", "not valid YAML"),
    ],
)
def test_front_matter_that_cannot_be_read_stays_as_it_is(body: str, reason: str) -> None:
    text = f"---\n{body}---\n"
    with pytest.warns(ChunkastWarning, match=reason):
        assert matter(text, front_matter="parsed") == text


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
    ("code", "levels = load(2)\n\n\nprint(levels[0])", "bb"),
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
    assert locate_quote("print(levels[0])", chunks)[0].source == "n.ipynb#cell-id=bb"


@pytest.mark.parametrize("ids", [True, False])
def test_ids_of_a_notebooks_chunks_outlive_a_cell_put_in_between(ids: bool) -> None:
    cells = [(kind, source, id_ if ids else "") for kind, source, id_ in CELLS]
    before = chunk_notebook(Chunker(), notebook(*cells), "n.ipynb")
    # What follows a new heading stands under it, as in any document.
    heading = ("markdown", "### Aside\n\nNew.", "zz" if ids else "")
    code = ("code", "x = 1", "zz" if ids else "")
    for cell, counts in ((heading, (2, 1, 0)), (code, (1, 0, 0 if ids else 1))):
        after = chunk_notebook(Chunker(), notebook(*cells[:2], cell, *cells[2:]), "n.ipynb")
        plan = plan_writes(after, before)
        assert tuple(map(len, (plan.added, plan.removed, plan.changed))) == counts
        assert len({chunk.id for chunk in after}) == len(after)


def test_front_matter_of_a_notebook_is_in_all_its_chunks() -> None:
    text = notebook(("raw", "---\ntitle: Tides\n---", "aa"), ("code", "x = 1", "bb"))
    chunks = chunk_notebook(Chunker(context="title"), text)
    assert {chunk.metadata["front_matter"] for chunk in chunks} == {"---\ntitle: Tides\n---"}
    assert chunks[1].embed_text == "Tides\n\nx = 1"
    assert chunks[1].source == "#cell-id=bb"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"cells": [\n "é", }', r"n.ipynb: not a notebook, which is JSON: .*line 2"),
        ("", "n.ipynb: .*JSON"),
        ("[" * 100_000, "which is JSON: .*recursion"),
        ("[]", "the notebook is list; must be an object"),
        ("{}", "cells is nothing; must be a list"),
        ('{"cells": [1]}', r"cells\[0\] is int; must be an object"),
        ('{"cells": [{"cell_type": "raw", "source": ["a", 1]}]}', r"cells\[0\]\.source is list"),
        ('{"nbformat": 3, "worksheets": [[]]}', "of format 3; convert it .*: jupyter nbconvert"),
        ('{"cells": [{"execution_count": ' + "9" * 5_000 + "}]}", "digits"),
    ],
)
def test_what_is_no_notebook_is_told(text: str, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        read_notebook(text, "n.ipynb")


def test_a_notebook_of_an_older_format_is_text_with_a_warning() -> None:
    text = '{"nbformat": 3, "worksheets": []}'
    with pytest.warns(ChunkastWarning, match=r"^n\.ipynb: .*jupyter nbconvert") as told:
        assert [chunk.text for chunk in Chunker().chunk(text, "n.ipynb")] == [text]
    assert told[0].filename == __file__


def test_json_of_any_numbers_is_read() -> None:
    text = '{"cells": [{"cell_type": "raw", "source": "x", "a": NaN, "b": -Infinity, "c": 1e999}]}'
    assert [chunk.text for chunk in chunk_notebook(Chunker(), text)] == ["x"]
    assert chunk_notebook(Chunker(), '{"cells": [{"cell_type": "later"}]}') == []


@settings(max_examples=settings().max_examples // 3)
@given(st.lists(st.tuples(st.sampled_from(["markdown", "code", "raw"]), documents()), max_size=3))
def test_promises_hold_in_every_cell(cells: list[tuple[str, str]]) -> None:
    text = notebook(*((kind, source, "") for kind, source in cells))
    chunks = chunk_notebook(Chunker(max_tokens=40), text, "n.ipynb")
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for number, cell in enumerate(read_notebook(text).cells):
        at, left = 0, ""
        for chunk in (chunk for chunk in chunks if chunk.metadata["cell"] == number):
            assert chunk.text == cell.source[chunk.start_index : chunk.end_index]
            assert count_tokens(chunk.embed_text) == chunk.embed_token_count
            assert chunk.oversize or chunk.embed_token_count <= 40
            left += cell.source[at : chunk.start_index + chunk.overlap]
            at = chunk.end_index
        left += cell.source[at:]
        assert not left.replace("\ufeff", "").strip()


def test_the_command_reads_notebooks(tmp_path: Path) -> None:
    write(tmp_path, {"n.ipynb": notebook(*CELLS), "a.md": "# A\n", "bad.ipynb": '{"cells": 1}'})
    done = run("chunk", ".", cwd=tmp_path)
    assert done.returncode == 1
    assert b"bad.ipynb: not a notebook: cells is int; must be a list" in done.stderr
    expected = chunk_notebook(Chunker(), notebook(*CELLS), "n.ipynb")
    wanted = [*Chunker().chunk("# A\n", "a.md"), *expected]
    assert list(map(Chunk.from_dict, records(done.stdout))) == wanted

    done = run("stats", ".", "--format", "json", "-q", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert (report["documents"], report["chunks"]) == (2, len(wanted))

    for again in (False, True):
        done = run("index", ".", "--db", "one.db", cwd=tmp_path)
        assert (b"added 0," in done.stdout) == again
    with Store(str(tmp_path / "one.db")) as store:
        assert list(store.chunks("n.ipynb")) == expected
        assert store.quote("print(levels[0])")[0].source == "n.ipynb#cell-id=bb"


# Dialects of Markdown


CONTAINERS = ("container", "admonition", "alert", "quote")


@each_case("formats", "dialects")
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_a_dialect_is_read(case: Case, end: str) -> None:
    text = case["text"].replace("\n", end)
    chosen = {*DEFAULT_EXTENSIONS, *case.get("with", ())} - {*case.get("without", ())}
    analysis = Chunker(extensions=chosen).analyze(text)
    blocks = [
        (block, text[block.start : block.end].strip().splitlines())
        for block in analysis.blocks.walk()
    ]
    leaves = [
        (leaf.kind, lines[0])
        for leaf, lines in blocks
        if leaf.kind != "blank" and not leaf.children
    ]
    found = {
        "kinds": " ".join(kind for kind, _ in leaves),
        "leaves": list(map(" ".join, leaves)),
        "titles": [heading.title for heading in analysis.headings],
        # The first and the last line of each.
        "containers": [
            [block.kind, block.info, lines[0], lines[-1].strip()]
            for block, lines in blocks
            if block.kind in CONTAINERS
        ],
        # The last line of each region.
        "tags": [
            text[region.start : region.end].splitlines()[-1].strip()
            for region in analysis.regions
            if region.kind == "tag"
        ],
    }
    assert {view: found[view] for view in case["expected"]} == case["expected"]


@each_case("formats", "whole")
def test_what_belongs_together_is_not_cut(case: Case) -> None:
    for budget in case["budgets"]:
        chunker = Chunker(max_tokens=budget, overlap=0, **case.get("options", {}))
        chunks = chunker.chunk(case["text"], case.get("source"))
        for part in case["whole"]:
            assert any(part in chunk.text for chunk in chunks)


def test_a_sources_ending_says_how_it_is_read() -> None:
    text = "import a from 'b'\n\n::: {.a}\n::: {.b}\nc\n:::\n\nd\n:::\n"
    plain = Chunker().analyze(text).blocks
    for source in ("a.md", "a.mdx.md", "mdx", "a.qmd", "b/a.Rmd"):
        assert Chunker().analyze(text, source).blocks == plain
    mdx = Chunker(extensions=(*DEFAULT_EXTENSIONS, "mdx")).analyze(text).blocks
    assert Chunker().analyze(text, "a.MDX").blocks == mdx != plain
    assert Chunker(extensions=()).chunk(text, "a.mdx")[0].kinds == ("paragraph",)


def test_a_code_cells_options_stay_with_its_opening_line() -> None:
    options = "".join(f"#| option{number}: some value\n" for number in range(4))
    text = f"```{{r}}\n{options}" + "call(argument, another)\n" * 20 + "```\n"
    chunks = Chunker(max_tokens=60, overlap=0).chunk(text, "a.qmd")
    assert chunks[0].text.startswith(f"```{{r}}\n{options}call")
    assert chunks[1].embed_text.startswith("```{r}\ncall")


SNIPPETS = (
    *("import a from 'b'", "export const c = {", "}", "<Tabs>", "</Tabs>", "    <Tab a={1}>"),
    *("    </Tab>", "<A\n  b={{\n\n  c: 1 }}\n/>", "{/* a\n\nb */}", "{`a", "<A></B>", "<>", "</>"),
    *("::: {.a}", "::: b", ":::", "{{< a >}}", "```{r}\n#| a: b\nc\n```", "$$\na\n$$ {#b}"),
    *("> [!a] b", "> > [!c|d]- e", "- > [!f]", "%%", "%% a", "b %%", "^a", "a ^b", "![[a#b|c]]"),
    *('=== "a"', "!!! a", '??? "b"', "    a", "", "", "# a {#b}", "a %%b%% {c} <D e={f} />"),
)


def dialects() -> st.SearchStrategy[str]:
    snippets = st.lists(st.sampled_from(SNIPPETS), max_size=12).map("\n".join)
    parts = st.lists(st.one_of(snippets, snippets, markdown(), nasty_text()), max_size=3)
    ends = st.sampled_from(["\n", "\n\n", "\r\n", "\r"])
    return st.builds(lambda parts, end: end.join(parts).replace("\n", end[0]), parts, ends)


@given(dialects(), st.sampled_from([5, 30, 200]), st.booleans(), st.sampled_from(["mdx", "quarto"]))
def test_promises_hold_for_dialects(text: str, budget: int, trim: bool, name: str) -> None:
    extensions = (*DEFAULT_EXTENSIONS, name)
    check_promises(text, ChunkConfig(max_tokens=budget, trim=trim, extensions=extensions))
