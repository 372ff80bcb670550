"""The immutable data types that modules share, such as ``Chunk`` and ``Analysis``.

Units: character indices count Unicode code points, byte indices count bytes of UTF-8. Both are
0-based, and ends are exclusive. Line numbers are 1-based, and ends are inclusive.
"""

from __future__ import annotations

import html
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final

from chunkast.errors import counted
from chunkast.text.hashes import chunk_uuid, content_hash, values_hash
from chunkast.text.opaque import opaque_runs
from chunkast.text.source_map import without_surrogates

__all__ = (
    "Analysis",
    "Annotation",
    "Block",
    "BreakPoint",
    "Chunk",
    "Heading",
    "ProtectedRegion",
    "Replacement",
    "mutable_type",
    "state_hash",
)

# The maximum number of headings that a notebook shows for an analysis.
_SHOWN_HEADINGS: Final = 50
# The maximum number of characters of a chunk's text in its ``repr``.
_SHOWN_TEXT: Final = 40


def mutable_type(of: type) -> Any:
    """Return a mutable class whose objects can become objects of the frozen dataclass ``of``.

    To make an object of ``of``, set all fields of a mutable object, then set its ``__class__`` to
    ``of``. This is several times as fast as the constructor. ``of`` must have slots.
    """
    return type("_Mutable", (), {"__slots__": of.__slots__})  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Block:
    r"""A node of the block tree: the lines in ``[start, end)`` of the source.

    Every character of the source belongs to exactly one leaf of the tree.

    kind: the kind of block ("document", "paragraph", "list", "fence", ...).
    start: the start of the block, a character index; always the start of a line.
    end: the end of the block, an exclusive character index.
    children: the blocks directly inside this block, in order; empty for a leaf.
    level: the level of a heading (1 to 6), or the nesting depth of a list and its items
        (0 for the outermost); 0 for other blocks.
    content: the text of a heading or a nested paragraph without the prefixes of its containers,
        such as "> "; empty if the source text has no such prefixes.
    info: the info string of a fence, or the type of a container or alert; empty for other
        blocks.
    closed: false for a fence without a closing line; true for any other block.

    >>> from chunkast import Chunker
    >>> tree = Chunker().analyze("# Title\n\nText.\n").blocks
    >>> [(leaf.kind, leaf.start, leaf.end) for leaf in tree.leaves()]
    [('heading', 0, 8), ('blank', 8, 9), ('paragraph', 9, 15)]
    """

    kind: str
    start: int
    end: int
    children: tuple[Block, ...] = ()
    level: int = 0
    content: str = ""
    info: str = ""
    closed: bool = True

    def leaves(self) -> Iterator[Block]:
        """Yield the leaves of this block in document order. A leaf yields itself."""
        return (block for block in self.walk() if not block.children)

    def walk(self) -> Iterator[Block]:
        """Yield this block and all blocks inside it in document order, parents first."""
        stack = [self]
        while stack:
            block = stack.pop()
            yield block
            stack.extend(reversed(block.children))


@dataclass(frozen=True, slots=True)
class BreakPoint:
    """A place where a chunk may begin.

    pos: the position of the chunk's first character, a character index.
    score: the quality of the break point; higher is better (see ``chunkast.scores``). A break
        point with a negative score is used only if there is no other.
    kind: the construct that begins or ends at ``pos``, a key of the score table ("h2",
        "sentence", ...).
    """

    pos: int
    score: float
    kind: str


@dataclass(frozen=True, slots=True)
class ProtectedRegion:
    """A span ``[start, end)`` that is never cut if it fits the budget.

    start: the start of the region, a character index.
    end: the end of the region, an exclusive character index.
    kind: the kind of construct in the region ("fence", "table", "link", ...), or empty.
    """

    start: int
    end: int
    kind: str = ""

    def contains(self, pos: int) -> bool:
        """Return whether ``pos`` lies strictly inside: ``start < pos < end``."""
        return self.start < pos < self.end


