"""The slides of postech on empirical risk minimisation: its assumptions, and whether it is private as it is."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from epsilometer.core import EpsilometerError, LabelledData
from epsilometer.data.synthetic import separable
from epsilometer.erm import LOGISTIC, minimiser
from epsilometer.erm.objective import labelled
from epsilometer.mechanisms.catalogue import find
from epsilometer.mechanisms.neighbours import labelled_records
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import ROUNDING, all_within_bound, fact_decider, holds_if
from epsilometer.papers.measures import PROOF_OF_VIOLATION, VERDICTS, audited, computed
from epsilometer.papers.nips08.claims.regret import regularised_risk


@computed
def measure_unique_minimum() -> dict[str, float]:
    """log(1 + e^-w), over w: its least curvature, which is positive, and its largest slope, which is negative."""
    margins = np.linspace(-30, 30, 6001)
    return {
        "least_curvature": float(LOGISTIC.curvature(margins).min()),
        "largest_slope": float(LOGISTIC.slope(margins).max()),
    }


def decide_unique_minimum(numbers: Numbers, _: Numbers) -> Decision:
    """A function that is strictly convex and falls everywhere has no minimum."""
    curvature, slope = numbers["least_curvature"], numbers["largest_slope"]
    sentence = (
        f"log(1 + e^-w), the loss of one record, has a curvature of at least {curvature:.1g} and a slope of at most "
        f"{slope:.1g} on [-30, 30]."
    )
    counter_example = curvature > 0 > slope
    return holds_if(not counter_example, sentence, "It has at most one minimum; a strongly convex function has exactly one.")


UNIQUE_MINIMUM = Claim(
    id="postech-unique-minimum",
    locator="assumptions",
    statement="A strictly convex function has a unique minimum.",
    computes="slope and curvature of the logistic loss",
    measure=measure_unique_minimum,
    decide=decide_unique_minimum,
)


def measure_strong_is_strict(evidence: Evidence) -> Measured:
    """a J(u) + (1 - a) J(v) - J(a u + (1 - a) v) in units of lam a (1 - a)/2 |u - v|^2, the least over random u and v."""
    rng, lam = evidence.stream("strongly convex"), 0.01
    data = separable(100, rng)
    least = math.inf
    for scale in (0.1, 1.0, 100.0):
        one, other = scale * rng.standard_normal((2, 500, data.features.shape[1]))
        share = rng.uniform(0.05, 0.95, 500)
        mixed = share[:, None] * one + (1 - share)[:, None] * other
        risk = partial(regularised_risk, data, lam)
        gap = share * risk(one) + (1 - share) * risk(other) - risk(mixed)
        least = min(least, float(np.min(gap / (lam / 2 * share * (1 - share) * np.sum((one - other) ** 2, axis=1)))))
    return Measured({"least": least})


STRONG_IS_STRICT = Claim(
    id="postech-strong-is-strict",
    locator="assumptions",
    statement="A strongly convex function is strictly convex.",
    computes="a regularised risk at and between 1,500 random pairs of points",
    measure=measure_strong_is_strict,
    decide=fact_decider(
        "A regularised risk, strongly convex with lambda, bends between two points by at least {least:.5g} times lambda/2 "
        "a(1 - a)|x - y|^2, which is above 0.",
        lambda numbers, tolerances: numbers["least"] >= 1 - tolerances["slack"],
        "This strongly convex function is not strictly so everywhere.",
    ),
    tolerances={"slack": 1e-6},
)


RELAXED = Claim(
    id="postech-assumptions-relaxed",
    locator="assumptions, last line",
    statement="That loss and regulariser are differentiable serves convenience, and could be relaxed.",
    needs=(VERDICTS,),
    computes=PROOF_OF_VIOLATION,
    measure=audited("output_perturbation_hinge", "objective_perturbation_huber"),
    decide=fact_decider(
        "Algorithm 1 with the hinge loss, which is not differentiable, and Algorithm 2 with a loss that is not twice so "
        "spend at most {share:.4g} times what they promise.",
        all_within_bound,
        "These assumptions are needed.",
    ),
    tolerances=ROUNDING,
    link=f"{VERDICTS}.csv",
)


def measure_erm(evidence: Evidence) -> Measured:
    """How far apart the two minimisers are; the bound of the audit from outputs alone; and a pair that moves nothing."""
    pair = find("non_private_logistic").pairs()[0]
    idle = [labelled_records([((1.0,), 1.0), ((0.0,), label)]) for label in (1.0, -1.0)]
    rows = evidence.table(VERDICTS, "mechanism", "black_box")
    bounds = [row["black_box"] for row in rows if row["mechanism"] == "non_private_logistic"]
    if not bounds:
        raise EpsilometerError("the table verdicts/catalogue has no row of non_private_logistic; audit it first")
    return Measured(
        {
            "distance": _distance_of_minimisers(labelled(pair.first), labelled(pair.second)),
            "distance_at_the_origin": _distance_of_minimisers(*idle),
            "bound": max(bounds),
        }
    )


def _distance_of_minimisers(first: LabelledData, second: LabelledData) -> float:
    one, other = (minimiser(LOGISTIC, data, 0.1) for data in (first, second))
    return float(np.linalg.norm(one - other))


def decide_erm(numbers: Numbers, tolerances: Numbers) -> Decision:
    """The minimisers must differ, and the audit must certify more than a large epsilon."""
    distance, bound = numbers["distance"], numbers["bound"]
    sentence = (
        f"Where one of eight labels changes, the minimisers are {distance:.3g} apart, and from outputs alone epsilon is at "
        f"least {bound:.3g} (95%). (A record at the origin moves it by {numbers['distance_at_the_origin']:.1g}.)"
    )
    told = distance > tolerances["distance"] and bound > tolerances["largest epsilon"]
    return holds_if(told, sentence, "This minimiser hides the record.")


ERM = Claim(
    id="postech-erm-not-private",
    locator="is ERM differentially private?",
    statement="The minimiser of a regularised empirical risk, released as it is, is not differentially private.",
    needs=(VERDICTS,),
    computes="the minimisers on two pairs of neighbouring data sets",
    measure=measure_erm,
    decide=decide_erm,
    tolerances={"distance": 1e-6, "largest epsilon": 5},
    link=f"{VERDICTS}.csv",
)
