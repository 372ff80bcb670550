"""The documents that are measured on: real Markdown that happens to be installed."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

__all__ = ("load_corpus",)

FIXTURES = Path(__file__).parents[2] / "fixtures" / "documents"
# Where packages of other kinds keep their documentation, on the systems that have these.
SYSTEM = (Path("/usr/lib/node_modules"), Path("/usr/share/doc"))
SUFFIXES = frozenset({".md", ".markdown", ".mdx", ".qmd"})
MAX_BYTES = 400_000


def load_corpus(*, smoke: bool) -> list[str]:
    """The texts, each once: the fixtures, and unless ``smoke`` what is installed."""
    texts = dict.fromkeys(_of_folder(FIXTURES, suffixes=None))
    if not smoke:
        packages = {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
        for folder in (*sorted(packages), *SYSTEM):
            texts.update(dict.fromkeys(_of_folder(folder, suffixes=SUFFIXES)))
        texts.update(dict.fromkeys(_readmes()))
    return [text for text in texts if text.strip()]


def _of_folder(folder: Path, suffixes: frozenset[str] | None) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if suffixes is not None and path.suffix.lower() not in suffixes:
            continue
        try:
            if path.is_file() and path.stat().st_size < MAX_BYTES:
                yield path.read_bytes().decode()
        except (OSError, UnicodeDecodeError):
            continue  # a broken link, or not UTF-8: one document less


def _readmes() -> Iterator[str]:
    """The READMEs that installed Python packages carry as their description."""
    for distribution in distributions():
        metadata = distribution.metadata.json
        text = metadata.get("description")
        kind = str(metadata.get("description_content_type", ""))
        if kind.startswith("text/markdown") and isinstance(text, str) and len(text) < MAX_BYTES:
            yield text
