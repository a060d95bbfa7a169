"""Figure 1 of nips08: its printed cells, the epsilon that it does not print, and the cells measured anew."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import numpy as np

from epsilometer.core import Array, EpsilometerError, stream
from epsilometer.core.arguments import Count, Positive
from epsilometer.core.tables import EMPTY, Table
from epsilometer.pairs.boundary import boundary_table
from epsilometer.papers.curves import EPSILON_CURVE, ERROR_TABLE, CurveRow
from epsilometer.papers.nips08.paper import DATASETS
from epsilometer.papers.paper import Experiment
from epsilometer.papers.protocol import ALGORITHM_1, ALGORITHM_2, METHODS, STANDARD
from epsilometer.papers.protocol_experiments import Protocol

PRINTED = {
    ("separable", ALGORITHM_1): (0.2962, 0.0617),
    ("separable", ALGORITHM_2): (0.1426, 0.1284),
    ("separable", STANDARD): (0.0, 0.0016),
    ("unseparable", ALGORITHM_1): (0.3257, 0.0536),
    ("unseparable", ALGORITHM_2): (0.1903, 0.1105),
    ("unseparable", STANDARD): (0.0530, 0.1105),
}
"""Mean and spread of the test error, as printed (nips08, Figure 1; slides08 repeats them)."""

PRIVATE_CELLS = [cell for cell in PRINTED if cell[1] != STANDARD]
ALL_CELLS = "all four"
REPLICATES = 2000
SIGNIFICANCE = 0.05
LEAST_NOISE = 5e-5  # half of the last digit that is printed


@dataclass(frozen=True)
class Curve:
    """The mean test error of one cell as a function of log epsilon, with its standard error."""

    log_epsilon: Array
    error: Array
    standard_error: Array

    def invert(self, error: float) -> float:
        """log epsilon at which the curve, made to fall, passes through `error`; infinite where it never does."""
        falling = _falling(self.error)
        if error > falling[0]:
            return -math.inf
        if error < falling[-1]:
            return math.inf
        return float(np.interp(-error, -falling, self.log_epsilon))

    def at(self, log_epsilon: Array | float) -> Any:
        return np.interp(log_epsilon, self.log_epsilon, _falling(self.error))

    def noise_at(self, log_epsilon: Array | float) -> Any:
        return np.interp(log_epsilon, self.log_epsilon, self.standard_error)


class RecoveredRow(TypedDict):
    """The epsilon at which each private cell of Figure 1 comes out, and the one that fits all four best."""

    dataset: Annotated[str, "name of the data set, or `all four`"]
    method: Annotated[str, "name of the method, or `all four`"]
    printed_error: Annotated[float, "test error that the paper prints", EMPTY]
    epsilon: Annotated[float, "epsilon at which it comes out"]
    low: Annotated[float, "lower end of its 95% bootstrap interval"]
    high: Annotated[float, "upper end of its 95% bootstrap interval"]
    error_at_common_epsilon: Annotated[float, "test error at the epsilon that fits all four cells best", EMPTY]
    chi_square: Annotated[float, "chi-square statistic of the four differences at that epsilon"]
    p_value: Annotated[float, "its p-value, with three degrees of freedom"]
    one_epsilon_explains_all: Annotated[bool, "whether that p-value is at least 5%"]


class SummaryRow(TypedDict):
    """Mean test error of each method with two spreads, beside what Figure 1 of nips08 prints."""

    dataset: Annotated[str, "name of the data set"]
    method: Annotated[str, "name of the method"]
    epsilon: Annotated[float, "claimed epsilon; empty for the standard method", EMPTY]
    lam: Annotated[float, "regularisation"]
    mean: Annotated[float, "mean test error over the folds"]
    sd_folds: Annotated[float, "standard deviation of the folds' means"]
    sd_restarts: Annotated[float, "standard deviation of the runs of a fold"]
    printed_mean: Annotated[float, "printed mean", EMPTY]
    printed_spread: Annotated[float, "printed spread", EMPTY]


class BoundaryRow(TypedDict):
    """What Algorithm 2 of nips08 spends on the worst data, by claimed epsilon and n lambda."""

    epsilon: Annotated[float, "claimed epsilon"]
    n_lam: Annotated[float, "number of records times regularisation"]
    spent: Annotated[float, "epsilon spent on the worst data"]
    exceeds: Annotated[bool, "whether that is more than claimed"]
    share: Annotated[float, "`spent` as a share of the claimed epsilon"]


RECOVERED_EPSILON = Table[RecoveredRow]("recovered_epsilon/{paper}", RecoveredRow)
ERROR_SUMMARY = Table[SummaryRow]("error_summary/{paper}", SummaryRow)
BOUNDARY = Table[Any]("boundary/{paper}", BoundaryRow)


def recovered_epsilon(curves: Sequence[Path], *, seed: Count, table: Path) -> None:
    """The epsilon at which each private cell of Figure 1 comes out, and the one that fits all four best.

    A printed cell is a mean over five folds of 200 restarts, as ours is, so it carries the same standard error, which comes
    from the spread over restarts and over test records; a bootstrap replicate redraws both cells, and its quantiles give the
    intervals. One epsilon explains all four if the chi-square statistic of the four differences, at the epsilon that makes
    it least, is within the 95% quantile of three degrees of freedom.
    """
    from scipy.special import chdtrc

    cells = {cell: _curve(curves, *cell) for cell in PRIVATE_CELLS}
    common, statistic = _common(cells, {cell: PRINTED[cell][0] for cell in cells})
    p_value = float(chdtrc(len(cells) - 1, statistic))
    replicates = _bootstrap(cells, stream(seed, "recovered_epsilon"))
    rows: list[Any] = []
    for cell, curve in cells.items():
        low, high = _interval(replicates[cell])
        printed = PRINTED[cell][0]
        rows.append(_row(*cell, printed, curve.invert(printed), low, high, float(curve.at(common))))
    low, high = _interval(replicates[ALL_CELLS])
    rows.append(_row(ALL_CELLS, ALL_CELLS, math.nan, common, low, high, math.nan))
    for row in rows:
        row |= {"chi_square": statistic, "p_value": p_value, "one_epsilon_explains_all": p_value >= SIGNIFICANCE}
    RECOVERED_EPSILON.write(table, rows)


def common_epsilon(table: Path) -> float:
    """The epsilon that fits all four cells best, from a table of recovered epsilons."""
    for row in RECOVERED_EPSILON.read(table):
        if row["dataset"] == ALL_CELLS:
            return float(row["epsilon"])
    raise EpsilometerError(f"{table} has no row for {ALL_CELLS} cells; it must be a table of recovered epsilons")


def error_summary(error_tables: Sequence[Path], *, table: Path) -> None:
    """Each mean test error, its spread over folds and over restarts, beside what Figure 1 prints of it."""
    rows: list[SummaryRow] = []
    for path in error_tables:
        observations = ERROR_TABLE.read(path)
        for name in METHODS:
            mine = [row for row in observations if row["method"] == name]
            if not mine:
                raise EpsilometerError(f"{path} has no row for the method {name}; it must have all of {', '.join(METHODS)}")
            folds = [[row["error"] for row in mine if row["fold"] == fold] for fold in sorted({r["fold"] for r in mine})]
            spreads = [float(np.var(errors, ddof=1)) if len(errors) > 1 else 0.0 for errors in folds]
            printed_mean, printed_spread = PRINTED.get((path.stem, name), (math.nan, math.nan))
            rows.append(
                {
                    "dataset": path.stem,
                    "method": name,
                    "epsilon": mine[0]["epsilon"],
                    "lam": mine[0]["lam"],
                    "mean": float(np.mean([np.mean(errors) for errors in folds])),
                    "sd_folds": float(np.std([np.mean(errors) for errors in folds], ddof=1)),
                    "sd_restarts": math.sqrt(np.mean(spreads)),
                    "printed_mean": printed_mean,
                    "printed_spread": printed_spread,
                }
            )
    ERROR_SUMMARY.write(table, rows)


def boundary(*, epsilons: Sequence[Positive], n_lams: Sequence[Positive], table: Path) -> None:
    """What Algorithm 2 of nips08 spends on its worst data, by epsilon and n lambda."""
    BOUNDARY.write(table, boundary_table(epsilons, n_lams))


def _row(
    dataset: str, name: str, printed: float, log_epsilon: float, low: float, high: float, at_common: float
) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "method": name,
        "printed_error": printed,
        "epsilon": _exp(log_epsilon),
        "low": _exp(low),
        "high": _exp(high),
        "error_at_common_epsilon": at_common,
    }


def _exp(log_epsilon: float) -> float:
    return float(np.exp(log_epsilon))


def _curve(tables: Sequence[Path], dataset: str, name: str) -> Curve:
    rows = [row for path in tables if path.stem == dataset for row in EPSILON_CURVE.read(path) if row["method"] == name]
    if not rows:
        raise EpsilometerError(f"none of the epsilon curves has {name} on {dataset}, which Figure 1 prints")
    epsilons = sorted({row["epsilon"] for row in rows})
    by_epsilon = [[row for row in rows if row["epsilon"] == epsilon] for epsilon in epsilons]
    error = np.array([np.mean([row["error"] for row in folds]) for folds in by_epsilon])
    variance = np.array([np.mean([_variance(row) for row in folds]) / len(folds) for folds in by_epsilon])
    return Curve(np.log(epsilons), error, np.sqrt(np.maximum(variance, LEAST_NOISE**2)))


def _variance(row: CurveRow) -> float:
    """The variance of a fold's mean error: from restarts that were drawn, and from test records that were drawn."""
    return float(row["sd_restarts"] ** 2 / row["restarts"] + row["sd_records"] ** 2 / row["records"])


