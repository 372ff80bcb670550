"""The configuration: every field validated once, with a message that helps."""

from __future__ import annotations

import difflib
import math
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import islice
from typing import Any, Final, Literal

from chunkast.code import language_of
from chunkast.errors import ConfigError
from chunkast.heuristics import Heuristic, Pipeline
from chunkast.scores import SCORES
from chunkast.text.front_matter import missing_library
from chunkast.text.language import LANGUAGES

__all__ = ("DEFAULT_EXTENSIONS", "ENDINGS", "EXTENSIONS", "ChunkConfig")

# The Markdown extensions, whether each is on by default, and what it is known to misread.
EXTENSIONS: Final[Mapping[str, bool]] = {
    # Only at the very start, and only if it looks like YAML or TOML, so that a heading
    # between two rules stays one.
    "front_matter": True,
    # A line of text over a line of dashes and pipes is a table's header.
    "tables": True,
    # "[^1]:" at the start of a line is never a link definition.
    "footnotes": True,
    # Any line of three or more colons with a name opens a container, up to its closing
    # line or to the end of what holds it.
    "containers": True,
    # "!!! word" opens an admonition although it may have been meant as emphasis. So do
    # "??? word" and, for a tab, === and a title in quotes.
    "admonitions": True,
    # "/// name" up to its own line of as many slashes, and HTML elements around Markdown
    # (<details>, <div> ...) enclose a block. A comment, an anchor or a tag on lines of its own
    # belongs to what follows it; a heading after one begins its section there.
    "blocks": True,
    # From <table> to </table>, over blank lines too, is one table with rows and cells, unless
    # it encloses a list, a fence or a heading.
    "html_tables": True,
    # <h1> to <h6> alone in an HTML block is a heading, as at the top of many READMEs.
    "html_headings": True,
    # A paragraph that begins with "Table 3" beside a table stays with it.
    "captions": True,
    # A text that is one fence ```markdown but for white space is the Markdown inside it.
    "answers": True,
    # Lines with five or more leading dots and a page number are a table of contents, no heading.
    "contents": True,
    # A paragraph of one line, all of it strong, stays with the block after it.
    "bold_headings": True,
    # Lines of a paragraph that begin with a bullet (• ◦ ‣ –) or "(a)" begin a sentence at least.
    "bullets": True,
    # Marks of pages on lines of their own, and form feeds, give chunks their pages. A paragraph
    # that goes on after one in lower case is one paragraph.
    "page_markers": True,
    # A quote whose first line is [!NOTE] or the like.
    "alerts": True,
    # "[ ]" at the head of an item is a box, never a link.
    "tasklists": True,
    # "$5 and $10" is money; block math never reaches over a blank line.
    "math": True,
    # Bare URLs are kept whole inside prose.
    "autolinks": True,
    # "{#id}", "{.class}", "{key=value}" and the like at a heading's end are not part of its title.
    "attributes": True,
    # [[page]] and ![[embed]] are kept whole inside prose.
    "wikilinks": True,
    # Obsidian: callouts of any type, with a title or foldable; comments between lines of %%;
    # block ids (^id) stay with what they are the ids of. A line that begins with %% and has no
    # other %% opens a comment, if a line that ends with %% follows.
    "obsidian": True,
    # A pair of tags on lines of their own, none of HTML's elements, encloses a block.
    "xml_tags": True,
    # A source's ending says what it is: .mdx switches "mdx" on, .qmd and .Rmd "quarto".
    "dialects": True,
    # Off: "Price" over ": 5" becomes a definition.
    "deflists": False,
    # Off: a paragraph that begins with "import " is code, and so is a line in braces.
    "mdx": False,
    # Off: of ":::" divs one in another, the first bare ":::" closes the inner one.
    "quarto": False,
}
DEFAULT_EXTENSIONS: Final = tuple(name for name, on in EXTENSIONS.items() if on)
# Ending of a source's name -> the extension that it switches on.
_DIALECTS: Final = {".mdx": "mdx", ".qmd": "quarto", ".rmd": "quarto"}
# The extensions of documents, without source code.
ENDINGS: Final = (".md", ".markdown", ".mdx", ".qmd", ".rmd", ".txt", ".ipynb")
_ALIASES: Final = {"chunk_size": "max_tokens", "chunk_overlap": "overlap"}
# The default window is 200 tokens of 900, and in proportion for other budgets.
_WINDOW_SHARE: Final = 200 / 900
# The largest number of tokens: that of a document is far below, and floats can hold it.
_MOST_TOKENS: Final = 2**63 - 1
_MAX_TOKENS: Final = (
    'must be a whole number of at least 1 and at most 2**63 - 1, or "model" for the limit of '
    "the tokenizer"
)
# The most items of a field that takes several: an iterator may have no end.
_MOST_ITEMS: Final = 10_000


