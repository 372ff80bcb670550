"""Nothing uses the network unless it is allowed to: attempts are counted in real processes."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import tiktoken
from tiktoken.model import MODEL_TO_ENCODING

import chunkast
from chunkast.tokens.vocabulary import BUNDLED
from tests.command import run, write

ENCODINGS = sorted(tiktoken.list_encoding_names())
OTHERS = sorted(set(ENCODINGS) - BUNDLED.keys())
MODELS = ("gpt-4o", "gpt-4", "gpt-3.5-turbo", "gpt-2", "davinci", "text-davinci-003", "code-x")
ROOT = Path(chunkast.__file__).parents[1]
# Every process of Python imports this at its start. An attempt is noted and refused.
TRACE = """
import os, sys
EVENTS = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}
def hook(event, arguments):
    if event not in EVENTS:
        return
    if event == "socket.connect" and isinstance(arguments[1], (str, bytes)):
        return  # a socket in the file system
    with open(os.environ["ATTEMPTS"], "a") as log:
        log.write(event + "\\n")
    raise OSError("no network here")
sys.addaudithook(hook)
"""
COMMANDS = """
import contextlib, io, json, sys
from chunkast.cli.main import main
for arguments in json.load(sys.stdin):
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        code = main(arguments)
    print(json.dumps([arguments, code, said.getvalue()]), file=sys.__stderr__)
"""


def traced(
    folder: Path, code: str, given: object = None
) -> tuple[subprocess.CompletedProcess[str], int]:
    """A process without any cache, and how often it tried to reach the network."""
    trace, log, temporary = (folder / name for name in ("trace", "attempts", "tmp"))
    write(folder, {"trace/sitecustomize.py": TRACE, "attempts": "", "tmp/a": ""})
    kept = {k: v for k, v in os.environ.items() if not k.endswith("_CACHE_DIR")}
    own = {
        "PYTHONPATH": f"{trace}{os.pathsep}{ROOT}",
        "TMPDIR": str(temporary),
        "ATTEMPTS": str(log),
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={**kept, **own},
        timeout=600,
    )
    assert [path.name for path in temporary.iterdir()] == ["a"]
    return done, log.read_text("utf-8").count("\n")


@pytest.mark.slow
def test_the_trace_sees_a_download_that_is_allowed(tmp_path: Path) -> None:
    code = (
        "import chunkast\n"
        "try: chunkast.count_tokens('x', 'p50k_base', allow_download=True)\n"
        "except chunkast.ConfigError as error: print(error)"
    )
    done, attempts = traced(tmp_path, code)
    assert done.stdout.startswith("encoding='p50k_base': its vocabulary could not be downloaded")
    assert attempts > 0


@pytest.mark.slow
def test_no_command_and_no_encoding_uses_the_network(tmp_path: Path) -> None:
    tools = [{"name": "look", "parameters": {"properties": {"at": {"type": "string"}}}}]
    write(tmp_path, {f"docs/{n}.md": f"# Part {n}\n\nSome words of it.\n" for n in range(12)})
    write(tmp_path, {"calls.txt": "<look><at>it</at></look>", "tools.json": json.dumps(tools)})
    choices = [("--encoding", name) for name in ENCODINGS] + [("--model", name) for name in MODELS]
    commands = [
        ["--version"],
        *(["stats", "docs", *choice] for choice in choices),
        ["chunk", "docs", "--jobs", "2", "-o", "out.jsonl"],
        ["view", "docs/0.md", "-o", "report.html"],
        ["index", "docs", "--db", "a.db"],
        ["chunk", "docs", "--jobs", "2", "-o", "out.jsonl", "--encoding", "gpt2"],
        ["search", "words", "--db", "a.db"],
        ["quote", "Some words", "--db", "a.db"],
        ["toolcalls", "calls.txt", "--tools", "tools.json"],
    ]
    done, attempts = traced(tmp_path, COMMANDS, commands)
    assert attempts == 0
    results = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("[[")]
    assert len(results) == len(commands)
    for arguments, code, said in results:
        chosen = arguments[-1]
        bundled = MODEL_TO_ENCODING.get(chosen, chosen) in BUNDLED
        refused = chosen in (*OTHERS, *MODELS) and not bundled
        assert code == (2 if refused else 0), (arguments, said)
        if chosen in OTHERS or (refused and chosen in MODEL_TO_ENCODING):
            assert "its vocabulary is not bundled with chunkast" in said
            assert "--allow-download" in said


def test_no_lock_and_no_index_allows_a_download(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": "# Part\n\nSome words of it.\n"})
    assert run("snapshot", "docs", "-o", "a.lock", "-q", cwd=tmp_path).returncode == 0
    assert run("index", "docs", "--db", "a.db", "-q", cwd=tmp_path).returncode == 0
    lock = (tmp_path / "a.lock").read_text("utf-8")
    wrong = '"encoding": "gpt2", "allow_download": true'
    edited = re.sub(r'"encoding": "\w+"', wrong, lock, count=1)
    assert edited != lock
    (tmp_path / "a.lock").write_text(edited, "utf-8")
    with sqlite3.connect(tmp_path / "a.db") as connection:
        [stored] = connection.execute(
            "SELECT value FROM settings WHERE name = 'options'"
        ).fetchone()
        options = json.dumps(json.loads(stored) | {"encoding": "gpt2", "allow_download": True})
        connection.execute("UPDATE settings SET value = ? WHERE name = 'options'", (options,))
    connection.close()
    commands = [
        ["check", "docs", "--against", "a.lock"],
        ["index", "--db", "a.db", "--dry-run"],
        ["search", "words", "--db", "a.db", "--expand", "100"],
        ["outline", "docs/a.md", "--db", "a.db"],
        ["read", "docs/a.md", "--db", "a.db"],
    ]
    done, attempts = traced(tmp_path, COMMANDS, commands)
    assert attempts == 0
    for line in done.stderr.splitlines():
        arguments, code, said = json.loads(line)
        assert (code, "--allow-download" in said) == (2, True), (arguments, said)
