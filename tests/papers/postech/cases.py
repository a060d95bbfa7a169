"""Numbers that lead each claim of postech to each of its outcomes."""

from __future__ import annotations

import math

from epsilometer.papers.claim import Outcome
from epsilometer.papers.postech.claims.s2_randomised_response import EXTREMES_AND_COINS
from epsilometer.papers.postech.claims.s7_privacy_guarantee import WIDTHS

Numbers = dict[str, float]
SLACK = {"slack": 1e-9}
PRIVATE = {"slack": 1e-9, "tight": 0.9}
COVERED = {"confidence": 0.999, "loose": 0.1}
SAME = {"same": 1e-12}


def kept(within: float, factor: float) -> Numbers:
    """A coverage of 1,000 runs at level 0.95."""
    return {"within, a": within, "runs, a": 1000.0, "level, a": 0.95, "factor, a": factor}


def strategies(*values: float) -> Numbers:
    """Epsilons and bits at the three gammas."""
    names = [f"{name}_at_{gamma:g}" for name in ("epsilon", "bits") for gamma in EXTREMES_AND_COINS]
    return dict(zip(names, values, strict=True))


def widths(*values: float) -> Numbers:
    names = [f"{name}_at_{width:g}" for name in ("least_epsilon", "share") for width in WIDTHS]
    return dict(zip(names, values, strict=True))


def rebecca(by_age: float, by_both: float) -> Numbers:
    successes = {"success_by_age": 0.25, "success_by_age_and_gender": 0.5}
    return {"left_by_age": by_age, "left_by_age_and_gender": by_both, **successes}


def ratios(*values: float) -> Numbers:
    names = [f"truth_{truth}_answer_{answer}" for truth in (0, 1) for answer in (0, 1)]
    return dict(zip(names, values, strict=True))


def conflict(deviation: float, error: float) -> Numbers:
    """What 0.1 costs beside 1 and 3."""
    deviations = {"deviation_at_0.1": deviation, "deviation_at_1": 1.0, "deviation_at_3": 0.2}
    return deviations | {
        f"{name} at the {end}": value
        for name in ("algorithm1", "cms11")
        for end, value in (("smallest", error), ("largest", 0.0))
    }


def cells(*leads: float) -> Numbers:
    """Algorithm 2's lead in cells of five folds."""
    numbered = {f"lead, {place}": lead for place, lead in enumerate(leads)}
    return {"folds": 5.0, **numbered, **{name.replace("lead", "left"): 0.5 for name in numbered}}


