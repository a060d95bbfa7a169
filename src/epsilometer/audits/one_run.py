"""One run: a lower bound on epsilon from a single training, with many canaries (Steinke, Nasr and Jagielski 2023).

Each of m canaries is one of two records, by the toss of its own fair coin. Once the mechanism has run, its output is asked
for a score of every canary, and the coins with the most extreme scores are guessed. If the mechanism is (epsilon, 0)-private
with respect to a single coin, the number of right guesses among r is stochastically at most Binomial(r, 1/(1 + e^-epsilon));
a delta adds to that (their Theorem 5.2). For the replace-one adjacency a coin exchanges one record for another.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc

from epsilometer.audits.confidence import require_confidence, require_delta
from epsilometer.core import Adjacency, Array, Dataset, EpsilometerError, Estimate, Guesses, LabelledData, Mechanism
from epsilometer.erm import Distance
from epsilometer.mechanisms.gradient_perturbation import GradientPerturbation
from epsilometer.mechanisms.naive_bayes import NoisyNaiveBayes
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbation
from epsilometer.mechanisms.output_perturbation import OutputPerturbation

LARGEST_EPSILON = 100.0
"""No epsilon above it is certified: it would take more than e^100 canaries."""
LABELS_BY_COIN = "records at right angles with labels by coin"


@dataclass(frozen=True)
class Canaries:
    """Records whose presence is a matter of coins, and how an output is asked about them."""

    number: int
    dataset: Callable[[NDArray[np.bool_]], Dataset]
    """The data set for the coins of all canaries."""
    scores: Callable[[Array], Array]
    """For one output, a number for each canary: large where heads are likely."""
    text: str

    def __post_init__(self) -> None:
        if self.number < 1:
            raise EpsilometerError(f"the number of canaries is {self.number}; it must be at least 1")


@dataclass(frozen=True)
class OneRun:
    """Runs the mechanism once, guesses the coins of the `shares` of canaries with the most extreme scores, and counts.

    Half of the guesses are heads, for the largest scores, and half are tails. Where there are several shares the error
    probability is divided among them, and the best bound is taken.
    """

    confidence: float = 0.95
    delta: float | None = None
    """The delta at which epsilon is bounded; by default that of the mechanism's guarantee, or 0."""
    shares: tuple[float, ...] = (0.25, 1.0)

    def __post_init__(self) -> None:
        require_confidence(self.confidence)
        require_delta(self.delta or 0.0)
        if not self.shares or not all(0 < share <= 1 for share in self.shares):
            raise EpsilometerError(f"shares is {self.shares}; it must hold numbers above 0 and at most 1")

    def __call__(self, mechanism: Mechanism, canaries: Canaries, rng: np.random.Generator) -> Estimate:
        """The bound from one output of the mechanism."""
        coins = rng.random(canaries.number) < 0.5
        output = np.asarray(mechanism.sample(canaries.dataset(coins), 1, rng), dtype=float)[0]
        promised = mechanism.guarantee.delta if mechanism.guarantee else 0.0
        return self.from_scores(
            canaries.scores(output), coins, promised if self.delta is None else self.delta, canaries.text
        )

    def from_scores(self, scores: Array, coins: NDArray[np.bool_], delta: float = 0.0, text: str = "canaries") -> Estimate:
        """The bound from the scores and the coins of one run."""
        error = (1 - self.confidence) / len(self.shares)
        sizes = [max(1, round(share * len(coins))) for share in self.shares]
        tried = [Guesses(right_guesses(scores, coins, size), size, len(coins)) for size in sizes]
        tried.sort(key=lambda guesses: one_run_bound(guesses, error, delta), reverse=True)
        best, epsilon = tried[0], one_run_bound(tried[0], error, delta)
        event = f"{best.right} right guesses of {best.guesses}, about {best.canaries} {text}"
        return Estimate(epsilon, "one run", self.confidence, delta, trials=1, guesses=tuple(tried), event=event)


def right_guesses(scores: Array, coins: NDArray[np.bool_], guesses: int) -> int:
    """How many guesses are right: heads for the largest scores, as many tails for the smallest (one more if odd)."""
    order = np.argsort(scores, kind="stable")
    heads, tails = guesses // 2, guesses - guesses // 2
    return int(np.sum(coins[order[len(order) - heads :]])) + int(np.sum(~coins[order[:tails]]))


