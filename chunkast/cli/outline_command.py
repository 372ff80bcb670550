"""``chunkast outline``: print the sections of a document with their lines and token counts."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Collection
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from chunkast.cli.messages import print_error, print_note, print_result
from chunkast.cli.shared_options import config_of, config_values, database_of, open_database
from chunkast.errors import ChunkastError
from chunkast.files.find import select
from chunkast.files.paths import Root
from chunkast.files.read import read_pieces
from chunkast.output.text import section_line

if TYPE_CHECKING:
    from chunkast.reading import Outline

# The number of paths that an error suggests.
_SHOWN: Final = 3


def run(options: Namespace) -> int:
    """Print the outline of a document, or a list of the documents in the database.

    Return 1 for a database without documents, else 0.
    """
    if options.file is None:
        return _print_documents(options)
    shown = outline_of(options).down_to(options.depth)
    text = "".join(f"{section_line(section)}\n" for section in shown)
    print_result(options.format, [asdict(section) for section in shown], text)
    return 0


def outline_of(options: Namespace) -> Outline:
    """Return the outline of the document ``options.file``.

    Without ``--db``, a file of that name is read first; the database is used only if there is no
    such file.
    """
    from chunkast.chunker import Chunker

    there = options.file == "-" or os.path.lexists(options.file)
    if options.db is None and (there or not os.path.exists(database_of(options))):
        path = options.file if there else _found(options.file, _files_here(), "the current folder")
        name = None if path == "-" else path
        return Chunker(config_of(options)).outline("".join(read_pieces(path)), name)
    with open_database(options) as store:
        source = _found(options.file, store.outline(), store.path)
        chunker = store.chunker(reading=True, **config_values(options))
        return store.outline(source, chunker=chunker)


def _files_here() -> list[str]:
    files = select(["."], Root.at(".")).files
    return [file.path.removeprefix(os.path.join(".", "")) for file in files]


def _found(name: str, known: Collection[str], place: str) -> str:
    """Return ``name`` if it is known or nothing is similar, else the only path that ends with it.

    Raises ``ChunkastError``, which names ``place``, if several end with it or are similar.
    """
    if name in known:
        return name
    ends = [path for path in known if path.endswith(f"/{name}")]
    if len(ends) == 1:
        print_note(f"{name} is {ends[0]}")
        return ends[0]
    stems = {PurePath(path).stem.lower(): path for path in known}
    close = get_close_matches(PurePath(name).stem.lower(), stems, n=_SHOWN)
    near = ends or [stems[each] for each in close]
    if not near:
        return name
    why = f"{len(ends)} documents that end with {name!r}" if ends else f"no document {name!r}"
    listed = f"{', '.join(near[:_SHOWN])}{', ...' if near[_SHOWN:] else ''}"
    raise ChunkastError(f"{place}: has {why}{'' if ends else '; the nearest are'}: {listed}")


def _print_documents(options: Namespace) -> int:
    with open_database(options) as store:
        documents = store.outline()
    text = "".join(f"{name}  {tokens:,} tokens\n" for name, tokens in documents.items())
    print_result(options.format, documents, text)
    if not documents:
        print_error(f"{store.path}: has no documents")
    return 0 if documents else 1
