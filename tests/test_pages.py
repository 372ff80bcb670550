"""Pages: from the marks of converters to chunks, and what goes on over a mark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunk, ChunkConfig, Chunker, ConfigError, locate_quote
from chunkast.index import Store
from chunkast.text.white_space import is_blank
from tests.checks import check_promises
from tests.strategies import PAGE_MARKS, paged

# Of a converter: the mark of page {n} (counted as it does), and where it stands.
CONVERTERS = {
    "pymupdf4llm": ("--- end of page={n} ---", 0, "after"),
    "marker": ("{{{n}}}" + "-" * 48, 0, "before"),
    "azure": ('<!-- PageNumber="{n}" -->\n<!-- PageBreak -->', 1, "between"),
    "azure, at the top": ('<!-- PageBreak -->\n\n<!-- PageNumber="{n}" -->', 1, "between"),
    "docling": ("<!-- page-break -->", 1, "between"),
    "markitdown": ("<!-- Slide number: {n} -->", 1, "before"),
    "by hand": ("<!-- page {n} -->", 1, "before"),
    "pdftotext": ("\f", 1, "between"),
}


def document(mark: str, first: int, where: str, pages: int) -> str:
    """Pages of three paragraphs, each of which names its page."""
    texts = [
        "\n\n".join(f"On page {n} {chr(96 + n) * 3} says {m}." for m in range(3))
        for n in range(1, pages + 1)
    ]
    marks = [mark.format(n=n + first) for n in range(pages)]
    if where == "between":
        joined = "".join(f"{t}\n\n{m}\n\n" for t, m in zip(texts[:-1], marks[:-1], strict=True))
        return joined + texts[-1]
    pair = "{t}\n\n{m}\n\n" if where == "after" else "{m}\n\n{t}\n\n"
    return "".join(pair.format(t=t, m=m) for t, m in zip(texts, marks, strict=True))


def said(chunk: Chunk) -> tuple[int, int]:
    """The first and the last page that the text of a chunk names."""
    numbers = [int(number) for number in re.findall(r"On page (\d+)", chunk.text)]
    return numbers[0], numbers[-1]


@pytest.mark.parametrize("converter", CONVERTERS)
@pytest.mark.parametrize("budget", [30, 400])
def test_chunks_and_citations_have_their_pages(converter: str, budget: int) -> None:
    text = document(*CONVERTERS[converter], pages=14)
    chunks = check_promises(text, ChunkConfig(max_tokens=budget))
    assert len(chunks) > 1
    for chunk in chunks:
        assert chunk.pages == said(chunk), chunk.text
        assert "---" not in chunk.embed_text
        assert "<!--" not in chunk.embed_text
        assert Chunk.from_dict(chunk.to_dict()) == chunk
    kept = Chunker(max_tokens=budget, page_markers_in_embed=True).chunk(text)
    assert all(chunk.text in chunk.embed_text for chunk in kept)
    assert all(chunk.pages is None for chunk in Chunker(extensions=()).chunk(text))
    for page in range(1, 15):
        quote = f"On page {page} {chr(96 + page) * 3} says 1."
        for where in (chunks, text, [chunk for chunk in chunks if quote in chunk.text][:1]):
            [found] = locate_quote(quote, where)
            assert found.pages == (page, page)
    over = text.index("On page 3 ccc says 2.")
    quote = text[over : text.index("says 0", over)]
    for place in (text, Chunker().chunk(text)):
        assert [found.pages for found in locate_quote(quote, place)] == [(3, 4)]


def test_a_converter_may_begin_anywhere_and_count_from_one() -> None:
    for first, pages in ((0, (1, 2, 3)), (1, (1, 2, 3)), (7, (8, 9, 10))):
        text = document("--- end of page={n} ---", first, "after", pages=3)
        chunks = Chunker(max_tokens=30, overlap=0).chunk(text)
        assert sorted({chunk.pages[0] for chunk in chunks if chunk.pages}) == list(pages)


def test_marks_of_a_users_own() -> None:
    begins = document("[p {n}]", 1, "before", pages=5)
    ends = document("[p {n}]", 1, "after", pages=5)
    for text, pattern in ((begins, r"\[p (?P<begins>\d+)\]"), (ends, r"\[p (?P<ends>\d+)\]")):
        for chunk in Chunker(max_tokens=40, overlap=0, page_markers=pattern).chunk(text):
            assert chunk.pages == said(chunk)
            assert "[p" not in chunk.embed_text
    for wrong in ("(", r"(\d+)", r"(?P<page>\d)", 3, "", r"\s*", r"(?P<begins>\d*)", b"x"):
        with pytest.raises(ConfigError, match="page_markers"):
            Chunker(page_markers=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pattern", "text", "pages"),
    [
        # pdftotext writes a form feed before the first line of a page.
        (r"\f?Page (?P<begins>\d+)", "One.\n\n\fPage 2\nTwo.\n", [1, 2]),
        (r"\f*Page \d+\f*", "One.\n\fPage 1\n\nTwo.\n\f\fPage 2\f\n\nThree.\n", [1, 2, 3]),
        (r"Page (?P<ends>\d+)\f", "One.\nPage 1\f\nTwo.\nPage 2\f\nThree.\n", [1, 2, 3]),
        # Flags, references and anchors are those of the pattern alone.
        (r"(?i)^p(?P<begins>\d)\1$", "One.\n\n P22\n\nTwo.\n", [1, 2]),
        # A bad number is no mark, and hides no other.
        (r"p (?P<begins>.+)", "One.\n\np \u00b2\n\np 2\n\nTwo.\n", [1, 2]),
        (r"p (?P<begins>\d+)", f"One.\n\np {'9' * 4_301}\n\np 2\n\nTwo.\n", [1, 2]),
        (r"p(?: (?P<begins>\d+))?", "One.\n\np\n\np 2\n\nTwo.\n", [1, 2]),
    ],
)
def test_a_pattern_works_as_it_does_alone(pattern: str, text: str, pages: list[int]) -> None:
    chunks = Chunker(max_tokens=10, min_tokens=0, overlap=0, page_markers=pattern).chunk(text)
    for word, page in {"One.": 1, "Two.": 2, "Three.": 3}.items():
        for chunk in chunks:
            first, last = chunk.pages or (0, 0)
            assert word not in chunk.text or first <= page <= last
    assert chunks[0].pages
    assert chunks[-1].pages
    assert (chunks[0].pages[0], chunks[-1].pages[1]) == (pages[0], pages[-1])


def test_a_sentence_goes_on_over_a_mark() -> None:
    words = "Some words stand here. " * 20
    text = f"{words}This sentence goes on\n\n<!-- page 2 -->\n\nand ends here. {words}"
    chunks = check_promises(text, ChunkConfig(max_tokens=60, overlap=0))
    [over] = [chunk for chunk in chunks if "goes on" in chunk.text]
    assert "goes on and ends here." in over.embed_text
    assert over.pages == (1, 2)


@pytest.mark.parametrize(
    ("before", "after", "between"),
    [
        *(
            ("這是一個", "句子。", ""),
            ("これは、", "「文」です。", ""),
            ("これはー", "カタカナ", ""),
        ),
        *(("한국어", "문장", " "), ("使用 Python", "编写", " "), ("第1", "章", " ")),
        *(("| a |\n|---|\n| 1 |", "| 2 |", "\n"), ("- one", "- two", "\n\n")),
        *(("It ends.", "and so on", "\n\n"), ("A title", "The text", "\n\n")),
        *(("one", "a | b\n--|--\n1 | 2", "\n\n"), ("# A title", "the text", "\n\n")),
        ("<td>1</td>", "<td>2</td>", "\n\n"),
    ],
)
def test_what_goes_on_over_a_mark_is_joined(before: str, after: str, between: str) -> None:
    table = "<table><tr>{}</tr></table>" if "<" in before else "{}"
    [chunk] = Chunker().chunk(table.format(f"{before}\n\n<!-- page 2 -->\n\n{after}"))
    assert chunk.embed_text == table.format(before + between + after)
    assert chunk.pages == (1, 2)


@pytest.mark.parametrize(
    "before",
    [
        *("> ```\n> code", "- ```\n  code", "1. ~~~~\n   code"),
        *("- a\n\n      ```\n      x", "> a\n>\n>     ```\n>     x", "Text.\n\n    ```\n    x"),
        "- ```\n  code\n\n{}\n\n  more\n  ```",
    ],
)
def test_marks_after_what_is_no_open_fence_are_found(before: str) -> None:
    marks = [f"<!-- page {n} -->" for n in (2, 3)]
    inside = "{}" in before
    first = before if inside else f"{before}\n\n{{}}"
    text = f"{first.format(marks[0])}\n\nThen.\n\n{marks[1]}\n\nLast.\n"
    chunks = check_promises(text, ChunkConfig(max_tokens=99, overlap=0))
    for where in (text,) if inside else (text, chunks):
        pages = [locate_quote(word, where)[0].pages for word in ("Then.", "Last.")]
        assert pages == [(2, 2), (3, 3)]
    assert Chunker().chunk(f"````markdown\n{text}````\n")[0].pages == (1, 3)


def test_empty_pages_count() -> None:
    text = "One.\n\n\f\n\n\f \f\n\nTwo.\f\n\n\fThree.\n"
    places = [locate_quote(word, text)[0].pages for word in ("One.", "Two.", "Three.")]
    assert places == [(1, 1), (4, 4), (6, 6)]
    # A mark may stand right before a quote, or right after it.
    for where in (text, Chunker().chunk(text)):
        assert [found.pages for found in locate_quote("T", where)] == [(4, 4), (6, 6)]
    for chunk in check_promises(text, ChunkConfig(max_tokens=4)):
        [found] = locate_quote(chunk.text, text)
        assert chunk.pages == found.pages


def test_running_heads_are_told_and_left_out_on_request() -> None:
    body = "Chapter 1: Things {n}\n\n" + "Some words stand here and " * 9 + "{n}\n\nPage {n} of 8"
    pages = [body.format(n=n) for n in range(1, 9)]
    text = "".join(f"{page}\n\n--- end of page={n} ---\n\n" for n, page in enumerate(pages))
    leaves = [leaf.kind for leaf in Chunker().analyze(text).blocks.leaves()]
    # What is at the ends of the text is at the edge of no mark.
    assert (leaves.count("running-head"), leaves.count("running-foot")) == (7, 7)
    for left_out in (False, True):
        config = ChunkConfig(max_tokens=120, running_heads_in_embed=not left_out)
        chunks = check_promises(text, config)
        assert sum("Chapter 1" in chunk.text for chunk in chunks) >= 8
        heads = [chunk.embed_text for chunk in chunks[1:] if "Chapter 1" in chunk.text]
        assert all(("Chapter 1" not in text) == left_out for text in heads)


def test_where_its_marks_do_not_tell_a_citation_has_the_pages_of_its_chunk(tmp_path: Path) -> None:
    text = document("[p {n}]", 1, "before", pages=5)
    chunker = Chunker(page_markers=r"\[p (?P<begins>\d+)\]")
    quote = "On page 3 ccc says 1."
    [chunk] = chunker.chunk(text, "a.md")
    assert chunk.pages == (1, 5)
    assert locate_quote(quote, [chunk])[0].pages == (1, 5)
    marks = chunker.config.page_markers
    assert locate_quote(quote, [chunk], page_markers=marks)[0].pages == (3, 3)
    assert locate_quote(quote, text, page_markers=marks)[0].pages == (3, 3)
    with Store(str(tmp_path / "a.db"), create=True) as store:
        store.update([("a.md", text)], chunker)
        assert [found.pages for found in store.quote(quote)] == [(3, 3)]
    # Form feeds do not count beside numbers, which this chunk does not have.
    mixed = "On.\n\n\f\n\n" * 30 + "- \f end of page\n\n" + "--- end of page=0 ---\n\nLast.\n"
    for chunk in Chunker(max_tokens=20).chunk(mixed):
        [found, *_] = locate_quote(chunk.text, [chunk])
        assert found.pages == chunk.pages


OWN_PATTERNS = (r"\f?Page (?P<begins>\d+)", r"\f*Page \d+\f*", r"(?i)\f*page (?P<ends>.+)")
OWN_MARKS = ("\f", "Page 1", "PAGE 22", "\f\fPage 3\f", "page \u00b2", " \f ", "\n", "\r\n")


@given(
    paged() | st.lists(paged() | st.sampled_from(OWN_MARKS), max_size=8).map("".join),
    st.sampled_from((4, 12, 40, 90)),
    st.sampled_from([0, 2, 0.3]),
    st.booleans(),
    st.sampled_from([None, *OWN_PATTERNS]),
)
def test_promises(text: str, budget: int, overlap: float, trim: bool, own: str | None) -> None:
    check_promises(
        text, ChunkConfig(max_tokens=budget, overlap=overlap, trim=trim, page_markers=own)
    )


@given(paged(), st.sampled_from([90, 200]))
def test_a_mark_is_never_a_chunk(text: str, budget: int) -> None:
    marks = "|".join(re.escape(mark) for mark in PAGE_MARKS)
    chunker = Chunker(max_tokens=budget, overlap=0)
    chunks = chunker.chunk(text)
    for number, chunk in enumerate(chunks):
        beside = [*chunks[max(number - 1, 0) : number], *chunks[number + 1 : number + 2]]
        spans = [
            (min(chunk.start_index, other.start_index), max(chunk.end_index, other.end_index))
            for other in beside
        ]
        room = any(chunker.counter.count(text[start:end]) <= budget for start, end in spans)
        alone = is_blank(re.sub(marks, "", chunk.text))
        assert not alone or not room


@pytest.mark.xfail(strict=True, reason="a block that fills the budget is not divided for a mark")
def test_a_mark_is_not_alone_beside_a_block_that_fills_the_budget() -> None:
    text = f"--- end of page=3 ---\n\n--- end of page=3 ---\n\n{'The end. ' * 30}\n"
    chunks = Chunker(max_tokens=90, overlap=0).chunk(text)
    assert "The end." in chunks[0].text


NUMERALS = ["second", "third", "fourth", "fifth", "sixth"]
WORDS = "The {} of a report that was written for somebody goes on over"


@pytest.mark.parametrize("mark", ["<!-- Page {} -->", "--- end of page={} ---"])
def test_a_mark_is_not_parted_from_its_side_in_a_sentence_that_does_not_fit(mark: str) -> None:
    pages = [f"the page {word} and ends there. {WORDS.format(word)}" for word in NUMERALS]
    text = "".join(f"{page}\n\n{mark.format(n + 2)}\n\n" for n, page in enumerate(pages))
    for budget in (12, 30):
        for chunk in Chunker(max_tokens=budget, overlap=0, context="none").chunk(text + "the end."):
            if mark.startswith("<"):
                assert not chunk.text.rstrip().endswith("-->")
            else:
                assert not chunk.text.lstrip().startswith("--- end")
            assert "age" not in chunk.embed_text.replace("page", "")
            assert chunk.text.count("<!--") == chunk.text.count("-->")


def test_what_is_all_that_pages_have_is_no_running_head() -> None:
    page = "the page. More follows here, word after word. Sentence {} of a report goes on over"
    text = "\n\n".join(f"{page.format(n)}\n\n<!-- Page {n + 2} -->" for n in range(12))
    chunks = Chunker(max_tokens=60, overlap=0, running_heads_in_embed=False).chunk(text)
    kinds = {kind for chunk in chunks for kind in chunk.kinds}
    assert not kinds & {"running-head", "running-foot"}
    assert all(f"Sentence {n} " in "".join(c.embed_text for c in chunks) for n in range(12))
