"""Private feature selection: repeated exponential mechanism without replacement (peeling)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from epsilometer.core import Array, EpsilometerError, Guarantee, NeighbouringPair, output_rows, require_positive
from epsilometer.mechanisms.catalogue import Entry, by_enumeration

SENSITIVITY = 2.0
"""The largest change of a score between neighbouring data sets."""


@dataclass(frozen=True)
class FeatureSelection:
    """Choose `select` = k of m features one after another, each by the exponential mechanism among the remaining ones.

    A data set has columns x_1 ... x_m, y in [-1, 1] and a row for each record; the score of feature j is |sum_i y_i x_ij|.
    Each of the k choices costs epsilon/k. The output is the row of the chosen features' numbers, from 0, in the order of
    choice. Proof: docs/proofs/counts.md.
    """

    epsilon: float
    select: int
    source = (
        "review, section III-C1 (a heading without text); the exponential mechanism, review, Definition 7; "
        "McSherry and Talwar 2007; peeling, Hardt and Roth 2013"
    )

    def __post_init__(self) -> None:
        _ = self.guarantee
        require_positive(select=self.select)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one")

    def scores(self, dataset: NDArray[Any]) -> Array:
        """|sum_i y_i x_ij| for each feature j."""
        table = self._checked_table(dataset)
        return np.asarray(np.abs(table[:, -1] @ table[:, :-1]))

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> NDArray[np.int_]:
        weights = self._weights(dataset)
        noisy = weights + rng.gumbel(size=(size, len(weights)))
        return np.asarray(np.argsort(-noisy, axis=1)[:, : self.select])

    def log_density(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> Array:
        weights = self._weights(dataset)
        outputs = output_rows(outputs, self.select)
        chosen = np.clip(outputs, 0, len(weights) - 1).astype(int)
        possible = (chosen == outputs).all(axis=1)
        remaining = np.broadcast_to(weights, (len(outputs), len(weights))).copy()
        total = np.zeros(len(outputs))
        rows = np.arange(len(outputs))
        for choice in chosen.T:
            total += remaining[rows, choice] - logsumexp(remaining, axis=1)
            remaining[rows, choice] = -np.inf  # a feature cannot be chosen twice
        return np.where(possible, total, -np.inf)

    def support(self, dataset: NDArray[Any]) -> NDArray[np.int_]:
        return np.array(list(permutations(range(len(self._weights(dataset))), self.select)))

    def _weights(self, dataset: NDArray[Any]) -> Array:
        return self.epsilon / self.select * self.scores(dataset) / (2 * SENSITIVITY)

    def _checked_table(self, dataset: NDArray[Any]) -> Array:
        table = np.asarray(dataset, dtype=float)
        if table.ndim != 2 or len(table) == 0 or table.shape[1] < 2:
            raise EpsilometerError(f"the data have shape {table.shape}; they must have a row x_1 ... x_m, y for each record")
        if self.select >= table.shape[1]:
            raise EpsilometerError(f"select is {self.select}; there are only {table.shape[1] - 1} features")
        outside = table[~(np.abs(table) <= 1)]
        if len(outside):
            raise EpsilometerError(f"a value is {outside[0]:g}; it must be in [-1, 1]")
        return table


def _pairs() -> tuple[NeighbouringPair, ...]:
    shared = [[0.1, 0.1, 1.0, 1.0, 1.0]] * 20
    towards, away = [1.0, 1.0, -1.0, -1.0, 1.0], [-1.0, -1.0, 1.0, 1.0, 1.0]
    mixed = [[1.0, 0.4, -0.3, 0.0, 1.0], [0.5, -1.0, 0.2, -0.8, -1.0], [-0.6, 0.1, 0.9, 0.7, 0.5]]
    return (
        NeighbouringPair(
            np.array([*shared, towards]),
            np.array([*shared, away]),
            "replace-one",
            "a record that moves two weak features' scores one way and the strong ones' the other way",
        ),
        NeighbouringPair(
            np.array([*mixed, [1.0, 1.0, 1.0, 1.0, 1.0]]),
            np.array([*mixed, [1.0, 1.0, 1.0, 1.0, -1.0]]),
            "replace-one",
            "an exchanged label moves the scores of all features",
        ),
    )


ENTRIES = (
    Entry(
        "feature_selection",
        "Features chosen by the exponential mechanism",
        lambda epsilon: FeatureSelection(epsilon, 2),
        _pairs,
        true_epsilon=by_enumeration(lambda epsilon: FeatureSelection(epsilon, 2), _pairs),
    ),
)
