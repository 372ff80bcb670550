"""Find the files that arguments name: files, folders, globs or ``-`` (standard input).

- A file is selected whatever its name, unless ``exclude`` matches it.
- A folder is searched for files with a Markdown extension, in upper or lower case; with ``code``,
  also for source code. With ``include``, it is searched for files that match ``include`` instead.
  Hidden files and folders, vendored folders (``VENDORED``), and paths that ``.gitignore`` files or
  ``exclude`` match are skipped. Symbolic links to folders, and to files outside the folder, are
  followed only with ``follow_links``.
- A glob (``*``, ``?``, ``[...]``, and ``**`` for any number of folders) is expanded here if
  the shell has not expanded it. It searches the folder before the first wildcard, and skips the
  same files. A glob with an extension (``*.rst``) selects every file that it matches; any other
  glob (``docs/*``) selects only files that a search of a folder would select. Folders that a glob
  matches are searched.

The source of a document is its path relative to the root (see ``paths``). Standard input has no
source; the source of a pipe is its path as given. A file that is found more than once, even by
different paths, is selected once.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path, PurePath
from typing import Final

from chunkast.code import ENDINGS as CODE_ENDINGS
from chunkast.config import ENDINGS
from chunkast.errors import SourceError, UsageError
from chunkast.files.database import DATABASE, SUFFIXES, is_inside
from chunkast.files.ignored import IgnoreFiles, glob_matcher
from chunkast.files.paths import Root
from chunkast.files.read import STDIN, InputFile, input_file

__all__ = ("ENDINGS", "VENDORED", "Search", "Selection", "named_part", "select")

# Folders of generated files and of third-party code.
VENDORED: Final = frozenset(
    "__pycache__ __pypackages__ _build _site bower_components build dist "  # noqa: SIM905
    "node_modules site-packages vendor venv".split()
)
_INDEX_FILES: Final = frozenset(f"{DATABASE}{suffix}" for suffix in SUFFIXES)
# Reasons to skip something, as the note gives them after the names.
_VENDORED: Final = ""
_IGNORED: Final = ": ignored by .gitignore files, which --no-ignore disregards"
_EXCLUDED: Final = ": excluded by --exclude"
_INDEX: Final = ": an index of chunkast"
_LINKED_OUT: Final = ": symbolic links out of the folder given, which --follow-links follows"
# The maximum number of names that the note shows for each reason.
_SHOWN: Final = 5


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

    problems: an error for each argument without files, and for each unreadable folder.
    skipped: the skipped paths, by reason.
    folders: the names of the folders that were searched, with a slash at the end ("./" for the
        root).
    """

    files: list[InputFile] = field(default_factory=list)
    problems: list[SourceError] = field(default_factory=list)
    skipped: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    folders: set[str] = field(default_factory=set)

    def note(self) -> str:
        """Return a one-line note about skipped paths, or "" if no paths were skipped."""
        parts = []
        for why, paths in sorted(self.skipped.items()):
            shown = sorted(paths)[: _SHOWN if why else None]
            more = len(paths) - len(shown)
            parts.append(f"{', '.join(shown)}{f' and {more:,} more' if more else ''}{why}")
        return f"skipped {'; '.join(parts)}" if parts else ""


