"""Goodness of fit between a mechanism's sampler and its density: calibrated tests, and the density's total mass.

Every p-value is valid: if the samples have the stated density, it is below u with probability at most u (in `chi_square` and
in the ranges of `ratio_identity` up to the error of a normal approximation).
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from epsilometer.core import NeighbouringPair

FALSE_FAILURE = 1e-6
"""A test fails when its p-value is below this: the probability that it does so by chance."""


def fit(mechanism: Any, dataset: Any, rng: np.random.Generator, kind: str, size: int = 4_000) -> tuple[float, float]:
    """p-value and total mass by the test for the kind of outputs: finite, one number, two numbers, or at most one value."""
    if kind == "listed":
        return finite(mechanism, dataset, rng, size)
    if kind == "one value":
        return one_value(mechanism, dataset, rng, size)
    if kind == "plane":
        return continuous_2d(mechanism, dataset, rng, size)
    low, centre, high = np.quantile(mechanism.sample(dataset, 2_000, rng), [0.45, 0.5, 0.55])  # where it may be a peak
    return continuous_1d(mechanism, dataset, rng, centre, high - low, size, points=80_001)


def continuous_1d(
    mechanism: Any,
    dataset: Any,
    rng: np.random.Generator,
    centre: float,
    scale: float,
    size: int = 20_000,
    points: int = 160_001,
) -> tuple[float, float]:
    """p-value of the probability integral transform of samples (see `uniform`), and the density's mass.

    The density is integrated on x = centre + scale sinh(u), which reaches into heavy tails.
    """
    u = np.linspace(-40, 40, points)
    x = centre + scale * np.sinh(u)
    with np.errstate(over="ignore", under="ignore"):
        density = np.exp(mechanism.log_density(dataset, _like(mechanism, dataset, x))) * scale * np.cosh(u)
    density = np.nan_to_num(density)
    steps = np.concatenate([[0.0], (density[1:] + density[:-1]) / 2 * np.diff(u)])
    cdf = np.cumsum(steps)
    samples = np.asarray(mechanism.sample(dataset, size, rng), dtype=float).reshape(size)
    transformed = np.interp(np.arcsinh((samples - centre) / scale), u, cdf / cdf[-1])
    return uniform(transformed), float(cdf[-1])


def uniform(values: NDArray[Any]) -> float:
    """p-value of the hypothesis that the values are independent and uniform on [0, 1].

    The Kolmogorov-Smirnov test looks at the whole distribution, but has little power against noise of a wrong scale. So the
    sum of squares of the normal scores, a chi-square variable, is tested too. The smaller p-value is doubled (Bonferroni).
    """
    scores = stats.norm.ppf(np.clip(values, 1e-12, 1 - 1e-12))
    squares = stats.chi2(len(values))
    total = float(np.sum(scores**2))
    scale = 2 * min(squares.cdf(total), squares.sf(total))
    return float(min(1.0, 2 * min(stats.kstest(values, "uniform").pvalue, scale)))


def _like(mechanism: Any, dataset: Any, x: NDArray[Any]) -> NDArray[Any]:
    """The points x in the shape of the mechanism's outputs, (size,) or (size, 1)."""
    shape = np.shape(mechanism.sample(dataset, 2, np.random.default_rng(0)))[1:]
    return x.reshape(len(x), *shape)


def continuous_2d(mechanism: Any, dataset: Any, rng: np.random.Generator, size: int = 20_000) -> tuple[float, float]:
    """p-value of a chi-square test on a 10 x 10 grid with everything outside as one more cell, and the density's mass."""
    first = np.asarray(mechanism.sample(dataset, 4_000, rng), dtype=float)
    centre = np.median(first, axis=0)
    scale = np.subtract(*np.quantile(first, [0.75, 0.25], axis=0))
    u = np.linspace(-14, 14, 561)
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


