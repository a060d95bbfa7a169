"""The sample sizes of Theorems 4 and 5: as stated, and as measured on distributions whose expected loss is known.

There y x = (a, c u), a = 1/2, a^2 + c^2 = 1, with u uniform on the unit sphere of R^(d-1), and w0 = (r, 0, ..., 0). Then
y w0.x = r/2 whatever d is, and L(w) is an integral over one coordinate of u, whose density is ~ (1 - t^2)^((d-4)/2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import roots_jacobi

from epsilometer.core import Array, LabelledData
from epsilometer.erm import LOGISTIC
from epsilometer.papers.claim import Decision, Evidence, Measure, Measured, Numbers
from epsilometer.papers.deciders import fact_decider
from epsilometer.papers.nips08.claims.regret import ALGORITHMS

ALONG = 0.5
"""a, the first coordinate of every y x."""
DATASETS, RUNS, HALVINGS = 4, 50, 5
"""Behind each measured sample size: drawn data sets, runs on each of them, and steps of the bisection."""
GROWTH = {"faster": 0.1, "tight": 0.9}
"""The tolerances of a rate of growth."""


# Goals and the stated sample sizes


@dataclass(frozen=True)
class Goal:
    """A loss of at most L(w0) + excess with probability 1 - delta, for |w0| = r; epsilon is the privacy."""

    d: int = 8
    epsilon: float = 0.1
    r: float = 4.0
    excess: float = 0.1
    delta: float = 0.1

    @property
    def lam(self) -> float:
        """The regularisation that the proof of Theorem 4 takes."""
        return self.excess / self.r**2

    @property
    def loss(self) -> float:
        """The largest loss that reaches the goal."""
        return math.log1p(math.exp(-ALONG * self.r)) + self.excess


AXES: dict[str, tuple[Goal, ...]] = {
    "d": (Goal(d=4), Goal(), Goal(d=16)),
    "epsilon": (Goal(epsilon=0.2), Goal(), Goal(epsilon=0.025)),
    "r": (Goal(r=2.0), Goal(), Goal(r=8.0)),
}
"""Each from its easiest to its hardest goal; in all of them, the term with the privacy parameter decides the bounds."""
EVERY_GOAL = {goal for goals in AXES.values() for goal in goals}
SampleSize = Callable[[Goal, bool], float]
"""A stated sample size for a goal, with the logarithm of d/delta or without."""


def theorem_4_size(goal: Goal, logs: bool = True) -> float:
    """max(r^2/excess^2, d log(d/delta) r/(excess epsilon)); the slides leave the logarithm out."""
    log = math.log(goal.d / goal.delta) if logs else 1.0
    return max((goal.r / goal.excess) ** 2, goal.d * log * goal.r / (goal.excess * goal.epsilon))


def theorem_5_size(goal: Goal, logs: bool = True) -> float:
    """The same, or d log(d/delta) r^2/(excess^(3/2) epsilon) where that is larger."""
    log = math.log(goal.d / goal.delta) if logs else 1.0
    return max(theorem_4_size(goal, logs), goal.d * log * goal.r**2 / (goal.excess**1.5 * goal.epsilon))


# Measured sample sizes


def expected_loss(w: Array) -> Array:
    """L of each row, in d >= 3 dimensions, by Gauss-Jacobi quadrature."""
    power = (w.shape[1] - 4) / 2
    nodes, weights = roots_jacobi(60, power, power)
    across = math.sqrt(1 - ALONG**2) * np.linalg.norm(w[:, 1:], axis=1, keepdims=True)
    return LOGISTIC.value(ALONG * w[:, :1] + across * nodes) @ (weights / weights.sum())


def draw_records(n: int, d: int, rng: np.random.Generator) -> LabelledData:
    """n records of the distribution, all with label 1."""
    across = rng.standard_normal((n, d - 1))
    across *= math.sqrt(1 - ALONG**2) / np.linalg.norm(across, axis=1, keepdims=True)
    return LabelledData(np.hstack([np.full((n, 1), ALONG), across]), np.ones(n))


@cache
def needed_size(evidence: Evidence, algorithm: str, goal: Goal) -> float:
    """The sample size from which the goal is reached, to about 2%: doubled until it is, then halved in between."""
    low, high = 8.0, 16.0
    while not _is_reached(evidence, algorithm, goal, round(high)):
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _is_reached(evidence, algorithm, goal, round(middle)) else (middle, high)
    return high


def _is_reached(evidence: Evidence, algorithm: str, goal: Goal, n: int) -> bool:
    """Whether at least a share 1 - delta of the runs on n records have the goal's loss."""
    losses = []
    for dataset in range(DATASETS):
        rng = evidence.stream("needed size", algorithm, goal.d, goal.epsilon, goal.r, dataset)
        data = draw_records(n, goal.d, rng)
        losses.append(expected_loss(ALGORITHMS[algorithm](goal.epsilon, goal.lam).sample(data, RUNS, rng)))
    return float(np.quantile(np.concatenate(losses), 1 - goal.delta)) <= goal.loss


