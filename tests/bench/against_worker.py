"""One side of `tests.bench.against`: chunk documents with the chunkast on the path.

Prints the folder of the imported package, then the answer. Uses only what every version of
chunkast has, so that one worker serves both sides.
"""

from __future__ import annotations

import json
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


def rounds(path: str, budget: str, times: str, count: str) -> None:
    """Chunk the first ``count`` documents so many times, after as many others."""
    texts = [text for _, text in _load(path)]
    chunker = Chunker(max_tokens=int(budget))
    # Loads whatever is loaded on first use; other texts, so that no memory of these helps.
    for text in texts[int(count) : 2 * int(count)]:
        chunker.chunk(text)
    for _ in range(int(times)):
        for text in texts[: int(count)]:
            chunker.chunk(text)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _load(path: str) -> list[tuple[str, str]]:
    return [tuple(pair) for pair in json.loads(Path(path).read_text("utf-8"))]


def main(job: str, *arguments: str) -> None:
    """Run a job and print its answer."""
    warnings.simplefilter("ignore")
    print(Path(chunkast.__file__).parent)
    jobs: dict[str, Callable[..., Any]] = {"chunks": chunks, "rounds": rounds}
    print(json.dumps(jobs[job](*arguments)))


if __name__ == "__main__":
    main(*sys.argv[1:])
