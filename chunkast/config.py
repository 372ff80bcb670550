"""The options of a chunker, and the checks of their values."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from chunkast.code import language_of
from chunkast.errors import ConfigError
from chunkast.heuristics import Heuristic, Pipeline
from chunkast.scores import SCORES
from chunkast.text.files import tokenizer_file
from chunkast.text.language import LANGUAGES

__all__ = ("COUNTERS", "DEFAULT_EXTENSIONS", "ENDINGS", "EXTENSIONS", "ChunkConfig")

# The Markdown extensions, and whether each is on by default. The comments describe what an
# extension does or is known to misread.
EXTENSIONS: Final[Mapping[str, bool]] = {
    # Only if it looks like YAML or TOML, so that a heading between two horizontal rules is still a
    # heading. "--- abstract" ends it too, as in drafts of the IETF. Without delimiters: the title block
    # of Pandoc ("% title"), and a first paragraph of two or more lines "Key: value", one of them the
    # title. YAML later in a file, from "---" after a blank line to "---" before any other, begins a
    # page if all its keys are single words that begin with a lower-case letter.
    "front_matter": True,
    # A line of text above a line of dashes and pipes is the header of a table. Three or more lines
    # between pipes, all with as many cells, are a table too.
    "tables": True,
    # A line that begins with "[^1]:" defines a footnote, never a link.
    "footnotes": True,
    # A line of three or more colons with a name opens a container, if a closing line (":::" or
    # "::: name-end") follows. A line that also ends with colons (":::image source="a.png":::") is a
    # block of its own, unless "::: name-end" follows. A heading that is only a link to "#tab/id"
    # begins a tab, up to a rule, the next tab or the end of its section.
    "containers": True,
    # "!!! word" opens an admonition, even if it was meant as emphasis. "??? word" opens one too,
    # and === with a title in quotes opens a tab.
    "admonitions": True,
    # "/// name" opens a block, up to a line of as many slashes. HTML elements around Markdown
    # (<details>, <div> ...) are blocks too. A comment, an anchor or a tag on lines of its own
    # belongs to the block after it; if that is a heading, its section begins at the comment.
    "blocks": True,
    # From a line that begins with seven "<" to one that begins with seven ">", with "=======" between
    # them, is one block, as in merges and in the edits of coding agents.
    "conflicts": True,
    # A tag of GitBook or Markdoc ("{% tab title="x" %}") or a shortcode of Hugo alone on its line opens
    # a container, if its closing tag ends a later line; one that is never closed is text, and so are
    # Liquid's own tags ("{% if x %}"). Around code ("{% highlight x %}"; code, codeblock and
    # code-toggle), the lines from tag to tag are a fence, unless a fence is inside. A title that is only
    # a shortcode, such as {{% heading "x" %}}, is its value.
    "liquid": True,
    # Pandoc's grid, simple and multiline tables. Two or more runs of three dashes below a line are the
    # header of a table, if the line is blank between them.
    "text_tables": True,
    # The text from <table> to </table>, blank lines included, is one table with rows and cells,
    # unless it contains a list, a fence or a heading.
    "html_tables": True,
    # An HTML block with nothing but <h1> to <h6>, as at the top of many READMEs, is a heading.
    "html_headings": True,
    # A paragraph that begins with "Table 3:" or ": " beside a table stays with it, and one that begins
    # with "Figure 3:" beside an image.
    "captions": True,
    # A text that is a single ```markdown fence is parsed as the Markdown inside it.
    "answers": True,
    # Lines with five or more dots before a page number are a table of contents, not headings.
    "contents": True,
    # A one-line paragraph that is all strong emphasis stays with the block after it.
    "bold_headings": True,
    # In a paragraph, a line that begins with a bullet (• ◦ ‣ –) or "(a)" is a better place to cut
    # than a sentence.
    "bullets": True,
    # Page marks on lines of their own, and form feeds, determine the pages of chunks. A paragraph
    # that continues in lower case after a mark is one paragraph.
    "page_markers": True,
    # A quote whose first line is [!NOTE] or similar is an alert.
    "alerts": True,
    # "[ ]" at the start of a list item is a checkbox, never a link.
    "tasklists": True,
    # "$5 and $10" is money, not math. Block math never contains a blank line. Models write formulas
    # as "\(" and "\[": inside prose, these need a sign of TeX, such as "=", "_" or "\frac". A line that
    # is only "\section{title}", "\subsection*{title}" or "\chapter{title}" is a heading.
    "math": True,
    # Bare URLs are kept whole inside prose.
    "autolinks": True,
    # "{#id}", "{.class}", "{key=value}" and the like at a heading's end are not part of its title,
    # and neither are permalinks, "[[id]]", "[edit]" and "[source]". A line "(label)=" is an anchor of
    # the next block.
    "attributes": True,
    # [[page]] and ![[embed]] are kept whole inside prose.
    "wikilinks": True,
    # Obsidian: callouts of any type, with a title or foldable; comments between lines of %%;
    # block ids (^id), which stay with their block. A line that begins with %% and has no other %%
    # opens a comment if a later line ends with %%.
    "obsidian": True,
    # A pair of tags on lines of their own encloses a block, unless HTML has such an element.
    "xml_tags": True,
    # The source's file extension selects the language: .mdx turns on "mdx", .qmd and .Rmd turn on
    # "quarto", and files such as .py are code.
    "dialects": True,
    # A line ": 5" right below a line "Price" becomes a definition, and so does ":   5" (three
    # spaces) after a blank line, except above a table.
    "definitions": True,
    # Off by default: a line ": 5" below a line "Price" becomes a definition, with or without a blank
    # line between them.
    "deflists": False,
    # Off by default: paragraphs that begin with "import " and lines in braces become code.
    "mdx": False,
    # Off by default: in nested ":::" divs, the first bare ":::" closes the inner one.
    "quarto": False,
}
DEFAULT_EXTENSIONS: Final = tuple(name for name, on in EXTENSIONS.items() if on)
# File extension of a source -> the Markdown extension that it turns on.
_DIALECTS: Final = {".mdx": "mdx", ".qmd": "quarto", ".rmd": "quarto"}
# The file extensions of documents, excluding source code.
ENDINGS: Final = (".md", ".markdown", ".mdx", ".qmd", ".rmd", ".txt", ".ipynb")
# The fields that determine how tokens are counted.
COUNTERS: Final = frozenset({"encoding", "model"})
_ALIASES: Final = {"chunk_size": "max_tokens", "chunk_overlap": "overlap"}
# The default window: 200 tokens for a budget of 900, and in proportion for other budgets.
_WINDOW_SHARE: Final = 200 / 900
# The largest allowed number of tokens: far more than any document has, and within a float's range.
_MOST_TOKENS: Final = 2**63 - 1
# A share in per cent; an overlap may be written so.
_PERCENTAGE: Final = re.compile(r"([0-9]{1,3}(?:\.[0-9]+)?)%")
# The protocols of tool calls that are read by default.
_XML: Final = ("xml",)


@dataclass(frozen=True, slots=True)
class ChunkConfig:
    """The options of a chunker. Raises ``ConfigError`` if a value is invalid.

    **Budget**

    max_tokens: the maximum number of tokens in a chunk, including its overlap and context: a
        number from 1 to ``2**63 - 1``, or "model" for the tokenizer's own limit minus the special
        tokens that it adds to a text. Special tokens are never counted.
    reserve_tokens: the number of tokens to keep free for a prefix, such as "query: ", that you add
        to ``embed_text`` before embedding it. The token budget of a chunk is
        ``max_tokens - reserve_tokens``.
    overlap: the maximum amount of text that a chunk repeats from the end of the previous one. An
        int is a number of tokens. A float below 1, or a str such as "15%", is a fraction of the
        token budget. A chunk that begins with a heading has no overlap.
    min_tokens: the number of tokens below which a section is joined with an adjacent section, if
        both fit in one chunk. The pieces of a divided section are joined in the same way. With
        None, sections are joined whenever they fit; pieces are joined if they are smaller than a
        tenth of the token budget. With 0, sections are never joined. Used only with
        ``packing="sections"``.
    encoding: the tokenizer that counts tokens: the name of a tiktoken encoding; the path of a
        ``tokenizer.json`` (a str that ends with .json, or a ``Path``) or of its folder (both need
        the ``hf`` extra); a tokenizer from ``tokenizers`` or ``transformers``; any object with an
        ``encode`` method; or a callable that takes a str and returns its token count.
    model: the name of a model that tiktoken knows, such as "gpt-4o". The model's encoding is used
        instead of ``encoding``.
    allow_download: allow tiktoken to load an encoding that is not bundled with chunkast, and to
        download its vocabulary if it is not in tiktoken's cache. Apart from this, chunkast uses the
        network only for an embedding server that you name.

    **Cutting**

    packing: "sections" keeps every section whole that fits in a chunk; "fill" makes chunks as full
        as possible.
    window: the number of tokens at the end of the token budget in which to look for the best place
        to cut. None means 200 for a budget of 900, and a proportional number for other budgets.
        Used only with ``packing="fill"``.
    decay: the fraction, from 0 to 1, by which the score of a break point is reduced at the start of
        ``window``. Scores nearer to the end of the token budget are reduced less. Used only with
        ``packing="fill"``.
    scores: your own scores for some kinds of break points, such as ``{"h3": 95}``; see
        ``chunkast.scores``.
    trim: remove blank lines from the start of a chunk and white space from its end.
    oversize: the treatment of a block that is larger than the token budget: "split" divides it;
        "keep" makes it a single chunk and sets ``Chunk.oversize``.
    opaque: the treatment of opaque data, such as a data URI or base64, that is larger than the
        token budget: "split" divides it and issues a ``ChunkastWarning``; "keep" never cuts it, and
        sets ``Chunk.oversize``. With "keep", ``embed_text`` has a short placeholder instead of the
        data, and stays within the budget.
    sentence_language: the language whose rules determine the ends of sentences: a code such as
        "de", or "auto". "auto" uses ``lang`` or ``language`` in the front matter; without these, it
        guesses the language from common words.

    **Context**

    context: the context before the chunk's text in ``embed_text``. "none" means none. "title"
        means the title in the front matter or else the first level-1 heading. "headings" means the
        title in the front matter, the heading path, and the openers of the blocks in which the
        chunk begins. An opener is, for example, the sentence that introduces a list.
    front_matter: the form in which the front matter is stored in ``Chunk.metadata``: "raw", a
        string, or "parsed", a mapping. Invalid front matter is stored as a string, and a
        ``ChunkastWarning`` is issued.
    front_matter_text: the treatment of the front matter in the text of the chunks: "keep" includes
        it; "drop" omits it. Positions always refer to the whole document.
    front_matter_keys: the top-level keys of the front matter to write at the start of
        ``embed_text``, if there is room. Each is on a line of its own: "key: value". A blank key is
        not allowed.

    **Markdown**

    extensions: the names of the Markdown extensions to use; ``()`` means plain CommonMark. A minus
        removes a name from the default: ``"-containers"`` or ``["-math", "-liquid"]``.
    heuristics: ``chunkast.heuristics.Heuristic`` objects, which mask text before it is parsed, or
        add break points, protected regions and annotations afterwards.
    tools: ``chunkast.toolcalls.Tool`` objects, or a mapping from their names to JSON Schemas. Calls
        of these tools in the text are kept whole and listed in ``Chunk.metadata``.
    protocols: the names of the protocols in which ``tools`` are called, or "auto" for all
        protocols; see ``chunkast.toolcalls.PROTOCOLS``.

    **Converted documents**

    pseudo_headings: treat a one-line paragraph that consists only of strong emphasis as a heading
        (requires the "bold_headings" Markdown extension).
    heading_levels: the source of the levels of headings: "marks" uses the Markdown levels;
        "numbering" uses numbers at the start of titles, such as "2.3.1 Title", if all numbered
        headings have the same Markdown level.
    page_markers: a regular expression for page marks, in addition to those that chunkast always
        recognizes. It must match a whole line, except for spaces and tabs around it. It may have
        one group, ``(?P<begins>...)`` or ``(?P<ends>...)``, for the number (at most nine digits) of
        the page that begins or ends at the line.
    page_markers_in_embed: keep page marks in ``Chunk.embed_text``. ``Chunk.text`` always contains
        them.
    running_heads_in_embed: keep page headers and footers (lines that many pages repeat) in
        ``Chunk.embed_text``. ``Chunk.text`` always contains them.
    """

    max_tokens: int | Literal["model"] = 900
    reserve_tokens: int = 0
    overlap: float | int | str = 0.15
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
    protocols: str | tuple[str, ...] = _XML
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
        for name, check in _CHECKS.items():
            object.__setattr__(self, name, check(name, getattr(self, name)))
        # The number for "model" is only known to the chunker, which checks again.
        most = _MOST_TOKENS if isinstance(self.max_tokens, str) else self.budget
        if most < 1:
            allowed = f"must be less than max_tokens={self.max_tokens}"
            raise ConfigError("reserve_tokens", self.reserve_tokens, allowed)
        self._check_overlap(most)

    def _check_overlap(self, most: int) -> None:
        value: Any = self.overlap
        less = f" - reserve_tokens={self.reserve_tokens}" if self.reserve_tokens else ""
        if not _is_number(value) or not 0 <= value < (1 if isinstance(value, float) else most):
            raise ConfigError(
                "overlap",
                value,
                f"must be a fraction of max_tokens (0.0 <= overlap < 1.0, or '15%') or a whole number of "
                f"tokens (0 <= overlap < max_tokens={self.max_tokens}{less})",
            )

    def __repr__(self) -> str:
        changed = (f"{name}={value!r}" for name, value in self.changed_fields().items())
        return f"ChunkConfig({', '.join(changed)})"

    def changed_fields(self) -> dict[str, Any]:
        """Return the values of the fields that differ from their defaults, by field name."""
        default = type(self)()
        values = ((each.name, getattr(self, each.name)) for each in fields(self))
        return {name: value for name, value in values if value != getattr(default, name)}

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> ChunkConfig:
        """Return the configuration with the values in ``options``, by field name.

        ``chunk_size`` is an alias of ``max_tokens``, and ``chunk_overlap`` of ``overlap``. Raises
        ``ConfigError`` for an unknown name, and for a field given both by name and by alias.
        """
        known = {f.name for f in fields(cls)}
        values: dict[str, Any] = {}
        for key, value in options.items():
            name = _ALIASES.get(key, key)
            if name not in known:
                raise ConfigError(key, value, f"no such field; {_suggest(key, sorted(known))}")
            if name in values:
                raise ConfigError(key, value, f"{name} is given twice, once by its alias")
            values[name] = value
        return cls(**values)

    @classmethod
    def from_file(cls, stored: Mapping[str, Any], options: Mapping[str, Any]) -> ChunkConfig:
        """Return the configuration ``stored`` in a file, overridden by ``options``.

        Giving one of ``encoding`` and ``model`` also overrides the other. Only ``options`` can
        allow a download, never a file. Raises ``ConfigError`` as :meth:`of` does.
        """
        replaced = {"allow_download", *(_ALIASES.get(name, name) for name in options)}
        if replaced & COUNTERS:
            replaced |= COUNTERS
        kept = {name: value for name, value in stored.items() if name not in replaced}
        return cls.of({**kept, **options})

    def extensions_for(self, source: str | None) -> tuple[str, ...]:
        """Return the Markdown extensions for ``source``, which depend on its file extension."""
        name = source.lower() if source and "dialects" in self.extensions else ""
        added = (dialect for ending, dialect in _DIALECTS.items() if name.endswith(ending))
        return tuple(dict.fromkeys((*self.extensions, *added)))

    def language_of(self, source: str | None) -> str:
        """Return the programming language of ``source``; "" if its extension indicates none."""
        return language_of(source) if source and "dialects" in self.extensions else ""

    @property
    def budget(self) -> int:
        """The maximum number of tokens in a chunk's text, and in its ``embed_text``.

        The budget is ``max_tokens - reserve_tokens``. Raises ``ConfigError`` if ``max_tokens`` is
        "model"; in ``Chunker(...).config``, ``max_tokens`` is always a number.
        """
        if isinstance(self.max_tokens, str):
            allowed = "is resolved to a number only in Chunker(...).config"
            raise ConfigError("max_tokens", self.max_tokens, allowed)
        return self.max_tokens - self.reserve_tokens

    @property
    def overlap_tokens(self) -> int:
        """The maximum number of tokens in an overlap."""
        if isinstance(self.overlap, float):
            return int(self.overlap * self.budget)
        return int(self.overlap)

    @property
    def window_tokens(self) -> int:
        """The size of ``window`` in tokens; used only with ``packing="fill"``."""
        return round(self.budget * _WINDOW_SHARE) if self.window is None else self.window

    @property
    def score_table(self) -> Mapping[str, float]:
        """The score of each kind of break point, including the configured overrides."""
        return {**SCORES, **self.scores} if self.scores else SCORES


def _suggest(name: object, names: Iterable[str]) -> str:
    names = list(names)
    close = difflib.get_close_matches(name, names, n=1) if isinstance(name, str) else []
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}must be one of {', '.join(names)}"


def _items(name: str, value: Any, what: str) -> tuple[Any, ...]:
    """Return the items of a field that takes several values.

    Raises ``ConfigError`` for a str and an object that is not iterable.
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ConfigError(name, value, f"must be a sequence of {what}")
    return tuple(value)