def _common(cells: dict[tuple[str, str], Curve], printed: dict[tuple[str, str], float]) -> tuple[float, float]:
    """The log epsilon with the least chi-square statistic over all cells, and that statistic."""
    grid = next(iter(cells.values())).log_epsilon
    fine = np.linspace(grid[0], grid[-1], 4001)
    statistic = np.zeros_like(fine)
    for cell, curve in cells.items():
        statistic += (curve.at(fine) - printed[cell]) ** 2 / (2 * curve.noise_at(fine) ** 2)
    best = int(np.argmin(statistic))
    return float(fine[best]), float(statistic[best])


def _bootstrap(cells: dict[tuple[str, str], Curve], rng: np.random.Generator) -> dict[Any, Array]:
    draws: dict[Any, list[float]] = {key: [] for key in (*cells, ALL_CELLS)}
    for _ in range(REPLICATES):
        redrawn, printed = {}, {}
        for cell, curve in cells.items():
            noisy = curve.error + curve.standard_error * rng.standard_normal(len(curve.error))
            redrawn[cell] = Curve(curve.log_epsilon, noisy, curve.standard_error)
            centre = curve.invert(PRINTED[cell][0])
            printed[cell] = PRINTED[cell][0] + float(curve.noise_at(centre)) * rng.standard_normal()
            draws[cell].append(redrawn[cell].invert(printed[cell]))
        draws[ALL_CELLS].append(_common(redrawn, printed)[0])
    return {key: np.array(values) for key, values in draws.items()}


