r"""Boundaries of BPE tokenizers without pre-tokens: Llama 2, Mistral, Yi, Gemma.

Their normalizer, or a Metaspace that does not split, only marks spaces (``▁``) and may put a mark
before a text. BPE only joins characters that a token of its vocabulary joins, so there is a
boundary between two characters that are not neighbours in any token:

- before spaces, except after a character that precedes a mark in some token,
- around line ends, if they only neighbour each other in all tokens,
- around characters that do not have neighbours in any token, such as most ideographs in Llama 2.
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

# A noncharacter and a private-use character: hardly any token contains either.
_BETWEEN: Final = "\ufffe"
_PRIVATE: Final = "\ue000"
# The token of one byte of an unknown character. Merges of these hide which characters they join.
_BYTE: Final = re.compile("<0x[0-9A-F]{2}>")
# Never separate pieces: surrogates, which are encoded as another character, and characters
# beyond U+FFFF, because large classes of these are slow to match.
_MANY: Final = "\ud800-\udfff\U00010000-\U0010ffff"
_MARKS_SPACES: Final = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}


def is_no_splitter(part: dict[str, Any]) -> bool:
    """Return whether a pre-tokenizer never splits text whose spaces were replaced with marks."""
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
    """Return the boundaries of a tokenizer without pre-tokens, or None if they are unknown.

    ``ends`` are the last characters of added tokens after which the tokenizer adds a mark.
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
        return None  # pieces would be whole lines
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
    """Return a function that returns the prefix added to a marked text.

    Returns None if the tokenizer changes a text in other ways too.
    """
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
    """Return a function that splits a text; ``left``, ``ends`` and ``beside`` are characters.

    There is no boundary between a character of ``left`` and spaces. Every character outside ASCII
    that is not in ``beside`` is a separate piece, and with ``lines``, so is every run of line ends.
    There is no boundary between a character of ``ends`` and such a piece.
    """
    # Without spaces, and without line ends if these are pieces.
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
    """Return whether the model is a BPE that only merges: no dropout, affixes or skipped merges."""
    from tokenizers import models

    model = tokenizer.model
    return (
        isinstance(model, models.BPE)
        and not (model.dropout or model.ignore_merges)
        and not (model.continuing_subword_prefix or model.end_of_word_suffix)
    )


def _encodes_bytes(tokenizer: Tokenizer) -> bool:
    """Return whether every character has tokens, by falling back to bytes.

    Otherwise, neighbouring unknown characters may become one token.
    """
    known = (tokenizer.token_to_id(f"<0x{byte:02X}>") is not None for byte in range(256))
    return tokenizer.model.byte_fallback and all(known)
