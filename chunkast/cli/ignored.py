"""What is left out: by ``.gitignore`` files, ``--exclude``, and for other reasons."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chunkast.cli.messages import UsageError
from chunkast.errors import SourceError
from chunkast.text.files import read_bytes

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec, RegexPattern

__all__ = (
    "EXCLUDED",
    "IGNORED",
    "LINKED_OUT",
    "VENDORED_FOLDER",
    "Globs",
    "IgnoreFiles",
    "LeftOut",
)

# Why something is left out, as the note says it after the names.
VENDORED_FOLDER: Final = ""
IGNORED: Final = "named in .gitignore files, which --no-ignore passes over"
EXCLUDED: Final = "named by --exclude"
LINKED_OUT: Final = "symbolic links out of the folder given, which --follow-links takes"
# The most names that a line shows for each reason.
_SHOWN: Final = 5


class LeftOut:
    """What was left out, and why."""

    def __init__(self) -> None:
        # By the reason: the paths as they were found, each once, by the path without links.
        self._paths: dict[str, dict[str, str]] = {}

    def add(self, why: str, path: str) -> None:
        """Note that ``path`` was left out."""
        folder, last = os.path.split(path)
        real = os.path.join(os.path.realpath(folder), last)
        self._paths.setdefault(why, {}).setdefault(real, Path(path).as_posix())

    def __str__(self) -> str:
        """All of it in one line; "" for nothing."""
        parts = [
            f"{_some(paths.values())}: {why}" if why else ", ".join(sorted(paths.values()))
            for why in (VENDORED_FOLDER, IGNORED, EXCLUDED, LINKED_OUT)
            if (paths := self._paths.get(why))
        ]
        return f"left out {'; '.join(parts)}" if parts else ""


def _some(names: Collection[str]) -> str:
    """The first of ``names``, and how many others there are."""
    shown, more = sorted(names)[:_SHOWN], len(names) - _SHOWN
    return f"{', '.join(shown)}{f' and {more:,} more' if more > 0 else ''}"


class Globs:
    """The globs of an option, written as in a ``.gitignore`` file and relative to the root."""

    def __init__(self, option: str, globs: Sequence[str]) -> None:
        """Raises ``UsageError`` for what is not a glob."""
        self._spec: GitIgnoreSpec | None = None
        if globs:
            from pathspec import GitIgnoreSpec

            try:
                self._spec = GitIgnoreSpec.from_lines(globs)
            except ValueError as error:
                raise UsageError(f"{option}: {error}") from None

    def __bool__(self) -> bool:
        return self._spec is not None

    def match(self, name: str) -> bool:
        """Whether a name matches; a folder's ends with a slash."""
        return self._spec is not None and self._spec.match_file(name)


class IgnoreFiles:
    """The ``.gitignore`` files below a root: as git reads them, the deepest counts first."""

    def __init__(self, root: str, problems: list[SourceError], *, wanted: bool) -> None:
        """``problems`` gets the files that cannot be read; without ``wanted`` none is read."""
        self._root = root
        self._problems = problems
        self._wanted = wanted
        # By the folder's name.
        self._known: dict[str, Sequence[_Pattern]] = {}
        # Files above this folder do not count: it was named although one of them leaves it out.
        self._top = ""

    def enter(self, folder: str) -> None:
        """Begin with a folder (its name) that was given: it is searched whatever is ignored."""
        self._top = ""
        parts = folder.split("/") if folder else []
        ways = ["/".join(parts[: n + 1]) + "/" for n in range(len(parts))]
        self._top = folder if any(map(self.match, ways)) else ""

    def match(self, name: str) -> bool:
        """Whether a file leaves out what has this name; a folder's ends with a slash."""
        if not self._wanted:
            return False
        folder = name.rstrip("/")
        while folder:
            folder = folder.rpartition("/")[0]
            inside = name[len(folder) + 1 :] if folder else name
            for pattern in self._in(folder):  # the last that matches counts
                if pattern.matches(inside):
                    return pattern.ignores
            if folder == self._top:
                break
        return False

    def _in(self, folder: str) -> Sequence[_Pattern]:
        """The patterns of the file in a folder, the last first."""
        if folder not in self._known:
            self._known[folder] = self._read(os.path.join(self._root, folder, ".gitignore"))
        return self._known[folder]

    def _read(self, path: str) -> Sequence[_Pattern]:
        if not os.path.lexists(path):
            return ()
        try:
            data = read_bytes(path)
        except SourceError as error:
            self._problems.append(error)
            return ()
        # As git: a byte order mark is skipped; names may be any bytes.
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
        return _patterns(line.removesuffix("\r") for line in text.split("\n"))


def _patterns(lines: Iterable[str]) -> Sequence[_Pattern]:
    """The patterns of lines, the last first; a line that is none is passed over, as git does."""
    from pathspec import GitIgnoreSpec

    found: list[_Pattern] = []
    for line in lines:
        with suppress(ValueError):
            found += (
                _Pattern(regex, line.rstrip().endswith("/"), regex.include)
                for regex in GitIgnoreSpec.from_lines([line]).patterns
                if regex.include is not None
            )
    return found[::-1]


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A line of a ``.gitignore`` file. ``folders``: it is for folders alone."""

    regex: RegexPattern
    folders: bool
    ignores: bool

    def matches(self, name: str) -> bool:
        """Whether it is about ``name`` itself: git asks that of each folder on the way."""
        if self.folders and not name.endswith("/"):
            return False
        path = name if self.folders else name.removesuffix("/")
        found = self.regex.match_file(path)
        if found is None:
            return False
        # A named group is the slash after a folder that matches with all that is in it.
        marks = (found.match.start(group) for group in found.match.re.groupindex)
        return all(mark in (-1, len(path) - 1) for mark in marks)