def one_run_p_value(counts: Guesses, epsilon: float, delta: float = 0.0) -> float:
    """A bound on the probability of `right` or more right guesses under (epsilon, delta): Theorem 5.2.

    With X ~ Binomial(guesses, 1/(1 + e^-epsilon)) it is
    P(X >= right) + 2 canaries delta max_{1 <= i <= right} P(right - i <= X < right)/i.
    """
    right, guesses, canaries = counts.right, counts.guesses, counts.canaries
    if not 0 <= right <= guesses <= canaries:
        raise EpsilometerError(f"{right} right guesses of {guesses} about {canaries} canaries are impossible")
    if right == 0:
        return 1.0
    chance = 1 / (1 + math.exp(-epsilon))
    p_value = float(bdtrc(right - 1, guesses, chance))
    if delta > 0:
        i = np.arange(1, right + 1)
        below = bdtr(right - 1, guesses, chance)
        until = np.where(i < right, bdtr(np.maximum(right - i - 1, 0), guesses, chance), 0.0)
        p_value += 2 * canaries * delta * float(np.max((below - until) / i))
    return min(p_value, 1.0)


def one_run_bound(counts: Guesses, error: float, delta: float = 0.0) -> float:
    """The largest epsilon that this many right guesses refute with an error probability of at most `error`; 0 if none."""
    low, high = 0.0, LARGEST_EPSILON
    if one_run_p_value(counts, low, delta) > error:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if one_run_p_value(counts, middle, delta) <= error else (low, middle)
    return low


def canaries_for(mechanism: Mechanism, number: int) -> tuple[Mechanism, Canaries] | None:
    """Canaries for private risk minimisation, naive Bayes and gradient perturbation; None for any other mechanism.

    With them comes the mechanism to run, since naive Bayes must be told how many values its feature can take.
    """
    if isinstance(mechanism, NoisyNaiveBayes) and mechanism.adjacency == "replace-one":
        return replace(mechanism, values=(number,)), count_canaries(number)
    if isinstance(mechanism, GradientPerturbation):
        return mechanism, gradient_canaries(number)
    if isinstance(mechanism, ObjectivePerturbation) or (
        isinstance(mechanism, OutputPerturbation) and not isinstance(mechanism.loss, Distance)
    ):
        return mechanism, parameter_canaries(number, mechanism.guarantee.adjacency)
    return None


def parameter_canaries(number: int, adjacency: Adjacency = "replace-one") -> Canaries:
    """For output and objective perturbation: unit vectors x at right angles, a coin for each.

    The coin says which label x has or, for the add-remove adjacency, whether x is there, with label +1. The minimiser leans
    towards y x of every record, so the score of a canary is w.x. (Where the model has an intercept, that comes last.)
    """
    if adjacency == "add-remove":
        return Canaries(number, _presence_by_coin, lambda output: output[:number], "records at right angles, there by coin")
    return Canaries(number, _labels_by_coin, lambda output: output[:number], LABELS_BY_COIN)


def gradient_canaries(number: int) -> Canaries:
    """For gradient perturbation: the same records; the score is minus the sum of the released gradients along each."""
    return Canaries(number, _labels_by_coin, lambda output: -output.reshape(-1, number).sum(axis=0), LABELS_BY_COIN)


def count_canaries(number: int) -> Canaries:
    """For naive Bayes with one feature of `number` values: each canary has a value to itself, and a label by coin.

    The columns are the counts of the labels, then those of the values among label 0, then those among label 1.
    """

    def dataset(coins: NDArray[np.bool_]) -> NDArray[Any]:
        return np.column_stack([np.arange(number), coins.astype(int)])

    def scores(output: Array) -> Array:
        return output[2 + number :] - output[2 : 2 + number]

    return Canaries(number, dataset, scores, "records with a value of their own and labels by coin")


def _labels_by_coin(coins: NDArray[np.bool_]) -> LabelledData:
    return LabelledData(np.eye(len(coins)), np.where(coins, 1.0, -1.0))


def _presence_by_coin(coins: NDArray[np.bool_]) -> LabelledData:
    """The records whose coins show heads, and one at the origin, which does nothing, so that the data are never empty."""
    rows = np.vstack([np.eye(len(coins))[coins], np.zeros(len(coins))])
    return LabelledData(rows, np.ones(len(rows)))
