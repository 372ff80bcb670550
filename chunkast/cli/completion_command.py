"""``chunkast completion``: print a shell script that completes the command's arguments."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from chunkast.cli.messages import print_text


def run(options: Namespace) -> int:
    """Print the completion script for the chosen shell. Return 0."""
    script = Path(__file__).parent / "completions" / f"chunkast.{options.shell}"
    print_text(script.read_bytes().decode())
    return 0
