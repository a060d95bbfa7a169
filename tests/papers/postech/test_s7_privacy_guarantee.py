"""The noise of Algorithm 2, and the least epsilon that leaves any."""

from __future__ import annotations

import math

import pytest

from epsilometer.erm import Huber
from epsilometer.papers.postech.claims.regrets import left_for_noise
from epsilometer.papers.postech.claims.s7_privacy_guarantee import least_epsilon_of_algorithm_2

pytestmark = pytest.mark.slow


def test_noise_of_algorithm_2() -> None:
    c, n_lam = 0.25, 3.0
    assert left_for_noise(1.0, n_lam) == pytest.approx(1 - math.log(1 + 2 * c / n_lam + c**2 / n_lam**2))
    assert least_epsilon_of_algorithm_2(Huber(0.5)) == pytest.approx(2 * math.log(2))  # c = 1 at n lam = 1
