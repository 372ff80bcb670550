"""One side of `tests.bench.against`: chunk documents with the chunkast on the path.

Prints the folder of the imported package, then the answer. Uses only what every version of
chunkast has, so that one worker serves both sides.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import warnings
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import chunkast
from chunkast import Chunker


def chunks(path: str, options: str) -> list[list[Any]]:
    """Return the start, the end and a digest of the text to embed of every document's chunks."""
    chunker = Chunker(**json.loads(options))
    return [
        [
            (chunk.start_index, chunk.end_index, _digest(chunk.embed_text))
            for chunk in chunker.chunk(text, source)
        ]
        for source, text in _load(path)
    ]


def once(path: str, *budgets: str) -> None:
    """Chunk texts once with each budget, after other texts with small ones, so that all is loaded.

    The file has two lists: the other texts, then the texts. A budget of 0 chunks nothing. The process
    ends without freeing what it holds, which would count as well.
    """
    warm, texts = json.loads(Path(path).read_text("utf-8"))
    for max_tokens in (300, 60):
        chunker = Chunker(max_tokens=max_tokens)
        for text in warm:
            chunker.chunk(text)
    # Collections of what was loaded would depend on when the last one was.
    gc.collect()
    gc.freeze()
    for budget in map(int, budgets):
        chunker = Chunker(max_tokens=budget or 300)
        for text in texts if budget else ():
            chunker.chunk(text)
    sys.stdout.flush()
    os._exit(0)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _load(path: str) -> list[tuple[str, str]]:
    return [tuple(pair) for pair in json.loads(Path(path).read_text("utf-8"))]


def main(job: str, *arguments: str) -> None:
    """Run a job and print its answer."""
    warnings.simplefilter("ignore")
    print(Path(chunkast.__file__).parent)
    jobs: dict[str, Callable[..., Any]] = {"chunks": chunks, "once": once}
    print(json.dumps(jobs[job](*arguments)))


if __name__ == "__main__":
    main(*sys.argv[1:])
