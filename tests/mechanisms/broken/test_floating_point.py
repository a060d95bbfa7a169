"""The textbook sampler of Laplace noise leaks through its last bits; the snapping mechanism does not.

Each statistical test would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from epsilometer.core import EpsilometerError, HasDensity
from epsilometer.mechanisms.broken.floating_point import FloatingPointLaplace, Snapping
from epsilometer.mechanisms.catalogue import find, largest_log_ratio
from tests.mechanisms import agreement

EPSILONS = (0.1, 0.5, 1.0)


def every_output(count: int, epsilon: float, bits: int) -> Any:
    """The output for each sign and each uniform number, by a loop over all of them."""
    u = np.arange(1, 2**bits + 1) / 2**bits
    noise = 1 / epsilon * np.log(u)
    return np.concatenate([count + noise, count - noise])


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("count", [0, 3])
def test_the_ways_to_an_output_are_those_of_brute_force(epsilon: float, count: int) -> None:
    """All 2^13 outputs of a 12-bit uniform number; and the next double after each, most of which are not in the support."""
    mechanism, data = FloatingPointLaplace(epsilon, 12), np.array([1] * count + [0])
    possible, ways = np.unique(every_output(count, epsilon, 12), return_counts=True)
    np.testing.assert_array_equal(mechanism.ways(data, possible), ways)
    np.testing.assert_allclose(np.exp(mechanism.log_probability(data, possible)), ways / 2**13)
    beside = np.nextafter(possible, math.inf)
    np.testing.assert_array_equal(mechanism.attainable(data, beside), np.isin(beside, possible))


def test_large_counts_round_many_noises_to_one_output() -> None:
    """With a count of 2^10 and 45 bits there are several ways to outputs near the count; a scan of all near k finds them."""
    mechanism, data, count = FloatingPointLaplace(4.0, 45), np.ones(2**10, dtype=int), 2.0**10
    outputs = mechanism.sample(data, 200, np.random.default_rng(0))
    ways = mechanism.ways(data, outputs)
    assert ways.max() > 5
    for output, number in zip(outputs[:20], ways[:20], strict=True):
        k = np.round(np.exp(-4 * abs(output - count)) * 2.0**45) + np.arange(-3_000, 3_001)
        k = k[(k >= 1) & (k <= 2.0**45)]
        noise = 0.25 * np.log(k * 2.0**-45)
        assert np.sum(count + noise == output) + np.sum(count - noise == output) == number


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_many_outputs_are_possible_under_one_data_set_only(epsilon: float) -> None:
    entry = find("laplace_floating_point")
    mechanism: Any = entry.build(epsilon)
    assert entry.true_epsilon is not None
    assert entry.true_epsilon(epsilon) == math.inf
    for pair in entry.pairs():
        for here in (pair, pair.reversed()):
            samples = mechanism.sample(here.first, 4_000, np.random.default_rng(0))
            assert mechanism.attainable(here.first, samples).all()
            assert np.mean(mechanism.attainable(here.second, samples)) < 0.9
    assert (
        np.mean(mechanism.attainable(entry.pairs()[0].second, mechanism.sample(entry.pairs()[0].first, 4_000, rng()))) < 0.5
    )


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_fewer_bits_leave_no_common_output() -> None:
    mechanism = FloatingPointLaplace(0.5, 32)
    samples = mechanism.sample(np.array([0, 0]), 4_000, rng())
    assert not mechanism.attainable(np.array([0, 1]), samples).any()


def test_to_the_eye_the_noise_is_laplace() -> None:
    samples = FloatingPointLaplace(0.5).sample(np.array([1, 1, 0]), 20_000, rng())
    assert stats.kstest(samples, stats.laplace(2, 2).cdf).pvalue > 1e-6


def test_it_has_probabilities_but_no_density() -> None:
    mechanism = FloatingPointLaplace(1.0)
    assert not isinstance(mechanism, HasDensity)
    assert np.isneginf(mechanism.log_probability(np.array([1]), np.array([math.inf, math.nan, 1e300]))).all()


@pytest.mark.parametrize("epsilon", [*EPSILONS, 3.0])
def test_snapping_keeps_the_promise(epsilon: float) -> None:
    entry, mechanism = find("snapping"), Snapping(epsilon)
    for pair in entry.pairs():
        np.testing.assert_array_equal(mechanism.support(np.asarray(pair.first)), mechanism.support(np.asarray(pair.second)))
        assert largest_log_ratio(mechanism, pair) == pytest.approx(epsilon, rel=1e-9)
    assert entry.true_epsilon is not None
    assert entry.true_epsilon(epsilon) <= epsilon


@pytest.mark.parametrize("mechanism", [Snapping(0.1), Snapping(1.0), Snapping(1.0, 6.5), Snapping(0.9, 4.0)])
def test_snapped_samples_have_the_stated_probabilities(mechanism: Snapping) -> None:
    for data in (np.array([0]), np.array([1, 1, 1]), np.ones(40, dtype=int)):
        p_value, mass = agreement.finite(mechanism, data, rng())
        assert p_value > agreement.FALSE_FAILURE
        assert mass == pytest.approx(1, abs=1e-12)


def test_snapped_outputs_are_multiples_of_a_power_of_two() -> None:
    assert Snapping(0.1).unit == 16.0
    assert Snapping(0.6, 7.0).unit == 2.0
    np.testing.assert_array_equal(Snapping(0.6, 7.0).support(np.array([1])), [-7, -6, -4, -2, 0, 2, 4, 6, 7])
    assert np.isneginf(Snapping(0.6, 7.0).log_density(np.array([1]), np.array([1.0, 8.0, -7.5]))).all()


def test_what_is_refused() -> None:
    for bits in (0, 54):
        with pytest.raises(EpsilometerError, match=f"bits is {bits}; it must be from 1 to 53"):
            FloatingPointLaplace(1.0, bits)
    with pytest.raises(EpsilometerError, match="epsilon is 0"):
        FloatingPointLaplace(0.0)
    with pytest.raises(EpsilometerError, match="bound is 256; it must be above the noise's scale 1000"):
        Snapping(0.001)
    with pytest.raises(EpsilometerError, match="epsilon is nan"):
        Snapping(math.nan)
