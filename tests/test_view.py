"""The HTML report and the tree of blocks.

The browser tests read what the page shows out of a real browser, where one is installed, and
compare it with what the library gives for the same text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import ChunkConfig, Chunker, count_tokens
from chunkast.view import View, find_cuts, render_html, render_tree, view_of
from tests.command import refused, run, write
from tests.tables import FIXTURES, document, table

DOCUMENTS = FIXTURES / "documents"

GUIDE = document("view.md")

# And characters that no file has as they are.
HOSTILE = document("hostile-page.md") + (
    "NUL \0, escape \x1b[31m, override \u202eabc\u202c, mark \ufeff, line \u2028, "
    "lone \ud800 and \udc00.\n"
)


def view(text: str, *, budgets: tuple[int, ...] | None = None, **options: Any) -> View:
    options = {"max_tokens": 60, "overlap": 15, **options}
    return view_of(text, ChunkConfig(**options), budgets, "guide.md")


class Page(HTMLParser):
    """The elements of a page, its policy, and the contents of its scripts and style sheets."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.policy = ""
        self.raw: list[tuple[str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.policy += "".join(value for _, value in attrs if value and "-src " in value)

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        if (tag := self.tags[-1] if self.tags else "") in ("script", "style"):
            self.raw.append((tag, data))

    @property
    def data(self) -> Any:
        return json.loads(self.raw[1][1])


@given(st.text(st.characters(), max_size=300))
def test_any_text_makes_a_page_that_shows_it_and_nothing_that_acts(text: str) -> None:
    html = render_html(view(text, budgets=()))
    assert not re.search("[\u2028\u2029]", html)
    data = Page(html.encode().decode()).data
    shown = data["text"]
    assert len(shown) == len(text)
    assert not re.search(
        r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u2028-\u202e\u2066-\u2069]", shown
    )
    assert not re.search(r"\r(?!\n)", shown)
    changed = sum(a not in (b, "\r") for a, b in zip(text, shown, strict=True))
    assert sum(row["count"] for row in data["replaced"]) == changed


def test_cuts_name_the_point_each_chunk_begins_at() -> None:
    chunker = Chunker(max_tokens=60, overlap=15)
    analysis = chunker.analyze(GUIDE)
    chunks = chunker.chunk(analysis)
    cuts = find_cuts(analysis, chunks)
    scores = {point.pos: point for point in analysis.break_points}
    assert [cut.pos for cut in cuts] == [chunk.start_index + chunk.overlap for chunk in chunks[1:]]
    assert [cut.point for cut in cuts] == [scores.get(cut.pos) for cut in cuts]
    assert {cut.kind for cut in cuts if cut.point is None} == {"inside paragraph"}


def test_budgets_are_sorted_and_include_the_configured_one() -> None:
    shown = view(GUIDE, budgets=(200, 30, 30))
    assert [budget.max_tokens for budget in shown.budgets] == [30, 60, 200]
    assert shown.budgets[shown.shown].max_tokens == 60
    for budget in shown.budgets:
        expected = Chunker(max_tokens=budget.max_tokens, overlap=15).chunk(GUIDE, "guide.md")
        assert budget.chunks == expected
    assert [b.max_tokens for b in view(GUIDE, overlap=30).budgets] == [45, 60, 90, 120]


def test_the_data_are_the_chunks() -> None:
    shown = view(GUIDE)
    data = Page(render_html(shown)).data
    kinds = data["kinds"]
    points = [(p.pos, p.score, p.kind) for p in shown.analysis.break_points]
    assert [(pos, score, kinds[kind]) for pos, score, kind in data["points"]] == points
    regions = [(r.start, r.end, r.kind) for r in shown.analysis.regions]
    assert [(*span, kinds[kind]) for *span, kind in data["regions"]] == regions
    for budget, expected in zip(data["budgets"], shown.budgets, strict=True):
        for fields, chunk in zip(budget["chunks"], expected.chunks, strict=True):
            *places, sections, found, name, oversize, around = fields
            assert places == [
                *(chunk.start_index, chunk.start_index + chunk.overlap, chunk.end_index),
                *(chunk.start_line, chunk.end_line, chunk.token_count, chunk.embed_token_count),
            ]
            assert tuple(tuple(data["paths"][slot]) for slot in sections) == chunk.sections
            assert tuple(kinds[kind] for kind in found) == chunk.kinds
            assert (name, bool(oversize)) == (chunk.id, chunk.oversize)
            before, *after = (data["contexts"][slot] for slot in around)
            assert chunk.embed_text == (before + chunk.text + after[0] if after else before)


def test_a_hostile_document_adds_no_element_and_the_policy_admits_only_the_pages_own_code() -> None:
    plain = Page(render_html(view("x")))
    page = Page(render_html(view_of(HOSTILE, ChunkConfig(max_tokens=60), name="<script>&\ud800")))
    assert page.tags == plain.tags
    assert page.data["name"] == "<script>&\ufffd"
    assert [tag for tag, _ in page.raw] == ["style", "script", "script"]
    for tag, content in (page.raw[0], page.raw[2]):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}';" in page.policy
    assert "default-src 'none';" in page.policy
    assert "unsafe" not in page.policy


