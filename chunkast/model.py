"""The nouns: frozen values that every other module passes around.

Units, everywhere: character indices are Python code points and end-exclusive,
byte indices are UTF-8 and end-exclusive, line numbers are 1-based and inclusive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from chunkast.reprs import analysis_html, chunk_html, chunk_line, counts_line
from chunkast.text.hashes import content_hash

__all__ = (
    "Analysis",
    "Annotation",
    "Block",
    "BreakPoint",
    "Chunk",
    "Heading",
    "ProtectedRegion",
    "draft_type",
)


def draft_type(of: type) -> Any:
    """A class whose objects can become those of ``of``, a frozen dataclass with slots.

    Its fields are set on ``draft_type(of)()``, then ``__class__`` is: the constructor takes
    four times as long, which is felt where an object is made for every block.
    """
    return type("_Draft", (), {"__slots__": of.__slots__})  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Block:
    """A node of the block tree, covering whole lines ``[start, end)`` of the source.

    The leaves of a tree, in order, tile the source: every character belongs to
    exactly one of them. ``level`` is a heading's level (1 to 6), or the nesting
    depth of a list and its items (0 for the outermost). ``content`` is what the
    parser read inside a heading or a nested paragraph once the container's prefixes
    were removed (empty where the source itself says the same). ``info`` is a fence's
    info string, or the type of a container or alert. ``closed`` is false for a fence
    without a closing line.
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
        """The leaves below this block (itself, if it is one), in document order."""
        stack = [self]
        while stack:
            block = stack.pop()
            if block.children:
                stack.extend(reversed(block.children))
            else:
                yield block

    def walk(self) -> Iterator[Block]:
        """This block and everything below it, parents first, in document order."""
        stack = [self]
        while stack:
            block = stack.pop()
            yield block
            stack.extend(reversed(block.children))


@dataclass(frozen=True, slots=True)
class BreakPoint:
    """A place where a chunk may begin: ``pos`` is the character that would be its first.

    ``score`` says how good a place it is (see ``chunkast.scores``); a negative score
    means: only when there is no other. ``kind`` names the construct it comes from.
    """

    pos: int
    score: float
    kind: str


