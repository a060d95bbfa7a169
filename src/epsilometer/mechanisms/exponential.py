"""The exponential mechanism: a random choice among finitely many candidates, weighted by utility."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from epsilometer.core import Adjacency, Array, EpsilometerError, Guarantee, NeighbouringPair, require_positive
from epsilometer.mechanisms.catalogue import Entry, by_enumeration


@dataclass(frozen=True, eq=False)
class Exponential:
    """Candidate r is chosen with probability proportional to exp(epsilon q(D, r) / (2 S)).

    `utility(dataset)` gives q(D, r) for all candidates at once; S is the largest change of any one q(D, r) between
    neighbouring data sets; the caller must ensure it. The weight of a candidate changes by a factor of at most
    e^(epsilon/2), the sum of the weights likewise, so a probability changes by at most e^epsilon. The candidates are
    distinct numbers; an output is one of them, and outputs have shape (size,).
    """

    candidates: Array
    utility: Callable[[Any], NDArray[Any]]
    sensitivity: float
    epsilon: float
    adjacency: Adjacency = "replace-one"
    source = "review, Definition 7; McSherry and Talwar 2007"

    def __post_init__(self) -> None:
        require_positive(epsilon=self.guarantee.epsilon, sensitivity=self.sensitivity)
        if self.candidates.ndim != 1 or len(self.candidates) == 0:
            raise EpsilometerError(f"the candidates have shape {self.candidates.shape}; they must be a non-empty sequence")
        values, counts = np.unique(self.candidates, return_counts=True)
        if counts.max() > 1:
            raise EpsilometerError(f"the candidate {values[counts.argmax()]:g} is named twice; candidates must be distinct")

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.adjacency)

    def log_probabilities(self, dataset: Any) -> Array:
        """The log-probability of each candidate, in their order."""
        utility = np.asarray(self.utility(dataset), dtype=float)
        if utility.shape != self.candidates.shape or not np.all(np.isfinite(utility)):
            raise EpsilometerError(
                f"the utility of {len(self.candidates)} candidates is {utility.tolist()}; it must be one finite number each"
            )
        return log_softmax(self.epsilon * utility / (2 * self.sensitivity))

    def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> Array:
        return self.candidates[rng.choice(len(self.candidates), size, p=np.exp(self.log_probabilities(dataset)))]

    def log_density(self, dataset: Any, outputs: NDArray[Any]) -> Array:
        order = np.argsort(self.candidates)
        place = np.searchsorted(self.candidates, outputs, sorter=order).clip(max=len(order) - 1)
        chosen = order[place]
        return np.where(self.candidates[chosen] == outputs, self.log_probabilities(dataset)[chosen], -np.inf)

    def support(self, dataset: Any) -> Array:  # noqa: ARG002
        """The candidates, for every data set."""
        return self.candidates


def most_frequent(epsilon: float, categories: int = 3) -> Exponential:
    """The most frequent of the categories 0, 1, ...; the utility is a category's count, with sensitivity 1."""

    def counts(dataset: NDArray[Any]) -> NDArray[Any]:
        records = _records(dataset)
        _refuse(records, ~np.isin(records, np.arange(categories)), f"a category must be one of 0 to {categories - 1}")
        return np.bincount(records.astype(np.int64), minlength=categories)

    return Exponential(np.arange(categories, dtype=float), counts, 1, epsilon)


def grid_median(epsilon: float, points: int = 101) -> Exponential:
    """The median of values in [0, 1], to the nearest of equally spaced points.

    The utility of a point r is -|#{x <= r} - n/2|, with sensitivity 1 under replacement.
    """
    grid = np.linspace(0, 1, points)

    def closeness(dataset: NDArray[Any]) -> Array:
        values = _records(dataset)
        _refuse(values, ~((values >= 0) & (values <= 1)), "a value must be in [0, 1]")
        return -np.abs(np.searchsorted(np.sort(values), grid, side="right") - len(values) / 2)

    return Exponential(grid, closeness, 1, epsilon)


def _records(dataset: NDArray[Any]) -> NDArray[Any]:
    records = np.asarray(dataset)
    if records.ndim != 1 or len(records) == 0:
        raise EpsilometerError(f"the data set has shape {records.shape}; it must be a non-empty sequence of numbers")
    return records


def _refuse(records: NDArray[Any], wrong: NDArray[np.bool_], rule: str) -> None:
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise EpsilometerError(f"record {first + 1} is {records[first]:g}; {rule}")


def _most_frequent_pairs() -> list[NeighbouringPair]:
    return [
        NeighbouringPair(
            np.array([0, 0, 0, 0, 0, 0]),
            np.array([0, 0, 0, 0, 0, 1]),
            "replace-one",
            "one record leaves the category that holds most of the weight for another, whose weight grows by e^(epsilon/2) "
            "while the sum of the weights shrinks by almost as much",
        )
    ]


def _grid_median_pairs() -> list[NeighbouringPair]:
    return [
        NeighbouringPair(
            np.array([0.0, 0.005, 1.0, 1.0]),
            np.array([0.0, 0.005, 1.0, 0.0]),
            "replace-one",
            "a value moves from the top to the bottom: the lowest point becomes better and nearly all others become worse",
        )
    ]


ENTRIES = (
    Entry(
        "exponential_most_frequent",
        "Exponential mechanism, the most frequent of three categories",
        most_frequent,
        _most_frequent_pairs,
        true_epsilon=by_enumeration(most_frequent, _most_frequent_pairs),
    ),
    Entry(
        "exponential_median",
        "Exponential mechanism, the median on a grid",
        grid_median,
        _grid_median_pairs,
        true_epsilon=by_enumeration(grid_median, _grid_median_pairs),
    ),
)
