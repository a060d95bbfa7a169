"""Report noisy max: the counting query with the largest noisy answer; and broken versions that release that answer.

The data set is a table of zeros and ones with a row for each record; query j counts the records with a one in column j.
Exchanging a record changes every answer by at most 1, in either direction independently of the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import Array, EpsilometerError, Guarantee, NeighbouringPair
from epsilometer.mechanisms.catalogue import Entry, by_enumeration

QUERIES = 5
"""The number of queries in the catalogue's pairs, as in Ding et al. 2018."""
NODES = 64
"""Nodes of Gauss-Legendre quadrature on each piece: exact for polynomials of degree up to 127."""


def query_answers(dataset: NDArray[Any]) -> Array:
    """The answers to the counting queries: the number of ones in each column."""
    table = np.asarray(dataset, dtype=np.float64)
    if table.ndim != 2 or table.size == 0:
        raise EpsilometerError(f"the data set has shape {table.shape}; it must be a table, a row for each record")
    wrong = ~np.isin(table, (0.0, 1.0))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise EpsilometerError(f"record {row + 1} gives {table[row, column]:g} to query {column + 1}; it must be 0 or 1")
    return table.sum(axis=0)


def pair_with_answers(first: Array, second: Array, reason: str) -> NeighbouringPair:
    """A replace-one pair whose queries have these answers, which must differ by at most 1 each."""
    exchanged, replacement = (first > second).astype(float), (second > first).astype(float)
    shared = first - exchanged
    rows = (np.arange(shared.max())[:, None] < shared).astype(float)
    return NeighbouringPair(np.vstack([rows, exchanged]), np.vstack([rows, replacement]), "replace-one", reason)


