"""Match paths against ``.gitignore`` files, and against globs in the same syntax."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from chunkast.errors import ConfigError, SourceError, warn
from chunkast.text.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from pathspec import RegexPattern

__all__ = ("IgnoreFiles", "glob_matcher")

_REPEATED = re.compile(r"(?<![^/!])(?:\*\*/){2,}")
# A pattern takes time that grows with the length of a name, to the power of its stars.
_MOST_STARS: Final = 8


def glob_matcher(field: str, globs: Sequence[str]) -> Callable[[str], bool]:
    """Return a function that returns whether one of ``globs`` matches a name.

    The name of a folder must end with a slash. An invalid glob raises a ``ConfigError`` that names
    ``field``.
    """
    if not globs:
        return lambda _name: False
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(map(_simplified, globs)).match_file
    except (ValueError, re.error) as error:
        raise ConfigError(field, list(globs), str(error)) from None


def _simplified(pattern: str) -> str:
    """Return a pattern for the same names that takes less time.

    Raises ``ValueError`` for a pattern that would take too long.
    """
    pattern = _REPEATED.sub("**/", pattern)
    names = pattern.split("/")
    if max(names.count("**"), *(name.count("*") for name in names)) > _MOST_STARS:
        most = f"{_MOST_STARS} stars in one name, or {_MOST_STARS} names of two stars"
        raise ValueError(f"a pattern has more than {most}: {pattern[:80]}")
    return pattern


class IgnoreFiles:
    """The ``.gitignore`` files below a root; as in git, the deepest file takes precedence."""

    def __init__(self, root: str, problems: list[SourceError], *, wanted: bool) -> None:
        """Prepare to read the ``.gitignore`` files below ``root``, or none if ``wanted`` is false.

        Errors for unreadable files are added to ``problems``.
        """
        self._root = root
        self._problems = problems
        self._wanted = wanted
        # The matchers of the patterns in each folder's file, the last pattern first.
        self._known: dict[str, list[Callable[[str], bool | None]]] = {}
        # Files above this folder are disregarded: one of them ignores the folder, but it was given.
        self._top = ""

    def enter(self, folder: str) -> None:
        """Begin a search in ``folder``; if it is ignored, skip ``.gitignore`` files above it."""
        self._top = ""
        parts = folder.split("/") if folder else []
        ways = ["/".join(parts[: n + 1]) + "/" for n in range(len(parts))]
        self._top = folder if any(map(self.match, ways)) else ""

    def match(self, name: str) -> bool:
        """Return whether ``name`` is ignored; the name of a folder must end with a slash."""
        folder = name.rstrip("/") if self._wanted else ""
        while folder:
            folder = folder.rpartition("/")[0]
            if folder not in self._known:
                self._known[folder] = self._read(os.path.join(self._root, folder, ".gitignore"))
            inside = name[len(folder) + 1 :] if folder else name
            for matches in self._known[folder]:
                ignores = matches(inside)
                if ignores is not None:
                    return ignores
            if folder == self._top:
                break
        return False

    def _read(self, path: str) -> list[Callable[[str], bool | None]]:
        if not os.path.lexists(path):
            return []
        try:
            data = read_bytes(path)
        except SourceError as error:
            self._problems.append(error)
            return []
        from pathspec import GitIgnoreSpec

        matchers: list[Callable[[str], bool | None]] = []
        # As in git: a byte order mark and invalid lines are skipped; names may be any bytes.
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
        for number, given in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
            try:
                line = _simplified(given)
            except ValueError as error:
                warn(f"{path}:{number}: left out, because {error}")
                continue
            with suppress(ValueError, re.error):
                patterns = GitIgnoreSpec.from_lines([line]).patterns
                matchers += (
                    partial(_ignores, pattern, folders=line.rstrip().endswith("/"))
                    for pattern in patterns
                    if pattern.include is not None
                )
        return matchers[::-1]


def _ignores(pattern: RegexPattern, name: str, *, folders: bool) -> bool | None:
    """Return whether a pattern ignores ``name``, or None if it does not match ``name`` itself.

    ``folders`` is true if the pattern applies only to folders. Unlike in ``GitIgnoreSpec``, a match
    of a folder above ``name`` does not count, so that ``*`` and ``!*/`` work as in git.
    """
    path = name if folders else name.removesuffix("/")
    result = pattern.match_file(path) if path.endswith("/") or not folders else None
    if result is None:
        return None
    # A named group is the slash after a folder that matches with its whole content.
    marks = (result.match.start(group) for group in result.match.re.groupindex)
    return pattern.include if all(mark in (-1, len(path) - 1) for mark in marks) else None
