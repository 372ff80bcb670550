r"""What a Hugging Face tokenizer's model is given of a piece: its inputs, for ``tokens/words.py``.

To encode a text, a tokenizer looks for added tokens, normalizes, splits, and keeps for each
character where it was, which takes longer than its model does. So the model alone is asked about
pieces that have no added token, of which it is known what becomes of them before:

- *A byte-level tokenizer* gives its model the pre-tokens of its pattern, each byte as a character.
  The pattern is written here for the characters that ``tokens/pretokens.py`` knows.
- *BERT's* drops white space, and splits before and after punctuation and ideographs.
- *Others* are asked what they normalize a piece to, and where they split that.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from chunkast.text.source_map import without_surrogates
from chunkast.tokens.pretokens import CLASSES, KNOWN

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = (
    "IDEOGRAPHS",
    "MARK",
    "Inputs",
    "InputsOf",
    "inputs_of_bert",
    "inputs_of_bytes",
    "inputs_of_words",
)

MARK: Final = "▁"
IDEOGRAPHS: Final = "\u4e00-\u9fff"
_VISIBLE: Final = "".join(map(chr, range(0x21, 0x7F)))
_UPPER, _LOWER, _OTHER, _MARKS, _SPACES, _ = CLASSES.values()
_CAPITALS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_TO_LOWER: Final = str.maketrans(_CAPITALS, _CAPITALS.lower())
# A letter, which no boundary is right before.
_BEFORE: Final = "a"
# GPT-2's: bytes that Latin-1 prints stand for themselves, the others follow after 255.
_PRINTED: Final = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_BYTES: Final = {
    byte: 0x100 + number for number, byte in enumerate(sorted({*range(0x100)} - _PRINTED))
}
# Classes of Unicode in a pattern: what of ASCII is in them, and what of the known characters.
_CLASSES: Final = (
    (
        r"[^\s\p{L}\p{N}]",
        r"[^\t-\r A-Za-z0-9]",
        f"[^{_SPACES}A-Za-z{_UPPER}{_LOWER}{_OTHER}0-9]",
    ),
    (r"[^\r\n\p{L}\p{N}]", r"[^\r\nA-Za-z0-9]", rf"[^\r\n{_UPPER}{_LOWER}{_OTHER}0-9]"),
    (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", "[A-Z]", f"[{_UPPER}{_OTHER}{_MARKS}]"),
    (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", "[a-z]", f"[{_LOWER}{_OTHER}{_MARKS}]"),
    (r"\p{L}", "[A-Za-z]", f"[{_UPPER}{_LOWER}{_OTHER}]"),
    (r"\p{N}", "[0-9]", "[0-9]"),
    (r"\s", r"[\t-\r ]", f"[{_SPACES}]"),
    (r"\S", r"[^\t-\r ]", f"[^{_SPACES}]"),
)

InputsOf = Callable[[str], Sequence[str] | None]
"""What the model is given of a piece, in order; None where that is not known."""


class Inputs(NamedTuple):
    """The inputs of a piece that begins a text, and of one that begins at a boundary in a text."""

    first: InputsOf
    later: InputsOf


def inputs_of_bytes(tokenizer: Tokenizer, pattern: str, *, prefixed: bool) -> Inputs:
    """Those of a byte-level tokenizer that splits by the pattern, and may compose characters.

    ``prefixed``: whether it puts a space before a text.
    """
    may_be_added = _added(tokenizer)
    of_ascii, of_known = (_split_by(pattern, column) for column in (1, 2))
    is_known = re.compile(f"[{KNOWN}]*").fullmatch
    composes = tokenizer.normalizer is not None

    def inputs(piece: str) -> Sequence[str] | None:
        if may_be_added(piece):
            return None
        if piece.isascii():
            return [part.translate(_BYTES) for part in of_ascii(piece)]
        if not is_known(piece) or (composes and not unicodedata.is_normalized("NFC", piece)):
            return None
        return [part.encode().decode("latin-1").translate(_BYTES) for part in of_known(piece)]

    return Inputs((lambda _: None) if prefixed else inputs, inputs)


def inputs_of_bert(tokenizer: Tokenizer, settings: dict[str, Any]) -> Inputs:
    """Those of a tokenizer with BERT's normalizer, which has these settings, and pre-tokenizer."""
    may_be_added = _added(tokenizer)
    ideographs = IDEOGRAPHS if settings["handle_chinese_chars"] else ""
    known = re.compile(rf"[ \t\r\n]*([!-~{ideographs}]*)").fullmatch
    split = re.compile("[A-Za-z0-9]+|[^A-Za-z0-9]").findall
    table = _TO_LOWER if settings["lowercase"] else {}

    def inputs(piece: str) -> Sequence[str] | None:
        found = known(piece)
        return split(found[1].translate(table)) if found and not may_be_added(piece) else None

    return Inputs(inputs, inputs)


