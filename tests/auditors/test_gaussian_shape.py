"""The Gaussian-shaped estimate, on normal noise, where it is right, and elsewhere, where it must say what it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtri
from scipy.stats import binom, norm

from epsilometer.auditors.confidence import clopper_pearson_lower, clopper_pearson_upper
from epsilometer.auditors.gaussian_shape import GaussianShape, epsilon_of_mu, mu_lower_bound
from epsilometer.auditors.sampled import SampledLikelihoodRatio
from epsilometer.core import Counts, EpsilometerError, stream
from epsilometer.mechanisms.catalogue import find


@pytest.mark.parametrize(("mu", "delta"), [(0.2064, 1e-5), (1.0, 1e-5), (0.5, 0.05), (3.0, 1e-3)])
def test_epsilon_of_mu_inverts_the_exact_delta(mu: float, delta: float) -> None:
    """delta is the integral of max(0, p - e^epsilon q) for p = N(mu, 1) and q = N(0, 1)."""
    epsilon = epsilon_of_mu(mu, delta)
    start = epsilon / mu + mu / 2  # where p = e^epsilon q
    integral, _ = quad(lambda x: norm.pdf(x - mu) - np.exp(epsilon) * norm.pdf(x), start, start + 12, epsabs=1e-14)
    assert integral == pytest.approx(delta, rel=1e-5)


def test_a_mu_that_stays_below_delta_costs_nothing() -> None:
    assert epsilon_of_mu(0.0, 1e-5) == 0
    assert epsilon_of_mu(1e-5, 1e-5) == 0  # delta at epsilon 0 is 2 Phi(mu/2) - 1 = 4e-6
    assert epsilon_of_mu(1e-4, 1e-5) > 0


def test_mu_by_hand() -> None:
    counts, each = Counts(700, 1000, 300, 2000), 1 - 0.95**0.5
    lower, upper = clopper_pearson_lower(700, 1000, each), clopper_pearson_upper(300, 2000, each)
    assert mu_lower_bound(counts, 0.95) == pytest.approx(float(ndtri(lower) - ndtri(upper)))


@pytest.mark.parametrize("counts", [Counts(0, 10, 0, 10), Counts(10, 10, 10, 10), Counts(0, 10, 10, 10), Counts(0, 0, 0, 0)])
def test_counts_without_a_difference_show_no_mu(counts: Counts) -> None:
    assert mu_lower_bound(counts, 0.95) == 0


def test_separated_counts_show_a_finite_mu() -> None:
    assert 3 < mu_lower_bound(Counts(1000, 1000, 0, 1000), 0.95) < 6


@pytest.mark.slow
def test_on_normal_noise_it_errs_no_more_often_than_it_says() -> None:
    """500 estimates at 95%: more than 49 errors have probability 5e-6 if each has 5%."""
    entry = find("gaussian_classic")
    mechanism: Any = entry.build(1.0)
    truth, rng = epsilon_of_mu(1 / mechanism.sigma, 1e-5), stream(1, "shape")
    values = np.array([GaussianShape()(mechanism, entry.pairs()[0], 2000, rng).epsilon for _ in range(500)])
    assert np.sum(values > truth) <= int(binom.isf(5e-6, 500, 0.05))


def test_on_normal_noise_it_needs_far_fewer_outputs_than_a_bound_without_a_model() -> None:
    entry = find("gaussian_classic")
    mechanism, pair = entry.build(1.0), entry.pairs()[0]
    shape = GaussianShape()(mechanism, pair, 1_000_000, stream(2, "shape"))
    free = SampledLikelihoodRatio()(mechanism, pair, 1_000_000, stream(2, "shape"))
    assert shape.model_based
    assert not free.model_based
    assert free.epsilon < 0.65 < 0.71 < shape.epsilon < 0.751


def test_the_estimate_says_what_it_rests_on() -> None:
    entry = find("gaussian_analytic")
    estimate = GaussianShape(delta=1e-3)(entry.build(1.0), entry.pairs()[0], 1001, stream(3, "shape"))
    assert estimate.delta == 1e-3
    assert estimate.trials == 1000
    assert estimate.epsilon == epsilon_of_mu(mu_lower_bound(estimate.counts[0], 0.95), 1e-3)


def test_without_a_delta_it_is_refused() -> None:
    entry = find("laplace_count")
    with pytest.raises(EpsilometerError, match="delta is 0"):
        GaussianShape()(entry.build(1.0), entry.pairs()[0], 1000, stream(4, "shape"))
    with pytest.raises(EpsilometerError, match="delta is 0"):
        GaussianShape(delta=0.0)
    assert GaussianShape(delta=1e-5)(entry.build(1.0), entry.pairs()[0], 1000, stream(4, "shape")).model_based
