"""tiktoken's encodings, without the network: their vocabularies come from files.

A vocabulary is read from the package, or from the folder in which tiktoken keeps what it
has downloaded. A file counts only if its SHA-256 is the one that tiktoken expects; a damaged
one is left unchanged and ignored. Nothing is downloaded unless the caller asks for it.
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
# Encodings whose vocabulary file ships in the package, under the name tiktoken's cache
# gives it: the SHA-1 of its address.
BUNDLED: Final = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "o200k_harmony": "fb374d419588a4632f3f557e76b4b70aebbca790",
}
_loading: Final = threading.Lock()


class _VocabularyMissingError(Exception):
    """No undamaged copy of ``file`` is on this machine."""

    def __init__(self, file: str, damaged: tuple[str, ...]) -> None:
        self.file = file
        self.damaged = damaged


def load_encoding(name: str, *, allow_download: bool = False) -> tiktoken.Encoding:
    """The encoding of this name, downloaded only if that is allowed and needed.

    Raises ``ConfigError`` for a name that tiktoken does not know and for a vocabulary that
    is not available; the message says what to do.
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
        raise ConfigError("encoding", name, _what_to_do(name, missing)) from None
    except Exception as error:
        raise ConfigError(
            "encoding",
            name,
            f"its vocabulary could not be {'downloaded' if allow_download else 'loaded'} "
            f"({type(error).__name__}: {error})",
        ) from error


def _what_to_do(name: str, missing: _VocabularyMissingError) -> str:
    damaged = "".join(f"; {path} is damaged" for path in missing.damaged)
    if name in BUNDLED:
        return (
            f"the file {missing.file} of chunkast itself is gone or damaged{damaged}; "
            "install chunkast again"
        )
    return (
        "its vocabulary is not bundled with chunkast, and nothing is downloaded unless that is "
        f"allowed{damaged}; put tiktoken's file {missing.file} into the folder that "
        "TIKTOKEN_CACHE_DIR names, allow the download (--allow-download, in Python "
        f"allow_download=True), or use one of {', '.join(BUNDLED)}"
    )


@contextmanager
def _from_files(*, allow_download: bool) -> Iterator[None]:
    """Let tiktoken read vocabularies by way of ``_read`` in this thread, and in no other.

    tiktoken's own function deletes a damaged file and downloads a missing one; only replacing
    it prevents that for every encoding, those of plugins included.
    """
    import tiktoken.load

    here = threading.get_ident()
    with _loading:
        own = tiktoken.load.read_file_cached

        def read_file_cached(blobpath: str, expected_hash: str | None = None) -> bytes:
            # Without a scheme it is a file of this machine.
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
    """The file that tiktoken downloads from ``address``, with the SHA-256 ``expected``."""
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
    """Where vocabularies are looked for: here, then where tiktoken keeps its own."""
    yield VOCABULARY
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        folder = os.environ.get(name)
        if folder is not None:
            # To tiktoken an empty name means that nothing is kept.
            if folder:
                yield Path(folder)
            return
    yield Path(tempfile.gettempdir(), "data-gym-cache")
