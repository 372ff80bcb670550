"""Parse blocks, and try only the rules that a line's first character allows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.parser_block import ParserBlock
from markdown_it.ruler import Ruler
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from markdown_it.utils import EnvType

from chunkast.markdown.dialects import DIALECTS
from chunkast.markdown.fast import container_rules, leaf_rules
from chunkast.markdown.fast.state import BlockState, Chains, Dispatch, Rule

__all__ = ("FastBlocks",)

# The first characters of the blocks of each stock rule. Rules that are missing here and in the
# dialects' rows may match any line, and are always tried.
_FIRST_CHARACTERS: Final[Mapping[str, str]] = {
    "blockquote": ">",
    "fence": "`~",
    "heading": "#",
    "hr": "*-_",
    "html_block": "<",
    "list": "*+-0123456789",
    "reference": "[",
}
_OWN_RULES: Final[Mapping[str, Rule]] = {
    "blockquote": container_rules.blockquote,
    "fence": leaf_rules.fence,
    "heading": leaf_rules.heading,
    "hr": leaf_rules.hr,
    "html_block": leaf_rules.html_block,
    "lheading": leaf_rules.lheading,
    "list": container_rules.list_block,
    "paragraph": leaf_rules.paragraph,
    "reference": leaf_rules.reference,
    "table": leaf_rules.table,
}
# The rules that ``list_block`` knows: none matches what it takes for an item of one paragraph.
_KNOWN_IN_ITEMS: Final = {*_FIRST_CHARACTERS, *_OWN_RULES, "answer", "deflist", "footnote_def"}
_CHAINS: Final = ("paragraph", "blockquote", "list", "reference")


class FastBlocks(ParserBlock):
    """markdown-it's block parser, with a faster search for the rule that matches a line.

    ``ruler`` must contain all rules, including ``code``. The rules in ``_OWN_RULES`` replace those
    with the same name.
    """

    def __init__(self, ruler: Ruler[Any]) -> None:
        self.ruler = ruler
        names = ruler.get_active_rules()
        stock = dict(zip(names, ruler.getRules(""), strict=True))
        chains = {
            chain: [name for name in names if stock[name] in ruler.getRules(chain)]
            for chain in _CHAINS
        }
        rules = {name: _OWN_RULES.get(name, stock[name]) for name in names}
        first = {name: chars for row in DIALECTS for name, chars in row.begins.items()}
        first.update(_FIRST_CHARACTERS)
        for name in rules.keys() & _OWN_RULES.keys():
            alternatives = [chain for chain in _CHAINS if name in chains[chain]]
            ruler.at(name, rules[name], {"alt": alternatives})
        self._code = rules.pop("code")

        def dispatch(names: Iterable[str], without: str = "") -> Dispatch:
            return _dispatch({name: rules[name] for name in names if name != without}, first)

        others = rules.keys() - _KNOWN_IN_ITEMS
        simple_items = all(name in first and not set("`*_[") & set(first[name]) for name in others)
        # For texts without tables, and for all others.
        self._chains = tuple(
            Chains(
                simple_items,
                dispatch(rules, without),
                *(dispatch(chains[chain], without) for chain in _CHAINS[:-1]),
            )
            for without in ("table", "")
        )

    def parse(
        self, src: str, md: MarkdownIt, env: EnvType, outTokens: list[Token]
    ) -> list[Token] | None:
        """Parse ``src`` into the tree in ``env``."""
        if src:
            state = BlockState(src, md, env, outTokens, self._chains)
            self.tokenize(state, 0, state.lineMax)
        return outTokens

    def tokenize(self, state: StateBlock, startLine: int, endLine: int) -> None:
        """Parse the lines ``[startLine, endLine)``, up to the end of their container."""
        assert isinstance(state, BlockState)
        src, rules_at, code = state.src, state.chains.starts, (self._code,)
        starts, ends, shifts, columns = state.bMarks, state.eMarks, state.tShift, state.sCount
        other = rules_at[""]
        # The container's indentation and nesting stay the same during the loop.
        indent = state.blkIndent
        too_deep = state.level >= state.max_nesting
        at_top = state.level == 0
        line = startLine
        while line < endLine:
            # Blank lines are skipped up to the end of the text.
            at = starts[line] + shifts[line]
            while at >= ends[line] and line < state.lineMax:
                line += 1
                at = starts[line] + shifts[line]
            state.line = line
            if line >= endLine or columns[line] < indent:
                break
            if too_deep:
                state.line = endLine
                break
            depth = columns[line] - indent
            for rule in code if depth >= 4 else rules_at.get(src[at], other):
                if rule(state, line, endLine, False):
                    break
            if state.line <= line:
                raise RuntimeError("a block rule matched no line")
            if at_top and state.tokens:
                state.tree.feed(state.tokens)
            line = state.line
            if line < endLine and starts[line] + shifts[line] >= ends[line]:
                line += 1
                state.line = line


def _dispatch(rules: Mapping[str, Rule], first: Mapping[str, str]) -> Dispatch:
    """Return the rules to try for each first character of a line; "" is any other character."""
    characters = {""}.union(*(first.get(name, "") for name in rules))
    return {
        character: tuple(
            rule
            for name, rule in rules.items()
            if name not in first or (character and character in first[name])
        )
        for character in characters
    }
