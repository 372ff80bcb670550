"""The entry point of ``chunkast`` and ``python -m chunkast``."""

from __future__ import annotations

import os
import sys

__all__ = ("main",)

# The exit code of shells after an interrupt: 128 plus the signal's number.
_INTERRUPTED = 130


def main() -> int:
    """Run the command-line interface and return its exit code; Ctrl-C prints no traceback."""
    try:
        import signal

        # An interrupted import may print a traceback even if the exception is caught, because
        # callbacks of the import system print it. There is nothing to clean up yet.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _leave)
        from chunkast.cli.main import main as command
    except KeyboardInterrupt:
        os._exit(_INTERRUPTED)
    return command()


def _leave(_number: int, _frame: object) -> None:
    os._exit(_INTERRUPTED)


# Worker processes import this module under another name and must not run the command.
if __name__ == "__main__":
    sys.exit(main())
