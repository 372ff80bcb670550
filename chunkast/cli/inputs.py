"""Which files the command's arguments mean, and their text.

An argument is a file, a folder, a glob or ``-`` (standard input).

- A file is taken whatever its name. Its source is the path as given, with forward slashes.
- A folder is searched for files with a Markdown ending, in any case; if that is asked for,
  for those with the ending of a programming language, too. Hidden files, hidden
  folders and vendored folders (see ``VENDORED``) below it are left out, and so are symbolic
  links to folders and to files outside the folder, unless they are to be followed. Sources
  are relative to the folder.
- A glob (``*``, ``?``, ``[...]``, and ``**`` for any number of folders) is expanded here if
  the shell has not. Its wildcards pass over what a folder's search leaves out, the folder
  being what the pattern names before the first of them. A pattern
  with an ending (``*.rst``) takes every file that it matches, any other (``docs/*``) those
  that a folder's search takes; folders that it matches are searched like any other.
- Standard input has no source.

A file found twice, by whatever path, is taken once: as the first argument names it.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from io import BufferedReader
from pathlib import Path, PurePath
from typing import Final, cast

from chunkast.cli.files import is_file, is_folder, is_there
from chunkast.cli.messages import UsageError
from chunkast.code import ENDINGS as CODE_ENDINGS
from chunkast.errors import SourceError, describe
from chunkast.notebook import Notebook, is_notebook, read_notebook
from chunkast.text.files import decode, read_bytes, undecodable

__all__ = (
    "ENDINGS",
    "VENDORED",
    "InputFile",
    "Selection",
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

    ``problems`` are the arguments that mean nothing, ``vendored`` the folders left out,
    ``outside`` the symbolic links left out as they lead out of the folder that was given: by
    their path without links, as they were found.
    """

    files: list[InputFile] = field(default_factory=list)
    problems: list[SourceError] = field(default_factory=list)
    vendored: list[str] = field(default_factory=list)
    outside: dict[str, str] = field(default_factory=dict)

    @property
    def ambiguous(self) -> int:
        """How many files have the source of another one, found in another folder."""
        return len(self.files) - len({file.source for file in self.files})


def select(
    arguments: Sequence[str],
    output: str | None = None,
    *,
    code: bool = False,
    follow_links: bool = False,
) -> Selection:
    """Find the files that ``arguments`` mean; ``output`` is not one of them.

    With ``code`` folders are searched for source code as well; with ``follow_links``
    symbolic links are followed wherever they lead.

    Raises ``UsageError`` when an argument names the output itself.
    """
    written = None if output is None else os.path.realpath(output)
    if any(argument != "-" and os.path.realpath(argument) == written for argument in arguments):
        raise UsageError(f"--output {output}: that is one of the inputs")
    selection = Selection()
    endings = (*ENDINGS, *CODE_ENDINGS) if code else ENDINGS
    taken: set[str | None] = {written}
    for argument in arguments:
        for path, source in _Finder(selection, endings, follow_links).find(argument):
            real = "-" if source is None else os.path.realpath(path)
            if real in taken:
                continue
            taken.add(real)
            try:
                selection.files.append(InputFile(path, source, _data_read_once(path, source)))
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

    Raises ``SourceError`` like :func:`read`, and for what is no notebook.
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


def _data_read_once(path: str, source: str | None) -> bytes | None:
    """What standard input or a pipe holds: a worker process could not read it."""
    if source is None:
        if sys.stdin is None:
            raise SourceError(path, "standard input is closed")
        try:
            return sys.stdin.buffer.read()
        except OSError as error:
            raise SourceError(path, error.strerror or str(error)) from None
        except MemoryError as error:
            raise SourceError(path, describe(error)) from None
    return None if is_file(path) or not is_there(path) else read_bytes(path)


