"""The state of a block parse: the table of lines, made in bulk, and the tokens."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from itertools import accumulate, count, islice, repeat
from operator import add, sub
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.common.utils import MD_TRIM_CHARS
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from markdown_it.utils import EnvType

from chunkast.markdown.fast import DRAIN, TREE
from chunkast.markdown.tree import NO_DETAILS, TreeBuilder
from chunkast.text.source_map import make_array

__all__ = (
    "TRIMMED",
    "BlockState",
    "Chains",
    "Dispatch",
    "Rule",
    "closing_token",
    "new_token",
)

# What markdown-it strips from text: its own notion of white space, not Python's.
TRIMMED: Final = MD_TRIM_CHARS
# A line that may be a table's delimiter row, whatever quotes it stands in.
_DELIMITER_ROW = re.compile(r"\n[ \t>]*[|:-][|:\- \t]*(?=\n|\Z)")
# Equal to an empty dictionary, shared by all tokens without attributes: two dictionaries
# for each would be a third of the memory that a parse takes.
_NOTHING: Final[Any] = MappingProxyType({})
# How many tokens are passed on together where only the tree is built from them.
_TOKENS_PER_BATCH: Final = 256
_bare_token = Token.__new__


def new_token(  # noqa: PLR0917 - by position is fastest
    kind: str,
    tag: str,
    nesting: Literal[-1, 0, 1],
    level: int,
    lines: list[int] | None = None,
    content: str = "",
    markup: str = "",
    children: list[Token] | None = None,
) -> Token:
    """A block token; its constructor, a dataclass's, would take twice the time."""
    token = _bare_token(Token)
    token.type = kind
    token.tag = tag
    token.nesting = nesting
    token.attrs = _NOTHING
    token.map = lines
    token.level = level
    token.children = children
    token.content = content
    token.markup = markup
    token.info = ""
    token.meta = _NOTHING
    token.block = True
    token.hidden = False
    return token


@lru_cache(maxsize=4096)
def closing_token(kind: str, tag: str, level: int, markup: str = "", hidden: bool = False) -> Token:
    """The token after the blocks inside of another one.

    Closing tokens have no content and are a third of all tokens: nobody changes them, so
    that equal ones are the same object.
    """
    token = new_token(kind, tag, -1, level, None, "", markup)
    token.hidden = hidden
    return token


