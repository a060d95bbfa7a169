"""Gradient perturbation, before the noise: Algorithms 1 and 2, and Theorem 2 on their convergence."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from epsilometer.core import Array, LabelledData
from epsilometer.erm import LOGISTIC, Hinge
from epsilometer.erm.losses import MarginLoss
from epsilometer.mechanisms.gradient_perturbation import (
    FullBatchGradientPerturbation,
    GradientPerturbation,
    PrintedGradientPerturbation,
)
from epsilometer.mechanisms.neighbours import labelled_records
from epsilometer.papers.claim import Claim, Decision, Numbers
from epsilometer.papers.cs860.claims.constants import DELTA
from epsilometer.papers.cs860.claims.descent import convergence_bound, descend, last_iterate, sign, steps_until_small
from epsilometer.papers.cs860.claims.records import classified, kinked
from epsilometer.papers.cs860.claims.utility import excess_bound, mean_excess
from epsilometer.papers.deciders import (
    BOUND,
    ROUNDING,
    all_within_slack,
    bound_decider,
    fact_decider,
    holds_if,
    listed,
    readings_decider,
)
from epsilometer.papers.measures import computed, drawn

NO_NOISE = 1e12
"""An epsilon at which gradient perturbation adds next to no noise: Algorithms 1 and 2 themselves."""


@computed
def measure_zero_gradient() -> dict[str, float]:
    """The mean gradient at the minimum over [-1, 1]: three in five labels positive, and all of them."""
    numbers = {}
    for name, positive in {"inside": 6, "on_the_edge": 10}.items():
        data = labelled_records([((1.0,), 1.0)] * positive + [((1.0,), -1.0)] * (10 - positive))
        low, high = -1.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if _mean_slope(data, middle) < 0 else (low, middle)
        numbers[name] = abs(_mean_slope(data, high))
    return numbers


def _mean_slope(data: LabelledData, theta: float) -> float:
    """The derivative of the mean logistic loss on the line."""
    return float(np.mean(LOGISTIC.slope(theta * data.signed[:, 0]) * data.signed[:, 0]))


ZERO_GRADIENT = Claim(
    id="cs860-gradient-zero-at-minimum",
    locator="Gradient perturbation, before Algorithm 1",
    statement="Gradient descent over C leads to the minimum, where the gradient is 0.",
    computes="the minimum of a logistic risk on [-1, 1] by bisection, for two sets of ten labels",
    measure=measure_zero_gradient,
    decide=fact_decider(
        "The mean gradient at the minimum over C is {inside:.1g} inside of C, {on_the_edge:.3g} where it is on the edge.",
        all_within_slack,
        "At a minimum inside of C; on its edge no direction into C leads down.",
    ),
    tolerances=ROUNDING,
)

# Theorem 2


@drawn("theorem 2")
def measure_theorem_2(rng: np.random.Generator) -> dict[str, float]:
    """The largest excess over T = 1 ... 1024, as a share of the bound: |theta|, the worst function, and coin tosses."""
    horizons = [4**power for power in range(6)]
    starts = np.linspace(-1, 1, 201)
    kink = max(float(np.max(np.abs(descend(sign, starts, t, 2.0, 1.0)))) / (2 * convergence_bound(t)) for t in horizons)
    worst = max(last_iterate(t) / math.sqrt(t) / convergence_bound(t) for t in horizons[1:])
    coins = max(_excess_of_coins(t, rng) / (2 * convergence_bound(t)) for t in horizons)
    return {"kink": kink, "worst": worst, "coins": coins}


def _excess_of_coins(steps: int, rng: np.random.Generator) -> float:
    """The mean excess of 2,000 descents whose gradients have length 1 and point uphill with probability (1 + 1/sqrt(T))/2.

    Their expectation is the gradient of F = |theta|/sqrt(T).
    """
    uphill = (1 + 1 / math.sqrt(steps)) / 2

    def toss(theta: Array) -> Array:
        return sign(theta) * np.where(rng.random(theta.shape) < uphill, 1.0, -1.0)

    return float(np.mean(np.abs(descend(toss, np.zeros(2000), steps, 2.0, 1.0)))) / math.sqrt(steps)


THEOREM_2 = Claim(
    id="cs860-theorem-2",
    locator="Gradient perturbation, Theorem 2",
    statement=(
        "With rate |C|/(G sqrt(t)), unbiased gradients of second moment at most G^2 lead to an expected excess of O(|C| G "
        "log(T)/sqrt(T)) at the last iterate."
    ),
    computes="gradient descent of up to 1,024 steps on |theta| from 201 starts, on the worst function known, and 2,000 "
    "runs with random gradients",
    measure=measure_theorem_2,
    decide=bound_decider(
        "Up to T = 1,024 the last iterate's excess is at most {kink:.3g} (|theta|), {worst:.3g} (the worst function of "
        "Harvey et al.) and {coins:.3g} (random gradients) of 1.5 |C| G (2 + log(T+1))/sqrt(T+1).",
        "The rate does not hold with this constant.",
    ),
    tolerances=BOUND,
)


@computed
def measure_any_horizon() -> dict[str, float]:
    """F = |theta| on [-1, 1]: the worst excess after one step, and |C| G log(T)/sqrt(T) there."""
    excess = float(np.max(np.abs(descend(sign, np.linspace(-1, 1, 201), 1, 2.0, 1.0))))
    return {"excess": excess, "claimed": 2 * math.log(1)}


ANY_HORIZON = Claim(
    id="cs860-theorem-2-any-horizon",
    locator="Gradient perturbation, Theorem 2",
    statement="The bound |C| G log(T)/sqrt(T), up to a constant, holds for any T > 0.",
    computes="one step of gradient descent on |theta| from 201 starts",
    measure=measure_any_horizon,
    decide=fact_decider(
        "After T = 1 step on |theta| the excess is {excess:.3g}, where |C| G log(T)/sqrt(T) is {claimed:.3g}.",
        lambda numbers, tolerances: numbers["excess"] <= numbers["claimed"] + tolerances["slack"],
        "For T >= 2; or for all T with 2 + log(T+1) instead of log T.",
    ),
    tolerances={"slack": 1e-6},
)


@computed
def measure_first_step() -> dict[str, float]:
    """1/sqrt(t) at the t of the first step: 0 in Theorem 2, 1 in Algorithm 1."""
    with np.errstate(divide="ignore"):
        theorem, algorithm = (float(1 / np.sqrt(first)) for first in (0.0, 1.0))
    return {"theorem_2": theorem, "algorithm_1": algorithm}


FIRST_STEP = Claim(
    id="cs860-theorem-2-first-step",
    locator="Gradient perturbation, Theorem 2",
    statement="Step t uses the rate |C|/(G sqrt(t)), beginning from theta_0.",
    computes="the learning rate of the first step, by formula",
    measure=measure_first_step,
    decide=readings_decider(
        "The first rate is {theorem_2:g} |C|/G as Theorem 2 counts its steps, {algorithm_1:g} |C|/G as Algorithm 1 does.",
        lambda numbers, tolerances: abs(numbers["theorem_2"] - numbers["algorithm_1"]) <= tolerances["same"],
        "The recursion of Theorem 2 begins with t = 0; we assumed that it counts from 1, as Algorithm 1 does.",
    ),
    tolerances={"same": 1e-9},
)

# What follows from Theorem 2


@computed
def measure_learning_rate() -> dict[str, float]:
    """n losses |theta| on [-1, 1], T = n^2/4 or one more: excess over bound, with eta = |C|/(L sqrt(t)) and 1/n of it."""

    def share(n: int, rate: float) -> float:
        horizons = (n * n // 4, n * n // 4 + 1)
        last = [descend(lambda theta: n * sign(theta), np.array([0.3, 1.0]), steps, rate, 1.0) for steps in horizons]
        return float(np.max(np.abs(last))) / (2 * convergence_bound(horizons[0]))

    return {f"printed_at_{n}": share(n, 2.0) for n in (10, 100, 300)} | {"right_at_300": share(300, 2.0 / 300)}


def decide_learning_rate(numbers: Numbers, tolerances: Numbers) -> Decision:
    printed = [value for name, value in numbers.items() if name.startswith("printed")]
    sentence = (
        f"On n losses |theta| after n^2/4 steps, the excess is {listed(printed)} times the bound at n = 10, 100, 300 with "
        f"eta = |C|/(L sqrt(t)), and {numbers['right_at_300']:.3g} with |C|/(n L sqrt(t))."
    )
    instead = "The learning rate |C|/(n L sqrt(t)), as Theorem 2 has it with G = nL."
    return holds_if(max(printed) <= 1 + tolerances["slack"], sentence, instead)


LEARNING_RATE = Claim(
    id="cs860-descent-rate",
    locator="Gradient perturbation, after Theorem 2",
    statement="Algorithm 1 with rate |C|/(L sqrt(t)) has an excess of O(|C| n L/sqrt(T)), up to logarithms.",
    computes="gradient descent on n losses |theta|, n = 10, 100, 300, with two learning rates",
    measure=measure_learning_rate,
    decide=decide_learning_rate,
    tolerances={"slack": 1e-6},
)


@computed
def measure_enough_steps() -> dict[str, float]:
    """The last iterate's excess on the worst function known, in units of |C| G/sqrt(T), by T."""
    return {f"at_{steps}": last_iterate(steps) for steps in (64, 512, 4096)}


