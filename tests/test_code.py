"""Code: fences larger than the budget, and source files.

What needs a grammar is skipped without the extra ``code``; what happens then is tested as well.
"""

from __future__ import annotations

import ast
import json
import sysconfig
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunk, ChunkConfig, Chunker
from chunkast.code import Item, Outliner, language_named, language_of, versions
from chunkast.code.grammars import MAX_BYTES
from chunkast.code.languages import ENDINGS
from chunkast.identity import fingerprint
from chunkast.scores import CODE_SCORES, SCORES
from tests.checks import check_promises
from tests.command import records, run, write
from tests.hostile import CODE
from tests.strategies import nasty_text
from tests.test_linear import TIME_LIMIT, time_growth
from tests.test_promises import configurations

MISSING: Final = {
    "tree-sitter",
    *(language.distribution for language in ENDINGS.values()),
} - versions().keys()
grammars = pytest.mark.skipif(
    bool(MISSING), reason="needs tree-sitter and all grammars: pip install 'chunkast[code]'"
)
STANDARD_LIBRARY: Final = Path(sysconfig.get_paths()["stdlib"])
FOLDER: Final = Path(__file__).parents[1] / "fixtures" / "code"
# Of each language: a file, the definitions in it (">" for each one around it), and a class.
LANGUAGES: Final[dict[str, Any]] = json.loads((FOLDER / "languages.json").read_text("utf-8"))
SAMPLES: Final = {
    name: (FOLDER / row["file"]).read_text("utf-8") for name, row in LANGUAGES.items()
}


def outline(text: str, name: str) -> list[Item]:
    language = language_named(name)
    assert language is not None
    return Outliner().items(text.split("\n"), language)


def definitions(text: str, items: list[Item]) -> list[str]:
    """Depth, kind and title of the definitions among ``items``, as in the table of languages."""
    lines = text.split("\n")
    return [
        f"{'>' * item.depth}{item.kind}: {lines[item.named[0]][item.named[1] : item.named[2]]}"
        for item in items
        if item.named is not None
    ]


def fenced(text: str, info: str) -> str:
    return f"# Code\n\n```{info}\n{text}\n```\n"


def functions(count: int = 20, function: str = "def f{}(a):\n    b = a\n\n    return b\n") -> str:
    return "\n\n".join(function.replace("{}", str(number)) for number in range(count))


def first_lines(chunks: list[Chunk]) -> list[str]:
    return [chunk.text.split("\n", 1)[0] for chunk in chunks]


# The outline


@grammars
@pytest.mark.parametrize("name", SAMPLES)
def test_definitions_of_every_language(name: str) -> None:
    text = SAMPLES[name]
    assert definitions(text, outline(text, name)) == LANGUAGES[name]["definitions"]


@grammars
@pytest.mark.parametrize("name", SAMPLES)
def test_a_class_of_many_windows_is_read_to_its_end(name: str) -> None:
    """Whatever does not fit what is read at once is read from the inside."""
    made = LANGUAGES[name]["class"]
    member = made["member"]
    text = f"{made['opening']}\n{functions(300, member)}\n{made['closing']}\n"
    lines = text.split("\n")
    starts = {lines[item.line].strip() for item in outline(text, name) if item.depth <= 1}
    first = member.split("\n", 1)[0].strip()
    assert {first.replace("{}", str(number)) for number in range(300)} <= starts


@grammars
@pytest.mark.parametrize(
    "module", ["argparse", "ast", "dataclasses", "json/decoder", "subprocess", "turtle", "typing"]
)
def test_classes_and_functions_are_those_that_python_itself_finds(module: str) -> None:
    """At the top level and in classes there; a definition longer than a window included."""
    text = (STANDARD_LIBRARY / f"{module}.py").read_text(encoding="utf-8")
    expected: dict[str, int] = {}

    def visit(body: list[ast.stmt], depth: int) -> None:
        for node in body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                expected[f"{node.lineno} {node.name}"] = depth
            if isinstance(node, ast.ClassDef):
                visit(node.body, depth + 1)

    visit(ast.parse(text).body, 0)
    lines = text.split("\n")
    found = {
        f"{item.named[0] + 1} {lines[item.named[0]][: item.named[2]].split()[-1]}": item.depth
        for item in outline(text, "python")
        if item.named is not None and item.kind in ("class", "function")
    }
    assert {name: found.get(name) for name in expected} == expected


@grammars
@pytest.mark.parametrize(
    "code",
    [
        f"x = '{'a' * MAX_BYTES}'\n",
        "def g(:\n  ]] {{ = = ) 5 5\n" * 300,
        "else:\n" + "    x = 1\n" * 900,
    ],
    ids=["a line too long to read", "broken lines", "a large block without a header"],
)
def test_a_definition_after_code_that_cannot_be_read_is_found(code: str) -> None:
    text = f"{code}\n\ndef f():\n    return 1\n"
    assert definitions(text, outline(text, "python")) == ["function: def f"]