@dataclass(frozen=True, slots=True)
class ChunkConfig:
    """The options of a chunker. Raises ``ConfigError`` for a value that is not allowed.

    **Budget**

    max_tokens: the most tokens of a chunk, overlap and context included (1 to 2**63 - 1), or
        "model" for the limit of the tokenizer, less the special tokens that it adds. Special
        tokens are never counted.
    reserve_tokens: tokens that ``embed_text`` leaves free for a prefix that is added before
        embedding ("query: ", an instruction); less than ``max_tokens``.
    overlap: tokens of the previous chunk that are repeated: a fraction of the budget (a float
        below 1) or a number of tokens (an int). The budget is ``max_tokens`` less
        ``reserve_tokens``.
    min_tokens: sections and pieces smaller than this are joined with a neighbour under the same
        parent if both fit. By default (None), whole sections are always joined if they fit, and
        pieces if one is below a tenth of the budget; 0 turns joining off.
    encoding: the name of a tiktoken encoding; the path of a ``tokenizer.json`` (a str that ends
        with .json, or a ``Path``; needs the extra ``hf``); a tokenizer of ``tokenizers`` or
        ``transformers``; any object with an ``encode`` method; or a callable from str to int.
    model: the name of a model, instead of ``encoding``.
    allow_download: allow tiktoken to download the vocabulary of an encoding that is neither
        bundled nor in its cache. Nothing else uses the network.

    **Cutting**

    packing: "sections" keeps sections whole while they fit; "fill" makes chunks as full as
        possible.
    window: how many tokens back from the limit "fill" looks for a cut; None is 200 of 900.
    decay: the share of a point's score that is lost at the far end of the window (0 to 1).
    scores: overrides of the score table, by kind (see ``chunkast.scores``).
    trim: drop blank lines at a chunk's start and white space at its end.
    oversize: "split" divides a block over budget; "keep" makes it one chunk with ``oversize``.
    opaque: the same for opaque data over budget (a data URI, base64, a hex dump, minified code:
        see ``chunkast.text.opaque``). "split" warns with ``ChunkastWarning``; with "keep",
        ``embed_text`` has a short placeholder and stays within the budget.
    sentence_language: the language of sentences, as a code ("de"), or "auto": the ``lang`` or
        ``language`` of front matter, or a guess by function words (``chunkast.text.language``).

    **Context**

    context: the text before a chunk in ``embed_text``: "none"; "title", from front matter or the
        first heading of level 1; or "headings", the heading path below the title in front matter.
    front_matter: the front matter in a chunk's metadata: "raw", a string, or "parsed", a mapping
        (needs the extra ``yaml``). Invalid front matter stays a string, with a
        ``ChunkastWarning``.
    front_matter_text: "keep" makes front matter text of the first chunk; with "drop" it is in no
        chunk. Positions are those of the whole document either way.
    front_matter_keys: top-level keys of front matter whose values begin ``embed_text``, one per
        line, if there is room; "" is not a key.

    **Markdown**

    extensions: the Markdown extensions that are on; ``()`` is plain CommonMark.
    heuristics: ``chunkast.heuristics.Heuristic`` objects: masks before the parse; break points,
        regions and annotations after it.
    tools: ``chunkast.toolcalls.Tool`` objects whose calls are kept whole and listed in the
        chunks' metadata.

    **Converted documents**

    pseudo_headings: treat a paragraph of one line, all of it strong, as a heading (needs the
        extension "bold_headings").
    heading_levels: "marks" uses the levels in the document; "numbering" uses the numbers of
        headings like "2.3.1 Title" that are all on one level.
    page_markers: a regular expression for lines that mark pages, in addition to the known ones.
        It must match a whole line, without the spaces and tabs at its ends. Its group
        (?P<begins>...) or (?P<ends>...) is the number of the page, at most nine digits.
    page_markers_in_embed: keep page marks in ``embed_text``; ``text`` always has them.
    running_heads_in_embed: keep lines that are repeated on page after page in ``embed_text``.
    """

    max_tokens: int | Literal["model"] = 900
    reserve_tokens: int = 0
    overlap: float | int = 0.15
    min_tokens: int | None = None
    encoding: Any = "cl100k_base"
    model: str | None = None
    packing: Literal["sections", "fill"] = "sections"
    window: int | None = None
    decay: float = 0.7
    scores: Mapping[str, float] = field(default_factory=dict, hash=False)
    context: Literal["none", "title", "headings"] = "headings"
    trim: bool = True
    oversize: Literal["split", "keep"] = "split"
    opaque: Literal["split", "keep"] = "split"
    heuristics: tuple[Heuristic[Any, Any], ...] = ()
    tools: tuple[Any, ...] = ()
    extensions: tuple[str, ...] = DEFAULT_EXTENSIONS
    sentence_language: str = "auto"
    pseudo_headings: bool = False
    heading_levels: Literal["marks", "numbering"] = "marks"
    page_markers: str | None = None
    page_markers_in_embed: bool = False
    running_heads_in_embed: bool = True
    front_matter: Literal["raw", "parsed"] = "raw"
    front_matter_text: Literal["keep", "drop"] = "keep"
    front_matter_keys: tuple[str, ...] = ()
    allow_download: bool = False

    def __post_init__(self) -> None:
        _check_int("reserve_tokens", self.reserve_tokens, least=0)
        if not isinstance(self.max_tokens, str):
            self._check_budget()
        elif self.max_tokens != "model":
            raise ConfigError("max_tokens", self.max_tokens, _MAX_TOKENS)
        self._check_overlap()
        if self.min_tokens is not None:
            _check_int("min_tokens", self.min_tokens, least=0)
        if self.model is not None and not isinstance(self.model, str):
            raise ConfigError("model", self.model, "must be a model's name, or None")
        if self.window is not None:
            _check_int("window", self.window, least=0)
        _check_number("decay", self.decay)
        if not 0 <= self.decay <= 1:
            raise ConfigError("decay", self.decay, "must be a number from 0 to 1")
        for name, allowed in (
            ("packing", ("sections", "fill")),
            ("context", ("none", "title", "headings")),
            ("oversize", ("split", "keep")),
            ("opaque", ("split", "keep")),
            ("front_matter", ("raw", "parsed")),
            ("front_matter_text", ("keep", "drop")),
            ("heading_levels", ("marks", "numbering")),
            ("pseudo_headings", (True, False)),
            ("page_markers_in_embed", (True, False)),
            ("running_heads_in_embed", (True, False)),
            ("trim", (True, False)),
            ("allow_download", (True, False)),
        ):
            _check_choice(name, getattr(self, name), allowed)
        if self.front_matter == "parsed" and (missing := missing_library()):
            raise ConfigError(
                "front_matter", "parsed", f"needs {missing}: pip install 'chunkast[yaml]'"
            )
        self._check_language()
        self._check_keys()
        self._check_page_markers()
        self._check_scores()
        self._check_extensions()
        self._check_heuristics()
        self._check_tools()

    def _check_budget(self) -> None:
        if not _is_whole(self.max_tokens, least=1):
            raise ConfigError("max_tokens", self.max_tokens, _MAX_TOKENS)
        if self.budget < 1:
            allowed = f"must be less than max_tokens={self.max_tokens}"
            raise ConfigError("reserve_tokens", self.reserve_tokens, allowed)

    def _check_overlap(self) -> None:
        value = self.overlap
        # The limit of a tokenizer is known to the chunker, which checks once more.
        most = _MOST_TOKENS if isinstance(self.max_tokens, str) else self.budget
        less = f" - reserve_tokens={self.reserve_tokens}" if self.reserve_tokens else ""
        allowed = (
            f"must be a fraction of max_tokens (0.0 <= overlap < 1.0) or a whole number of "
            f"tokens (0 <= overlap < max_tokens={self.max_tokens}{less})"
        )
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ConfigError("overlap", value, allowed)
        if not 0 <= value < (1 if isinstance(value, float) else most):
            raise ConfigError("overlap", value, allowed)

    def _check_language(self) -> None:
        given = self.sentence_language
        if not (isinstance(given, str) and (given == "auto" or given in LANGUAGES)):
            allowed = 'must be "auto" or the code of a language in ISO 639-1, such as "de"'
            raise ConfigError("sentence_language", given, allowed)

    def _check_keys(self) -> None:
        keys = _items("front_matter_keys", self.front_matter_keys, "names")
        for key in keys:
            if not isinstance(key, str) or not key.strip():
                raise ConfigError("front_matter_keys", key, "must be the name of a key")
        object.__setattr__(self, "front_matter_keys", keys)

    def _check_page_markers(self) -> None:
        if self.page_markers is None:
            return
        allowed = (
            "must be a regular expression for a line that is not blank, its group (?P<begins>...) or "
            "(?P<ends>...)"
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # of a syntax that is about to change
                pattern = re.compile(self.page_markers)
                blank = pattern.fullmatch("") is not None
        except (re.error, TypeError, ValueError, OverflowError, RecursionError, Warning) as error:
            raise ConfigError("page_markers", self.page_markers, f"{allowed}: {error}") from error
        if (
            pattern.groups > 1
            or len({"begins", "ends"} & pattern.groupindex.keys()) < pattern.groups
            or blank
        ):
            raise ConfigError("page_markers", self.page_markers, allowed)

    def _check_scores(self) -> None:
        allowed = "must be a mapping from kind to number"
        if not isinstance(self.scores, Mapping):
            raise ConfigError("scores", self.scores, allowed)
        try:
            scores = dict(self.scores)
        except Exception as error:  # whatever a mapping of the user's own raises
            raise ConfigError("scores", self.scores, allowed) from error
        for kind, score in scores.items():
            if not isinstance(kind, str) or kind not in SCORES:
                raise ConfigError("scores", kind, _suggest(kind, SCORES))
            _check_number(f"scores[{kind!r}]", score)
        object.__setattr__(self, "scores", scores)

    def _check_extensions(self) -> None:
        names = _items("extensions", self.extensions, "names")
        for name in names:
            if not isinstance(name, str) or name not in EXTENSIONS:
                raise ConfigError("extensions", name, _suggest(name, EXTENSIONS))
        object.__setattr__(self, "extensions", names)

    def _check_heuristics(self) -> None:
        heuristics = _items("heuristics", self.heuristics, "Heuristic objects")
        Pipeline.of(heuristics)
        object.__setattr__(self, "heuristics", heuristics)

    def _check_tools(self) -> None:
        tools = _items("tools", self.tools, "Tool objects")
        if tools:
            from chunkast.toolcalls.tools import tools_by_name

            tools = tuple(tools_by_name(tools).values())
        object.__setattr__(self, "tools", tools)

    def changed_fields(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults, by name."""
        default = type(self)()
        given = ((each.name, getattr(self, each.name)) for each in fields(self))
        return {name: value for name, value in given if value != getattr(default, name)}

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> ChunkConfig:
        """A configuration from keyword options, the aliases included.

        ``chunk_size`` means ``max_tokens`` and ``chunk_overlap`` means ``overlap``.
        Raises ``ConfigError`` for an unknown name and for a name given twice.
        """
        known = {f.name for f in fields(cls)}
        values: dict[str, Any] = {}
        for given, value in options.items():
            name = _ALIASES.get(given, given)
            if name not in known:
                raise ConfigError(given, value, f"no such field; {_suggest(given, sorted(known))}")
            if name in values:
                raise ConfigError(given, value, f"{name} is given twice, once by its alias")
            values[name] = value
        return cls(**values)

    def extensions_for(self, source: str | None) -> tuple[str, ...]:
        """The extensions that a document is read with: its name may add one (see "dialects")."""
        if "dialects" in self.extensions and source:
            name = source.lower()
            added = next((d for ending, d in _DIALECTS.items() if name.endswith(ending)), None)
            if added and added not in self.extensions:
                return (*self.extensions, added)
        return self.extensions

    def language_of(self, source: str | None) -> str:
        """The programming language of a source file, by its name's ending; "" if it is none."""
        return language_of(source) if source and "dialects" in self.extensions else ""

    @property
    def budget(self) -> int:
        """The most tokens of a chunk and of what is embedded: all but the reserved ones.

        Raises ``ConfigError`` while ``max_tokens`` is "model": ``Chunker(...).config`` has the
        number in its place.
        """
        if isinstance(self.max_tokens, str):
            allowed = "is a number in Chunker(...).config only"
            raise ConfigError("max_tokens", self.max_tokens, allowed)
        return self.max_tokens - self.reserve_tokens

    @property
    def overlap_tokens(self) -> int:
        """The overlap's budget in tokens."""
        if isinstance(self.overlap, float):
            return int(self.overlap * self.budget)
        return self.overlap

    @property
    def window_tokens(self) -> int:
        """The tokens before the limit in which "fill" looks for a cut."""
        return round(self.budget * _WINDOW_SHARE) if self.window is None else self.window

    @property
    def score_table(self) -> Mapping[str, float]:
        """The score of every kind of break point, overrides included."""
        return {**SCORES, **self.scores} if self.scores else SCORES


def _suggest(given: object, names: Iterable[str]) -> str:
    names = list(names)
    close = difflib.get_close_matches(given, names, n=1) if isinstance(given, str) else []
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}must be one of {', '.join(names)}"


def _items(name: str, given: Any, what: str) -> tuple[Any, ...]:
    """Return the items of a field that takes several values; a str is a single value."""
    allowed = f"must be a sequence of {what}"
    try:
        items = None if isinstance(given, str) else tuple(islice(given, _MOST_ITEMS + 1))
    except Exception as error:  # whatever an iterable of the user's own raises
        raise ConfigError(name, given, allowed) from error
    if items is None or len(items) > _MOST_ITEMS:
        raise ConfigError(name, given, f"{allowed}, at most {_MOST_ITEMS:,} of them")
    return items


def _check_int(name: str, value: object, *, least: int) -> None:
    if not _is_whole(value, least=least):
        allowed = f"must be a whole number of at least {least} and at most 2**63 - 1"
        raise ConfigError(name, value, allowed)


def _is_whole(value: object, *, least: int) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and least <= value <= _MOST_TOKENS  # type: ignore[operator]


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_finite(value):
        raise ConfigError(name, value, "must be a finite number")


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that no float can hold
        return False


def _check_choice(name: str, value: object, allowed: tuple[object, ...]) -> None:
    # The type comes first: values of other types may compare in ways of their own.
    if not any(type(value) is type(choice) and value == choice for choice in allowed):
        raise ConfigError(name, value, f"must be one of {', '.join(map(repr, allowed))}")
