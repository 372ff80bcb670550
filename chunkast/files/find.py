"""Find the files that arguments name: files, folders, globs or ``-`` (standard input).

A document's source is its path relative to the root, however it was found (see ``paths``).

- A file is selected whatever its name, unless ``exclude`` matches it.
- A folder is searched for files with a Markdown extension, in upper or lower case; with ``code``,
  for source code as well; with ``include``, for files that match ``include`` instead. Hidden files
  and folders and vendored folders (``VENDORED``) in it are skipped, as are files and folders that
  ``.gitignore`` files or ``exclude`` match. Symbolic links to folders, and to files outside the
  folder, are followed only with ``follow_links``.
- A glob (``*``, ``?``, ``[...]``, and ``**`` for any number of folders) is expanded here if
  the shell has not expanded it. The files that are skipped are the same as in a search of the
  folder before the first wildcard. A glob with an extension (``*.rst``) selects every file that it
  matches; any other glob (``docs/*``) selects only files that a search would select. Folders that
  a glob matches are searched.
- Standard input does not have a source. The source of a pipe is its path as given.

A file that is found more than once, even by different paths, is selected once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from itertools import takewhile
from pathlib import Path, PurePath
from typing import Final

from chunkast.code import ENDINGS as CODE_ENDINGS
from chunkast.config import ENDINGS
from chunkast.errors import SourceError, UsageError
from chunkast.files.ignored import (
    EXCLUDED,
    IGNORED,
    LINKED_OUT,
    VENDORED_FOLDER,
    Globs,
    IgnoreFiles,
    LeftOut,
)
from chunkast.files.paths import Root, is_file, is_folder, is_there
from chunkast.files.read import STDIN, InputFile, input_file

__all__ = ("ENDINGS", "VENDORED", "Search", "Selection", "named_part", "select")

# Folders of generated files and of third-party code.
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


@dataclass(frozen=True, slots=True)
class Search:
    """The rules for searching folders.

    include: globs of the files to select, instead of the known extensions.
    exclude: globs of the files and folders to skip.
    no_ignore: disregard ``.gitignore`` files.
    code: also search for source code.
    follow_links: follow symbolic links to folders, and to files outside the given folder.
    """

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    no_ignore: bool = False
    code: bool = False
    follow_links: bool = False


@dataclass(slots=True)
class Selection:
    """The files that were found, sorted by source and without duplicates.

    ``problems`` has an error for each argument that does not lead to a file, and for each folder
    that cannot be read. ``left_out`` has the paths that were skipped.
    """

    files: list[InputFile] = field(default_factory=list)
    problems: list[SourceError] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)


def select(
    arguments: Sequence[str], root: Root, search: Search | None = None, output: str | None = None
) -> Selection:
    """Return the files that the arguments name, except ``output``.

    Raises ``UsageError`` if an argument names the output itself or a path outside the root, and
    for an invalid glob.
    """
    written = None if output is None else os.path.realpath(output)
    if any(argument != "-" and os.path.realpath(argument) == written for argument in arguments):
        raise UsageError(f"--output {output}: that is one of the inputs")
    selection = Selection()
    finder = _Finder(selection, root, search or Search())
    taken: set[str | None] = {written}
    for argument in arguments:
        for path in finder.find(argument):
            real = path if path == STDIN else os.path.realpath(path)
            if real in taken:
                continue
            taken.add(real)
            try:
                selection.files.append(input_file(path, root))
            except SourceError as error:
                selection.problems.append(error)
    # Standard input is sorted as "-", its name in a lock.
    selection.files.sort(key=lambda file: (file.source or "-", file.path))
    return selection


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file or folder in a folder that is searched.

    ``name`` is relative to the root; the name of a folder ends with a slash.
    """

    path: Path
    name: str
    is_link: bool
    is_folder: bool
    is_file: bool

    @classmethod
    def of(cls, entry: os.DirEntry[str], within: str) -> _Entry:
        """Return ``entry`` as an ``_Entry``; ``within`` is the name of its folder.

        A broken link counts as a file, and is reported when it is read.
        """
        path, link = entry.path, entry.is_symlink()
        # DirEntry.is_dir() raises on a link that leads to itself.
        folder = is_folder(path) if link else entry.is_dir()
        file = is_file(path) or not is_there(path) if link else entry.is_file()
        name = f"{within}{entry.name}{'/' if folder else ''}"
        return cls(Path(path), name, link, folder, file)


