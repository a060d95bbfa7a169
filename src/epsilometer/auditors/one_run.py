"""One run: a lower confidence bound on epsilon from one output, with many canaries (Steinke, Nasr and Jagielski 2023).

Each of m canaries is one of two records, chosen by a fair coin of its own. The output of the mechanism gives a score to
every canary, and the coins with the most extreme scores are guessed. If the mechanism is (epsilon, 0)-private with respect
to each coin, the number of right guesses among r is stochastically at most Binomial(r, 1/(1 + e^-epsilon)); a positive delta
adds a term (their Theorem 5.2). Under the replace-one adjacency a coin replaces one record by another.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc

from epsilometer.auditors.confidence import require_confidence, require_delta
from epsilometer.auditors.spec import AuditorSpec
from epsilometer.core import (
    Adjacency,
    Array,
    Dataset,
    EpsilometerError,
    Estimate,
    Guesses,
    LabelledData,
    Mechanism,
    MechanismLike,
    NeighbouringPair,
    as_mechanism,
)
from epsilometer.erm import Distance
from epsilometer.mechanisms.gradient_perturbation import GradientPerturbation
from epsilometer.mechanisms.naive_bayes import NoisyNaiveBayes
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbation
from epsilometer.mechanisms.output_perturbation import OutputPerturbation

LARGEST_EPSILON = 100.0
"""The search for the bound ends here; a larger one would take more than e^100 canaries."""
CANARIES = 100
"""The number of canaries in the audit of a single run."""
LABELS_BY_COIN = "records at right angles with labels by coin"


@dataclass(frozen=True)
class Canaries:
    """Records whose presence is a matter of coins, and how an output is asked about them.

    `number` is how many there are, `dataset` the data set for the coins of all of them, and `scores` gives for one output a
    number for each canary, large where heads are likely; `text` says in a few words what they are.

    >>> import numpy as np
    >>> from epsilometer import Canaries
    >>> bits = Canaries(4, lambda coins: coins.astype(int), lambda output: output, "bits by coin")
    >>> bits.dataset(np.array([True, False, True, True])).tolist()
    [1, 0, 1, 1]
    """

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

    `confidence` is the probability with which the bound holds, and `delta` the delta at which epsilon is bounded: by default
    that of the mechanism's guarantee, or 0. Calling it takes a mechanism, `Canaries` and a random generator.

    >>> import numpy as np
    >>> from epsilometer import Canaries, OneRun, find
    >>> bits = Canaries(1000, lambda coins: coins.astype(int), lambda output: output, "bits by coin")
    >>> estimate = OneRun()(find("randomized_response").build(1.0), bits, np.random.default_rng(0))
    >>> bool(0.7 < estimate.epsilon <= 1.0)
    True
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

    def __call__(self, mechanism: MechanismLike, canaries: Canaries, rng: np.random.Generator) -> Estimate:
        """The bound from one output of the mechanism."""
        mechanism = as_mechanism(mechanism)
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
    """The number of right guesses: half of them are heads, for the largest scores, and half tails (one more if odd)."""
    order = np.argsort(scores, kind="stable")
    heads, tails = guesses // 2, guesses - guesses // 2
    return int(np.sum(coins[order[len(order) - heads :]])) + int(np.sum(~coins[order[:tails]]))


def one_run_p_value(counts: Guesses, epsilon: float, delta: float = 0.0) -> float:
    """The p-value against (epsilon, delta): a bound on the probability of `right` or more right guesses (Theorem 5.2).

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
    """The lower confidence bound on epsilon: the largest epsilon with a p-value of at most `error`, or 0."""
    low, high = 0.0, LARGEST_EPSILON
    if one_run_p_value(counts, low, delta) > error:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if one_run_p_value(counts, middle, delta) <= error else (low, middle)
    return low


def canaries_for(mechanism: Mechanism, number: int) -> tuple[Mechanism, Canaries] | None:
    """Canaries for private risk minimisation, naive Bayes and gradient perturbation; None for any other mechanism.

    The mechanism to run is returned with them: for naive Bayes it is one whose feature has as many values as canaries.
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

    The coin decides the label of x or, under the add-remove adjacency, whether x with label +1 is present. Each record moves
    the minimiser w towards y x, so the score of a canary is w.x. (An intercept is the last component of an output.)
    """
    if adjacency == "add-remove":
        return Canaries(number, _presence_by_coin, lambda output: output[:number], "records at right angles, there by coin")
    return Canaries(number, _labels_by_coin, lambda output: output[:number], LABELS_BY_COIN)


def gradient_canaries(number: int) -> Canaries:
    """For gradient perturbation: the same records. The score of x is minus the sum of x.g over the released gradients g."""
    return Canaries(number, _labels_by_coin, lambda output: -output.reshape(-1, number).sum(axis=0), LABELS_BY_COIN)


def count_canaries(number: int) -> Canaries:
    """For naive Bayes with one feature of `number` values: each canary has a value of its own; its coin decides the label.

    An output holds the counts of the labels, then those of the values with label 0, then those with label 1.
    """

    def dataset(coins: NDArray[np.bool_]) -> NDArray[Any]:
        return np.column_stack([np.arange(number), coins.astype(int)])

    def scores(output: Array) -> Array:
        return output[2 + number :] - output[2 : 2 + number]

    return Canaries(number, dataset, scores, "records with a value of their own and labels by coin")


def _labels_by_coin(coins: NDArray[np.bool_]) -> LabelledData:
    return LabelledData(np.eye(len(coins)), np.where(coins, 1.0, -1.0))


def _presence_by_coin(coins: NDArray[np.bool_]) -> LabelledData:
    """The records whose coins show heads, and one at the origin, which has no effect and keeps the data from being empty."""
    rows = np.vstack([np.eye(len(coins))[coins], np.zeros(len(coins))])
    return LabelledData(rows, np.ones(len(rows)))


@dataclass(frozen=True)
class OneRunOfOwnCanaries:
    """The audit of a single run on canaries for the mechanism at hand; the pair and the number of trials are ignored."""

    confidence: float = 0.95

    def __call__(self, mechanism: MechanismLike, pair: NeighbouringPair, trials: int, rng: np.random.Generator) -> Estimate:  # noqa: ARG002
        prepared = canaries_for(as_mechanism(mechanism), CANARIES)
        if prepared is None:
            raise EpsilometerError(f"no canaries are known for {type(mechanism).__name__}; give OneRun some of your own")
        return OneRun(self.confidence)(*prepared, rng)


SPEC = AuditorSpec(
    name="one run",
    column="one_run",
    label="one run",
    about="Runs the mechanism once on data of its own with many canaries, and counts right guesses about them.",
    order=70,
    colour="#029e73",
    marker="^",
    applies=lambda subject: canaries_for(subject.mechanism, CANARIES) is not None,
    build=lambda _, confidence: OneRunOfOwnCanaries(confidence),
    budget="one run",
)
