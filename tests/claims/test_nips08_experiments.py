"""The experiments of nips08: every check decides both ways, measures what is there, and follows the tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from epsilometer.claims.ledger import Decision, Evidence, Outcome
from epsilometer.claims.nips08.experiments import (
    CELLS,
    CHECKS,
    REPAIRED,
    Folds,
    bayes_error,
    curve,
    decide_mean,
    decide_spread,
    largest_spread,
    lowest_fold,
    pull_ratio,
    uniform_directions,
    widest_margin,
)
from epsilometer.core import LabelledData, read_table, write_table
from epsilometer.data.prepare import prepare_dataset
from epsilometer.data.synthetic import separable, unseparable
from epsilometer.experiments.nips08 import PRINTED, error_summary

Numbers = dict[str, float]
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
    REPAIRED: 0.25,
    "difference": 0.1,
    "standard error": 0.01,
    "folds": 5.0,
}


def order(lead: float, repaired: float = 0.1) -> Numbers:
    return {
        "separable, sensitivity - new, mean": lead,
        "separable, sensitivity - new, standard error": 0.01,
        f"separable, sensitivity - {REPAIRED}, mean": repaired,
        f"separable, sensitivity - {REPAIRED}, standard error": 0.01,
        "folds": 5.0,
    }


def leads(*new: float) -> Numbers:
    """With five folds, a lead counts from 2.78 standard errors."""
    return {"folds": 5.0} | {f"{name} at {x}": lead for name in ("new", REPAIRED) for x, lead in enumerate(new, 1)}


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
Case = tuple[str, Numbers, Numbers, Outcome]
CASES: list[Case] = [
    *(
        case
        for name, (_, method) in CELLS.items()
        for case in (
            (f"figure_1_mean_{name}", MEAN | (PRIVATE if method != "standard" else {}), LEVEL, "reproduced"),
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
    ("figure_1_order", order(0.03, repaired=-0.1), LEVEL, "reproduced"),
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


@pytest.mark.parametrize(("check", "numbers", "tolerances", "outcome"), CASES)
def test_each_check_decides_by_its_numbers(check: str, numbers: Numbers, tolerances: Numbers, outcome: Outcome) -> None:
    assert CHECKS[check].decide(numbers, tolerances).outcome == outcome


def test_every_check_has_a_case_on_each_side() -> None:
    outcomes: dict[str, set[Outcome]] = {}
    for check, _, _, outcome in CASES:
        outcomes.setdefault(check, set()).add(outcome)
    assert set(outcomes) == set(CHECKS)
    assert min(map(len, outcomes.values())) >= 2


# The mathematics


def test_the_interval_of_a_difference_has_its_coverage() -> None:
    """Two means over five folds with the same truth differ by more than the interval in about 5% of cases.

    Only our own spread is known, so that coverage is exactly that of Student's t. 4000 repetitions: the share outside is
    within 0.05 +- 0.016 but for a chance of 4e-6.
    """
    rng = np.random.default_rng(1)
    ours, theirs = rng.normal(0.3, 0.01, (2, 4000, 5))
    outside = 0
    for mine, printed in zip(ours, theirs, strict=True):
        error = np.std(mine, ddof=1) / math.sqrt(5)
        numbers = {"mean": mine.mean(), "standard error": error, "folds": 5.0, "printed": printed.mean()}
        outside += decide_mean(numbers, LEVEL).outcome == "not reproduced"
    assert outside / 4000 == pytest.approx(0.05, abs=0.016)


def test_the_interval_of_a_spread_has_its_coverage() -> None:
    """As above, for two standard deviations over five folds."""
    rng = np.random.default_rng(2)
    spreads = np.std(rng.normal(0.3, 1.0, (2, 4000, 5)), ddof=1, axis=2)
    possible = WIDE | {"largest possible": 100.0}
    outside = sum(
        decide_spread(possible | {"over folds": mine, "printed": printed}, SPREAD).outcome == "not reproduced"
        for mine, printed in spreads.T
    )
    assert outside / 4000 == pytest.approx(0.05, abs=0.016)


def test_a_paired_comparison_is_students() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.normal(0.3, 0.01, (2, 5))
    still = Folds(first, np.zeros(5)).minus(Folds(second, np.zeros(5)))
    assert still.student == pytest.approx(stats.ttest_rel(first, second).statistic)
    noisy = Folds(first, np.full(5, 0.02)).minus(Folds(second, np.full(5, 0.03)))
    assert noisy.standard_error == pytest.approx(0.1)  # sqrt(5 (0.02 + 0.03))/5, more than the folds suggest
    assert Folds(np.zeros(5), np.zeros(5)).student == 0
    assert Folds(np.full(5, -0.25), np.zeros(5)).student == -math.inf


def test_no_errors_have_a_larger_spread_or_a_higher_lowest_fold() -> None:
    rng = np.random.default_rng(4)
    for mean, folds in ((0.05, 5), (0.2962, 5), (0.6, 3)):
        drawn = rng.dirichlet(np.full(folds, 0.3), 2000) * mean * folds
        drawn = drawn[drawn.max(axis=1) <= 1]
        spreads = drawn.std(axis=1, ddof=1)
        assert len(spreads) > 10
        assert spreads.max() <= largest_spread(mean, folds) + 1e-12
        assert np.all(drawn.min(axis=1) <= [lowest_fold(mean, spread, folds) + 1e-12 for spread in spreads])
    extreme = np.array([1, 0.5, 0, 0, 0])  # both bounds are attained
    assert largest_spread(0.3, 5) == pytest.approx(extreme.std(ddof=1))
    single = np.array([0.5, 0, 0, 0, 0])
    assert lowest_fold(0.1, float(single.std(ddof=1)), 5) == pytest.approx(0)


def test_the_least_error_is_the_flipped_share_of_the_band() -> None:
    """By quadrature: a coordinate on the sphere in ten dimensions has a density proportional to (1 - u^2)^(7/2)."""
    band, whole = (integrate.quad(lambda u: (1 - u * u) ** 3.5, 0, top)[0] for top in (0.1, 1))
    assert bayes_error("unseparable") == pytest.approx(0.2 * band / whole, rel=1e-9)
    assert bayes_error("separable") == 0


def test_the_widest_margin_of_an_arc_is_the_cosine_of_its_half() -> None:
    angles = np.random.default_rng(5).uniform(-1.2, 1.1, 200)
    points = np.column_stack([np.cos(angles), np.sin(angles)])
    normal, margin = widest_margin(points)
    assert margin == pytest.approx(math.cos((angles.max() - angles.min()) / 2), rel=1e-9)
    assert margin == pytest.approx((points @ normal).min())
    assert np.linalg.norm(normal) == pytest.approx(1)
    assert widest_margin(np.vstack([points, -points[:1]]))[1] == 0


def test_uniform_directions_are_not_suspected_and_others_are() -> None:
    """At most one in twenty p-values is below 0.05: of 2000, at most 130 but for a chance of 1e-3 (they number about 98)."""
    rng = np.random.default_rng(8)
    drawn = rng.standard_normal((2000, 300, 4))
    drawn /= np.linalg.norm(drawn, axis=2, keepdims=True)
    p_values = np.array([uniform_directions(directions, 4) for directions in drawn])
    assert 60 <= (p_values < 0.05).sum() <= 130
    pooled = drawn.reshape(-1, 4)[:20_000]
    assert uniform_directions(pooled[pooled[:, 0] > -0.9], 4) < 1e-3  # a direction
    assert uniform_directions(pooled[np.abs(pooled[:, 0]) < 0.9], 4) < 1e-3  # an axis


def test_the_widest_margin_of_the_paper_s_data() -> None:
    assert widest_margin(separable(3000, np.random.default_rng(6)).signed)[1] >= 0.03
    assert widest_margin(unseparable(3000, np.random.default_rng(6)).signed)[1] == 0


def test_the_pull_in_one_dimension() -> None:
    """There the new method is wrong with probability exp(-n eps g/4)/2 and Algorithm 1 with exp(-n eps lam w*/2)/2.

    Algorithm 2 errs where b > n g/2, by the gradient at 0; Algorithm 1 where the noise is below -w*.
    """
    data = LabelledData(np.array([[1.0], [0.4], [0.7]]), np.array([1.0, 1.0, -1.0]))
    z, lam = data.signed[:, 0], 0.05
    minimum = optimize.brentq(lambda w: lam * w - np.mean(z / (1 + np.exp(z * w))), -50, 50)
    n, epsilon = 3, 1e-7
    advantages = [-math.expm1(-n * epsilon * rate) / 2 for rate in (z.mean() / 4, lam * minimum / 2)]
    assert pull_ratio(data, lam) == pytest.approx(advantages[0] / advantages[1], rel=1e-6)


# Measuring


SIZES, EPSILONS = (100, 200, 300), (0.001, 0.1, 10.0)
ERRORS = {"standard": 0.0, "algorithm1": 0.3, "algorithm2": 0.2, "cms11": 0.25}
TILT = np.array([-2, -1, 0, 1, 2]) * 0.001  # of the five folds, the same for every method
SPREAD_OF_TILT = 0.001 * math.sqrt(2.5)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of results with known numbers: at the paper's errors, or at ERRORS, tilted from fold to fold."""
    folder = tmp_path_factory.mktemp("results")
    for dataset in ("separable", "unseparable"):
        prepare_dataset(dataset, folder / f"dataset/{dataset}.csv", points=3000, holdout=100, folds=5, seed=7, csv=None)
        write_table(folder / f"error_table/{dataset}.csv", figure_1(dataset))
        write_table(folder / f"learning_curve/{dataset}.csv", curves(dataset, "n", SIZES))
        write_table(folder / f"epsilon_curve/{dataset}.csv", curves(dataset, "epsilon", EPSILONS))
        write_table(folder / f"tuning/{dataset}.csv", tuning(dataset))
    write_table(folder / "recovered_epsilon/nips08.csv", recovered())
    error_summary([folder / f"error_table/{name}.csv" for name in ("separable", "unseparable")], folder / SUMMARY)
    return folder


