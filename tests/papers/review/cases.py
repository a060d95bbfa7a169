"""For each claim of the survey, numbers that lead it to each of its outcomes."""

from __future__ import annotations

import math
from typing import Final

from epsilometer.papers.claim import Outcome
from epsilometer.papers.review.claims.s2a_definition import EPSILONS
from epsilometer.papers.review.claims.s3_learners import RATES, SIZES

SLACK = {"slack": 1e-9}
PRIVATE = {"slack": 1e-9, "tight": 0.9}
SAME = {"same": 1e-12}
HOLDS: Final = "holds"
LOOSELY: Final = "holds, loosely"
FAILS: Final = "fails as printed"
OPEN: Final = "underspecified"

MECHANISMS = {
    "laplace": ["laplace_count", "laplace_difference_attack"],
    "exponential": ["exponential_median", "exponential_most_frequent"],
}
"""The mechanisms of section II-D that are audited for a check."""
LEARNERS = {
    "bayes_input": ["beta_bernoulli_input"],
    "bayes_output": ["beta_bernoulli_output"],
    "bayes_divergence": ["beta_bernoulli_hellinger"],
    "naive_bayes": ["naive_bayes"],
    "linear_regression": ["posterior_sampling", "posterior_sampling_adaptive"],
    "kernel_svm": ["kernel_svm"],
}
"""The learners of section III that are audited for a check."""
NAMED = {
    "decision_tree": ["decision_tree"],
    "k_means": ["k_means"],
    "linear_svm": ["output_perturbation_hinge"],
    "logistic_regression": ["output_perturbation", "objective_perturbation_cms11"],
    "feature_selection": ["feature_selection"],
}
"""The learners that were assumed where the survey gives a name alone."""


def people(inside: float, outside: float) -> dict[str, float]:
    """The numbers of the four people: cities that remain without a release, in Los Angeles and outside."""
    return {"published_in": 1.0, "published_out": 0.0, "withheld_in": inside, "withheld_out": outside}


def apart(*values: float) -> dict[str, float]:
    """The distances of the outputs on neighbours, by epsilon."""
    return {f"{epsilon:g}": value for epsilon, value in zip(EPSILONS, values, strict=True)}


def smooth(excess: float, stretch: float) -> dict[str, float]:
    """The excess over the local sensitivity, and the growth between neighbours in units of beta."""
    return {
        "least_excess_symmetric_difference": excess,
        "stretch_symmetric_difference": stretch,
        "least_excess_exchanged": 0.0,
        "stretch_exchanged": 1.0,
    }


def efficiency(vanishing: float, growing: float) -> dict[str, float]:
    """The squared distances at the largest size, for both rates of epsilon; 10 at the smaller sizes."""
    last = dict(zip(RATES, (vanishing, growing), strict=True))
    return {f"{name} {n}": last[name] if n == SIZES[-1] else 10.0 for name in RATES for n in SIZES}


