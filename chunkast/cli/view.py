"""``chunkast view``: show a document's chunks on a page or in the terminal, or its block tree."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final, TypeVar

from chunkast.cli.messages import counted, print_text, say, say_error
from chunkast.cli.options import add_config, add_root, config_of, whole_number
from chunkast.errors import ChunkastError, SourceError, UsageError, describe
from chunkast.files.paths import Root, is_file, is_there
from chunkast.files.read import read_pieces
from chunkast.files.write import open_output
from chunkast.sources.workers import attempt

if TYPE_CHECKING:
    from chunkast.config import ChunkConfig
    from chunkast.output.view.budgets import View

__all__ = ("COMMON", "DESCRIPTION", "EXAMPLES", "HELP", "OPERANDS", "add_arguments", "run")

HELP: Final = "show a document with its chunks, as an HTML page or in the terminal"
DESCRIPTION: Final = (
    "Write one HTML page that shows a document with its chunks, overlap, break points with "
    "their scores and protected regions, at several budgets. The page needs no network, and "
    "nothing in the document can act in it."
)
EXAMPLES: Final = (
    "chunkast view README.md --open",
    "chunkast view README.md --terminal --max-tokens 256",
)
COMMON: Final = "max_tokens overlap encoding context output open terminal tree budgets quiet"
OPERANDS: Final = ""

T = TypeVar("T")
_ENDING: Final = ".chunks.html"
# The mark of reports; other files with a report's name are not replaced.
_MARK: Final = b'<meta name="generator" content="chunkast '
_HEAD: Final = 2_000
# Options that conflict with --terminal or --tree, and their purpose.
_PICTURES: Final = {"output": "a page", "open": "a page", "terminal": "a picture of the chunks"}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments to ``parser``."""
    parser.add_argument("file", metavar="FILE", help="a document in UTF-8, or - for standard input")
    add_root(parser, "the folder that the document's source is relative to")
    parser.add_argument(
        "-o",
        "--output",
        metavar="REPORT",
        help="the file to write the page to, or - for standard output "
        f"(default: NAME{_ENDING} in the current folder)",
    )
    parser.add_argument(
        "--open", action="store_true", help="open the page in the default browser at once"
    )
    parser.add_argument(
        "--terminal", action="store_true", help="show the chunks here, in colour; write no page"
    )
    parser.add_argument(
        "--tree",
        action="store_true",
        help="print the tree of blocks with their lines, characters and tokens; write no page",
    )
    parser.add_argument(
        "--budgets",
        type=_budgets,
        metavar="N,N,N",
        help="budgets to compare with --max-tokens (default: five around it)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="errors only: no summary")
    add_config(parser)


def run(options: Namespace) -> int:
    """Show the document. Return 1 if ``--open`` does not find a browser, else 0."""
    if options.file.lower().endswith(".ipynb"):
        raise UsageError(f"{options.file}: a notebook is chunked cell by cell; view shows one text")
    config = config_of(options)
    path = _output(options)
    root = Root.at(options.root or ".")
    name = "" if options.file == "-" else root.find(options.file)
    if name is None:
        name = PurePath(options.file).as_posix()
    if options.tree:
        _print_tree(options.file, name, config)
        return 0
    from chunkast.output.view.budgets import view_of
    from chunkast.output.view.report import render_html

    def shown() -> View:
        return view_of("".join(read_pieces(options.file)), config, options.budgets, name)

    view = _of_document(options.file, shown)
    if options.terminal:
        _print(view)
        return 0
    page = _of_document(options.file, lambda: render_html(view).encode())
    with open_output(path) as output:
        output.stream.write(page)
        output.complete = True
    if not options.quiet:
        counts = ", ".join(f"{len(each.chunks):,} at {each.max_tokens:,}" for each in view.budgets)
        size = counted(len(page), "byte")
        say(f"{path or 'standard output'}: {size}; chunks: {counts} tokens")
    return 0 if path is None or not options.open or _open(path) else 1


def _of_document(path: str, run: Callable[[], T]) -> T:
    """Return the result of ``run``; raise unexpected errors as ``SourceError`` for ``path``."""
    answer = attempt(run)
    if answer.error is not None and not isinstance(answer.error, ChunkastError):
        raise SourceError(path, describe(answer.error)) from answer.error
    return answer.value()


def _output(options: Namespace) -> str | None:
    """Return the path of the page, or ``None`` for stdout, ``--terminal`` and ``--tree``.

    Raises ``UsageError`` for conflicting options, and for a file that must not be replaced.
    """
    given: str | None = options.output
    if options.terminal or options.tree:
        shown = "tree" if options.tree else "terminal"
        for name in ("output", "open", *(("terminal",) if options.tree else ())):
            if getattr(options, name):
                raise UsageError(
                    f"--{name} is for {_PICTURES[name]}, which --{shown} does not make"
                )
        return None
    if given == "-":
        if options.open:
            raise UsageError("--open needs a file; give -o REPORT")
        return None
    stem = "stdin" if options.file == "-" else PurePath(options.file).stem
    path = f"{stem}{_ENDING}" if given is None else given
    if options.file != "-" and os.path.realpath(options.file) == os.path.realpath(path):
        raise UsageError(f"--output {path}: that is the document")
    if given is None and is_there(path) and not _is_report(path):
        raise UsageError(
            f"{path} exists and is not a chunkast report; name another file with -o REPORT"
        )
    return path


def _is_report(path: str) -> bool:
    if not is_file(path):
        return False
    with Path(path).open("rb") as file:
        return _MARK in file.read(_HEAD)


def _open(path: str) -> bool:
    import webbrowser

    opened = webbrowser.open(Path(path).resolve().as_uri())
    if not opened:
        say_error(f"--open: no browser was found; the page is {path}")
    return opened


def _print(view: View) -> None:
    from rich.console import Console

    from chunkast.output.view.terminal import render_terminal

    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    print_text("".join(render_terminal(view, console)))


def _print_tree(path: str, name: str, config: ChunkConfig) -> None:
    from chunkast.chunker import Chunker
    from chunkast.output.view.tree import render_tree

    chunker = Chunker(config)
    analysis = _of_document(path, lambda: chunker.analyze("".join(read_pieces(path)), name or None))
    print_text("".join(render_tree(analysis, chunker.counter.count)))


def _budgets(text: str) -> tuple[int, ...]:
    try:
        return tuple(map(whole_number, text.split(",")))
    except ArgumentTypeError as error:
        raise ArgumentTypeError(f"{error}; give whole numbers, as in 128,256,512") from None
