"""Steps on a random record: amplification and tails by other computations, and lower bounds on delta by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from epsilometer.core import stream
from epsilometer.erm import Huber
from epsilometer.mechanisms.accounting import sampled_delta
from epsilometer.mechanisms.gradient_perturbation import PrintedGradientPerturbation
from epsilometer.mechanisms.neighbours import labelled_records
from epsilometer.papers.cs860.claims.record_sampling import amplified, final_delta, sampled_tail, transcript_delta

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("inner", "n", "size"), [(0.5, 6, 2), (0.999, 8, 3), (2.0, 10, 1), (0.7, 4, 4)])
def test_sampling_amplifies_by_the_exact_formula(inner: float, n: int, size: int) -> None:
    assert amplified(inner, n, size) == pytest.approx(math.log1p(size / n * math.expm1(inner)))


@pytest.mark.parametrize(("mu", "q", "limit"), [(1.0, 0.2, 0.1), (2.0, 0.5, 0.3), (0.5, 1.0, 0.2)])
def test_the_tail_of_a_sampled_gaussian_agrees_with_quadrature(mu: float, q: float, limit: float) -> None:
    x = np.linspace(-12, 14, 2_000_001)
    plain = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    mixture = (1 - q) * plain + q * np.exp(-((x - mu) ** 2) / 2) / math.sqrt(2 * math.pi)
    loss = np.log(mixture / plain)
    tails = (np.sum(mixture[loss > limit]), np.sum(plain[-loss > limit]))
    assert sampled_tail(mu, q, limit) == pytest.approx(max(tails) * (x[1] - x[0]), rel=1e-4)


def test_lower_bounds_on_delta_stay_below_the_accountant() -> None:
    for epsilon in (20.0, 50.0, 100.0):
        mu = 2 * 4 / PrintedGradientPerturbation(epsilon).sigma(4)
        assert transcript_delta(epsilon, 4) <= sampled_delta(epsilon, mu, 1 / 4, 16)
        assert final_delta(epsilon, 4) <= sampled_delta(epsilon, mu, 1 / 4, 16)


def test_the_transcript_exceeds_its_delta_at_epsilon_500() -> None:
    """P[loss > 500] by 4,000 simulated transcripts is above the bound on delta, up to an error of 1e-4 or less."""
    rng, n = stream(1, "transcripts"), 10
    mu = 2 * n / PrintedGradientPerturbation(500.0).sigma(n)
    noise = rng.standard_normal((4000, n * n)) + mu * (rng.random((4000, n * n)) < 1 / n)
    loss = np.sum(np.log1p(np.expm1(mu * noise - mu**2 / 2) / n), axis=1)
    assert 0.3 < transcript_delta(500.0, n) <= np.mean(loss > 500) + 0.03


def test_the_final_parameters_alone_exceed_delta_as_computed() -> None:
    """At epsilon = 50,000 two equal records never lead below 0; with one label reversed 1/16 of the runs do, or more."""
    mechanism, rng = PrintedGradientPerturbation(5e4, radius=0.5, loss=Huber(0.5)), stream(1, "final")
    equal, turned = ([((1.0,), 1.0), ((1.0,), label)] for label in (1.0, -1.0))
    assert mechanism.sample_final(labelled_records(equal), 4000, rng).min() > 0
    below = np.mean(mechanism.sample_final(labelled_records(turned), 4000, rng) < 0)
    assert final_delta(5e4, 2) == pytest.approx(1 / 16)
    assert below > 1 / 16 - 0.015  # with probability 1 - 1e-4
    assert float(ndtr(-1 / mechanism.sigma(2))) < 1e-300
