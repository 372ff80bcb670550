"""``chunkast stats``: print statistics about the chunks of documents, to help choose a budget."""

from __future__ import annotations

import json
from argparse import Namespace
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from chunkast.cli.messages import print_result
from chunkast.cli.shared_options import config_of, config_values
from chunkast.cli.work import Document, Tally, cut_off, results, selected
from chunkast.errors import ConfigError, UsageError
from chunkast.files.read import read_pieces

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.index import BudgetFigures


_BINS: Final = 10
_BAR: Final = 40
_FIELDS: Final = attrgetter("token_count", "embed_token_count", "overlap", "oversize")


class _Row(NamedTuple):
    """The figures of one chunk."""

    tokens: int
    embed_tokens: int
    overlap: int
    oversize: bool
    characters: int


def run(options: Namespace) -> int:
    """Print statistics of the selected documents. Return 1 if any cannot be processed, else 0."""
    from chunkast.chunker import Chunker

    tally = Tally()
    if options.budgets:
        _compare(options, tally)
        return tally.exit_code
    if options.questions:
        raise UsageError("--questions needs --budgets: chunkast stats PATHS --budgets 128,256,512")
    chunker = Chunker(config_of(options))
    with results(options, selected(options), chunker, _measure, tally) as measured:
        documents = list(measured)
    report = _report(documents, chunker)
    print_result(options.format, report, _page(report), indent=2)
    return tally.exit_code


def _compare(options: Namespace, tally: Tally) -> None:
    """Print the figures of the chunks, and of the answers to questions, at each budget."""
    from chunkast.chunker import Chunker
    from chunkast.index import compare_budgets

    values = config_values(options)
    if "max_tokens" in values:
        raise UsageError("give --budgets or --max-tokens, not both")
    values["max_tokens"] = options.budgets[0]
    questions = list(_questions(options.questions)) if options.questions else []
    with results(options, selected(options), Chunker(**values), _document, tally) as read:
        documents = list(read)
    try:
        figures = compare_budgets(documents, options.budgets, questions, **values)
    except ConfigError as error:
        number = error.field.removeprefix("questions[").rstrip("]")
        if not number.isdecimal():
            raise
        raise UsageError(f"{options.questions}, line {int(number) + 1}: {error.allowed}") from None
    print_result(options.format, [asdict(each) for each in figures], _table(figures))


def _questions(path: str) -> Iterator[Any]:
    for number, line in enumerate("".join(read_pieces(path)).rstrip().split("\n"), 1):
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}, line {number}: this is not JSON: {error}") from None


def _document(_chunker: Chunker, item: Document) -> tuple[str, Any]:
    return item[0] or "-", item[1]


def _table(figures: Sequence[BudgetFigures]) -> str:
    titles = "budget  chunks  fill  inside  overlap  context"
    lines = [titles + "".join(f"{most:>7,}" for most in figures[0].answers)]
    for each in figures:
        row = f"{each.max_tokens:>6,}{each.chunks:>8,}{each.fill:>6.0%}{each.inside:>8,}"
        row += f"{each.overlap:>9.1%}{each.context:>9.1%}"
        lines.append(row + "".join(f"{share:>7.0%}" for share in each.answers.values()))
    return "\n".join(lines) + "\n"


def _measure(chunker: Chunker, item: Document) -> list[_Row]:
    from chunkast.sources.documents import iter_document

    chunks = iter_document(chunker, item[1], item[0])
    return [_Row(*_FIELDS(chunk), len(chunk.text)) for chunk in chunks]


def _report(documents: Sequence[Sequence[_Row]], chunker: Chunker) -> dict[str, Any]:
    rows = list(chain.from_iterable(documents))
    tokens = sorted(row.tokens for row in rows)
    embed_tokens = sorted(row.embed_tokens for row in rows)
    characters = sum(row.characters for row in rows)
    budget = chunker.config.budget
    return {
        "documents": len(documents),
        "documents_of_one_chunk": sum(len(each) == 1 for each in documents),
        "chunks": len(rows),
        "oversize": sum(row.oversize for row in rows),
        "max_tokens": chunker.config.max_tokens,
        "reserve_tokens": chunker.config.reserve_tokens,
        "model": _window(chunker, embed_tokens),
        "fill": _ratio(sum(tokens), len(tokens) * budget),
        "overlap": _ratio(sum(row.overlap for row in rows), characters),
        "tokens": _spread(tokens),
        "embed_tokens": _spread(embed_tokens),
        "histogram": _histogram(tokens, budget),
    }