SUMMARY = "error_summary/nips08.csv"


def figure_1(dataset: str) -> list[dict[str, Any]]:
    rows = []
    for method in ERRORS:
        mean = PRINTED.get((dataset, method), (0.25, 0.0))[0]
        for fold in range(5):
            for restart in range(1 if method == "standard" else 4):
                tilt = TILT[fold] if mean else 0.0
                error = mean + tilt + (0.0 if method == "standard" else (-1) ** restart * 0.002)
                rows.append(
                    {"dataset": dataset, "method": method, "epsilon": 0.02, "lam": 0.01, "fold": fold, "error": error}
                )
    return rows


def curves(dataset: str, along: str, points: tuple[float, ...]) -> list[dict[str, Any]]:
    """Errors go down by a factor at each point, from ERRORS at the second; the standard one is flat."""
    rows = []
    for method, error in ERRORS.items():
        for step, x in enumerate(points):
            if method == "standard" and along == "epsilon" and step:
                continue
            factor = 1.0 if method == "standard" else (1.55, 1.0, 0.1)[step]
            for fold in range(5):
                place = {"epsilon": math.nan if method == "standard" else x} if along == "epsilon" else {along: x}
                spread = 0.0 if method == "standard" else 0.001
                rows.append(
                    {"dataset": dataset, "method": method, **place, "fold": fold, "restarts": 4, "records": 600}
                    | {"error": factor * error + (TILT[fold] if error else 0), "sd_restarts": spread}
                )
    return rows