class _Finder:
    """Finds the files that arguments name, one argument at a time."""

    def __init__(self, selection: Selection, root: Root, search: Search) -> None:
        self.root = root
        self.problems = selection.problems
        self.left_out = selection.left_out
        self.follow_links = search.follow_links
        self.endings = (*ENDINGS, *CODE_ENDINGS) if search.code else ENDINGS
        self.wanted = search.include or self.endings
        self.included = Globs("--include", search.include)
        self.excluded = Globs("--exclude", search.exclude)
        self.ignore_files = IgnoreFiles(root.real, self.problems, wanted=not search.no_ignore)
        # The folder given as an argument, without links in its path.
        self.base = ""
        # Folders reached by a link, which may form a cycle, each with the rest of the glob.
        self.entered: set[tuple[str, ...]] = set()

    def find(self, argument: str) -> Iterable[str]:
        """Return the paths of the files that ``argument`` names."""
        self.entered.clear()
        if argument == "-":
            return [STDIN]
        if is_folder(argument):
            self.begin(argument)
            return self.in_folder(Path(argument)) or self.nothing(
                argument, f"no file to chunk in this folder ({' '.join(self.wanted)})"
            )
        if os.path.lexists(argument):
            if not is_file(argument) or not self.excluded.match(self.root.name(argument)):
                return [argument]
            self.left_out.add(EXCLUDED, argument)
            return []
        if _is_pattern(argument):
            return self.matching(argument) or self.nothing(argument, "no file matches")
        self.root.name(argument)
        return self.nothing(argument, "no such file or folder")

    def begin(self, folder: str) -> None:
        """Prepare a search below ``folder``."""
        self.base = os.path.realpath(folder)
        self.ignore_files.enter(self.root.name(folder))

    def nothing(self, argument: str, reason: str) -> list[str]:
        self.problems.append(SourceError(argument, reason))
        return []

    def in_folder(self, root: Path) -> list[str]:
        files: list[tuple[bool, str]] = []
        folders = [(False, root)]
        while folders:
            linked, folder = folders.pop()
            if linked and self.is_entered(folder):
                continue
            for entry in self.entries(folder):
                by_link = linked or entry.is_link
                if entry.is_folder:
                    if self.may_enter(entry):
                        folders.append((by_link, entry.path))
                elif self.is_wanted(entry.name) and entry.is_file and not self.is_left_out(entry):
                    files.append((by_link, str(entry.path)))
        # The file itself comes before a link to it, and is the one that is kept.
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
        """Yield each path below ``base`` that matches ``parts``, the parts of a glob."""
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
            if part == "**":
                if not (entry.is_folder and self.may_enter(entry)):
                    continue
                if not (entry.is_link and self.is_entered(entry.path, part, *rest)):
                    yield from self.expand_wildcards(entry.path, part, rest)
            elif not fnmatch(entry.path.name, part):
                continue
            elif (entry.is_folder or (entry.is_file and not rest)) and not self.is_left_out(entry):
                yield from self.expand(entry.path, rest)

    def entries(self, folder: Path, *, hidden: bool = False) -> list[_Entry]:
        """Return the entries of ``folder``, including hidden entries only if ``hidden`` is true."""
        within = self.root.name(str(folder))
        within += "/" if within else ""
        try:
            with os.scandir(folder) as entries:
                return [
                    _Entry.of(entry, within)
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

    def may_enter(self, folder: _Entry) -> bool:
        if self.is_left_out(folder):
            return False
        # The target of a link within the folder is found anyway.
        return self.follow_links or not folder.is_link

    def is_left_out(self, entry: _Entry) -> bool:
        """Return true if ``entry`` must be skipped, and record its path with the reason."""
        if self.excluded.match(entry.name):
            why = EXCLUDED
        elif entry.is_folder and entry.path.name in VENDORED:
            why = VENDORED_FOLDER
        elif self.ignore_files.match(entry.name):
            why = IGNORED
        elif self.is_out(entry):
            why = LINKED_OUT
        else:
            return False
        self.left_out.add(why, str(entry.path))
        return True

    def is_out(self, entry: _Entry) -> bool:
        """Return true if ``entry`` is a link out of the given folder and links are not followed."""
        if self.follow_links or not entry.is_link:
            return False
        real = os.path.realpath(entry.path)
        return real != self.base and not real.startswith(os.path.join(self.base, ""))

    def is_entered(self, folder: Path, *rest: str) -> bool:
        """Return true if a link has already led to ``folder``; otherwise remember the folder."""
        key = (os.path.realpath(folder), *rest)
        if key in self.entered:
            return True
        self.entered.add(key)
        return False


def named_part(argument: str) -> str:
    """Return the folder before the first wildcard of a glob, or any other argument unchanged."""
    if os.path.lexists(argument):
        return argument
    return str(Path(*takewhile(lambda part: not _is_pattern(part), PurePath(argument).parts)))


def _is_pattern(text: str) -> bool:
    return any(character in text for character in "*?[")
