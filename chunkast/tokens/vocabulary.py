"""Load encodings: those that are bundled with chunkast, and others through tiktoken.

A bundled vocabulary is read from the package, without tiktoken's cache and without the network.
For any other encoding, tiktoken may need a download, which the caller has to allow.
"""

from __future__ import annotations

from base64 import b64decode
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from chunkast.errors import ConfigError
from chunkast.tokens.names import remedy_for
from chunkast.tokens.pretokens import CL100K, O200K

if TYPE_CHECKING:
    import tiktoken

__all__ = ("BUNDLED", "VOCABULARY", "load_encoding")

VOCABULARY: Final = Path(__file__).with_name("vocab")


class _Bundled(NamedTuple):
    """A vocabulary's file, named as in tiktoken's cache, its SHA-256, and the splitting pattern."""

    file: str
    digest: str
    pattern: str


_O200K: Final = _Bundled(
    "fb374d419588a4632f3f557e76b4b70aebbca790",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    O200K,
)
BUNDLED: Final = {
    "cl100k_base": _Bundled(
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        CL100K,
    ),
    "o200k_base": _O200K,
    "o200k_harmony": _O200K,
}


def load_encoding(name: str, *, allow_download: bool = False) -> tiktoken.Encoding:
    """Return the encoding called ``name``.

    With ``allow_download``, tiktoken may download a vocabulary that is not bundled. Bundled
    encodings have no special tokens. Raises ``ConfigError``, with a remedy, if the name is unknown
    or the vocabulary is not available.
    """
    import tiktoken

    if name in BUNDLED:
        return _from_package(name)
    names = ", ".join(BUNDLED)
    known = tiktoken.list_encoding_names()
    if name not in known:
        others = ", ".join(other for other in known if other not in BUNDLED)
        allowed = (
            f"must be one of {names}, which are bundled with chunkast, or of {others}, which "
            "tiktoken loads, or the path of a model's tokenizer.json"
        )
        raise ConfigError("encoding", name, remedy_for(name) or allowed)
    if not allow_download:
        raise ConfigError(
            "encoding",
            name,
            "its vocabulary is not bundled with chunkast, and tiktoken may download it only if that "
            "is allowed: --allow-download, in Python allow_download=True (a file in tiktoken's "
            f"cache is then used without the network); or use one of {names}",
        )
    try:
        return tiktoken.get_encoding(name)
    except Exception as error:
        allowed = f"its vocabulary could not be downloaded ({type(error).__name__}: {error})"
        raise ConfigError("encoding", name, allowed) from error


def _from_package(name: str) -> tiktoken.Encoding:
    import tiktoken

    file, digest, pattern = BUNDLED[name]
    try:
        content = (VOCABULARY / file).read_bytes()
    except OSError:
        content = b""
    if sha256(content).hexdigest() != digest:
        allowed = f"chunkast's own file {file} is missing or damaged; reinstall chunkast"
        raise ConfigError("encoding", name, allowed)
    # Each line has a token and its rank.
    fields = content.split()
    ranks = dict(zip(map(b64decode, fields[::2]), map(int, fields[1::2]), strict=True))
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
