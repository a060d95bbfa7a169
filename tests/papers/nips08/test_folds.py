"""Means over folds, their paired differences, and the points of a curve."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from epsilometer.papers.claim import Evidence
from epsilometer.papers.nips08.claims.folds import Folds, curve

pytestmark = pytest.mark.slow


def test_a_paired_comparison_is_students() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.normal(0.3, 0.01, (2, 5))
    still = Folds(first, np.zeros(5)).minus(Folds(second, np.zeros(5)))
    assert still.student == pytest.approx(stats.ttest_rel(first, second).statistic)
    noisy = Folds(first, np.full(5, 0.02)).minus(Folds(second, np.full(5, 0.03)))
    assert noisy.standard_error == pytest.approx(0.1)  # sqrt(5 (0.02 + 0.03))/5, more than the folds suggest
    assert Folds(np.zeros(5), np.zeros(5)).student == 0
    assert Folds(np.full(5, -0.25), np.zeros(5)).student == -math.inf


def test_the_standard_method_has_one_point_in_an_epsilon_curve(tables: Path) -> None:
    (folds,) = curve(Evidence(tables, 7), "epsilon_curve", "separable")["standard"].values()
    assert len(folds.error) == 5
