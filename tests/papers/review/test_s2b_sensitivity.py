"""Section II-B of the survey: sensitivities are known by hand, or from the library."""

from __future__ import annotations

import math
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from epsilometer.mechanisms.smooth_sensitivity import median_smooth_sensitivity
from epsilometer.papers.review.claims.s2b_sensitivity import BETA
from epsilometer.papers.review.claims.small_data_sets import SIZE, VALUES, data_sets
from tests.papers.evidence import with_shares
from tests.papers.review.helpers import measured

pytestmark = pytest.mark.slow


def test_the_grid_holds_all_data_sets_and_their_distances() -> None:
    every = data_sets()
    assert len(every.values) == math.comb(len(VALUES) + SIZE - 1, SIZE)
    for one, other in ((3, 70), (0, 125), (40, 41), (60, 60)):
        first, second = every.values[one], every.values[other]
        fewest = min(int(np.sum(first != np.array(order))) for order in set(permutations(second.tolist())))
        assert every.distance[one, other] == fewest


def test_sensitivities_by_hand(tmp_path: Path) -> None:
    every = data_sets()
    assert [every.global_sensitivity(query) for query in ("count", "mean", "median")] == pytest.approx([1.0, 0.2, 1.0])
    assert dict(measured("mean_and_median", tmp_path).numbers) == pytest.approx({"count": 1.0, "mean": 0.2, "median": 1.0})
    where = {tuple(values): place for place, values in enumerate(every.values.tolist())}
    local = every.local_sensitivity("median")
    assert local[where[0.0, 0.0, 0.0, 0.0, 1.0]] == 0.0  # three zeros stay
    assert local[where[0.0, 0.25, 0.5, 0.5, 1.0]] == 0.25  # the median 0.5 can fall to 0.25, or stay
    assert every.local_sensitivity("mean")[where[0.25, 0.25, 0.5, 0.5, 0.5]] == pytest.approx(0.75 / 5)


def test_the_smooth_sensitivity_is_that_of_the_library(tmp_path: Path) -> None:
    every = data_sets()
    found = every.smooth_sensitivity("median", BETA, every.distance)
    assert found == pytest.approx([median_smooth_sensitivity(values, 1.0, BETA) for values in every.values])
    numbers = measured("smooth_stretch", tmp_path).numbers
    assert numbers["stretch_exchanged"] == pytest.approx(1.0)
    assert numbers["stretch_symmetric_difference"] == pytest.approx(2.0)


def test_noise_by_local_sensitivity_by_hand(tmp_path: Path) -> None:
    """P(|noise| <= 1e-9) = 1 - exp(-1e-9/LS), at most about 1e-9/LS, for LS = 1."""
    assert measured("local_noise", tmp_path).numbers["log_ratio"] == pytest.approx(math.log(1e9), rel=1e-6)


def test_laplace_noise_by_smooth_sensitivity_by_hand(tmp_path: Path) -> None:
    """Medians 0; S = e^(-beta) and 1 at beta = 1/10: far out the log-densities differ by |o| (1/S - 1) - log(1/S)."""
    with_shares(tmp_path, {"smooth_median": 0.4})
    numbers = measured("smooth_noise", tmp_path).numbers
    for output in (10.0, 1000.0):
        assert numbers[f"share_at_{output:g}"] == pytest.approx(abs(output * math.expm1(0.1) - 0.1))
