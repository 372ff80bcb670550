"""Where chunkast's time goes: the stages of its default configuration, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from time import process_time

from chunkast import ChunkConfig, Chunker
from chunkast.markdown import parse_document
from chunkast.tokens import TokenIndex, resolve_counter

__all__ = ("STAGES", "measure_stages")

STAGES = ("parse", "analyze", "token index", "rest")


def measure_stages(texts: Sequence[str], budget: int, encoding: str) -> list[float]:
    """The seconds of each stage over all texts: each less what it holds of the one before."""
    config = ChunkConfig(max_tokens=budget, encoding=encoding)
    chunker = Chunker(config)
    counter = resolve_counter(encoding)
    seconds = [0.0] * len(STAGES)
    for text in texts:
        times = [process_time()]
        parse_document(text, config.extensions)
        times.append(process_time())
        analysis = chunker.analyze(text)
        times.append(process_time())
        leaves = [leaf.start for leaf in analysis.blocks.leaves() if leaf.kind != "blank"]
        TokenIndex(text, counter, leaves)
        times.append(process_time())
        chunker.chunk(analysis)
        times.append(process_time())
        parse, analyze, index, chunk = (after - before for before, after in pairwise(times))
        for stage, spent in enumerate((parse, analyze - parse, index, chunk - index)):
            seconds[stage] += spent
    return seconds
