"""Find the front matter of files, and of pages inside files.

In Markdown, text between two ``---`` lines may be a heading, so front matter must look like YAML or
TOML. A file may also begin with Pandoc's title block (``% title``), or with ``Key: value`` lines
(MultiMarkdown, Pelican).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from markdown_it.rules_block import StateBlock

from chunkast.text.front_matter import parse_front_matter

__all__ = ("PAGES", "front_matter_lines", "may_begin_page", "page_front_matter", "read_parts")

_YAML_KEY = re.compile(r"(?:[\w.\-/ ]{1,100}|\"[^\"\n]{1,100}\"|'[^'\n]{1,100}')[ \t]*:(?:\s|$)")
_TOML_LINE = re.compile(r"(?:[\w.\-\"']{1,100}[ \t]*=|\[{1,2}[^\[\]\n]{1,100}\])")
# Opening line -> closing lines, and a pattern for the first line of content. "--- abstract" begins the
# text of a draft (kramdown-rfc).
_FORMS = {
    "---": (("---", "...", "--- abstract"), _YAML_KEY),
    "+++": (("+++",), _TOML_LINE),
}
_RULE: Final = "---"
# Front matter without delimiters, before a blank line: each line and those that continue it. One of
# the lines is a title.
_REST: Final = r"[^\r\n]*(?:EOL[ \t]+\S[^\r\n]*)*EOL".replace("EOL", r"(?:\n|\r(?!\n)|\r\n)")
_UNDELIMITED = re.compile(
    rf"\ufeff?(?:%[ \t]+\S{_REST}(?:%{_REST}){{0,2}}|(?:[^\W\d_][\w \-]{{0,40}}:(?!\S){_REST}){{2,}})"
    r"(?=[ \t]*[\r\n])"
)
_TITLE = re.compile(r"(?:\A|[\r\n])\ufeff?(?:%|title:)", re.IGNORECASE)
# Matches in any text with a page after its beginning, or a part of a draft.
_PAGE = re.compile(r"\n---(?:[ \t]*\n[\"'\w]| middle\b)")
_PARTS = re.compile(r"^--- (?:middle|back|note_.*)$", re.MULTILINE)
_PAGE_KEY = re.compile(r"[^\W\d_][\w.\-]*")
# The key in the parser's environment of the lines of front matter: the file's own, and each page's.
PAGES: Final = "chunkast_pages"


def front_matter_lines(text: str, starts: Sequence[int]) -> int:
    """Return the number of lines of front matter, including delimiters, or 0 if there is none.

    The first line after an opening delimiter must look like YAML (``key:``) or TOML (``key =`` or
    ``[table]``). Front matter without delimiters is Pandoc's title block, or ``Key: value`` lines
    with a title. A byte order mark may precede it. ``starts`` are the line starts, then the text's
    length.
    """
    if len(starts) < 3:
        return 0
    form = _FORMS.get(text[: starts[1]].removeprefix("\ufeff").rstrip())
    if form is None:
        block = _UNDELIMITED.match(text)
        return bisect_left(starts, block.end()) if block and _TITLE.search(block[0]) else 0
    closers, first_line = form
    seen = False
    for line in range(1, len(starts) - 1):
        content = text[starts[line] : starts[line + 1]].rstrip()
        if content in closers:
            return line + 1 if seen else 0
        if not seen and content and not content.startswith("#"):
            if not first_line.match(content):
                return 0
            seen = True
    return 0


def may_begin_page(text: str) -> bool:
    """Return whether a page may begin inside ``text``."""
    return "\n---" in text and _PAGE.search(text) is not None


def read_parts(text: str) -> str:
    """Turn each line that begins a part of a draft into a thematic break."""
    return _PARTS.sub("***", text) if "\n--- middle" in text else text


def page_front_matter(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse the front matter of a page: YAML after a blank line, up to the next ``---``.

    It has no blank lines, and its first line is a key. Each top-level key is a single word that
    begins with a lower-case letter.
    """
    pages: list[tuple[int, int]] = state.env.setdefault(PAGES, [(0, 0)])
    if silent or state.level or start == pages[-1][1] or not state.isEmpty(start - 1):
        return False
    lines: list[str] = []
    # A page's front matter ends before the next blank line, so each line is read once.
    for line in range(start, end):
        lines.append(state.src[state.bMarks[line] : state.eMarks[line]].rstrip())
        if not lines[-1] or (len(lines) > 1 and lines[-1] == _RULE):
            break
    if not (len(lines) > 2 and lines[0] == lines[-1] == _RULE and _YAML_KEY.match(lines[1])):
        return False
    try:
        is_page = all(map(_is_page_key, parse_front_matter("\n".join(lines))))
    except ValueError:
        return False
    if is_page:
        state.line = start + len(lines)
        pages.append((start, state.line))
        state.push("front-matter", "", 0).map = [start, state.line]
    return is_page


def _is_page_key(key: str) -> bool:
    return key[:1].islower() and _PAGE_KEY.fullmatch(key) is not None
