"""Data sets: the papers' synthetic ones, two real ones that ship with dependencies, and a user's own."""

from epsilometer.data.prepare import Prepared, prepare_dataset, read_dataset
from epsilometer.data.sets import DATASETS, OWN, REAL, SMALL, DataSet
from epsilometer.data.synthetic import SYNTHETIC

__all__ = ["DATASETS", "OWN", "REAL", "SMALL", "SYNTHETIC", "DataSet", "Prepared", "prepare_dataset", "read_dataset"]
