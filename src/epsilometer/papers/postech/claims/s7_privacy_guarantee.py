"""The privacy guarantees of postech for Algorithm 1, output perturbation, and Algorithm 2, objective perturbation."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

from epsilometer.core import EpsilometerError
from epsilometer.erm import Huber
from epsilometer.mechanisms.neighbours import opposite_labels
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbationCMS11
from epsilometer.mechanisms.output_perturbation import OutputPerturbation
from epsilometer.pairs.search import WorstPair, worst_pair
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import PRIVATE, ROUNDING, claimed_epsilon, holds_if
from epsilometer.papers.measures import VERDICTS, exact_loss, find_worst_pair, spent_share

AUDITED = "logistic regression by search, and the Huber loss"


def measure_algorithm_1(evidence: Evidence) -> Measured:
    """The worst pair of logistic regression in the plane, and the table's shares."""
    name = "output_perturbation"
    found = find_worst_pair(evidence, name, 1.0, 200_000, 2)
    share = max(found.log_ratio, spent_share(evidence, name, "output_perturbation_huber"))
    return Measured({"share": share, "share_of_logistic": found.log_ratio}, found.witness(name, 1.0))


ALGORITHM_1 = Claim(
    id="postech-algorithm-1-private",
    locator="privacy guarantee, first theorem; Algorithm 1",
    statement="Output perturbation with beta = n Lambda epsilon/2 is epsilon-differentially private for a loss with slope "
    "at most 1 and a differentiable, 1-strongly convex regulariser.",
    needs=(VERDICTS,),
    computes="the worst pair of neighbouring data sets, by search",
    measure=measure_algorithm_1,
    decide=claimed_epsilon(AUDITED),
    tolerances=PRIVATE,
    link=f"{VERDICTS}.csv",
)


@cache
def worst_of_algorithm_2(evidence: Evidence, n: int, lam: float, epsilon: float) -> WorstPair:
    """The worst pair in the plane that the search finds for Algorithm 2."""
    mechanism = ObjectivePerturbationCMS11(epsilon, lam)
    return worst_pair(mechanism, n, 2, evidence.stream("worst pair of algorithm 2", n, lam, epsilon))


def measure_algorithm_2(evidence: Evidence) -> Measured:
    """The worst pairs of logistic regression where n lam is 20, and where the Hessian alone costs half of epsilon."""
    strong, weak = worst_of_algorithm_2(evidence, 200_000, 1e-4, 1.0), worst_of_algorithm_2(evidence, 1000, 0.01, 0.1)
    table = spent_share(evidence, "objective_perturbation_cms11", "objective_perturbation_huber")
    numbers = {"share": max(strong.log_ratio, weak.log_ratio / 0.1, table), "share_at_a_small_beta": weak.log_ratio / 0.1}
    return Measured(numbers, strong.witness("objective_perturbation_cms11", 1.0))


ALGORITHM_2 = Claim(
    id="postech-algorithm-2-private",
    locator="privacy guarantee, second theorem; Algorithm 2",
    statement="Objective perturbation with 2 beta = epsilon - log(1 + 2c/(n Lambda) + c^2/(n Lambda)^2) > 0 is "
    "epsilon-differentially private if moreover the curvature of the loss is at most c.",
    needs=(VERDICTS,),
    computes="the worst pairs of neighbouring data sets in two settings, by search",
    measure=measure_algorithm_2,
    decide=claimed_epsilon(AUDITED),
    tolerances=PRIVATE,
    link=f"{VERDICTS}.csv",
)


WIDTHS = (0.5, 0.05, 0.005)


def measure_stronger_assumptions(evidence: Evidence) -> Measured:
    """For Huber losses ever nearer to the hinge: the least epsilon of Algorithm 2 at n lam = 1, and Algorithm 1's share."""
    numbers, pair = {}, opposite_labels(8)
    for width in WIDTHS:
        numbers[f"least_epsilon_at_{width:g}"] = least_epsilon_of_algorithm_2(Huber(width))
        numbers[f"share_at_{width:g}"] = exact_loss(evidence, OutputPerturbation(1.0, 0.5, Huber(width)), pair)
    return Measured(numbers)


def least_epsilon_of_algorithm_2(loss: Huber) -> float:
    """The least epsilon for which its beta is positive at n = lam = 1, by halving."""
    low, high = 1e-6, 100.0
    for _ in range(60):
        middle = math.sqrt(low * high)
        try:
            ObjectivePerturbationCMS11(middle, 1.0, loss=loss).calibration(1.0)
            high = middle
        except EpsilometerError:
            low = middle
    return high


def decide_stronger_assumptions(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Without a bound on the curvature Algorithm 2 needs ever more epsilon, and Algorithm 1 keeps its promise."""
    least, shares = ([numbers[f"{name}_at_{width:g}"] for width in WIDTHS] for name in ("least_epsilon", "share"))
    sentence = (
        f"With a bound c on the curvature of 1, 10 and 100, Algorithm 2 needs epsilon > {least[0]:.3g}, {least[1]:.3g} and "
        f"{least[2]:.3g} at n lambda = 1, so none suffices without c; Algorithm 1 spends at most {max(shares):.4g} epsilon."
    )
    grows = all(later > earlier * (1 + tolerances["grows"]) for earlier, later in pairwise(least))
    return holds_if(
        grows and max(shares) <= 1 + tolerances["slack"], sentence, "Algorithm 1 needs the curvature bound as well."
    )


STRONGER_ASSUMPTIONS = Claim(
    id="postech-algorithm-2-assumes-more",
    locator="privacy guarantee, remark",
    statement="Algorithm 2 needs stronger assumptions than Algorithm 1.",
    computes="both algorithms' demands with Huber losses of three widths",
    measure=measure_stronger_assumptions,
    decide=decide_stronger_assumptions,
    tolerances=ROUNDING | {"grows": 0.1},
)
