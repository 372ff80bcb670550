r"""The model inputs that a Hugging Face tokenizer makes from a piece of text.

``tokens/words.py`` uses them.

To encode a text, a tokenizer looks for added tokens, normalizes, splits and tracks the origin of
each character, which takes longer than running its model. So pieces that contain no added token,
and whose model inputs are known, are encoded by the model alone:

- *BERT's tokenizer* drops white space, and splits before and after punctuation and ideographs.
- *Byte-level tokenizers* pass the pre-tokens of their patterns to the model
  (``tokens/huggingface/byte_level.py``).
- *Tokenizers that only mark spaces* pass the piece with its marks to the model
  (``tokens/huggingface/marked_bpe.py``).
- *Other tokenizers* normalize and split a piece themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from chunkast.text.source_map import without_surrogates

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = (
    "BEFORE",
    "IDEOGRAPHS",
    "MARK",
    "PUNCTUATION",
    "VISIBLE",
    "Boundary",
    "Inputs",
    "InputsOf",
    "inputs_of_bert",
    "inputs_of_marked",
    "inputs_of_words",
    "may_have_added",
    "normalizer_of",
)

MARK: Final = "▁"
PUNCTUATION: Final = '!"#$%&()*+,-.:;<=>?@[\\]^`{|}~、。，！？；：（）「」『』《》'
IDEOGRAPHS: Final = "\u4e00-\u9fff"
VISIBLE: Final = "".join(map(chr, range(0x21, 0x7F)))
_CAPITALS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_TO_LOWER: Final = str.maketrans(_CAPITALS, _CAPITALS.lower())
# A letter: no boundary is right before it.
BEFORE: Final = "a"
# Only this many characters of an added token are searched for, because that is faster.
_BEGIN: Final = 3

InputsOf = Callable[[str], Sequence[str] | None]
"""A function that returns the model inputs for a piece, in order, or None if they are unknown."""


class Inputs(NamedTuple):
    """Functions that return the model inputs for a piece.

    ``first`` is for a piece at the start of a text, ``later`` for a piece that begins at a boundary
    inside a text.
    """

    first: InputsOf
    later: InputsOf


class Boundary(NamedTuple):
    """The boundaries of a tokenizer, at which it splits any text.

    ``split(text)`` splits a text at its boundaries. ``before`` is a text that can be put before any
    piece so that there is a boundary between them. ``inputs`` returns the model inputs for a piece.
    """

    split: Callable[[str], list[str]]
    before: str
    inputs: Inputs


def inputs_of_bert(tokenizer: Tokenizer, settings: dict[str, Any]) -> Inputs:
    """Return the ``Inputs`` of BERT's tokenizer, given the ``settings`` of its normalizer."""
    may_be_added = may_have_added(tokenizer)
    ideographs = IDEOGRAPHS if settings["handle_chinese_chars"] else ""
    known = re.compile(rf"[ \t\r\n]*([!-~{ideographs}]*)").fullmatch
    split = re.compile("[A-Za-z0-9]+|[^A-Za-z0-9]").findall
    table = _TO_LOWER if settings["lowercase"] else {}

    def inputs(piece: str) -> Sequence[str] | None:
        found = known(piece)
        return split(found[1].translate(table)) if found and not may_be_added(piece) else None

    return Inputs(inputs, inputs)


def inputs_of_marked(tokenizer: Tokenizer, begin: Callable[[str], str]) -> Inputs:
    """Return the ``Inputs`` of a tokenizer that only marks spaces.

    The tokenizer puts ``begin(text)`` before a marked text.
    """
    added = tokenizer.get_added_tokens_decoder().values()
    may_be_added = _may_have(token.content for token in added)
    may_be_marked = _may_have(_normalized_contents(tokenizer))

    def inputs_after(begin: Callable[[str], str]) -> InputsOf:
        def inputs(piece: str) -> Sequence[str] | None:
            # The library rejects lone surrogates.
            marked = without_surrogates(piece).replace(" ", MARK)
            marked = begin(marked) + marked if piece else ""
            return None if may_be_added(piece) or may_be_marked(marked) else [marked]

        return inputs

    return Inputs(inputs_after(begin), inputs_after(lambda _: ""))


def inputs_of_words(tokenizer: Tokenizer, known: InputsOf | None = None) -> Inputs:
    """Return ``Inputs`` that run a tokenizer's own normalizer and pre-tokenizer on a piece.

    The normalizer and pre-tokenizer only run if ``known`` returns None.
    """
    may_be_added = may_have_added(tokenizer)
    normalized, splitter = normalizer_of(tokenizer), tokenizer.pre_tokenizer

    def parts_of(text: str) -> list[str] | None:
        # The library rejects lone surrogates.
        normal = normalized(without_surrogates(text))
        if may_be_added(normal):
            return None
        return [part for part, _ in splitter.pre_tokenize_str(normal)]

    def inputs_after(before: str) -> InputsOf:
        begin = parts_of(before) if before else []

        def asked(piece: str) -> Sequence[str] | None:
            parts = parts_of(before + piece)
            if parts is None or begin is None:
                return None
            return parts[len(begin) :] if parts[: len(begin)] == begin else None

        quick = known or _of_words(asked)

        def inputs(piece: str) -> Sequence[str] | None:
            return None if may_be_added(piece) else quick(piece) or asked(piece)

        return inputs

    return Inputs(inputs_after(""), inputs_after(BEFORE))


def _of_words(asked: InputsOf) -> InputsOf:
    """Return a fast function for the model inputs of an ASCII word after white space.

    ``asked`` computes the inputs for the white space, which are cached.
    """
    find = re.compile(r"([ \t\r\n]{,32})([!-~]+)").fullmatch

    @lru_cache(maxsize=1_024)
    def lead(spaces: str) -> Sequence[str] | None:
        parts = asked(spaces + VISIBLE)
        if not parts or not parts[-1].endswith(VISIBLE):
            return None
        return [*parts[:-1], parts[-1].removesuffix(VISIBLE)]

    def inputs(piece: str) -> Sequence[str] | None:
        found = find(piece)
        before = lead(found[1]) if found else None
        return [*before[:-1], before[-1] + found[2]] if found and before else None

    return inputs


def normalizer_of(tokenizer: Tokenizer) -> Callable[[str], str]:
    """Return a tokenizer's normalizer as a function; ``str`` if it does not have one."""
    normalizer = tokenizer.normalizer
    return normalizer.normalize_str if normalizer else str


def may_have_added(tokenizer: Tokenizer) -> Callable[[str], bool]:
    """Return a function that checks whether a text may contain an added token.

    The function searches for the first characters of each added token, ignoring case.
    """
    added = tokenizer.get_added_tokens_decoder().values()
    return _may_have([*(token.content for token in added), *_normalized_contents(tokenizer)])


def _normalized_contents(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the normalized text of each added token that is matched after normalization."""
    normalized = normalizer_of(tokenizer)
    for token in tokenizer.get_added_tokens_decoder().values():
        if token.normalized:
            content = normalized(token.content)
            yield content.strip(MARK) or content


def _may_have(contents: Iterable[str]) -> Callable[[str], bool]:
    begins = {
        "".join(
            f"[{each.lower()}{each.upper()}]" if each.isalpha() else re.escape(each)
            for each in content[:_BEGIN]
        )
        for content in contents
    }
    search = re.compile("|".join(sorted(begins)) if begins else "(?!)").search
    return lambda text: search(text) is not None
