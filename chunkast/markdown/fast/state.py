"""Keep the state of a block parse: the table of lines, measured in bulk, and the tree."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, count, islice, repeat
from operator import add, sub
from typing import Any, Final, NamedTuple, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.common.utils import MD_TRIM_CHARS
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from markdown_it.utils import EnvType

from chunkast.markdown.fast import TREE
from chunkast.markdown.lines import SHIFTED
from chunkast.markdown.tree import CALL, TreeBuilder
from chunkast.text.source_map import make_array

__all__ = ("TRIMMED", "BlockState", "Chains", "Dispatch", "Rule")

# The characters that markdown-it strips from text, other than Python's.
TRIMMED: Final = MD_TRIM_CHARS
# A line that may be a table's delimiter row, inside any quotes.
_DELIMITER_ROW = re.compile(r"\n[ \t>]*[|:-][|:\- \t]*(?=\n|\Z)")
# The lines that may be read after the ends of quotes, per line of the text.
_LINES_AHEAD: Final = 8


class BlockState(StateBlock):
    """markdown-it's block state with the same line table, and the tree that the rules build.

    A line is described by its start and end (``bMarks``, ``eMarks``), the number of white-space
    characters that it begins with (``tShift``) and the columns that they span (``sCount``). Quotes
    and lists change the entries of their lines while they are open. ``tokens`` has only the tokens
    that plugins add.
    """

    def __init__(
        self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token], chains: Sequence[Chains]
    ) -> None:
        # An empty text, since StateBlock's own constructor would measure the lines once more.
        super().__init__("", md, env, tokens)
        self.src = src
        self.tree: TreeBuilder = env[TREE]
        # The first line of the text that was read last, the limit, and the line after the text.
        self.text_read = -1, -1, -1
        self.max_nesting = md.options.maxNesting
        self.alerts = bool(md.options.get("alerts", False))
        self.tasklists = bool(md.options.get("tasklists", False))
        self.has_tabs = "\t" in src
        # The number of open quotes; only quotes, and rules that set SHIFTED, change ``bMarks``.
        self.quotes = 0
        self._measure_lines()
        # The lines that may still be read after the end of a quote, to find what continues it.
        self.lines_ahead = _LINES_AHEAD * self.lineMax
        self.delimiter_rows = self._delimiter_rows()
        self.chains = chains[bool(self.delimiter_rows)]

    def _measure_lines(self) -> None:
        src = self.src
        lines = src.split("\n")
        # White space after the last line ending is not a line.
        if not lines[-1].strip(" \t"):
            lines.pop()
        size = len(lines)
        self.lineMax = size
        # StateBlock declares lists; only their entries are read and set.
        keep: Any = partial(make_array, size=len(src), count=size)
        if self.tree.text is src:
            self.bMarks = keep(islice(self.tree.starts, size))
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
        # One more entry saves the rules a check of the bounds.
        self.bMarks.append(len(src))
        self.eMarks.append(len(src))
        self.tShift.append(0)
        self.sCount.append(0)
        self.bsCount = keep(repeat(0, len(self.bMarks)))

    def _delimiter_rows(self) -> frozenset[int]:
        """Return the numbers of the lines that may be a table's second line."""
        if "|" not in self.src:
            return frozenset()
        return frozenset(
            bisect_left(self.bMarks, match.start() + 1)
            for match in _DELIMITER_ROW.finditer(self.src)
        )

    def build(self, step: Callable[..., None], *arguments: object) -> None:
        """Call a method of the tree once all earlier tokens of plugins are in the tree.

        Until then, the call waits in ``tokens``: a plugin may set the lines of its opening token
        only after the blocks inside are parsed.
        """
        if self.tokens:
            self.tokens.append(Token(CALL, "", 0, meta={"call": (step, arguments)}))
        else:
            step(*arguments)

    def open(self, kind: str, first: int, info: str = "") -> list[int]:
        """Begin a container at line ``first``, and return its lines, which ``close`` requires."""
        lines = [first, 0]
        self.build(self.tree.open, kind, lines, info)
        self.level += 1
        return lines

    def close(self, kind: str, lines: list[int]) -> None:
        """Close the innermost container before the current line."""
        self.level -= 1
        lines[1] = self.line
        self.build(self.tree.close, kind)

    def first_character(self, line: int) -> str:
        """Return the first non-blank character of ``line``, or "" at the end of the text."""
        at = self.bMarks[line] + self.tShift[line]
        return self.src[at : at + 1]

    def is_interrupted(self, line: int, end: int) -> bool:
        """Return whether a block that interrupts a quote or a table begins at ``line``."""
        rules = self.chains.ends_quote.get(self.first_character(line), self.chains.ends_quote[""])
        return any(rule(self, line, end, True) for rule in rules)

    def text_of(self, first: int, end: int) -> str:
        """Return a paragraph's lines ``[first, end)`` without surrounding white space."""
        start = self.bMarks[first] + self.tShift[first]
        unmoved = not self.quotes and not self.blkIndent and SHIFTED not in self.env
        if unmoved or end == first + 1:
            return self.src[start : self.eMarks[end - 1]].strip(TRIMMED)
        more = self.getLines(first + 1, end, self.blkIndent, keepLastLF=False)
        return f"{self.src[start : self.eMarks[first]]}\n{more}".strip(TRIMMED)


Rule: TypeAlias = Callable[[BlockState, int, int, bool], bool]
# The rules to try, in order, by a line's first character; "" is for any other.
Dispatch: TypeAlias = Mapping[str, tuple[Rule, ...]]


class Chains(NamedTuple):
    """The rules of a parser, grouped by purpose.

    ``simple_items`` is true if only known rules can match the text of most list items.
    """

    simple_items: bool
    starts: Dispatch
    ends_paragraph: Dispatch
    ends_quote: Dispatch
    ends_item: Dispatch
