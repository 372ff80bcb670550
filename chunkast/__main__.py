"""``python -m chunkast``: the command."""

import sys

from chunkast.cli.main import main

# Worker processes import this module under another name and must not run the command.
if __name__ == "__main__":
    sys.exit(main())