def along_lines(mechanism: Any, dataset: Any, rng: np.random.Generator, size: int | None = None) -> float:
    """p-value for outputs of any number of continuous coordinates: each output's place on lines through it.

    Given the line through an output x in a direction v that does not depend on x, the place t of x = y + t v has the density
    p(y + t v) up to a constant. Given the ray from a fixed centre c through x, the place r of x = c + r v has the density
    r^(d - 1) p(c + r v) up to a constant. Both places are transformed to be uniform, for `size` outputs each. Lines have
    power against a wrong shape and wrong dependence of the coordinates; rays have power against a wrong scale, which
    increases with the number of coordinates. A constant factor of the density is not tested.
    """
    first = np.asarray(mechanism.sample(dataset, 2_000, rng), dtype=float)
    centre = np.median(first, axis=0)
    scale = np.subtract(*np.quantile(first, [0.75, 0.25], axis=0))
    d = len(centre)
    size = size or max(600, 8_000 // d)
    on_lines, on_rays = (np.asarray(mechanism.sample(dataset, size, rng), dtype=float) for _ in range(2))
    t = np.sinh(np.linspace(-5.5, 5.5, 121))
    u = np.sinh(np.linspace(-4.5, 4.5, 121)) / (2 * np.sqrt(d))  # r = exp(u), so that r^(d - 1) dr = exp(d u) du
    places = (
        _places(mechanism, dataset, on_lines, scale * rng.standard_normal((size, d)), t, t, np.zeros_like(t)),
        _places(mechanism, dataset, on_rays, on_rays - centre, np.expm1(u), u, d * u),
    )
    return min(1.0, 2 * min(map(uniform, places)))


def _places(
    mechanism: Any,
    dataset: Any,
    outputs: NDArray[Any],
    directions: NDArray[Any],
    t: NDArray[Any],
    variable: NDArray[Any],
    log_weights: NDArray[Any],
    together: int = 25,
) -> NDArray[Any]:
    """For each output x: the share of the integral of exp(log_weights) p(x + t v) d variable that lies before t = 0."""
    parts = []
    for start in range(0, len(outputs), together):
        here = slice(start, start + together)
        points = outputs[here, None] + t[:, None] * directions[here, None]
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            log_density = mechanism.log_density(dataset, points.reshape(-1, points.shape[-1])).reshape(points.shape[:2])
            log_density = np.nan_to_num(log_density + log_weights, nan=-np.inf, neginf=-np.inf)
            density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
        parts.append((density[:, 1:] + density[:, :-1]) / 2 * np.diff(variable))
    mass = np.concatenate(parts)
    return mass[:, : len(t) // 2].sum(axis=1) / mass.sum(axis=1)


def one_value(mechanism: Any, dataset: Any, rng: np.random.Generator, size: int = 20_000) -> tuple[float, float]:
    """p-value and total mass for outputs of zeros, with at most one real number, and nan after it.

    The outputs are ordered by the place of the number, then by its value; outputs without a number come last, a tie that is
    broken at random. Then the total mass up to an output is uniform.
    """
    samples = np.asarray(mechanism.sample(dataset, size, rng), dtype=float)
    columns = samples.shape[1]
    is_number = ~np.isnan(samples) & (samples != 0)
    counts = is_number.sum(axis=1)
    if counts.max() > 1:
        return 0.0, np.nan
    places = np.where(counts == 1, is_number.argmax(axis=1), columns)
    spread = 10 * np.subtract(*np.nanquantile(samples[is_number], [0.75, 0.25]))
    x = np.median(samples[is_number]) + spread * np.sinh(np.linspace(-4, 4, 2_000))
    transformed = np.empty(size)
    total = 0.0
    for place in range(columns):
        outputs = np.full((len(x), columns), np.nan)
        outputs[:, :place], outputs[:, place] = 0.0, x
        density = np.exp(mechanism.log_density(dataset, outputs))
        cdf = total + np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(x))])
        here = places == place
        transformed[here] = np.interp(samples[here, place], x, cdf)
        total = float(cdf[-1])
    none = places == columns
    chance = float(np.exp(mechanism.log_density(dataset, np.zeros((1, columns)))[0]))
    transformed[none] = total + chance * rng.random(int(none.sum()))
    return uniform(transformed / (total + chance)), total + chance


def finite(mechanism: Any, dataset: Any, rng: np.random.Generator, size: int = 20_000) -> tuple[float, float]:
    """p-value of a chi-square test over the support, and the total probability; 0 if a sample is outside the support."""
    support = np.asarray(mechanism.support(dataset))
    probability = np.exp(mechanism.log_density(dataset, support))
    place = {key: number for number, key in enumerate(_keys(support))}
    assert len(place) == len(support), "the support lists an output twice"
    counts = np.zeros(len(support))
    for key, count in Counter(_keys(mechanism.sample(dataset, size, rng))).items():
        if key not in place:
            return 0.0, float(probability.sum())
        counts[place[key]] += count
    return chi_square(counts, probability), float(probability.sum())


def _keys(outputs: NDArray[Any]) -> list[bytes]:
    """Each output as bytes, equal for equal numbers: 0 and -0 are one, and so are all that are nan."""
    values = np.asarray(outputs, dtype=float).reshape(len(outputs), -1) + 0.0
    values[np.isnan(values)] = np.nan
    return [row.tobytes() for row in values]


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
    """p-value of the identity that in every range of L, the second data set's share is the first's mean of exp(-L).

    It holds in any dimension, in both directions. Two further checks hold also where no range of L is common under both data
    sets. A sample to which its own data set gives no density makes the p-value 0. The likelihood ratio p/q of all samples
    from q together has an expected value of 1 at most, so that it exceeds 1/u with probability at most u (Markov).
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
        p_values.append(float(np.exp(min(0.0, -ratio_second.sum()))))
        pooled = np.concatenate([ratio_first, ratio_second])
        pooled = pooled[np.isfinite(pooled)]
        if pooled.size == 0:  # each output is possible under one data set only
            continue
        edges = np.unique(np.quantile(pooled, np.linspace(0, 1, 13), method="nearest"))
        for low, high in zip(np.append(-np.inf, edges), np.append(edges, np.inf), strict=True):
            with np.errstate(over="ignore"):
                weight = np.where((ratio_first > low) & (ratio_first <= high), np.exp(-ratio_first), 0.0)
            share = (ratio_second > low) & (ratio_second <= high)
            inside = weight[weight > 0]
            if min(len(inside), share.sum()) >= 50 and inside.max() < 20 * inside.min():  # else no normal approximation
                error = np.sqrt((weight.var() + share.var()) / size) or np.finfo(float).tiny
                p_values.append(2 * stats.norm.sf(abs(weight.mean() - share.mean()) / error))
    return float(min(1.0, len(p_values) * min(p_values)))


def _ratio(mechanism: Any, pair: NeighbouringPair, outputs: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        ratio = mechanism.log_density(pair.first, outputs) - mechanism.log_density(pair.second, outputs)
    return np.round(ratio, 6)  # values that only rounding tells apart belong to one range
