"""Which files the command's arguments mean, and their text.

An argument is a file, a folder, a glob or ``-`` (standard input).

A document's source is its path relative to the root, whichever way it was found (see ``names``).

- A file is taken whatever its name, unless ``--exclude`` leaves it out.
- A folder is searched for files with a Markdown ending, in capitals too; if that is asked for,
  for those with the ending of a programming language, too, or in their place for those that
  ``--include`` says. Hidden files, hidden folders and vendored folders (see ``VENDORED``) below it
  are left out, and so is what ``.gitignore`` files and ``--exclude`` name, and symbolic
  links to folders and to files outside the folder, unless they are to be followed.
- A glob (``*``, ``?``, ``[...]``, and ``**`` for any number of folders) is expanded here if
  the shell has not. Its wildcards pass over what a folder's search leaves out, the folder
  being what the pattern names before the first of them. A pattern
  with an ending (``*.rst``) takes every file that it matches, any other (``docs/*``) those
  that a folder's search takes; folders that it matches are searched like any other.
- Standard input has no source, a pipe that of its path as it was given.

A file found twice, by whatever path, is taken once.
"""

from __future__ import annotations

import codecs
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from io import BufferedReader
from itertools import takewhile
from pathlib import Path, PurePath
from typing import Final, cast

from chunkast.cli.files import is_file, is_folder, is_there
from chunkast.cli.ignored import (
    EXCLUDED,
    IGNORED,
    LINKED_OUT,
    VENDORED_FOLDER,
    Globs,
    IgnoreFiles,
    LeftOut,
)
from chunkast.cli.messages import UsageError
from chunkast.cli.names import Root
from chunkast.code import ENDINGS as CODE_ENDINGS
from chunkast.errors import SourceError, describe
from chunkast.sources.notebook import Notebook, is_notebook, read_notebook
from chunkast.text.files import decode, read_bytes, undecodable

__all__ = (
    "ENDINGS",
    "VENDORED",
    "InputFile",
    "Selection",
    "named_part",
    "read",
    "read_bytes",
    "read_document",
    "read_pieces",
    "select",
)

ENDINGS: Final = (".md", ".markdown", ".mdx", ".qmd", ".rmd", ".txt", ".ipynb")
# Folders of other people's files and of generated ones.
VENDORED: Final = frozenset(
    {
        "__pycache__",
        "__pypackages__",
        "_build",
        "_site",
        "bower_components",
        "build",
        "dist",
        "node_modules",
        "site-packages",
        "vendor",
        "venv",
    }
)
_STDIN: Final = "<stdin>"
# The most that is read at once of what is read piece by piece, in bytes.
_PIECE: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class InputFile:
    """A document to read. ``data`` is its content where it can be read only once."""

    path: str
    source: str | None
    data: bytes | None = None


@dataclass(slots=True)
class Selection:
    """The files that the arguments mean, sorted by source, each once.

    ``problems`` are the arguments that mean nothing and what could not be looked into.
    """

    files: list[InputFile] = field(default_factory=list)
    problems: list[SourceError] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)


def select(options: Namespace, output: str | None = None, root: Root | None = None) -> Selection:
    """Find the files that the arguments mean (see ``add_selection``).

    ``output`` is not one of them; ``root`` is what names are relative to where ``--root`` does
    not say it: by default the current folder.

    Raises ``UsageError`` when an argument names the output itself, or what is outside the root.
    """
    arguments: Sequence[str] = options.paths
    written = None if output is None else os.path.realpath(output)
    if any(argument != "-" and os.path.realpath(argument) == written for argument in arguments):
        raise UsageError(f"--output {output}: that is one of the inputs")
    if root is None:
        root = Root.at(options.root or ".")
    selection = Selection()
    finder = _Finder(selection, root, options)
    taken: set[str | None] = {written}
    for argument in arguments:
        for path in finder.find(argument):
            real = path if path == _STDIN else os.path.realpath(path)
            if real in taken:
                continue
            taken.add(real)
            try:
                selection.files.append(_input_file(path, root))
            except SourceError as error:
                selection.problems.append(error)
    selection.files.sort(key=lambda file: (file.source or "", file.path))
    return selection


def read(file: InputFile) -> str:
    """The text of a file, exactly: no line end, no byte order mark is changed.

    Raises ``SourceError`` when the file cannot be read or is not UTF-8.
    """
    return decode(read_bytes(file.path) if file.data is None else file.data, file.path)


def read_document(file: InputFile) -> str | Notebook:
    """The text of a file, or the notebook in it if its ending says so.

    Raises ``SourceError`` like :func:`read`, and for what is not a notebook.
    """
    text = read(file)
    return read_notebook(text, file.path) if is_notebook(file.source) else text


