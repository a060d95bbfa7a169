"""Gaussian noise: the epsilon that it spends, and where its range ends, against quadrature."""

from __future__ import annotations

import math

import pytest
from scipy.integrate import quad
from scipy.stats import norm

from epsilometer.mechanisms.gaussian import classic_sigma
from epsilometer.papers.postech.claims.s5_noise import first_failing_epsilon, gaussian_spent

pytestmark = pytest.mark.slow


def excess(epsilon: float, sigma: float) -> float:
    """delta(epsilon) of Gaussian noise at distance 1, by quadrature."""

    def above(x: float) -> float:
        return max(float(norm.pdf(x, 0, sigma)) - math.exp(epsilon) * float(norm.pdf(x, 1, sigma)), 0.0)

    kink = 0.5 - epsilon * sigma**2
    return quad(above, kink - 12 * sigma, kink, epsabs=1e-14)[0]


@pytest.mark.parametrize(("epsilon", "delta"), [(0.9, 1e-3), (0.5, 1e-2), (0.999, 0.1)])
def test_gaussian_noise_meets_delta_where_it_is_said_to(epsilon: float, delta: float) -> None:
    spent = gaussian_spent(epsilon, math.log(delta))
    assert 0 < spent < epsilon
    assert excess(spent, classic_sigma(epsilon, delta)) == pytest.approx(delta, rel=1e-6)


def test_gaussian_noise_fails_beyond_its_range() -> None:
    first = first_failing_epsilon(math.log(0.1))
    for epsilon, fails in ((first * 0.99, False), (first * 1.01, True)):
        assert (excess(epsilon, classic_sigma(epsilon, 0.1)) > 0.1) == fails