BETTER = {"standard errors": 4.0, "confidence": 0.95}
HOLDS: Outcome = "holds"
LOOSELY: Outcome = "holds, loosely"
FAILS: Outcome = "fails as printed"
OPEN: Outcome = "underspecified"
CASES: list[tuple[str, Numbers, Numbers, Outcome]] = [
    ("rebecca", rebecca(2, 1), {"diseases": 2}, HOLDS),
    ("rebecca", rebecca(4, 2), {"diseases": 2}, OPEN),
    ("rebecca", rebecca(4, 3), {"diseases": 2}, FAILS),
    ("tables_leak", {"named": 1.0, "unnamed": 0.6, "blind": 0.2}, {"margin": 0.1}, HOLDS),
    ("tables_leak", {"named": 1.0, "unnamed": 0.25, "blind": 0.2}, {"margin": 0.1}, FAILS),
    ("coins", {"kept_if_yes": 0.75, "kept_if_no": 0.75}, SAME, HOLDS),
    ("coins", {"kept_if_yes": 0.75, "kept_if_no": 0.5}, SAME, FAILS),
    ("gammas", strategies(0.0, 1.1, math.inf, 0.0, 0.2, 1.0), {"same": 1e-12, "informative": 0.01}, HOLDS),
    ("gammas", strategies(0.0, 1.1, math.inf, 0.0, 0.0, 1.0), {"same": 1e-12, "informative": 0.01}, FAILS),
    ("gammas", strategies(0.0, 1.1, 5.0, 0.0, 0.2, 1.0), {"same": 1e-12, "informative": 0.01}, FAILS),
    ("learns_nothing", {"posterior": 0.5, "deviation": 0.1}, SLACK, HOLDS),
    ("learns_nothing", {"posterior": 0.75, "deviation": 0.1}, SLACK, FAILS),
    ("expectation", {"error": 1e-16}, SAME, HOLDS),
    ("expectation", {"error": 1e-3}, SAME, FAILS),
    ("unbiased", {"error": 1e-16}, SAME, HOLDS),
    ("unbiased", {"error": 1e-3}, SAME, FAILS),
    ("ln_3", {"share": 1.0, "spent": 1.0986}, PRIVATE, HOLDS),
    ("ln_3", {"share": 0.5, "spent": 0.5}, PRIVATE, LOOSELY),
    ("ln_3", {"share": 1.1, "spent": 1.2}, PRIVATE, FAILS),
    ("any_gamma", {"0.1": 0.4, "0.25": 1.0, "0.4": 1.05}, SLACK, HOLDS),
    ("any_gamma", {"0.1": 0.4, "0.25": 1.0, "0.4": 2.2}, SLACK, OPEN),
    ("any_gamma", {"0.1": 0.4, "0.25": 1.2, "0.4": 2.2}, SLACK, FAILS),
    ("largest_at_one", ratios(1 / 3, 3, 1 / 3, 3), {}, HOLDS),
    ("largest_at_one", ratios(3, 1 / 3, 1 / 3, 3), {}, FAILS),
    ("single_outputs", {"of_an_output": 0.5, "of_a_set": 0.5}, SLACK, HOLDS),
    ("single_outputs", {"of_an_output": 0.001, "of_a_set": 1.0}, SLACK, FAILS),
    ("neighbours", {"removed": 1.0, "exchanged": 1.0}, SLACK, HOLDS),
    ("neighbours", {"removed": 1.0, "exchanged": 2.0}, SLACK, OPEN),
    ("neighbours", {"removed": 1.5, "exchanged": 2.0}, SLACK, FAILS),
    ("small_epsilon", {"0.1": 0.025, "0.01": 0.0025, "0.001": 0.00025}, {"advantage": 0.001}, HOLDS),
    ("small_epsilon", {"0.1": 0.025, "0.01": 0.02, "0.001": 0.015}, {"advantage": 0.001}, FAILS),
    ("contains_one", {"first": 0.5, "second": 0.5, "randomised": 1.1}, SLACK, HOLDS),
    ("contains_one", {"first": 1.0, "second": 0.0, "randomised": 1.1}, SLACK, FAILS),
    ("laplace_notation", {"centred": 1.0, "around_the_answer": 1.0}, SLACK, HOLDS),
    ("laplace_notation", {"centred": 1.0, "around_the_answer": 2.0}, SLACK, OPEN),
    ("laplace_notation", {"centred": 1.4, "around_the_answer": 2.0}, SLACK, FAILS),
    ("laplace", {"share": 1.0}, PRIVATE, HOLDS),
    ("laplace", {"share": 1.41}, PRIVATE, FAILS),
    ("gaussian", {"share": 0.98, "share_in_table": 0.7}, PRIVATE, HOLDS),
    ("gaussian", {"share": 0.7, "share_in_table": 0.7}, PRIVATE, LOOSELY),
    ("gaussian", {"share": 1.1, "share_in_table": 0.7}, PRIVATE, FAILS),
    ("gaussian_range", {"1e-05": 1.05, "0.9": 1.01}, {"stated": 1, "loose": 0.1}, HOLDS),
    ("gaussian_range", {"1e-05": 8.0, "0.9": 4.0}, {"stated": 1, "loose": 0.1}, LOOSELY),
    ("gaussian_range", {"1e-05": 8.0, "0.9": 0.9}, {"stated": 1, "loose": 0.1}, FAILS),
    ("unique_minimum", {"least_curvature": 0.1, "largest_slope": 0.5}, {}, HOLDS),
    ("unique_minimum", {"least_curvature": 1e-13, "largest_slope": -1e-13}, {}, FAILS),
    ("strong_is_strict", {"least": 1.0}, SLACK, HOLDS),
    ("strong_is_strict", {"least": 0.0}, SLACK, FAILS),
    ("relaxed", {"share": 1.0}, SLACK, HOLDS),
    ("relaxed", {"share": 1.5}, SLACK, FAILS),
    (
        "erm",
        {"distance": 1.0, "distance_at_the_origin": 0.0, "bound": 9.0},
        {"distance": 1e-6, "largest epsilon": 5},
        HOLDS,
    ),
    (
        "erm",
        {"distance": 0.0, "distance_at_the_origin": 0.0, "bound": 0.0},
        {"distance": 1e-6, "largest epsilon": 5},
        FAILS,
    ),
    ("algorithm_1", {"share": 0.99}, PRIVATE, HOLDS),
    ("algorithm_1", {"share": 0.5}, PRIVATE, LOOSELY),
    ("algorithm_1", {"share": 1.01}, PRIVATE, FAILS),
    ("algorithm_2", {"share": 0.99}, PRIVATE, HOLDS),
    ("algorithm_2", {"share": 0.5}, PRIVATE, LOOSELY),
    ("algorithm_2", {"share": 1.01}, PRIVATE, FAILS),
    ("stronger_assumptions", widths(1.4, 4.8, 9.2, 1, 1, 1), {"slack": 1e-9, "grows": 0.1}, HOLDS),
    ("stronger_assumptions", widths(1.4, 1.4, 1.4, 1, 1, 1), {"slack": 1e-9, "grows": 0.1}, FAILS),
    ("stronger_assumptions", widths(1.4, 4.8, 9.2, 1, 1, 2), {"slack": 1e-9, "grows": 0.1}, FAILS),
    ("argmax", {"1": 0.7, "10": 0.8, "100": 0.8, "1000": 0.8}, {"growth": 2}, HOLDS),
    ("argmax", {"1": 0.7, "10": 2.0, "100": 60.0, "1000": 5000.0}, {"growth": 2}, FAILS),
    (
        "gradient_bound",
        {"steepest": 1.0, "within, ": 955.0, "runs, ": 1000.0, "level, ": 0.95},
        {"confidence": 0.999},
        HOLDS,
    ),
    (
        "gradient_bound",
        {"steepest": 1.0, "within, ": 100.0, "runs, ": 1000.0, "level, ": 0.95},
        {"confidence": 0.999},
        FAILS,
    ),
    ("lemma_1", kept(948, 1.0), COVERED, HOLDS),
    ("lemma_1", kept(999, 2.0), COVERED, LOOSELY),
    ("lemma_1", kept(800, 0.5), COVERED, FAILS),
    ("lemma_2", kept(948, 1.0), COVERED, HOLDS),
    ("lemma_2", kept(999, 2.0), COVERED, LOOSELY),
    ("lemma_2", kept(400, 0.1), COVERED, FAILS),
    ("lemma_2_two_beta", kept(999, 2.0), COVERED, LOOSELY),
    ("lemma_2_two_beta", kept(400, 0.1), COVERED, FAILS),
    ("better_bound", {"cases": 100.0, "wrong": 0.0}, {"wrong": 0}, HOLDS),
    ("better_bound", {"cases": 100.0, "wrong": 1.0}, {"wrong": 0}, FAILS),
    ("better_regret", {"preferred, a": 0.5, "error, a": 0.01}, {"standard errors": 4}, HOLDS),
    ("better_regret", {"preferred, a": 1.03, "error, a": 0.01}, {"standard errors": 4}, HOLDS),
    ("better_regret", {"preferred, a": 2.0, "error, a": 0.01, "rule, a": 2.0}, {"standard errors": 4}, FAILS),
    ("better_experiments", cells(6.0, -1.0), BETTER, HOLDS),
    ("better_experiments", cells(*[6.0] * 90, -6.0), BETTER, HOLDS),  # one of 91 happens
    ("better_experiments", cells(1.0, -1.0), BETTER, OPEN),
    ("better_experiments", cells(6.0, -6.0), BETTER, FAILS),
    ("better_experiments", cells(*[6.0] * 90, -6.0, -6.0, -6.0), BETTER, FAILS),
    ("conflict", conflict(10.0, 0.5), {"difference": 0.1}, HOLDS),
    ("conflict", conflict(0.5, 0.5), {"difference": 0.1}, FAILS),
    ("conflict", conflict(10.0, 0.05), {"difference": 0.1}, FAILS),
]