def decide_enough_steps(numbers: Numbers, tolerances: Numbers) -> Decision:
    first, last = numbers["at_64"], numbers["at_4096"]
    slope = (last - first) / math.log(4096 / 64)
    sentence = (
        f"On the worst function of Harvey et al. the excess is {listed(numbers.values())} |C| G/sqrt(T) at T = 64, 512, "
        f"4,096: it grows by {slope:.3g} for each unit of log T."
    )
    instead = "A constant times (n L |C|/alpha)^2 log^2(T) steps; without the logarithm for the mean of the iterates."
    return holds_if(last <= (1 + tolerances["growth"]) * first, sentence, instead)


ENOUGH_STEPS = Claim(
    id="cs860-enough-steps",
    locator="Gradient perturbation, after Theorem 2",
    statement="T of the order of (n L |C|/alpha)^2 steps are enough for an excess of alpha, for any n.",
    computes="gradient descent of 64, 512 and 4,096 steps on the worst function known",
    measure=measure_enough_steps,
    decide=decide_enough_steps,
    tolerances={"growth": 0.1},
)


@computed
def measure_gradient_count() -> dict[str, float]:
    """The exponents of n in the gradients computed until the excess of n losses |theta| stays below |C| L.

    All losses are equal, so both algorithms walk alike; one computes n gradients a step, the other one.
    """
    counts = {n: steps_until_small(n) for n in (10, 40, 160)}
    exponent = math.log(counts[160] / counts[10]) / math.log(16)
    return {"full": exponent + 1, "stochastic": exponent}


