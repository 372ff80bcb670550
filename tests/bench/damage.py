"""Damaged databases: what the commands do with them, by hand (python -m tests.bench.damage).

A small index is damaged in every way that is listed here, a copy for each, and ``search``,
``quote`` and ``index`` are run on it in this process. Two things must never happen: a
traceback, and an answer other than that of the whole index without an error. ``index`` may
refuse, or must leave an index that answers as the whole one does.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import shutil
import sqlite3
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from chunkast.cli.main import main as chunkast

__all__ = ("Tally", "damages", "run")

FIXTURES: Final = Path(__file__).parents[2] / "fixtures" / "documents"
PAGE: Final = 4096
QUERIES: Final = ("the ferry and the tables", "price of a code example in the guide")
QUOTE: Final = "the"
TABLES: Final = (
    "settings",
    "documents",
    "chunks",
    "search_data",
    "search_idx",
    "search_docsize",
    "search_config",
)
# What a column is set to, in one row or in all of them.
VALUES: Final = (
    "''",
    "'{'",
    "'[]'",
    "'null'",
    "'x'",
    "0",
    "-1",
    "9e99",
    "9223372036854775807",
    "x'fffe00'",
    "CAST(x'ff41ff' AS TEXT)",
    "NULL",
    "COLUMN || ' '",
    "COLUMN + 1",
    "CAST(COLUMN AS BLOB)",
)
STATEMENTS: Final = (
    "DROP TABLE {table}",
    "DELETE FROM {table}",
    "DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})",
    "DELETE FROM {table} WHERE rowid = (SELECT min(rowid) FROM {table})",
    "UPDATE {table} SET rowid = rowid + 1000",
    "UPDATE {table} SET rowid = 100000 WHERE rowid = (SELECT min(rowid) FROM {table})",
    "ALTER TABLE {table} RENAME TO other",
    """CREATE TABLE other AS SELECT * FROM {table}; DROP TABLE {table};
    ALTER TABLE other RENAME TO {table}""",
    """CREATE TABLE other AS SELECT * FROM {table}; DROP TABLE {table};
    CREATE VIEW {table} AS SELECT * FROM other""",
    """ALTER TABLE {table} RENAME TO other; CREATE VIEW {table} AS WITH RECURSIVE n(i) AS
    (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT other.* FROM n, other WHERE i < 0""",
    "CREATE TRIGGER bad BEFORE UPDATE ON {table} BEGIN SELECT raise(ABORT, 'no'); END",
    "CREATE TRIGGER bad AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END",
)
ONCE: Final = (
    "DROP INDEX chunks_by_place",
    "DROP INDEX chunks_by_id",
    "DROP TABLE search",
    "INSERT INTO search (search) VALUES ('delete-all')",
    "INSERT INTO search (rowid, headings, text) VALUES (99999, 'ferry', 'ferry tables')",
    "INSERT INTO search (search, rank) VALUES ('rank', 'bm25(9.0, 0.1)')",
    "DROP TABLE search; CREATE TABLE search (headings, text, rank)",
    "DROP TABLE search; CREATE VIRTUAL TABLE search USING fts5 (headings, text)",
    """INSERT INTO chunks SELECT number + 5000, document, id, position, text, start_index, end_index,
    start_byte, end_byte, start_line, end_line, token_count, own_token_count, overlap, headings,
    kinds, content_hash, embed_before, embed_after, embed_token_count, embed_hash, oversize,
    metadata, checksum FROM chunks LIMIT 3""",
    "UPDATE chunks SET document = (SELECT max(number) FROM documents)",
    "UPDATE documents SET source = 'b' || source",
    "UPDATE settings SET value = 'x' WHERE name = 'root'",
    "UPDATE settings SET value = 'x' WHERE name = 'digest'",
    "UPDATE settings SET value = '1' WHERE name = 'words'",
    "UPDATE settings SET value = '1 1' WHERE name = 'rows'",
    "UPDATE settings SET value = '1' WHERE name = 'checksum'",
    "PRAGMA user_version = 0",
    "PRAGMA user_version = 1",
    "PRAGMA user_version = -3",
    "PRAGMA user_version = 900",
    "PRAGMA application_id = 0",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA writable_schema = 1; DELETE FROM sqlite_schema WHERE name = 'chunks_by_id'",
    "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET rootpage = 3 WHERE name = 'documents'",
    "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'chunks'",
    """PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = 'CREATE TABLE x(' WHERE
    name = 'chunks'""",
)
Damage = Callable[[Path], None]


@dataclass(slots=True)
class Tally:
    """What came out: ``outcomes`` counts, by command; the others name the damage."""

    databases: int = 0
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    tracebacks: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)


def damages(count: int, seed: int = 0) -> Iterator[tuple[str, Damage]]:
    """The targeted ones, each once, and ``count`` random ones: a name, and what does it."""
    for table in TABLES:
        for statement in STATEMENTS:
            text = statement.format(table=table)
            yield text, _by_sql(text)
    for text in ONCE:
        yield text, _by_sql(text)
    with _empty() as connection:
        columns = [
            (table, row[1])
            for table in TABLES
            for row in connection.execute(f"PRAGMA table_info({table})")
        ]
    for table, column in columns:
        for value in VALUES:
            new = value.replace("COLUMN", column)
            text = f"UPDATE OR REPLACE {table} SET {column} = {new}"  # noqa: S608
            for where in ("", f" WHERE rowid = (SELECT max(rowid) FROM {table})"):  # noqa: S608
                yield text + where, _by_sql(text + where)
    chance = random.Random(seed)
    for number in range(count):
        kind = list(_RANDOM)[number % len(_RANDOM)]
        yield f"{kind} {number}", _by_bytes(_RANDOM[kind], chance.randrange(2**32))


def _empty() -> closing[sqlite3.Connection]:
    from chunkast.index.schema import connect

    return closing(connect(":memory:", create=True))


def _by_sql(text: str) -> Damage:
    def damage(path: Path) -> None:
        with (
            closing(sqlite3.connect(path, isolation_level=None)) as connection,
            # What SQLite itself refuses is no damage.
            suppress(sqlite3.Error),
        ):
            for statement in text.split(";"):
                connection.execute(statement)

    return damage


def _flip(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 1, 1, 2, 8, 64))):
        data[chance.randrange(len(data))] ^= chance.randrange(1, 256)


def _letter(data: bytearray, chance: random.Random) -> None:
    """Another letter somewhere in a text: nothing about it is malformed."""
    letters = [at for at in chance.sample(range(len(data)), 400) if chr(data[at]).isalpha()]
    for at in letters[:1]:
        data[at] = chance.choice(b"abcdefghijklmnopqrstuvwxyz")


def _digit(data: bytearray, chance: random.Random) -> None:
    digits = [at for at in chance.sample(range(len(data)), 4000) if chr(data[at]).isdigit()]
    for at in digits[:3]:
        data[at] = chance.choice(b"0123456789")


def _zero(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data) // PAGE) * PAGE
    data[at : at + PAGE] = bytes(PAGE)


def _swap(data: bytearray, chance: random.Random) -> None:
    one, two = (chance.randrange(len(data) // PAGE) * PAGE for _ in range(2))
    data[one : one + PAGE], data[two : two + PAGE] = (
        data[two : two + PAGE],
        data[one : one + PAGE],
    )


def _noise(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    size = chance.choice((16, 512, PAGE))
    data[at : at + size] = chance.randbytes(len(data[at : at + size]))


def _cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.choice((chance.randrange(len(data)), len(data) - PAGE, len(data) - 1)) :]


def _header(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(108)] ^= chance.randrange(1, 256)


_RANDOM: Final[dict[str, Callable[[bytearray, random.Random], None]]] = {
    "flip": _flip,
    "letter": _letter,
    "digit": _digit,
    "zero": _zero,
    "swap": _swap,
    "noise": _noise,
    "cut": _cut,
    "header": _header,
}


def _by_bytes(change: Callable[[bytearray, random.Random], None], seed: int) -> Damage:
    def damage(path: Path) -> None:
        data = bytearray(path.read_bytes())
        change(data, random.Random(seed))
        path.write_bytes(data)

    return damage


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a command printed; ``crash`` is a traceback."""

    code: int
    out: str
    err: str
    crash: str = ""

    @property
    def refused(self) -> bool:
        """Whether it said that something is wrong with the database, in one line."""
        return self.code != 0 and "the quote is in none" not in self.err

    @property
    def lines(self) -> int:
        return len(self.err.splitlines())


def _run(*arguments: str) -> _Answer:
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")
    err = io.StringIO()
    code, crash = -1, ""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = chunkast(arguments)
        except Exception:  # noqa: BLE001  (that is what is counted)
            crash = traceback.format_exc()
    out.flush()
    assert isinstance(out.buffer, io.BytesIO)
    return _Answer(code, out.buffer.getvalue().decode(), err.getvalue(), crash)


def _asked(path: Path) -> list[_Answer]:
    database = ("--db", str(path), "--format", "json")
    return [
        *(_run("search", query, *database) for query in QUERIES),
        _run("quote", QUOTE, *database),
    ]


def run(
    folder: Path,
    damaged: Sequence[tuple[str, Damage]],
    say: Callable[[str], object] = lambda _: None,
) -> Tally:
    """Damage an index in ``folder`` in each of these ways, and run the commands on it."""
    docs, whole, path = folder / "docs", folder / "whole.db", folder / "damaged.db"
    docs.mkdir()
    for file in sorted(FIXTURES.glob("*.md"))[:12]:
        (docs / file.name).write_bytes(file.read_bytes()[:6_000])
    made = _run("index", str(docs), "--db", str(whole), "--max-tokens", "120", "-q")
    assert made.code == 0, made
    index = ("index", str(docs), "--db", str(path), "--max-tokens", "120", "-q")
    expected = _asked(whole)
    assert all(answer.code == 0 and len(answer.out) > 100 for answer in expected), expected
    digest = made.out.splitlines()[-1]
    tally = Tally()
    for name, damage in damaged:
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        shutil.copyfile(whole, path)
        damage(path)
        if path.read_bytes() == whole.read_bytes():
            continue
        tally.databases += 1
        say(f"{tally.databases} {name}")
        before = _asked(path)
        verified = _run("index", "--verify", "--db", str(path), "-q")
        indexed = _run(*index)
        after = [] if indexed.code else _asked(path)
        for answer in (*before, verified, indexed, *after):
            if answer.crash or (answer.code and answer.lines > 1):
                tally.tracebacks.append(f"{name}: {answer.crash or answer.err}")
        for answer, wanted in zip(before, expected, strict=True):
            tally.outcomes["search or quote", _outcome(answer, wanted)] += 1
            if not answer.refused and answer.out != wanted.out:
                tally.silent.append(f"{name}: search or quote")
        if indexed.code == 0 and (
            [answer.out for answer in after] != [answer.out for answer in expected]
            or indexed.out.splitlines()[-1] != digest
        ):
            tally.silent.append(f"{name}: index")
        if indexed.code == 0:
            # What a run that writes nothing does not look at: pages that hold no row.
            left = _run("index", "--verify", "--db", str(path), "-q").code
            tally.outcomes["verify after index", "faults" if left else "no fault"] += 1
        tally.outcomes["index", "refused" if indexed.code else "the whole index"] += 1
        if verified.code == 0 and any(answer.refused for answer in before):
            tally.silent.append(f"{name}: verify")
        if tally.silent or tally.tracebacks:
            say(f"so far: {len(tally.silent)} silent, {len(tally.tracebacks)} tracebacks")
        tally.outcomes["verify", "faults" if verified.code else "no fault"] += 1
    return tally


def _outcome(answer: _Answer, wanted: _Answer) -> str:
    if answer.refused:
        return "refused"
    return "the same answer" if answer.out == wanted.out else "another answer"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the counts; 1 if anything happened that must not."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.damage", description=__doc__)
    parser.add_argument("--random", type=int, default=400, metavar="N", help="default: 400")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default: 0")
    parser.add_argument(
        "--targeted", type=int, metavar="N", help="of the others that many, drawn (default: all)"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="damages whose name has it")
    options = parser.parse_args(arguments)
    found = list(damages(options.random, options.seed))
    targeted, chosen = found[: len(found) - options.random], found[len(found) - options.random :]
    if options.targeted is not None:
        targeted = random.Random(options.seed).sample(targeted, options.targeted)
    chosen = [each for each in targeted + chosen if options.only in each[0]]
    with TemporaryDirectory(prefix="chunkast-damage-") as folder:
        tally = run(Path(folder), chosen, partial(print, file=sys.stderr, flush=True))
    for kind in ("tracebacks", "silent"):
        for line in getattr(tally, kind):
            print(f"{kind}: {line}")
    print(f"{tally.databases} damaged databases")
    for (command, outcome), number in sorted(tally.outcomes.items()):
        print(f"  {command}: {outcome}: {number}")
    print(f"  tracebacks: {len(tally.tracebacks)}, silent differences: {len(tally.silent)}")
    return 1 if tally.tracebacks or tally.silent else 0


if __name__ == "__main__":
    sys.exit(main())