def tuning(dataset: str) -> list[dict[str, Any]]:
    errors = {0.001: 0.2, 0.01: 0.1, 0.1: 0.3}
    return [
        {"dataset": dataset, "lam": lam, "fold": fold, "records": 100, "error": error}
        for lam, error in errors.items()
        for fold in range(5)
    ]


def recovered() -> list[dict[str, Any]]:
    cells = [*(cell for cell in PRINTED if cell[1] != "standard"), ("all four", "all four")]
    shared = {"epsilon": 0.02, "low": 0.019, "high": 0.021, "chi_square": 3.0, "p_value": 0.4}
    return [{"dataset": dataset, "method": method} | shared for dataset, method in cells]


Row = dict[str, Any]


def altered(tables: Path, folder: Path, name: str, change: Callable[[Row], Row | None]) -> Evidence:
    """The same results but for one table, whose rows are changed or left out."""
    for path in tables.rglob("*.csv"):
        target = folder / path.relative_to(tables)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(path.read_text())
    rows = [change(dict(row)) for row in read_table(folder / f"{name}.csv")]
    write_table(folder / f"{name}.csv", [row for row in rows if row is not None])
    if name.startswith("error_table"):
        error_summary([folder / f"error_table/{each}.csv" for each in ("separable", "unseparable")], folder / SUMMARY)
    return Evidence(folder, 7)


def decided(check: str, evidence: Evidence, tolerances: Numbers) -> Decision:
    return CHECKS[check].decide(CHECKS[check].measure(evidence).numbers, tolerances)


def swapped(row: Row) -> Row:
    """The two methods in each other's place."""
    other = {"algorithm1": "algorithm2", "algorithm2": "algorithm1"}
    return row | {"method": other.get(row["method"], row["method"])}


def setting(column: str, value: Any, **where: Any) -> Callable[[Row], Row]:
    """Put a value, or what a function makes of the old one, into the rows that match."""

    def change(row: Row) -> Row:
        if any(row[name] != wanted for name, wanted in where.items()):
            return row
        return row | {column: value(row) if callable(value) else value}

    return change


