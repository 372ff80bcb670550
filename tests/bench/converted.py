"""What converters write: chunkast, without the extensions for it, and its peers, by facts.

The documents are those of ``--corpus``, which converters made of PDFs, Word files, slides, sheets
and web pages; without it there is one, small and made up. A fact is found in the text by patterns
of its own, never by chunkast's reading.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass

import tiktoken
from markdown_it import MarkdownIt

from chunkast import Chunk, Chunker
from chunkast.config import DEFAULT_EXTENSIONS
from tests.bench.contenders import Place, peers
from tests.bench.corpus import load_corpus
from tests.bench.tables import Setting, Table

__all__ = ("KEY", "run")

KEY = "converted"
_PARSER = MarkdownIt().enable("table")
_EXTENSIONS = (
    "html_tables",
    "captions",
    "bold_headings",
    "bullets",
    "contents",
    "page_markers",
    "answers",
)
_HTML_ROW = re.compile(r"<tr\b(?:(?!<tr\b|<table\b).)*?</tr>", re.DOTALL | re.IGNORECASE)
_HTML_HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL | re.IGNORECASE)
_HTML_TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL | re.IGNORECASE)
_PIPES = re.compile(
    r"^.*\|.*\n[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?)?[ \t]*\n(?:.*\|.*\n?)*",
    re.MULTILINE,
)
# A paragraph that says which table it is, with nothing but a line of a <div> between them.
_CAPTION = re.compile(
    r"^[*_]*Table[ \xa0]\d[\d.\-]*(?:[.:]|[*_]+|[ \xa0]+[A-Z(])(?:.+\n?){1,6}?(?=\s*(?:\n|\Z))",
    re.MULTILINE,
)
_BETWEEN = re.compile(r"\s*(?:</?div[^>\n]*>\s*)?")
_CAPTION_TAG = re.compile(r"<table\b[^>]*>\s*<caption\b.*?</caption>\s*", re.DOTALL | re.IGNORECASE)
_BOLD = re.compile(r"(?:\A|\n[ \t]*\n)[ \t]*\*\*[^*\n]{1,150}\*\*:?\s*\Z")
_LEADERS = re.compile(r"(?:[.…·][ _*]*){5,}\d+(?: > |\Z)")
_MARK = re.compile(r"^(?:-+ end of page=\d+ -+|<!-- Slide number: \d+ -->)[ \t]*$|\f", re.MULTILINE)
_MADE_UP = (
    "**Results**\n\nTable 1. Fruit\n\n<table><tr><th>Name</th><th>Colour</th></tr>"
    + "".join(f"<tr><td>apple {n}</td><td>red or green</td></tr>" for n in range(60))
    + "</table>\n\n--- end of page=0 ---\n\n**Discussion**\n\n"
    + "Some words stand here and go on. " * 60
)


@dataclass(slots=True)
class _Found:
    """What was counted over all documents."""

    chunks: int = 0
    rows_cut: int = 0
    in_tables: int = 0
    with_header: int = 0
    captions: int = 0
    captions_parted: int = 0
    legends: int = 0
    legends_parted: int = 0
    bold_ends: int = 0
    leaders_in_path: int = 0
    marks: int = 0
    ends_amid: int = 0
    paged: int = 0
    with_page: int = 0


_COLUMNS = (
    ("chunks", ",d"),
    ("rows cut", ",d"),
    ("begin in a table", ",d"),
    ("with its header", ",d"),
    ("captions before their table", ",d"),
    ("parted", ",d"),
    ("captions after it", ",d"),
    ("parted", ",d"),
    ("end with a bold heading", ",d"),
    ("dot leaders in the path", ",d"),
    ("page marks", ",d"),
    ("end amid a sentence there", ",d"),
    ("of documents with pages", ",d"),
    ("with a page", ",d"),
)


def run(setting: Setting) -> Iterator[Table]:
    """One table: a row for chunkast, for it as it was, and for each peer."""
    known = set(load_corpus(smoke=setting.smoke))
    given = [text for texts in setting.corpora.values() for text in texts if text not in known]
    texts = given or [_MADE_UP]
    before = [name for name in DEFAULT_EXTENSIONS if name not in _EXTENSIONS]
    rows = [
        _row("chunkast", texts, setting, _own(Chunker(max_tokens=setting.budget, overlap=0))),
        _row(
            f"chunkast without {', '.join(_EXTENSIONS)}",
            texts,
            setting,
            _own(Chunker(max_tokens=setting.budget, overlap=0, extensions=before)),
        ),
    ]
    rows += (
        _row(peer.name, texts, setting, _of_peer(peer.ways().places))
        for peer in peers(setting.budget, setting.encoding, setting.say)
        if peer.ways is not None
    )
    yield Table(
        KEY,
        "What converters write",
        f"{len(texts)} documents, {setting.budget} tokens, no overlap. A row of a table counts as "
        "cut if it fits the budget and a chunk begins inside it. A caption is counted unless its "
        "table fits and both together do not, and is parted if a chunk begins between the two.",
        (("chunker", ""), *_COLUMNS),
        tuple(rows),
    )


# Where a chunk begins and ends, what is embedded, its path, and whether it has a page.
_Seen = tuple[int, int, str, str, bool]


def _own(chunker: Chunker) -> Callable[[str], list[_Seen]]:
    def seen(chunk: Chunk) -> _Seen:
        path = " > ".join(chunk.headings)
        return chunk.start_index, chunk.end_index, chunk.embed_text, path, chunk.pages is not None

    return lambda text: [seen(chunk) for chunk in chunker.chunk(text)]


def _of_peer(places: Callable[[str], list[Place]]) -> Callable[[str], list[_Seen]]:
    def chunks(text: str) -> list[_Seen]:
        found: list[_Seen] = []
        at = 0
        for start, _, said in places(text):
            begin = start if start is not None and start >= 0 else text.find(said, at)
            if begin >= 0:
                found.append((begin, begin + len(said), said, "", False))
                at = begin + 1
        return found

    return chunks


def _row(
    name: str, texts: Sequence[str], setting: Setting, chunk: Callable[[str], list[_Seen]]
) -> tuple[str | int, ...]:
    count = tiktoken.get_encoding(setting.encoding).encode_ordinary
    total = _Found()
    for text in texts:
        try:
            _count(text, chunk(text), total, lambda part: len(count(part)) <= setting.budget)
        except Exception as error:  # noqa: BLE001 - a peer's own
            setting.say(f"{name}: {type(error).__name__}: {error}")
    return (name, *astuple(total))


def _count(text: str, chunks: Sequence[_Seen], total: _Found, fits: Callable[[str], bool]) -> None:
    begins = [
        begin + len(text[begin:end]) - len(text[begin:end].lstrip()) for begin, end, *_ in chunks
    ]
    total.chunks += len(chunks)
    tables = [*_HTML_TABLE.finditer(text), *_pipe_tables(text)]
    for table in tables:
        rows, header, body = _rows(text, table)
        for start, end in rows:
            inside = bisect_left(begins, end) - bisect_right(begins, start)
            total.rows_cut += inside > 0 and fits(text[start:end])
        if header:
            first, last = bisect_right(begins, body - 1), bisect_left(begins, table.end())
            total.in_tables += last - first
            total.with_header += sum(
                all(cell in seen[2] for cell in header) for seen in chunks[first:last]
            )
    for caption, table in _captions(text, tables):
        together = text[min(caption.start, table.start()) : max(caption.end, table.end())]
        if fits(table[0]) and not fits(together):
            continue  # either is parted, or the table is cut
        parted = bisect_right(begins, caption.end) > bisect_right(begins, caption.start)
        if caption.is_before:
            total.captions += 1
            total.captions_parted += parted
        else:
            total.legends += 1
            total.legends_parted += parted
    for begin, end, _, path, _ in chunks:
        total.bold_ends += bool(_BOLD.search(text[begin:end])) and bool(text[end:].strip())
        total.leaders_in_path += bool(_LEADERS.search(path))
    marks = list(_MARK.finditer(text))
    total.marks += len(marks)
    for mark in marks:
        before, after = text[: mark.start()].rstrip()[-1:], text[mark.end() :].lstrip()[:1]
        if before.isalpha() and after.islower():
            after_at = len(text) - len(text[mark.end() :].lstrip())
            near = bisect_right(begins, after_at) - bisect_left(
                begins, len(text[: mark.start()].rstrip())
            )
            total.ends_amid += near > 0
    if marks:
        total.paged += len(chunks)
        total.with_page += sum(seen[4] for seen in chunks)


def _pipe_tables(text: str) -> Iterator[re.Match[str]]:
    """Those that markdown-it-py takes for one: in a list, lines without indentation are text."""
    opened = {
        token.map[0] for token in _PARSER.parse(text) if token.type == "table_open" and token.map
    }
    return (
        found for found in _PIPES.finditer(text) if text.count("\n", 0, found.start()) in opened
    )


@dataclass(frozen=True, slots=True)
class _Caption:
    """Where no chunk is to begin after the first character: up to a table's rows, or from its end."""

    start: int
    end: int
    is_before: bool