def read_pieces(path: str) -> Iterator[str]:
    """The text of a file or of ``-`` (standard input), piece by piece as it comes.

    Raises ``SourceError`` like :func:`read`, once everything before the error is given.
    """
    name = _STDIN if path == "-" else path
    decoder = codecs.getincrementaldecoder("utf-8")()
    position = 0
    with _open_bytes(path, name) as stream:
        while True:
            try:
                data = stream.read1(_PIECE)
            except OSError as error:
                raise SourceError(name, error.strerror or str(error)) from None
            # Bytes of a character that is not complete yet wait in the decoder.
            waiting = len(decoder.getstate()[0])
            try:
                yield decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                yield error.object[: error.start].decode("utf-8")
                raise undecodable(name, error, position - waiting) from None
            if not data:
                return
            position += len(data)


@contextmanager
def _open_bytes(path: str, name: str) -> Iterator[BufferedReader]:
    if path == "-":
        if sys.stdin is None:
            raise SourceError(name, "standard input is closed")
        # With PYTHONUNBUFFERED, too, this reads what is there and no more.
        yield cast("BufferedReader", sys.stdin.buffer)
        return
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 - it is closed below
    except OSError as error:
        raise SourceError(name, error.strerror or str(error)) from None
    with stream:
        yield stream


def _input_file(path: str, root: Root) -> InputFile:
    """The file with its name; what can be read only once, and not by a worker, is read."""
    if path == _STDIN:
        if sys.stdin is None:
            raise SourceError(path, "standard input is closed")
        try:
            return InputFile(path, None, sys.stdin.buffer.read())
        except OSError as error:
            raise SourceError(path, error.strerror or str(error)) from None
        except MemoryError as error:
            raise SourceError(path, describe(error)) from None
    if is_file(path) or not is_there(path):
        return InputFile(path, root.name(path))
    return InputFile(path, PurePath(path).as_posix(), read_bytes(path))


