"""Figure 1's means: coverage of the interval, numbers of the tables, and tables that decide otherwise."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from epsilometer.papers.nips08.claims.s6_1_figure_1_means import (
    FIGURE_1_MEAN_SEPARABLE_STANDARD,
    FIGURE_1_MEAN_UNSEPARABLE_NEW,
    decide_mean,
)
from tests.papers.nips08.cases_experiments import LEVEL
from tests.papers.nips08.experiment_tables import SPREAD_OF_TILT, measured, outcomes, setting

pytestmark = pytest.mark.slow


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


def test_the_numbers_of_a_mean(tables: Path) -> None:
    mean = measured(FIGURE_1_MEAN_UNSEPARABLE_NEW, tables)
    assert mean["mean"] == pytest.approx(0.1903)
    assert mean["standard error"] == pytest.approx(SPREAD_OF_TILT / math.sqrt(5))


def test_other_errors_are_not_reproduced(tables: Path, tmp_path: Path) -> None:
    both = ("reproduced", "not reproduced")
    more = setting("error", lambda row: row["error"] + 0.02, method="algorithm2")
    assert outcomes(FIGURE_1_MEAN_UNSEPARABLE_NEW, tables, tmp_path / "new", "error_table/unseparable", more) == both
    some = setting("error", 0.01, method="standard")
    assert outcomes(FIGURE_1_MEAN_SEPARABLE_STANDARD, tables, tmp_path / "standard", "error_table/separable", some) == both
