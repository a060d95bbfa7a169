"""Does a sampler draw from the density that its mechanism states? Calibrated tests, and the density's total mass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from epsilometer.core import NeighbouringPair

FALSE_FAILURE = 1e-6
"""A test fails when its p-value is below this: the probability that it does so by chance."""


def continuous_1d(
    mechanism: Any, dataset: Any, rng: np.random.Generator, centre: float, scale: float, size: int = 20_000
) -> tuple[float, float]:
    """p-value of the probability integral transform of samples (Kolmogorov-Smirnov), and the density's mass.

    The density is integrated on x = centre + scale sinh(u), which reaches into heavy tails.
    """
    u = np.linspace(-40, 40, 160_001)
    x = centre + scale * np.sinh(u)
    with np.errstate(over="ignore", under="ignore"):
        density = np.exp(mechanism.log_density(dataset, _like(mechanism, dataset, x))) * scale * np.cosh(u)
    density = np.nan_to_num(density)
    steps = np.concatenate([[0.0], (density[1:] + density[:-1]) / 2 * np.diff(u)])
    cdf = np.cumsum(steps)
    samples = np.asarray(mechanism.sample(dataset, size, rng), dtype=float).reshape(size)
    transformed = np.interp(np.arcsinh((samples - centre) / scale), u, cdf / cdf[-1])
    return float(stats.kstest(transformed, "uniform").pvalue), float(cdf[-1])


def _like(mechanism: Any, dataset: Any, x: NDArray[Any]) -> NDArray[Any]:
    """The points x in the shape of the mechanism's outputs, (size,) or (size, 1)."""
    shape = np.shape(mechanism.sample(dataset, 2, np.random.default_rng(0)))[1:]
    return x.reshape(len(x), *shape)


def continuous_2d(mechanism: Any, dataset: Any, rng: np.random.Generator, size: int = 20_000) -> tuple[float, float]:
    """p-value of a chi-square test on a 10 x 10 grid with everything outside as one more cell, and the density's mass."""
    first = np.asarray(mechanism.sample(dataset, 4_000, rng), dtype=float)
    centre = np.median(first, axis=0)
    scale = np.subtract(*np.quantile(first, [0.75, 0.25], axis=0))
    u = np.linspace(-14, 14, 701)
    axes = [centre[k] + scale[k] * np.sinh(u) for k in range(2)]
    jacobian = np.outer(*(scale[k] * np.cosh(u) for k in range(2)))
    mass = float(np.sum(_density_on(mechanism, dataset, *axes) * jacobian) * (u[1] - u[0]) ** 2)

    edges = [np.quantile(first[:, k], np.linspace(0.005, 0.995, 11)) for k in range(2)]
    nodes, weights = np.polynomial.legendre.leggauss(24)
    points = [((low + high) / 2 + np.outer(nodes, (high - low) / 2)).T for low, high in ((e[:-1], e[1:]) for e in edges)]
    areas = [np.outer(np.diff(e) / 2, weights) for e in edges]
    values = _density_on(mechanism, dataset, points[0].ravel(), points[1].ravel())
    values = values.reshape(10, 24, 10, 24) * areas[0][:, :, None, None] * areas[1][None, None]
    expected = values.sum(axis=(1, 3)).ravel()
    expected = np.append(expected, max(1 - expected.sum(), 1e-12))
    second = np.asarray(mechanism.sample(dataset, size, rng), dtype=float)
    counts = np.histogram2d(second[:, 0], second[:, 1], bins=edges)[0].ravel()
    return chi_square(np.append(counts, size - counts.sum()), expected), mass


