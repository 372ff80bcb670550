"""Loads tiktoken's encodings from local files, without the network.

A vocabulary is read from the package or from tiktoken's cache folder. A file is only used if it
has the SHA-256 that tiktoken expects; a damaged file is ignored and not changed. Nothing is
downloaded unless the caller allows it.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha1, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chunkast.errors import ConfigError

if TYPE_CHECKING:
    import tiktoken

__all__ = ("BUNDLED", "VOCABULARY", "load_encoding")

VOCABULARY: Final = Path(__file__).with_name("vocab")
# The encodings whose vocabulary ships in the package, and the name of its file. As in tiktoken's
# cache, that is the SHA-1 of the file's URL.
BUNDLED: Final = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "o200k_harmony": "fb374d419588a4632f3f557e76b4b70aebbca790",
}
_loading: Final = threading.Lock()


class _VocabularyMissingError(Exception):
    """Raised when this machine does not have an undamaged copy of ``file``."""

    def __init__(self, file: str, damaged: tuple[str, ...]) -> None:
        self.file = file
        self.damaged = damaged


def load_encoding(name: str, *, allow_download: bool = False) -> tiktoken.Encoding:
    """Return the encoding with this name; its vocabulary is downloaded only if allowed and needed.

    Raises ``ConfigError``, with a remedy, if tiktoken does not know the name or the vocabulary is
    not available.
    """
    import tiktoken

    known = tiktoken.list_encoding_names()
    if name not in known:
        others = ", ".join(other for other in known if other not in BUNDLED)
        raise ConfigError(
            "encoding",
            name,
            f"must be one of {', '.join(BUNDLED)}, which are bundled with chunkast, or of {others}, "
            "which need a file of tiktoken's",
        )
    try:
        with _from_files(allow_download=allow_download):
            return tiktoken.get_encoding(name)
    except _VocabularyMissingError as missing:
        raise ConfigError("encoding", name, _remedy(name, missing)) from None
    except Exception as error:
        raise ConfigError(
            "encoding",
            name,
            f"its vocabulary could not be {'downloaded' if allow_download else 'loaded'} "
            f"({type(error).__name__}: {error})",
        ) from error


def _remedy(name: str, missing: _VocabularyMissingError) -> str:
    damaged = "".join(f"; {path} is damaged" for path in missing.damaged)
    if name in BUNDLED:
        return (
            f"chunkast's own file {missing.file} is missing or damaged{damaged}; reinstall chunkast"
        )
    return (
        "its vocabulary is not bundled with chunkast, and nothing is downloaded unless that is "
        f"allowed{damaged}; put tiktoken's file {missing.file} into the folder that "
        "TIKTOKEN_CACHE_DIR names, allow the download (--allow-download, in Python "
        f"allow_download=True), or use one of {', '.join(BUNDLED)}"
    )


@contextmanager
def _from_files(*, allow_download: bool) -> Iterator[None]:
    """Make tiktoken read vocabularies with ``_read``, in this thread only.

    tiktoken's own function deletes damaged files and downloads missing files. Replacing the
    function is the only way to prevent this for every encoding, including encodings from plugins.
    """
    import tiktoken.load

    here = threading.get_ident()
    with _loading:
        own = tiktoken.load.read_file_cached

        def read_file_cached(blobpath: str, expected_hash: str | None = None) -> bytes:
            # A path without a scheme is a local file.
            if threading.get_ident() != here or "://" not in blobpath:
                return own(blobpath, expected_hash)
            try:
                return _read(blobpath, expected_hash)
            except _VocabularyMissingError:
                if not allow_download:
                    raise
            return own(blobpath, expected_hash)

        tiktoken.load.read_file_cached = read_file_cached
        try:
            yield
        finally:
            tiktoken.load.read_file_cached = own


def _read(address: str, expected: str | None) -> bytes:
    """Return a local copy of the file at ``address`` that has the SHA-256 ``expected``."""
    file = sha1(address.encode(), usedforsecurity=False).hexdigest()
    damaged: list[str] = []
    for folder in _folders():
        try:
            data = (folder / file).read_bytes()
        except OSError:
            continue
        if expected is None or sha256(data).hexdigest() == expected:
            return data
        damaged.append(str(folder / file))
    raise _VocabularyMissingError(file, tuple(damaged))


def _folders() -> Iterator[Path]:
    """Yield the folders in which to look for vocabularies: the package's, then tiktoken's."""
    yield VOCABULARY
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        folder = os.environ.get(name)
        if folder is not None:
            # An empty name turns tiktoken's cache off.
            if folder:
                yield Path(folder)
            return
    yield Path(tempfile.gettempdir(), "data-gym-cache")
