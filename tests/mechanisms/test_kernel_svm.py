"""The kernel SVM on random Fourier features: features, minimiser, sensitivity and noise.

The test of the noise would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from epsilometer.core import Array, EpsilometerError, Guarantee, LabelledData
from epsilometer.mechanisms.kernel_svm import ENTRIES, FourierFeatureSVM


def drawn(n: int, d: int, rng: np.random.Generator) -> LabelledData:
    x = rng.standard_normal((n, d))
    x *= rng.random((n, 1)) / np.linalg.norm(x, axis=1, keepdims=True)
    return LabelledData(x, rng.choice([-1.0, 1.0], n))


def objective(mechanism: FourierFeatureSVM, data: LabelledData, w: Array) -> float:
    margins = data.labels * (mechanism.features(data.features) @ w)
    return float(w @ w / 2 + mechanism.C * np.maximum(0, 1 - margins).mean())


def test_the_features_stand_for_the_gaussian_kernel() -> None:
    mechanism = FourierFeatureSVM(1.0, frequencies=40_000, bandwidth=0.7)
    x = drawn(6, 3, np.random.default_rng(1)).features
    phi = mechanism.features(x)
    assert phi.shape == (6, 80_000)
    np.testing.assert_allclose(np.linalg.norm(phi, axis=1), 1)
    squares = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(phi @ phi.T, np.exp(-squares / (2 * 0.7**2)), atol=0.02)  # deviation below 1/sqrt(80000)


def test_the_features_are_public() -> None:
    """They depend on the seed and on nothing else."""
    one, same, other = (FourierFeatureSVM(epsilon, seed=seed) for epsilon, seed in ((1.0, 4), (2.0, 4), (1.0, 5)))
    assert np.array_equal(one.frequency_vectors(2), same.frequency_vectors(2))
    assert not np.any(one.frequency_vectors(2) == other.frequency_vectors(2))


@pytest.mark.slow
@pytest.mark.parametrize("C", [0.5, 4.0, 100.0])
def test_the_weights_minimise_the_objective(C: float) -> None:
    """Against a general solver of the dual, and no nearby point is better."""
    rng = np.random.default_rng(2)
    data, mechanism = drawn(20, 2, rng), FourierFeatureSVM(1.0, frequencies=3, C=C)
    w = mechanism.weights(data)
    signed = data.labels[:, None] * mechanism.features(data.features)
    gram = signed @ signed.T

    def dual(m: Any) -> float:
        return float(m @ gram @ m / 2 - m.sum())

    def slope(m: Any) -> Any:
        return gram @ m - 1

    box = optimize.Bounds(np.zeros(20), np.full(20, C / 20))
    found = optimize.minimize(dual, np.zeros(20), jac=slope, bounds=box, tol=1e-14)
    np.testing.assert_allclose(w, found.x @ signed, atol=1e-4 * max(1, C))
    assert objective(mechanism, data, w) == pytest.approx(-found.fun, rel=1e-6)  # strong duality
    for step in (1e-2, 1e-4):
        for direction in rng.standard_normal((50, 6)):
            assert objective(mechanism, data, w + step * direction) > objective(mechanism, data, w)


def test_inside_the_margin_the_weights_are_a_mean() -> None:
    data, mechanism = drawn(7, 2, np.random.default_rng(3)), FourierFeatureSVM(1.0, C=0.9)
    expected = 0.9 * (data.labels[:, None] * mechanism.features(data.features)).mean(axis=0)
    np.testing.assert_allclose(mechanism.weights(data), expected, rtol=1e-12)


def test_weights_of_records_count_as_copies() -> None:
    data, mechanism = drawn(4, 2, np.random.default_rng(4)), FourierFeatureSVM(1.0, C=10.0)
    counts = np.array([1, 3, 2, 1])
    copies = data.take(np.repeat(np.arange(4), counts))
    weighted = LabelledData(data.features, data.labels, counts.astype(float))
    np.testing.assert_allclose(mechanism.weights(weighted), mechanism.weights(copies), atol=1e-6)
    assert mechanism.scale(weighted.n) == mechanism.scale(copies.n)


@pytest.mark.slow
@pytest.mark.parametrize("C", [0.5, 4.0, 30.0])
def test_an_exchanged_record_moves_the_weights_by_at_most_two_c_over_n(C: float) -> None:
    """Half of the stability that the paper takes."""
    rng = np.random.default_rng(5)
    mechanism = FourierFeatureSVM(1.0, C=C, tight=True)
    moved = []
    for _ in range(60):
        data = drawn(6, 2, rng)
        other = LabelledData(
            np.vstack([data.features[:-1], drawn(1, 2, rng).features]), np.append(data.labels[:-1], -data.labels[-1])
        )
        change = mechanism.weights(data) - mechanism.weights(other)
        moved.append(np.linalg.norm(change))
        assert np.abs(change).sum() <= mechanism.scale(6) * (1 + 1e-9)
    assert max(moved) <= 2 * C / 6 * (1 + 1e-9)


@pytest.mark.parametrize("tight", [False, True])
def test_what_the_pairs_spend(tight: bool) -> None:
    """The contested point attains the L2 and the L1 bound; the paper's noise is twice what that takes."""
    entry = ENTRIES[tight]
    for epsilon in (0.3, 2.0):
        mechanism = entry.build(epsilon)
        assert isinstance(mechanism, FourierFeatureSVM)
        assert mechanism.guarantee == Guarantee(epsilon, "replace-one")
        spent = []
        for pair in entry.pairs():
            assert isinstance(pair.first, LabelledData)
            assert isinstance(pair.second, LabelledData)
            change = mechanism.weights(pair.first) - mechanism.weights(pair.second)
            spent.append(np.abs(change).sum() / mechanism.scale(pair.first.n))
            outputs = mechanism.sample(pair.first, 2_000, np.random.default_rng(6))
            ratio = mechanism.log_density(pair.first, outputs) - mechanism.log_density(pair.second, outputs)
            assert np.abs(ratio).max() == pytest.approx(spent[-1])
        assert entry.true_epsilon
        assert max(spent) == pytest.approx(entry.true_epsilon(epsilon))
        assert max(spent) == pytest.approx(epsilon if tight else epsilon / 2)