def inputs_of_words(tokenizer: Tokenizer) -> Inputs:
    """Those of another tokenizer, by what its normalizer and pre-tokenizer make of a piece."""
    may_be_added = _added(tokenizer)
    normalizer, splitter = tokenizer.normalizer, tokenizer.pre_tokenizer

    def parts_of(text: str) -> list[str]:
        # The engine takes no lone surrogates.
        normal = without_surrogates(text)
        normal = normalizer.normalize_str(normal) if normalizer else normal
        return [part for part, _ in splitter.pre_tokenize_str(normal)] if splitter else [normal]

    def inputs_after(before: str) -> InputsOf:
        begin = parts_of(before) if before else []

        def asked(piece: str) -> Sequence[str] | None:
            parts = parts_of(before + piece)
            if splitter is None:
                return [parts[0].removeprefix("".join(begin))]
            return parts[len(begin) :] if parts[: len(begin)] == begin else None

        quick = _of_marked(asked) if splitter is None else _of_words(asked)

        def inputs(piece: str) -> Sequence[str] | None:
            return None if may_be_added(piece) else quick(piece) or asked(piece)

        return inputs

    return Inputs(inputs_after(""), inputs_after(_BEFORE))


def _of_marked(asked: InputsOf) -> InputsOf:
    """Pieces of ASCII with a mark for each space, if ``asked`` gives a sample as it is otherwise."""
    sample = f" {_VISIBLE}\n  "
    known = asked(sample) == [sample.replace(" ", MARK)]
    is_known = re.compile(r"[ \n!-~]+" if known else "(?!)").fullmatch
    return lambda piece: [piece.replace(" ", MARK)] if is_known(piece) else None


def _of_words(asked: InputsOf) -> InputsOf:
    """Words of ASCII as they are, after what ``asked`` gives of the white space before a sample."""
    find = re.compile(r"([ \t\r\n]{,32})([!-~]+)").fullmatch

    @lru_cache(maxsize=1_024)
    def lead(spaces: str) -> Sequence[str] | None:
        parts = asked(spaces + _VISIBLE)
        if not parts or not parts[-1].endswith(_VISIBLE):
            return None
        return [*parts[:-1], parts[-1].removesuffix(_VISIBLE)]

    def inputs(piece: str) -> Sequence[str] | None:
        found = find(piece)
        before = lead(found[1]) if found else None
        return [*before[:-1], before[-1] + found[2]] if found and before else None

    return inputs


def _split_by(pattern: str, column: int) -> Callable[[str], list[str]]:
    """What takes texts apart by the pattern, with the classes of that column."""
    for row in _CLASSES:
        pattern = pattern.replace(row[0], row[column])
    return re.compile(pattern).findall


def _added(tokenizer: Tokenizer) -> Callable[[str], bool]:
    """Whether a piece may have an added token: any piece if some are made of common characters."""
    contents = set()
    for token in tokenizer.get_added_tokens_decoder().values():
        contents.add(token.content)
        if token.normalized and tokenizer.normalizer is not None:
            contents.add(tokenizer.normalizer.normalize_str(token.content).strip(MARK))
    rare = [re.search(r"[^A-Za-z0-9\s]", content) for content in contents]
    if None in rare:
        return lambda _: True
    has_rare = re.compile(f"[\0{''.join(re.escape(each[0]) for each in rare if each)}]").search
    is_added = re.compile("|".join(map(re.escape, contents)) or r"(?!)", re.IGNORECASE).search
    return lambda piece: has_rare(piece) is not None and is_added(piece) is not None
