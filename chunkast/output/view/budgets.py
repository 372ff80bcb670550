"""A document chunked at several budgets, for display."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from chunkast.chunker import Chunker
from chunkast.config import ChunkConfig
from chunkast.model import Analysis, Chunk
from chunkast.output.view.cuts import Cut, find_cuts

__all__ = ("BudgetView", "View", "view_of")

# The other budgets, as multiples of the configured one.
_MULTIPLES: Final = tuple(map(Fraction, ("1/4", "1/2", "3/4", "3/2", "2")))


@dataclass(frozen=True, slots=True)
class BudgetView:
    """The chunks and cuts at one budget.

    max_tokens: the budget, in tokens.
    chunks: the chunks, in order.
    cuts: the cut before each chunk except the first; see :func:`find_cuts`.
    """

    max_tokens: int
    chunks: Sequence[Chunk]
    cuts: Sequence[Cut]


@dataclass(frozen=True, slots=True)
class View:
    """A document and its chunks at several budgets, in ascending order.

    name: the document's name, which is the title of the page.
    config: the configuration, with the budget that is shown first.
    analysis: the document's analysis.
    encoding: the name of the encoding that counts the tokens.
    token_count: the number of tokens in the whole text.
    budgets: the chunks at each budget.
    """

    name: str
    config: ChunkConfig
    analysis: Analysis
    encoding: str
    token_count: int
    budgets: tuple[BudgetView, ...]

    @property
    def shown(self) -> int:
        """The index of the configured budget in ``budgets``."""
        return [budget.max_tokens for budget in self.budgets].index(_size(self.config))


def view_of(
    text: str, config: ChunkConfig, budgets: Iterable[int] | None = None, name: str = ""
) -> View:
    """Return a view of ``text``, chunked at the configured budget and at other budgets.

    text: the document.
    config: the configuration; its budget is shown first.
    budgets: the other budgets, in tokens; by default fractions and multiples of the configured one.
    name: the document's name, whose file extension determines the format of the text.

    Raises ``ConfigError`` for a budget that the configuration does not allow.
    """
    chunker = Chunker(config)
    config = chunker.config
    around = _around(config) if budgets is None else budgets
    sizes = sorted({_size(config), *around})
    # Every budget is checked before the work begins.
    chunkers = [Chunker(replace(config, max_tokens=size)) for size in sizes]
    analysis = chunker.analyze(text, name or None)
    views = []
    for size, sized in zip(sizes, chunkers, strict=True):
        chunks = sized.chunk(analysis, name or None)
        views.append(BudgetView(size, chunks, find_cuts(analysis, chunks)))
    count = chunker.counter.count(text)
    return View(name, config, analysis, chunker.counter.name, count, tuple(views))


def _size(config: ChunkConfig) -> int:
    """Return ``max_tokens`` as a number; ``config`` must be the configuration of a chunker."""
    return config.budget + config.reserve_tokens


def _around(config: ChunkConfig) -> list[int]:
    # An overlap in tokens has to be smaller than the budget.
    least = config.reserve_tokens + (config.overlap if isinstance(config.overlap, int) else 0) + 1
    sizes = (int(_size(config) * factor) for factor in _MULTIPLES)
    return [size for size in sizes if size >= least]
