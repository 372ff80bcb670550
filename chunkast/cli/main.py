"""The entry point of the command: argument parsing, dispatch and exit codes."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Collection, Sequence
from contextlib import nullcontext, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NoReturn

import chunkast
from chunkast.cli.messages import (
    debug_lines,
    messages,
    print_error,
    print_message,
    print_text,
    without_debug,
)
from chunkast.cli.option_table import COMMANDS, Formatter, add_options, did_you_mean
from chunkast.cli.signals import Stopped, stoppable
from chunkast.errors import ChunkastError, ConfigError, UsageError, describe

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

__all__ = ("COMMANDS", "main", "parser_of")

_LOG = logging.getLogger(__name__)
# Marks an operand after "--"; no argument can contain it.
_OPERAND: Final = "\0"
_FAILED: Final = 1
_USAGE: Final = 2
# As grep, these commands exit with 1 only if they find nothing, and with 2 after any error.
_FINDING: Final = ("search", "read", "outline", "quote")
# As in shells: 128 and the signal's number.
_INTERRUPTED: Final = 130


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options, formatter_class=Formatter)
        self.commands: dict[str, argparse.ArgumentParser] = {}

    def error(self, message: str) -> NoReturn:
        """Report a usage error in one line and exit; argparse would print all options first."""
        print_error(f"{message} (see {self.prog} --help)")
        raise SystemExit(_USAGE)

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """Print help; unlike argparse, do not ignore a failure to write."""
        stream = sys.stderr if file is None else file
        if message and stream is not None:
            stream.write(message)
            if sys.stdout is not None:
                sys.stdout.flush()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the arguments ``argv``, and return the exit code.

    ``argv`` defaults to the arguments of the process.
    """
    argv, debug = without_debug(sys.argv[1:] if argv is None else argv)
    with debug_lines() if debug else nullcontext():
        return _code(argv)


def _code(argv: Sequence[str]) -> int:
    failed = _USAGE if argv and argv[0] in _FINDING else _FAILED
    try:
        with stoppable():
            return _run(argv)
    except ChunkastError as error:
        print_error(error)
        _LOG.debug("raised at", exc_info=True)
        return _USAGE if isinstance(error, (UsageError, ConfigError)) else failed
    except BrokenPipeError:
        # The reader has closed the pipe.
        _abandon_stdout()
        return 0
    except KeyboardInterrupt as stop:
        # The same Ctrl-C may have ended the reader.
        _abandon_stdout()
        if written := getattr(stop, "written", ""):
            print_message(f"chunkast: interrupted; {written}")
        return stop.code if isinstance(stop, Stopped) else _INTERRUPTED
    except (OSError, MemoryError) as error:
        # Errors of inputs are reported elsewhere; these are errors of the output.
        _abandon_stdout()
        print_error(getattr(error, "strerror", None) or describe(error))
        _LOG.debug("raised at", exc_info=True)
        return failed
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0


def _abandon_stdout() -> None:
    """Discard unwritten output, so that the interpreter does not fail when it exits."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _run(argv: Sequence[str]) -> int:
    parser = parser_of(every="--help-all" in argv)
    options = _parse(parser, argv)
    if options.version:
        print_text(_versions())
        return 0
    if options.command is None:
        parser.print_help(sys.stderr)
        return _USAGE
    with messages(quiet=options.quiet):
        code: int = import_module(f"chunkast.cli.{options.command}_command").run(options)
    return code


def _versions() -> str:
    from importlib.metadata import version

    from chunkast.markdown import parser_note

    own = f"chunkast {chunkast.__version__}"
    return f"{own}\n{parser_note()}\ntiktoken {version('tiktoken')}\n"


def _parse(parser: _Parser, argv: Sequence[str]) -> argparse.Namespace:
    """Parse ``argv``, allowing operands anywhere among the options."""
    if argv[:1] == ["help"]:
        argv = [*argv[1:2], "--help"]
    command = parser.commands.get(argv[0]) if argv else None
    if command is None:
        if argv and not argv[0].startswith("-"):
            hint = did_you_mean(argv[0], COMMANDS) or f"; the commands are {', '.join(COMMANDS)}"
            raise UsageError(f"unknown command {argv[0]!r}{hint}")
        return parser.parse_args(argv)
    end = argv.index("--") if "--" in argv else len(argv)
    # A misspelled option is reported before a missing one.
    known = command._option_string_actions  # noqa: SLF001 - no public list
    unknown = next((word for word in argv[1:end] if _is_unknown(word, known)), None)
    if unknown is not None:
        name = unknown.partition("=")[0]
        hint = did_you_mean(name, known)
        raise UsageError(f"unknown option {name}{hint} (see chunkast {argv[0]} --help-all)")
    # argparse forgets "--" when it collects operands. The mark keeps it from reading those after
    # "--" as options.
    for action in command._get_positional_actions():  # noqa: SLF001 - no public list
        action.type = lambda word: word.removeprefix(_OPERAND)
    words = [*argv[1:end], *(f"{_OPERAND}{word}" for word in argv[end + 1 :])]
    options = command.parse_intermixed_args(words)
    options.command, options.version = argv[0], False
    return options


def _is_unknown(word: str, known: Collection[str]) -> bool:
    """Return whether ``word`` is an option that is not in ``known``.

    "-" (standard input) and words such as "-5" (a number) are not options.
    """
    if not word.startswith("-") or word == "-" or word[1:2].isdigit():
        return False
    return (word.partition("=")[0] if word.startswith("--") else word[:2]) not in known


def parser_of(*, every: bool = False) -> _Parser:
    """Return the parser of the command; its help shows every option if ``every`` is true."""
    parser = _Parser(
        prog="chunkast",
        description="Split Markdown into chunks that fit a token budget.",
        epilog="Exit codes: 0 for success; 1 if some input failed; 2 for wrong usage. "
        "For search, read, outline and quote: 1 if nothing is found; 2 after any error.",
        allow_abbrev=False,
    )
    add_options(parser, "version debug", {}, every=True)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, words in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=words["help"],
            description=words["description"],
            epilog="\n  ".join(("examples:", *words["examples"])),
            allow_abbrev=False,
            add_help=False,
        )
        parser.commands[name] = command
        names = f"{words['options']} quiet debug help help_all"
        add_options(command, names, words.get("defaults", {}), every=every)
    topics = commands.add_parser("help", help="show the help of a command", add_help=False)
    topics.add_argument("topic", nargs="?", choices=tuple(COMMANDS), metavar="COMMAND")
    return parser
