r"""Where Hugging Face tokenizers split any text: their boundaries for ``tokens/words.py``.

A tokenizer finds its added tokens, normalizes what is between them, splits that into pre-tokens and
encodes each by itself. A place between two characters is a boundary if, whatever stands around
them, no added token has both, what the normalizer makes of one side does not depend on the other,
and no pre-token has characters of both. Only such components are looked for of which that is known:

- *BERT's pre-tokenizer* gives white space no tokens, and takes punctuation one by one, as BERT's
  normalizer does ideographs.
- *The pattern of GPT-2* has no alternative with white space, or with punctuation but an apostrophe,
  after a letter or digit, and none with white space after anything else but white space. *Those of
  cl100k_base and o200k_base, and what others made of them,* have line ends after punctuation too:
  these are rules 2, 3 and 5 of ``tokens/index.py``.
- *Pre-tokenizers that split at white space* are asked whether they do. Normalizers before them
  may join runs of spaces, drop what ends a text, change letters, and compose them with marks that
  follow: none does anything to a letter and the white space after it, as long as it leaves of every
  letter something that is no white space, which it is asked for too.
- *BPE without a pre-tokenizer* never joins what no token of its vocabulary has: a space, which is
  ``▁`` there, after anything else.

Punctuation and ideographs that added tokens have inside them are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from chunkast.tokens.model_inputs import (
    IDEOGRAPHS,
    MARK,
    Inputs,
    inputs_of_bert,
    inputs_of_bytes,
    inputs_of_words,
)
from chunkast.tokens.pretokens import CLASSES

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ("Boundary", "boundary_of")

_SPACES: Final = " \t\r\n"
# A letter, which no boundary that is looked for here stands right before or is joined over.
_BEFORE: Final = "a"
_PUNCTUATION: Final = '!"#$%&()*+,-.:;<=>?@[\\]^`{|}~、。，！？；：（）「」『』《》'
_ALPHANUMERIC: Final = "0-9" + "".join(
    CLASSES[name] for name in (r"\p{Lu}", r"\p{Ll}", r"\p{Lo}\p{Lm}")
)
_VISIBLE: Final = "".join(map(chr, range(0x21, 0x7F)))
# The class of letters and digits outside ASCII has none of these: they stand for others, or are one
# grapheme with what follows.
_NOT_PLAIN: Final = r"\W\u0d4e\uf900-\U0010ffff"
# What is changed in these depends on each character, or on what is composed with it.
_LOCAL: Final = frozenset(
    [
        "BertNormalizer",
        "Lowercase",
        "NFC",
        "NFD",
        "NFKC",
        "NFKD",
        "Nmt",
        "Precompiled",
        "Prepend",
        "Strip",
        "StripAccents",
    ]
)
_LOCAL_REPLACED: Final = frozenset((r"[\n\r\t]", " {2,}", " +", r"\s+"))
_SPLITTERS: Final = frozenset(
    ("BertPreTokenizer", "Digits", "Metaspace", "Punctuation", "Whitespace", "WhitespaceSplit")
)
_CONTRACTION: Final = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_REST: Final = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_GPT_4O: Final = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    rf"{_CONTRACTION}?|[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+"
    rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{_CONTRACTION}?|\p{{N}}{{1,3}}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_GPT_2: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
# Patterns with the boundaries of cl100k_base and o200k_base.
_PATTERNS: Final = frozenset(
    (
        # Llama 3
        rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}{_REST}",
        # Qwen
        rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{_REST}",
        _GPT_4O,
    )
)


class Boundary(NamedTuple):
    """What takes a text apart at its boundaries, and a text that has one at its end.

    The latter is before any piece that begins at a boundary, which is not at the text's start.
    ``inputs``: what the model is given of pieces.
    """

    split: Callable[[str], list[str]]
    before: str
    inputs: Inputs


def boundary_of(tokenizer: Tokenizer) -> Boundary | None:
    """The boundaries of a tokenizer, if any are known."""
    added = [*tokenizer.get_added_tokens_decoder().values()]
    contents = "".join(token.content for token in added)
    if re.search(r"\s|▁", contents) or any(
        token.rstrip or token.single_word or token.content == _BEFORE for token in added
    ):
        return None
    normalizers = [*_parts(tokenizer.normalizer)]
    splitters = [*_parts(tokenizer.pre_tokenizer)]
    kinds = [part["type"] for part in splitters]
    names = [part["type"] for part in normalizers]
    punctuation = "".join(re.escape(each) for each in _PUNCTUATION if each not in contents)
    if names == ["BertNormalizer"] and kinds == ["BertPreTokenizer"]:
        if normalizers[0]["handle_chinese_chars"] and not re.search(f"[{IDEOGRAPHS}]", contents):
            punctuation += IDEOGRAPHS
        pieces = rf"[{_SPACES}]*(?:[{punctuation}]|[^{_SPACES}{punctuation}]+)|[{_SPACES}]+"
        inputs = inputs_of_bert(tokenizer, normalizers[0])
        return Boundary(re.compile(pieces).findall, "", inputs)
    if kinds and kinds[-1] == "ByteLevel" and names in ([], ["NFC"]):
        spaces, ends = _of_pattern(splitters)
        if not spaces:
            return None
        ends += punctuation
        boundary = rf"(?=[{spaces}])(?<=\S)|(?=[{ends}])(?<=[{_ALPHANUMERIC}])"
        return Boundary(re.compile(boundary).split, _BEFORE, _inputs_of_bytes(tokenizer, splitters))
    if not all(map(_is_local, normalizers)):
        return None
    if not kinds:
        spaces = " " if _joins_no_spaces(tokenizer) else ""
    elif _SPLITTERS.issuperset(kinds):
        spaces = "".join(space for space in _SPACES if _splits(tokenizer, space))
    else:
        spaces = ""
    if not spaces:
        return None
    # What follows an added token begins a text of its own, where a normalizer may put something.
    missing = {*_missing(tokenizer), *(token.content[-1] for token in added if "Prepend" in names)}
    visible = "".join(re.escape(each) for each in _VISIBLE if each not in missing)
    after = rf"(?<=[{visible}])|(?<=[^{_NOT_PLAIN}{''.join(map(re.escape, missing))}!-~])"
    split = re.compile(f"(?=[{spaces}])(?:{after})").split
    return Boundary(split, _BEFORE, inputs_of_words(tokenizer))


def _parts(component: Any) -> Iterator[dict[str, Any]]:
    """The settings of a normalizer or pre-tokenizer, those of a sequence one by one."""
    if component is None:
        return
    try:
        settings = json.loads(component.__getstate__())
    except Exception:  # noqa: BLE001 - it is written in Python
        settings = {"type": ""}
    if settings["type"] == "Sequence":
        yield from settings.get("normalizers") or settings["pretokenizers"]
    else:
        yield settings


def _of_pattern(splitters: list[dict[str, Any]]) -> tuple[str, str]:
    """Which white space a byte-level tokenizer splits before in any case, and which after letters."""
    *others, last = splitters
    if last["use_regex"]:
        local = all(part["type"] in {"Digits", "Punctuation"} for part in others)
        return (_SPACES, "") if local else ("", "")
    if len(others) != 1 or others[0]["type"] != "Split":
        return "", ""
    kept = others[0]["behavior"], others[0]["invert"]
    known = others[0]["pattern"].get("Regex") in _PATTERNS
    return (
        (" ", r"\r\n") if known and kept in {("Isolated", False), ("Removed", True)} else ("", "")
    )


def _inputs_of_bytes(tokenizer: Tokenizer, splitters: list[dict[str, Any]]) -> Inputs:
    *others, last = splitters
    prefixed = last["add_prefix_space"]
    if last["use_regex"] and not others:
        return inputs_of_bytes(tokenizer, _GPT_2, prefixed=prefixed)
    if last["use_regex"] or prefixed:
        return inputs_of_words(tokenizer)
    return inputs_of_bytes(tokenizer, others[0]["pattern"]["Regex"], prefixed=False)


def _is_local(part: dict[str, Any]) -> bool:
    if part["type"] == "Replace" and part["content"] in {" ", MARK}:
        pattern = part["pattern"]
        return pattern.get("String") == " " or pattern.get("Regex") in _LOCAL_REPLACED
    return part["type"] in _LOCAL


def _missing(tokenizer: Tokenizer) -> list[str]:
    """The characters of which the normalizer leaves nothing, or white space."""
    if tokenizer.normalizer is None:
        return []
    normalize = tokenizer.normalizer.normalize_str
    found = []
    parts = [re.findall(f"[!-~]|[^{_NOT_PLAIN}]", "".join(map(chr, range(0xF900))))]
    while parts:
        part = parts.pop()
        normal = normalize("".join(f"#{each}#" for each in part if each != "#")).lstrip(MARK)
        if "###" in normal or re.search(r"\s|▁", normal):
            half = len(part) // 2
            if half:
                parts += [part[:half], part[half:]]
            else:
                found += part
    return found


def _splits(tokenizer: Tokenizer, space: str) -> bool:
    """Whether the pre-tokenizer splits at a space that stands between letters."""
    text = f"a{space}a"
    normal = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
    pieces = (
        piece.strip(MARK + _SPACES) for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normal)
    )
    return [*filter(None, pieces)] == ["a", "a"]


def _joins_no_spaces(tokenizer: Tokenizer) -> bool:
    """Whether a model without pre-tokens is BPE whose tokens have spaces at their start alone."""
    from tokenizers import models

    model = tokenizer.model
    normalizer = tokenizer.normalizer
    return (
        isinstance(model, models.BPE)
        and normalizer is not None
        and normalizer.normalize_str("a a").lstrip(MARK) == f"a{MARK}a"
        and not (model.dropout or model.ignore_merges)
        and not (model.continuing_subword_prefix or model.end_of_word_suffix)
        and model.token_to_id(MARK) is not None
        and not any(re.search(f"[^{MARK}]{MARK}", token) for token in tokenizer.get_vocab(False))
    )
