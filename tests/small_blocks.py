"""Documents of as many small blocks as fit: what a chunker keeps for each block adds up.

``python -m tests.small_blocks BYTES [NAME ...]`` prints, for each, the bytes of Python objects
at the peak of chunking for each byte of text, as JSON. It is a program of its own because
what a process has allocated before changes what it measures.
"""

from __future__ import annotations

import gc
import json
import sys
import tracemalloc
from collections.abc import Sequence
from typing import Final

from chunkast import Chunker
from tests.hostile import Build, filled

__all__ = ("SMALL_BLOCKS", "main")

SMALL_BLOCKS: Final[dict[str, Build]] = {
    "headings-empty": filled("#\n"),
    "headings": filled("# a\n"),
    "headings-apart": filled("# a\n\nb\n\n"),
    "paragraphs": filled("a\n\n"),
    "lines": filled("a\n"),
    "blank-lines": filled("\n"),
    "items-empty": filled("-\n"),
    "items": filled("- a\n"),
    "quotes": filled("> a\n\n"),
    "all-kinds": filled("# a\n\nb\n\n- c\n- d\n\n> e\n\n```\nf\n```\n\n|g|\n|-|\n|h|\n\n---\n\n"),
}


def main(arguments: Sequence[str]) -> int:
    size, *names = arguments
    chunker = Chunker()
    chunker.chunk(SMALL_BLOCKS["all-kinds"](2_000))
    chunker.chunk("\n" * 20_000)  # builds the encoding of long white space once
    peaks: dict[str, float] = {}
    for name in names or SMALL_BLOCKS:
        text = SMALL_BLOCKS[name](int(size))
        gc.collect()
        tracemalloc.start()
        chunker.chunk(text)
        peaks[name] = tracemalloc.get_traced_memory()[1] / len(text.encode())
        tracemalloc.stop()
    print(json.dumps(peaks))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
