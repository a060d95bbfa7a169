"""The registry of the data sets: the source of each, and its title in figures and on the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from epsilometer.core import LabelledData
from epsilometer.data.real import breast_cancer, rand_hie
from epsilometer.data.synthetic import SYNTHETIC


@dataclass(frozen=True)
class DataSet:
    """A data set that is drawn from a distribution, or read from a dependency or from the user's CSV."""

    name: str
    """Short, in lower case with underscores: it becomes part of file names."""
    title: str
    draw: Callable[[int, np.random.Generator], LabelledData] | None = None
    """Draws the given number of records of a synthetic data set."""
    read: Callable[[], LabelledData] | None = None
    """Returns all records of a real data set."""
    points: int = 0
    """The number of records for the experiments of a synthetic data set; 0 to take it from the configuration."""
    holdout: int = 0
    """The number of further records for tuning; 0 to take it from the configuration."""


SMALL = "small"
"""A small sample from the distribution of `separable`: the model depends on every record, so membership inference works."""
OWN = "own"
"""The name of a user's own CSV in the experiments."""

_SETS = (
    DataSet("separable", "Uniform, margin 0.03", draw=SYNTHETIC["separable"]),
    DataSet("unseparable", "Unseparable: noise 0.2 in margin 0.1", draw=SYNTHETIC["unseparable"]),
    DataSet("breast_cancer", "Breast cancer (Wisconsin)", read=breast_cancer),
    DataSet("rand_hie", "RAND health insurance", read=rand_hie),
    DataSet(OWN, "Your own data"),
    DataSet(SMALL, "Few records, margin 0.03", draw=SYNTHETIC["separable"]),
)
DATASETS = {dataset.name: dataset for dataset in _SETS}
REAL = tuple(name for name, dataset in DATASETS.items() if dataset.read)
"""The real data sets."""
