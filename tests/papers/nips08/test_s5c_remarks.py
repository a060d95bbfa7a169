"""The remarks of sections 5 and 7 of nips08: the two bounds, short classifiers, and what regularisation does."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from epsilometer.papers.nips08.claims.s5c_remarks import NEVER_LOWER, REGULARISATION, SHORT_W0
from tests.papers.nips08.theory import numbers_of

pytestmark = pytest.mark.slow


def test_the_larger_bound_is_never_lower_and_sometimes_equal(tmp_path: Path) -> None:
    numbers = numbers_of(NEVER_LOWER, tmp_path)
    assert numbers["least"] == numbers["least_if_long"] == 1
    assert 0 < numbers["equal_if_long"] < 1
    assert numbers["least_if_private"] > 1


def test_short_classifiers_by_hand(tmp_path: Path) -> None:
    numbers = numbers_of(SHORT_W0, tmp_path)
    assert numbers["least"] == pytest.approx(math.log(1 + 1 / math.e))
    assert numbers["claimed"] == pytest.approx(math.log(11))


def test_regularisation_bounds_the_shift_by_the_noise(tmp_path: Path) -> None:
    """In the plane the mean noise is 2/rate = 4/(n lam), twice the sensitivity's bound."""
    numbers = numbers_of(REGULARISATION, tmp_path)
    for lam in (1e-3, 1e-2, 1e-1):
        assert numbers[f"noise_at_{lam:g}"] == pytest.approx(4 / (1000 * lam))
        assert 0.4 / (1000 * lam) < numbers[f"shift_at_{lam:g}"] < 2 / (1000 * lam)
