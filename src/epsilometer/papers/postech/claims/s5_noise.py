"""The slides of postech on noise: the Laplace and the Gaussian mechanism."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

from epsilometer.core import NeighbouringPair
from epsilometer.mechanisms.gaussian import classic_sigma, gaussian_log_delta
from epsilometer.mechanisms.laplace import Laplace, count_five, medical_pair
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import PRIVATE, ROUNDING, all_within_bound, claimed_epsilon, readings_decider
from epsilometer.papers.measures import (
    VERDICTS,
    catalogue_shares,
    computed,
    exact_loss,
    exact_losses,
    exact_witness,
    largest_share,
    spent_share,
)

# Laplace


LAPLACE_NOTATION = Claim(
    id="postech-laplace-notation",
    locator="definition of the Laplace mechanism",
    statement="The noise on the i-th number is drawn from Lap(f(x)_i | sensitivity/epsilon).",
    computes="the exact privacy loss of a noisy count in both readings",
    measure=exact_losses(
        medical_pair(4, "Alice's diagnosis"),
        centred=Laplace(count_five, 1, 1.0),
        around_the_answer=Laplace(lambda dataset: 2 * count_five(dataset), 1, 1.0),
    ),
    decide=readings_decider(
        "At epsilon = 1 a count spends {centred:.4g} with noise around 0, and {around_the_answer:.4g} with noise around "
        "f(x).",
        all_within_bound,
        "The first argument of Lap is f(x) in one line and where the density is taken in the next; we assumed 0.",
        assumed=lambda numbers, tolerances: numbers["centred"] <= 1 + tolerances["slack"],
        instead="The scale must be larger.",
    ),
    tolerances=ROUNDING,
)


def measure_laplace(evidence: Evidence) -> Measured:
    """The table's shares, and a histogram of three bins with one record more or less."""
    pair = NeighbouringPair(np.array([0, 0, 1]), np.array([0, 0, 1, 2]), "add-remove", "one record more")
    shares = [spent_share(evidence, name) for name in ("laplace_count", "laplace_difference_attack")]
    for epsilon in (0.1, 1.0, 3.0):
        histogram = Laplace(partial(np.bincount, minlength=3), 1, epsilon, "add-remove")
        shares.append(exact_loss(evidence, histogram, pair) / epsilon)
    return Measured({"share": max(shares), "least_share": min(shares)}, exact_witness(evidence, "laplace_count"))


LAPLACE = Claim(
    id="postech-laplace",
    locator='theorem "Laplace mechanism is DP"',
    statement="Laplace noise of scale (L1 sensitivity)/epsilon on each number is (epsilon, 0)-differentially private.",
    needs=(VERDICTS,),
    computes="the exact privacy loss of a noisy histogram, and a witness of the count's",
    measure=measure_laplace,
    decide=claimed_epsilon("counts with a diagnosis exchanged, a histogram with a record more or less"),
    tolerances=PRIVATE,
    link=f"{VERDICTS}.csv",
)


# Gaussian

