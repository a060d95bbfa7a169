"""The broken counts and histograms have exactly the stated privacy loss; the correct ones stay within their claimed epsilon.

Each statistical test would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from epsilometer.core import EpsilometerError, NeighbouringPair
from epsilometer.mechanisms.broken.scalar import (
    AmplifiedFullBatch,
    GeometricCounts,
    OneByteSeed,
    ReusedNoise,
    SubsampledCount,
    count_bits,
    histogram,
)
from epsilometer.mechanisms.catalogue import find, largest_log_ratio
from epsilometer.mechanisms.laplace import Laplace
from tests.mechanisms import agreement

EPSILONS = (0.1, 0.5, 0.9)


def grid(mechanism: Any, pair: NeighbouringPair) -> Any:
    """Outputs around the answers, including the tails."""
    line = np.linspace(-30, 30, 1_201) * mechanism.scale
    if np.ndim(mechanism.sample(pair.first, 1, np.random.default_rng(0))) == 1:
        return line + 2.0
    points = np.ones((len(line) * 5, 5))
    for place in range(5):
        points[place * len(line) : (place + 1) * len(line), place] += line
    corners = np.array(list(itertools.product((-50.0, 50.0), repeat=5)))
    return np.concatenate([points, corners])


def spent(mechanism: Any, pair: NeighbouringPair) -> float:
    outputs = grid(mechanism, pair)
    return float(np.abs(mechanism.log_density(pair.first, outputs) - mechanism.log_density(pair.second, outputs)).max())


SIBLINGS: dict[str, Any] = {
    "laplace_half_scale": lambda epsilon: Laplace(count_bits, 1, epsilon),
    "histogram_wrong_adjacency": lambda epsilon: Laplace(histogram, 2, epsilon),
    "histogram_inverse_scale": lambda epsilon: Laplace(histogram, 1, epsilon, "add-remove"),
    "full_batch_amplified": SubsampledCount,
}
STATED: dict[str, Any] = {
    "laplace_half_scale": lambda epsilon: 2 * epsilon,
    "histogram_wrong_adjacency": lambda epsilon: 2 * epsilon,
    "histogram_inverse_scale": lambda epsilon: 1 / epsilon,
    "full_batch_amplified": lambda epsilon: math.log(1 + 5 * (math.exp(epsilon) - 1)),
}


@pytest.mark.parametrize("name", SIBLINGS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_it_spends_what_is_stated_and_its_sibling_what_is_promised(name: str, epsilon: float) -> None:
    entry = find(name)
    assert entry.flaw
    assert entry.true_epsilon is not None
    worst = max(spent(entry.build(epsilon), pair) for pair in entry.pairs())
    assert worst == pytest.approx(STATED[name](epsilon), rel=1e-9)
    assert entry.true_epsilon(epsilon) == pytest.approx(worst, rel=1e-9)
    assert worst > 1.1 * epsilon
    sibling = max(spent(SIBLINGS[name](epsilon), pair) for pair in entry.pairs())
    assert sibling == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_byte_of_seed_separates_the_answers(epsilon: float) -> None:
    entry, mechanism = find("laplace_one_byte_seed"), OneByteSeed(count_bits, 1, epsilon)
    pair: Any = entry.pairs()[0]
    samples = mechanism.sample(pair.first, 50_000, np.random.default_rng(0))
    assert len(np.unique(samples)) == len(mechanism.support(pair.first)) == 256
    assert np.isfinite(mechanism.log_density(pair.first, samples)).all()
    assert np.isneginf(mechanism.log_density(pair.second, samples)).all()
    assert largest_log_ratio(mechanism, pair) == math.inf
    p_value, mass = agreement.finite(mechanism, pair.first, np.random.default_rng(1))
    assert p_value > agreement.FALSE_FAILURE
    assert mass == pytest.approx(1)


def test_the_noise_of_a_byte_is_laplace_noise() -> None:
    """256 fixed values; a Kolmogorov-Smirnov test of such a sample rejects with probability 1e-6."""
    mechanism = OneByteSeed(count_bits, 1, 0.5)
    assert stats.kstest(mechanism.support(np.array([0])), stats.laplace(scale=2).cdf).pvalue > 1e-6


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_reused_noise_shows_the_difference(epsilon: float) -> None:
    first, second = find("geometric_reused_noise").pairs()
    mechanism = ReusedNoise(epsilon)
    assert largest_log_ratio(mechanism, first) == math.inf
    assert largest_log_ratio(mechanism, second) <= epsilon
    data: Any = first.first
    inside = [row for row in mechanism.support(data) if row.min() > 0 and row.max() < len(data)]
    assert inside
    assert {int(row[0] - row[1]) for row in inside} == {int(data[:, 0].sum() - data[:, 1].sum())}
    for pair in (first, second):
        assert largest_log_ratio(GeometricCounts(epsilon), pair) <= epsilon * (1 + 1e-9)
    assert largest_log_ratio(GeometricCounts(epsilon), second) == pytest.approx(epsilon)


@pytest.mark.parametrize("build", [GeometricCounts, ReusedNoise])
@pytest.mark.parametrize("epsilon", [0.1, 2.0])
def test_geometric_probabilities_agree_with_the_sum_over_the_noise(build: Any, epsilon: float) -> None:
    """Brute force: every noise from -1000 to 1000, with and without sharing it."""
    data = np.array([[1, 0, 1], [1, 1, 0], [1, 0, 0]])
    a = math.exp(-epsilon / 3)
    noise = np.arange(-1000, 1001)
    chance = (1 - a) / (1 + a) * a ** np.abs(noise)
    places = np.clip(np.array([3, 1, 1]) + noise[:, None], 0, 3)
    expected = np.zeros((4, 4, 4))
    if build is ReusedNoise:
        np.add.at(expected, tuple(places.T), chance)
    else:
        parts = [np.bincount(places[:, j], weights=chance, minlength=4) for j in range(3)]
        expected = np.einsum("i,j,k->ijk", *parts)
    outputs = np.array(list(np.ndindex(4, 4, 4)))
    np.testing.assert_allclose(np.exp(build(epsilon).log_density(data, outputs)), expected.ravel(), rtol=1e-10, atol=1e-30)
    support = build(epsilon).support(data)
    assert {tuple(row) for row in support} == {tuple(row) for row in np.argwhere(expected > 0)}
    assert np.isneginf(build(epsilon).log_density(data, np.array([[-1, 0, 0], [4, 1, 1], [0.5, 1, 1]]))).all()


@pytest.mark.parametrize("build", [GeometricCounts, ReusedNoise])
def test_geometric_samples_have_these_probabilities(build: Any) -> None:
    for pair in find("geometric_counts").pairs():
        p_value, mass = agreement.finite(build(0.7), pair.first, np.random.default_rng(2))
        assert p_value > agreement.FALSE_FAILURE
        assert mass == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("build", [SubsampledCount, AmplifiedFullBatch])
def test_counts_have_the_stated_density(build: Any) -> None:
    data = np.array([1, 1, 0, 1, 1, 1, 0])
    p_value, mass = agreement.continuous_1d(build(0.6, 0.4), data, np.random.default_rng(3), centre=2.0, scale=1.0)
    assert p_value > agreement.FALSE_FAILURE
    assert mass == pytest.approx(1, abs=1e-4)


def test_the_count_of_a_sample_is_the_sum_over_all_samples() -> None:
    """The mixture over the 2^4 subsets of four records, two of them ones."""
    data, q, mechanism = np.array([1, 0, 1, 0]), 0.3, SubsampledCount(0.8, 0.3)
    outputs = np.linspace(-4, 6, 41)
    scale = 1 / math.log(1 + (math.exp(0.8) - 1) / q)
    expected = np.zeros(len(outputs))
    for chosen in itertools.product((0, 1), repeat=4):
        chance = q ** sum(chosen) * (1 - q) ** (4 - sum(chosen))
        expected += chance * stats.laplace.pdf(outputs - float(np.dot(chosen, data)), scale=scale)
    np.testing.assert_allclose(mechanism.log_density(data, outputs), np.log(expected), rtol=1e-12)


def test_no_ones_and_every_record_are_fine() -> None:
    for fraction in (0.3, 1.0):
        density = SubsampledCount(1.0, fraction).log_density(np.array([0, 0]), np.array([0.0]))
        assert density[0] == pytest.approx(math.log(math.log(1 + (math.e - 1) / fraction) / 2))
    whole = SubsampledCount(1.0, 1.0).log_density(np.array([1, 1]), np.array([0.5]))
    assert whole[0] == pytest.approx(math.log(0.5) - 1.5)


def test_histograms_count_their_bins_and_refuse_others() -> None:
    np.testing.assert_array_equal(histogram(np.array([4, 0, 4, 2])), [1, 0, 1, 0, 2])
    with pytest.raises(EpsilometerError, match="a record 5; it must be a list of bins from 0 to 4"):
        histogram(np.array([1, 5]))
    with pytest.raises(EpsilometerError, match=r"a record 1\.5"):
        histogram(np.array([1.5]))
    with pytest.raises(EpsilometerError, match=r"shape \(1, 2\)"):
        histogram(np.array([[1, 2]]))


@pytest.mark.parametrize("fraction", [0.0, 1.5, math.nan])
def test_a_fraction_outside_the_unit_interval_is_refused(fraction: float) -> None:
    with pytest.raises(EpsilometerError, match=f"fraction is {fraction:g}"):
        AmplifiedFullBatch(1.0, fraction)