class _Finder:
    """Finds the files that the arguments mean, one argument at a time."""

    def __init__(self, selection: Selection, root: Root, options: Namespace) -> None:
        self.root = root
        self.problems = selection.problems
        self.left_out = selection.left_out
        self.follow_links: bool = options.follow_links
        self.endings = (*ENDINGS, *CODE_ENDINGS) if options.code else ENDINGS
        self.wanted: Sequence[str] = options.include or self.endings
        self.included = Globs("--include", options.include)
        self.excluded = Globs("--exclude", options.exclude)
        self.ignore_files = IgnoreFiles(root.real, self.problems, wanted=not options.no_ignore)
        # The folder that was given, without links in its path.
        self.base = ""
        # The folders that a link led to, which may be a circle, and what was sought there.
        self.entered: set[tuple[str, ...]] = set()

    def find(self, argument: str) -> Iterable[str]:
        """The paths of the files."""
        self.entered.clear()
        if argument == "-":
            return [_STDIN]
        if is_folder(argument):
            self.begin(argument)
            return self.in_folder(Path(argument)) or self.nothing(
                argument, f"no file to chunk in this folder ({' '.join(self.wanted)})"
            )
        if os.path.lexists(argument):
            if is_file(argument) and self.is_excluded(argument, self.root.name(argument)):
                return []
            return [argument]
        if _is_pattern(argument):
            return self.matching(argument) or self.nothing(argument, "no file matches")
        self.root.name(argument)
        return self.nothing(argument, "no such file or folder")

    def begin(self, folder: str) -> None:
        """Begin to search below a folder that was given."""
        self.base = os.path.realpath(folder)
        self.ignore_files.enter(self.root.name(folder))

    def nothing(self, argument: str, reason: str) -> list[str]:
        self.problems.append(SourceError(argument, reason))
        return []

    def in_folder(self, root: Path) -> list[str]:
        files: list[tuple[bool, str]] = []
        folders = [root]
        links: list[Path] = []
        while folders or links:
            linked = not folders
            folder = links.pop() if linked else folders.pop()
            if linked and self.is_entered(folder):
                continue
            for entry, name in self.entries(folder):
                path = Path(entry.path)
                if _is_folder(entry):
                    if self.may_enter(entry, name):
                        (links if linked or entry.is_symlink() else folders).append(path)
                elif self.is_wanted(name) and self.may_take(entry, name):
                    files.append((linked or entry.is_symlink(), str(path)))
        # Where a link and the file itself are both found, the file comes first and stays.
        return [path for _, path in sorted(files)]

    def matching(self, pattern: str) -> list[str]:
        parts = PurePath(pattern).parts
        if parts[-1] == "**":
            parts = (*parts, "*")
        self.begin(named_part(pattern))
        ending = PurePath(pattern).suffix
        any_ending = bool(ending) and not _is_pattern(ending)
        files: list[str] = []
        folders: list[Path] = []
        for path in sorted(set(self.expand(Path(), parts))):
            if is_folder(path):
                folders.append(path)
            elif any_ending or self.is_wanted(self.root.name(str(path))):
                files.append(str(path))
        return [*files, *(found for folder in folders for found in self.in_folder(folder))]

    def expand(self, base: Path, parts: Sequence[str]) -> Iterator[Path]:
        """The paths below ``base`` that match ``parts`` one by one."""
        if not parts:
            yield base
        elif _is_pattern(parts[0]):
            yield from self.expand_wildcards(base, parts[0], parts[1:])
        elif os.path.lexists(base / parts[0]):
            yield from self.expand(base / parts[0], parts[1:])

    def expand_wildcards(self, base: Path, part: str, rest: Sequence[str]) -> Iterator[Path]:
        if part == "**":
            yield from self.expand(base, rest)
        for entry, name in self.entries(base, hidden=part.startswith(".")):
            path = base / entry.name
            if part == "**":
                if not (_is_folder(entry) and self.may_enter(entry, name)):
                    continue
                if not (entry.is_symlink() and self.is_entered(path, part, *rest)):
                    yield from self.expand_wildcards(path, part, rest)
            elif not fnmatch(entry.name, part):
                continue
            elif not _is_folder(entry):
                if not rest and self.may_take(entry, name):
                    yield path
            elif not self.is_left_out(entry, name):
                yield from self.expand(path, rest)

    def entries(self, folder: Path, *, hidden: bool = False) -> list[tuple[os.DirEntry[str], str]]:
        """What a folder holds, with names, but for what is hidden."""
        within = self.root.name(str(folder))
        within += "/" if within else ""
        try:
            with os.scandir(folder) as entries:
                return [
                    (entry, within + entry.name)
                    for entry in entries
                    if hidden or not entry.name.startswith(".")
                ]
        except NotADirectoryError:
            return []
        except OSError as error:
            self.problems.append(SourceError(str(folder), error.strerror or str(error)))
            return []

    def is_wanted(self, name: str) -> bool:
        if self.included:
            return self.included.match(name)
        return name.lower().endswith(self.endings)

    def may_enter(self, folder: os.DirEntry[str], name: str) -> bool:
        if self.is_left_out(folder, name):
            return False
        # Where a link within the folder leads is found without it.
        return self.follow_links or not folder.is_symlink()

    def may_take(self, file: os.DirEntry[str], name: str) -> bool:
        return _is_file(file) and not self.is_left_out(file, name)

    def is_left_out(self, entry: os.DirEntry[str], name: str) -> bool:
        """Whether something found may not be taken or entered; then it is noted."""
        name += "/" if _is_folder(entry) else ""
        if self.is_excluded(entry.path, name):
            return True
        if name.endswith("/") and entry.name in VENDORED:
            why = VENDORED_FOLDER
        elif self.ignore_files.match(name):
            why = IGNORED
        elif self.is_out(entry):
            why = LINKED_OUT
        else:
            return False
        self.left_out.add(why, entry.path)
        return True

    def is_excluded(self, path: str, name: str) -> bool:
        if not self.excluded.match(name):
            return False
        self.left_out.add(EXCLUDED, path)
        return True

    def is_out(self, entry: os.DirEntry[str]) -> bool:
        """Whether it is a link out of the folder that was given, which is not to be followed."""
        if self.follow_links or not entry.is_symlink():
            return False
        real = os.path.realpath(entry.path)
        return real != self.base and not real.startswith(os.path.join(self.base, ""))

    def is_entered(self, folder: Path, *rest: str) -> bool:
        """Whether a link has led to this folder before; from now on one has."""
        key = (os.path.realpath(folder), *rest)
        if key in self.entered:
            return True
        self.entered.add(key)
        return False


def named_part(argument: str) -> str:
    """What an argument names: a glob the folder before its first wildcard, another itself."""
    if os.path.lexists(argument):
        return argument
    return str(Path(*takewhile(lambda part: not _is_pattern(part), PurePath(argument).parts)))


def _is_pattern(text: str) -> bool:
    return any(character in text for character in "*?[")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    # DirEntry.is_dir() raises on a link that leads to itself.
    return entry.is_dir(follow_symlinks=False) or (entry.is_symlink() and is_folder(entry.path))


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether it is a file, or a link to nothing, which is to be reported; not a pipe."""
    return entry.is_file(follow_symlinks=False) or (
        entry.is_symlink() and (is_file(entry.path) or not is_there(entry.path))
    )
