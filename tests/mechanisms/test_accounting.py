"""Accounting for the Gaussian mechanism, against quadrature of the distributions."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from epsilometer.core import EpsilometerError, stream
from epsilometer.mechanisms.accounting import (
    TOLERANCE,
    sampled_delta,
    sampled_mu,
    sampled_profile,
)
from epsilometer.mechanisms.gaussian import analytic_sigma, gaussian_delta

Floats = NDArray[np.float64]

GRID = np.linspace(-16, 24, 40_001)
COARSE = np.linspace(-10, 15, 1_251)


def bell(mean: float, grid: Floats = GRID) -> Floats:
    return np.exp(-((grid - mean) ** 2) / 2) / math.sqrt(2 * math.pi)


def hockey_stick(first: Floats, second: Floats, epsilon: float, cell: float) -> float:
    """The integral of the positive part of first - e^epsilon second, by the rectangle rule."""
    return float(np.maximum(first - math.exp(epsilon) * second, 0).sum() * cell)


CELL = float(GRID[1] - GRID[0])
COARSE_CELL = float(COARSE[1] - COARSE[0])


@pytest.mark.parametrize("q", [0.05, 0.25, 1.0])
@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_the_profile_of_one_step_is_that_of_the_worst_mixtures(q: float, mu: float) -> None:
    epsilons = np.array([-1.5, -0.2, -0.01, 0.0, 0.01, 0.2, 1.5])
    mixture = (1 - q) * bell(0) + q * bell(mu)
    pairs = [(bell(0), mixture) if epsilon < 0 else (mixture, bell(0)) for epsilon in epsilons]
    measured = [hockey_stick(*pair, epsilon, CELL) for pair, epsilon in zip(pairs, epsilons, strict=True)]
    np.testing.assert_allclose(sampled_profile(epsilons, mu, q), measured, rtol=1e-5, atol=1e-12)


def test_the_profile_above_zero_is_amplification_in_closed_form() -> None:
    """H_alpha of the mixture is q H_beta of the Gaussians, beta = 1 + (alpha - 1)/q; below zero the roles change."""
    epsilons, mu, q = np.linspace(0.05, 3, 40), 1.7, 0.2
    closed = np.array([q * gaussian_delta(math.log1p(math.expm1(epsilon) / q), 1 / mu) for epsilon in epsilons])
    np.testing.assert_allclose(sampled_profile(epsilons, mu, q), closed, rtol=1e-9)
    np.testing.assert_allclose(sampled_profile(-epsilons, mu, q), 1 - np.exp(-epsilons) * (1 - closed), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("q", [0.05, 0.25, 0.5])
@pytest.mark.parametrize("mu", [0.5, 1.5, 4.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_one_step_is_exact_for_the_worst_pair_and_a_bound_for_others(q: float, mu: float, epsilon: float) -> None:
    account = sampled_delta(epsilon, mu, q, 1)
    worst = hockey_stick((1 - q) * bell(0) + q * bell(mu), bell(0), epsilon, CELL)
    assert account == pytest.approx(worst, rel=1e-4, abs=1e-12)
    rng = stream(4, "one step", q, mu, epsilon)
    for _ in range(30):
        others = rng.dirichlet(np.ones(3)) @ [bell(mean) for mean in rng.uniform(0, mu, 3)]
        record, replacement = (bell(mean) for mean in rng.uniform(0, mu, 2))
        first, second = ((1 - q) * others + q * own for own in (record, replacement))
        assert hockey_stick(first, second, epsilon, CELL) <= account * (1 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("q", "mu"), [(0.25, 0.5), (0.25, 2.0), (0.05, 1.0), (0.5, 1.0)])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_two_steps_are_bounded_whichever_way_each_leans(q: float, mu: float, epsilon: float) -> None:
    """By quadrature in two dimensions; the worst pair of one step, twice, comes within a tenth of the account."""
    plain, shifted, middle = (bell(mean, COARSE) for mean in (0.0, mu, mu / 2))
    mixture = (1 - q) * plain + q * shifted
    halfway = [(1 - q) * middle + q * own for own in (shifted, plain)]
    away, back, across = (mixture, plain), (plain, mixture), (halfway[0], halfway[1])
    measured = {
        names: hockey_stick(np.outer(one[0], two[0]), np.outer(one[1], two[1]), epsilon, COARSE_CELL**2)
        for names, one, two in (
            ("away twice", away, away),
            ("back twice", back, back),
            ("away and back", away, back),
            ("across twice", across, across),
            ("away and across", away, across),
        )
    }
    account = sampled_delta(epsilon, mu, q, 2)
    assert max(measured.values()) <= account
    assert measured["away twice"] >= 0.9 * account


def test_two_adaptive_steps_are_bounded() -> None:
    """The second step leans away or back according to the first one's outcome: quadrature over both."""
    q, mu, epsilon = 0.25, 1.5, 0.3
    plain, mixture = bell(0, COARSE), 0.75 * bell(0, COARSE) + 0.25 * bell(mu, COARSE)
    ahead = (mu / 2 < COARSE)[:, None]
    first = mixture[:, None] * np.where(ahead, mixture, plain)
    second = plain[:, None] * np.where(ahead, plain, mixture)
    measured = hockey_stick(first, second, epsilon, COARSE_CELL**2)
    assert 0.5 * sampled_delta(epsilon, mu, q, 2) < measured <= sampled_delta(epsilon, mu, q, 2)


