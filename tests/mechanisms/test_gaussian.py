"""The exact delta of normal noise is compared with quadrature of the hockey-stick divergence.

Each statistical test would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import erf

from epsilometer.core import EpsilometerError, Guarantee
from epsilometer.mechanisms.catalogue import find
from epsilometer.mechanisms.gaussian import (
    ENTRIES,
    Gaussian,
    analytic_sigma,
    classic_sigma,
    gaussian_delta,
    gaussian_log_delta,
)
from tests.mechanisms import agreement


def log_delta_by_quadrature(epsilon: float, sigma: float, sensitivity: float) -> float:
    """Where the loss exceeds epsilon, p - e^epsilon q = p (1 - exp(epsilon - loss)); s is the way from that threshold."""
    h, u = sensitivity / (2 * sigma), epsilon * sigma / sensitivity

    def integrand(s: float) -> float:
        return math.exp(-(u - h) * s - s * s / 2) * -math.expm1(-2 * h * s)

    peak = max(0.0, h - u)
    width = 40 / max(1.0, u - h)
    below = integrate.quad(integrand, 0.0, peak, epsabs=0, epsrel=1e-12)[0]
    above = integrate.quad(integrand, peak, peak + width, epsabs=0, epsrel=1e-12)[0]
    return math.log(below + above) - (u - h) ** 2 / 2 - math.log(2 * math.pi) / 2


@pytest.mark.parametrize("sensitivity", [1.0, 7.0])
@pytest.mark.parametrize("sigma", [0.1, 0.7, 4.9, 5.1, 40.0, 1e6, 1e9])
@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 1e-6, 0.01, 0.3, 1.0, 5.0, 30.0])
def test_exact_delta_is_the_hockey_stick_divergence(epsilon: float, sigma: float, sensitivity: float) -> None:
    expected = log_delta_by_quadrature(epsilon, sigma * sensitivity, sensitivity)
    assert gaussian_log_delta(epsilon, sigma * sensitivity, sensitivity) == pytest.approx(expected, rel=1e-11, abs=1e-11)


def test_delta_at_epsilon_zero_is_the_total_variation() -> None:
    for sigma in (1e-3, 0.2, 1.0, 1e8):
        assert gaussian_delta(0.0, sigma) == pytest.approx(erf(1 / (2 * math.sqrt(2) * sigma)), rel=1e-13)


def test_the_formula_of_balle_and_wang_where_it_is_harmless() -> None:
    for epsilon, sigma in ((0.5, 1.0), (1.0, 0.5), (2.0, 1.3)):
        a, b = 1 / (2 * sigma) - epsilon * sigma, -1 / (2 * sigma) - epsilon * sigma
        expected = stats.norm.cdf(a) - math.exp(epsilon) * stats.norm.cdf(b)
        assert gaussian_delta(epsilon, sigma) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("delta", [1e-300, 1e-15, 1e-5, 0.1, 0.9, 0.999999])
@pytest.mark.parametrize("epsilon", [1e-10, 1e-3, 0.5, 1.0, 10.0, 1e3])
def test_the_analytic_sigma_is_the_smallest_that_is_enough(epsilon: float, delta: float) -> None:
    sigma = analytic_sigma(epsilon, delta)
    assert gaussian_log_delta(epsilon, sigma) <= math.log(delta) + 1e-11
    assert gaussian_log_delta(epsilon, sigma * (1 - 1e-9)) > math.log(delta)
    assert analytic_sigma(epsilon, delta, 5.0) == pytest.approx(5 * sigma, rel=1e-12)


def test_classic_noise_is_enough_where_it_is_proved_and_fails_far_beyond() -> None:
    for delta in (1e-10, 1e-5, 1e-2):
        for epsilon in (0.01, 0.5, 0.999):
            assert classic_sigma(epsilon, delta) > analytic_sigma(epsilon, delta)
    assert gaussian_delta(8.0, classic_sigma(8.0, 1e-5)) < 1e-5
    assert gaussian_delta(9.0, classic_sigma(9.0, 1e-5)) > 1e-5
    assert gaussian_delta(1000.0, classic_sigma(1000.0, 1e-5)) > 0.999


def test_classic_sigma_by_hand() -> None:
    assert classic_sigma(0.5, 1.25 * math.exp(-2), 3.0) == pytest.approx(2 * 3 / 0.5)


def test_samples_follow_the_density() -> None:
    dataset = np.array([1.0, 4.0])
    mechanism = Gaussian.analytic(np.mean, 2.0, 0.5, 1e-3, "add-remove")
    p_value, mass = agreement.continuous_1d(mechanism, dataset, np.random.default_rng(0), 2.5, mechanism.sigma)
    assert p_value > agreement.FALSE_FAILURE
    assert mass == pytest.approx(1, abs=1e-6)
    expected = stats.norm(2.5, mechanism.sigma).logpdf([-3.0, 2.5, 90.0])
    assert mechanism.log_density(dataset, np.array([-3.0, 2.5, 90.0])) == pytest.approx(expected, rel=1e-12)
    mechanism = Gaussian.classic(lambda data: np.array([np.mean(data), -1.0]), 2.0, 0.5, 1e-3)
    p_value, mass = agreement.continuous_2d(mechanism, dataset, np.random.default_rng(1))
    assert p_value > agreement.FALSE_FAILURE
    assert mass == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
@pytest.mark.parametrize("epsilon", [0.2, 0.9])
def test_delta_on_the_pair_is_the_exact_one_and_no_more_than_promised(entry: Any, epsilon: float) -> None:
    mechanism = entry.build(epsilon)
    (pair,) = entry.pairs()
    outputs = np.linspace(-200, 200, 2_000_001)
    p, q = (np.exp(mechanism.log_density(dataset, outputs)) for dataset in (pair.first, pair.second))
    delta = np.sum(np.maximum(p - math.exp(epsilon) * q, 0)) * (outputs[1] - outputs[0])
    assert delta == pytest.approx(mechanism.delta_at(epsilon), rel=1e-4)
    assert delta <= mechanism.guarantee.delta * (1 + 1e-4)


@pytest.mark.parametrize("epsilon", [0.2, 0.9])
def test_analytic_noise_spends_all_of_the_promised_delta(epsilon: float) -> None:
    mechanism: Any = find("gaussian_analytic").build(epsilon)
    assert mechanism.delta_at(epsilon) == pytest.approx(mechanism.guarantee.delta, rel=1e-9)


def test_the_promise_and_the_source_tell_the_calibrations_apart() -> None:
    classic, analytic = (make(np.mean, 1.0, 0.5, 1e-6, "add-remove") for make in (Gaussian.classic, Gaussian.analytic))
    assert classic.guarantee == analytic.guarantee == Guarantee(0.5, "add-remove", 1e-6)
    assert "postech" in classic.source
    assert "Balle" in analytic.source


@pytest.mark.parametrize("make", [Gaussian.classic, Gaussian.analytic])
@pytest.mark.parametrize(
    ("sensitivity", "epsilon", "delta", "sentence"),
    [
        (1.0, 0.0, 0.1, "epsilon is 0; it must be above 0"),
        (1.0, math.inf, 0.1, "epsilon is inf; it must be a number above 0"),
        (1.0, 1.0, 0.0, "delta is 0; Gaussian noise needs a delta above 0"),
        (1.0, 1.0, 1.0, r"delta is 1; it must be in \[0, 1\)"),
        (-1.0, 1.0, 0.1, "sensitivity is -1; it must be a number above 0"),
    ],
)
def test_bad_parameters_are_named(make: Any, sensitivity: float, epsilon: float, delta: float, sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=sentence):
        make(np.mean, sensitivity, epsilon, delta)


def test_a_bad_sigma_is_named() -> None:
    with pytest.raises(EpsilometerError, match="sigma is 0; it must be a number above 0"):
        Gaussian(np.mean, 1.0, 0.0, Guarantee(1.0, "replace-one", 0.1), "here")