def _window(chunker: Chunker, embed_tokens: Sequence[int]) -> dict[str, int] | None:
    """Return the model's token limit, and the numbers of chunks and tokens that are cut off.

    Return ``None`` if the limit is unknown.
    """
    window = chunker.counter.window
    cut = [over for tokens in embed_tokens if (over := cut_off(chunker, tokens))]
    if window is None:
        return None
    return {
        "limit": window.tokens,
        "special_tokens": window.special,
        "chunks_cut": len(cut),
        "tokens_cut": sum(cut),
    }


def _ratio(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _spread(numbers: Sequence[int]) -> dict[str, float | int | None]:
    """Return the total, minimum, mean, median, 95th percentile and maximum of ``numbers``.

    ``numbers`` must be sorted. All statistics except the total are ``None`` for an empty sequence.
    """
    count = len(numbers)
    if not count:
        return {"total": 0, **dict.fromkeys(("min", "mean", "median", "p95", "max"))}
    return {
        "total": sum(numbers),
        "min": numbers[0],
        "mean": round(sum(numbers) / count, 1),
        "median": (numbers[(count - 1) // 2] + numbers[count // 2]) / 2,
        "p95": numbers[-(-count * 95 // 100) - 1],
        "max": numbers[-1],
    }


def _histogram(numbers: Sequence[int], budget: int) -> list[dict[str, int]]:
    """Count how many of the sorted ``numbers`` are in each tenth of the budget, and above it."""
    bins = min(_BINS, budget)
    edges = [budget * i // bins for i in range(bins + 1)]
    if numbers and numbers[-1] > budget:
        edges.append(numbers[-1])
    rows = []
    for low, high in pairwise(edges):
        chunks = bisect_right(numbers, high) - bisect_right(numbers, low)
        rows.append({"from": low + 1, "to": high, "chunks": chunks})
    return rows


def _page(report: dict[str, Any]) -> str:
    chunks = report["chunks"]
    lines = [
        f"documents  {report['documents']:>10,}  {report['documents_of_one_chunk']:,} of one chunk",
        f"chunks     {chunks:>10,}  {report['oversize']:,} above the budget",
        f"budget     {report['max_tokens']:>10,}  tokens, {report['reserve_tokens']:,} of them reserved",
    ]
    if model := report["model"]:
        lines.append(
            f"model      {model['limit']:>10,}  tokens, {model['special_tokens']:,} of them special; "
            f"it would not read {model['chunks_cut']:,} chunks to the end, "
            f"{model['tokens_cut']:,} tokens in all"
        )
    if not chunks:
        return "\n".join(lines) + "\n"
    columns = ("total", "min", "mean", "median", "p95", "max")
    lines += [
        f"fill       {report['fill']:>10.1%}  mean tokens of a chunk in the budget",
        f"overlap    {report['overlap']:>10.1%}  of the characters repeat the chunk before",
        "",
        "tokens    " + "".join(f"{column:>12}" for column in columns),
    ]
    for name, key in (("text", "tokens"), ("embedded", "embed_tokens")):
        row = report[key]
        lines.append(f"{name:10}" + "".join(f"{_figure(row[column]):>12}" for column in columns))
    lines += ["", "tokens of a chunk"]
    counts = {f"{row['from']:,}-{row['to']:,}": row["chunks"] for row in report["histogram"]}
    lines += _bars(counts, chunks)
    return "\n".join(lines) + "\n"


def _bars(counts: dict[str, int], total: int) -> list[str]:
    width = max(map(len, counts))
    most = max(counts.values())
    return [
        f"  {name:{width}}  {count:>9,}  {count / total:>6.1%}  "
        f"{'█' * -(-count * _BAR // most)}".rstrip()
        for name, count in counts.items()
    ]


def _figure(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")
