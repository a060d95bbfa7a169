"""Spherical noise has a Gamma norm and a uniform direction.

Each Kolmogorov-Smirnov or correlation test would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from epsilometer.erm import spherical_noise

SIZE = 20_000


@pytest.mark.parametrize(("d", "rate"), [(1, 1.0), (2, 0.05), (3, 7.0), (10, 1e-3), (30, 200.0)])
def test_the_norm_is_gamma(d: int, rate: float) -> None:
    noise = spherical_noise(SIZE, d, rate, np.random.default_rng(1))
    assert noise.shape == (SIZE, d)
    norms = np.sqrt(np.sum(noise**2, axis=1))
    assert stats.kstest(norms, stats.gamma(d, scale=1 / rate).cdf).pvalue > 1e-6


@pytest.mark.parametrize("d", [2, 3, 10])
def test_the_direction_is_uniform(d: int) -> None:
    """A coordinate u of a uniform direction has (1 + u)/2 ~ Beta((d-1)/2, (d-1)/2), along an axis or any other line."""
    noise = spherical_noise(SIZE, d, 2.0, np.random.default_rng(2))
    direction = noise / np.linalg.norm(noise, axis=1, keepdims=True)
    line = np.full(d, 1 / np.sqrt(d))
    for coordinate in [*direction.T, direction @ line]:
        assert stats.kstest((1 + coordinate) / 2, stats.beta((d - 1) / 2, (d - 1) / 2).cdf).pvalue > 1e-6


def test_norm_and_direction_are_independent() -> None:
    noise = spherical_noise(SIZE, 3, 1.0, np.random.default_rng(3))
    norms = np.linalg.norm(noise, axis=1)
    for coordinate in (noise / norms[:, None]).T:
        assert stats.spearmanr(norms, coordinate).pvalue > 1e-6
        assert stats.spearmanr(norms, np.abs(coordinate)).pvalue > 1e-6


def test_vectors_are_independent() -> None:
    noise = spherical_noise(SIZE, 2, 1.0, np.random.default_rng(4))
    assert stats.spearmanr(noise[1:, 0], noise[:-1, 0]).pvalue > 1e-6
    assert stats.spearmanr(np.linalg.norm(noise[1:], axis=1), np.linalg.norm(noise[:-1], axis=1)).pvalue > 1e-6


@pytest.mark.parametrize("rate", [0.01, 3.0])
def test_on_the_line_it_is_laplace(rate: float) -> None:
    noise = spherical_noise(SIZE, 1, rate, np.random.default_rng(5))[:, 0]
    assert stats.kstest(noise, stats.laplace(scale=1 / rate).cdf).pvalue > 1e-6
