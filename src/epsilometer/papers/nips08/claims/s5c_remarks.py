"""Section 5 of nips08, the remarks after Theorem 5 that compare the two algorithms; and section 7, on regularisation."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from epsilometer.erm import LOGISTIC, SphericalNoise
from epsilometer.mechanisms.output_perturbation import OutputPerturbation
from epsilometer.pairs.search import worst_pair
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import ROUNDING, fact_decider, holds_if, listed
from epsilometer.papers.measures import computed
from epsilometer.papers.nips08.claims.sample_sizes import (
    EVERY_GOAL,
    decide_significantly_stronger,
    measure_ratios,
    needed_size,
)
from epsilometer.papers.nips08.claims.shared import FIRST_SIZE

# Section 5


NEVER_LOWER = Claim(
    id="nips08-never-lower",
    locator="section 5, after Theorem 5",
    statement="The sample size of Theorem 5 is never below that of Theorem 4.",
    computes="both sample sizes in 10,000 random settings",
    measure=measure_ratios(logs=True),
    decide=fact_decider(
        "Over 10,000 settings, the bound for Algorithm 1 is {least:.3g} times that for Algorithm 2, or more.",
        lambda numbers, tolerances: numbers["least"] >= 1 - tolerances["slack"],
        "It is lower in some settings.",
    ),
    tolerances=ROUNDING,
)


def measure_needed_sizes(evidence: Evidence) -> Measured:
    """The measured sample size of Algorithm 1 over that of Algorithm 2, least and largest."""
    ratios = [needed_size(evidence, "algorithm 1", goal) / needed_size(evidence, "algorithm 2", goal) for goal in EVERY_GOAL]
    return Measured({"least": min(ratios), "largest": max(ratios)})


NEEDED_SIZES = Claim(
    id="nips08-needed-records",
    locator="abstract and section 5, after Theorem 5",
    statement="Where logistic regression is of use, |w0| >= 1, Algorithm 2 learns from fewer records than Algorithm 1.",
    computes="the sample sizes that both algorithms need for seven goals, by runs on drawn data",
    measure=measure_needed_sizes,
    decide=fact_decider(
        "For the same loss Algorithm 1 needs {least:.3g} to {largest:.3g} times as many records as Algorithm 2, over 7 "
        "settings with |w0| >= 2.",
        lambda numbers, tolerances: numbers["least"] > 1 + tolerances["fewer"],
        "In some settings Algorithm 2 needs as many records.",
    ),
    tolerances={"fewer": 0.1},
)


@computed
def measure_short_w0() -> Numbers:
    """The least loss for |w0| <= 1 and |x| <= 1; the loss of w0 = 0; and log(1 + 1/epsilon) at epsilon = 0.1."""
    least = float(np.min(LOGISTIC.value(np.linspace(-1, 1, 2001))))
    zero = float(LOGISTIC.value(np.zeros(1))[0])
    return {"least": least, "of_zero": zero, "claimed": math.log1p(1 / 0.1), "with_e": math.log1p(1 / math.e)}


SHORT_W0 = Claim(
    id="nips08-short-w0",
    locator="section 5, after Theorem 5",
    statement="A w0 with norm below 1 has a loss of at least log(1 + 1/epsilon).",
    computes="the least loss of a classifier of norm at most 1, and that of w0 = 0",
    measure=measure_short_w0,
    decide=fact_decider(
        "At epsilon = 0.1 the claimed bound is {claimed:.4g}, but w0 = 0 has loss {of_zero:.4g} and a w0 of length 1 may "
        "have {least:.4g}.",
        lambda numbers, tolerances: numbers["least"] >= numbers["claimed"] - tolerances["slack"],
        "With Euler's number, the bound is log(1 + 1/e) = {with_e:.4g}.",
    ),
    tolerances=ROUNDING,
)

SIGNIFICANTLY_STRONGER = Claim(
    id="nips08-significantly-stronger",
    locator="abstract; section 5, after Theorem 5; section 7",
    statement="Where |w0| >= 1, the guarantee of Algorithm 2 is significantly stronger than that of Algorithm 1.",
    computes="both sample sizes in 10,000 random settings",
    measure=measure_ratios(logs=True),
    decide=decide_significantly_stronger,
    tolerances={"stronger": 0.1},
)

# Section 7

LAMBDAS = (1e-3, 1e-2, 1e-1)


def measure_regularisation(evidence: Evidence) -> Measured:
    """By lambda: the minimiser's shift on the worst pair of 1,000 records, and Algorithm 1's mean noise in the plane."""
    numbers = {}
    for lam in LAMBDAS:
        mechanism = OutputPerturbation(1.0, lam)
        noise = mechanism.noise(FIRST_SIZE)
        assert isinstance(noise, SphericalNoise)
        found = worst_pair(mechanism, FIRST_SIZE, 2, evidence.stream("regularisation", lam))
        numbers[f"shift_at_{lam:g}"] = found.log_ratio / noise.rate
        numbers[f"noise_at_{lam:g}"] = 2 / noise.rate
    return Measured(numbers)


def decide_regularisation(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Holds if shift and noise fall with every step of lambda."""
    shifts, noises = ([numbers[f"{name}_at_{lam:g}"] for lam in LAMBDAS] for name in ("shift", "noise"))
    sentence = (
        "At lambda = 0.001, 0.01 and 0.1 the worst pair of 1,000 records moves the minimiser by "
        f"{listed(shifts)}, and Algorithm 1's noise has mean length {listed(noises)}."
    )
    falls = all(later < earlier * (1 - tolerances["falls"]) for row in (shifts, noises) for earlier, later in pairwise(row))
    return holds_if(falls, sentence, "Not both fall with lambda.")


REGULARISATION = Claim(
    id="nips08-regularisation",
    locator="section 7",
    statement="The larger lambda is, the less one record moves logistic regression, and the less noise it needs.",
    computes="the worst pair of 1,000 records at three values of lambda, by search",
    measure=measure_regularisation,
    decide=decide_regularisation,
    tolerances={"falls": 0.1},
)
