r"""Boundaries and inputs of byte-level tokenizers: RoBERTa, Llama 3, Qwen, Claude, DeepSeek.

These split by patterns, and give their model the pre-tokens, each byte as a character:

- *The pattern of GPT-2* has no alternative with white space, or with punctuation but an apostrophe,
  after a letter or digit, and none with white space after anything else but white space.
- *Those of cl100k_base and o200k_base, and what others made of them,* have line ends after
  punctuation too: these are rules 2, 3 and 5 of ``tokens/index.py``.
- *DeepSeek's* three split at digits, then at ideographs and kana, then by such a pattern, where
  punctuation may be before letters, never after.

The patterns that most have are written here for the characters that ``tokens/pretokens.py`` knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal
from unicodedata import is_normalized

from chunkast.tokens.huggingface.inputs import (
    BEFORE,
    PUNCTUATION,
    Boundary,
    Inputs,
    inputs_of_words,
    may_have_added,
)
from chunkast.tokens.pretokens import CLASSES, KNOWN

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ("boundary_of_bytes",)

_UPPER, _LOWER, _OTHER, _MARKS, _SPACES, _ = CLASSES.values()
_ALPHANUMERIC: Final = f"[0-9{_UPPER}{_LOWER}{_OTHER}]"
_CONTRACTION: Final = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_REST: Final = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_GPT_4O: Final = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    rf"{_CONTRACTION}?|[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+"
    rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{_CONTRACTION}?|\p{{N}}{{1,3}}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_GPT_2: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA_3: Final = rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}{_REST}"
_QWEN: Final = rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{_REST}"
_NEMO: Final = _GPT_4O.replace(f"{_CONTRACTION}?", "").replace("{1,3}", "")
_DEEPSEEK: Final = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    (
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
)
# The same for ASCII: punctuation is what is neither white space, letter, digit nor control character.
_PLAIN: Final = re.compile(r"[\t-\r -~]*").fullmatch
_DEEPSEEK_DIGITS: Final = re.compile(r"[0-9]{1,3}|[^0-9]+").findall
_DEEPSEEK_WORDS: Final = re.compile(
    r"[^\sA-Za-z][A-Za-z]+|[\t\x0b\f ]?[A-Za-z]+| ?[^\sA-Za-z]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
).findall
# What is split by one after the other, before line ends, and before spaces.
_PATTERNS: Final = {(_LLAMA_3,), (_QWEN,), (_GPT_4O,), (_NEMO,), _DEEPSEEK}
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

# The forms of Unicode that a tokenizer may normalize to.
_Form = Literal["NFC", "NFKC"]
_FORMS: Final[dict[tuple[str, ...], _Form | None]] = {(): None, ("NFC",): "NFC", ("NFKC",): "NFKC"}


def boundary_of_bytes(
    tokenizer: Tokenizer,
    splitters: Sequence[dict[str, Any]],
    normalizers: Sequence[str],
    contents: Sequence[str],
    not_after: str,
) -> Boundary | None:
    """The boundaries of a byte-level tokenizer, if its parts are known.

    ``normalizers`` are the kinds of these, ``contents`` those of added tokens. No boundary is right
    after a character of ``not_after``.
    """
    *others, last = splitters
    patterns = tuple(_pattern_of(part, alone=len(others) == 1) for part in others)
    names = tuple(normalizers)
    if last["use_regex"]:
        known = {"Digits", "Punctuation"}.issuperset(part["type"] for part in others)
        patterns, spaces, ends = (*patterns, _GPT_2), " \t\r\n", ""
    else:
        known, spaces, ends = patterns in _PATTERNS, " ", "\r\n"
    # White space alone is after any boundary beside it.
    known = known and all(re.fullmatch(r"\S+|\s+", content) for content in contents)
    if names not in _FORMS or not known:
        return None
    form = _FORMS[names]
    before, letters = r"\S", _ALPHANUMERIC
    punctuation = {*PUNCTUATION}.difference(*contents)
    if form == "NFKC":
        # What becomes several characters may end with another kind of character.
        before, letters = map(_stable, (rf"(?!\s)[{KNOWN}]", letters))
        punctuation = {each for each in punctuation if is_normalized("NFKC", each)}
    ends = "".join(map(re.escape, (*ends, *sorted(punctuation))))
    boundary = rf"(?=[{spaces}])(?<={before})"
    if ends:
        boundary += f"|(?=[{ends}])(?<={letters})"
    prefixed = last["add_prefix_space"]
    if not_after:
        boundary = rf"(?:{boundary})(?<![{''.join(map(re.escape, not_after))}])"
    if len(patterns) == 1 and patterns[0] and (last["use_regex"] or not prefixed):
        inputs = _inputs(tokenizer, patterns[0], form, prefixed=prefixed)
    else:
        known_inputs = _of_deepseek if patterns == _DEEPSEEK and not prefixed else None
        inputs = inputs_of_words(tokenizer, known_inputs)
    return Boundary(re.compile(boundary).split, BEFORE, inputs)


def _of_deepseek(piece: str) -> Sequence[str] | None:
    """What DeepSeek's model is given of a piece of ASCII without control characters."""
    if not _PLAIN(piece):
        return None
    parts = (
        (part,) if part[0].isdigit() else _DEEPSEEK_WORDS(part) for part in _DEEPSEEK_DIGITS(piece)
    )
    return [each.translate(_BYTES) for part in parts for each in part]


def _pattern_of(part: dict[str, Any], *, alone: bool) -> str:
    """What a part splits by: it keeps what its pattern matches, and if it is not alone, what not."""
    if part["type"] != "Split":
        return ""
    keeps = (part["behavior"], part["invert"])
    known = keeps == ("Isolated", False) or (alone and keeps == ("Removed", True))
    pattern = str(part["pattern"].get("Regex", "")) if known else ""
    # DeepSeek has the line ends themselves.
    return pattern.replace("\r", r"\r").replace("\n", r"\n")


def _stable(characters: str) -> str:
    """The class of those that NFKC leaves as they are."""
    found = re.findall(characters, "".join(map(chr, range(0x10000))))
    stable = (re.escape(each) for each in found if is_normalized("NFKC", each))
    return f"[{''.join(stable)}]"


def _inputs(tokenizer: Tokenizer, pattern: str, form: _Form | None, *, prefixed: bool) -> Inputs:
    """What the model is given by a tokenizer that splits by one pattern, after it normalized.

    ``prefixed``: whether it puts a space before a text.
    """
    may_be_added = may_have_added(tokenizer)
    of_ascii, of_known = (_split_by(pattern, column) for column in (1, 2))
    is_known = re.compile(f"[{KNOWN}]*").fullmatch

    def inputs(piece: str) -> Sequence[str] | None:
        if may_be_added(piece):
            return None
        if piece.isascii():
            return [part.translate(_BYTES) for part in of_ascii(piece)]
        if not is_known(piece) or (form and not is_normalized(form, piece)):
            return None
        return [part.encode().decode("latin-1").translate(_BYTES) for part in of_known(piece)]

    return Inputs((lambda _: None) if prefixed else inputs, inputs)


def _split_by(pattern: str, column: int) -> Callable[[str], list[str]]:
    """What takes texts apart by the pattern, with the classes of that column."""
    for row in _CLASSES:
        pattern = pattern.replace(row[0], row[column])
    return re.compile(pattern).findall