@dataclass(frozen=True, slots=True)
class Heading:
    r"""A heading at the top level of a document. It begins a section if it has a title.

    start: the start of the heading, a character index. A comment, HTML anchor or opening tag
        directly before a heading belongs to the heading.
    end: the start of the line after the heading, a character index.
    level: the level of the heading, from 1 (the outermost) to 6.
    title: the text of the heading without markup, shortened to 2,000 characters.
    path: the titles of all enclosing sections, outermost first, followed by this title if there is
        one.
    id: the id in the heading's attributes, as in ``## Title {#id}``; may be empty.
    anchors: other ids in or directly before the heading, such as the target of its permalink.

    >>> from chunkast import Chunker
    >>> [heading.path for heading in Chunker().analyze("# A\n\n## *B*\n").headings]
    [('A',), ('A', 'B')]
    """

    start: int
    end: int
    level: int
    title: str
    path: tuple[str, ...]
    id: str = ""
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Annotation:
    """A value for the metadata of the chunk in which the span ``[start, end)`` begins.

    A chunk's ``metadata[key]`` is the list of all values with this key, in order.

    start: the start of the span in the document, a character index.
    end: the end of the span, an exclusive character index.
    key: the key in the chunk's metadata.
    value: JSON data: dicts, lists, strings, numbers, booleans, None.
    """

    start: int
    end: int
    key: str
    value: Any = field(hash=False)