# ---- the tree ------------------------------------------------------------------------------


TREE = {name: "".join(lines) for name, lines in table("view", "tree").items()}


def test_the_tree_of_a_document() -> None:
    analysis = Chunker().analyze(TREE["text"])
    assert "".join(render_tree(analysis, count_tokens)) == TREE["printed"]
    noted = replace(analysis, notes=("the parser\nfailed", "and again"))
    shown = "".join(render_tree(noted, count_tokens))
    assert shown == f"{TREE['printed']}note: the parser failed\nnote: and again\n"
    empty = list(render_tree(Chunker().analyze(""), count_tokens))
    assert empty[1:] == ["  1-1         0-0       0  document\n"]


# ---- the command ---------------------------------------------------------------------------


def test_the_command_writes_a_page_or_prints_the_tree(tmp_path: Path) -> None:
    write(tmp_path, {"guide.md": GUIDE, "a.md": TREE["text"], "a.py": "x = 1\n"})
    done = run("view", "guide.md", "--max-tokens", "60", "--budgets", "30,90", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")
    assert re.fullmatch(
        r"guide\.chunks\.html: [\d,]+ bytes; chunks: \d+ at 30, \d+ at 60, \d+ at 90 tokens\n",
        done.stderr.decode(),
    )
    report = tmp_path / "guide.chunks.html"
    assert Page(report.read_text(encoding="utf-8")).data["name"] == "guide.md"
    done = run("view", "-", "-q", cwd=tmp_path, stdin=GUIDE.encode())
    assert (done.returncode, done.stderr) == (0, b"")
    page = run("view", "-", "-q", "-o", "-", cwd=tmp_path, stdin=GUIDE.encode()).stdout
    assert (tmp_path / "stdin.chunks.html").read_bytes() == page
    before = sorted(tmp_path.iterdir())
    assert run("view", "a.md", "--tree", cwd=tmp_path).stdout.decode() == TREE["printed"]
    assert b"code: x = 1\n" in run("view", "a.py", "--tree", cwd=tmp_path).stdout
    assert "overlap=20" in refused(
        "view", "guide.md", "--budgets", 10, "--overlap", 20, cwd=tmp_path
    )
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_is_one_page_with_a_list_of_files(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": GUIDE, "docs/sub/b.md": TREE["text"], "docs/n.ipynb": "{}"})
    done = run("view", "docs", "--max-tokens", "60", "--budgets", "30", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")
    noted, told = done.stderr.decode().splitlines()
    assert (
        noted == "chunkast: note: skipped docs/n.ipynb: notebooks, which are chunked cell by cell"
    )
    report = (tmp_path / "docs.chunks.html").read_text(encoding="utf-8")
    documents = Page(report).data
    assert [each["name"] for each in documents] == ["docs/a.md", "docs/sub/b.md"]
    for each, text in zip(documents, (GUIDE, TREE["text"]), strict=True):
        alone = Page(render_html(view_of(text, ChunkConfig(max_tokens=60), (30,), each["name"])))
        assert each == alone.data
    counts = [sum(len(each["budgets"][n]["chunks"]) for each in documents) for n in (0, 1)]
    assert told.endswith(f"; 2 documents; chunks: {counts[0]} at 30, {counts[1]} at 60 tokens")
    # What cannot be read does not keep the others from their page.
    write(tmp_path, {"docs/c.md": b"\xff"})
    done = run("view", "docs", "-q", "-o", "-", cwd=tmp_path)
    assert done.returncode == 1
    assert len(Page(done.stdout.decode()).data) == 2
    trees = run("view", "docs/sub", "docs/a.md", "--tree", cwd=tmp_path).stdout.decode()
    assert trees.endswith(f"\n\n{TREE['printed']}")
    assert "a notebook is chunked cell by cell" in refused("view", "docs/n.ipynb", cwd=tmp_path)


# ---- the page in a browser -----------------------------------------------------------------

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


class Browser:
    """A headless Chromium that shows reports."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver = driver
        self.folder = folder

    def show(self, shown: View) -> None:
        path = self.folder / "report.html"
        path.write_text(render_html(shown), encoding="utf-8", newline="")
        self.driver.get_log("browser")
        self.driver.get(path.as_uri())

    def run(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(f"return {script}", *arguments)

    def window(self, width: int = 1280, height: int = 800) -> None:
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def bands(self) -> list[str]:
        """The text of each chunk, rows completed as for printing."""
        self.run("dispatchEvent(new Event('beforeprint'))")
        bands: list[str] = self.run(
            "[...document.querySelectorAll('article')].map("
            "a => [...a.querySelectorAll('.text')].map(t => t.textContent).join(''))"
        )
        return bands


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    pytest.importorskip("selenium", reason="no selenium: pip install --group browser")
    names = ("chromium", "chromium-browser", "google-chrome")
    binary = next(filter(None, map(shutil.which, names)), None)
    driver_path = shutil.which("chromedriver")
    if binary is None or driver_path is None:
        pytest.skip("no browser: install Debian's chromium and chromium-driver, or their like")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    try:
        yield Browser(driver, tmp_path_factory.mktemp("reports"))
    finally:
        driver.quit()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """A browser with a window of a desk's size; nothing was said on its console at the end."""
    chromium.window()
    yield chromium
    assert chromium.driver.get_log("browser") == []


def expected_bands(shown: View, number: int) -> list[str]:
    text = Page(render_html(shown)).data["text"]
    return [
        text[chunk.start_index + chunk.overlap : chunk.end_index]
        for chunk in shown.budgets[number].chunks
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arabic.md", "mixed-line-ends.md"])
def test_the_slider_changes_the_bands(browser: Browser, name: str) -> None:
    shown = view((DOCUMENTS / name).read_bytes().decode(), budgets=(30, 120, 400))
    browser.show(shown)
    assert browser.bands() == expected_bands(shown, shown.shown)
    for number in (0, 3, 2):
        browser.run(
            "(s => { s.value = arguments[0]; s.dispatchEvent(new Event('input', {bubbles: true})) })"
            "(document.getElementById('budget'))",
            number,
        )
        assert browser.bands() == expected_bands(shown, number)
        size = f"{shown.budgets[number].max_tokens} tokens"
        assert browser.run("document.getElementById('summary').textContent").startswith(size)


@pytest.mark.slow
def test_a_hostile_document_runs_nothing(browser: Browser) -> None:
    shown = view(HOSTILE)
    browser.show(shown)
    assert browser.bands() == expected_bands(shown, shown.shown)
    assert browser.run("typeof window.pwned") == "undefined"
    tags = browser.run("[...new Set([...document.querySelectorAll('main *')].map(e => e.tagName))]")
    assert {*tags} <= {"ARTICLE", "HEADER", "DIV", "SPAN", "B", "I", "BDI", "STRONG"}
    loaded = browser.run("performance.getEntriesByType('resource').map(e => e.name)")
    assert loaded == []
    assert "RIGHT-TO-LEFT OVERRIDE" in browser.run(
        "document.getElementById('replaced').textContent"
    )


@pytest.mark.slow
def test_the_text_that_is_embedded_is_shown_on_request(browser: Browser) -> None:
    shown = view(GUIDE)
    browser.show(shown)
    visible = (
        "[...document.querySelectorAll('article .body')]"
        ".filter(e => e.offsetParent !== null && e.classList.contains('embedded'))"
        ".map(e => e.textContent)"
    )
    assert browser.run(visible) == []
    browser.press("e")
    chunks = shown.budgets[shown.shown].chunks
    assert browser.run(visible) == [chunk.embed_text for chunk in chunks]
    browser.press("[")
    chunks = shown.budgets[shown.shown - 1].chunks
    assert browser.run(visible) == [chunk.embed_text for chunk in chunks]
    browser.press("e")
    assert browser.run(visible) == []


@pytest.mark.slow
def test_a_page_of_several_documents_lists_them(browser: Browser, tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": GUIDE, "docs/b.md": "# Other\n\nText.\n"})
    assert run("view", "docs", "-q", cwd=tmp_path).returncode == 0
    browser.driver.get((tmp_path / "docs.chunks.html").as_uri())
    name = "document.getElementById('name').textContent"
    links = "[...document.querySelectorAll('#file-list a')]"
    assert browser.run(f"{links}.map(e => e.textContent)") == ["docs/a.md", "docs/b.md"]
    assert browser.run(name) == "docs/a.md"
    browser.run(f"{links}[1].click()")
    assert browser.run(name) == "docs/b.md"
    browser.press("p")
    assert browser.run(name) == "docs/a.md"


@pytest.mark.slow
def test_keys_go_from_chunk_to_chunk_and_change_the_budget(browser: Browser) -> None:
    shown = view(GUIDE)
    browser.show(shown)
    last = len(shown.budgets[shown.shown].chunks) - 1
    for keys, place in (("j", 1), ("jj", 3), ("k", 2), ("G", last), ("j", last), ("g", 0)):
        browser.press(*keys)
        found = browser.run(
            "[...document.querySelectorAll('article')].indexOf(document.activeElement)"
        )
        assert found == place
    for key, number in (("[", shown.shown - 1), ("]", shown.shown), ("1", 0), ("9", 0)):
        browser.press(key)
        assert browser.run("Number(document.getElementById('budget').value)") == number
    browser.press("?")
    assert browser.run("document.getElementById('help').open")
    browser.press("\ue00c", "b", "o", "r")  # escape
    assert not browser.run("document.getElementById('help').open")
    assert browser.run("document.querySelector('main').className") == (
        "document no-lost no-overlap no-regions"
    )


@pytest.mark.slow
def test_a_phone_scrolls_in_one_direction_only(browser: Browser) -> None:
    browser.window(390, 844)
    text = (DOCUMENTS / "wide-tables.md").read_text(encoding="utf-8")
    browser.show(view(text, max_tokens=200))
    browser.bands()
    assert browser.run("document.documentElement.scrollWidth") == 390
