"""All data sets of five values from a grid, on which the sensitivities of section II-B are computed exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement

import numpy as np

from epsilometer.core import Array
from epsilometer.mechanisms.smooth_sensitivity import median

VALUES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The grid."""
SIZE = 5
"""The number of records."""
QUERIES: dict[str, Callable[[Array], float]] = {
    "count": lambda values: float(np.sum(values == 1.0)),
    "mean": lambda values: float(np.mean(values)),
    "median": lambda values: median(values, 1.0),
}


@dataclass(frozen=True)
class DataSets:
    """All data sets of five values from the grid, in any order, and how many records must be exchanged between two."""

    values: Array
    distance: Array

    def answers(self, query: str) -> Array:
        """The answer of a query on each data set."""
        return np.array([QUERIES[query](values) for values in self.values])

    def local_sensitivity(self, query: str) -> Array:
        """The largest distance between each data set's answer and that of a neighbour."""
        found = self.answers(query)
        return np.max(np.where(self.distance == 1, np.abs(found[:, None] - found), 0.0), axis=1)

    def global_sensitivity(self, query: str) -> float:
        """The largest distance between the answers of two neighbours."""
        found = self.answers(query)
        first, second = np.nonzero(self.distance == 1)
        return float(np.max(np.abs(found[first] - found[second])))

    def smooth_sensitivity(self, query: str, beta: float, apart: Array) -> Array:
        """Definition 5 with the given distances: the largest LS(D') e^(-beta |D - D'|) over all D'."""
        return np.max(self.local_sensitivity(query) * np.exp(-beta * apart), axis=1)

    def stretch(self, smooth: Array, beta: float) -> float:
        """The largest log S(D)/S(D') of two neighbours, in units of beta."""
        first, second = np.nonzero(self.distance == 1)
        return float(np.max(np.log(smooth[first] / smooth[second]))) / beta


@cache
def data_sets() -> DataSets:
    """The 126 data sets, and the distances between them."""
    values = np.array(list(combinations_with_replacement(VALUES, SIZE)))
    counts = (values[:, :, None] == np.array(VALUES)).sum(axis=1)
    shared = np.minimum(counts[:, None], counts).sum(axis=2)
    return DataSets(values, SIZE - shared)