def _falling(error: Array) -> Array:
    """The nearest non-increasing curve, by isotonic regression."""
    from scipy.optimize import isotonic_regression

    fitted: Array = isotonic_regression(error, increasing=False).x
    return fitted


def _interval(values: Array) -> tuple[float, float]:
    """The central 95% of the replicates, of which some may be infinite."""
    low, high = np.quantile(values, [0.025, 0.975], method="nearest")
    return float(low), float(high)


PROTOCOL = Protocol(
    datasets=lambda _: DATASETS,
    lam=lambda settings, _: settings.reproduction.lam,
    epsilon=lambda _, __: "recovered_epsilon/nips08",
    increment=lambda settings: settings.reproduction.increment,
    epsilons=lambda settings: settings.reproduction.epsilons.values(),
)
N_LAMS = tuple(float(f"{10 ** (k / 8):.4g}") for k in range(-8, 33))
"""The values of n lambda at which the boundary is computed: eight a decade, from 0.1 to 10,000."""

EXPERIMENTS = (
    *PROTOCOL.experiments(),
    Experiment(
        recovered_epsilon,
        parts=lambda _: ["nips08"],
        needs=lambda _, __: {"curves": [f"epsilon_curve/{dataset}" for dataset in DATASETS]},
        options=lambda settings, _: {"seed": settings.seed},
        message="The epsilon behind Figure 1 of nips08",
    ),
    Experiment(
        error_summary,
        parts=lambda _: ["nips08"],
        needs=lambda _, __: {"error_tables": [f"error_table/{dataset}" for dataset in DATASETS]},
        message="Mean test errors for {part}",
        caption="Mean test errors of every method, with both spreads and, where the paper prints them, the printed ones.",
    ),
    Experiment(
        boundary,
        parts=lambda _: ["nips08"],
        options=lambda settings, _: {"epsilons": settings.reproduction.epsilons.values(), "n_lams": N_LAMS},
        message="Where Algorithm 2 of nips08 keeps its promise",
    ),
)