def tilted_by(factor: float) -> Callable[[Row], float]:
    return lambda row: row["error"] + (factor - 1) * float(TILT[row["fold"]])


FLIPS: list[tuple[str, Numbers, Outcome, str, Callable[[Row], Row | None], Outcome]] = [
    (
        "figure_1_mean_unseparable_new",
        LEVEL,
        "reproduced",
        "error_table/unseparable",
        setting("error", lambda row: row["error"] + 0.02, method="algorithm2"),
        "not reproduced",
    ),
    (
        "figure_1_mean_separable_standard",
        LEVEL,
        "reproduced",
        "error_table/separable",
        setting("error", 0.01, method="standard"),
        "not reproduced",
    ),
    (
        "figure_1_spread_unseparable_new",
        SPREAD,
        "not reproduced",
        "error_table/unseparable",
        setting("error", tilted_by(0.1105 / SPREAD_OF_TILT), method="algorithm2"),
        "reproduced",
    ),
    (
        "figure_1_order",
        LEVEL,
        "reproduced",
        "error_table/separable",
        swapped,
        "not reproduced",
    ),
    (
        "figure_1_epsilon",
        {"widest": 1.25},
        "underspecified",
        "recovered_epsilon/nips08",
        setting("high", math.inf, dataset="all four"),
        "not reproduced",
    ),
    (
        "figure_1_one_epsilon",
        {"significance": 0.05},
        "reproduced",
        "recovered_epsilon/nips08",
        setting("p_value", 0.01),
        "not reproduced",
    ),
    (
        "tuned_lambda_unseparable",
        LEVEL | {"chance": 0.1},
        "reproduced",
        "tuning/unseparable",
        setting("error", 0.1, lam=0.1),
        "underspecified",
    ),
    ("figure_2a_final", LEVEL, "reproduced", "learning_curve/separable", swapped, "not reproduced"),
    ("figure_2b_sizes", MOST, "reproduced", "learning_curve/unseparable", swapped, "not reproduced"),
    ("figure_2c_majority", MOST, "reproduced", "epsilon_curve/separable", swapped, "not reproduced"),
    ("figure_2d_smallest", LEVEL | NEAR, "not reproduced", "epsilon_curve/unseparable", swapped, "not reproduced"),
    (
        "figure_2d_smallest",
        LEVEL | NEAR,
        "not reproduced",
        "epsilon_curve/unseparable",
        setting("error", 0.49, method="algorithm2", epsilon=0.001),
        "reproduced",
    ),
    (
        "figure_2c_degrades",
        LEVEL,
        "reproduced",
        "epsilon_curve/separable",
        setting("error", 0.31, method="algorithm2", epsilon=10),
        "not reproduced",
    ),
    (
        "figure_2c_chance",
        NEAR,
        "reproduced",
        "epsilon_curve/separable",
        setting("error", 0.4, method="algorithm1", epsilon=0.001),
        "not reproduced",
    ),
    (
        "cost_not_terrible",
        {"share": 0.5},
        "underspecified",
        "epsilon_curve/separable",
        setting("error", 0.45, method="algorithm2"),
        "not reproduced",
    ),
    (
        "cost_inevitable",
        {},
        "holds",
        "epsilon_curve/separable",
        setting("error", 0.0, method="algorithm1", epsilon=10),
        "fails as printed",
    ),
    (
        "data_separable",
        UNIFORM,
        "reproduced",
        "dataset/separable",
        setting("label", -1, fold=3),
        "not reproduced",
    ),
    (
        "data_unseparable",
        UNIFORM,
        "reproduced",
        "dataset/unseparable",
        lambda row: row if abs(row["x0"]) < 0.3 else None,
        "not reproduced",
    ),
]


@pytest.mark.parametrize(("check", "tolerances", "before", "name", "change", "after"), FLIPS)
def test_an_altered_table_changes_the_verdict(
    tables: Path,
    tmp_path: Path,
    check: str,
    tolerances: Numbers,
    before: Outcome,
    name: str,
    change: Callable[[Row], Row | None],
    after: Outcome,
) -> None:
    assert decided(check, Evidence(tables, 7), tolerances).outcome == before
    assert decided(check, altered(tables, tmp_path, name, change), tolerances).outcome == after


