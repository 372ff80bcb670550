r"""Where tokenizers of BPE without pre-tokens split any text: Llama 2, Mistral, Yi, Gemma.

Their normalizer, or a Metaspace that does not split, marks spaces (``▁``) and may put a mark before a
text, no more. BPE only ever joins what is joined in a token of its vocabulary, so there is a boundary
between two characters that no token has beside each other:

- before spaces, but for the characters that some token has before a mark,
- around line ends, if no token has one beside another character,
- around characters that no token has beside any, such as most ideographs in Llama 2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from chunkast.tokens.huggingface.inputs import (
    BEFORE,
    MARK,
    Boundary,
    inputs_of_marked,
    normalizer_of,
)

if TYPE_CHECKING:
    from tokenizers import AddedToken, Tokenizer

__all__ = ("boundary_of_marked", "is_no_splitter")

# No character, and a private one: hardly a token has either beside others.
_BETWEEN: Final = "\ufffe"
_PRIVATE: Final = "\ue000"
# The token of a byte of an unknown character; with others in one token it tells nothing of characters.
_BYTE: Final = re.compile("<0x[0-9A-F]{2}>")
# Never pieces by themselves: surrogates, which are encoded as another character, and what is beyond
# U+FFFF, of which classes take long to look through.
_MANY: Final = "\ud800-\udfff\U00010000-\U0010ffff"
_MARKS_SPACES: Final = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}


def is_no_splitter(part: dict[str, Any]) -> bool:
    """Whether a pre-tokenizer with these settings splits no text that has marks for spaces."""
    if part["type"] == "Metaspace":
        return not part["split"]
    return part["type"] == "Split" and part["pattern"] == {"String": " "} and not part["invert"]


def boundary_of_marked(
    tokenizer: Tokenizer,
    normalizers: Sequence[dict[str, Any]],
    splitters: Sequence[dict[str, Any]],
    added: Sequence[AddedToken],
    ends: str,
) -> Boundary | None:
    """The boundaries of a tokenizer with these settings, if any are known; none of its parts splits.

    ``ends``: the characters that added tokens end with, where something is put before what follows one.
    """
    begin = _begin(tokenizer, normalizers, splitters)
    if begin is None or not _only_merges(tokenizer) or tokenizer.token_to_id(MARK) is None:
        return None
    contents = (token.content.replace(" ", MARK) for token in added)
    tokens = [token for token in (*tokenizer.get_vocab(False), *contents) if len(token) > 1]
    joined = _BETWEEN.join(tokens)
    if joined.count(_BETWEEN) >= len(tokens) or len(_BYTE.findall(joined)) > 256:
        return None
    before_marks = re.findall(f"([^{_BETWEEN}{MARK}]){MARK}", joined)
    if any("a" <= each <= "z" for each in before_marks):
        return None  # whole lines would be in one piece
    left = {" ", MARK, *ends, *before_marks}
    takes_space = any(token.lstrip for token in added)
    if takes_space or _PRIVATE in joined or not _encodes_bytes(tokenizer):
        find = _pattern(_class_of(left) + r"\s" * takes_space)
        return Boundary(find, BEFORE, inputs_of_marked(tokenizer, begin))
    lines = "\n" not in left and not re.search(f"[^\n{_BETWEEN}]\n|\n[^\n{_BETWEEN}]", joined)
    beside = _class_of({each for each in {*joined, *ends} if each > "\x7f"})
    find = _pattern(_class_of(left), _class_of(ends), _MANY + beside, lines=lines)
    return Boundary(find, _PRIVATE, inputs_of_marked(tokenizer, begin))


def _begin(
    tokenizer: Tokenizer,
    normalizers: Sequence[dict[str, Any]],
    splitters: Sequence[dict[str, Any]],
) -> Callable[[str], str] | None:
    """What is put before a text with marks for spaces; None if more is done to a text."""
    spaces = [part for part in splitters if part["type"] == "Metaspace"]
    if not spaces:
        marks = [part for part in normalizers if part["type"] != "Prepend"]
        put = normalizer_of(tokenizer)("a")[:-1]
        return (lambda _: put) if marks == [_MARKS_SPACES] else None
    if normalizers or len(splitters) > 1 or spaces[0]["replacement"] != MARK:
        return None
    put = "" if spaces[0]["prepend_scheme"] == "never" else MARK
    return lambda marked: "" if marked.startswith(MARK) else put


def _pattern(
    left: str, ends: str = "", beside: str = "", *, lines: bool = False
) -> Callable[[str], list[str]]:
    """What takes a text apart into its pieces: there is no boundary between ``left`` and spaces.

    ``beside``: beyond ASCII all but the characters that are pieces by themselves; ``lines``: whether
    line ends are. There is no boundary between ``ends`` and these.
    """
    # Without spaces, and without line ends where these are pieces.
    ascii_word = r"\0-\t\x0b-\x1f!-\x7f" if lines else r"\0-\x1f!-\x7f"
    word = f"[{ascii_word}{beside}]" if beside else "[^ ]"
    alone = [rf"[^\0-\x7f{beside}]"] if beside else []
    if lines:
        alone.append(r"\n+")
    rest = [f"(?<=[{left}]) +{word}*", *(f"(?<=[{ends}]){each}" for each in alone if ends)]
    begin = [f" *{word}+", " +", *alone]
    return re.compile(f"(?:{'|'.join(begin)})(?:{'|'.join(rest)})*").findall


def _class_of(characters: set[str] | str) -> str:
    return "".join(re.escape(each) for each in sorted(characters))


def _only_merges(tokenizer: Tokenizer) -> bool:
    """Whether what becomes of characters depends on those alone that they are merged with."""
    from tokenizers import models

    model = tokenizer.model
    return (
        isinstance(model, models.BPE)
        and not (model.dropout or model.ignore_merges)
        and not (model.continuing_subword_prefix or model.end_of_word_suffix)
    )


def _encodes_bytes(tokenizer: Tokenizer) -> bool:
    """Whether no character is unknown: neighbours that are may be one token."""
    known = (tokenizer.token_to_id(f"<0x{byte:02X}>") is not None for byte in range(256))
    return tokenizer.model.byte_fallback and all(known)
