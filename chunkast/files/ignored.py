"""Skip files according to ``.gitignore`` files and the globs of options, and note skipped paths."""

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
# The maximum number of names that the note shows for each reason.
_SHOWN: Final = 5


class LeftOut:
    """The skipped paths, grouped by reason."""

    def __init__(self) -> None:
        # Reason -> path with the links in its folder resolved -> path as first found.
        self._paths: dict[str, dict[str, str]] = {}

    def add(self, why: str, path: str) -> None:
        """Record that ``path`` was skipped for the reason ``why``."""
        folder, last = os.path.split(path)
        real = os.path.join(os.path.realpath(folder), last)
        self._paths.setdefault(why, {}).setdefault(real, Path(path).as_posix())

    def __str__(self) -> str:
        """Return a one-line note of the skipped paths, or an empty string if there are none."""
        parts = []
        for why in (VENDORED_FOLDER, IGNORED, EXCLUDED, LINKED_OUT):
            names = sorted(self._paths.get(why, {}).values())
            if names:
                parts.append(f"{_some(names)}: {why}" if why else ", ".join(names))
        return f"skipped {'; '.join(parts)}" if parts else ""


def _some(names: Sequence[str]) -> str:
    """Return the first few ``names`` as text, followed by the number of remaining names, if any."""
    more = len(names) - _SHOWN
    return f"{', '.join(names[:_SHOWN])}{f' and {more:,} more' if more > 0 else ''}"


class Globs:
    """The globs given with an option, in ``.gitignore`` syntax and relative to the root."""

    def __init__(self, option: str, globs: Sequence[str]) -> None:
        """Parse ``globs``; raise ``UsageError`` if a glob is invalid."""
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
        """Return true if a glob matches ``name``; the name of a folder must end with a slash."""
        return self._spec is not None and self._spec.match_file(name)


class IgnoreFiles:
    """The ``.gitignore`` files below a root; as in git, the deepest file takes precedence."""

    def __init__(self, root: str, problems: list[SourceError], *, wanted: bool) -> None:
        """Prepare to read the files below ``root``, or no files if ``wanted`` is false.

        Errors for files that cannot be read are added to ``problems``.
        """
        self._root = root
        self._problems = problems
        self._wanted = wanted
        # By the folder's name.
        self._known: dict[str, Sequence[_Pattern]] = {}
        # Files above this folder are disregarded: one of them ignores the folder, but it was given.
        self._top = ""

    def enter(self, folder: str) -> None:
        """Begin a search in the folder named ``folder``, even if that folder is ignored."""
        self._top = ""
        parts = folder.split("/") if folder else []
        ways = ["/".join(parts[: n + 1]) + "/" for n in range(len(parts))]
        self._top = folder if any(map(self.match, ways)) else ""

    def match(self, name: str) -> bool:
        """Return true if ``name`` is ignored; the name of a folder must end with a slash."""
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
        """Return the patterns of the ``.gitignore`` file in ``folder``, in reverse order."""
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
    """Return the patterns in ``lines``, in reverse order; skip invalid lines, as git does."""
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
    """A pattern in a ``.gitignore`` file.

    ``folders`` is true if the pattern applies only to folders. ``ignores`` is false if the pattern
    begins with ``!``, so that a matching path is not ignored.
    """

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
