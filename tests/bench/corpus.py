"""The corpus: Markdown documents that are installed on this machine.

Nothing is fetched. More documents, or others, come from folders that are named: packages
that carry documentation, unpacked there by whoever measures. Chinese and Japanese are rare
in what is installed; these npm packages have about half a megabyte of both::

    npm pack @jzone-mcp/antd-components-mcp openclaw-cn textlint-rule-preset-ja-technical-writing
    for pack in *.tgz; do mkdir -p "packs/$pack" && tar xzf "$pack" -C "packs/$pack"; done
    python -m tests.bench --corpus packs
"""

from __future__ import annotations

import random
import re
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import distributions
from pathlib import Path

__all__ = (
    "CJK",
    "ENGLISH",
    "FIXTURES",
    "Document",
    "by_language",
    "find_documents",
    "load_corpus",
    "load_fixtures",
    "some",
)

FIXTURES = Path(__file__).parents[2] / "fixtures" / "documents"
# Short documents for smoke runs: one in Chinese, and one long enough for edits.
SMOKE = frozenset({"api-reference.md", "cjk-chinese.md", "deep-lists.md", "html-heavy.md"})
# Where packages of other kinds keep their documentation, on the systems that have these.
SYSTEM = (Path("/usr/lib/node_modules"), Path("/usr/share/doc"))
SUFFIXES = frozenset({".md", ".markdown", ".mdx", ".qmd"})
MAX_BYTES = 400_000
# The documents that versions are compared on.
COMPARED = frozenset({".md", ".mdx", ".qmd", ".Rmd"})
LEAST_BYTES, MOST_BYTES = 1_000, 200_000
# A document's path and text.
Document = tuple[str, str]
_SEED = 1

# Everything that is not CJK; the fixtures have a little of other languages.
ENGLISH = "English"
CJK = "CJK"
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_CJK_SHARE = 0.1


def load_fixtures(*, smoke: bool) -> list[str]:
    """Return the texts of the fixtures, or of a few of them for smoke runs."""
    paths = sorted(path for path in FIXTURES.iterdir() if not smoke or path.name in SMOKE)
    return [text for path in paths if (text := path.read_bytes().decode()).strip()]


def load_corpus(folders: Iterable[Path]) -> list[str]:
    """Return the distinct texts of the fixtures, of ``folders`` and of installed packages."""
    texts = dict.fromkeys(load_fixtures(smoke=False))
    packages = {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
    for folder in (*folders, *sorted(packages), *SYSTEM):
        texts.update(dict.fromkeys(_of_folder(folder)))
    texts.update(dict.fromkeys(_readmes()))
    return [text for text in texts if text.strip()]


def by_language(texts: Iterable[str]) -> dict[str, list[str]]:
    """Group texts by language; at least a tenth of CJK characters makes a text CJK."""
    found: dict[str, list[str]] = {ENGLISH: [], CJK: []}
    for text in texts:
        share = len(_CJK.findall(text)) / len(text)
        found[CJK if share >= _CJK_SHARE else ENGLISH].append(text)
    return found


def some(texts: Sequence[str], characters: int) -> list[str]:
    """Return a seeded sample of texts with at most that many characters in all."""
    found = []
    for text in random.Random(_SEED).sample(texts, len(texts)):
        if len(text) <= characters:
            found.append(text)
            characters -= len(text)
    return found


def _of_folder(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in SUFFIXES:
            continue
        try:
            if path.is_file() and path.stat().st_size < MAX_BYTES:
                yield path.read_bytes().decode()
        except (OSError, UnicodeDecodeError):
            continue  # a broken link, or not UTF-8: one document less


def _readmes() -> Iterator[str]:
    """Yield the Markdown descriptions of installed Python packages."""
    for distribution in distributions():
        metadata = distribution.metadata.json
        text = metadata.get("description")
        kind = str(metadata.get("description_content_type", ""))
        if kind.startswith("text/markdown") and isinstance(text, str) and len(text) < MAX_BYTES:
            yield text


def find_documents(folders: Sequence[Path]) -> list[Document]:
    """Return the Markdown files of 1 to 200 KB below the folders, equal texts once."""
    found: dict[str, str] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in COMPARED and LEAST_BYTES <= path.stat().st_size <= MOST_BYTES:
                try:
                    found.setdefault(path.read_bytes().decode(), str(path.relative_to(folder)))
                except UnicodeDecodeError:
                    continue
    return [(source, text) for text, source in found.items()]
