"""Every document of fixtures/documents, chunked under two configurations, as it was read.

A golden file holds what a person can judge about each chunk: where it begins and ends, its
counts, and both ends of its text. Whatever moves a chunk shows up here; read the
difference, then write the files anew with ``pytest --update-goldens tests/test_goldens.py``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from chunkast import Chunk, Chunker
from chunkast.documents import chunk_document
from chunkast.notebook import is_notebook, read_notebook

ROOT: Final = Path(__file__).parents[1]
DOCUMENTS: Final = sorted((ROOT / "fixtures" / "documents").iterdir())
GOLDENS: Final = ROOT / "fixtures" / "goldens"
COMMAND: Final = "pytest --update-goldens tests/test_goldens.py"

CONFIGURATIONS: Final[dict[str, dict[str, Any]]] = {
    "sections-200-context": {"max_tokens": 200, "overlap": 0.15},
    "fill-160-exact": {
        "max_tokens": 160,
        "packing": "fill",
        "encoding": "o200k_base",
        "overlap": 0,
        "trim": False,
    },
}
# Goldens are the same whether the extra ``code`` is there or not.
pytestmark = pytest.mark.usefixtures("without_grammars")

# What is said of a chunk, and what of it stands on one line.
LINES: Final = (
    ("id", "lines", "chars", "bytes"),
    ("token_count", "embed_token_count", "overlap", "oversize"),
    ("headings",),
    ("kinds",),
    ("content_hash", "embed_hash"),
    ("first",),
    ("last",),
)
# Lone surrogates cannot be written; the others would not be seen, or would turn the line.
_ESCAPED = re.compile("[\x7f-\x9f\xad\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]")

Golden = dict[str, Any]


def golden_path(document: Path, name: str, folder: Path = GOLDENS) -> Path:
    return folder / document.stem / f"{name}.json"


def described(chunk: Chunk) -> Golden:
    return {
        "id": chunk.id,
        "lines": f"{chunk.start_line}-{chunk.end_line}",
        "chars": f"{chunk.start_index}-{chunk.end_index}",
        "bytes": f"{chunk.start_byte}-{chunk.end_byte}",
        "token_count": chunk.token_count,
        "embed_token_count": chunk.embed_token_count,
        "overlap": chunk.overlap,
        "oversize": chunk.oversize,
        "headings": list(chunk.headings),
        "kinds": list(chunk.kinds),
        "content_hash": chunk.content_hash[:12],
        "embed_hash": chunk.embed_hash[:12],
        "first": chunk.text[:60],
        "last": chunk.text[-60:],
    }


def golden_of(document: Path, name: str) -> Golden:
    """What the document gives now; its line ends are kept as they are."""
    text = document.read_bytes().decode("utf-8")
    options = CONFIGURATIONS[name]
    given = read_notebook(text) if is_notebook(document.name) else text
    chunks = chunk_document(Chunker(**options), given, document.name)
    return {
        "source": document.name,
        "configuration": options,
        "chunks": [described(chunk) for chunk in chunks],
    }


def rendered(golden: Golden) -> str:
    """The golden file's text: a few lines for each chunk."""

    def dumped(value: Any) -> str:
        plain = json.dumps(value, ensure_ascii=False)
        return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", plain)

    chunks = []
    for chunk in golden["chunks"]:
        lines = (", ".join(f'"{key}": {dumped(chunk[key])}' for key in keys) for keys in LINES)
        chunks.append("    {\n      " + ",\n      ".join(lines) + "\n    }")
    listed = "[\n" + ",\n".join(chunks) + "\n  ]" if chunks else "[]"
    return (
        "{\n"
        f'  "source": {dumped(golden["source"])},\n'
        f'  "configuration": {dumped(golden["configuration"])},\n'
        f'  "chunks": {listed}\n'
        "}\n"
    )


def check(document: Path, name: str, folder: Path, *, update: bool) -> None:
    """Compare with the golden file, or write it. Fails with what to do."""
    path = golden_path(document, name, folder)
    now = golden_of(document, name)
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(rendered(now).encode("utf-8"))
        return
    if not path.exists():
        pytest.fail(f"no golden file {path}; write it with: {COMMAND}")
    stored = path.read_bytes().decode("utf-8")
    golden: Golden = json.loads(stored)
    # The first chunk that differs says more than a difference of whole files.
    for number, (chunk, was) in enumerate(zip(now["chunks"], golden["chunks"], strict=False)):
        assert chunk == was, f"{path}: chunk {number}; if it is right: {COMMAND}"
    assert len(now["chunks"]) == len(golden["chunks"])
    assert {**now, "chunks": ()} == {**golden, "chunks": ()}
    if stored != rendered(now):
        pytest.fail(f"{path} was not written by: {COMMAND}")


@pytest.mark.parametrize("name", CONFIGURATIONS)
@pytest.mark.parametrize("document", DOCUMENTS, ids=[path.name for path in DOCUMENTS])
def test_chunks_are_as_they_were_read(document: Path, name: str, update_goldens: bool) -> None:
    check(document, name, GOLDENS, update=update_goldens)


def test_every_golden_has_a_document(update_goldens: bool) -> None:
    """Two documents never share a golden file; those without a document are to be deleted."""
    wanted = [golden_path(document, name) for document in DOCUMENTS for name in CONFIGURATIONS]
    assert len(set(wanted)) == len(wanted), "two documents differ in their suffix only"
    stale = set(GOLDENS.rglob("*.json")) - set(wanted)
    if update_goldens:
        for path in stale:
            path.unlink()
    elif stale:
        pytest.fail(f"golden files without a document, delete them: {sorted(map(str, stale))}")


def test_updating_is_refused_where_ci_is_set() -> None:
    """The golden file stays as it is."""
    document, name = ROOT / "fixtures" / "documents" / "tiny.md", "sections-200-context"
    path = golden_path(document, name)
    before = path.stat().st_mtime_ns if path.exists() else None
    test = f"{__file__}::{test_chunks_are_as_they_were_read.__name__}[{document.name}-{name}]"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--update-goldens", test],
        cwd=ROOT,
        env={**os.environ, "CI": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout + run.stderr
    assert "--update-goldens is refused where CI is set" in run.stdout
    assert before == (path.stat().st_mtime_ns if path.exists() else None)


def test_a_difference_fails(tmp_path: Path) -> None:
    """A missing golden, an edited document and an edited golden are each told."""
    document, name = tmp_path / "guide.md", "fill-160-exact"
    document.write_bytes(b"# A\r\n\r\nSome text.\r\n\r\n# B\r\n\r\nMore text.\r\n")
    with pytest.raises(pytest.fail.Exception, match=f"with: {COMMAND}"):
        check(document, name, tmp_path, update=False)

    check(document, name, tmp_path, update=True)
    check(document, name, tmp_path, update=False)
    path = golden_path(document, name, tmp_path)
    stored = path.read_bytes()
    assert stored.endswith(b"}\n")
    path.write_bytes(stored.replace(b"  ", b" "))
    with pytest.raises(pytest.fail.Exception, match="was not written by"):
        check(document, name, tmp_path, update=False)

    path.write_bytes(stored)
    document.write_bytes(document.read_bytes().replace(b"\r\n", b"\n"))
    with pytest.raises(AssertionError):
        check(document, name, tmp_path, update=False)


def test_what_cannot_be_seen_is_escaped() -> None:
    golden = {"source": "\ud800\u202e\ufeffé日", "configuration": {}, "chunks": []}
    assert '"source": "\\ud800\\u202e\\ufeffé日"' in rendered(golden)
    assert json.loads(rendered(golden)) == golden