def test_the_numbers_of_a_mean_and_of_its_spreads(tables: Path) -> None:
    evidence = Evidence(tables, 7)
    mean = CHECKS["figure_1_mean_unseparable_new"].measure(evidence).numbers
    assert mean["mean"] == pytest.approx(0.1903)
    assert mean["standard error"] == pytest.approx(SPREAD_OF_TILT / math.sqrt(5))
    spread = CHECKS["figure_1_spread_unseparable_new"].measure(evidence).numbers
    assert spread["over folds"] == pytest.approx(SPREAD_OF_TILT)
    assert spread["over restarts"] == pytest.approx(0.002 * math.sqrt(4 / 3))
    assert spread["over the learning curve"] == pytest.approx(np.std([0.31, 0.2, 0.02], ddof=1))
    assert spread["over the epsilon curve"] == pytest.approx(np.std([0.31, 0.2, 0.02], ddof=1))


def test_the_chance_of_a_spread_is_a_binomial_tail(tables: Path) -> None:
    """Standard regression on the unseparable data: 3500 records with an error of at most 0.053 - 0.1105/sqrt(5)."""
    numbers = CHECKS["figure_1_spread_unseparable_standard"].measure(Evidence(tables, 7)).numbers
    wrong = math.floor(3500 * (0.05305 - 0.11045 / math.sqrt(5)))
    expected = stats.binom.logcdf(wrong, 3500, bayes_error("unseparable")) / math.log(10) + math.log10(5)
    assert numbers["log10 chance"] == pytest.approx(expected, rel=1e-6)
    twice = CHECKS["figure_1_spread_twice"].measure(Evidence(tables, 7)).numbers
    assert twice["log10 chance"] == numbers["log10 chance"]


def test_the_chance_that_two_spreads_agree(tables: Path) -> None:
    """By the distribution of F(4, 4), which the ratio of two independent variances over five folds has."""
    chance = CHECKS["figure_1_spread_twice"].measure(Evidence(tables, 7)).numbers["chance of agreement"]
    low, high = ((0.1105 + side * 5e-5) ** 2 / 0.1105**2 for side in (-1, 1))
    assert chance == pytest.approx(stats.f.cdf(high, 4, 4) - stats.f.cdf(low, 4, 4), rel=1e-3)


def test_the_kind_of_spread_is_found(tables: Path, tmp_path: Path) -> None:
    """Where the printed spreads are those over folds, that is said."""

    def printed(row: Row) -> Row:
        cell = PRINTED.get(("separable", row["method"]), (0.0, 0.0))
        return row | {"error": tilted_by(cell[1] / SPREAD_OF_TILT)(row) if row["method"] != "standard" else row["error"]}

    factors = CHECKS["figure_1_spread_kind"].measure(altered(tables, tmp_path, "error_table/separable", printed)).numbers
    assert factors["over folds"] == pytest.approx(0.1105 / SPREAD_OF_TILT, rel=1e-6)  # the other data set is as it was
    both = setting("error", lambda row: printed(row)["error"])
    evidence = altered(tmp_path, tmp_path / "both", "error_table/unseparable", both)
    assert CHECKS["figure_1_spread_kind"].measure(evidence).numbers["over folds"] == pytest.approx(0.1284 / 0.1105, rel=1e-6)


def test_every_point_of_figure_2_counts_once(tables: Path) -> None:
    numbers = CHECKS["simulations_superior"].measure(Evidence(tables, 7)).numbers
    assert sum(name.startswith("new at") for name in numbers) == 2 * (len(SIZES) - 1 + len(EPSILONS))
    lead = CHECKS["figure_2a_sizes"].measure(Evidence(tables, 7)).numbers
    assert [name for name in lead if name.startswith("new at")] == ["new at 100", "new at 200"]
    assert lead["new at 200"] == pytest.approx(0.1 / math.sqrt(2 * 0.001**2 / 4 / 5))  # the tilt is common to both


def test_the_standard_method_has_one_point_in_an_epsilon_curve(tables: Path) -> None:
    (folds,) = curve(Evidence(tables, 7), "epsilon_curve", "separable", "epsilon")["standard"].values()
    assert len(folds.error) == 5


def test_fresh_holdouts_are_tuned_anew(tables: Path) -> None:
    """A hundred separable records are not always classified without error, but 0.01 is often among the best."""
    numbers = CHECKS["tuned_lambda_separable"].measure(Evidence(tables, 7)).numbers
    assert 0 < numbers["holdouts that choose it"] <= numbers["holdouts"]
    assert CHECKS["tuned_lambda_separable"].measure(Evidence(tables, 7)).numbers == numbers


def test_scaled_records_are_classified_alike(tables: Path) -> None:
    numbers = CHECKS["data_angle"].measure(Evidence(tables, 7)).numbers
    assert numbers["records"] == 3000
    assert numbers["changed"] == 0
    assert numbers["changed by training"] > 0
