"""``chunkast snapshot``: write a lock, a text file for reviewing and comparing chunks."""

from __future__ import annotations

from argparse import Namespace

from chunkast.cli.messages import counted
from chunkast.cli.recording import lock_header, record, written
from chunkast.cli.shared_options import config_of
from chunkast.cli.work import Tally, results, root_of, selected
from chunkast.files.write import open_output


def run(options: Namespace) -> int:
    """Write the lock of the selected documents. Return 1 if any cannot be processed, else 0."""
    from chunkast.chunker import Chunker

    tally = Tally()
    chunker = Chunker(config_of(options))
    path = None if options.output == "-" else options.output
    with tally.stoppable(path), open_output(path) as output:
        root = root_of(options)
        selection = selected(options, path, root)
        header = lock_header(chunker, root, path)
        shows = path is not None
        with results(options, selection, chunker, record, tally, progress=shows) as documents:
            chunks = sum(len(each.chunks) for each in written(output, header, documents))
        output.complete = tally.documents > 0
    tally.print_summary(counted(tally.documents, "file"), counted(chunks, "chunk"))
    return tally.exit_code