GRADIENT_COUNT = Claim(
    id="cs860-gradient-count",
    locator="Gradient perturbation, after Algorithms 1 and 2",
    statement="For a fixed excess, full descent computes about n^3 gradients, and stochastic descent about n^2.",
    computes="gradient descent on n losses |theta|, n = 10, 40, 160, until the excess stays small",
    measure=measure_gradient_count,
    decide=fact_decider(
        "To an excess of |C| L, from n = 10 to 160, the gradients computed grow as n^{full:.3g} (all records) and "
        "n^{stochastic:.3g} (one record).",
        lambda numbers, tolerances: max(abs(numbers["full"] - 3), abs(numbers["stochastic"] - 2)) <= tolerances["exponent"],
        "Other powers of n.",
    ),
    tolerances={"exponent": 0.2},
)

# Algorithm 2


@drawn("moments")
def measure_moments(rng: np.random.Generator) -> dict[str, float]:
    """Exactly, over the records: the bias of n grad l_i, as a share of n L, and its second moment, as a share of n^2 L^2."""
    data = classified(30, 3, rng)
    bias, second = [], []
    losses: tuple[MarginLoss, ...] = (LOGISTIC, Hinge())
    for loss, theta in product(losses, rng.standard_normal((20, 3)) / 2):
        gradients = len(data) * loss.slope(data.signed @ theta)[:, None] * data.signed
        whole = loss.slope(data.signed @ theta) @ data.signed
        bias.append(np.linalg.norm(gradients.mean(axis=0) - whole) / len(data))
        second.append(np.mean(np.sum(gradients**2, axis=1)) / len(data) ** 2)
    return {"bias": float(max(bias)), "second": float(max(second))}


MOMENTS = Claim(
    id="cs860-stochastic-moments",
    locator="Gradient perturbation, Algorithm 2",
    statement=(
        "n times the gradient of a random record is an unbiased estimate of the whole gradient, with second moment at most "
        "n^2 L^2."
    ),
    computes="all gradients of 30 random records at 40 random parameters",
    measure=measure_moments,
    decide=fact_decider(
        "At 40 places the estimate has a bias of {bias:.1g} nL and a second moment of at most {second:.3g} n^2 L^2.",
        lambda numbers, tolerances: numbers["bias"] <= tolerances["slack"] and numbers["second"] <= 1 + tolerances["slack"],
        "The estimate is biased, or longer than n L.",
    ),
    tolerances=ROUNDING,
)

DESCENTS: dict[str, type[GradientPerturbation]] = {
    "full": FullBatchGradientPerturbation,
    "stochastic": PrintedGradientPerturbation,
}


@drawn("stochastic descent")
def measure_stochastic(rng: np.random.Generator) -> dict[str, float]:
    """Algorithms 1 and 2 for n^2 steps: the largest excess as a share of the bound of Theorem 2 with G = n L."""
    shares = dict.fromkeys(DESCENTS, 0.0)
    for n in (15, 60):
        problems: tuple[tuple[LabelledData, MarginLoss, float], ...] = (
            (kinked(n), Hinge(), 2.0),
            (classified(n, 3, rng), LOGISTIC, 1.0),
        )
        for (data, loss, radius), (name, descent) in product(problems, DESCENTS.items()):
            mechanism = descent(NO_NOISE, DELTA, radius, loss)
            share = mean_excess(mechanism, data, 100, rng) / excess_bound(mechanism, n, data.features.shape[1])
            shares[name] = max(shares[name], share)
    return shares


STOCHASTIC = Claim(
    id="cs860-stochastic-descent",
    locator="Gradient perturbation, Algorithm 2",
    statement="Stochastic descent has the same guarantee for its excess as full descent.",
    computes="100 runs of Algorithms 1 and 2 without noise, on records with a kinked and with a smooth risk",
    measure=measure_stochastic,
    decide=bound_decider(
        "After n^2 steps, n = 15 and 60, the mean excess is at most {full:.3g} (all records) and {stochastic:.3g} (one "
        "record) of Theorem 2's bound with G = nL.",
        "One record at a time does worse than the bound.",
    ),
    tolerances=BOUND,
)
