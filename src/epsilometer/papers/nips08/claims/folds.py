"""Mean test errors over the folds of section 6, their differences and the intervals of both.

The experiments' tables hold a mean test error for each fold, averaged over restarts. Two methods in the same fold see the
same records, so they are compared by their differences fold by fold. The standard error of a mean is the larger of the one
that the folds suggest and the one that the restarts suggest. Its interval is Student's with one degree of freedom less than
folds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import stdtrit

from epsilometer.core import Array
from epsilometer.papers.claim import Evidence, Numbers
from epsilometer.papers.protocol import ALGORITHM_1, ALGORITHM_2, CMS11, METHODS, STANDARD

NAMES = {STANDARD: "standard", ALGORITHM_1: "sensitivity", ALGORITHM_2: "new", CMS11: "new as calibrated in 2011"}
"""The methods as nips08 calls them."""
CORRECTED = NAMES[CMS11]
"""Algorithm 2 with the calibration of Chaudhuri, Monteleoni and Sarwate 2011, which keeps its claimed epsilon."""
ALONG = {"learning_curve": "n", "epsilon_curve": "epsilon"}
"""The column along which each curve runs."""
CONFIDENCE = {"confidence": 0.95}
"""The tolerance that most claims of section 6 have: the confidence of an interval."""

CurveTable = Literal["learning_curve", "epsilon_curve"]


@dataclass(frozen=True)
class Folds:
    """A method's mean test error in each fold, and the variance of that mean, from the restarts."""

    error: Array
    variance: Array

    @property
    def mean(self) -> float:
        return float(self.error.mean())

    @property
    def standard_error(self) -> float:
        """Of the mean over folds: the larger of what folds and restarts suggest."""
        count = len(self.error)
        over_folds = float(np.std(self.error, ddof=1)) / math.sqrt(count)
        return max(over_folds, self.standard_error_of_restarts)

    @property
    def standard_error_of_restarts(self) -> float:
        """Of the mean over these folds, whose records are fixed: what the restarts alone suggest."""
        return math.sqrt(self.variance.sum()) / len(self.error)

    def minus(self, other: Folds) -> Folds:
        """The difference in each fold: the records are the same, the restarts are independent."""
        return Folds(self.error - other.error, self.variance + other.variance)

    @property
    def student(self) -> float:
        """The mean in units of its standard error."""
        if self.standard_error == 0:
            return 0.0 if self.mean == 0 else math.copysign(math.inf, self.mean)
        return self.mean / self.standard_error


def figure_1_folds(evidence: Evidence, dataset: str) -> dict[str, Folds]:
    """The folds of each method of Figure 1 on a data set, from the table of its runs."""
    rows = evidence.table(f"error_table/{dataset}", "method", "fold", "error")
    found = {}
    for name in METHODS:
        runs: dict[int, list[float]] = {}
        for row in rows:
            if row["method"] == name:
                runs.setdefault(row["fold"], []).append(row["error"])
        errors = [np.mean(run) for run in runs.values()]
        found[name] = Folds(np.array(errors), np.array([_variance_of_mean(run) for run in runs.values()]))
    return found


def _variance_of_mean(run: list[float]) -> float:
    return float(np.var(run, ddof=1)) / len(run) if len(run) > 1 else 0.0


def curve(evidence: Evidence, table: CurveTable, dataset: str) -> dict[str, dict[float, Folds]]:
    """The folds of each method by n or by epsilon; in an epsilon curve, the standard method has a single point, at nan."""
    along = ALONG[table]
    groups: dict[str, dict[float, list[dict[str, Any]]]] = {}
    for row in evidence.table(f"{table}/{dataset}", "method", along, "restarts", "error", "sd_restarts"):
        groups.setdefault(row["method"], {}).setdefault(row[along], []).append(row)
    return {name: {x: _folds_of(rows) for x, rows in points.items()} for name, points in groups.items()}


def _folds_of(rows: list[dict[str, Any]]) -> Folds:
    variances = [row["sd_restarts"] ** 2 / row["restarts"] for row in rows]
    return Folds(np.array([row["error"] for row in rows]), np.array(variances))


def curve_tables(table: CurveTable) -> tuple[str, str]:
    """The names of a curve's tables on both data sets."""
    return f"{table}/separable", f"{table}/unseparable"


def student_quantile(folds: float, confidence: float) -> float:
    """Half the width of a two-sided interval over so many folds, in standard errors."""
    return float(stdtrit(folds - 1, (1 + confidence) / 2))


def interval(centre: float, half: float) -> str:
    """An interval of differences, as the sentences of evidence show it."""
    return f"{centre - half:+.4f} to {centre + half:+.4f}"


def series(name: str, values: Mapping[float, float]) -> dict[str, float]:
    """A series as numbers of a claim, each named after where it was measured."""
    return {f"{name} at {x!r}": float(value) for x, value in values.items()}


def read_series(numbers: Numbers, name: str) -> dict[float, float]:
    """The series of that name among a claim's numbers."""
    return {float(key.removeprefix(f"{name} at ")): value for key, value in numbers.items() if key.startswith(f"{name} at ")}
