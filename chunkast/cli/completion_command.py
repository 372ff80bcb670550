"""``chunkast completion``: print the script with which a shell completes the command's arguments."""

from __future__ import annotations

from argparse import Namespace
from importlib.resources import files
from typing import Final

from chunkast.cli.messages import print_text

HELP: Final = "print a script that completes arguments in a shell"
DESCRIPTION: Final = (
    "Print the script with which a shell completes commands, options and their values, files and "
    "folders. Load it where the shell starts; for zsh, save it as _chunkast in a folder of $fpath."
)
EXAMPLES: Final = (
    "chunkast completion bash > ~/.local/share/bash-completion/completions/chunkast",
    "chunkast completion fish | source",
)
OPTIONS: Final = "shell"


def run(options: Namespace) -> int:
    """Print the script for a shell. Return 0."""
    script = files("chunkast.cli") / "completions" / f"chunkast.{options.shell}"
    print_text(script.read_bytes().decode())
    return 0