@dataclass(frozen=True, slots=True)
class ProtectedRegion:
    """A span ``[start, end)`` that admits no cut strictly inside while it fits the budget."""

    start: int
    end: int
    kind: str = ""

    def contains(self, pos: int) -> bool:
        """Whether ``pos`` lies strictly inside: ``start < pos < end``."""
        return self.start < pos < self.end


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading at the top level of a document, which opens a section.

    ``start`` is where the heading begins, or what labels it (a comment, an anchor, an opening
    tag); ``end`` where the line after it begins.
    ``title`` is its text without markup, ``path`` the titles from the outermost
    enclosing section down to this one.
    """

    start: int
    end: int
    level: int
    title: str
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Annotation:
    """Something known of ``[start, end)``, for the metadata of the chunk that it begins in.

    A chunk's ``metadata[key]`` is the list of the values, in order; they are JSON data.
    """

    start: int
    end: int
    key: str
    value: Any = field(hash=False)


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the chunker knows of a document before it is packed.

    ``break_points`` are sorted by position, one per position. ``regions`` are sorted
    by start. ``references`` are the normalized labels of the link definitions,
    ``footnotes`` the labels of the footnotes. ``front_matter`` is the raw front matter, delimiters included, ``front_matter_data`` what
    it says where the configuration asks for that and it can be read. ``notes`` say, one
    sentence each, what had to be done differently than usual. ``masked`` is what the
    parser read where that was not the text itself, of the same length and lines. ``tags``
    are the spans of the blocks that pairs of XML tags enclose. ``extended`` says that
    there may be points and regions which no block of the tree has: of a user's heuristics,
    of tool calls. ``path`` is the heading path that the text as a whole stands under, as a
    cell of a notebook may. ``extensions`` are the Markdown extensions that the text was read
    with. The analysis does not depend on the budget, so one can serve several.
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

    def plus(
        self,
        *,
        break_points: Iterable[BreakPoint] = (),
        regions: Iterable[ProtectedRegion] = (),
        headings: Iterable[Heading] = (),
        annotations: Iterable[Annotation] = (),
    ) -> Analysis:
        """This analysis with more in it, for heuristics; they are put in order at the end."""
        # Every document is extended three times: a constructor, as ``replace`` takes as long
        # as the parse of a short text.
        return Analysis(
            self.text,
            self.blocks,
            (*self.break_points, *break_points),
            (*self.regions, *regions),
            (*self.headings, *headings),
            self.references,
            self.front_matter,
            self.notes,
            self.masked,
            self.tags,
            (*self.annotations, *annotations),
            self.extended,
            self.front_matter_data,
            self.path,
            self.extensions,
            self.footnotes,
        )

    def __repr__(self) -> str:
        return f"<Analysis: {self._counts()}>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        headings = [(heading.level, heading.title) for heading in self.headings]
        return analysis_html(self._counts(), headings, self.notes)

    def _counts(self) -> str:
        return counts_line(
            (
                (len(self.text), "character"),
                (sum(1 for _ in self.blocks.walk()) - 1, "block"),
                (len(self.break_points), "break point"),
                (len(self.regions), "region"),
                (len(self.headings), "heading"),
            )
        )


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk: a verbatim slice of the source and where it comes from.

    ``text == source[start_index:end_index]``, always. The first ``overlap``
    characters of ``text`` were already covered by the chunk before. ``headings`` is
    the heading path in force where the chunk's own text begins. ``kinds`` are the
    kinds of the blocks inside (containers before what they hold), in order of appearance. ``embed_text`` is ``text`` made
    self-contained (heading path, repeated table header, re-opened fence).
    ``token_count`` and ``embed_token_count`` are exact for the configured encoding.
    ``content_hash`` and ``embed_hash`` are those of ``text`` and ``embed_text``, computed when
    they are first read. ``oversize`` marks the two cases in which ``token_count`` may exceed the budget:
    a single grapheme cluster larger than it, and a block kept whole on request.
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
    content_hash: str
    embed_text: str
    embed_token_count: int
    embed_hash: str
    oversize: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: plain dicts, lists, strings, numbers and booleans."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["headings"] = list(self.headings)
        values["kinds"] = list(self.kinds)
        values["metadata"] = dict(self.metadata)
        return values

    def __repr__(self) -> str:
        lines = (self.start_line, self.end_line)
        return chunk_line(self.id, self.source, lines, self.token_count, self.text)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        lines = (self.start_line, self.end_line)
        return chunk_html(
            self.id, self.source, lines, self.token_count, headings=self.headings, text=self.text
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Chunk:
        """The chunk that :meth:`to_dict` described.

        Raises ``TypeError`` when a field is missing or unknown.
        """
        given = dict(values)
        for name in ("headings", "kinds"):
            if name in given:
                given[name] = tuple(given[name])
        return cls(**given)


class _HashField:
    """A field of a chunk that, where nothing set it, is the hash of another when it is read."""

    __slots__ = ("_field", "_of")

    def __init__(self, name: str, of: str) -> None:
        self._field = vars(Chunk)[name]
        self._of = of

    def __get__(self, chunk: Chunk | None, owner: type | None = None) -> Any:
        if chunk is None:
            return self
        try:
            return self._field.__get__(chunk)
        except AttributeError:
            value = content_hash(getattr(chunk, self._of))
            self._field.__set__(chunk, value)
            return value

    def __set__(self, chunk: Chunk, value: str) -> None:
        self._field.__set__(chunk, value)


# Many read neither, and hashing takes longer than all else that a chunk says together.
for _name, _of in (("content_hash", "text"), ("embed_hash", "embed_text")):
    setattr(Chunk, _name, _HashField(_name, _of))