# A check takes a field's name and its value, and returns the value that the field keeps.
_Check = Callable[[str, Any], Any]


def _where(is_valid: Callable[[Any], bool], allowed: str) -> _Check:
    def check(name: str, value: Any) -> Any:
        if not is_valid(value):
            raise ConfigError(name, value, allowed)
        return value

    return check


def _whole(least: int, other: object = ..., words: str = "") -> _Check:
    """Return the check of a number of tokens, or of the value ``other``, which ``words`` name."""

    def is_valid(value: Any) -> bool:
        if isinstance(value, int) and not isinstance(value, bool):
            return least <= value <= _MOST_TOKENS
        return other is not ... and _is_one_of(value, (other,))

    allowed = f"must be a whole number of at least {least} and at most 2**63 - 1{words}"
    return _where(is_valid, allowed)


def _choice(*choices: object) -> _Check:
    allowed = f"must be one of {', '.join(map(repr, choices))}"
    return _where(lambda value: _is_one_of(value, choices), allowed)


def _is_one_of(value: object, choices: Iterable[object]) -> bool:
    # The type is compared first, because ``==`` of other types may do anything.
    return any(type(value) is type(choice) and value == choice for choice in choices)


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(value) <= sys.float_info.max


def _keys(name: str, value: Any) -> tuple[str, ...]:
    keys = _items(name, value, "names")
    for key in keys:
        if not isinstance(key, str) or not key.strip():
            raise ConfigError(name, key, "must be the name of a key")
    return keys


