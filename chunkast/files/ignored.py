"""Skipped files: ``.gitignore`` files, the globs of options, and a note of what was skipped."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chunkast.errors import SourceError, UsageError
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

# Reasons to skip something, as the note gives them after the names.
VENDORED_FOLDER: Final = ""
IGNORED: Final = "ignored by .gitignore files, which --no-ignore disregards"
EXCLUDED: Final = "excluded by --exclude"
LINKED_OUT: Final = "symbolic links out of the folder given, which --follow-links follows"
# The most names that the note shows for each reason.
_SHOWN: Final = 5


class LeftOut:
    """The paths that were skipped, by reason."""

    def __init__(self) -> None:
        # Reason -> path without links -> the path as it was first found.
        self._paths: dict[str, dict[str, str]] = {}

    def add(self, why: str, path: str) -> None:
        """Note that ``path`` was skipped."""
        folder, last = os.path.split(path)
        real = os.path.join(os.path.realpath(folder), last)
        self._paths.setdefault(why, {}).setdefault(real, Path(path).as_posix())

    def __str__(self) -> str:
        """Return all skipped paths in one line; "" if there are none."""
        parts = []
        for why in (VENDORED_FOLDER, IGNORED, EXCLUDED, LINKED_OUT):
            names = sorted(self._paths.get(why, {}).values())
            if names:
                parts.append(f"{_some(names)}: {why}" if why else ", ".join(names))
        return f"skipped {'; '.join(parts)}" if parts else ""


def _some(names: Sequence[str]) -> str:
    """Return the first of ``names``, and the number of the others."""
    more = len(names) - _SHOWN
    return f"{', '.join(names[:_SHOWN])}{f' and {more:,} more' if more > 0 else ''}"


class Globs:
    """The globs of an option, written as in a ``.gitignore`` file and relative to the root."""

    def __init__(self, option: str, globs: Sequence[str]) -> None:
        """Raise ``UsageError`` for an invalid glob."""
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
        """Return true if a name matches; a folder's name ends with a slash."""
        return self._spec is not None and self._spec.match_file(name)


class IgnoreFiles:
    """The ``.gitignore`` files below a root, as git reads them: the deepest has precedence."""

    def __init__(self, root: str, problems: list[SourceError], *, wanted: bool) -> None:
        """Report unreadable files in ``problems``; without ``wanted`` no file is read."""
        self._root = root
        self._problems = problems
        self._wanted = wanted
        # By the folder's name.
        self._known: dict[str, Sequence[_Pattern]] = {}
        # Files above this folder are disregarded: one of them ignores the folder, but it was given.
        self._top = ""

    def enter(self, folder: str) -> None:
        """Begin a search in ``folder`` (its name), which is searched even if it is ignored."""
        self._top = ""
        parts = folder.split("/") if folder else []
        ways = ["/".join(parts[: n + 1]) + "/" for n in range(len(parts))]
        self._top = folder if any(map(self.match, ways)) else ""

    def match(self, name: str) -> bool:
        """Return true if ``name`` is ignored; a folder's name ends with a slash."""
        if not self._wanted:
            return False
        folder = name.rstrip("/")
        while folder:
            folder = folder.rpartition("/")[0]
            inside = name[len(folder) + 1 :] if folder else name
            for pattern in self._in(folder):  # the last match decides
                if pattern.matches(inside):
                    return pattern.ignores
            if folder == self._top:
                break
        return False

    def _in(self, folder: str) -> Sequence[_Pattern]:
        """Return the patterns of the file in a folder, the last first."""
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
        # As in git: a byte order mark is skipped; names may be any bytes.
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
        return _patterns(line.removesuffix("\r") for line in text.split("\n"))


def _patterns(lines: Iterable[str]) -> Sequence[_Pattern]:
    """Return the patterns in ``lines``, the last first; invalid lines are skipped, as in git."""
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
    """A line of a ``.gitignore`` file; with ``folders`` it applies to folders only."""

    regex: RegexPattern
    folders: bool
    ignores: bool

    def matches(self, name: str) -> bool:
        """Return true if the pattern matches ``name`` itself, not only a folder above it."""
        if self.folders and not name.endswith("/"):
            return False
        path = name if self.folders else name.removesuffix("/")
        found = self.regex.match_file(path)
        if found is None:
            return False
        # A named group is the slash after a folder that matches with its whole content.
        marks = (found.match.start(group) for group in found.match.re.groupindex)
        return all(mark in (-1, len(path) - 1) for mark in marks)
