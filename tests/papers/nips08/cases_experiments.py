"""Numbers that lead each claim of section 6 of nips08 to each of its outcomes."""

from __future__ import annotations

import math

from epsilometer.papers.claim import Outcome
from epsilometer.papers.nips08.claims.folds import CORRECTED

Numbers = dict[str, float]
CELLS = [f"{dataset}_{name}" for dataset in ("separable", "unseparable") for name in ("sensitivity", "new", "standard")]
LEVEL = {"confidence": 0.95}
NEAR = {"near chance": 0.05}
MOST = LEVEL | {"share": 0.5}
UNIFORM = {"norm": 1e-9, "significance": 0.001, "confidence": 0.99}
SPREAD = LEVEL | {"log10 chance": -6.0}

MEAN = {"mean": 0.31, "standard error": 0.003, "folds": 5.0, "printed": 0.30}  # the interval is 0.0118 either way
PRIVATE = {"epsilon": 0.02, "own epsilon": 0.03, "own low": 0.02, "own high": 0.04}
WIDE = {
    "printed mean": 0.2,
    "printed": 0.02,
    "folds": 5.0,
    "largest possible": 0.4,
    "lowest fold": 0.19,
    "log10 chance": 0.0,
    "over folds": 0.01,  # times 3.1, the root of the 97.5% quantile of F(4, 4), is 0.031
    "over restarts": 0.05,
}
EPSILON = {"epsilon": 0.02, "low": 0.019, "high": 0.021, "chi_square": 5.0, "p_value": 0.2, "separable, new": 0.02}
DESCRIBED = {
    "margin": 0.031,
    "records": 100.0,
    "dimension": 10.0,
    "largest deviation of a norm": 1e-16,
    "p-value of the offsets": 0.3,
    "p-value of the directions": 0.4,
}
NOISY = DESCRIBED | {
    "margin": 0.0,
    "records inside": 1000.0,
    "flipped inside": 205.0,
    "flipped outside": 0.0,
    "least error": 0.046,
    "error of standard regression": 0.049,
    "printed error": 0.053,
}
TUNED = {"loss": 0.001, "standard error": 0.001, "folds": 5.0, "best other": 0.1, "holdouts": 30.0}
RISES = {
    "sensitivity, at the smallest epsilon": 0.5,
    "sensitivity, at the largest epsilon": 0.1,
    "sensitivity, largest rise": 1.0,
    "sensitivity, steps": 10.0,
    "new, at the smallest epsilon": 0.5,
    "new, at the largest epsilon": 0.1,
    "new, largest rise": 2.0,
    "new, steps": 10.0,
}
FINAL = {
    "n": 14000.0,
    "sensitivity": 0.3,
    "new": 0.2,
    CORRECTED: 0.25,
    "difference": 0.1,
    "standard error": 0.01,
    "folds": 5.0,
}


def order(lead: float, corrected: float = 0.1) -> Numbers:
    return {
        "separable, sensitivity - new, mean": lead,
        "separable, sensitivity - new, standard error": 0.01,
        f"separable, sensitivity - {CORRECTED}, mean": corrected,
        f"separable, sensitivity - {CORRECTED}, standard error": 0.01,
        "folds": 5.0,
    }


def leads(*new: float) -> Numbers:
    """With five folds, a lead counts from 2.78 standard errors."""
    return {"folds": 5.0} | {f"{name} at {x}": lead for name in ("new", CORRECTED) for x, lead in enumerate(new, 1)}


def smallest(*differences: float) -> Numbers:
    """Three epsilons, two of them near chance; an interval of 0.0278 either way."""
    numbers = {"folds": 5.0, "pull": 2.0}
    for epsilon, error, difference in zip((0.001, 0.01, 1.0), (0.49, 0.46, 0.1), differences, strict=True):
        numbers |= {
            f"sensitivity at {epsilon}": error,
            f"difference at {epsilon}": difference,
            f"standard error at {epsilon}": 0.01,
        }
    return numbers


def tuned(chosen: float, **errors: float) -> Numbers:
    return TUNED | {"holdouts that choose it": chosen} | {f"error at {lam}": error for lam, error in errors.items()}


