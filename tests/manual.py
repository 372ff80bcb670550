"""What is generated in the manual: outputs of snippets, options.md, llms.txt, charts.

    python -m tests.manual

writes them; tests/test_documentation.py checks that they are up to date.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from chunkast import ChunkConfig, Chunker
from tests.command import environment
from tests.plots import charts

__all__ = (
    "DOCS",
    "PAGES",
    "ROOT",
    "Snippet",
    "completions",
    "generated",
    "run_python",
    "run_snippet",
    "snippets",
)

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
_SNIPPET = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?P<shown>\n```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)


class Snippet(NamedTuple):
    """A snippet of Python in a page, its line, and the output that the page shows."""

    page: str
    line: int
    code: str
    output: str


def snippets(page: Path) -> Iterator[Snippet]:
    """Yield the snippets of a page."""
    text = page.read_text("utf-8")
    for found in _SNIPPET.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Snippet(page.name, line, found["code"], found["output"] or "")


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


def run_snippet(code: str) -> subprocess.CompletedProcess[str]:
    """Run a snippet in a folder with the README, warnings being errors."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "README.md").write_bytes((ROOT / "README.md").read_bytes())
        # A server of PostgreSQL warns if it has no place for its lock.
        return run_python("-c", code, cwd=folder, XDG_RUNTIME_DIR=name)


def _with_outputs(page: Path) -> str:
    def filled(found: re.Match[str]) -> str:
        done = run_snippet(found["code"])
        if done.returncode:
            raise SystemExit(f"{page.name}: {done.stderr}\n{found['code']}")
        shown = f"\n```text\n{done.stdout}```\n" if done.stdout else ""
        return f"```python\n{found['code']}```\n{shown}"

    return _SNIPPET.sub(filled, page.read_text("utf-8"))


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
    "> Splits Markdown into verbatim chunks that fit an exact token budget, follow the document's "
    "structure, and cite their source to the character."
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
        DOCS / "options.md": _options(),
        DOCS / "llms.txt": _llms(),
        **{DOCS / path: chart for path, chart in drawn},
    }


def main() -> None:
    """Write everything that is generated."""
    for page in PAGES:
        page.write_text(_with_outputs(page), "utf-8")
    for path, text in (generated() | completions()).items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
