"""Private stochastic gradient descent: the utility of Algorithm 3."""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import numpy as np

from epsilometer.erm import Hinge
from epsilometer.mechanisms.gradient_perturbation import PrintedGradientPerturbation
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.cs860.claims.records import classified
from epsilometer.papers.cs860.claims.utility import excess_bound, mean_excess
from epsilometer.papers.deciders import BOUND, fact_decider, holds_if, listed, within_bound
from epsilometer.papers.measures import drawn


@drawn("noisy gradient")
def measure_noisy_moment(rng: np.random.Generator) -> dict[str, float]:
    """The first noisy gradient of 20,000 runs: second moment over n^2 L^2 + d sigma^2, and bias in standard errors."""
    data, mechanism = classified(4, 2, rng), PrintedGradientPerturbation(1.0, loss=Hinge())
    first = mechanism.sample(data, 20_000, rng)[:, :2]
    squares = np.sum(first**2, axis=1) / (16 + 2 * mechanism.sigma(4) ** 2)
    whole = Hinge().slope(np.zeros(4)) @ data.signed
    errors = (first.mean(axis=0) - whole) / (first.std(axis=0) / math.sqrt(len(first)))
    return {
        "second": float(squares.mean()),
        "standard_error": float(squares.std()) / math.sqrt(len(squares)),
        "bias": float(np.max(np.abs(errors))),
    }


def _moment_within_errors(numbers: Numbers, tolerances: Numbers) -> bool:
    """Whether bias and second moment are as claimed, up to so many standard errors."""
    most = tolerances["deviations"]
    return numbers["second"] - most * numbers["standard_error"] <= 1 and numbers["bias"] <= most


NOISY_MOMENT = Claim(
    id="cs860-noisy-moment",
    locator="Private stochastic gradient descent, utility",
    statement="The noisy gradient of Algorithm 3 is unbiased, with second moment at most n^2 L^2 + d sigma^2.",
    computes="20,000 runs of Algorithm 3 on four random records",
    measure=measure_noisy_moment,
    decide=fact_decider(
        "Over 20,000 runs the noisy gradient's second moment is {second:.4f} +- {standard_error:.4f} of n^2 L^2 + d "
        "sigma^2, and its mean is off by {bias:.2g} standard errors.",
        _moment_within_errors,
        "The gradient is biased or longer.",
    ),
    tolerances={"deviations": 4.0},
)

UTILITY_DELTA, UTILITY_SIZES, UTILITY_EPSILONS = 0.01, (60, 120, 240), (4.0, 16.0)


@cache
def _private_excess(evidence: Evidence, n: int, d: int, epsilon: float) -> tuple[float, float]:
    """The mean excess of Algorithm 3 on random records, and Theorem 2's bound for it."""
    rng = evidence.stream("private descent", n, d, epsilon)
    mechanism = PrintedGradientPerturbation(epsilon, UTILITY_DELTA)
    return mean_excess(mechanism, classified(n, d, rng), 30, rng), excess_bound(mechanism, n, d)


def _claimed_rate(d: int, epsilon: float) -> float:
    """|C| L sqrt(d log(1/delta))/epsilon for the unit ball and L = 1."""
    return 2 * math.sqrt(d * math.log(1 / UTILITY_DELTA)) / epsilon


def measure_utility(evidence: Evidence) -> Measured:
    """The excess over Theorem 2's bound, at worst, and over the claimed rate, by epsilon and n, in 8 dimensions.

    Where the noise is so large that theta says little, the excess grows with n as that of any theta does, from below.
    """
    wide = [(n, 8, epsilon) for epsilon, n in product(UTILITY_EPSILONS, UTILITY_SIZES)]
    settings = [(60, 1, epsilon) for epsilon in (1.0, 4.0, 16.0)] + wide
    found = {setting: _private_excess(evidence, *setting) for setting in settings}
    numbers = {"share": max(excess / bound for excess, bound in found.values())}
    for n, d, epsilon in wide:
        numbers[f"multiple_at_{epsilon:g}_{n}"] = found[n, d, epsilon][0] / _claimed_rate(d, epsilon)
    return Measured(numbers)


def decide_utility(numbers: Numbers, tolerances: Numbers) -> Decision:
    share = numbers["share"]
    low, high = ([numbers[f"multiple_at_{epsilon:g}_{n}"] for n in UTILITY_SIZES] for epsilon in UTILITY_EPSILONS)
    sentence = (
        f"The mean excess is at most {share:.3g} of Theorem 2's bound with this G; for n = 60, 120, 240 in 8 dimensions it "
        f"is {listed(low)} (epsilon = 4) and {listed(high)} (epsilon = 16) times |C| L sqrt(d log(1/delta))/epsilon."
    )
    return within_bound(share, sentence, tolerances, "The excess is beyond the bound.")


UTILITY = Claim(
    id="cs860-utility",
    locator="Private stochastic gradient descent, utility",
    statement="The expected excess of Algorithm 3 is O(|C| sqrt(n^2 L^2 + d sigma^2)/n), up to logarithms.",
    computes="30 runs of Algorithm 3 on random records, for nine choices of n, d and epsilon",
    measure=measure_utility,
    decide=decide_utility,
    tolerances=BOUND,
)


def measure_utility_large_epsilon(evidence: Evidence) -> Measured:
    """The excess as a multiple of the claimed rate, for n = 20 in 8 dimensions, by epsilon."""
    return Measured(
        {
            f"at_{epsilon:g}": _private_excess(evidence, 20, 8, epsilon)[0] / _claimed_rate(8, epsilon)
            for epsilon in (4.0, 1e3, 1e5)
        }
    )


def decide_utility_large_epsilon(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = f"For n = 20, d = 8 the excess is {listed(numbers.values())} times the rate at epsilon = 4, 1,000, 100,000."
    instead = "|C| L (1 + sqrt(d log(1/delta))/epsilon): n^2 steps leave an excess of their own, which no epsilon removes."
    first, *later = numbers.values()
    return holds_if(max(later) <= tolerances["growth"] * first, sentence, instead)


UTILITY_LARGE_EPSILON = Claim(
    id="cs860-utility-simplified",
    locator="Private stochastic gradient descent, utility",
    statement="That excess is O(|C| L sqrt(d log(1/delta))/epsilon), up to logarithms, no range of epsilon being given.",
    computes="30 runs of Algorithm 3 on 20 random records, for three epsilons",
    measure=measure_utility_large_epsilon,
    decide=decide_utility_large_epsilon,
    tolerances={"growth": 5.0},
)
