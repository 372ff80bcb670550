r"""Boundaries and inputs of byte-level tokenizers: RoBERTa, Llama 3, Qwen, Claude, DeepSeek.

These tokenizers split text by patterns and pass the pre-tokens to their model, with each byte as a
character:

- *The pattern of GPT-2*: in no alternative does white space, or punctuation other than an
  apostrophe, follow a letter or digit, and white space only follows white space.
- *The patterns of cl100k_base and o200k_base, and their variants*, also have line ends after
  punctuation. Rules 2, 3 and 5 of ``tokens/index.py`` hold for them.
- *DeepSeek's three patterns* split at digits, then at ideographs and kana, then by a similar
  pattern in which punctuation may precede letters but never follows them.

The common patterns are written here for the characters that ``tokens/pretokens.py`` knows.
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
# DeepSeek's patterns for ASCII without control characters: the other characters are punctuation.
_PLAIN: Final = re.compile(r"[\t-\r -~]*").fullmatch
_DEEPSEEK_DIGITS: Final = re.compile(r"[0-9]{1,3}|[^0-9]+").findall
_DEEPSEEK_WORDS: Final = re.compile(
    r"[^\sA-Za-z][A-Za-z]+|[\t\x0b\f ]?[A-Za-z]+| ?[^\sA-Za-z]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
).findall
# The known sequences of patterns, each applied after the one before it.
_PATTERNS: Final = {(_LLAMA_3,), (_QWEN,), (_GPT_4O,), (_NEMO,), _DEEPSEEK}
# GPT-2's characters for bytes: printable bytes of Latin-1 are themselves, others follow after 255.
_PRINTED: Final = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_BYTES: Final = {
    byte: 0x100 + number for number, byte in enumerate(sorted({*range(0x100)} - _PRINTED))
}
# Unicode classes in a pattern, then their members in ASCII and among the known characters.
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

# The Unicode forms to which a tokenizer may normalize text.
_Form = Literal["NFC", "NFKC"]
_FORMS: Final[dict[tuple[str, ...], _Form | None]] = {(): None, ("NFC",): "NFC", ("NFKC",): "NFKC"}


def boundary_of_bytes(
    tokenizer: Tokenizer,
    splitters: Sequence[dict[str, Any]],
    normalizers: Sequence[str],
    contents: Sequence[str],
    not_after: str,
) -> Boundary | None:
    """Return the boundaries of a byte-level tokenizer, or None if a component of it is unknown.

    ``normalizers`` are the names of its normalizers; ``contents`` are the texts of its added
    tokens. A position directly after a character in ``not_after`` is not a boundary.
    """
    *others, last = splitters
    patterns = tuple(_pattern_of(part, alone=len(others) == 1) for part in others)
    names = tuple(normalizers)
    if last["use_regex"]:
        known = {"Digits", "Punctuation"}.issuperset(part["type"] for part in others)
        patterns, spaces, ends = (*patterns, _GPT_2), " \t\r\n", ""
    else:
        known, spaces, ends = patterns in _PATTERNS, " ", "\r\n"
    # An added token with white space beside other characters may contain a boundary.
    known = known and all(re.fullmatch(r"\S+|\s+", content) for content in contents)
    if names not in _FORMS or not known:
        return None
    form = _FORMS[names]
    before, letters = r"\S", _ALPHANUMERIC
    punctuation = {*PUNCTUATION}.difference(*contents)
    if form == "NFKC":
        # A character that becomes several may end with one of another class.
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
    """Return the inputs of DeepSeek's model for a piece of text, or None.

    Inputs are only known for ASCII text without control characters.
    """
    if not _PLAIN(piece):
        return None
    parts = (
        (part,) if part[0].isdigit() else _DEEPSEEK_WORDS(part) for part in _DEEPSEEK_DIGITS(piece)
    )
    return [each.translate(_BYTES) for part in parts for each in part]


def _pattern_of(part: dict[str, Any], *, alone: bool) -> str:
    """Return the pattern of a ``Split`` pre-tokenizer, or "" if it cannot be used.

    A ``Split`` that discards unmatched text can only be used if it is the only one (``alone``).
    """
    if part["type"] != "Split":
        return ""
    keeps = (part["behavior"], part["invert"])
    known = keeps == ("Isolated", False) or (alone and keeps == ("Removed", True))
    pattern = str(part["pattern"].get("Regex", "")) if known else ""
    # DeepSeek's patterns contain real line ends.
    return pattern.replace("\r", r"\r").replace("\n", r"\n")


def _stable(characters: str) -> str:
    """Return a character class of the ``characters`` that NFKC does not change."""
    found = re.findall(characters, "".join(map(chr, range(0x10000))))
    stable = (re.escape(each) for each in found if is_normalized("NFKC", each))
    return f"[{''.join(stable)}]"


def _inputs(tokenizer: Tokenizer, pattern: str, form: _Form | None, *, prefixed: bool) -> Inputs:
    """Return the ``Inputs`` of a tokenizer that normalizes text and splits it by one pattern.

    ``prefixed`` is true if the tokenizer puts a space before a text.
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
    """Return a function that splits by the pattern, using the given column of ``_CLASSES``."""
    for row in _CLASSES:
        pattern = pattern.replace(row[0], row[column])
    return re.compile(pattern).findall