def shares(*values: float) -> Numbers:
    return {"assumed epsilon": 0.02} | {f"share at {10.0**power}": share for power, share in enumerate(values, -3)}


TWICE: list[tuple[float, float, Outcome]] = [
    (0.08, 0.0, "reproduced"),
    (0.01, 0.0, "not reproduced"),
    (0.08, -50.0, "fails as printed"),
]
TUNINGS: list[tuple[Numbers, Outcome]] = [
    (tuned(0.0, **{"0.001": 0.2, "0.01": 0.1, "0.1": 0.2}), "reproduced"),
    (tuned(0.0, **{"0.001": 0.2, "0.01": 0.1, "0.1": 0.1}), "underspecified"),
    (tuned(3.0, **{"0.001": 0.1, "0.01": 0.2, "0.1": 0.3}), "underspecified"),
    (tuned(0.0, **{"0.01": 0.1}), "underspecified"),
    ({"holdouts": 30.0, "holdouts that choose it": 0.0, "error at 0.001": 0.1, "error at 0.1": 0.3}, "underspecified"),
    (tuned(0.0, **{"0.001": 0.1, "0.01": 0.2, "0.1": 0.3}), "not reproduced"),
]
CASES: list[tuple[str, Numbers, Numbers, Outcome]] = [
    *(
        case
        for name in CELLS
        for case in (
            (f"figure_1_mean_{name}", MEAN | (PRIVATE if not name.endswith("standard") else {}), LEVEL, "reproduced"),
            (f"figure_1_mean_{name}", MEAN | {"mean": 0.313}, LEVEL, "not reproduced"),
            (f"figure_1_mean_{name}", MEAN | PRIVATE | {"mean": 0.287}, LEVEL, "not reproduced"),
            (f"figure_1_spread_{name}", WIDE, SPREAD, "reproduced"),
            (f"figure_1_spread_{name}", WIDE | {"printed": 0.04}, SPREAD, "not reproduced"),
            (f"figure_1_spread_{name}", WIDE | {"printed": 0.002}, SPREAD, "not reproduced"),
            (f"figure_1_spread_{name}", WIDE | {"printed": 0.41}, SPREAD, "fails as printed"),
            (f"figure_1_spread_{name}", WIDE | {"log10 chance": -7.0}, SPREAD, "fails as printed"),
        )
    ),
    ("figure_1_spread_kind", {"over folds": 1.4, "over restarts": 1.2}, {"factor": 1.5}, "reproduced"),
    ("figure_1_spread_kind", {"over folds": 1.6, "over restarts": 1.2}, {"factor": 1.5}, "not reproduced"),
    *(
        (
            "figure_1_spread_twice",
            {
                "printed": 0.1,
                "new method": 0.1,
                "standard regression": measured,
                "chance of agreement": 0.001,
                "log10 chance": chance,
            },
            {"factor": 1.5, "log10 chance": -6.0},
            outcome,
        )
        for measured, chance, outcome in TWICE
    ),
    ("figure_1_order", order(0.03), LEVEL, "reproduced"),
    ("figure_1_order", order(0.03, corrected=-0.1), LEVEL, "reproduced"),
    ("figure_1_order", order(0.02), LEVEL, "not reproduced"),
    ("figure_1_epsilon", EPSILON, {"widest": 1.25}, "underspecified"),
    ("figure_1_epsilon", EPSILON | {"high": math.inf}, {"widest": 1.25}, "not reproduced"),
    ("figure_1_epsilon", EPSILON | {"low": 0.0}, {"widest": 1.25}, "not reproduced"),
    ("figure_1_one_epsilon", EPSILON, {"significance": 0.05}, "reproduced"),
    ("figure_1_one_epsilon", EPSILON | {"p_value": 0.01}, {"significance": 0.05}, "not reproduced"),
    *(
        (f"tuned_lambda_{dataset}", numbers, LEVEL | {"chance": 0.1}, outcome)
        for dataset in ("separable", "unseparable")
        for numbers, outcome in TUNINGS
    ),
    ("data_separable", DESCRIBED, UNIFORM, "reproduced"),
    ("data_separable", DESCRIBED | {"margin": 0.029}, UNIFORM, "not reproduced"),
    ("data_separable", DESCRIBED | {"largest deviation of a norm": 0.1}, UNIFORM, "not reproduced"),
    ("data_separable", DESCRIBED | {"p-value of the offsets": 1e-4}, UNIFORM, "not reproduced"),
    ("data_unseparable", NOISY, UNIFORM, "reproduced"),
    ("data_unseparable", NOISY | {"margin": 0.01}, UNIFORM, "not reproduced"),
    ("data_unseparable", NOISY | {"flipped inside": 260.0}, UNIFORM, "not reproduced"),
    ("data_unseparable", NOISY | {"flipped outside": 1.0}, UNIFORM, "not reproduced"),
    ("data_unseparable", NOISY | {"printed error": 0.045}, UNIFORM, "not reproduced"),
    ("data_angle", {"records": 10.0, "changed": 0.0, "changed by training": 3.0}, {"share": 0.0}, "holds"),
    ("data_angle", {"records": 10.0, "changed": 1.0, "changed by training": 3.0}, {"share": 0.0}, "fails as printed"),
    *(
        case
        for letter in "ab"
        for case in (
            (f"figure_2{letter}_final", FINAL, LEVEL, "reproduced"),
            (f"figure_2{letter}_final", FINAL | {"difference": 0.02}, LEVEL, "not reproduced"),
            (f"figure_2{letter}_sizes", leads(3.0, 3.0, -3.0), MOST, "reproduced"),
            (f"figure_2{letter}_sizes", leads(3.0, 2.0, 2.0), MOST, "not reproduced"),
        )
    ),
    *(
        case
        for letter in "cd"
        for case in (
            (f"figure_2{letter}_majority", leads(3.0, math.inf, 0.0), MOST, "reproduced"),
            (f"figure_2{letter}_majority", leads(3.0, 0.0), MOST, "not reproduced"),
            (f"figure_2{letter}_degrades", RISES, LEVEL, "reproduced"),
            (f"figure_2{letter}_degrades", RISES | {"new, largest rise": 5.0}, LEVEL, "not reproduced"),
            (f"figure_2{letter}_degrades", RISES | {"new, at the largest epsilon": 0.5}, LEVEL, "not reproduced"),
            (f"figure_2{letter}_smallest", smallest(-0.03, -0.03, 0.5), LEVEL | NEAR, "reproduced"),
            (f"figure_2{letter}_smallest", smallest(-0.05, 0.04, 0.5), LEVEL | NEAR, "reproduced"),
            (f"figure_2{letter}_smallest", smallest(-0.02, -0.02, -0.5), LEVEL | NEAR, "not reproduced"),
            (f"figure_2{letter}_smallest", smallest(-0.5, -0.5, -0.5), LEVEL | {"near chance": 0.001}, "not reproduced"),
            (f"figure_2{letter}_chance", smallest(0.0, 0.0, 0.0), NEAR, "reproduced"),
            (f"figure_2{letter}_chance", {**smallest(0.0, 0.0, 0.0), "sensitivity at 0.001": 0.4}, NEAR, "not reproduced"),
        )
    ),
    ("simulations_superior", leads(3.0, 3.0, 0.0), MOST, "reproduced"),
    ("simulations_superior", leads(3.0, -3.0), MOST, "not reproduced"),
    ("cost_not_terrible", shares(0.4, 0.2, 0.1), {"share": 0.5}, "reproduced"),
    ("cost_not_terrible", shares(0.9, 0.3, 0.1), {"share": 0.5}, "underspecified"),
    ("cost_not_terrible", shares(0.9, 0.8, 0.7), {"share": 0.5}, "not reproduced"),
    ("cost_inevitable", {"a, free from": math.inf, "a, least excess": 0.1}, {}, "holds"),
    ("cost_inevitable", {"a, free from": 2.0, "a, least excess": 0.0}, {}, "fails as printed"),
]