@grammars
def test_what_belongs_to_a_definition_stands_before_it() -> None:
    text = "x = 1\n\n# About f.\n# More.\n@decorated\ndef f():\n    pass\n\n\n# A banner\n\n\ndef g():\n    pass\n"
    lines = [(item.line, item.kind) for item in outline(text, "py") if item.depth == 0]
    assert lines == [(0, "statement"), (2, "function"), (9, "function")]


@pytest.mark.parametrize(
    ("infos", "name"),
    [
        (("python", "Python title='a'", "{.python .numberLines}", "{python}"), "python"),
        (("rust,no_run",), "rust"),
        (("c++",), "c++"),
        (("jsx",), "javascript"),
        (("sh",), "bash"),
        (("yml",), "yaml"),
        (("", "text", "console", "pythonic", "{}", "c#"), None),
    ],
)
def test_info_strings_name_languages(infos: tuple[str, ...], name: str | None) -> None:
    assert {language and language.name for language in map(language_named, infos)} == {name}


def test_files_are_known_by_their_ending() -> None:
    names = ["a/b.PY", "b.d.ts", "README.md", "Makefile", ""]
    assert [*map(language_of, names)] == ["python", "typescript", "", "", ""]
    assert all(language_named(language_of(f"a{ending}")) for ending in ENDINGS)


# Fences


@grammars
def test_a_fence_divides_at_definitions() -> None:
    """Functions that fit stay whole, although blank lines inside them would fill chunks better."""
    text = functions(20, "# Number {}.\ndef f{}(a):\n    b = a + {}\n\n    return b * {}\n")
    chunks = check_promises(fenced(text, "python"), ChunkConfig(max_tokens=120, overlap=0))
    assert all(line.startswith("# Number") for line in first_lines(chunks)[1:])
    assert all(chunk.embed_text.endswith("```") for chunk in chunks)
    assert all("```python\n# Number" in chunk.embed_text for chunk in chunks)


@grammars
def test_a_class_divides_at_methods_and_a_method_at_statements() -> None:
    method = "    def f{}(self):\n" + "".join(
        f"        self.call(\n            {n},\n            {n} + 1,\n        )\n"
        for n in range(12)
    )
    text = fenced(f"class A:\n{functions(3, method)}", "python")
    chunks = check_promises(text, ChunkConfig(max_tokens=100, overlap=0))
    starts = {line.strip() for line in first_lines(chunks)[1:]}
    assert starts == {"def f1(self):", "def f2(self):", "self.call("}


@grammars
@pytest.mark.parametrize(
    "prefix", ["> ", "- ", "1. ", "> - "], ids=["quote", "item", "number", "item-in-quote"]
)
def test_a_fence_in_a_container_divides_at_definitions(prefix: str) -> None:
    hanging = "".join(">" if mark == ">" else " " for mark in prefix)
    lines = ["```python", *functions().split("\n"), "```"]
    text = "\n".join((hanging if n else prefix) + line for n, line in enumerate(lines)) + "\n"
    chunks = check_promises(text, ChunkConfig(max_tokens=100, overlap=0))
    assert len(chunks) > 3
    assert all("def f" in line for line in first_lines(chunks)[1:])


@grammars
def test_imports_part_better_than_statements_and_worse_than_definitions() -> None:
    text = (
        "a = 1\nimport b\ntype E = (\n    int\n)\ndef f():\n    pass\nclass G:\n    pass\nh = 1\n"
    )
    points = Chunker().analyze(text, language="python").break_points
    scores = {point.kind: point.score for point in points}
    assert scores == {**CODE_SCORES, "lead-in": SCORES["lead-in"]}


BROKEN: Final = "def f(:\n  ]] {{ = = ) 5 5\n\n" * 60


@pytest.mark.parametrize("info", ["python", "text", "", "unknown-language"])
def test_broken_code_and_unknown_languages_divide_at_blank_lines(info: str) -> None:
    chunks = check_promises(fenced(BROKEN, info), ChunkConfig(max_tokens=80, overlap=0))
    assert len(chunks) > 5
    assert set(first_lines(chunks)[1:]) == {"def f(:"}


@grammars
def test_some_broken_lines_do_not_hide_the_rest() -> None:
    text = functions(40).replace(
        "f10(a):\n    b = a\n\n    return b", "f10(a:\n b = = a\n\nreturn (b"
    )
    chunks = check_promises(fenced(text, "python"), ChunkConfig(max_tokens=120, overlap=0))
    inside = [line for line in first_lines(chunks)[1:] if not line.startswith("def f")]
    assert len(chunks) > 5
    assert len(inside) <= 1


@grammars
def test_code_of_other_scripts_and_line_ends() -> None:
    code = functions(20, 'def grüße{}(a):\n    b = "日本語 \ud800 \x00 é"\n\n    return b')
    text = "\ufeff" + fenced(code.replace("\n", "\r\n"), "python")
    chunks = check_promises(text, ChunkConfig(max_tokens=120, overlap=0))
    assert all(line.startswith("def grüße") for line in first_lines(chunks)[1:])


# Source files


