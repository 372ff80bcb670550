"""Ids, fingerprints, plans and quotes, on chunks made by hand."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version
from typing import Any
from unicodedata import unidata_version

import pytest

from chunkast import (
    Chunk,
    ChunkConfig,
    WritePlan,
    __version__,
    chunk_id,
    content_hash,
    digest,
    locate_quote,
    plan_writes,
    validate_quote,
)
from chunkast.code import versions as grammars
from chunkast.heuristics import Heuristic
from chunkast.identity import Location, config_values, fingerprint, versions
from chunkast.scores import CODE_SCORES, SCORES
from chunkast.text.language import LANGUAGE_RULES
from chunkast.toolcalls import Tool

# Line ends of every kind, white space of more than one character, and wide ones.
TEXT = "Añ b\r\nc é.\n\nd  e\tf: g\U0001f600 h.\n\n\nÉnd b\nc"


def chunk_of(text: str, start: int, end: int, **fields: Any) -> Chunk:
    """A chunk of ``text``, its positions counted anew."""
    line_ends = [match.end() for match in re.finditer(r"\r\n|\r|\n", text)]
    own = text[start:end]
    values: dict[str, Any] = {
        "id": f"{fields.get('source', 'a')}{start}",
        "index": 0,
        "source": "a",
        "text": own,
        "start_index": start,
        "end_index": end,
        "start_byte": len(text[:start].encode()),
        "end_byte": len(text[:end].encode()),
        "start_line": 1 + sum(line_end <= start for line_end in line_ends),
        "end_line": 1 + sum(line_end <= end - 1 for line_end in line_ends),
        "token_count": len(own),
        "overlap": 0,
        "headings": (),
        "kinds": (),
        "content_hash": content_hash(own),
        "embed_text": own,
        "embed_token_count": len(own),
        "embed_hash": content_hash(own),
    }
    return Chunk(**{**values, **fields})


def chunks_of(text: str, spans: Sequence[tuple[int, int, int]], source: str = "a") -> list[Chunk]:
    """Chunks by where they begin and end, and their overlap."""
    return [
        chunk_of(text, start, end, overlap=overlap, index=index, source=source)
        for index, (start, end, overlap) in enumerate(spans)
    ]


# Ids


def test_an_id_is_the_hash_of_three_lines() -> None:
    for headings in ((), ("Å",), ("A", "B > C"), ("A", "B", "")):
        lines = f"guide.md\n{' > '.join(headings)}\n#7"
        assert chunk_id("guide.md", headings, 7) == sha256(lines.encode()).hexdigest()[:16]
    assert chunk_id("\ud800", ["\udfff"], 0) == chunk_id("\ufffd", ["\ufffd"], 0)


def test_a_location_is_asked_for_again_and_again() -> None:
    root = Location.of("a")
    assert root.at(("A", "B")).id(1) == chunk_id("a", ("A", "B"), 1)
    assert root.at(("A",)).id(0) == chunk_id("a", ("A",), 0)
    assert root.at(("A", "C")).at(("D",)).id(0) == chunk_id("a", ("A", "C", "D"), 0)
    assert root.at(()).id(2) == chunk_id("a", (), 2)
    # What is known of a path is not made again; equal keys, equal ids.
    assert root.at(("A", "B")) is root.at(("A", "B"))
    assert root.at(("A > B",)).key == root.at(("A", "B")).key != root.at(("A",)).key
    assert Location.of("b").key != root.key == Location.of("a").key


# Fingerprints


def test_the_values_of_a_configuration() -> None:
    def run(draft: Any) -> None:
        raise AssertionError(draft)

    config = ChunkConfig(
        max_tokens=90,
        overlap=0.5,
        model="gpt-4o",
        scores={"hr": 7},
        extensions=("tables", "math"),
        heuristics=(Heuristic("own", "post-parse", run),),
        tools=(Tool("search", {"type": "object"}),),
    )
    assert config_values(config, "named") == {
        "max_tokens": 90,
        "overlap": 45,
        "min_tokens": None,
        "encoding": "named",
        "packing": "sections",
        "window": 20,
        "decay": 0.7,
        "scores": {**SCORES, "hr": 7},
        "context": "headings",
        "trim": True,
        "oversize": "split",
        "opaque": "split",
        "sentence_language": "auto",
        "heuristics": ["own"],
        "tools": {"search": {"type": "object"}},
        "extensions": ["math", "tables"],
        "front_matter": "raw",
        "front_matter_text": "keep",
        "front_matter_keys": [],
        "pseudo_headings": False,
        "heading_levels": "marks",
        "page_markers": None,
        "page_markers_in_embed": False,
        "running_heads_in_embed": True,
        "reserve_tokens": 0,
    }


def test_versions_of_what_affects_chunks() -> None:
    found = versions()
    assert found["language-rules"] == LANGUAGE_RULES
    assert found["chunkast"] == __version__
    assert found["unicode"] == unidata_version
    assert found.items() >= grammars().items()
    assert {"markdown-it-py", "mdit-py-plugins", "regex", "sentencex", "tiktoken"} < {*found}
    assert found["tiktoken"] == version("tiktoken")


def test_a_fingerprint_is_of_what_affects_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    config = ChunkConfig(max_tokens=90)
    code = replace(config, scores=dict.fromkeys(CODE_SCORES, 1.0))
    installed: dict[str, str] = {"tree-sitter": "1"}
    present = {"unicode": "1"}
    # The package's name for the module is the function.
    module = sys.modules["chunkast.identity.fingerprint"]
    monkeypatch.setattr(module, "grammars", lambda: installed)
    monkeypatch.setattr(module, "versions", lambda: present)
    found = fingerprint(config, "a")
    assert re.fullmatch("[0-9a-f]{64}", found)
    assert found == fingerprint(replace(config, allow_download=True), "a")
    # The order in which scores are given does not matter.
    one, two = ({"hr": 1.0, "word": 2.0}, {"word": 2.0, "hr": 1.0})
    assert len({fingerprint(replace(config, scores=scores), "a") for scores in (one, two)}) == 1
    # Nor does that of tools.
    tools = (Tool("search", {"type": "object"}), Tool("add", {}))
    assert len({fingerprint(replace(config, tools=own), "a") for own in (tools, tools[::-1])}) == 1
    # A name is a user's own.
    assert fingerprint(config, "b") != found != fingerprint(config, "\ud800")
    present["unicode"] = "2"
    assert fingerprint(config, "a") != found
    present["unicode"] = "1"
    # Scores of code matter where there is a grammar.
    assert fingerprint(code, "a") != found
    installed.clear()
    assert fingerprint(code, "a") == fingerprint(config, "a") != found
    assert fingerprint(replace(config, scores={"hr": 1.0}), "a") != fingerprint(config, "a")


# Plans


def named(name: str, content: str, embed: str | None = None) -> Chunk:
    return chunk_of("x", 0, 1, id=name, content_hash=content, embed_hash=embed or content)


def test_what_a_store_has_to_do() -> None:
    prior = [named("gone", "1"), named("same", "2"), named("new", "3"), named("path", "4", "old")]
    current = [
        named("path", "4", "now"),
        named("new", "5"),
        named("more", "6"),
        named("same", "2"),
        named("last", "7"),
    ]
    assert plan_writes(current, prior) == WritePlan(
        added=("more", "last"),
        changed=("new",),
        unchanged=("path", "same"),
        removed=("gone",),
        embed=("path", "new", "more", "last"),
        moved=("path",),
    )
    assert plan_writes([], prior).removed == ("gone", "same", "new", "path")
    assert plan_writes(iter(current), iter(())).added == ("path", "new", "more", "same", "last")
    # The text may change and what is embedded for it not.
    assert plan_writes([named("a", "2", "x")], [named("a", "1", "x")]) == WritePlan(changed=("a",))


def test_ids_that_occur_twice() -> None:
    twice = [named("a", "1"), named("a", "2")]
    # The last of the prior ones is compared; both are listed.
    assert plan_writes([named("a", "2")], twice).unchanged == ("a",)
    assert plan_writes(twice, [named("a", "2")]) == WritePlan(
        changed=("a",), unchanged=("a",), embed=("a",)
    )
    assert plan_writes([], twice).removed == ("a", "a")


def test_a_digest_is_of_sorted_lines() -> None:
    assert digest([]) == sha256(b"").hexdigest()
    chunks = [named("b", "2"), named("a", "1"), named("a", "1")]
    assert digest(chunks) == sha256(b"a:1\na:1\nb:2").hexdigest()


# Quotes


def test_whether_a_text_contains_a_quote() -> None:
    assert validate_quote(" a\tb ", "x a\r\nb c")
    assert not validate_quote("A b", "a b")
    assert not validate_quote(" ", "a b")
    assert not validate_quote("ab", "a b")
    assert validate_quote("x" * 240, "x" * 300)
    assert not validate_quote("x" * 241, "x" * 300)
    # White space counts before it is normalized.
    assert not validate_quote("a" + " " * 239 + "b", "a b")
    assert validate_quote("abc", "abc", 3)
    assert not validate_quote("abc", "abc", 2)


SPACE = re.compile(r"[\t\n\r ]+")


def places(quote: str, text: str) -> list[tuple[int, int]]:
    """Where a quote is, though white space differs, by a regular expression."""
    words = [word for word in SPACE.split(quote) if word]
    return [match.span() for match in re.finditer(r"[\t\n\r ]+".join(map(re.escape, words)), text)]


QUOTES = sorted(
    {
        TEXT[start:end]
        for start in range(len(TEXT))
        for end in range(start + 1, len(TEXT) + 1)
        if TEXT[start:end].strip()
    }
)


def located(quote: str, where: str | list[Chunk]) -> list[tuple[Any, ...]]:
    return [
        (c.source, c.start_index, c.end_index, c.start_byte, c.end_byte, c.start_line, c.end_line)
        for c in locate_quote(quote, where)
    ]


def positions(start: int, end: int, source: str | None) -> tuple[Any, ...]:
    whole = chunk_of(TEXT, start, end)
    return (
        source,
        start,
        end,
        whole.start_byte,
        whole.end_byte,
        whole.start_line,
        whole.end_line,
    )


def test_every_quote_of_a_text_is_found_in_it() -> None:
    for quote in QUOTES:
        wanted = [positions(*place, None) for place in places(quote, TEXT)]
        assert located(quote, TEXT) == wanted
        assert located("\n" + SPACE.sub("  ", quote) + " ", TEXT) == wanted
    assert locate_quote(" \n", TEXT) == locate_quote("", TEXT) == locate_quote("Z", TEXT) == ()
    # Places do not overlap.
    assert located("aa", "aaaaa") == [(None, 0, 2, 0, 2, 1, 1), (None, 2, 4, 2, 4, 1, 1)]
    assert locate_quote("b c", TEXT)[0].chunk_ids == ()


CUT = TEXT.index("d"), TEXT.index("g"), TEXT.index("É")
ONE = TEXT.index("\n\nd")
# Ways to cut the text: with white space left out between chunks, without, with overlap, with a
# long one, and inside a word.
WAYS = {
    "trimmed": [(0, ONE, 0), (CUT[0], CUT[1] - 1, 0), (CUT[1], CUT[2] - 3, 0), (CUT[2], len(TEXT), 0)],
    "whole": [(0, CUT[0], 0), (CUT[0], CUT[1], 0), (CUT[1], CUT[2], 0), (CUT[2], len(TEXT), 0)],
    "overlap": [(0, ONE, 0), (6, CUT[1] - 1, CUT[0] - 6), (CUT[1] - 3, len(TEXT), 3)],
    "long overlap": [(0, CUT[1], 0), (CUT[0], CUT[2], CUT[1] - CUT[0]), (CUT[0] + 1, len(TEXT), CUT[2] - CUT[0] - 1)],
    "inside a word": [(0, CUT[2] + 1, 0), (CUT[2] + 1, len(TEXT), 0)],
}  # fmt: skip


@pytest.mark.parametrize("spans", WAYS.values(), ids=WAYS)
def test_every_quote_of_a_text_is_found_in_its_chunks(spans: list[tuple[int, int, int]]) -> None:
    chunks = chunks_of(TEXT, spans)
    for quote in QUOTES[::3]:
        wanted = places(quote, TEXT)
        assert located(quote, chunks) == [positions(*place, "a") for place in wanted]
        for found in locate_quote(quote, chunks):
            assert found.chunk_ids == tuple(
                chunk.id
                for chunk in chunks
                if chunk.start_index <= found.start_index and found.end_index <= chunk.end_index
            )


def test_a_quote_may_be_in_the_overlap_of_the_first_chunk_of_a_selection() -> None:
    chunks = chunks_of(TEXT, WAYS["overlap"])[1:]
    quote = TEXT[6 : CUT[0] + 1]
    assert located(quote, chunks) == [positions(6, CUT[0] + 1, "a")]
    assert locate_quote(quote, chunks)[0].chunk_ids == (chunks[0].id,)


def test_chunks_that_do_not_follow_one_another_are_searched_apart() -> None:
    one, two, three, four = chunks_of(TEXT, WAYS["trimmed"])
    over = TEXT[ONE - 2 : CUT[0] + 1]
    assert len(locate_quote(over, [one, two])) == 1
    assert locate_quote(over, [one, replace(two, source="b")]) == ()
    assert locate_quote(over, [one, replace(two, index=2)]) == ()
    assert locate_quote(over, [two, one]) == ()
    # Documents, one after the other, and a selection: in order, each with its own source.
    other = chunks_of(TEXT, WAYS["trimmed"], "b")
    assert [place.source for place in locate_quote("h.", [two, three, *other])] == ["a", "b"]
    assert [place.start_index for place in locate_quote("b", [one, four])] == [3, TEXT.rindex("b")]
    assert locate_quote("b", []) == ()
