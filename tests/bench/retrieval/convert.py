"""Documents that pinned converters make of files of packages, checked by their SHA-256.

The converters are installed with pip into an environment of their own, inside the cache, as they
and what they need would stand in the way of others.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.retrieval import converters

__all__ = ("PINS", "converted")

# With what else the text depends on.
PINS = (
    "beautifulsoup4==4.15.0",
    "html2text==2025.4.15",
    "mammoth==1.11.0",
    "markdownify==1.2.3",
    "markitdown[docx]==0.1.8",
    "pymupdf==1.28.2",
    "pymupdf4llm==0.3.4",
    "pypandoc_binary==1.17",
)


def converted(
    converter: str,
    files: Mapping[str, bytes],
    hashes: Mapping[str, str],
    cache: Path,
    say: Callable[[str], object],
) -> dict[str, bytes]:
    """The Markdown of the files by their path; ``hashes`` are the SHA-256 of what is made.

    Ends the program with a message when a converter cannot be installed, fails, or makes
    another text.
    """
    found: dict[str, bytes] = {}
    for path, content in files.items():
        made = cache / hashes[path]
        if not made.is_file():
            say(f"converting {path} with {converter}")
            text = _made(converter, Path(path).name, content, cache, say)
            if (actual := sha256(text).hexdigest()) != hashes[path]:
                raise SystemExit(
                    f"{converter} makes a text of {path} with the SHA-256 {actual}, not "
                    f"{hashes[path]}: it is another text than the questions were written for"
                )
            part = made.with_suffix(".part")
            part.write_bytes(text)
            part.replace(made)
        found[path] = made.read_bytes()
    return found


def _made(
    converter: str, name: str, content: bytes, cache: Path, say: Callable[[str], object]
) -> bytes:
    python = _environment(cache / "converters", say)
    with TemporaryDirectory(prefix="chunkast-bench-") as folder:
        given, made = Path(folder) / name, Path(folder) / "made.md"
        given.write_bytes(content)
        _run([python, converters.__file__, converter, str(given), str(made)])
        return made.read_bytes()


def _environment(folder: Path, say: Callable[[str], object]) -> str:
    """The Python of the converters' environment, which is made once for these pins."""
    python, pins = folder / "bin" / "python", folder / "pins.txt"
    if not pins.is_file() or pins.read_text("utf-8") != "\n".join(PINS):
        say(f"installing converters into {folder}")
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", *PINS])
        pins.write_text("\n".join(PINS), "utf-8")
    return str(python)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:4])} says:\n{done.stderr.strip()}")
