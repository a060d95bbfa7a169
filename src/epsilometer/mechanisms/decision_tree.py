"""Random decision trees: the structure does not depend on the data, and the class counts in the leaves are noisy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import (
    Adjacency,
    Array,
    EpsilometerError,
    Guarantee,
    NeighbouringPair,
    require_positive,
    stream,
)
from epsilometer.mechanisms.catalogue import Entry
from epsilometer.mechanisms.laplace import log_density_of_counts, noisy_counts
from epsilometer.mechanisms.naive_bayes import CLASSES, categorical_records

Leaf = tuple[tuple[int, int], ...]
"""The path to a leaf: (feature, value) at each level."""


@dataclass(frozen=True)
class RandomDecisionTrees:
    """k trees of random structure, with Laplace noise of scale S k/epsilon on the class counts of every leaf.

    A record is a row of categorical features, feature j in 0 ... values[j] - 1, and a label 0 or 1. Each node splits on a
    random feature that its path has not used yet, down to `height`; the public `seed` determines the structure. The
    sensitivity S of a tree is 2 under replace-one and 1 under add-remove. Columns: for each tree and each of its leaves,
    depth first, the counts of labels 0 and 1. Proof: docs/proofs/counts.md.
    """

    epsilon: float
    values: tuple[int, ...]
    height: int
    trees: int
    adjacency: Adjacency = "replace-one"
    seed: int = 0
    source = "review, section III-A6 [16]; Jagannathan, Pillaipakkamnatt and Wright 2009; Fletcher and Islam 2016"

    def __post_init__(self) -> None:
        _ = self.guarantee
        require_positive(trees=self.trees)
        if not self.values or min(self.values) < 1:
            raise EpsilometerError(f"values is {self.values}; it must give, for each feature, how many values it can take")
        if not 0 <= self.height <= len(self.values):
            raise EpsilometerError(
                f"height is {self.height}; it must be from 0 to the number of features, {len(self.values)}"
            )

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.adjacency)

    @property
    def scale(self) -> float:
        """The scale of the noise on every count."""
        return (2 if self.adjacency == "replace-one" else 1) * self.trees / self.epsilon

    def leaves(self, tree: int) -> tuple[Leaf, ...]:
        """The leaves of a tree, depth first."""
        return _grow(self.values, self.height, self.seed, tree)

    def membership(self, tree: int, features: NDArray[Any]) -> NDArray[np.bool_]:
        """Which leaf of a tree each row of features falls into, (rows, leaves)."""
        rows = np.asarray(features)
        inside = [[rows[:, feature] == value for feature, value in leaf] for leaf in self.leaves(tree)]
        return np.column_stack([np.all(tests, axis=0) if tests else np.ones(len(rows), dtype=bool) for tests in inside])

    def counts(self, dataset: NDArray[Any]) -> Array:
        """The exact counts, in the order of the columns."""
        records = categorical_records(dataset, self.values)
        labels = records[:, -1:] == np.arange(CLASSES)
        parts = [self.membership(tree, records).T.astype(float) @ labels for tree in range(self.trees)]
        return np.concatenate(parts).ravel()

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        return noisy_counts(self.counts(dataset), self.scale, size, rng)

    def log_density(self, dataset: NDArray[Any], outputs: Array) -> Array:
        return log_density_of_counts(outputs, self.counts(dataset), self.scale)

    def predict(self, outputs: Array, features: NDArray[Any]) -> NDArray[np.int_]:
        """The label of each row of features under each output, (outputs, rows): post-processing, at no cost in epsilon.

        Each tree votes with the label shares in its leaf. Negative counts are set to 0, and an empty leaf does not vote.
        """
        votes = np.zeros((len(outputs), len(features), CLASSES))
        first = 0
        for tree in range(self.trees):
            inside = self.membership(tree, features)
            last = first + CLASSES * inside.shape[1]
            leaf = np.maximum(outputs[:, first:last].reshape(len(outputs), -1, CLASSES), 0.0)
            votes += (leaf / np.maximum(leaf.sum(axis=2, keepdims=True), 1e-300))[:, inside.argmax(axis=1)]
            first = last
        return np.asarray(votes.argmax(axis=2))


@cache
def _grow(values: tuple[int, ...], height: int, seed: int, tree: int) -> tuple[Leaf, ...]:
    rng = stream(seed, "random decision tree", tree)

    def leaves_under(path: Leaf) -> tuple[Leaf, ...]:
        if len(path) == height:
            return (path,)
        asked = {feature for feature, _ in path}
        feature = int(rng.choice([number for number in range(len(values)) if number not in asked]))
        return tuple(leaf for value in range(values[feature]) for leaf in leaves_under((*path, (feature, value))))

    return leaves_under(())


def _pairs() -> tuple[NeighbouringPair, ...]:
    shared = [[0, 0, 1, 0], [1, 2, 0, 1], [1, 1, 1, 1], [0, 2, 0, 0], [1, 0, 0, 1]]
    return (
        NeighbouringPair(
            np.array([*shared, [0, 1, 0, 0]]),
            np.array([*shared, [0, 1, 0, 1]]),
            "replace-one",
            "an exchanged label moves two counts of every tree",
        ),
        NeighbouringPair(
            np.array([*shared, [0, 1, 0, 0]]),
            np.array([*shared, [1, 2, 1, 0]]),
            "replace-one",
            "a record that changes all features falls into other leaves",
        ),
    )


ENTRIES = (
    Entry(
        "decision_tree",
        "Random decision trees with noisy leaves",
        lambda epsilon: RandomDecisionTrees(epsilon, (2, 3, 2), height=2, trees=2),
        _pairs,
        true_epsilon=lambda epsilon: epsilon,
    ),
)
