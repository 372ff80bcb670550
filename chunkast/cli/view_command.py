"""``chunkast view``: show a document's chunks on an HTML page, or print its block tree."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path, PurePath
from typing import Final

from chunkast.cli.messages import counted, print_error, print_message, print_text
from chunkast.cli.shared_options import add_config, add_flags, config_of, whole_number
from chunkast.errors import UsageError
from chunkast.files.paths import Root
from chunkast.files.read import read_pieces
from chunkast.files.write import open_output

HELP: Final = "show a document with its chunks, as an HTML page"
DESCRIPTION: Final = (
    "Write an HTML page that shows a document with its chunks, overlap, break points with their "
    "scores and protected regions, at several budgets. The page works offline."
)
EXAMPLES: Final = ("chunkast view README.md --open", "chunkast view README.md --tree")
COMMON: Final = "max_tokens overlap encoding context output open tree budgets quiet"

_ENDING: Final = ".chunks.html"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments to ``parser``."""
    parser.add_argument("file", metavar="FILE", help="a document in UTF-8, or - for standard input")
    parser.add_argument(
        "-o",
        "--output",
        metavar="REPORT",
        help="the file to write the page to, or - for standard output "
        f"(default: NAME{_ENDING} in the current folder)",
    )
    add_flags(
        parser,
        tree="print the tree of blocks with their lines, characters and tokens; write no page",
        open="open the page in the default browser at once",
    )
    parser.add_argument(
        "--budgets",
        type=lambda text: tuple(map(whole_number, text.split(","))),
        metavar="N,N,N",
        help="budgets to compare with --max-tokens (default: five around it)",
    )
    add_flags(parser, quiet="errors only: no summary")
    add_config(parser)


def run(options: Namespace) -> int:
    """Show the document. Return 1 if ``--open`` does not find a browser, else 0."""
    if options.file.lower().endswith(".ipynb"):
        raise UsageError(f"{options.file}: a notebook is chunked cell by cell; view shows one text")
    named = Root.at(".").find(options.file) or PurePath(options.file).as_posix()
    name = "" if options.file == "-" else named
    if options.tree:
        if options.output is not None or options.open:
            raise UsageError("--tree writes no page; --output and --open are for pages")
        _print_tree(options, name)
        return 0
    return _write_page(options, name)


def _write_page(options: Namespace, name: str) -> int:
    import webbrowser

    from chunkast.output.view.budgets import view_of
    from chunkast.output.view.html_page import render_html

    config = config_of(options)
    path = _output(options)
    view = view_of("".join(read_pieces(options.file)), config, options.budgets, name)
    page = render_html(view).encode()
    with open_output(path) as output:
        output.stream.write(page)
        output.complete = True
    if not options.quiet:
        counts = ", ".join(f"{len(each.chunks):,} at {each.max_tokens:,}" for each in view.budgets)
        size = counted(len(page), "byte")
        print_message(f"{path or 'standard output'}: {size}; chunks: {counts} tokens")
    if options.open and path and not webbrowser.open(Path(path).resolve().as_uri()):
        print_error(f"--open: no browser was found; the page is {path}")
        return 1
    return 0


def _output(options: Namespace) -> str | None:
    """Return the path of the page, or ``None`` for standard output."""
    output: str | None = options.output
    if output == "-":
        if options.open:
            raise UsageError("--open needs a file; give -o REPORT")
        return None
    stem = "stdin" if options.file == "-" else PurePath(options.file).stem
    path = f"{stem}{_ENDING}" if output is None else output
    if options.file != "-" and os.path.realpath(options.file) == os.path.realpath(path):
        raise UsageError(f"--output {path}: that is the document")
    return path


def _print_tree(options: Namespace, name: str) -> None:
    from chunkast.chunker import Chunker
    from chunkast.output.view.block_tree import render_tree

    chunker = Chunker(config_of(options))
    analysis = chunker.analyze("".join(read_pieces(options.file)), name or None)
    print_text("".join(render_tree(analysis, chunker.counter.count)))