LOG_DELTAS = tuple(
    math.log(delta) for delta in (1e-100, 1e-12, 1e-8, 1e-5, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
)


def excess_log_delta(spent: float, epsilon: float, log_delta: float) -> float:
    """log of the delta that the textbook's noise for (epsilon, delta) has at an epsilon of `spent`, less log delta."""
    return gaussian_log_delta(spent, classic_sigma(epsilon, math.exp(log_delta))) - log_delta


def gaussian_spent(epsilon: float, log_delta: float) -> float:
    """The epsilon at which the textbook's noise for (epsilon, delta) really meets delta."""
    if excess_log_delta(0.0, epsilon, log_delta) <= 0:
        return 0.0
    highest = 2 * epsilon
    while excess_log_delta(highest, epsilon, log_delta) > 0:
        highest *= 2
    return float(brentq(excess_log_delta, 0.0, highest, args=(epsilon, log_delta)))


def measure_gaussian(evidence: Evidence) -> Measured:
    """The largest share of epsilon spent for epsilon < 1, over many deltas, the table's delta of 1e-5 among them."""
    grid = [(epsilon, log_delta) for epsilon in (0.01, 0.1, 0.3, 0.6, 0.9, 0.999) for log_delta in LOG_DELTAS]
    exact = max(gaussian_spent(epsilon, log_delta) / epsilon for epsilon, log_delta in grid)
    spent = catalogue_shares(evidence, "gaussian_classic")
    audits = {"share_in_table": largest_share(part)} if (part := {e: spent[e] for e in spent if e <= 1}) else {}
    return Measured({"share": max([exact, *audits.values()]), **audits})


def decide_gaussian(numbers: Numbers, tolerances: Numbers) -> Decision:
    """A claimed epsilon; the audited share is reported where the table has an epsilon up to 1."""
    of = "at the promised delta, from 1e-100 to 0.99, and epsilon < 1"
    if "share_in_table" in numbers:
        of += "; {share_in_table:.3g} as audited at delta = 1e-5, up to epsilon = 1"
    return claimed_epsilon(of, "A larger sigma is needed.")(numbers, tolerances)


GAUSSIAN = Claim(
    id="postech-gaussian",
    locator='theorem "Gaussian mechanism is DP"',
    statement="For epsilon in (0, 1), Gaussian noise of standard deviation above sqrt(2 ln(1.25/delta)) (L2 "
    "sensitivity)/epsilon is (epsilon, delta)-differentially private.",
    needs=(VERDICTS,),
    computes="the exact epsilon of the Gaussian mechanism at 84 pairs of epsilon and delta",
    measure=measure_gaussian,
    decide=decide_gaussian,
    tolerances=PRIVATE,
    link=f"{VERDICTS}.csv",
)


@computed
def measure_gaussian_range() -> dict[str, float]:
    """The first epsilon, by delta, from which the textbook's noise is too small."""
    return {f"{math.exp(log_delta):g}": first_failing_epsilon(log_delta) for log_delta in LOG_DELTAS}


def first_failing_epsilon(log_delta: float) -> float:
    """The least epsilon for which the textbook's noise does not meet delta; infinite if there is none up to 1,000."""

    def gap(epsilon: float) -> float:
        return excess_log_delta(epsilon, epsilon, log_delta)

    epsilons = np.geomspace(0.01, 1000, 500).tolist()
    for low, high in pairwise(epsilons):
        if gap(high) > 0:
            return float(brentq(gap, low, high)) if gap(low) <= 0 else low
    return math.inf


def decide_gaussian_range(numbers: Numbers, tolerances: Numbers) -> Decision:
    """The stated range is right, too wide, or narrower than it needs to be."""
    delta, stated = min(numbers, key=lambda delta: numbers[delta]), tolerances["stated"]
    least, usual = numbers[delta], numbers["1e-05"]
    sentence = (
        f"Over all deltas tried, the noise is too small from epsilon = {least:.3g} on at the earliest (delta = {delta}), "
        f"and from {usual:.3g} on at delta = 1e-5."
    )
    if least < stated:
        return Decision("fails as printed", sentence, instead=f"It holds for epsilon < {least:.3g}.")
    if least > stated * (1 + tolerances["loose"]):
        return Decision("holds, loosely", sentence, factor=least / stated)
    return Decision("holds", sentence)


GAUSSIAN_RANGE = Claim(
    id="postech-gaussian-range",
    locator='theorem "Gaussian mechanism is DP", range of epsilon',
    statement="The theorem on Gaussian noise is for epsilon below 1.",
    computes="the first epsilon at which the Gaussian mechanism's delta is exceeded, at 14 deltas",
    measure=measure_gaussian_range,
    decide=decide_gaussian_range,
    tolerances={"stated": 1, "loose": 0.1},
)
