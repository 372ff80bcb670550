"""What is generated in the manual: outputs of snippets, api.md, options.md, llms.txt, charts.

    python -m tests.manual [PAGE.md ...]

writes them; tests/test_documentation.py checks that they are up to date. Outputs that need a package
which is not installed are left as they are, and named.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from chunkast import ChunkConfig, Chunker
from tests.api_page import api_page
from tests.command import environment
from tests.plots import charts

__all__ = (
    "DOCS",
    "FRAMEWORKS",
    "PAGES",
    "ROOT",
    "Snippet",
    "completions",
    "generated",
    "missing_framework",
    "outputs_without_program",
    "printed_by_framework",
    "printed_by_read",
    "printed_by_shell",
    "run_python",
    "run_snippet",
    "snippets",
    "timeless",
)

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
# Their blocks of ``py`` run in order, in one process; elsewhere, nothing runs these.
FRAMEWORKS = {
    "haystack.md": "haystack",
    "langchain.md": "langchain_qdrant",
    "llama-index.md": "llama_index.vector_stores.qdrant",
}
# A block of code, what it prints, and what it prints after an edit of itself.
_SNIPPET = re.compile(
    r"^```(?P<kind>python|py|sh)\n(?P<code>.*?)^```\n"
    r"(?P<shown>\n```text\n(?P<output>.*?)^```\n)?"
    r"(?P<edit>\nChange `(?P<old>[^`\n]+)` to `(?P<new>[^`\n]+)` in the program, and run it "
    r"again\. It now prints first:\n\n```text\n(?P<again>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
# What the agents' tool ``read`` returns, for the call above the block.
_CALL = re.compile(
    r"^`read\((?P<arguments>[^`\n]*)\)`[^\n]*\n\n```text\n(?P<output>.*?)^```\n",
    re.MULTILINE | re.DOTALL,
)
_TEXT = re.compile(r"^```text\n", re.MULTILINE)
_MARK = "-----8<-----"


class Snippet(NamedTuple):
    """A program in a page: its line, its code, and the output that the page shows.

    ``old`` and ``new`` are an edit of the code, ``again`` the beginning of its output then.
    """

    page: str
    line: int
    code: str
    output: str
    kind: str = "python"
    old: str = ""
    new: str = ""
    again: str = ""


def _snippet(page: Path, text: str, found: re.Match[str]) -> Snippet:
    line = text.count("\n", 0, found.start()) + 1
    named = found.groupdict(default="")
    values = (named[name] for name in ("code", "output", "kind", "old", "new", "again"))
    return Snippet(page.name, line, *values)


def snippets(page: Path, kind: str = "python") -> Iterator[Snippet]:
    """Yield the snippets of a page: Python, frameworks' ("py"), or commands with an output ("sh")."""
    text = page.read_text("utf-8")
    for found in _SNIPPET.finditer(text):
        # Commands without an output are not run.
        if found["kind"] == kind and (found["shown"] or kind != "sh"):
            yield _snippet(page, text, found)


def outputs_without_program(page: Path) -> Iterator[int]:
    """Yield the lines of the blocks of output that no program or call of the page prints."""
    text = page.read_text("utf-8")
    known = [match.span() for each in (_SNIPPET, _CALL) for match in each.finditer(text)]
    for found in _TEXT.finditer(text):
        if not any(start <= found.start() < end for start, end in known):
            yield text.count("\n", 0, found.start()) + 1


def timeless(output: str) -> str:
    """Return an output without the seconds that its runs took."""
    return re.sub(r"[.\d]+ s$", "s", output, flags=re.MULTILINE)


