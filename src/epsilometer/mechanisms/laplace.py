"""The Laplace mechanism: noise on the answer to a query, calibrated to the query's L1 sensitivity."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epsilometer.core import Adjacency, Array, EpsilometerError, Guarantee, NeighbouringPair, output_rows, require_positive
from epsilometer.mechanisms.catalogue import Entry
from epsilometer.mechanisms.randomized_response import require_bits

Query = Callable[[Any], ArrayLike]
"""A function of the data set whose value is a number or a vector."""


@dataclass(frozen=True)
class Laplace:
    """The answer f(D), a number or a vector of k numbers, plus independent Laplace noise on each of them.

    The noise has density exp(-|z|/b)/(2b) with the scale b = S/epsilon, where S is the largest L1 distance between the
    answers on two neighbouring data sets; the caller must ensure it. Then |log p(o|D) - log p(o|D')| is at most
    |f(D) - f(D')|_1 / b <= epsilon. Outputs have shape (size,) for a number, (size, k) for a vector.
    """

    query: Query
    sensitivity: float
    epsilon: float
    adjacency: Adjacency = "replace-one"
    source = "postech, Laplace mechanism; review, Definition 6; Dwork, McSherry, Nissim and Smith 2006"

    def __post_init__(self) -> None:
        require_positive(epsilon=self.guarantee.epsilon, sensitivity=self.sensitivity)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.adjacency)

    @property
    def scale(self) -> float:
        """b, the scale of the noise: its standard deviation is sqrt(2) b."""
        return self.sensitivity / self.epsilon

    def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> Array:
        answer = exact_answer(self.query, dataset)
        return answer + rng.laplace(scale=self.scale, size=(size, *answer.shape))

    def log_density(self, dataset: Any, outputs: NDArray[Any]) -> Array:
        return log_laplace(noise_behind(self.query, dataset, outputs), self.scale)


@dataclass(frozen=True)
class LaplaceStandardDeviation(Laplace):
    """The noise as nips08 prints it: S/epsilon is the *standard deviation* of the Laplace noise, not its scale.

    The standard deviation of Laplace noise is sqrt(2) times its scale. So the scale is S/(sqrt(2) epsilon), and the privacy
    loss reaches sqrt(2) epsilon.
    """

    source = "nips08, section 2, on Dwork, McSherry, Nissim and Smith 2006"

    @property
    def scale(self) -> float:
        return self.sensitivity / (math.sqrt(2) * self.epsilon)


def log_laplace(noise: Array, scale: float) -> Array:
    """The log-density of independent Laplace noise, for each row."""
    return -np.abs(noise).sum(axis=1) / scale - noise.shape[1] * math.log(2 * scale)


def noisy_counts(counts: Array, scale: float, size: int, rng: np.random.Generator) -> Array:
    """`size` rows of the counts, each count with independent Laplace noise."""
    return counts + rng.laplace(scale=scale, size=(size, len(counts)))


def log_density_of_counts(outputs: Array, counts: Array, scale: float) -> Array:
    """The log-density of noisy counts."""
    return log_laplace(output_rows(outputs, len(counts)) - counts, scale)


def exact_answer(query: Query, dataset: Any) -> Array:
    """The query's answer; an error unless it is a finite number or a vector of finite numbers."""
    answer = np.asarray(query(dataset), dtype=float)
    if answer.ndim > 1 or not np.all(np.isfinite(answer)):
        raise EpsilometerError(f"the query answers {answer.tolist()}; it must answer a finite number or a vector of them")
    return answer


def noise_behind(query: Query, dataset: Any, outputs: NDArray[Any]) -> Array:
    """Outputs minus the exact answer, (size, 1) for a number and (size, k) for a vector."""
    answer = exact_answer(query, dataset).reshape(1, -1)
    return output_rows(np.reshape(outputs, (len(outputs), -1)), answer.shape[1]) - answer


MEDICAL_RESULTS = np.array([0, 1, 1, 0, 1])
"""review, Table I: the diagnoses of Tom, Diego, Jack, Henry and Alice."""


def count_first(dataset: NDArray[Any], rows: int) -> float:
    """review's count(i): how many of the first `rows` records are 1; its sensitivity is 1 under either adjacency."""
    return float(require_bits(dataset)[:rows].sum())


def count_five(dataset: NDArray[Any]) -> float:
    """count(5) on the medical table."""
    return count_first(dataset, 5)


def counts_four_and_five(dataset: NDArray[Any]) -> Array:
    """count(4) and count(5), whose difference is Alice's diagnosis; their L1 sensitivity is 2."""
    return np.array([count_first(dataset, 4), count_first(dataset, 5)])


def medical_pair(row: int, reason: str) -> NeighbouringPair:
    """The medical table, and the same table with the diagnosis in one row (counted from 0) flipped."""
    other = MEDICAL_RESULTS.copy()
    other[row] = 1 - other[row]
    return NeighbouringPair(MEDICAL_RESULTS, other, "replace-one", reason)


def _count_pairs() -> list[NeighbouringPair]:
    return [medical_pair(4, "Alice's diagnosis moves the count by its whole sensitivity")]


def _difference_attack_pairs() -> list[NeighbouringPair]:
    return [
        medical_pair(4, "the attack count(5) - count(4) aims at Alice, who is in one of the two counts: half of the bound"),
        medical_pair(1, "Diego is in both counts and moves them by their whole L1 sensitivity"),
    ]


ENTRIES = (
    Entry(
        "laplace_count",
        "Laplace mechanism, the count of positive diagnoses",
        lambda epsilon: Laplace(count_five, 1, epsilon),
        _count_pairs,
        true_epsilon=lambda epsilon: epsilon,
    ),
    Entry(
        "laplace_difference_attack",
        "Laplace mechanism, two counts that differ by one person",
        lambda epsilon: Laplace(counts_four_and_five, 2, epsilon),
        _difference_attack_pairs,
        true_epsilon=lambda epsilon: epsilon,
    ),
    Entry(
        "laplace_standard_deviation",
        "Laplace noise given by its standard deviation, the count of positive diagnoses",
        lambda epsilon: LaplaceStandardDeviation(count_five, 1, epsilon),
        _count_pairs,
        flaw="The sensitivity over epsilon is taken for the noise's standard deviation, not its scale: the noise is "
        "too small by a factor of sqrt(2).",
        true_epsilon=lambda epsilon: math.sqrt(2) * epsilon,
    ),
)
