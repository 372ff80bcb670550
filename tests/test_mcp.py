"""The server for agents: what its tools answer, over stdio and within the tokens asked for."""

from __future__ import annotations

import asyncio
import json
import re
import tracemalloc
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import chunkast
from chunkast import ChunkastError, Chunker
from chunkast.index import Store
from chunkast.text.source_map import without_surrogates
from tests import agents
from tests.checks import counter_of
from tests.command import run, write
from tests.strategies import documents
from tests.tables import table

pytest.importorskip("mcp")
answers = pytest.importorskip("chunkast.mcp.index_answers")

GUIDE = (
    "# Guide\n\n## Install\n\nInstall it with pip.\n\n## Use\n\nCall `chunk`, then read the result.\n\n"
    + "".join(f"## Option {n}\n\nOption {n} sets the number {n} of things.\n\n" for n in range(40))
)
NOTES = "# Notes\n\nPip is a tool.\n"


@pytest.mark.parametrize("stdio", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_an_agent_finds_reads_and_quotes(tmp_path: Path, *, stdio: bool) -> None:
    write(tmp_path, {"docs/guide.md": GUIDE, "docs/notes.md": NOTES})
    assert run("index", "docs", "--db", "a.db", "-q", cwd=tmp_path).returncode == 0
    rows = table("agents", "calls")
    calls = [(row["tool"], row["arguments"]) for row in rows]
    tools, *answered = agents.ask(calls, "--db", "a.db", cwd=tmp_path, stdio=stdio)
    assert [tool.name for tool in tools] == ["outline", "search", "read", "quote"]
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)
    for row, answer in zip(rows, answered, strict=True):
        text = answer.content[0].text
        assert text == row.get("answer", text)
        assert [part for part in row.get("shows", ()) if part not in text] == []
        assert answer.is_error == row["is_error"]
    count = counter_of(Chunker().config)
    definitions = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in tools
    ]
    assert count(json.dumps(definitions)) <= 620


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("stdio", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_server_says_what_it_is_about(tmp_path: Path, mode: str, *, stdio: bool) -> None:
    write(tmp_path, {"app/docs/in/a.md": NOTES, "app/docs/b.md": GUIDE, "lib/docs/a.md": NOTES})
    said = {}
    for name in ("app", "lib"):
        assert run("index", "docs", "-q", cwd=tmp_path / name).returncode == 0
        said[name] = agents.introduced(cwd=tmp_path / name, mode=mode, stdio=stdio)
    one, other = said.values()
    assert (one.info.name, one.info.version) == ("chunkast", chunkast.__version__)
    assert one.info.title == "2 documents in app/docs"
    assert other.info.title == "1 document in lib/docs"
    # There are neither prompts nor resources, and what there is does not change.
    assert one.capabilities == {"tools": {"list_changed": False}}
    for each in said.values():
        assert each.instructions.startswith(f"{each.info.title}. outline() lists the documents, ")
        assert each.tools["search"].description.endswith(f"\n\nAbout: {each.info.title}")


def test_an_index_remembers_what_it_is_about(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": NOTES})

    def about(*given: str) -> str:
        return str(agents.introduced(*given, cwd=tmp_path).info.title)

    for words, wanted in (
        (("docs", "--about", "The notes"), "The notes"),
        ((), "The notes"),
        (("--about", " Notes\x1b[2J\n "), "Notes\\u001b[2J"),
        (("--about", "x" * 1_000), f"{'x' * 199}…"),
        (("--about", ""), f"1 document in {tmp_path.name}/docs"),
        (("--about", "The notes", "--dry-run"), f"1 document in {tmp_path.name}/docs"),
        (("--about", "The notes"), "The notes"),
    ):
        assert run("index", *words, "-q", cwd=tmp_path).returncode == 0
        assert about() == wanted
    assert about("--about", "Other notes") == "Other notes"
    assert run("index", "docs", "--replace", "-q", cwd=tmp_path).returncode == 0
    assert about() == f"1 document in {tmp_path.name}/docs"


@pytest.mark.parametrize(
    ("sources", "wanted"),
    [
        ([], "0 documents"),
        (["a.md"], "1 document"),
        (["docs/a.md", "docs2/a.md"], "2 documents"),
        (["docs/in/a.md", "docs/in2/a.md"], "2 documents in docs"),
    ],
)
def test_an_index_made_in_python_is_told_by_its_sources(sources: list[str], wanted: str) -> None:
    seen: list[str] = []
    chunker = Chunker()
    with Store(":memory:", create=True) as store:
        store.update([(name, NOTES) for name in sources], chunker)
        pytest.importorskip("chunkast.mcp").serve(
            store, chunker, run=lambda server: seen.append(server.title)
        )
    assert seen == [wanted]


def test_an_error_does_not_name_the_folder_of_the_index(tmp_path: Path) -> None:
    write(tmp_path, {"notes.md": NOTES})
    database = tmp_path / "a.db"
    assert run("index", "notes.md", "--db", database, "-q", cwd=tmp_path).returncode == 0
    calls = [("read", {"source": "no.md"}), ("read", {"id": "none"})]
    for answer in agents.ask(calls, "--db", database, cwd=tmp_path)[1:]:
        assert answer.is_error
        assert answer.content[0].text.startswith("Error executing tool read: a.db: has no ")
        assert str(tmp_path) not in answer.content[0].text


@contextmanager
def served_by(chunker: Chunker, corpus: dict[str, str]) -> Iterator[Any]:
    """The tools over an index in memory."""
    with Store(":memory:", create=True) as store:
        store.update(corpus.items(), chunker)
        yield answers.Answers(store, chunker)


TRIPS = "".join(
    f"# Trip {n}\n\n{'Rain falls on the hills. ' * 60}\n\nFerry {n} leaves at {n}.\n\n"
    f"{'Sun shines on the quay. ' * 60}\n\n"
    for n in range(9)
)


def test_a_search_shows_passages_and_then_places() -> None:
    chunker = Chunker(max_tokens=1_000, overlap=0)
    count = counter_of(chunker.config)
    with served_by(chunker, {"trips.md": TRIPS, "notes.md": NOTES}) as served:
        for most in (100, 200, 1_000, 2_000):
            found = asyncio.run(served.search("when does ferry 3 leave", max_tokens=most))
            assert count(found) <= most
            first, *lines = found.split("\n")
            place = re.fullmatch(r"trips\.md:(\d+)-(\d+)  Trip 3(?:  part)?  id=\w+", first)
            assert place, first
            assert ("  part  " in first) == (most < 1_000)
            text = "\n".join(lines).partition("\n\ntrips.md:")[0]
            assert text in TRIPS
            assert "Ferry 3 leaves at 3." in text
        whole = asyncio.run(served.search("pip", max_tokens=300))
        assert f"\n{NOTES.strip()}" in whole
        assert "  part  " not in whole
    # Sentences that do not fit are places.
    corpus = {"a.md": "# Ferry\n\nThe ferry leaves.\n"}
    corpus |= {f"{n}.md": f"{'ABCDEFGHI'[n]} ferry {'goes and ' * 200}goes.\n" for n in range(9)}
    with served_by(chunker, corpus) as served:
        found = asyncio.run(served.search("ferry", max_tokens=300))
        passage, _, places = found.rpartition("\n\n")
        assert re.match(r"a\.md:1-3  Ferry  id=\w+\n", passage)
        assert passage.endswith("\n# Ferry\n\nThe ferry leaves.")
        assert 0 < count(places) <= 50
        assert re.match(r"\d\.md:1-1  404 tokens  id=\w+\n", places)
        shown = len(re.findall("id=", places))
        assert places.endswith(f"\n{9 - shown} more places: repeat this with skip={1 + shown}")
        more = asyncio.run(served.search("ferry", max_tokens=2_000, skip=1 + shown))
        listed = re.findall(r"^(\w\.md):", f"{found}\n{more}", re.MULTILINE)
        assert sorted(listed) == sorted(corpus)
        assert asyncio.run(served.search("ferry", skip=10)).startswith("No more places.")


def test_a_long_title_is_shortened_in_every_place() -> None:
    chunker = Chunker(max_tokens=200)
    peaks = []
    for words in (300, 1_200):
        with served_by(chunker, {"a.md": f"# {'title word ' * words}\n"}) as served:
            tracemalloc.start()
            listed = asyncio.run(served.quote(text="word", max_tokens=500))
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert listed.splitlines()[0] == f"a.md:1-1  {('title word ' * 20)[:199]}…"
        assert re.search(r"\n[\d,]+ more places: repeat this with skip=\d+$", listed)
    assert peaks[1] < 6 * peaks[0]


def followed(text: str, served: Any, count: Any, most: int, source: str = "0.md") -> list[str]:
    """Read a document from start to end by the calls in the answers, and check each answer.

    The pieces of all lines put together are the document.
    """
    given: dict[str, Any] | None = {"source": source, "max_tokens": most}
    pieces: dict[int, str] = {}
    read: list[str] = []
    lines = [line.rstrip("\r\n") for line in re.findall(r"[^\r\n]*(?:\r\n|\r|\n|\Z)", text)]
    while given is not None:
        answer = asyncio.run(served.read(**given))
        read.append(answer)
        assert count(answer) <= most
        shown = answer.split("\n")[1:]
        note = shown.pop() if shown[-1].startswith("continues ") else ""
        given = next_call(note) if note else None
        for number, _, piece in (line.partition("\t") for line in shown if line):
            pieces[int(number)] = piece
        if given is None:
            break
        number = given["lines"].partition("-")[0]
        if 2 * count(answer) < most:
            shown = f"{number}\t{escaped(lines[int(number) - 1])}"
            assert count(f"{answer}\n{shown}") > most, "more would fit"
    wanted = {number: line for number, line in enumerate(lines, 1) if line.strip()}
    for number, line in wanted.items():
        assert pieces.pop(number).rstrip() == escaped(line).rstrip(), number
    assert not pieces
    return read


def escaped(text: str) -> str:
    """A line with characters that hide or change text as JSON has them."""
    hiding = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
    return re.sub(hiding, lambda match: json.dumps(match[0])[1:-1], text)


def next_call(note: str) -> dict[str, Any]:
    """The arguments of the call at the end of a note, which are JSON."""
    called = re.fullmatch(r"continues .* line [\d,]+: read\((.*)\)", note)
    assert called, note
    return dict(
        json.loads("{" + re.sub(r"(^|, )(source|lines|max_tokens)=", r'\1"\2": ', called[1]) + "}")
    )


ODD_NAME = 'a "b"\\c\n\x07\u202e d\u00e9 \U0001f600.md'


@settings(deadline=None, max_examples=settings().max_examples // 2)
@example(["\n" * 150], 100, "0.md")
@example(["word\n" * 400], 100, ODD_NAME)
@given(
    st.lists(documents(), min_size=1, max_size=4),
    st.integers(100, 2_000),
    st.sampled_from(["0.md", ODD_NAME]),
)
def test_following_the_calls_reads_the_whole_text_once(
    texts: list[str], most: int, name: str
) -> None:
    text = without_surrogates(
        "# One\n\n" + "\n\nA line that is ordinary.\n\n".join(texts) + "\n\nEnd\n"
    )
    chunker = Chunker(max_tokens=64, overlap=8)
    with Store(":memory:", create=True) as store:
        store.update([(name, text)], chunker)
        served = answers.Answers(store, chunker)
        lines = re.split(r"\r\n|\r|\n", text)
        longest = max(map(chunker.counter.count, map(escaped, lines)))
        for answer in followed(text, served, chunker.counter.count, most + longest, name):
            head, *_, note = answer.split("\n")
            shown = head + note.partition("\t")[0]
            assert not {"Cc", "Cf", "Zl", "Zp"} & set(map(unicodedata.category, shown))


@settings(deadline=None, max_examples=settings().max_examples // 4)
@example(["x" * 4_000 + "\U0001f468\u200d\U0001f469" * 200], 101)
@example(["word " * 400], 100)
# The last page fits without a note on the next one.
@example(["word " * 12 + "https://example.com/" + "long/" * 24 + "\n\n\n"], 100)
@given(st.lists(documents(), min_size=1, max_size=3), st.integers(100, 300))
def test_no_answer_has_more_tokens(texts: list[str], most: int) -> None:
    corpus = {f"{number}.md": f"# One two\n\n{text}\n\nEnd\n" for number, text in enumerate(texts)}
    chunker = Chunker(max_tokens=64, overlap=8)
    count = counter_of(chunker.config)
    with Store(":memory:", create=True) as store:
        store.update(corpus.items(), chunker)
        served = answers.Answers(store, chunker)
        failed: list[str] = []

        def ask(tool: str, **given: Any) -> str:
            try:
                answer: str = asyncio.run(getattr(served, tool)(max_tokens=most, **given))
            except ChunkastError as error:
                failed.append(str(error))
                [enough] = re.findall(r"([\d,]+) are enough", failed[-1])
                given["max_tokens"] = int(enough.replace(",", ""))
                answer = asyncio.run(getattr(served, tool)(**given))
                assert most < count(answer) <= given["max_tokens"]
                return ""
            assert count(answer) <= most
            return answer

        ask("outline")
        ask("outline", source="0.md")
        ask("outline", source="0.md", depth=2)
        ask("quote", text="End")
        found = ask("search", query="one two end")
        for identity in re.findall(r"id=(\S+)$", found, re.MULTILINE):
            ask("read", id=identity)
        ask("read", source="0.md")
        # One line alone is larger.
        assert all("max_tokens" in error for error in failed)


def asked(corpus: dict[str, str], tool: str, **given: Any) -> str:
    chunker = Chunker(max_tokens=given.pop("size", 256), overlap=0)
    with served_by(chunker, corpus) as served:
        return str(asyncio.run(getattr(served, tool)(**given)))


def test_a_large_index_is_listed_by_folders() -> None:
    corpus = {f"docs/{'abc'[n % 3]}/{n // 50}/{n}.md": f"# {n}\n" for n in range(150)}
    corpus["docs/top.md"] = "# 0\n"
    tokens = counter_of(Chunker().config)("# 0")
    assert asked(corpus, "outline", max_tokens=200).split("\n") == [
        *(f"docs/{name}/  50 documents  {50 * tokens} tokens" for name in "abc"),
        f"docs/top.md  {tokens} tokens",
    ]
    for folder in ("docs/a", "docs/a/"):
        listed = asked(corpus, "outline", source=folder, max_tokens=200).split("\n")
        assert [line.partition("  ")[0] for line in listed] == [f"docs/a/{n}/" for n in range(3)]
    listed = asked(corpus, "outline", source="docs/a/0", max_tokens=1_000).split("\n")
    assert listed == [f"docs/a/0/{n}.md  {tokens} tokens" for n in sorted(range(0, 50, 3), key=str)]
    flat = {f"only/here/{n:03}.md": "# A\n" for n in range(99)}
    assert re.search(r"\n\d\d more sources; search", asked(flat, "outline", max_tokens=200))


def test_one_of_anything_is_singular() -> None:
    corpus = {"docs/a/a.md": "A\n"} | {f"docs/b/{n:02}.md": "# B\n" for n in range(50)}
    listed = asked(corpus, "outline", max_tokens=300).split("\n")
    assert listed == ["docs/a/  1 document  1 token", "docs/b/  50 documents  100 tokens"]
    assert asked({"a.md": "A\n"}, "read", source="a.md") == "a.md:1-1  1 token\n1\tA"
    shown = asked({"a.md": "A\n", f"{'b' * 999}.md": "A\n"}, "outline", max_tokens=100)
    assert shown == "a.md  1 token\n1 more source; search(query) searches all"


def test_an_outline_that_is_too_long_shows_the_first_sections() -> None:
    text = "# Changes\n\n" + "".join(f"## {n}.0\n\nFixed {n}.\n\n" for n in range(200))
    lines = asked({"a.md": text}, "outline", source="a.md", max_tokens=200).split("\n")
    assert len(lines) > 5
    assert lines[2].split() == ["0.0", "lines", "3-5", "10", "tokens"]
    assert re.match(r"\d{3} more sections; search", lines[-1])


def test_the_name_of_a_document_does_not_make_a_limit_too_small() -> None:
    corpus = {f"{'long-name-' * 12}.md": f"# {'Title ' * 10}\n\n{'kappa ' * 400}"}
    [source] = corpus
    with pytest.raises(ChunkastError, match="too few for line 3; ") as caught:
        asked(corpus, "read", source=source, lines="3-3", max_tokens=100)
    enough = int(re.findall(r"(\d+) are enough", str(caught.value))[0])
    assert "\n3\tkappa" in asked(corpus, "read", source=source, lines="3-3", max_tokens=enough)


def test_copies_are_named_once() -> None:
    corpus = {f"docs/v{n}/a.md": f"# Ferry\n\nIt leaves daily. Since {n}.\n" for n in range(5)}
    found = asked(corpus, "search", query="ferry")
    assert found.count("docs/") == 2
    assert re.match(
        r"docs/v0/a\.md:1-3  Ferry  also in docs/v1/a\.md:1-3 and 3 more  id=\w+\n", found
    )


def test_places_of_a_quote_are_listed_from_a_rank_on() -> None:
    corpus = {"a.md": "# Ferry\n\n" + "A ferry.\n" * 40}
    listed: list[str] = []
    while not listed or "skip=" in listed[-1]:
        skip = int(listed.pop().rpartition("=")[2]) if listed else 0
        listed += asked(corpus, "quote", text="ferry.", max_tokens=100, skip=skip).split("\n")
    assert [line.partition("  ")[0] for line in listed] == [f"a.md:{n}-{n}" for n in range(3, 43)]
    for skip in (40, 99):
        assert asked(corpus, "quote", text="ferry.", skip=skip).startswith("No more places.")


def test_a_text_and_names_with_control_characters_are_escaped() -> None:
    corpus = {"a\x1b.md": "# Fer\u202ery\n\nThe ferry\x1b[31m leaves.\tNow.\n"}
    for tool, values in (("search", {"query": "ferry"}), ("read", {"source": "a\x1b.md"})):
        answer = asked(corpus, tool, **values)
        assert "\\u001b[31m leaves.\tNow." in answer
        assert not {"\x1b", "\u202e"} & set(answer)


@pytest.mark.parametrize("tool", ["search", "read", "quote", "outline"])
def test_a_request_with_a_lone_surrogate_gets_an_answer(tool: str) -> None:
    name = {"search": "query", "quote": "text"}.get(tool, "source")
    try:
        answer = asked({"a.md": "# Ferry\n"}, tool, **{name: "ferry \ud800"})
    except ChunkastError as error:
        answer = str(error)
    assert answer