def run_python(
    *arguments: str | Path, cwd: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with warnings as errors, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=cwd,
        env=environment(variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def run_snippet(*codes: str) -> list[subprocess.CompletedProcess[str]]:
    """Run snippets one after the other, in one folder with the README, warnings being errors."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "README.md").write_bytes((ROOT / "README.md").read_bytes())
        done = []
        for code in codes:
            # A server of PostgreSQL warns if its place for a lock is open to others, and opens it to
            # them itself.
            folder.chmod(0o700)
            done.append(run_python("-c", code, cwd=folder, XDG_RUNTIME_DIR=name))
        return done


def printed_by_shell(page: Path) -> list[tuple[Snippet, str]]:
    """Run the commands of a page that show an output, in one folder; return what they print."""
    with TemporaryDirectory() as name:
        tool = Path(name, "bin", "chunkast")
        tool.parent.mkdir()
        tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m chunkast "$@"\n', "utf-8")
        tool.chmod(0o755)
        folder = Path(name, "pages")
        folder.mkdir()
        path = f"{tool.parent}{os.pathsep}{os.environ.get('PATH', '')}"
        return [
            (
                snippet,
                subprocess.run(
                    ["/bin/sh", "-c", snippet.code],
                    cwd=folder,
                    env=environment({"PATH": path, "CI": ""}),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    check=False,
                    timeout=600,
                ).stdout,
            )
            for snippet in snippets(page, "sh")
        ]


def printed_by_framework(page: Path) -> list[tuple[Snippet, str]]:
    """Run the blocks of a framework's page in order; return what each of them prints."""
    parts = list(snippets(page, "py"))
    code = f"print({_MARK!r})\n".join(snippet.code for snippet in parts)
    with TemporaryDirectory() as name:
        (Path(name) / "page.py").write_text(code, "utf-8")
        done = subprocess.run(
            [sys.executable, "page.py"],
            cwd=name,
            env=environment({"HAYSTACK_TELEMETRY_ENABLED": "False"}),
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
    assert done.returncode == 0, done.stderr
    return list(zip(parts, done.stdout.split(f"{_MARK}\n"), strict=True))


_GUIDE_TO_READ = """\
# Guide

Huts are open from June to September.

## Install

Put up the bunks first. Each needs four screws and a board, which lie below the stairs.

Then fill the stove with dry wood, and open the lower door.

Light it with paper, and close the door once the wood burns. The room is warm after an hour.

Hang the lamps from the hooks above the tables, and keep the spare wicks in the blue tin.
"""


def printed_by_read(page: Path) -> list[tuple[str, str]]:
    """Return what the agents' ``read`` returns for each call in a page, beside what it shows."""
    import asyncio

    from chunkast.index import Store
    from chunkast.mcp.index_answers import Answers

    found = []
    chunker = Chunker(max_tokens=256, overlap=0)
    with Store(":memory:", create=True) as store:
        store.update([("docs/guide.md", _GUIDE_TO_READ)], chunker)
        for call in _CALL.finditer(page.read_text("utf-8")):
            arguments = {
                word.arg or "": ast.literal_eval(word.value)
                for word in _call_of(f"read({call['arguments']})").keywords
            }
            answer = asyncio.run(Answers(store, chunker).read(**arguments))
            found.append((call["output"], f"{answer.rstrip()}\n"))
    return found


def _call_of(text: str) -> ast.Call:
    parsed = ast.parse(text, mode="eval").body
    assert isinstance(parsed, ast.Call)
    return parsed


def _missing(code: str) -> str:
    """Return the first package that a snippet imports and that is not installed, or ""."""
    imports = re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)
    return next((name for name in imports if find_spec(name) is None), "")


def missing_framework(page: Path) -> str:
    """Return the package that the framework's page needs if it is not installed, or ""."""
    package = FRAMEWORKS[page.name]
    root = package.partition(".")[0]
    try:
        return "" if find_spec(root) and find_spec(package) else package
    except ModuleNotFoundError:
        return package


def _printed(page: Path) -> Iterator[tuple[Snippet, str, str]]:
    """Yield each program of a page with its output, and its output after the edit."""
    for snippet in snippets(page):
        if missing := _missing(snippet.code):
            print(f"{page.name}:{snippet.line} is left as it is: needs {missing}", file=sys.stderr)
            continue
        edited = [snippet.code.replace(snippet.old, snippet.new)] if snippet.old else []
        done = run_snippet(snippet.code, *edited)
        if failed := next((each for each in done if each.returncode), None):
            raise SystemExit(f"{page.name}: {failed.stderr}\n{snippet.code}")
        lines = len(snippet.again.splitlines())
        again = "".join(done[-1].stdout.splitlines(keepends=True)[:lines]) if edited else ""
        yield snippet, done[0].stdout, again
    for snippet, output in printed_by_shell(page):
        yield snippet, output, ""
    if page.name in FRAMEWORKS:
        if missing := missing_framework(page):
            print(f"{page.name} is left as it is: needs {missing}", file=sys.stderr)
        else:
            for snippet, output in printed_by_framework(page):
                yield snippet, output, ""


def _with_outputs(page: Path) -> str:
    text = page.read_text("utf-8")
    printed = {snippet: (output, again) for snippet, output, again in _printed(page)}

    def filled(found: re.Match[str]) -> str:
        snippet = _snippet(page, text, found)
        if snippet not in printed:
            return found[0]
        output, again = printed[snippet]
        if timeless(output) == timeless(snippet.output):
            output = snippet.output
        shown = f"\n```text\n{output}```\n" if output else ""
        edit = (found["edit"] or "").replace(f"```text\n{snippet.again}", f"```text\n{again}")
        return f"```{snippet.kind}\n{snippet.code}```\n{shown}{edit}"

    written = _SNIPPET.sub(filled, text)
    if _CALL.search(text) and not _missing("import mcp"):
        for shown, answer in printed_by_read(page):
            written = written.replace(f"```text\n{shown}```", f"```text\n{answer}```")
    return written


# The options page

_GUIDE = """\
# Huts

Huts are open from June to September. Book early for August.

## Food

Every hut sells soup. Carry two litres of water.
"""
_TRAIL = "Carry water. Bring some bread. Pack a rope. Start at dawn. Rest at noon.\n"
_SECTIONS = """\
## Food

Huts sell soup.

## Water

Carry two litres. Springs are dry in August. Snow is no help.

## Beds

A bed costs ten crowns.
"""
_TABLE = """\
| hut     | beds |
| ------- | ---: |
| Ridge   |   24 |
| Glacier |   12 |
| Valley  |   30 |
"""
_FRONT = "---\ntitle: Huts\ntags: [alps, soup]\n---\nEvery hut sells soup.\n"
_BOLD = "# Paper\n\n**1. Methods**\n\nRain was measured.\n\n**1.2 Data**\n\nTen years.\n"
_NUMBERED = "# 1 Huts\n\nOpen from June.\n\n# 1.1 Food\n\nEvery hut sells soup.\n"
_RULE = (
    "# Huts\n\nHuts are open from June to September.\n\n---\n\nEvery hut sells soup.\n\n"
    "Carry two litres of water.\n"
)
_GERMAN = "Die Hütte öffnet am 3. Mai. Dr. Berg verkauft Suppe. Wasser gibt es nicht.\n"
_SAID = ("Every hut sells soup.", "Carry water.", "Storms come late.", "A bed costs ten crowns.")
_SHEETS = "\n\n".join(
    f"<!-- page {number} -->\n\nHUT GUIDE\n\n{text}" for number, text in enumerate(_SAID, 1)
)
_PAGES = "Rain is measured in\n\n[page 2]\n\nmillimetres a day.\n"
_DATA = f"A picture:\n\n![](data:image/png;base64,{'iVBORw0KGgoAAAANSUhEUgAA' * 14})\n"


class _Example(NamedTuple):
    """A text cut with two values of an option; ``embedded`` shows the text to embed instead."""

    text: str
    values: tuple[Any, Any]
    others: dict[str, Any] = {}  # noqa: RUF012 - nothing changes it
    embedded: bool = False


_DEFAULT = ChunkConfig()
_PLAIN = {"overlap": 0, "context": "none"}
_SMALL = {"max_tokens": 16, **_PLAIN}
_FILLED = {"max_tokens": 20, "packing": "fill", **_PLAIN}
_EXAMPLES: dict[str, _Example] = {
    "max_tokens": _Example(_GUIDE, (16, 32), _PLAIN),
    "overlap": _Example(_TRAIL, (0, 6), {"max_tokens": 12, "context": "none"}),
    "min_tokens": _Example(_GUIDE, (None, 0), {"max_tokens": 64}),
    "reserve_tokens": _Example(_GUIDE, (0, 10), {"max_tokens": 32, **_PLAIN}),
    "encoding": _Example(
        "Hütten öffnen im Juni. Suppe gibt es überall.\n", ("cl100k_base", "o200k_base"), _SMALL
    ),
    "packing": _Example(_SECTIONS, ("sections", "fill"), _SMALL),
    "window": _Example(_RULE, (6, 20), _FILLED),
    "decay": _Example(_RULE, (1.0, 0.0), {"window": 20, **_FILLED}),
    "scores": _Example(_RULE, ({}, {"paragraph": 95}), {"window": 20, "decay": 0.0, **_FILLED}),
    "sentence_language": _Example(_GERMAN, ("en", "de"), {"max_tokens": 11, **_PLAIN}),
    "page_markers_in_embed": _Example(
        _PAGES.replace("[page 2]", "<!-- page 2 -->"), (False, True), embedded=True
    ),
    "running_heads_in_embed": _Example(
        _SHEETS, (True, False), {"page_markers_in_embed": False}, embedded=True
    ),
    "context": _Example(
        _GUIDE, ("none", "headings"), {"max_tokens": 20, "overlap": 0}, embedded=True
    ),
    "oversize": _Example(_TABLE, ("split", "keep"), {"max_tokens": 24, **_PLAIN}),
    "opaque": _Example(_DATA, ("split", "keep"), {"max_tokens": 60}, embedded=True),
    "extensions": _Example(
        _TABLE, ((), _DEFAULT.extensions), {"max_tokens": 30, "overlap": 0}, embedded=True
    ),
    "pseudo_headings": _Example(
        _BOLD, (False, True), {"max_tokens": 20, "overlap": 0}, embedded=True
    ),
    "heading_levels": _Example(_NUMBERED, ("marks", "numbering"), {"min_tokens": 0}, embedded=True),
    "page_markers": _Example(_PAGES, (None, r"\[page (?P<begins>\d+)\]"), embedded=True),
    "front_matter_text": _Example(_FRONT, ("keep", "drop")),
    "front_matter_keys": _Example(
        _FRONT, ((), ("tags",)), {"front_matter_text": "drop"}, embedded=True
    ),
    "trim": _Example(
        "# Soup\n\n\nEvery hut.\n\n\n# Water\n\n\nTwo litres.\n", (True, False), {"min_tokens": 0}
    ),
}


def _options() -> str:
    doc = (ChunkConfig.__doc__ or "").replace("``", "`")
    groups = re.split(r"\*\*(.+?)\*\*", doc)
    defaults = {field.name: field for field in fields(ChunkConfig)}
    chapters = [_OPTIONS_HEAD]
    for group, text in zip(groups[1::2], groups[2::2], strict=True):
        chapters.append(f"## {group}\n")
        for found in re.finditer(
            r"^    (\w+): (.*?)(?=^    \w+: |\Z)", text, re.MULTILINE | re.DOTALL
        ):
            name, described = found[1], " ".join(found[2].split())
            chapters.append(f"### `{name}`\n\n{described[:1].upper()}{described[1:]}\n")
            default = defaults[name].default
            if isinstance(default, (str, int, float)) or default is None:
                chapters.append(f"Default: `{default!r}`.\n")
            if example := _EXAMPLES.get(name):
                chapters.append(_shown(name, example))
    return "\n".join(chapters)


_OPTIONS_HEAD = """\
# Options

Every option of `Chunker`, `ChunkConfig` and `chunkast chunk`. This page is generated; each example
cuts one text twice. A line `─── n tokens` begins a chunk. *Embedded* examples show `embed_text`.

On the command line, `--set NAME=VALUE` sets any of them. `chunkast chunk --help-all` lists those
that have an option of their own, such as `--max-tokens`.
`chunk_size` and `chunk_overlap` are other names of `max_tokens` and `overlap`.
"""


def _shown(name: str, example: _Example) -> str:
    parts = []
    for value in example.values:
        is_default = name == "extensions" and value == _DEFAULT.extensions
        lines = [f"# {'the default' if is_default else f'{name}={value!r}'}"]
        chunker = Chunker(**{name: value, **example.others})
        for chunk in chunker.chunk(example.text, "huts.md"):
            text = chunk.embed_text if example.embedded else chunk.text
            tokens = chunk.embed_token_count if example.embedded else chunk.token_count
            lines += [f"─── {tokens} tokens{' (oversize)' if chunk.oversize else ''}", text]
        parts.append("\n".join(lines))
    what = "Embedded:\n\n" if example.embedded else ""
    return f"{what}~~~~text\n" + "\n\n".join(parts) + "\n~~~~\n"


# The completions of the command

_COMPLETIONS = ROOT / "chunkast" / "cli" / "completions"
_PLACES = {
    **dict.fromkeys(("FILE", "PATHS", "LOCK", "REPORT", "TOOLS.json", "E"), "FILE"),
    "DIR": "DIRECTORY",
}


def completions() -> dict[Path, str]:
    """Return the completion scripts, as they must be, by path; this needs shtab."""
    import shtab

    from chunkast.cli.main import parser_of
    from chunkast.cli.option_table import SHELLS

    parser = parser_of(every=True)
    for command in (parser, *parser.commands.values()):
        for action in command._actions:
            if action.metavar in _PLACES:
                action.complete = getattr(shtab, _PLACES[action.metavar])  # type: ignore[attr-defined]
    return {_COMPLETIONS / f"chunkast.{shell}": shtab.complete(parser, shell) for shell in SHELLS}


# llms.txt

_SUMMARY = (
    "> Splits Markdown into verbatim chunks that fit a token budget, follow the document's structure, "
    "and cite their source to the character."
)


def _llms() -> str:
    lines = ["# chunkast", "", _SUMMARY, "", "## Manual", ""]
    for path in PAGES[1:]:
        text = path.read_text("utf-8")
        title, _, rest = text.removeprefix("# ").partition("\n")
        first = " ".join(rest.strip().split("\n\n")[0].split())
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", first)
        lines.append(f"- [{title}]({path.name}): {re.split(r'(?<=[.])[ ]', plain)[0]}")
    return "\n".join(lines) + "\n"


@cache
def generated() -> dict[Path, str]:
    """Return the files that are generated whole, as they must be."""
    drawn = charts((DOCS / "benchmarks.md").read_text("utf-8"))
    return {
        DOCS / "api.md": api_page(),
        DOCS / "options.md": _options(),
        DOCS / "llms.txt": _llms(),
        **{DOCS / path: chart for path, chart in drawn},
    }


def main(names: list[str]) -> None:
    """Write everything that is generated; ``names`` limits the pages whose outputs are written."""
    for page in PAGES:
        if not names or page.name in names:
            page.write_text(_with_outputs(page), "utf-8")
    if find_spec("shtab") is None:
        print("the completions are left as they are: needs shtab", file=sys.stderr)
    for path, text in (generated() | (completions() if find_spec("shtab") else {})).items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