def _fraction(_name: str, value: Any) -> Any:
    """Return a percentage as a fraction, and any other value unchanged."""
    share = _PERCENTAGE.fullmatch(value) if isinstance(value, str) else None
    return float(share[1]) / 100 if share else value


def _extensions(name: str, value: Any) -> tuple[str, ...]:
    """Return the names in ``value``, or the default without the names that follow a minus."""
    if isinstance(value, str) and value.startswith("-"):
        value = value.split(",")
    items = _items(name, value, "names")
    removed = [item[1:] for item in items if isinstance(item, str) and item.startswith("-")]
    for item in removed or items:
        if not isinstance(item, str) or item not in EXTENSIONS:
            raise ConfigError(name, item, _suggest(item, EXTENSIONS))
    if removed and len(removed) < len(items):
        allowed = "must be names to use, or names to take from the default ('-math'), not both"
        raise ConfigError(name, value, allowed)
    return tuple(each for each in DEFAULT_EXTENSIONS if each not in removed) if removed else items


def _page_markers(name: str, value: Any) -> Any:
    if value is None:
        return None
    allowed = (
        "must be a regular expression that does not match a blank line, with no group or one: "
        "(?P<begins>...) or (?P<ends>...)"
    )
    try:
        pattern = re.compile(value)
        blank = pattern.fullmatch("") is not None
    except (re.error, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ConfigError(name, value, f"{allowed}: {error}") from error
    known = {"begins", "ends"} & pattern.groupindex.keys()
    if blank or pattern.groups > 1 or len(known) < pattern.groups:
        raise ConfigError(name, value, allowed)
    return value


def _scores(name: str, value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise ConfigError(name, value, "must be a mapping from kind to number")
    for kind, score in value.items():
        if not isinstance(kind, str) or kind not in SCORES:
            raise ConfigError(name, kind, _suggest(kind, SCORES))
        if not _is_number(score):
            raise ConfigError(f"{name}[{kind!r}]", score, "must be a finite number")
    return dict(value)


def _heuristics(name: str, value: Any) -> tuple[Heuristic[Any, Any], ...]:
    heuristics = _items(name, value, "Heuristic objects")
    Pipeline.of(heuristics)
    return heuristics


def _tools(name: str, value: Any) -> tuple[Any, ...]:
    tools = _items(name, value, "Tool objects")
    if not tools:
        return ()
    from chunkast.toolcalls.tools import tools_by_name, tools_from_json

    if isinstance(value, Mapping) and all(isinstance(tool, str) for tool in tools):
        tools = tuple(tools_from_json(value))
    return tuple(tools_by_name(tools).values())


def _protocols(_name: str, value: Any) -> Any:
    if value is _XML:
        return value
    from chunkast.toolcalls.protocols import PROTOCOLS, chosen_protocols

    names = tuple(dict.fromkeys(row.name for row in chosen_protocols(value)))
    return "auto" if len(names) == len(PROTOCOLS) else names


# Field -> its check. ``encoding`` is checked when the tokenizer is loaded, ``overlap`` last, as its
# range depends on others.
_CHECKS: Final[Mapping[str, _Check]] = {
    **{
        name: _choice(*get_args(hint) or (True, False))
        for name, hint in get_type_hints(ChunkConfig).items()
        if hint is bool or get_origin(hint) is Literal
    },
    "encoding": lambda _name, value: tokenizer_file(value),
    "overlap": _fraction,
    "reserve_tokens": _whole(0),
    "max_tokens": _whole(1, "model", ', or "model" for the limit of the tokenizer'),
    "min_tokens": _whole(0, None),
    "window": _whole(0, None),
    "model": _where(
        lambda value: value is None or isinstance(value, str), "must be a model's name, or None"
    ),
    "decay": _where(
        lambda value: _is_number(value) and 0 <= value <= 1, "must be a number from 0 to 1"
    ),
    "front_matter_keys": _keys,
    "page_markers": _page_markers,
    "sentence_language": _where(
        lambda value: isinstance(value, str) and (value == "auto" or value in LANGUAGES),
        'must be "auto" or the code of a language in ISO 639-1, such as "de"',
    ),
    "scores": _scores,
    "extensions": _extensions,
    "heuristics": _heuristics,
    "tools": _tools,
    "protocols": _protocols,
}