def test_the_scale_is_the_papers() -> None:
    assert FourierFeatureSVM(0.5, frequencies=7, C=3.0).scale(11) == pytest.approx(2**2.5 * 3 * math.sqrt(7) / (0.5 * 11))


def test_sampler_and_density_are_those_of_laplace_noise() -> None:
    data, mechanism = drawn(9, 2, np.random.default_rng(7)), FourierFeatureSVM(1.5)
    outputs = mechanism.sample(data, 5_000, np.random.default_rng(8))
    noise, law = outputs - mechanism.weights(data), stats.laplace(scale=mechanism.scale(9))
    assert stats.kstest(noise.ravel(), law.cdf).pvalue > 1e-6
    np.testing.assert_allclose(mechanism.log_density(data, outputs), law.logpdf(noise).sum(axis=1))


def test_predictions_are_signs() -> None:
    """Without noise, a wide enough kernel machine separates a disc from its surroundings, which no line can."""
    rng = np.random.default_rng(9)
    x = drawn(60, 2, rng).features
    data = LabelledData(x, np.where(np.linalg.norm(x, axis=1) < 0.45, 1.0, -1.0))
    mechanism = FourierFeatureSVM(1.0, frequencies=20, bandwidth=0.4, C=200.0)
    predicted = mechanism.predict(mechanism.weights(data)[None], x)
    assert predicted.shape == (1, 60)
    assert (predicted[0] == data.labels).mean() > 0.9


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(EpsilometerError, match="epsilon is -2"):
        FourierFeatureSVM(-2.0)
    with pytest.raises(EpsilometerError, match="bandwidth is 0"):
        FourierFeatureSVM(1.0, bandwidth=0.0)
    with pytest.raises(EpsilometerError, match="frequencies is 0"):
        FourierFeatureSVM(1.0, frequencies=0)
