"""One side of `tests.bench.against`: chunk documents with the chunkast on the path.

Reads jobs from standard input, one JSON object per line, and answers each with a line of JSON.
Uses only what every version of chunkast has, so that one worker serves both sides.
"""

from __future__ import annotations

import gc
import json
import sys
import warnings
from pathlib import Path
from time import process_time
from typing import Any

import chunkast
from chunkast import Chunker

# Loads whatever a version loads on first use, so that no measurement includes it.
_WARM_UP = (
    "# Title\n\nA sentence. Another one.\n\n中文。日本語。\n\n```python\nname = 1\n```\n\n" * 40
)


def about() -> str:
    """Return the folder of the imported package."""
    return str(Path(chunkast.__file__).parent)


def chunks(documents: str, budget: int, encoding: str) -> list[list[dict[str, Any]]]:
    """Return the chunks of every document."""
    chunker = Chunker(max_tokens=budget, encoding=_encoding(encoding))
    return [
        [chunk.to_dict() for chunk in chunker.chunk(text, source)]
        for source, text in _load(documents)
    ]


def blocks(documents: str) -> list[list[tuple[str, int, int, int, int]]]:
    """Return the blocks of every document: kind, start, end, level, index of the parent."""
    chunker = Chunker()
    return [block_rows(chunker.analyze(text).blocks) for _, text in _load(documents)]


def seconds(documents: str, budget: int, encoding: str) -> float:
    """Return the CPU time that a new chunker takes for all documents."""
    texts = [text for _, text in _load(documents)]
    chunker = Chunker(max_tokens=budget, encoding=_encoding(encoding))
    chunker.chunk(_WARM_UP)
    gc.collect()
    before = process_time()
    for text in texts:
        chunker.chunk(text)
    return process_time() - before


def peak(documents: str, budget: int, encoding: str) -> list[int]:
    """Return the peak memory in bytes before and after chunking all documents."""
    texts = [text for _, text in _load(documents)]
    chunker = Chunker(max_tokens=budget, encoding=_encoding(encoding))
    chunker.chunk(_WARM_UP)
    before = peak_bytes()
    kept = [chunker.chunk(text) for text in texts]
    after = peak_bytes()
    del kept
    return [before, after]


def _load(documents: str) -> list[tuple[str, str]]:
    return [tuple(pair) for pair in json.loads(Path(documents).read_text("utf-8"))]


def _encoding(name: str) -> Any:
    """Return tiktoken's encoding of a name, or the tokenizer of a ``.json`` file.

    A chunker that gets an object remembers no counts of an earlier chunker.
    """
    if name.endswith(".json"):
        from tokenizers import Tokenizer

        return Tokenizer.from_file(name)
    import tiktoken

    Chunker(encoding=name)  # finds the bundled vocabulary
    return tiktoken.get_encoding(name)


def block_rows(root: Any) -> list[tuple[str, int, int, int, int]]:
    """Return a block and those below it, parents first, as :func:`blocks` does."""
    rows: list[tuple[str, int, int, int, int]] = []
    waiting = [(root, -1)]
    while waiting:
        block, parent = waiting.pop()
        waiting.extend((child, len(rows)) for child in reversed(block.children))
        rows.append((block.kind, block.start, block.end, block.level, parent))
    return rows


def peak_bytes() -> int:
    """Return the largest resident size of this process so far."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux ru_maxrss also counts the parent process
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(peak.split()[1]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


JOBS = {job.__name__: job for job in (about, chunks, blocks, seconds, peak)}


def main() -> None:
    """Answer jobs until standard input ends."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        job = json.loads(line)
        print(json.dumps(JOBS[job.pop("do")](**job)), flush=True)


if __name__ == "__main__":
    main()