class BlockState(StateBlock):
    """markdown-it's state, with the same line table and the same tokens.

    A line is described by where it begins and ends (``bMarks``, ``eMarks``), how many
    characters of white space it begins with (``tShift``) and how many columns these are
    (``sCount``). Quotes and lists change the entries of their lines while they are open.
    """

    def __init__(
        self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token], chains: Chains
    ) -> None:
        # Not StateBlock's constructor, which would measure the lines once more.
        self.src = src
        self.md = md
        self.env = env
        self.drain: Callable[[list[Token]], None] | None = env.get(DRAIN)
        self.tokens = tokens
        self.blkIndent = 0
        self.line = 0
        self.tight = False
        self.ddIndent = -1
        self.listIndent = -1
        self.parentType = "root"
        self.level = 0
        self.result = ""
        self._code_enabled = True
        self.max_nesting = md.options.maxNesting
        self.alerts = bool(md.options.get("alerts", False))
        self.tasklists = bool(md.options.get("tasklists", False))
        self.has_tabs = "\t" in src
        # How many quotes are open: only they move the beginnings of lines ahead.
        self.quotes = 0
        self.tree: TreeBuilder | None = env.get(TREE)
        self.most_tokens = 0 if self.tree is not None else _TOKENS_PER_BATCH
        self._measure_lines()
        self.delimiter_rows = self._delimiter_rows() if chains.tables else frozenset[int]()
        tables = bool(self.delimiter_rows)
        self.starts = chains.starts[tables]
        self.ends_paragraph = chains.ends_paragraph[tables]
        self.ends_quote = chains.ends_quote
        self.ends_item = chains.ends_item

    def _measure_lines(self) -> None:
        src = self.src
        lines = src.split("\n")
        # After the last line end there is no line, were it only white space.
        if not lines[-1].strip(" \t"):
            lines.pop()
        size = len(lines)
        self.lineMax = size
        # StateBlock declares lists; only their entries are read and set.
        keep: Any = partial(make_array, size=len(src))
        tree = self.tree
        if tree is not None and tree.text is src:
            # Nothing was replaced in the text, so that its lines are those of the source.
            self.bMarks = keep(islice(tree.starts, size))
        else:
            # Line ends take a character each.
            ends_before = map(add, accumulate(map(len, lines), initial=0), count())
            self.bMarks = keep(islice(ends_before, size))
        self.eMarks = keep(map(add, self.bMarks, map(len, lines)))
        unindented = map(len, map(str.lstrip, lines, repeat(" \t")))
        self.tShift = keep(map(sub, map(len, lines), unindented))
        self.sCount = self.tShift[:]
        if self.has_tabs:
            for number, shift in enumerate(self.tShift):
                if shift and "\t" in lines[number][:shift]:
                    self.sCount[number] = len(lines[number][:shift].expandtabs(4))
        # One more entry saves the rules a check of bounds.
        self.bMarks.append(len(src))
        self.eMarks.append(len(src))
        self.tShift.append(0)
        self.sCount.append(0)
        self.bsCount = keep(repeat(0, len(self.bMarks)))

    def _delimiter_rows(self) -> frozenset[int]:
        """The lines that may be the second of a table."""
        if "|" not in self.src:
            return frozenset()
        return frozenset(
            bisect_left(self.bMarks, match.start() + 1)
            for match in _DELIMITER_ROW.finditer(self.src)
        )

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        """A new token at the end of the stream; the same as the stock method's."""
        if nesting < 0:
            self.level -= 1
        token = new_token(ttype, tag, nesting, self.level)
        # The rules of plugins may fill them.
        token.attrs, token.meta = {}, {}
        if nesting > 0:
            self.level += 1
        self.tokens.append(token)
        return token

    def push_paragraph(self, first: int, end: int) -> None:
        """The three tokens of a paragraph over the lines ``[first, end)``."""
        tree = self.tree
        if tree is not None:
            details = (0, self.text_of(first, end), "", True) if self.level else NO_DETAILS
            self.build(tree.leaf, "paragraph", first, end, details)
        else:
            text = self.text_of(first, end)
            self._push_text("paragraph", "p", "", (first, end, end), text)

    def push_heading(self, depth: int, markup: str, lines: tuple[int, int, int], text: str) -> None:
        """The three tokens of a heading.

        ``lines`` are its first line, the line after its text and the line after it.
        """
        if self.tree is not None:
            self.build(self.tree.leaf, "heading", lines[0], lines[2], (depth, text, "", True))
        else:
            self._push_text("heading", f"h{depth}", markup, lines, text)

    def build(self, step: Callable[..., None], *given: object) -> None:
        """Call a method of the tree instead of making tokens, once earlier tokens are in the tree.

        The call waits among the tokens: a plugin's rule may set the lines of its opening token
        only after the blocks inside.
        """
        if self.tokens:
            self.tokens.append((step, given))  # type: ignore[arg-type]
        else:
            step(*given)

    def _push_text(
        self, kind: str, tag: str, markup: str, lines: tuple[int, int, int], text: str
    ) -> None:
        first, text_end, end = lines
        level = self.level
        self.tokens += (
            new_token(f"{kind}_open", tag, 1, level, [first, end], "", markup),
            new_token("inline", "", 0, level + 1, [first, text_end], text, "", []),
            closing_token(f"{kind}_close", tag, level, markup),
        )

    def give_out(self) -> None:
        """Pass on the tokens, which are those of whole top-level blocks, if there is a receiver."""
        if len(self.tokens) > self.most_tokens and self.drain is not None:
            self.drain(self.tokens)

    def isEmpty(self, line: int) -> bool:
        """Whether nothing but white space is left of ``line``."""
        return self.bMarks[line] + self.tShift[line] >= self.eMarks[line]

    def first_character(self, line: int) -> str:
        """The first character of ``line`` that is not white space; "" at the text's end."""
        at = self.bMarks[line] + self.tShift[line]
        return self.src[at : at + 1]

    def text_of(self, first: int, end: int) -> str:
        """The lines ``[first, end)`` of a paragraph without white space around them."""
        start = self.bMarks[first] + self.tShift[first]
        if end == first + 1 or (not self.quotes and not self.blkIndent):
            return self.src[start : self.eMarks[end - 1]].strip(TRIMMED)
        more = self.getLines(first + 1, end, self.blkIndent, keepLastLF=False)
        return f"{self.src[start : self.eMarks[first]]}\n{more}".strip(TRIMMED)

    def getLines(self, begin: int, end: int, indent: int, keepLastLF: bool) -> str:
        """The lines ``[begin, end)`` less ``indent`` columns of white space each."""
        if begin >= end:
            return ""
        src, starts, ends, shifts = self.src, self.bMarks, self.eMarks, self.tShift
        last = ends[end - 1] + keepLastLF
        if not indent and not self.quotes:
            return src[starts[begin] : last]
        parts = []
        for line in range(begin, end):
            start = starts[line]
            cut = start + min(shifts[line], indent)
            if self.has_tabs and src.find("\t", start, cut) >= 0:
                return super().getLines(begin, end, indent, keepLastLF)
            parts.append(src[cut : ends[line]])
        text = "\n".join(parts)
        return text + "\n" if keepLastLF and last <= len(src) else text


Rule: TypeAlias = Callable[[BlockState, int, int, bool], bool]
# The rules that may match, in order, by a line's first character; "" is for any other.
Dispatch: TypeAlias = Mapping[str, tuple[Rule, ...]]


class Chains:
    """The rules of a parser by purpose.

    ``starts`` and ``ends_paragraph`` exist without the rule for tables and with it: most
    texts have no line that could be a table's second.
    """

    __slots__ = ("ends_item", "ends_paragraph", "ends_quote", "starts", "tables")

    def __init__(
        self,
        *,
        tables: bool,
        starts: tuple[Dispatch, Dispatch],
        ends_paragraph: tuple[Dispatch, Dispatch],
        ends_quote: Dispatch,
        ends_item: Dispatch,
    ) -> None:
        self.tables = tables
        self.starts = starts
        self.ends_paragraph = ends_paragraph
        self.ends_quote = ends_quote
        self.ends_item = ends_item
