"""The command as a process: ``chunkast`` and ``python -m chunkast``."""

from __future__ import annotations

import os
import sys

__all__ = ("main",)

# As shells count: 128 and the signal's number.
_INTERRUPTED = 130


def main() -> int:
    """Run the command; its exit code. From here on Ctrl-C prints no traceback."""
    try:
        import signal

        # A traceback may come of an interrupted import even where the exception is caught:
        # callbacks of the import system print it. Nothing is there yet to clean up.
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
