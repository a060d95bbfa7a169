"""Naive Bayes classification from noisy counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import Adjacency, Array, EpsilometerError, Guarantee, NeighbouringPair
from epsilometer.mechanisms.catalogue import Entry
from epsilometer.mechanisms.laplace import log_density_of_counts, noisy_counts

CLASSES = 2


@dataclass(frozen=True)
class NoisyNaiveBayes:
    """The counts of a naive Bayes classifier, each with Laplace noise of scale S (m + 1)/epsilon.

    A record is a row of m categorical features, feature j in 0 ... values[j] - 1, and a label 0 or 1. Each of the m + 1
    histograms costs epsilon/(m + 1); S is 2 under replace-one and 1 under add-remove. Columns: the counts of labels 0 and 1;
    then, for each feature, the counts of its values among the records of label 0, and among those of label 1. Proof:
    docs/proofs/counts.md.
    """

    epsilon: float
    values: tuple[int, ...]
    adjacency: Adjacency = "replace-one"
    source = "review, section III-A1 [10]; Vaidya, Shafiq, Basu and Hong 2013; Li, Li, Liu, Li and Jia 2018"

    def __post_init__(self) -> None:
        _ = self.guarantee
        if not self.values or min(self.values) < 1:
            raise EpsilometerError(f"values is {self.values}; it must give, for each feature, how many values it can take")

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.adjacency)

    @property
    def scale(self) -> float:
        """The scale of the noise on every count."""
        sensitivity = 2 if self.adjacency == "replace-one" else 1
        return sensitivity * (len(self.values) + 1) / self.epsilon

    def counts(self, dataset: NDArray[Any]) -> Array:
        """The exact counts, in the order of the columns."""
        records = categorical_records(dataset, self.values)
        labels = records[:, -1]
        parts = [np.bincount(labels, minlength=CLASSES)]
        for feature, number in enumerate(self.values):
            parts.append(np.bincount(labels * number + records[:, feature], minlength=CLASSES * number))
        return np.concatenate(parts).astype(float)

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        return noisy_counts(self.counts(dataset), self.scale, size, rng)

    def log_density(self, dataset: NDArray[Any], outputs: Array) -> Array:
        return log_density_of_counts(outputs, self.counts(dataset), self.scale)

    def predict(self, outputs: Array, features: NDArray[Any]) -> NDArray[np.int_]:
        """The more likely label of each row of features under each output, (outputs, rows): post-processing.

        Negative counts are set to 0, then 1 is added to every count.
        """
        smooth = np.maximum(outputs, 0.0) + 1
        scores = np.log(smooth[:, None, :CLASSES])  # outputs, rows, labels
        first = CLASSES
        for feature, number in enumerate(self.values):
            table = smooth[:, first : first + CLASSES * number].reshape(-1, CLASSES, number)
            share = np.log(table / table.sum(axis=2, keepdims=True))
            scores = scores + share[:, :, np.asarray(features)[:, feature]].transpose(0, 2, 1)
            first += CLASSES * number
        return np.asarray(scores.argmax(axis=2))


def categorical_records(dataset: NDArray[Any], values: tuple[int, ...]) -> NDArray[np.int_]:
    """The records as integers; an error unless each has len(values) features and a label, all within range."""
    table = np.asarray(dataset)
    if table.ndim != 2 or len(table) == 0 or table.shape[1] != len(values) + 1:
        raise EpsilometerError(
            f"the data have shape {table.shape}; they must have a row of {len(values)} features and a label for each record"
        )
    for column, number in enumerate((*values, CLASSES)):
        foreign = table[~np.isin(table[:, column], np.arange(number)), column]
        if len(foreign):
            what = "a label" if column == len(values) else f"feature {column + 1}"
            raise EpsilometerError(f"{what} is {foreign[0]:g}; it must be a whole number from 0 to {number - 1}")
    return table.astype(int)


def _pairs() -> tuple[NeighbouringPair, ...]:
    shared = [[0, 2, 0], [0, 1, 1], [1, 1, 0], [1, 0, 1], [1, 2, 1]]
    return (
        NeighbouringPair(
            np.array([*shared, [0, 0, 0]]),
            np.array([*shared, [1, 2, 1]]),
            "replace-one",
            "a record that changes its label and all its features moves two counts of every histogram",
        ),
        NeighbouringPair(
            np.array([*shared, [0, 0, 0]]),
            np.array([*shared, [0, 0, 1]]),
            "replace-one",
            "the label alone moves two counts of every histogram",
        ),
    )


ENTRIES = (
    Entry(
        "naive_bayes",
        "Naive Bayes from noisy counts",
        lambda epsilon: NoisyNaiveBayes(epsilon, (2, 3)),
        _pairs,
        true_epsilon=lambda epsilon: epsilon,
    ),
)
