r"""Count the tokens of BERT's tokenizer word by word, which is faster than encoding the text.

MiniLM, BGE, E5, GTE and many other embedding models use this tokenizer. It finds its added tokens,
such as ``[MASK]``, drops white space, makes each punctuation mark and ideograph a pre-token, and
encodes each pre-token separately. The tokens of a word depend only on the word, unless it is part
of an added token. So words are not separated here at punctuation in added tokens.

Most words consist of ASCII characters and ideographs. The tokenizer's normalizer changes only their
case, so the tokenizer's model encodes them directly. The tokenizer itself encodes all other words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from chunkast.tokens.pretokens import PretokenCounter
from chunkast.tokens.safe import PUNCTUATION, safe_positions

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ("by_words",)

_SPACES: Final = r" \t\r\n"
_IDEOGRAPHS: Final = "\u4e00-\u9fff"
_PARTS: Final = re.compile("[A-Za-z0-9]+|[^A-Za-z0-9]")


def by_words(tokenizer: Tokenizer, count: Callable[[str], int]) -> PretokenCounter | None:
    """Return a counter for ``tokenizer``, or None if it is not BERT's tokenizer.

    ``count`` counts the tokens in a text with the tokenizer itself.
    """
    from tokenizers import normalizers, pre_tokenizers

    normalizer = tokenizer.normalizer
    added = [*tokenizer.get_added_tokens_decoder().values()]
    contents = "".join(token.content for token in added)
    if (
        not isinstance(normalizer, normalizers.BertNormalizer)
        or not isinstance(tokenizer.pre_tokenizer, pre_tokenizers.BertPreTokenizer)
        or any(token.normalized or token.single_word for token in added)
        or re.search(r"\s", contents)
    ):
        return None
    splits = normalizer.handle_chinese_chars and not re.search(f"[{_IDEOGRAPHS}]", contents)
    ideographs = _IDEOGRAPHS if splits else ""
    punctuation = "".join(mark for mark in PUNCTUATION if mark not in contents)
    single = "".join(map(re.escape, punctuation)) + ideographs
    words = rf"[{_SPACES}]*(?:[{single}]|[^{_SPACES}{single}]+)|[{_SPACES}]+"
    may_have_added = re.compile("|".join(re.escape(token.content) for token in added) or "(?!)")
    known = re.compile(rf"[{_SPACES}]*([!-~{ideographs}]*)")
    tokenize, lowercase = tokenizer.model.tokenize, normalizer.lowercase

    def count_word(word: str) -> int:
        match = known.fullmatch(word)
        if match is None or may_have_added.search(word):
            return count(word)
        text = match[1].lower() if lowercase else match[1]
        return sum(map(len, map(tokenize, _PARTS.findall(text))))

    safe = safe_positions(punctuation, digits=False)
    return PretokenCounter(words, words, safe, count_word)