@pytest.mark.parametrize("steps", [1, 3, 16, 400])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 1e-2])
def test_without_sampling_many_gaussians_are_one(steps: int, epsilon: float, delta: float) -> None:
    mu = 1 / analytic_sigma(epsilon, delta, math.sqrt(steps))
    assert gaussian_delta(epsilon, 1 / (mu * math.sqrt(steps))) <= sampled_delta(epsilon, mu, 1.0, steps) <= 1.06 * delta


@pytest.mark.slow
@pytest.mark.parametrize("delta", [1e-9, 1e-5])
@pytest.mark.parametrize(("n", "steps"), [(1, 5), (4, 16), (30, 900), (100, 10)])
def test_the_largest_sampled_mu_spends_delta_and_no_more(n: int, steps: int, delta: float) -> None:
    mu = sampled_mu(1.0, delta, 1 / n, steps)
    assert sampled_delta(1.0, mu, 1 / n, steps) <= delta
    assert sampled_delta(1.0, mu * (1 + 2 * TOLERANCE), 1 / n, steps) > delta


@pytest.mark.slow
def test_more_privacy_more_steps_and_fewer_records_need_more_noise() -> None:
    def noise(epsilon: float = 1.0, delta: float = 1e-5, n: int = 4, steps: int = 16) -> float:
        return 1 / sampled_mu(epsilon, delta, 1 / n, steps)

    def falling(values: list[float]) -> bool:
        return bool(np.all(np.diff(values) < 0))

    assert falling([noise(epsilon=epsilon) for epsilon in (0.01, 0.1, 0.5, 1.0, 2.0, 8.0, 50.0)])
    assert falling([noise(delta=delta) for delta in (1e-10, 1e-7, 1e-5, 1e-3)])
    assert falling([noise(steps=steps) for steps in (256, 64, 16, 3, 1)])
    assert falling([noise(n=n) for n in (1, 2, 4, 20, 100)])


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.5])
def test_a_delta_that_gaussian_noise_cannot_keep_is_refused(delta: float) -> None:
    with pytest.raises(EpsilometerError, match=f"delta is {delta:g}; Gaussian noise needs one above 0 and below 1"):
        sampled_mu(1.0, delta, 0.5, 2)


def test_a_delta_beyond_the_accountants_precision_is_refused() -> None:
    with pytest.raises(EpsilometerError, match=r"delta is 1e-15; for 16 steps .* at least 6\.4e-14"):
        sampled_mu(1.0, 1e-15, 0.25, 16)


def test_the_accountant_is_imported_only_when_it_is_used() -> None:
    program = (
        "import sys, epsilometer.mechanisms.gradient_perturbation as g; g.ENTRIES[2].build(1.0).sigma(4);"
        "sys.exit('dp_accounting' in sys.modules or 'scipy.stats' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