@cache
def gauss_legendre(nodes: int) -> tuple[Array, Array]:
    """Nodes and weights on [-1, 1], cached because computing them takes longer than evaluating most integrals."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    points.setflags(write=False)
    weights.setflags(write=False)
    return points, weights


def subdivide(breaks: Array, rate: float) -> Array:
    """The distinct breaks in order, with further ones inserted so that none are more than 4/rate apart."""
    breaks = np.unique(breaks)
    stretches = [
        np.linspace(low, high, math.ceil((high - low) * rate / 4), endpoint=False) for low, high in pairwise(breaks.tolist())
    ]
    return np.concatenate([*stretches, breaks[-1:]])


def quadrature(breaks: Array, rate: float) -> tuple[Array, Array]:
    """Nodes and weights for integrals over the real line of products of Laplace densities and distribution functions.

    The factors are smooth between the breaks, which must come from `subdivide`. Left of the first and right of the last
    break, each factor whose rate is a multiple of `rate` is a polynomial in s = exp(-rate |x|); the rule integrates over s
    and is exact for products of degree up to 127. Between two breaks a product of exponentials changes by a factor of at
    most exp(4 degree), which 64 nodes integrate to a relative error of 1e-12 for degrees up to 60.
    """
    unit, weight = gauss_legendre(NODES)
    s, weight = (unit + 1) / 2, weight / 2
    lengths = np.diff(breaks)
    tail, tail_weight = -np.log(s) / rate, weight / (rate * s)
    points = np.concatenate([breaks[0] - tail, (breaks[:-1, None] + np.outer(lengths, s)).ravel(), breaks[-1] + tail])
    return points, np.concatenate([tail_weight, np.outer(lengths, weight).ravel(), tail_weight])


def laplace_density(x: Array, scale: float) -> Array:
    """exp(-|x|/scale) / (2 scale)."""
    return np.exp(-np.abs(x) / scale) / (2 * scale)


def laplace_cdf(x: Array, scale: float) -> Array:
    """P(noise <= x), to full relative accuracy in the left tail; P(noise > x) is laplace_cdf(-x, scale)."""
    half = np.exp(-np.abs(x) / scale) / 2
    return np.where(x < 0, half, 1 - half)


@dataclass(frozen=True)
class _NoisyAnswers:
    """Independent noise of scale 2/epsilon on each query's answer."""

    epsilon: float

    def __post_init__(self) -> None:
        _ = self.guarantee

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one")

    @property
    def scale(self) -> float:
        """The scale of the noise."""
        return 2 / self.epsilon

    def _noise(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        """Laplace noise as the difference of two exponential variables, which is twice as fast to draw."""
        noise = rng.standard_exponential(shape)
        noise -= rng.standard_exponential(shape)
        noise *= self.scale
        return noise

    def _noisy_answers(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        """The noisy answers (queries, size); with this layout the maximum over the queries is fastest."""
        answers = query_answers(dataset)
        noisy = self._noise((len(answers), size), rng)
        noisy += answers[:, None]
        return noisy


class NoisyMax(_NoisyAnswers):
    """The index (from 0) of the query whose answer plus Laplace noise of scale 2/epsilon is largest.

    P(i) = int f(x - q_i) prod_{j != i} F(x - q_j) dx, with the noise's density f and distribution function F.
    """

    source = "Ding et al. 2018, Algorithm 5; Dwork and Roth 2014, section 3.3"

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        return np.argmax(self._noisy_answers(dataset, size, rng), axis=0)

    def support(self, dataset: NDArray[Any]) -> NDArray[np.int64]:
        return np.arange(len(query_answers(dataset)))

    def log_density(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> Array:
        answers = query_answers(dataset)
        points, weights = quadrature(subdivide(answers, 1 / self.scale), 1 / self.scale)
        distance = points[:, None] - answers
        density, cdf = laplace_density(distance, self.scale), laplace_cdf(distance, self.scale)
        return _look_up(weights @ _integrand_for_each_query(density, cdf), outputs)


class NoisyMaxExponential(NoisyMax):
    """The index (from 0) of the query whose answer plus exponential noise of mean 2/epsilon is largest.

    P(i) is as for Laplace noise; the integrand vanishes below the largest answer and is a polynomial in exp(-x) above it.
    """

    source = "Ding et al. 2018, Algorithm 6; Dwork and Roth 2014, section 3.3"

    def _noise(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        return rng.exponential(scale=self.scale, size=shape)

    def log_density(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> Array:
        answers = query_answers(dataset)
        points, weights = quadrature(answers.max(keepdims=True), 1 / self.scale)
        above = points > answers.max()
        density, cdf = _exponential_density_and_cdf(points[above, None] - answers, self.scale)
        return _look_up(weights[above] @ _integrand_for_each_query(density, cdf), outputs)


class NoisyMaxValue(_NoisyAnswers):
    """Broken: the value of the largest answer plus Laplace noise of scale 2/epsilon, instead of its index.

    The density is sum_i f(x - q_i) prod_{j != i} F(x - q_j). Where x is below all k answers and all answers change by 1,
    each of the k factors changes by exp(epsilon/2), so the privacy loss is k epsilon / 2.
    """

    source = "Ding et al. 2018, Algorithm 7"

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        return np.max(self._noisy_answers(dataset, size, rng), axis=0)

    def log_density(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> Array:
        answers = query_answers(dataset)
        distance = np.asarray(outputs, dtype=np.float64)[:, None] - answers
        log_half = -np.abs(distance) / self.scale - np.log(2)
        log_cdf = np.where(distance < 0, log_half, np.log1p(-np.exp(log_half)))
        return _log_sum_exp(log_half - np.log(self.scale) - log_cdf) + log_cdf.sum(axis=1)


class NoisyMaxExponentialValue(NoisyMaxValue):
    """Broken: the value of the largest answer plus exponential noise of mean 2/epsilon, instead of its index.

    The density is that of `NoisyMaxValue` with the f and F of exponential noise; it is 0 below the largest answer.
    """

    source = "Ding et al. 2018, Algorithm 8"

    def _noise(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        return rng.exponential(scale=self.scale, size=shape)

    def log_density(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> Array:
        distance = np.asarray(outputs, dtype=np.float64)[:, None] - query_answers(dataset)
        possible = np.asarray(np.all(distance > 0, axis=1))
        x = np.where(possible[:, None], distance, 1.0) / self.scale
        log_cdf = np.log(-np.expm1(-x))
        log_density = _log_sum_exp(-x - np.log(self.scale) - log_cdf) + log_cdf.sum(axis=1)
        return np.where(possible, log_density, -np.inf)


def _integrand_for_each_query(density: Array, cdf: Array) -> Array:
    """For each point (row) and query (column) i: density_i prod_{j != i} cdf_j."""
    queries = cdf.shape[1]
    others = ~np.eye(queries, dtype=bool)
    return np.stack([density[:, i] * cdf[:, others[i]].prod(axis=1) for i in range(queries)], axis=1)


def _exponential_density_and_cdf(x: Array, scale: float) -> tuple[Array, Array]:
    """Density and distribution function of exponential noise."""
    positive = np.maximum(x, 0.0)
    return np.where(x > 0, np.exp(-positive / scale) / scale, 0.0), -np.expm1(-positive / scale)


def _log_sum_exp(terms: Array) -> Array:
    largest = terms.max(axis=1, keepdims=True)
    return np.log(np.exp(terms - largest).sum(axis=1)) + largest[:, 0]


def _look_up(probability: Array, outputs: NDArray[Any]) -> Array:
    """The log-probability of each output that is the index of a query; -inf for any other."""
    outputs = np.asarray(outputs)
    known = np.isin(outputs, np.arange(len(probability)))
    place = np.where(known, outputs, 0).astype(np.int64)
    return np.where(known, np.log(probability)[place], -np.inf)


@cache
def _pairs() -> tuple[NeighbouringPair, ...]:
    ones = np.ones(QUERIES)
    return (
        pair_with_answers(ones, np.append(2.0, np.zeros(QUERIES - 1)), "one answer rises while all others fall"),
        pair_with_answers(ones, np.append(0.0, np.full(QUERIES - 1, 2.0)), "one answer falls while all others rise"),
    )


@cache
def _pairs_for_values() -> tuple[NeighbouringPair, ...]:
    ones = np.ones(QUERIES)
    together = pair_with_answers(ones, 2 * ones, "every answer rises by 1, which moves the largest noisy answer most")
    return together, *_pairs()


ENTRIES = (
    Entry("noisy_max", "report noisy max, Laplace noise", NoisyMax, _pairs, true_epsilon=by_enumeration(NoisyMax, _pairs)),
    Entry(
        "noisy_max_exponential",
        "report noisy max, exponential noise",
        NoisyMaxExponential,
        _pairs,
        true_epsilon=by_enumeration(NoisyMaxExponential, _pairs),
    ),
    Entry(
        "noisy_max_value",
        "noisy max that returns the value, Laplace noise",
        NoisyMaxValue,
        _pairs_for_values,
        flaw="It returns the largest noisy answer instead of its number; the proof covers the number alone, and all answers "
        "may move together.",
        true_epsilon=lambda epsilon: QUERIES * epsilon / 2,
    ),
    Entry(
        "noisy_max_exponential_value",
        "noisy max that returns the value, exponential noise",
        NoisyMaxExponentialValue,
        _pairs_for_values,
        flaw="It returns the largest noisy answer instead of its number; with one-sided noise, values just above the "
        "largest answer are possible under one data set only.",
        true_epsilon=lambda epsilon: float("inf"),  # noqa: ARG005
    ),
)
