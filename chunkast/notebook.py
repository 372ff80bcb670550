"""The public import path for Jupyter notebooks; the code is in ``chunkast.sources.jupyter``."""

from chunkast.sources.jupyter import *  # noqa: F403
