"""How a block larger than the budget is divided: along what it is, finest steps last."""

from chunkast.split.prose import Prose
from chunkast.split.refine import Frame, Refiner
from chunkast.split.syntax import scored

__all__ = ("Frame", "Prose", "Refiner", "scored")
