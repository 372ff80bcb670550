"""Argument parsing, dispatch and exit codes."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Final, NoReturn

import chunkast
from chunkast.cli import (
    check,
    chunk,
    diff,
    index,
    quote,
    search,
    snapshot,
    stats,
    toolcalls,
    view,
)
from chunkast.cli.debug import add_debug, debug_lines, without_debug
from chunkast.cli.messages import UsageError, say_error, warnings_as_notes
from chunkast.cli.output import abandon_stdout
from chunkast.cli.signals import Stopped, stoppable
from chunkast.errors import ChunkastError, ConfigError

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

__all__ = ("main",)

# Each module has HELP, DESCRIPTION, OPERANDS, add_arguments(parser) and run(options).
# OPERANDS names the list of what it takes besides options; "" if it takes no list.
COMMANDS: Final[Mapping[str, ModuleType]] = MappingProxyType(
    {
        "chunk": chunk,
        "stats": stats,
        "view": view,
        "index": index,
        "search": search,
        "quote": quote,
        "snapshot": snapshot,
        "check": check,
        "diff": diff,
        "toolcalls": toolcalls,
    }
)

_LOG = logging.getLogger(__name__)
_FAILED: Final = 1
_USAGE: Final = 2
# As shells count: 128 and the signal's number.
_INTERRUPTED: Final = 130


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say it in one line; argparse prints the usage of every option before it."""
        say_error(f"{message} (see {self.prog} --help)")
        raise SystemExit(_USAGE)

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """Print help or the version; argparse says nothing when that fails."""
        stream = sys.stderr if file is None else file
        if message and stream is not None:
            stream.write(message)
            if sys.stdout is not None:
                sys.stdout.flush()


class _Version(argparse.Action):
    """Prints the version; the parser is imported only for that."""

    def __call__(self, parser: argparse.ArgumentParser, *_given: object) -> NoReturn:
        from importlib.metadata import version

        from chunkast.markdown import parser_note

        own = f"chunkast {chunkast.__version__}"
        text = f"{own}\n{parser_note()}\ntiktoken {version('tiktoken')}\n"
        parser._print_message(text, sys.stdout)  # noqa: SLF001 - our own, above
        parser.exit()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command on ``argv`` (default: the process's arguments); its exit code."""
    argv, debug = without_debug(sys.argv[1:] if argv is None else argv)
    with debug_lines(wanted=debug):
        return _code(argv)


def _code(argv: Sequence[str]) -> int:
    try:
        with stoppable():
            return _run(argv)
    except ChunkastError as error:
        say_error(error)
        _LOG.debug("raised at", exc_info=True)
        return _USAGE if isinstance(error, (UsageError, ConfigError)) else _FAILED
    except BrokenPipeError:
        # Whoever reads has read enough.
        abandon_stdout()
        return 0
    except OSError as error:
        # Inputs report their own; what is left is the output.
        abandon_stdout()
        say_error(error.strerror or error)
        _LOG.debug("raised at", exc_info=True)
        return _FAILED
    except KeyboardInterrupt as stop:
        # The same Ctrl-C may have ended whoever reads.
        abandon_stdout()
        return stop.code if isinstance(stop, Stopped) else _INTERRUPTED
    except MemoryError:
        abandon_stdout()
        say_error("there is not enough memory")
        _LOG.debug("raised at", exc_info=True)
        return _FAILED
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0


def _run(argv: Sequence[str]) -> int:
    parser = _parser()
    options = _parse(parser, argv)
    if options.command is None:
        parser.print_help(sys.stderr)
        return _USAGE
    with warnings_as_notes(wanted=not getattr(options, "quiet", False)):
        code: int = COMMANDS[options.command].run(options)
    return code


def _parse(parser: _Parser, argv: Sequence[str]) -> argparse.Namespace:
    """Parse operands wherever they stand; argparse takes them only where they stand together."""
    command = COMMANDS.get(argv[0]) if argv else None
    if command is None or not command.OPERANDS:
        return parser.parse_args(argv)
    end = argv.index("--") if "--" in argv else len(argv)
    options, more = parser.parse_known_args(argv[:end])
    unknown = next((word for word in more if word.startswith("-") and word != "-"), None)
    operands = [*getattr(options, command.OPERANDS), *more, *argv[end + 1 :]]
    setattr(options, command.OPERANDS, operands)
    needed = not getattr(options, "verify", False)
    if unknown is not None or (needed and not operands):
        what = (
            f"{command.OPERANDS.upper()} missing"
            if unknown is None
            else f"unknown argument {unknown}"
        )
        raise UsageError(f"{what} (see chunkast {options.command} --help)")
    return options


def _parser() -> _Parser:
    parser = _Parser(
        prog="chunkast",
        description="Chunk Markdown to an exact token budget.",
        epilog="Exit codes: 0; 1 when some input failed and the rest is done; 2 for usage.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="show the version and which parser serves"
    )
    add_debug(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, module in COMMANDS.items():
        command = commands.add_parser(
            name, help=module.HELP, description=module.DESCRIPTION, allow_abbrev=False
        )
        module.add_arguments(command)
        add_debug(command)
    return parser
