"""Kill syncs at random moments, and continue each: ``python -m tests.killed_sync STORE FOLDER KILLS``.

STORE is one of ``tests.vector_stores.STORES``. Prints a line of JSON for each kill: whether the process was
killed before it ended, the number of texts that were embedded twice, and whether the store is as a fresh
one in the end.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from chunkast.stores import sync
from tests.embedding_server import Embed
from tests.test_stores import Documents, assert_same, chunked, fresh
from tests.vector_stores import STORES, Rows, Store, start_postgres

BATCH = 8


def edition(number: int) -> Documents:
    """Return documents of which many have the text of another one in the edition before."""
    chance = random.Random(number)
    texts = [
        f"# Part {n}\n\nSome words of part {n}.\n\n## More\n\nMore words of part {n}.\n"
        for n in chance.sample(range(36), 24)
    ]
    texts += ["\n\n".join(f"Step {n} of them all is done now." for n in range(number, number + 12))]
    return chunked({f"docs/{n}.md": text for n, text in enumerate(texts)})


def in_child(run: Callable[[], None]) -> int:
    """Start a process that runs a function and ends."""
    child = os.fork()
    if not child:
        code = 1
        try:
            run()
            code = 0
        finally:
            os._exit(code)
    return child


def rows(connect: Callable[[], Store], file: Path) -> Rows:
    """Read the rows of a store in another process: clients with threads are not forked."""

    def read() -> None:
        store = connect()
        file.write_text(json.dumps(store.read()), "utf-8")
        store.close()

    os.waitpid(in_child(read), 0)
    return {id_: (row, numbers) for id_, (row, numbers) in json.loads(file.read_bytes()).items()}


def follow(connect: Callable[[], Store], number: int, log: Path) -> None:
    """Sync an edition, and log every text that is embedded."""
    store = connect()
    embed = Embed()

    def logged(texts: list[str]) -> list[list[float]]:
        with log.open("ab") as out:
            out.writelines(json.dumps(text).encode() + b"\n" for text in texts)
        return embed(texts)

    sync(store.target, edition(number), logged, remove_missing=True, batch_size=BATCH)
    store.close()


def kill(connect: Callable[[], Store], number: int, log: Path, moment: float) -> dict[str, object]:
    """Kill a sync after some seconds, and continue it."""
    has = {row["embed_hash"] for row, _ in rows(connect, log.with_suffix(".json")).values()}
    child = in_child(lambda: follow(connect, number, log))
    time.sleep(moment)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    _, ended = os.waitpid(in_child(lambda: follow(connect, number, log)), 0)
    documents = edition(number)
    missing = {chunk.embed_hash for _, chunks in documents for chunk in chunks or ()} - has
    found = rows(connect, log.with_suffix(".json"))
    assert_same(found, fresh(documents))
    texts = len(log.read_bytes().splitlines()) if log.exists() else 0
    return {
        "killed": os.WIFSIGNALED(status),
        "ended": ended == 0,
        "twice": texts - len(missing),
        "rows": len(found),
    }


def main(name: str, folder: str, kills: str) -> None:
    """Kill and continue; the moments are spread over about the time that a sync takes."""
    place = start_postgres(f"{folder}/server") if name == "pgvector" else f"{folder}/store"
    connect = partial(STORES[name], place)
    started = time.perf_counter()
    os.waitpid(in_child(lambda: follow(connect, 0, Path(folder, "0.log"))), 0)
    longest = time.perf_counter() - started
    chance = random.Random(63)
    for number in range(1, int(kills) + 1):
        told = kill(connect, number, Path(folder, f"{number}.log"), chance.uniform(0, longest))
        longest *= 1.1 if told["killed"] else 0.7
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
