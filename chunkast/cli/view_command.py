"""``chunkast view``: show the chunks of documents on an HTML page, or print a block tree."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

from chunkast.cli.messages import counted, print_error, print_message, print_text
from chunkast.cli.shared_options import config_of
from chunkast.cli.work import Document, Tally, results, selected
from chunkast.errors import UsageError
from chunkast.files.find import Selection
from chunkast.files.write import open_output
from chunkast.sources.jupyter import is_notebook

if TYPE_CHECKING:
    from chunkast.chunker import Chunker


_ENDING: Final = ".chunks.html"


def run(options: Namespace) -> int:
    """Show the documents. Return 1 if any cannot be processed or no browser was found, else 0."""
    from chunkast.chunker import Chunker
    from chunkast.output.view.budgets import view_of

    if options.tree and (options.output is not None or options.open):
        raise UsageError("--tree writes no page; --output and --open are for pages")
    path = None if options.tree else _output(options)
    config, tally = config_of(options), Tally()
    # Every budget is checked before the work begins.
    view_of("", config, options.budgets)
    chunker = Chunker(config)
    selection = _texts(selected(options, path))
    if options.tree:
        with results(options, selection, chunker, _tree, tally) as trees:
            print_text("\n".join(trees))
        return tally.exit_code
    report = partial(_report, options.budgets)
    with results(options, selection, chunker, report, tally) as made:
        documents = list(made)
    written = not documents or _write_page(options, documents, path)
    return tally.exit_code if written else 1


def _texts(selection: Selection) -> Selection:
    """Leave out notebooks; raise ``UsageError`` if the selection has nothing else."""
    notebooks = {file.path for file in selection.files if is_notebook(file.source)}
    selection.files = [file for file in selection.files if file.path not in notebooks]
    if notebooks and not selection.files:
        raise UsageError(f"{min(notebooks)}: a notebook is chunked cell by cell; view shows texts")
    if notebooks:
        selection.skipped[": notebooks, which are chunked cell by cell"] |= notebooks
    return selection


def _report(budgets: Sequence[int] | None, chunker: Chunker, item: Document) -> dict[str, Any]:
    from chunkast.output.view.budgets import view_of
    from chunkast.output.view.html_page import report_data

    source, text = item
    return report_data(view_of(str(text), chunker.config, budgets, source or ""))


def _tree(chunker: Chunker, item: Document) -> str:
    from chunkast.output.view.block_tree import render_tree

    source, text = item
    analysis = chunker.analyze(str(text), source)
    return "".join(render_tree(analysis, chunker.counter.count))


def _write_page(options: Namespace, documents: Sequence[dict[str, Any]], path: str | None) -> bool:
    """Write the page of the documents; return false if a browser is wanted and none was found."""
    import webbrowser

    from chunkast.output.view.html_page import page_of

    page = page_of(documents).encode()
    with open_output(path) as output:
        output.stream.write(page)
        output.complete = True
    counts: Counter[int] = Counter()
    for each in documents:
        counts.update({budget["max"]: len(budget["chunks"]) for budget in each["budgets"]})
    listed = ", ".join(f"{count:,} at {size:,}" for size, count in counts.items())
    files = f"; {counted(len(documents), 'document')}" if len(documents) > 1 else ""
    size = counted(len(page), "byte")
    print_message(f"{path or 'standard output'}: {size}{files}; chunks: {listed} tokens")
    if options.open and path and not webbrowser.open(Path(path).resolve().as_uri()):
        print_error(f"--open: no browser was found; the page is {path}")
        return False
    return True


def _output(options: Namespace) -> str | None:
    """Return the path of the page, or ``None`` for standard output."""
    output: str | None = options.output
    if output == "-":
        if options.open:
            raise UsageError("--open needs a file; give -o REPORT")
        return None
    first = options.paths[0]
    if os.path.isdir(first):
        stem = os.path.basename(os.path.realpath(first))
    else:
        stem = "stdin" if first == "-" else PurePath(first).stem
    return f"{stem}{_ENDING}" if output is None else output