@grammars
def test_a_source_file_is_chunked_by_its_definitions() -> None:
    text = SAMPLES["python"] + "\n\nif __name__ == '__main__':\n    main()\n"
    chunks = check_promises(text, ChunkConfig(max_tokens=40, overlap=0), language="python")
    assert [(chunk.headings, first) for chunk, first in zip(chunks, first_lines(chunks), strict=True)] == [
        ((), "#!/usr/bin/env python"),
        (("class Store",), "# Where things are kept."),
        (("class Store", "async def size"), "    @property"),
        (("def main",), "def main():"),
    ]  # fmt: skip
    assert chunks[2].embed_text.startswith("class Store\n\n    @property\n")
    assert chunks[3].embed_text == chunks[3].text
    assert chunks[3].text.endswith("__main__':\n    main()")
    assert chunks[1].kinds == ("signature", "code")


@grammars
def test_what_follows_a_method_belongs_to_the_class() -> None:
    text = "class A:\n    def f(self):\n        return 1\n\n    x = 1\n\n\ny = 2\n"
    headings = Chunker().analyze(text, language="python").headings
    assert [(heading.title, heading.path) for heading in headings] == [
        ("class A", ("class A",)),
        ("def f", ("class A", "def f")),
        ("", ("class A",)),
        ("", ()),
    ]
    chunks = Chunker(max_tokens=16, overlap=0).chunk(text, "a.py", "python")
    assert [chunk.headings for chunk in chunks] == [("class A",), ("class A",), ()]
    assert chunks[1].embed_text == "class A\n\n    x = 1"


def test_source_code_without_a_grammar_divides_at_blank_lines() -> None:
    text = functions(20, "procedure p{}\n  begin\n  end") + "\n"
    chunks = check_promises(text, ChunkConfig(max_tokens=40, overlap=0), language="pascal")
    assert all(line.startswith("procedure") for line in first_lines(chunks))
    assert {chunk.kinds for chunk in chunks} == {("code",)}


# Any text


def code_text() -> st.SearchStrategy[str]:
    """Code of every language, with lines left out, doubled, moved, and noise between them."""
    lines = [line for text in SAMPLES.values() for line in text.split("\n")]
    some = st.sampled_from(lines) | st.sampled_from(["", "    x = 1", "}", "end", "{", '"""'])
    sample = st.sampled_from([*SAMPLES.values()])
    part = st.one_of(sample, st.lists(some, max_size=12).map("\n".join), nasty_text())
    return st.lists(part, max_size=5).map("\n".join)


@grammars
@given(
    code_text(),
    st.sampled_from([*SAMPLES]),
    st.sampled_from([None, "", "> ", "  "]),
    configurations(),
)
def test_promises_on_any_code(
    text: str, name: str, prefix: str | None, config: ChunkConfig
) -> None:
    """In a source file, and in a fence with a prefix before each line."""
    if prefix is None:
        check_promises(text, config, language=name)
        return
    lines = fenced(text, name).splitlines(keepends=True)
    check_promises("".join(prefix + line for line in lines), config)


@pytest.mark.slow
@grammars
@pytest.mark.parametrize("name", CODE)
def test_time_grows_linearly_with_code(name: str) -> None:
    language, build = CODE[name]
    chunker = Chunker(max_tokens=64)
    chunker.chunk(fenced("a\n" * 200, language))

    def chunk_both(text: str) -> None:
        chunker.chunk(text, None, language)
        chunker.chunk(fenced(text, language))

    assert time_growth(chunk_both, build, 16_000) <= TIME_LIMIT


# Without the extra


@grammars
def test_without_the_extra_code_divides_at_indentation(
    request: pytest.FixtureRequest,
) -> None:
    text = fenced(functions().replace("\n\n\n", "\n"), "python")
    chunker = Chunker(max_tokens=60, overlap=0)
    one = fingerprint(chunker.config, "cl100k_base")
    request.getfixturevalue("without_grammars")
    assert versions() == {}
    assert {line[:5] for line in first_lines(chunker.chunk(text))} == {"# Cod", "def f"}
    assert fingerprint(chunker.config, "cl100k_base") != one


# The command


def test_source_files_on_the_command_line(tmp_path: Path) -> None:
    files = {
        "src/store.py": "class Store:\n    def get(self):\n        return 1\n",
        "src/notes.md": "# Notes\n\nText.\n",
        "src/Main.java": "class Main {\n}\n",
    }
    write(tmp_path, files)
    (chunk,) = records(run("chunk", "src/store.py", cwd=tmp_path).stdout)
    assert (chunk["source"], chunk["kinds"][-1]) == ("src/store.py", "code")
    assert chunk["headings"] == ([] if MISSING else ["class Store"])
    # Folders are searched for code only if that is asked for.
    for options, expected in (((), ["src/notes.md"]), (("--code",), sorted(files))):
        chunks = records(run("chunk", "src", *options, cwd=tmp_path).stdout)
        assert [chunk["source"] for chunk in chunks] == expected
    done = run("index", "src", "--db", "a.db", "--code", cwd=tmp_path)
    assert done.stdout.startswith(b"added 3,"), done.stderr
    assert b"store.py:1-3" in run("search", "get", "--db", "a.db", cwd=tmp_path).stdout