def _captions(
    text: str, tables: Sequence[re.Match[str]]
) -> Iterator[tuple[_Caption, re.Match[str]]]:
    """The captions, each with its table: that after it rather than that before it."""
    starts = {table.start(): table for table in tables}
    ends = {table.start() + len(table[0].rstrip()): table for table in tables}
    for tag in _CAPTION_TAG.finditer(text):
        if table := starts.get(tag.start()):
            yield _Caption(*tag.span(), is_before=True), table
    for said in _CAPTION.finditer(text):
        following = _BETWEEN.match(text, said.end())
        if following and (table := starts.get(following.end())):
            yield _Caption(said.start(), following.end(), is_before=True), table
            continue
        end = len(text[: said.start()].rstrip().removesuffix("</div>").rstrip())
        if table := ends.get(end):
            yield _Caption(end - 1, said.start(), is_before=False), table


def _rows(text: str, table: re.Match[str]) -> tuple[list[tuple[int, int]], list[str], int]:
    """The rows, the cells of the header, and where the rows after it begin."""
    if table[0][:1] != "<":
        rows, at = [], table.start()
        for line in table[0].splitlines(keepends=True):
            rows.append((at, at + len(line)))
            at += len(line)
        return rows, [text[slice(*rows[0])].strip()], rows[2][0] if len(rows) > 2 else table.end()
    rows = [
        (table.start() + row.start(), table.start() + row.end())
        for row in _HTML_ROW.finditer(table[0])
    ]
    if not rows or "<th" not in text[slice(*rows[0])].lower():
        return rows, [], table.end()
    head = [cell.strip() for cell in _HTML_HEAD.findall(text[slice(*rows[0])])]
    return rows, [cell for cell in head if cell], rows[1][0] if len(rows) > 1 else table.end()
