r"""Where Hugging Face tokenizers split any text: their boundaries for ``tokens/words.py``.

A tokenizer finds its added tokens, normalizes what is between them, splits that into pre-tokens and
encodes each by itself. A place between two characters is a boundary if, whatever stands around
them, no added token has both, what the normalizer makes of one side does not depend on the other,
and no pre-token has characters of both. Only such components are looked for of which that is known:

- *BERT's pre-tokenizer* gives white space no tokens, and takes punctuation one by one, as BERT's
  normalizer does ideographs.
- *Byte-level pre-tokenizers* split by patterns (``tokens/huggingface/byte_level.py``).
- *Pre-tokenizers that split at white space* are asked whether they do. Normalizers before them
  may join runs of spaces, drop what ends a text, change letters, and compose them with marks that
  follow: none does anything to a letter and the white space after it, as long as it leaves of every
  letter something that is not white space, which it is asked for too.
- *BPE without a pre-tokenizer* never joins what no token of its vocabulary has
  (``tokens/huggingface/marked_bpe.py``).

Punctuation and ideographs that added tokens have inside them are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from chunkast.tokens.huggingface.byte_level import boundary_of_bytes
from chunkast.tokens.huggingface.inputs import (
    BEFORE,
    IDEOGRAPHS,
    MARK,
    PUNCTUATION,
    VISIBLE,
    Boundary,
    inputs_of_bert,
    inputs_of_words,
    normalizer_of,
)
from chunkast.tokens.huggingface.marked_bpe import boundary_of_marked, is_no_splitter

if TYPE_CHECKING:
    from tokenizers import AddedToken, Tokenizer

__all__ = ("boundary_of",)

_SPACES: Final = " \t\r\n"
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


def boundary_of(tokenizer: Tokenizer) -> Boundary | None:
    """The boundaries of a tokenizer, if any are known."""
    added = [*tokenizer.get_added_tokens_decoder().values()]
    if any(token.rstrip or token.single_word or token.content == BEFORE for token in added):
        return None
    contents = [token.content for token in added]
    normalizers = [*_parts(tokenizer.normalizer)]
    splitters = [*_parts(tokenizer.pre_tokenizer)]
    names = [part["type"] for part in normalizers]
    kinds = [part["type"] for part in splitters]
    ends = _ends(added, names, splitters)
    if ends is None:
        return None
    if kinds and kinds[-1] == "ByteLevel":
        return boundary_of_bytes(tokenizer, splitters, names, contents, ends)
    if all(map(is_no_splitter, splitters)):
        return boundary_of_marked(tokenizer, normalizers, splitters, added, ends)
    if re.search(r"\s|▁", "".join(contents)):
        return None
    if names == ["BertNormalizer"] and kinds == ["BertPreTokenizer"]:
        return _of_bert(tokenizer, normalizers[0], contents)
    known = _SPLITTERS.issuperset(kinds) and all(map(_is_local, normalizers))
    return _of_words(tokenizer, ends) if known else None


def _ends(
    added: Sequence[AddedToken], names: Sequence[str], splitters: Sequence[dict[str, Any]]
) -> str | None:
    """The characters that added tokens end with, if something is put before what follows one.

    That begins a text of its own, so that no boundary is there. None if a normalizer may make such a
    token of others.
    """
    kinds = [part["type"] for part in splitters]
    spaced = any(part["type"] == "ByteLevel" and part["add_prefix_space"] for part in splitters)
    marked = "Metaspace" in kinds and kinds[-1] != "Metaspace"
    marked = marked or "Prepend" in names or any(map(_marks_each, splitters))
    if not spaced and not marked:
        return ""
    if any(token.normalized for token in added) and not {"Prepend", "Replace"}.issuperset(names):
        return None
    return "".join({token.content[-1] for token in added})


def _marks_each(part: dict[str, Any]) -> bool:
    """Whether a pre-tokenizer puts a mark before what follows an added token, as it splits at no space."""
    return part["type"] == "Metaspace" and not part["split"] and part["prepend_scheme"] == "always"


def _of_bert(tokenizer: Tokenizer, settings: dict[str, Any], contents: Sequence[str]) -> Boundary:
    known = "".join(contents)
    single = "".join(re.escape(each) for each in PUNCTUATION if each not in known)
    if settings["handle_chinese_chars"] and not re.search(f"[{IDEOGRAPHS}]", known):
        single += IDEOGRAPHS
    pieces = rf"[{_SPACES}]*(?:[{single}]|[^{_SPACES}{single}]+)|[{_SPACES}]+"
    return Boundary(re.compile(pieces).findall, "", inputs_of_bert(tokenizer, settings))


def _of_words(tokenizer: Tokenizer, ends: str) -> Boundary | None:
    spaces = "".join(space for space in _SPACES if _splits(tokenizer, space))
    if not spaces:
        return None
    missing = {*_missing(tokenizer), *ends}
    visible = "".join(re.escape(each) for each in VISIBLE if each not in missing)
    after = rf"(?<=[{visible}])|(?<=[^{_NOT_PLAIN}{''.join(map(re.escape, missing))}!-~])"
    split = re.compile(f"(?=[{spaces}])(?:{after})").split
    return Boundary(split, BEFORE, inputs_of_words(tokenizer))


def _parts(component: Any) -> Iterator[dict[str, Any]]:
    """The settings of a normalizer or pre-tokenizer, those of a sequence one by one."""
    if component is None:
        return
    try:
        settings = json.loads(component.__getstate__())
    except Exception:  # noqa: BLE001 - it is written in Python
        settings = {"type": ""}
    if settings["type"] == "Sequence":
        yield from settings["normalizers" if "normalizers" in settings else "pretokenizers"]
    else:
        yield settings


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
    normal = normalizer_of(tokenizer)(f"a{space}a")
    pieces = (
        piece.strip(MARK + _SPACES) for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normal)
    )
    return [*filter(None, pieces)] == ["a", "a"]
