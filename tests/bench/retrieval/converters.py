"""Makes Markdown of a file: ``python converters.py CONVERTER INPUT OUTPUT``.

A script by itself, for the environment of the pinned converters; see ``convert.py``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

__all__ = ("CONVERTERS",)


def _html2text(path: Path) -> str:
    return str(import_module("html2text").html2text(path.read_text("utf-8")))


def _mammoth(path: Path) -> str:
    with path.open("rb") as file:
        return str(import_module("mammoth").convert_to_markdown(file).value)


def _markdownify(path: Path) -> str:
    return str(import_module("markdownify").markdownify(path.read_text("utf-8")))


def _markitdown(path: Path) -> str:
    return str(import_module("markitdown").MarkItDown().convert(str(path)).text_content)


def _pandoc(path: Path) -> str:
    options = {"format": path.suffix[1:], "extra_args": ["--wrap=none"]}
    return str(import_module("pypandoc").convert_file(str(path), "gfm", **options))


def _pymupdf(path: Path) -> str:
    """The text of the pages with form feeds between them, as pdftotext writes it."""
    return "\f".join(page.get_text() for page in import_module("pymupdf").open(path))


def _pymupdf4llm(path: Path) -> str:
    convert = import_module("pymupdf4llm").to_markdown
    return str(convert(str(path), page_separators=True, show_progress=False))


CONVERTERS = {
    "html2text": _html2text,
    "mammoth": _mammoth,
    "markdownify": _markdownify,
    "markitdown": _markitdown,
    "pandoc": _pandoc,
    "pymupdf": _pymupdf,
    "pymupdf4llm": _pymupdf4llm,
}

if __name__ == "__main__":
    name, given, made = sys.argv[1:]
    Path(made).write_text(CONVERTERS[name](Path(given)), encoding="utf-8", newline="")