class _Finder:
    """Finds the files that one argument means."""

    def __init__(self, selection: Selection, endings: tuple[str, ...], follow_links: bool) -> None:
        self.endings = endings
        self.problems = selection.problems
        self.vendored = selection.vendored
        self.outside = selection.outside
        self.follow_links = follow_links
        # The folder that was given, without links in its path.
        self.base = ""
        # The folders that a link led to, which may be a circle, and what was sought there.
        self.entered: set[tuple[str, ...]] = set()

    def find(self, argument: str) -> Iterable[tuple[str, str | None]]:
        """Paths and their sources."""
        if argument == "-":
            return [(_STDIN, None)]
        if is_folder(argument):
            self.base = os.path.realpath(argument)
            return self.in_folder(Path(argument)) or self.nothing(
                argument, f"no file to chunk in this folder ({' '.join(self.endings)})"
            )
        if os.path.lexists(argument):
            return [(argument, PurePath(argument).as_posix())]
        if _is_pattern(argument):
            return self.matching(argument) or self.nothing(argument, "no file matches")
        return self.nothing(argument, "no such file or folder")

    def nothing(self, argument: str, reason: str) -> list[tuple[str, str | None]]:
        self.problems.append(SourceError(argument, reason))
        return []

    def in_folder(self, root: Path) -> list[tuple[str, str]]:
        files: list[tuple[bool, str, str]] = []
        folders = [root]
        links: list[Path] = []
        while folders or links:
            linked = not folders
            folder = links.pop() if linked else folders.pop()
            if linked and self.is_entered(folder):
                continue
            for entry in self.entries(folder):
                path = Path(entry.path)
                if _is_folder(entry):
                    if self.may_enter(entry):
                        (links if linked or entry.is_symlink() else folders).append(path)
                elif self.is_wanted(entry.name) and _is_file(entry) and not self.is_out(entry):
                    source = path.relative_to(root).as_posix()
                    files.append((linked or entry.is_symlink(), source, str(path)))
        # Where a link and the file itself are both found, the file comes first and stays.
        return [(path, source) for _, source, path in sorted(files)]

    def matching(self, pattern: str) -> list[tuple[str, str]]:
        parts = PurePath(pattern).parts
        if parts[-1] == "**":
            parts = (*parts, "*")
        named = next((n for n, part in enumerate(parts) if _is_pattern(part)), len(parts))
        self.base = os.path.realpath(Path(*parts[:named]))
        ending = PurePath(pattern).suffix
        any_ending = bool(ending) and not _is_pattern(ending)
        files: list[tuple[str, str]] = []
        folders: list[Path] = []
        for path in sorted(set(self.expand(Path(), parts))):
            if is_folder(path):
                folders.append(path)
            elif any_ending or self.is_wanted(path.name):
                files.append((str(path), path.as_posix()))
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
        for entry in self.entries(base, hidden=part.startswith(".")):
            path = base / entry.name
            if part == "**":
                if not (_is_folder(entry) and self.may_enter(entry)):
                    continue
                if not (entry.is_symlink() and self.is_entered(path, part, *rest)):
                    yield from self.expand_wildcards(path, part, rest)
            elif not fnmatch(entry.name, part):
                continue
            elif not _is_folder(entry):
                if not rest and _is_file(entry) and not self.is_out(entry):
                    yield path
            elif not self.is_vendored(entry) and not self.is_out(entry):
                yield from self.expand(path, rest)

    def entries(self, folder: Path, *, hidden: bool = False) -> list[os.DirEntry[str]]:
        """What a folder holds, but for what is hidden."""
        try:
            with os.scandir(folder) as entries:
                return [entry for entry in entries if hidden or not entry.name.startswith(".")]
        except NotADirectoryError:
            return []
        except OSError as error:
            self.problems.append(SourceError(str(folder), error.strerror or str(error)))
            return []

    def is_wanted(self, name: str) -> bool:
        return name.lower().endswith(self.endings)

    def may_enter(self, folder: os.DirEntry[str]) -> bool:
        if self.is_vendored(folder) or self.is_out(folder):
            return False
        # Where a link within the folder leads is found without it.
        return self.follow_links or not folder.is_symlink()

    def is_out(self, entry: os.DirEntry[str]) -> bool:
        """Whether it is a link out of the folder that was given, which is not to be followed."""
        if self.follow_links or not entry.is_symlink():
            return False
        real = os.path.realpath(entry.path)
        if real == self.base or real.startswith(os.path.join(self.base, "")):
            return False
        folder, name = os.path.split(entry.path)
        own = os.path.join(os.path.realpath(folder), name)
        self.outside.setdefault(own, PurePath(entry.path).as_posix())
        return True

    def is_entered(self, folder: Path, *rest: str) -> bool:
        """Whether a link has led to this folder before; from now on one has."""
        key = (os.path.realpath(folder), *rest)
        if key in self.entered:
            return True
        self.entered.add(key)
        return False

    def is_vendored(self, folder: os.DirEntry[str]) -> bool:
        if folder.name not in VENDORED:
            return False
        path = PurePath(folder.path).as_posix()
        if path not in self.vendored:
            self.vendored.append(path)
        return True


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
