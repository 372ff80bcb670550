"""Public import path for Jupyter notebooks; the code is in ``chunkast.sources.notebook``."""

from chunkast.sources.notebook import *  # noqa: F403
