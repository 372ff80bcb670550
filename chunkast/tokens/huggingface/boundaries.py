r"""Boundaries at which Hugging Face tokenizers split any text, for ``tokens/words.py``.

A tokenizer finds its added tokens, normalizes the text between them, splits it into pre-tokens and
encodes each pre-token separately. A position between two characters is a boundary if, whatever
surrounds them, no added token contains both characters, the normalizer changes each side
independently of the other, and no pre-token contains characters from both sides. A tokenizer has
known boundaries if all its components are among these:

- *BERT's pre-tokenizer* drops white space and makes each punctuation mark a pre-token. BERT's
  normalizer does the same with ideographs.
- *Byte-level pre-tokenizers* split by patterns (``tokens/huggingface/byte_level.py``).
- *Pre-tokenizers that split at white space*: a sample shows whether they do. Normalizers before
  them may join runs of spaces, strip the end of a text, change letters, and compose letters with
  the marks after them. None of this affects a letter together with the white space after it, unless
  the letter is dropped or becomes white space; ``_missing`` finds such letters.
- *BPE without a pre-tokenizer* never joins characters that no token of its vocabulary joins
  (``tokens/huggingface/marked_bpe.py``).

There is no boundary at punctuation or ideographs that occur in added tokens.
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
# Excluded from the class of letters and digits outside ASCII: compatibility characters, and a
# character that forms one grapheme with the next character.
_NOT_PLAIN: Final = r"\W\u0d4e\uf900-\U0010ffff"
# Normalizers that change each character separately, or together with marks composed with it.
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
# The sequences of pre-tokenizers that ``tests/test_huggingface.py`` compares with the library.
_SPLITTERS: Final = frozenset(
    {
        ("BertPreTokenizer",),
        ("Metaspace",),
        ("Whitespace",),
        ("Whitespace", "Digits"),
        ("Whitespace", "Punctuation"),
        ("WhitespaceSplit",),
        ("WhitespaceSplit", "Digits"),
        ("WhitespaceSplit", "Metaspace"),
        ("WhitespaceSplit", "Punctuation"),
    }
)
# Normalizers that drop no character. After a dropped one, Metaspace may not see that a text begins.
_KEEPERS: Final = frozenset(("Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Prepend", "Replace"))


def boundary_of(tokenizer: Tokenizer) -> Boundary | None:
    """Return the boundaries of a tokenizer, or None if they are unknown."""
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
    marked = kinds == ["Metaspace"]
    local = all(_is_local(part, marked=marked, added=bool(added)) for part in normalizers)
    if tuple(kinds) not in _SPLITTERS or not local:
        return None
    found = _of_words(tokenizer, ends)
    first = splitters[-1].get("prepend_scheme") == "first" and not _KEEPERS.issuperset(names)
    if found is None or not first:
        return found
    # The tokenizer itself encodes the beginning of a text.
    return found._replace(inputs=found.inputs._replace(first=lambda _piece: None))


def _ends(
    added: Sequence[AddedToken], names: Sequence[str], splitters: Sequence[dict[str, Any]]
) -> str | None:
    """Return the last characters of added tokens after which the tokenizer adds a space or mark.

    The text after such a token is encoded like the start of a text, so the token's end is not a
    boundary. Returns "" if nothing is added, or None if a normalizer may turn other characters into
    an added token.
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
    """Return whether a pre-tokenizer never splits text, but marks a space after each added token."""
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
    """Yield the settings of a normalizer or pre-tokenizer, or of each component of a sequence."""
    if component is None:
        return
    try:
        settings = json.loads(component.__getstate__())
    except Exception:  # noqa: BLE001 - a component written in Python
        settings = {"type": ""}
    if settings["type"] == "Sequence":
        yield from settings["normalizers" if "normalizers" in settings else "pretokenizers"]
    else:
        yield settings


def _is_local(part: dict[str, Any], *, marked: bool, added: bool) -> bool:
    """Return whether a normalizer changes both sides of white space independently of each other.

    ``marked`` is true if only a Metaspace splits the text, so that marks also count as white space.
    ``added`` is true if the tokenizer has added tokens; the text after an added token is normalized
    like the start of a text.
    """
    if part["type"] == "Replace" and (
        part["content"] == " " or (marked and part["content"] == MARK)
    ):
        pattern = part["pattern"]
        return pattern.get("String") == " " or pattern.get("Regex") in _LOCAL_REPLACED
    if part["type"] == "Strip" and part["strip_left"] and added:
        return False
    return part["type"] in _LOCAL


def _missing(tokenizer: Tokenizer) -> list[str]:
    """Return the characters that the normalizer drops or turns into white space."""
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
    """Return whether the pre-tokenizer splits at ``space`` between letters."""
    normal = normalizer_of(tokenizer)(f"a{space}a")
    pieces = (
        piece.strip(MARK + _SPACES) for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normal)
    )
    return [*filter(None, pieces)] == ["a", "a"]