def measure_growth(algorithm: str, size: SampleSize, logs: bool) -> Measure:
    """Along each axis: how many times as many records the hardest goal needs, and is said to need, as the easiest."""

    def measure(evidence: Evidence) -> Measured:
        numbers = {}
        for axis, goals in AXES.items():
            needed = [needed_size(evidence, algorithm, goal) for goal in goals]
            numbers[f"needed, {axis}"] = needed[-1] / needed[0]
            numbers[f"stated, {axis}"] = size(goals[-1], logs) / size(goals[0], logs)
        numbers["constant"] = max(needed_size(evidence, algorithm, goal) / size(goal, logs) for goal in EVERY_GOAL)
        return Measured(numbers)

    return measure


def decide_growth(numbers: Numbers, tolerances: Numbers) -> Decision:
    """By the measured growth as a share of the stated one: fails if it is larger along an axis, loose if it is smaller."""
    shares = {axis: numbers[f"needed, {axis}"] / numbers[f"stated, {axis}"] for axis in AXES}
    names = {"d": "four times the d", "epsilon": "an eighth of epsilon", "r": "four times |w0|"}
    shown = "; ".join(
        f"for {name} {numbers[f'needed, {axis}']:.3g} times as many (stated: {numbers[f'stated, {axis}']:.3g})"
        for axis, name in names.items()
    )
    sentence = f"Records needed: {shown}; C = {numbers['constant']:.3g} suffices here."
    if max(shares.values()) > 1 + tolerances["faster"]:
        return Decision("fails as printed", sentence, instead="The sample size grows faster than stated along one of them.")
    if min(shares.values()) < tolerances["tight"]:
        return Decision("holds, loosely", sentence, factor=1 / min(shares.values()))
    return Decision("holds", sentence)


# The two stated sample sizes, compared


def measure_ratios(logs: bool) -> Measure:
    """Theorem 5's sample size over Theorem 4's: over all goals, those with |w0| >= 1, and of these where privacy counts."""

    def measure(evidence: Evidence) -> Measured:
        ratios, long, private = [], [], []
        for goal in _random_goals(evidence):
            ratio = theorem_5_size(goal, logs) / theorem_4_size(goal, logs)
            ratios.append(ratio)
            if goal.r >= 1:
                long.append(ratio)
                if theorem_4_size(goal, logs) > (goal.r / goal.excess) ** 2:
                    private.append(ratio)
        equal = float(np.mean(np.array(long) <= 1))
        numbers = {"least": min(ratios), "largest": max(ratios), "least_if_long": min(long), "equal_if_long": equal}
        return Measured({**numbers, "least_if_private": min(private)})

    return measure


def _random_goals(evidence: Evidence) -> list[Goal]:
    """Ten thousand goals over several orders of magnitude."""
    rng = evidence.stream("random goals")
    exponents = rng.uniform([0, -3, -2, -3, -3], [3, 2, 2, 0, 0], (10_000, 5))
    return [Goal(max(1, round(10**d)), 10**eps, 10**r, 10**excess, 10**delta) for d, eps, r, excess, delta in exponents]


decide_significantly_stronger = fact_decider(
    "With |w0| >= 1 the bound for Algorithm 1 is {least_if_long:.3g} times that for Algorithm 2, or more; the two are equal "
    "in {equal_if_long:.0%} of the settings tried, where |w0|^2/epsilon_g^2 exceeds all else.",
    lambda numbers, tolerances: numbers["least_if_long"] > 1 + tolerances["stronger"],
    "Where the term with the privacy parameter decides Algorithm 2's bound it is stronger by |w0|/sqrt(epsilon_g), at least "
    "{least_if_private:.3g} in these settings.",
)
"""Holds if the larger sample size is larger by more than `stronger` wherever |w0| >= 1."""
