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
from chunkast.cli.main import COMMANDS, _parser
from tests.bench.__main__ import BENCHES
from tests.manual import DOCS, ROOT, Snippet, generated, run_python, run_snippet, snippets

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


SNIPPETS = [each for page in PAGES for each in snippets(page)]


@pytest.mark.parametrize(
    "snippet",
    [
        pytest.param(
            each,
            id=f"{each.page}:{each.line}",
            marks=() if each.page == README.name else pytest.mark.slow,
        )
        for each in SNIPPETS
    ],
)
def test_each_snippet_prints_what_the_page_shows(snippet: Snippet) -> None:
    """`python -m tests.manual` writes the outputs again."""
    done = run_snippet(snippet.code)
    assert done.returncode == 0, done.stderr
    # A log line is what one of them is about.
    assert [line for line in done.stderr.splitlines() if not line.startswith("INFO:chunkast")] == []
    assert done.stdout == snippet.output


def test_there_are_snippets() -> None:
    assert len([*snippets(README)]) >= 1
    assert len(SNIPPETS) >= 25


@pytest.mark.parametrize("path", generated(), ids=lambda path: path.name)
def test_generated_pages_are_up_to_date(path: Path) -> None:
    """`python -m tests.manual` writes them again."""
    assert path.read_text("utf-8") == generated()[path]


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
    "verify_citations": ("'fit an exact token budget'", "NOT FOUND  'a budget that"),
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
    parser = _parser()
    seen = set()
    for page in PAGES:
        for _, script in blocks(page, "sh"):
            for line in script.splitlines():
                words = shlex.split(line.replace(" | ", " ; ").split("; ")[-1], comments=True)
                if words[:1] == ["chunkast"] and words[1] in COMMANDS:
                    parser.parse_args(words[1:])
                    seen.add(words[1])
    assert seen >= {"chunk", "stats", "index", "search", "quote", "view", "toolcalls"}


def test_the_test_command_is_marked_for_those_who_run_it() -> None:
    """A script reads the fence after the mark, and runs it."""
    text = README.read_text("utf-8")
    assert text.count("<!-- test command -->\n```sh\n") == 1
    script = text.split("<!-- test command -->\n```sh\n")[1].split("\n```\n")[0]
    assert script.count("\n") == 0
    assert "-m pytest -q" in script


def commands() -> list[list[str]]:
    """Every command line of the guide, its words."""
    text = GUIDE.read_text("utf-8")
    scripts = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = "".join(scripts).replace(" && ", "\n").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def test_hooks_are_the_checks_that_have_to_pass() -> None:
    config = pytest.importorskip("yaml").safe_load(
        (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    )
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"]]
    for repo in config["repos"]:
        assert repo["repo"] == "local"
    for hook in hooks:
        assert hook.keys() >= {"id", "name", "entry", "language"}
        assert hook["language"] == "system"
    entries = [shlex.split(hook["entry"])[:2] for hook in hooks]
    assert entries == [["ruff", "check"], ["ruff", "format"], ["mypy"]]
    script = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert {"ruff check .", "ruff format --check .", "mypy"} <= set(script)
    pinned = (ROOT / "pyproject.toml").read_text("utf-8")
    for program in ("ruff", "mypy"):
        assert re.search(rf'"{program}==[\d.]+"', pinned)


def test_files_and_benchmarks_of_the_guide_are_there() -> None:
    named = [word.split("::")[0] for words in commands() for word in words]
    files = [word for word in named if re.fullmatch(r"(?:tests|fixtures|\.ci)/\S*", word)]
    assert len(files) >= 5
    for name in files:
        assert (ROOT / name).exists(), name
    benches = [words[3:] for words in commands() if words[:3] == ["python", "-m", "tests.bench"]]
    assert benches
    for words in benches:
        assert all(word.startswith("--") or word in BENCHES for word in words), words


def test_the_extras_that_are_installed_are_there() -> None:
    pyproject = (ROOT / "pyproject.toml").read_text("utf-8")
    extras = re.findall(r"'\.\[([a-z,-]+)\]'", GUIDE.read_text("utf-8"))
    assert extras
    for name in ",".join(extras).split(","):
        assert re.search(rf"^{name} = \[", pyproject, re.MULTILINE), name