def _density_on(mechanism: Any, dataset: Any, x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
    with np.errstate(over="ignore", under="ignore"):
        density = np.exp(mechanism.log_density(dataset, grid.reshape(-1, 2)))
    return np.nan_to_num(density).reshape(len(x), len(y))


def finite(mechanism: Any, dataset: Any, rng: np.random.Generator, size: int = 20_000) -> tuple[float, float]:
    """p-value of a chi-square test over the support, and the total probability; 0 if a sample is outside the support."""
    support = np.asarray(mechanism.support(dataset))
    probability = np.exp(mechanism.log_density(dataset, support))
    place = {_key(output): number for number, output in enumerate(support)}
    assert len(place) == len(support), "the support lists an output twice"
    counts = np.zeros(len(support))
    for key, count in zip(*_unique(mechanism.sample(dataset, size, rng)), strict=True):
        if key not in place:
            return 0.0, float(probability.sum())
        counts[place[key]] += count
    return chi_square(counts, probability), float(probability.sum())


def _unique(samples: NDArray[Any]) -> tuple[list[bytes], list[int]]:
    rows, counts = np.unique(np.asarray(samples).reshape(len(samples), -1), axis=0, return_counts=True)
    merged: dict[bytes, int] = {}
    for row, count in zip(rows, counts, strict=True):
        merged[_key(row)] = merged.get(_key(row), 0) + int(count)
    return list(merged), list(merged.values())


def _key(output: Any) -> bytes:
    values = np.asarray(output, dtype=float).ravel() + 0.0
    return np.where(np.isnan(values), np.nan, values).tobytes()


def chi_square(counts: NDArray[Any], probability: NDArray[Any]) -> float:
    """p-value of observed counts; cells that expect fewer than ten are pooled."""
    expected = probability / probability.sum() * counts.sum()
    if counts[expected == 0].sum() > 0:
        return 0.0
    small = expected < 10
    if small.any():
        counts = np.append(counts[~small], counts[small].sum())
        expected = np.append(expected[~small], expected[small].sum())
    kept = expected > 0
    if kept.sum() < 2:
        return 1.0
    return float(stats.chisquare(counts[kept], expected[kept]).pvalue)


def ratio_identity(mechanism: Any, pair: NeighbouringPair, rng: np.random.Generator, size: int = 20_000) -> float:
    """p-value for: in every range of the log-ratio L, the second data set's share is the first's mean of exp(-L).

    It holds in any dimension, in both directions; a sample to which its own data set gives no density makes it 0.
    """
    p_values = []
    for here in (pair, pair.reversed()):
        first = mechanism.sample(here.first, size, rng)
        second = mechanism.sample(here.second, size, rng)
        own = mechanism.log_density(here.second, second)
        if np.isneginf(own).any() or np.isnan(own).any():
            return 0.0
        ratio_first = _ratio(mechanism, here, first)
        ratio_second = _ratio(mechanism, here, second)
        pooled = np.concatenate([ratio_first, ratio_second])
        pooled = pooled[np.isfinite(pooled)]
        if pooled.size == 0:  # each output is possible under one data set only
            continue
        edges = np.unique(np.quantile(pooled, np.linspace(0, 1, 13), method="nearest"))
        for low, high in zip(np.append(-np.inf, edges), np.append(edges, np.inf), strict=True):
            weight = np.where((ratio_first > low) & (ratio_first <= high), np.exp(-ratio_first), 0.0)
            share = (ratio_second > low) & (ratio_second <= high)
            inside = weight[weight > 0]
            if min(len(inside), share.sum()) >= 50 and inside.max() < 20 * inside.min():  # else no normal approximation
                error = np.sqrt((weight.var() + share.var()) / size) or np.finfo(float).tiny
                p_values.append(2 * stats.norm.sf(abs(weight.mean() - share.mean()) / error))
    return float(min(1.0, len(p_values) * min(p_values))) if p_values else 1.0


def _ratio(mechanism: Any, pair: NeighbouringPair, outputs: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        ratio = mechanism.log_density(pair.first, outputs) - mechanism.log_density(pair.second, outputs)
    return np.round(ratio, 6)  # values that only rounding tells apart belong to one range
