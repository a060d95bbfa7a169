"""Targets: influence against a fit for each record, and the outlier's definition."""

from __future__ import annotations

import numpy as np
import pytest

from epsilometer.erm import LOGISTIC, minimiser
from epsilometer.membership.targets import AVERAGE, EXPOSED, OUTLIER, add_outlier, games, influences
from tests.membership.settings import LAM, records


def test_influence_is_what_leaving_a_record_out_changes() -> None:
    pool = records(20)
    whole = minimiser(LOGISTIC, pool, LAM)
    expected = [np.linalg.norm(minimiser(LOGISTIC, pool.take(np.arange(20) != row), LAM) - whole) for row in range(20)]
    np.testing.assert_allclose(influences(pool, LAM), expected, atol=1e-6)


def test_the_targets_are_the_median_the_largest_and_the_last() -> None:
    pool = records(21)
    found, influence = games(pool, 10, LAM), influences(pool, LAM)
    assert influence[found[AVERAGE].target] == np.median(influence)
    assert influence[found[EXPOSED].target] == influence.max()
    assert found[OUTLIER].target == len(pool)
    assert len(found[OUTLIER].pool) == len(pool) + 1


def test_the_outlier_is_the_record_that_the_pools_model_finds_most_wrong() -> None:
    pool = records(40)
    outlier = add_outlier(pool, LAM).take(slice(-1, None))
    assert np.linalg.norm(outlier.features) == pytest.approx(1.0)
    directions = np.random.default_rng(0).standard_normal((2000, pool.features.shape[1]))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    w = minimiser(LOGISTIC, pool, LAM)
    assert outlier.signed[0] @ w < (directions @ w).min()


@pytest.mark.parametrize("size", [20, 40, 200])
def test_the_outlier_is_more_exposed_than_any_record_of_the_pool(size: int) -> None:
    influence = influences(add_outlier(records(size), LAM), LAM)
    assert influence[-1] == influence.max()