CASES: list[tuple[str, dict[str, float], dict[str, float], Outcome]] = [
    ("identifiers", {"unnamed": 0.6, "blind": 0.2}, {"margin": 0.1}, HOLDS),
    ("identifiers", {"unnamed": 0.2, "blind": 0.2}, {"margin": 0.1}, FAILS),
    ("background", {"spent": math.inf, "success": 1.0}, {"largest epsilon": 10, "sure": 0.99}, HOLDS),
    ("background", {"spent": 1.0, "success": 1.0}, {"largest epsilon": 10, "sure": 0.99}, FAILS),
    ("background", {"spent": math.inf, "success": 0.5}, {"largest epsilon": 10, "sure": 0.99}, FAILS),
    ("grouped", {"by_diagnosis": 2.0, "by_the_others": 2.0}, {"diversity": 2}, HOLDS),
    ("grouped", {"by_diagnosis": 1.0, "by_the_others": 2.0}, {"diversity": 2}, FAILS),
    ("four_people", people(1.0, 0.0), {}, HOLDS),
    ("four_people", people(0.0, 2.0), {}, FAILS),
    ("four_people", people(1.0, 1.0), {}, FAILS),
    ("neighbours", {"deleted": 1.0, "exchanged": 1.0}, SLACK, HOLDS),
    ("neighbours", {"deleted": 1.0, "exchanged": 2.0}, SLACK, OPEN),
    ("subtraction", {"up_to": 1.0, "before": 1.0}, {"sure": 1}, HOLDS),
    ("subtraction", {"up_to": 1.0, "before": 0.5}, {"sure": 1}, OPEN),
    ("subtraction", {"up_to": 0.7, "before": 0.5}, {"sure": 1}, FAILS),
    ("same_probability", {"0.01": 1.01, "0.1": 1.05}, {"almost": 0.1}, HOLDS),
    ("same_probability", {"0.01": 1.01, "1.099": 3.0}, {"almost": 0.1}, OPEN),
    ("same_probability", {"0.01": 1.5, "1.099": 3.0}, {"almost": 0.1}, FAILS),
    ("difference_attack", {"success at 1": 0.6, "success at 5": 0.7}, {"sure": 0.75}, HOLDS),
    ("difference_attack", {"success at 1": 0.6, "success at 5": 0.9}, {"sure": 0.75}, OPEN),
    ("difference_attack", {"success at 1": 0.8, "success at 5": 0.9}, {"sure": 0.75}, FAILS),
    ("smaller_epsilon", apart(0.8, 0.5, 0.1, 0.01, 0.0), SAME, HOLDS),
    ("smaller_epsilon", apart(0.8, 0.5, 0.1, 0.01, 0.005), SAME, FAILS),
    ("smaller_epsilon", apart(0.8, 0.9, 0.1, 0.01, 0.0), SAME, FAILS),
    ("count_sensitivity", {"count": 1.0}, SAME, HOLDS),
    ("count_sensitivity", {"count": 2.0}, SAME, FAILS),
    ("mean_and_median", {"count": 1.0, "mean": 2.0, "median": 10.0}, {"range": 100}, HOLDS),
    ("mean_and_median", {"count": 1.0, "mean": 0.2, "median": 1.0}, {"range": 100}, OPEN),
    ("mean_and_median", {"count": 1.0, "mean": 0.001, "median": 1.0}, {"range": 100}, FAILS),
    ("local_definition", {"global": 1.0, "printed": 0.3, "least_with_x_fixed": 0.0}, SAME, HOLDS),
    ("local_definition", {"global": 1.0, "printed": 1.0, "least_with_x_fixed": 0.0}, SAME, FAILS),
    ("local_is_smaller", {"count": 0.2, "median": 0.3}, {"much smaller": 0.5}, HOLDS),
    ("local_is_smaller", {"count": 1.0, "median": 0.3}, {"much smaller": 0.5}, OPEN),
    ("local_is_smaller", {"count": 1.0, "median": 0.9}, {"much smaller": 0.5}, FAILS),
    ("equation_4", {"largest_gap": 0.0}, SAME, HOLDS),
    ("equation_4", {"largest_gap": 0.5}, SAME, FAILS),
    ("local_noise", {"pairs": 10.0, "log_ratio": 20.0}, {"largest epsilon": 10}, HOLDS),
    ("local_noise", {"pairs": 0.0, "log_ratio": 0.0}, {"largest epsilon": 10}, FAILS),
    ("smooth_upper", smooth(0.0, 2.0), SAME, HOLDS),
    ("smooth_upper", smooth(-0.1, 2.0), SAME, FAILS),
    ("smooth_stretch", smooth(0.0, 1.0), SLACK, HOLDS),
    ("smooth_stretch", smooth(0.0, 2.0), SLACK, FAILS),
    ("smooth_noise", {"share_at_10": 0.5, "share_at_1000": 0.9, "share_of_quartic": 0.4}, SLACK, HOLDS),
    ("smooth_noise", {"share_at_10": 0.5, "share_at_1000": 90.0, "share_of_quartic": 0.4}, SLACK, OPEN),
    ("smooth_noise", {"share_at_10": 0.5, "share_at_1000": 90.0, "share_of_quartic": 1.4}, SLACK, FAILS),
    ("parallel", {"share": 1.0, "share_deleted": 1.0}, PRIVATE, HOLDS),
    ("parallel", {"share": 0.5, "share_deleted": 0.5}, PRIVATE, LOOSELY),
    ("parallel", {"share": 2.0, "share_deleted": 1.0}, PRIVATE, FAILS),
    ("sequential", {"share": 1.0}, PRIVATE, HOLDS),
    ("sequential", {"share": 0.5}, PRIVATE, LOOSELY),
    ("sequential", {"share": 1.2}, PRIVATE, FAILS),
    ("laplace_norm", {"L1": 1.0, "L2": 1.0}, SLACK, HOLDS),
    ("laplace_norm", {"L1": 1.0, "L2": 1.41}, SLACK, OPEN),
    ("laplace_norm", {"L1": 1.2, "L2": 1.41}, SLACK, FAILS),
    ("noise_grows", {"0.01": 100.0, "0.1": 10.0}, {}, HOLDS),
    ("noise_grows", {"0.01": 1.0, "0.1": 10.0}, {}, FAILS),
    ("exponential_probability", {"sum": 1.0, "proportional": 1.0}, SAME, HOLDS),
    ("exponential_probability", {"sum": 22.0, "proportional": 1.0}, SAME, FAILS),
    ("efficiency", efficiency(0.01, 0.1), {"efficient": 0.1}, HOLDS),
    ("efficiency", efficiency(1e6, 0.1), {"efficient": 0.1}, FAILS),
    ("useless", {"1000": 1.6, "100000": 0.5}, {"useful": 0.01}, HOLDS),
    ("useless", {"1000": 1.6, "100000": 0.001}, {"useful": 0.01}, FAILS),
    *((name, {"share": 1.0}, PRIVATE, HOLDS) for name in (*MECHANISMS, *LEARNERS)),
    *((name, {"share": 0.5}, PRIVATE, LOOSELY) for name in (*MECHANISMS, *LEARNERS)),
    *((name, {"share": 1.2}, PRIVATE, FAILS) for name in (*MECHANISMS, *LEARNERS)),
    *((name, {"share": 1.0}, SLACK, OPEN) for name in NAMED),
    *((name, {"share": 1.2}, SLACK, FAILS) for name in NAMED),
]