def select(
    arguments: Sequence[str], root: Root, search: Search | None = None, output: str | None = None
) -> Selection:
    """Return the files that the arguments select, except ``output``.

    Raises ``UsageError`` if an argument names the output itself or a path outside the root, and
    ``ConfigError`` for an invalid glob.
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
            if os.path.basename(path) in _INDEX_FILES:
                finder.skip(_INDEX, path)
                continue
            taken.add(real)
            try:
                selection.files.append(input_file(path, root))
            except SourceError as error:
                selection.problems.append(error)
    # Standard input is sorted as "-", its name in a lock.
    selection.files.sort(key=lambda file: (file.source or "-", file.path))
    return selection


class _Finder:
    """Finds the files that arguments name, one argument at a time."""

    def __init__(self, selection: Selection, root: Root, search: Search) -> None:
        self.root = root
        self.selection = selection
        self.search = search
        self.endings = (*ENDINGS, *CODE_ENDINGS) if search.code else ENDINGS
        self.is_included = glob_matcher("include", search.include)
        self.is_excluded = glob_matcher("exclude", search.exclude)
        self.ignore_files = IgnoreFiles(root.real, selection.problems, wanted=not search.no_ignore)
        # The folder that is searched.
        self.base = ""

    def find(self, argument: str) -> list[str]:
        """Return the paths of the files that ``argument`` selects."""
        if argument == "-":
            return [STDIN]
        folder, pattern = named_part(argument), ""
        if os.path.isdir(argument):
            wanted = " ".join(self.search.include or self.endings)
            reason = f"no file to chunk in this folder ({wanted})"
        elif os.path.lexists(argument):
            if os.path.isfile(argument) and self.is_excluded(self.root.name(argument)):
                self.skip(_EXCLUDED, argument)
                return []
            return [argument]
        elif _is_pattern(argument):
            pattern = PurePath(argument).relative_to(folder).as_posix()
            reason = "no file matches"
        else:
            reason = "no such file or folder"
        self.root.name(folder)
        problems = len(self.selection.problems)
        files = sorted(self.in_folder(folder, pattern)) if pattern or os.path.isdir(folder) else []
        if not files and len(self.selection.problems) == problems:
            self.selection.problems.append(SourceError(argument, reason))
        return files

    def skip(self, why: str, path: str) -> None:
        self.selection.skipped[why].add(Path(path).as_posix())

    def in_folder(self, top: str, pattern: str) -> Iterator[str]:
        """Yield the files in the folder ``top`` that match ``pattern``; "" matches all."""
        matches = glob_matcher("paths", [f"/{pattern}"]) if pattern else lambda _name: True
        ending = "" if _is_pattern(pattern.rpartition(".")[2]) else PurePath(pattern).suffix
        parts = PurePath(pattern).parts
        hidden = any(part.startswith(".") for part in parts)
        self.base = top
        self.ignore_files.enter(self.root.name(top))
        # Folders reached by a link may form a cycle.
        entered: set[str] = set()
        for folder, folders, files in os.walk(
            top, onerror=self.unreadable, followlinks=self.search.follow_links
        ):
            real = os.path.realpath(folder)
            if real in entered:
                folders.clear()
                continue
            entered.add(real)
            inside = PurePath(folder).relative_to(top)
            within = f"{self.root.name(folder)}/".lstrip("/")
            self.selection.folders.add(within or "./")
            # Without "**", a pattern leads to a certain depth, and to the folders that it matches.
            above = not parts or "**" in parts or len(inside.parts) + 1 < len(parts)
            folders[:] = [
                name
                for name in folders
                if (hidden or not name.startswith("."))
                and (above or matches(f"{(inside / name).as_posix()}/"))
                and not self.is_skipped(os.path.join(folder, name), f"{within}{name}/")
            ]
            for name in files:
                path = os.path.join(folder, name)
                if (
                    (hidden or not name.startswith("."))
                    and (self.is_wanted(within + name) or (ending and name.endswith(ending)))
                    and (not pattern or matches((inside / name).as_posix()))
                    # A broken link is reported when it is read.
                    and (os.path.isfile(path) or not os.path.exists(path))
                    and not self.is_skipped(path, within + name)
                ):
                    yield path

    def unreadable(self, error: OSError) -> None:
        if not isinstance(error, NotADirectoryError):
            reason = error.strerror or str(error)
            self.selection.problems.append(SourceError(str(error.filename), reason))

    def is_wanted(self, name: str) -> bool:
        if self.search.include:
            return self.is_included(name)
        return name.lower().endswith(self.endings)

    def is_skipped(self, path: str, name: str) -> bool:
        """Return whether a path must be skipped, and record a skipped path with the reason."""
        if self.is_excluded(name):
            why = _EXCLUDED
        elif name.endswith("/") and os.path.basename(path) in VENDORED:
            why = _VENDORED
        elif self.ignore_files.match(name):
            why = _IGNORED
        elif (
            not self.search.follow_links and os.path.islink(path) and not is_inside(path, self.base)
        ):
            why = _LINKED_OUT
        else:
            return False
        self.skip(why, path)
        return True


def named_part(argument: str) -> str:
    """Return the folder before the first wildcard of a glob. Other arguments are unchanged."""
    if os.path.lexists(argument):
        return argument
    return str(Path(*takewhile(lambda part: not _is_pattern(part), PurePath(argument).parts)))


def _is_pattern(text: str) -> bool:
    return any(character in text for character in "*?[")
