"""Benchmarks of chunkast beside other chunkers; without names the throughput.

Only retrieval, search and agent download anything. Peers that are not installed are skipped
(pip install --group bench). Tables go to stdout, progress to stderr.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from chunkast.tokens.vocabulary import BUNDLED, VOCABULARY
from tests.bench import agent, compare, context, retrieval, search, stability, throughput
from tests.bench.corpus import by_language, find_documents, load_corpus, load_fixtures
from tests.bench.report import write_results, write_retrieval
from tests.bench.retrieval.dataset import HALVES
from tests.bench.tables import Setting, Table, as_markdown

BENCHES = {
    bench.KEY: bench
    for bench in (throughput, stability, compare, context, retrieval, search, agent)
}
# They download their documents.
ON_REQUEST = (retrieval.KEY, search.KEY, agent.KEY)
HERE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; returns 0 unless something fails."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.bench if name not in BENCHES]:
        parser.error(f"no bench is called {unknown[0]}; there are {', '.join(BENCHES)}")
    if options.encoding in BUNDLED:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(VOCABULARY)  # for the peers' own tiktoken
    everything = options.all or (options.smoke and not options.bench)
    every = [name for name in BENCHES if options.smoke or name not in ON_REQUEST]
    names = every if everything else options.bench or [throughput.KEY]
    corpora = by_language(
        load_fixtures(smoke=True) if options.smoke else load_corpus(options.corpus)
    )
    setting = Setting(
        corpora=corpora,
        smoke=options.smoke,
        rounds=1 if options.smoke else options.rounds,
        budget=options.budget,
        encoding=options.encoding,
        say=_say,
        half=options.half,
        cache=options.cache.expanduser(),
        documents=[text for _, text in find_documents(options.documents)],
    )
    about = (
        f"chunkast {version('chunkast')}, {_python()}, tiktoken "
        f"{version('tiktoken')}, markdown-it-py {version('markdown-it-py')}; {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} cores"
    )
    print(about + "\n")
    tables: list[Table] = []
    for name in names:
        _say(f"{name} ...")
        for table in BENCHES[name].run(setting):
            print(as_markdown(table), flush=True)
            tables.append(table)
    if options.results:
        own = [table for table in tables if table.key.startswith(f"{retrieval.KEY}, ")]
        write_retrieval(options.results, setting.half, about, own)
    if everything:
        with TemporaryDirectory(prefix="chunkast-bench-") as nowhere:
            folder = Path(nowhere) if options.smoke else HERE
            write_results(folder, about, tables)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("bench", nargs="*", metavar="BENCH", help=f"of {', '.join(BENCHES)}")
    parser.add_argument(
        "--all",
        action="store_true",
        help="every bench but retrieval, search and agent; writes RESULTS.md beside the benchmarks",
    )
    parser.add_argument(
        "--smoke",
        action="store_true",
        help="tiny sizes, a few fixtures, one round; without BENCH every bench, written nowhere",
    )
    parser.add_argument(
        "--corpus",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="more documents; may be repeated",
    )
    parser.add_argument(
        "--documents",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="count context in these documents only; may be repeated",
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument("--budget", type=int, default=512, metavar="TOKENS", help="default: 512")
    parser.add_argument("--encoding", default="cl100k_base", help="default: cl100k_base")
    parser.add_argument(
        "--half",
        choices=HALVES,
        default=HALVES[0],
        help="of the questions that retrieval asks; the test half is not for tuning",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=os.environ.get("CHUNKAST_BENCH_CACHE", "~/.cache/chunkast-bench"),
        metavar="DIR",
        help="where retrieval keeps what it fetches (default: $CHUNKAST_BENCH_CACHE, else "
        "~/.cache/chunkast-bench)",
    )
    parser.add_argument(
        "--results", type=Path, metavar="DIR", help="write retrieval's tables there"
    )
    return parser


def _python() -> str:
    """Return the interpreter's version, and whether it is the system's own build."""
    system = "the system's " if sys.base_prefix == "/usr" else ""
    return f"{system}Python {platform.python_version()}"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
