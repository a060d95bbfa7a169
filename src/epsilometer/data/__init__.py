"""Data sets: the papers' synthetic ones, two real ones that ship inside dependencies, and a user's own."""

from epsilometer.data.prepare import Prepared, prepare_dataset, read_dataset
from epsilometer.data.real import REAL
from epsilometer.data.synthetic import SMALL, SYNTHETIC

NAMES = (*SYNTHETIC, *REAL)

__all__ = ["NAMES", "REAL", "SMALL", "SYNTHETIC", "Prepared", "prepare_dataset", "read_dataset"]
