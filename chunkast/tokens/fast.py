"""tiktoken's counts from a faster encoder, toktok-rs (extra ``fast``), where they are the same.

tiktoken says what is right. The versions in ``VERIFIED`` were compared with one another by
``tests/test_fast_tokens.py``: every code point alone and beside others, hostile texts, and texts in
many scripts, in each bundled encoding. They take some code points for different things, as the newer one
has a later version of Unicode: a text with any of these is left to tiktoken, as is one with
surrogates, and every text with any other version.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from importlib import import_module
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from chunkast.text.source_map import spans_between
from chunkast.tokens.pretokens import CountFunctions
from chunkast.tokens.vocabulary import BUNDLED

if TYPE_CHECKING:
    import tiktoken

__all__ = ("VERIFIED", "by_fast_encoder", "encoder_note")

# The versions of tiktoken and toktok-rs that the differential test passed with.
VERIFIED: Final = frozenset({("0.14.0", "0.3.0")})
# Loading it takes as long as counting about so many characters otherwise.
_WORTH_LOADING: Final = 1_000_000
# Letters, marks and digits in Unicode 17 or 18 that are not assigned in Unicode 16, surrogates, and
# one letter that changed its case.
_DIFFERENT: Final = (
    "295 558 58b-58c 5c8-5c9 88f b53-b54 c5c cdc 1acf-1af0 208f 209d-209f a7ce-a7cf a7d2 a7d4 a7dd a7e2 "
    "a7f1 ab6c-ab6d d800-dfff 107bb-107bf 10940-10959 10ec5-10ec7 10ecb-10ecf 10ed9-10eee 10ef0-10efb "
    "11b0a 11b60-11b67 11db0-11ddb 11de0-11de9 11df0-11df1 1246f 12475-1247f 12550-12686 16ea0-16eb8 "
    "16ebb-16ed3 16ff2-16ff6 187f8-187ff 18cd6-18cda 18d09-18d20 18d80-18df2 18e00-19191 191a0-191d2 "
    "1b123-1b128 1b168 1d127-1d128 1d250-1d252 1d25b-1d25c 1d25f 1d280-1d281 1d6a6 1df1f-1df24 "
    "1df2b-1df81 1df90-1df96 1dfcd-1dfff 1e6c0-1e6de 1e6e0-1e6f5 1e6fe-1e6ff 2b73a-2b73f 2b81e "
    "2cea2-2cead 323b0-33479 3d000-3fc3f"
)


@cache
def _different() -> re.Pattern[str]:
    """A character that the two encoders may take for different things."""
    return re.compile(f"[{''.join(_ranges())}]")


@cache
def _alike() -> re.Pattern[str]:
    """Characters below U+10000 that the two take for the same.

    All but a few texts have no others. :func:`_different` takes ten times as long for each, or more.
    """
    near = (each for each in _ranges() if each < "\U00010000")
    return re.compile(f"[^{''.join(near)}\U00010000-\U0010ffff]+")


def _ranges() -> Iterator[str]:
    """The ranges of different characters, as in a class of ``re``; none goes over U+10000."""
    for part in _DIFFERENT.split():
        yield "-".join(chr(int(end, 16)) for end in part.split("-"))


def _has_different(text: str) -> bool:
    return _different().search(_alike().sub("", text)) is not None


def _counts_alike(text: str) -> bool:
    return text.isascii() or not _has_different(text)


@cache
def _installed() -> tuple[str, str | None]:
    """The versions of tiktoken and of toktok-rs, if it is there and can be loaded."""
    try:
        version = import_module("toktok").__version__
    except Exception:  # noqa: BLE001 - whatever is wrong with it, tiktoken counts
        version = None
    return import_module("tiktoken").__version__, version


def encoder_note() -> str:
    """Which of the two encoders serves, with the versions installed, in one line."""
    ours, fast = _installed()
    if fast is None:
        return f"tiktoken {ours}"
    if (ours, fast) in VERIFIED:
        return f"toktok-rs {fast}, which counts as tiktoken {ours} does"
    known = "; ".join(f"{each} with tiktoken {with_}" for with_, each in sorted(VERIFIED))
    return f"tiktoken {ours} (toktok-rs {fast} is not used; known to count alike is {known})"


def by_fast_encoder(
    encoding: tiktoken.Encoding, others: CountFunctions, characters: Callable[[int], int]
) -> CountFunctions:
    """The faster functions, where they are known to give what ``others`` give.

    ``characters(token)`` is how many characters a token begins.
    """
    known = import_module("tiktoken.registry").ENCODINGS
    if encoding.name not in BUNDLED or known.get(encoding.name) is not encoding:
        return others  # a user's own may have any vocabulary
    if _installed() not in VERIFIED:
        return others
    fast = _Fast(encoding.name, others, characters)
    return CountFunctions(fast.count, fast.token_ends, fast.counts)


class _Fast:
    """The functions of the faster encoder, which is loaded once it is worth it."""

    def __init__(self, name: str, others: CountFunctions, characters: Callable[[int], int]) -> None:
        self._name = name
        self._others = others
        self._characters = characters
        self._first = _WORTH_LOADING

    @cached_property
    def _encoder(self) -> Any:
        # As its documentation says, for those who want more than counts of many texts.
        return import_module("toktok")._encoding(self._name)  # noqa: SLF001

    def _is_known(self, text: str) -> bool:
        """Whether the faster encoder is to be asked of a text."""
        if self._first > 0:
            self._first -= len(text)
            return False
        return _counts_alike(text)

    def count(self, text: str) -> int:
        """How many tokens the text has."""
        known = self._is_known(text)
        return self._encoder.count(text) if known else self._others.count(text)

    def counts(self, text: str, positions: Sequence[int]) -> Iterable[int]:
        """How many tokens each span of the text between neighbouring ``positions`` has."""
        known = self._first <= 0 and _counts_alike(text)
        return map(self._encoder.count if known else self.count, spans_between(text, positions))

    def token_ends(self, text: str, start: int) -> Iterable[int]:
        """For each token a position that it ends at or before, in a text that begins at ``start``."""
        if not self._is_known(text):
            return self._others.token_ends(text, start)
        # Four bytes a token; one thread.
        tokens = memoryview(self._encoder.encode_batch([text], 1)[0]).cast("I")
        ends = accumulate(map(self._characters, tokens), initial=start)
        next(ends)
        return ends
