"""The slides of postech on randomised response: two coins, gamma, and how informative the answers are."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from epsilometer.mechanisms.randomized_response import RandomizedResponse
from epsilometer.papers.claim import Claim, Decision, Numbers
from epsilometer.papers.deciders import ROUNDING, fact_decider, holds_if
from epsilometer.papers.measures import answers, computed
from epsilometer.papers.postech.claims.constants import TWO_COINS

INFORMATIVE = "randomized response, how informative"
SAME = {"same": 1e-12}


# The survey


@computed
def measure_coins() -> dict[str, float]:
    """P(response = truth) of the two coins, for either truth, by listing their four equally likely outcomes."""

    def response(truth: bool, first_heads: bool, second_heads: bool) -> bool:
        return second_heads if first_heads else truth

    outcomes = list(product((True, False), repeat=2))
    return {
        f"kept_if_{name}": float(np.mean([response(truth, *coins) == truth for coins in outcomes]))
        for name, truth in (("yes", True), ("no", False))
    }


def decide_coins(numbers: Numbers, tolerances: Numbers) -> Decision:
    """The truth must be kept with probability 1/2 + gamma, whichever it is."""
    yes, no = numbers["kept_if_yes"], numbers["kept_if_no"]
    sentence = (
        f"Of the four outcomes of two coins, a share of {yes:g} answers a true yes with yes, and of {no:g} a no with no."
    )
    same = max(abs(value - 0.5 - TWO_COINS) for value in (yes, no)) <= tolerances["same"]
    return holds_if(same, sentence, f"gamma is {yes - 0.5:g} for yes and {no - 0.5:g} for no.")


COINS = Claim(
    id="postech-two-coins",
    locator="randomized response, general description",
    statement="The survey with two coins is randomised response with gamma = 1/4.",
    computes="the four outcomes of two coins",
    measure=measure_coins,
    decide=decide_coins,
    tolerances=SAME,
)


EXTREMES_AND_COINS = (0.0, TWO_COINS, 0.5)


@computed
def measure_gammas() -> dict[str, float]:
    """Epsilon of one answer, and the bits that it tells of a truth that is yes or no equally often, by gamma."""
    numbers = {}
    for gamma in EXTREMES_AND_COINS:
        kept, lied = 0.5 + gamma, 0.5 - gamma
        entropy = -sum(share * math.log2(share) for share in (kept, lied) if share > 0)
        numbers[f"epsilon_at_{gamma:g}"] = math.log(kept / lied) if lied > 0 else math.inf
        numbers[f"bits_at_{gamma:g}"] = 1 - entropy
    return numbers


def decide_gammas(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Nothing is spent and nothing told at 0, everything at 1/2; at 1/4 epsilon is finite and an answer informs."""
    epsilons, bits = ([numbers[f"{name}_at_{gamma:g}"] for gamma in EXTREMES_AND_COINS] for name in ("epsilon", "bits"))
    shown = "; ".join(
        f"{gamma:g}: epsilon {epsilon:.4g}, {bit:.3g} bits"
        for gamma, epsilon, bit in zip(EXTREMES_AND_COINS, epsilons, bits, strict=True)
    )
    extremes = max(epsilons[0], bits[0], 1 - bits[2]) <= tolerances["same"] and math.isinf(epsilons[2])
    between = math.isfinite(epsilons[1]) and bits[1] > tolerances["informative"]
    return holds_if(extremes and between, f"At gamma = {shown}.", "Not all three strategies are as said.")


GAMMAS = Claim(
    id="postech-gamma-extremes",
    locator="randomized response, general description",
    statement="Randomised response is private but tells nothing at gamma = 0, tells all and protects nothing at 1/2, and "
    "does both at 1/4.",
    computes="epsilon and the information of one answer, from their formulas",
    measure=measure_gammas,
    decide=decide_gammas,
    tolerances=SAME | {"informative": 0.01},
)


@computed
def measure_learns_nothing() -> dict[str, float]:
    """At gamma = 1/4: how sure of a bit its answer can make, from 1/2; and the estimate's standard deviation, of 1,000."""
    zero, one = answers(TWO_COINS)
    estimates = RandomizedResponse(TWO_COINS).estimate_share(np.array([[0], [1]]))
    variance = float(np.sum(one * estimates**2) - np.sum(one * estimates) ** 2)
    return {"posterior": float(np.max(one / (zero + one))), "deviation": math.sqrt(variance / 1000)}


LEARNS_NOTHING = Claim(
    id="postech-learns-nothing",
    locator="randomized response, general description; goal for privacy in learning",
    statement="At gamma = 1/4 nothing is learnt about the answer of an individual.",
    computes="the posterior after one answer, from its probabilities",
    measure=measure_learns_nothing,
    decide=fact_decider(
        "From 1/2, the probability of a yes rises to {posterior:.4g} by the answer; the share among 1,000 persons is "
        "estimated with a standard deviation of {deviation:.3g}.",
        lambda numbers, tolerances: numbers["posterior"] <= 0.5 + tolerances["slack"],
        "Little is learnt: no posterior from 1/2 exceeds e^epsilon/(1 + e^epsilon) = {posterior:.4g}.",
    ),
    tolerances=ROUNDING,
)


# How informative the answers are


@computed
def measure_expectation() -> dict[str, float]:
    """The largest |E[Y] - (2 gamma X + 1/2 - gamma)|."""
    errors = []
    for gamma in (0.05, TWO_COINS, 0.45):
        errors += [abs(law[1] - (2 * gamma * truth + 0.5 - gamma)) for truth, law in enumerate(answers(gamma))]
    return {"error": float(max(errors))}


@computed
def measure_bias() -> dict[str, float]:
    """The largest |E[p^] - mean of X| over all data sets of four bits, by summing over all answers."""
    errors = []
    for gamma in (0.05, TWO_COINS, 0.45):
        mechanism = RandomizedResponse(gamma)
        for bits in product((0, 1), repeat=4):
            data = np.array(bits)
            outputs = mechanism.support(data)
            expected = np.exp(mechanism.log_density(data, outputs)) @ mechanism.estimate_share(outputs)
            errors.append(abs(expected - data.mean()))
    return {"error": float(max(errors))}


decide_identity = fact_decider(
    "Summed over all answers, the two sides differ by at most {error:.2g} (gamma = 0.05, 0.25 and 0.45).",
    lambda numbers, tolerances: numbers["error"] <= tolerances["same"],
    "They differ by {error:.2g}.",
)


EXPECTATION = Claim(
    id="postech-expected-answer",
    locator=INFORMATIVE,
    statement="A randomised answer has the expectation 2 gamma X + 1/2 - gamma, so that (Y - 1/2 + gamma)/(2 gamma) has "
    "expectation X.",
    computes="the expectation of one answer at three gammas",
    measure=measure_expectation,
    decide=decide_identity,
    tolerances=SAME,
)
UNBIASED = Claim(
    id="postech-unbiased-estimator",
    locator=INFORMATIVE,
    statement="The mean of (Y - 1/2 + gamma)/(2 gamma) is an unbiased estimate of the share of ones.",
    computes="the expected estimate on every data set of four bits, over all answers",
    measure=measure_bias,
    decide=decide_identity,
    tolerances=SAME,
)