@dataclass(frozen=True, slots=True)
class Replacement:
    """A text that replaces the span ``[start, end)`` of the document in ``embed_text``.

    The span is replaced only if one chunk contains all of it. ``Chunk.text`` does not change.

    start: the start of the span, a character index.
    end: the end of the span, an exclusive character index.
    text: the replacement text; "" removes the span.
    """

    start: int
    end: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The structure of a document before it is cut into chunks.

    It does not depend on the token budget, so one analysis can be chunked with several budgets.

    text: the document.
    blocks: the root of the block tree; its kind is "document".
    break_points: the places where chunks may begin, sorted by position, at most one per position.
    regions: the spans that are never cut if they fit the budget, sorted by start.
    headings: the headings at the top level, in document order.
    references: the normalized labels of the link definitions.
    front_matter: the raw front matter, including its delimiters; empty if there is none.
    notes: a sentence for each fallback and other unusual step of the analysis.
    masked: the text that the parser read, with the same length and line endings as ``text``; empty
        if the parser read ``text`` itself.
    tags: the spans of the blocks between pairs of XML tags, as character indices.
    annotations: values for the metadata of chunks.
    extended: true if heuristics or tool calls may have added break points and regions that do not
        come from a block.
    front_matter_data: the front matter as a mapping; None if it is invalid or ``front_matter`` is
        not "parsed".
    path: the heading path of the section that contains the whole text, such as a notebook cell.
    extensions: the Markdown extensions with which the text was parsed.
    footnotes: the labels of the footnotes.
    pages: for each page, its start, a character index, and its 1-based number.
    replacements: texts that replace spans in ``embed_text``, sorted by start. If two spans
        overlap, only the first is replaced.
    inner_pages: the spans of the front matter with which pages inside the document begin.
    wrappers: the sorted spans of blocks that contain headings, such as tabs, and of pairs of tags
        around blocks. A section that begins inside a wrapper ends with it.
    """

    text: str
    blocks: Block
    break_points: tuple[BreakPoint, ...]
    regions: tuple[ProtectedRegion, ...]
    headings: tuple[Heading, ...]
    references: frozenset[str] = frozenset()
    front_matter: str = ""
    notes: tuple[str, ...] = ()
    masked: str = ""
    tags: tuple[tuple[int, int], ...] = ()
    annotations: tuple[Annotation, ...] = ()
    extended: bool = False
    front_matter_data: Mapping[str, Any] | None = field(default=None, hash=False)
    path: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    footnotes: frozenset[str] = frozenset()
    replacements: tuple[Replacement, ...] = ()
    pages: tuple[tuple[int, int], ...] = ()
    wrappers: tuple[tuple[int, int], ...] = ()
    inner_pages: tuple[tuple[int, int], ...] = ()

    def plus(
        self,
        *,
        break_points: Iterable[BreakPoint] = (),
        regions: Iterable[ProtectedRegion] = (),
        headings: Iterable[Heading] = (),
        annotations: Iterable[Annotation] = (),
        replacements: Iterable[Replacement] = (),
    ) -> Analysis:
        """Return a copy of the analysis with these objects added; their order does not matter."""
        return replace(
            self,
            break_points=(*self.break_points, *break_points),
            regions=(*self.regions, *regions),
            headings=(*self.headings, *headings),
            annotations=(*self.annotations, *annotations),
            replacements=(*self.replacements, *replacements),
        )

    def __repr__(self) -> str:
        return f"<Analysis: {self._counts()}>"

    def _repr_html_(self) -> str:
        """Return the counts, headings and notes as HTML for a notebook."""
        rows = [
            f'<div style="margin-left: {heading.level - 1}em">{_escaped(heading.title)}</div>'
            for heading in self.headings[:_SHOWN_HEADINGS]
        ]
        more = len(self.headings) - _SHOWN_HEADINGS
        if more > 0:
            rows.append(f"<div>and {counted(more, 'heading')} more</div>")
        rows += [f"<div>note: {_escaped(note)}</div>" for note in self.notes]
        return f"<div><b>Analysis</b> {self._counts()}{''.join(rows)}</div>"

    def _counts(self) -> str:
        counts = (
            (len(self.text), "character"),
            (sum(1 for _ in self.blocks.walk()) - 1, "block"),
            (len(self.break_points), "break point"),
            (len(self.regions), "region"),
            (len(self.headings), "heading"),
        )
        return ", ".join(counted(count, noun) for count, noun in counts)


# The fields of a chunk that ``plan_writes`` compares.
RECORD: Final = ("id", "content_hash", "embed_hash", "state_hash")
# The fields that are lists in JSON.
_TUPLES: Final = ("headings", "kinds", "pages", "section_starts", "section_anchors")
# The fields that contain the hash of another field.
_HASHED: Final = {"content_hash": "text", "embed_hash": "embed_text"}


@dataclass(frozen=True, slots=True)
class Chunk:
    r"""A chunk: a verbatim slice of a document, its position, and the text to embed.

    id: 16 hexadecimal digits, computed from the document's name, the heading path, and the chunk's
        number among the chunks with the same heading path (see ``chunk_id``).
    index: the chunk's number in the document, counting from 0.
    source: the document's name as given by the caller, or None.
    text: the chunk's slice of the document, always equal to ``document[start_index:end_index]``.
        It begins with the overlap, if any; the rest is the chunk's own text.
    start_index: the start of ``text`` in the document, as a character index from 0.
    end_index: the end of ``text`` in the document, as an exclusive character index.
    start_byte: the start of ``text`` in the document, as a byte index in UTF-8, from 0.
    end_byte: the end of ``text`` in the document, as an exclusive byte index in UTF-8.
    start_line: the 1-based line number of the first character of ``text``.
    end_line: the 1-based line number of the last character of ``text``.
    token_count: the exact number of tokens in ``text``.
    overlap: the number of characters at the start of ``text`` that are repeated from the previous
        chunk.
    headings: the heading path, outermost first, of the section in which the chunk's own text
        begins. The id is computed from this path. For citations, use ``sections``.
    kinds: the kinds of blocks in ``text`` ("paragraph", "table", ...). Each kind is listed once, in
        order of appearance, with containers before their contents.
    content_hash: the SHA-256 of ``text`` with normalized white space, computed on first access; not
        an argument of the constructor.
    embed_text: the text to embed: ``text`` with context that makes it self-contained, such as the
        heading path, a repeated table header or a reopened fence. Spans of ``text`` may be replaced
        or omitted.
    embed_token_count: the exact number of tokens in ``embed_text``.
    embed_hash: the SHA-256 of ``embed_text`` with normalized white space, computed on first access;
        not an argument of the constructor.
    oversize: true if ``token_count`` exceeds the budget, because the configuration keeps a block or
        opaque data whole, or because a single grapheme cluster is larger than the budget.
    metadata: JSON data by key, such as the front matter, the values of annotations, and the
        details of a notebook cell.
    pages: the 1-based numbers of the first and last pages of ``text``, or None if the document has
        no page marks.
    sections: the heading path of every section in the chunk's own text, in order. A ``title`` in
        the front matter is the first entry of every path. Text before the first heading belongs to
        the section ``(title,)``, or to no section if there is no title.
    section_starts: the start of each section in ``sections`` within the chunk's own text, as a
        character index in the document.
    section_anchors: the anchor of each section in ``sections``, such as "install" in
        ``guide.md#install``; "" for a section without one, for example in a notebook.

    >>> from chunkast import chunk
    >>> document = "# Fruit\n\nApples are red.\n"
    >>> [first] = chunk(document, source="fruit.md")
    >>> first.text == document[first.start_index : first.end_index]
    True
    >>> first.headings, first.start_line, first.end_line
    (('Fruit',), 1, 3)
    """

    id: str
    index: int
    source: str | None
    text: str
    start_index: int
    end_index: int
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    token_count: int
    overlap: int
    headings: tuple[str, ...]
    kinds: tuple[str, ...]
    content_hash: str = field(init=False)
    embed_text: str
    embed_token_count: int
    embed_hash: str = field(init=False)
    oversize: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    pages: tuple[int, int] | None = None
    sections: tuple[tuple[str, ...], ...] = ()
    section_starts: tuple[int, ...] = ()
    section_anchors: tuple[str, ...] = ()

    def section_at(self, pos: int) -> tuple[str, ...]:
        """Return the heading path of the section at ``pos``, a character index in the document.

        A position in the overlap is treated as the start of the chunk's own text. If the chunk has
        no ``sections``, for example because an earlier version stored it, returns ``headings``.
        """
        if not self.sections:
            return self.headings
        slot = self._slot_at(pos)
        return self.sections[slot] if slot >= 0 else ()

    def anchor_at(self, pos: int) -> str:
        """Return the anchor of the section at ``pos``; may be empty. See :meth:`section_at`."""
        slot = self._slot_at(pos)
        return self.section_anchors[slot] if 0 <= slot < len(self.section_anchors) else ""

    def _slot_at(self, pos: int) -> int:
        """Return the slot in ``sections`` of the section at ``pos``, or -1 before the first."""
        after_overlap = max(pos, self.start_index + self.overlap)
        return bisect_right(self.section_starts, after_overlap) - 1

    @property
    def anchor(self) -> str:
        """The anchor of the section in which the chunk's own text begins; may be empty."""
        return self.anchor_at(self.start_index)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> str:
            # The hashes are computed on first access: few callers read them, and hashing takes
            # longer than computing all other fields.
            if name not in _HASHED:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = content_hash(getattr(self, _HASHED[name]))
            object.__setattr__(self, name, value)
            return value

    @property
    def context(self) -> str:
        """The part of ``embed_text`` before ``text``, such as the heading path or a table's header.

        If ``embed_text`` replaces spans of ``text``, the context ends before the first line that is
        in both.
        """
        embedded, shown = self.embed_text, self.text
        if shown in embedded:
            return embedded[: embedded.rfind(shown)]
        if runs := opaque_runs(shown, 0, len(shown)):
            shown = shown[: runs[0].start] + runs[0].placeholder
        lines = filter(str.strip, (shown, *shown.split("\n")))
        first = next((line for line in lines if line in embedded), embedded)
        return embedded[: embedded.rfind(first)]

    @property
    def uuid(self) -> str:
        """The chunk's id as a UUID, for stores that accept only UUIDs (see ``chunk_uuid``)."""
        return chunk_uuid(self.id)

    @property
    def state_hash(self) -> str:
        """The hash of all fields but ``sections``, ``section_starts`` and ``section_anchors``."""
        return state_hash(self.to_dict())

    def record(self) -> dict[str, str]:
        """Return the fields that a vector store must keep for :func:`chunkast.plan_writes`.

        The keys are ``id``, ``content_hash``, ``embed_hash`` and ``state_hash``.
        """
        return {name: getattr(self, name) for name in RECORD}

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON data: dicts, lists, strings, numbers, booleans and ``None``."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        for name in _TUPLES:
            values[name] = None if values[name] is None else list(values[name])
        values["metadata"] = dict(self.metadata)
        values["sections"] = list(map(list, self.sections))
        return values

    def __repr__(self) -> str:
        words = " ".join(self.text[: 4 * _SHOWN_TEXT].split())
        shown = words if len(words) <= _SHOWN_TEXT else f"{words[: _SHOWN_TEXT - 1]}…"
        return f"<Chunk {self._label()}, {self.token_count} tokens: {shown!r}>"

    def _repr_html_(self) -> str:
        """Return the label, heading path and text as HTML for a notebook."""
        paths = self.sections or ((self.headings,) if self.headings else ())
        shown = "".join(f"<br>{_escaped(' > '.join(path))}" for path in paths[:_SHOWN_HEADINGS])
        head = f"<b>Chunk</b> {_escaped(self._label())}, {self.token_count} tokens{shown}"
        text = _escaped(self.text)
        return f'<div>{head}<pre style="white-space: pre-wrap">{text}</pre></div>'

    def _label(self) -> str:
        """Return the chunk's id, source and line numbers, in one line."""
        lines = f"{self.start_line}-{self.end_line}"
        if self.source is None:
            return f"{self.id} lines {lines}"
        # Escaped like a string's repr, so that a name with a line end stays on one line.
        return f"{self.id} {repr(f'{self.source}:{lines}')[1:-1]}"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Chunk:
        """Return the chunk whose :meth:`to_dict` returned ``values``.

        Missing hashes are computed. The fields for sections may be missing too, because chunks of
        earlier versions do not have them. Raises ``TypeError`` if another required field is missing
        or a field is unknown.

        >>> from chunkast import chunk
        >>> [first] = chunk("Apples.")
        >>> Chunk.from_dict(first.to_dict()) == first
        True
        """
        arguments = dict(values)
        arguments["sections"] = tuple(map(tuple, arguments.get("sections") or ()))
        for name in _TUPLES:
            if arguments.get(name) is not None:
                arguments[name] = tuple(arguments[name])
        hashes = {name: arguments.pop(name, "") for name in _HASHED}
        chunk = cls(**arguments)
        for name, value in hashes.items():
            if value:
                object.__setattr__(chunk, name, value)
        return chunk


def _escaped(text: str) -> str:
    """Escape ``text`` for HTML; lone surrogates, which HTML must not contain, become U+FFFD."""
    return html.escape(without_surrogates(text))


def state_hash(values: Mapping[str, Any]) -> str:
    """Return ``Chunk.state_hash`` for ``values``, the result of :meth:`Chunk.to_dict`."""
    # Excluded are the two hashes, which other fields determine, and the sections, which earlier
    # versions did not have. ``pages=None`` is excluded to keep the hashes of earlier versions.
    known = {name: value for name, value in values.items() if name not in _DERIVED}
    if known.get("pages") is None:
        known.pop("pages", None)
    return values_hash(known)


_DERIVED: Final = {*RECORD[1:], "sections", "section_starts", "section_anchors"}
