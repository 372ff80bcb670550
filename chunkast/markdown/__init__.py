"""Parse Markdown into a block tree with exact positions. Only this package uses markdown-it-py."""

from chunkast.markdown.fast import parser_note
from chunkast.markdown.kinds import CONSTRUCTS, Construct
from chunkast.markdown.parser import ParsedMarkdown, parse_document, parse_paragraphs

__all__ = (
    "CONSTRUCTS",
    "Construct",
    "ParsedMarkdown",
    "parse_document",
    "parse_paragraphs",
    "parser_note",
)
