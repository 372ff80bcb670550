"""The server for agents: what its tools answer, over stdio and within the tokens asked for."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chunkast import ChunkastError, Chunker
from chunkast.index import Store
from tests.checks import counter_of
from tests.command import command, environment, run, write
from tests.strategies import documents

mcp = pytest.importorskip("mcp")
answers = pytest.importorskip("chunkast.mcp.answers")

GUIDE = (
    "# Guide\n\n## Install\n\nInstall it with pip.\n\n## Use\n\nCall `chunk`, then read the result.\n\n"
    + "".join(f"## Option {n}\n\nOption {n} sets the number {n} of things.\n\n" for n in range(40))
)
NOTES = "# Notes\n\nPip is a tool.\n"


async def session(database: Path, calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    first, *arguments = command("mcp", "--db", str(database))
    parameters = mcp.StdioServerParameters(command=first, args=arguments, env=environment())
    async with mcp.Client(parameters) as client:
        listed = await client.list_tools()
        return [listed.tools, *[await client.call_tool(name, given) for name, given in calls]]


def test_an_agent_finds_reads_and_quotes(tmp_path: Path) -> None:
    write(tmp_path, {"docs/guide.md": GUIDE, "docs/notes.md": NOTES})
    assert run("index", "docs", "--db", "a.db", "-q", cwd=tmp_path).returncode == 0
    calls: list[tuple[str, dict[str, Any]]] = [
        ("outline", {}),
        ("outline", {"source": "docs/guide.md", "depth": 2, "max_tokens": 200}),
        ("search", {"query": "how do I install it", "within": "docs/g*"}),
        ("read", {"source": "docs/guide.md", "section": "Install"}),
        ("read", {"source": "docs/guide.md", "lines": "9-9"}),
        ("quote", {"text": "Pip is\na tool."}),
        ("quote", {"text": "It is not there."}),
        ("search", {"query": "zzz"}),
        ("read", {"source": "docs/guide.md", "section": "Instal"}),
        ("read", {"source": "docs/gude.md"}),
        ("read", {"id": "none"}),
        ("read", {}),
        ("read", {"source": "docs/guide.md", "max_tokens": 1}),
    ]
    tools, *answered = asyncio.run(session(tmp_path / "a.db", calls))
    assert [tool.name for tool in tools] == ["outline", "search", "read", "quote"]
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)
    texts = [answer.content[0].text for answer in answered]
    count = counter_of(Chunker().config)
    assert texts[0].splitlines()[1] == f"docs/notes.md  {count(NOTES.strip())} tokens"
    assert texts[1].splitlines()[1].startswith("  Guide  lines 1-")
    assert re.search(r"\n\d+ more sections; search", texts[1])
    [hit, *_] = re.findall(r"^(\S+)  (.+)  \d+ tokens  id=(\w+)$", texts[2], re.MULTILINE)
    assert (hit[0].partition(":")[0], hit[1]) == ("docs/guide.md", "Guide > Install")
    assert "\n  Install it with pip." in texts[2]
    assert texts[3] == (
        f"docs/guide.md:3-5  Guide > Install  {count('## Install' + chr(10) * 2 + 'Install it with pip.')}"
        " tokens\n3\t## Install\n\n5\tInstall it with pip."
    )
    assert texts[4].splitlines()[1] == "9\tCall `chunk`, then read the result."
    assert texts[5] == "docs/notes.md:3-3  Notes"
    assert "search(query)" in texts[6]
    assert "outline()" in texts[7]
    assert [answer.is_error for answer in answered] == [False] * 8 + [True] * 5
    assert "Guide > Install" in texts[8]
    assert "nearest: docs/guide.md" in texts[9]
    assert all("outline(source) the sections" in text for text in texts[8:12])
    assert "greater than or equal to 100" in texts[12]


@settings(deadline=None)
@example(["\n" * 150], 100)
@given(st.lists(documents(), min_size=1, max_size=3), st.integers(100, 300))
def test_no_answer_has_more_tokens_and_reading_on_reads_all(texts: list[str], most: int) -> None:
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
                return ""
            assert count(answer) <= most
            return answer

        ask("outline")
        ask("outline", source="0.md")
        ask("outline", source="0.md", depth=2)
        ask("quote", text="End")
        found = ask("search", query="one two end")
        for identity in re.findall(r"id=(\w+)$", found, re.MULTILINE):
            assert ask("read", id=identity)
        seen: set[int] = set()
        given: dict[str, Any] = {"source": "0.md"}
        while given:
            answer = ask("read", **given)
            seen.update(int(number) for number in re.findall(r"^(\d+)\t", answer, re.MULTILINE))
            on = re.search(r', lines="(\d+-\d+)"\)\Z', answer)
            given = {"source": "0.md", "lines": on[1]} if on else {}
        lines = re.split(r"\r\n|\r|\n", corpus["0.md"])
        wanted = {number for number, line in enumerate(lines, 1) if line.strip()}
        assert wanted <= seen or not answer or "that line is long" in answer
        # One line alone, or a cluster of characters, is larger.
        assert all("max_tokens" in error for error in failed)
