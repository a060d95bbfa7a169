"""What the sampled audit certifies at 95%, against its figure to reach and against what any single event could certify."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from epsilometer.auditors.confidence import largest_expected_bound
from epsilometer.auditors.sampled import SampledLikelihoodRatio
from epsilometer.core import Array, stream
from epsilometer.mechanisms.catalogue import find
from epsilometer.mechanisms.gaussian import classic_sigma

SEEDS = 20
EFFICIENCY = 0.97

Rates = tuple[Array, Array]


@dataclass(frozen=True)
class Figure:
    """One row of the table: a mechanism, a budget, the bound to reach and the seconds it may take."""

    title: str
    mechanism: str
    epsilon: float
    true_epsilon: float
    trials: int
    reach: float
    seconds: float
    optimal_events: Callable[[float], Rates]
    """The probabilities of the most powerful events under either data set, in closed form, at the promised epsilon."""


def laplace_events(epsilon: float) -> Rates:
    """{output <= c} for c between the answers 0 and 1: 1 - e^(-epsilon c)/2 and e^(-epsilon (1 - c))/2."""
    c = np.linspace(0, 1, 2001)
    return 1 - np.exp(-epsilon * c) / 2, np.exp(-epsilon * (1 - c)) / 2


def response_events(epsilon: float) -> Rates:
    """The true answer is told with probability e^epsilon/(1 + e^epsilon)."""
    lie = 1 / (1 + math.exp(epsilon))
    return np.array([1 - lie]), np.array([lie])


def gaussian_events(epsilon: float) -> Rates:
    """{output >= c} for the answers 1 and 0 and the classic sigma at delta = 1e-5."""
    sigma = classic_sigma(epsilon, 1e-5)
    c = np.linspace(-3, 8, 4001)
    return ndtr(1 / sigma - c), ndtr(-c)


LOG_3 = math.log(3)
FIGURES = (
    Figure("Laplace 0.1", "laplace_count", 0.1, 0.1, 4_000_000, 0.0965, math.inf, laplace_events),
    Figure("Laplace 0.1", "laplace_count", 0.1, 0.1, 60_000_000, 0.099, 10, laplace_events),
    Figure("Laplace 1", "laplace_count", 1.0, 1.0, 2_000_000, 0.992, 1, laplace_events),
    Figure("randomised response", "randomized_response", LOG_3, LOG_3, 2_000_000, 1.092, 1, response_events),
    Figure("Gaussian at 1e-5", "gaussian_classic", 1.0, 0.751, 200_000_000, 0.70, 15, gaussian_events),
)


def run() -> None:
    """Print medians over the seeds: bound, seconds, and the bound's share of the limit."""
    print(f"sampled likelihood ratio, 95%, one core, median of {SEEDS} seeds; efficiency to reach: {EFFICIENCY:.0%}")
    print("mechanism               true    outputs     reach     bound   within s   seconds     limit   efficiency")
    for figure in FIGURES:
        bounds, seconds = zip(*(_audit(figure, seed) for seed in range(SEEDS)), strict=True)
        bound, taken, limit = float(np.median(bounds)), float(np.median(seconds)), _limit(figure)
        reached = bound >= figure.reach and taken <= figure.seconds and bound >= EFFICIENCY * limit
        print(
            f"{figure.title:<20} {figure.true_epsilon:>7.4f} {figure.trials:>10.0e} {figure.reach:>9.4f} {bound:>9.5f}"
            f" {figure.seconds:>10g} {taken:>9.2f} {limit:>9.5f} {bound / limit:>12.1%}  {'' if reached else 'NOT REACHED'}"
        )


def _audit(figure: Figure, seed: int) -> tuple[float, float]:
    entry = find(figure.mechanism)
    start = time.perf_counter()
    estimate = SampledLikelihoodRatio()(
        entry.build(figure.epsilon), entry.pairs()[0], figure.trials, stream(seed, "bench", figure.title, figure.trials)
    )
    return estimate.epsilon, time.perf_counter() - start


def _limit(figure: Figure) -> float:
    guarantee = find(figure.mechanism).build(figure.epsilon).guarantee
    assert guarantee is not None
    return largest_expected_bound(*figure.optimal_events(figure.epsilon), figure.trials // 2, 0.95, guarantee.delta)
