"""Definitions of the exponential mechanism, report noisy max and the sparse vector technique."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import mpmath as mp
import numpy as np

from epsilometer.core import EpsilometerError
from epsilometer.witnesses.definition import (
    Definition,
    Number,
    bits,
    counts_of_columns,
    log_chosen,
    numbers,
    require_length,
    table,
)


def _most_frequent(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """One of three categories, probability ~ e^(epsilon count/2)."""
    records = numbers(dataset)
    return log_chosen({mp.mpf(c): epsilon * sum(record == c for record in records) / 2 for c in range(3)}, output)


def _grid_median(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """A point r of 0, 0.01, ..., 1, the doubles, with probability ~ e^(-epsilon |#{x <= r} - n/2|/2)."""
    records = numbers(dataset)
    points = [mp.mpf(float(point)) for point in np.linspace(0, 1, 101)]
    middle = mp.mpf(len(records)) / 2
    return log_chosen({r: -epsilon * abs(sum(record <= r for record in records) - middle) / 2 for r in points}, output)


def _hellinger_posterior(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """A posterior (1 + j, 1 + n - j), probability ~ exp(-epsilon H_jk/(2 S)), for k ones; S = max_k H_(k, k+1).

    H_jk^2 = 1 - B(1 + (j + k)/2, 1 + n - (j + k)/2)/sqrt(B(1 + j, 1 + n - j) B(1 + k, 1 + n - k)).
    """
    values = bits(dataset)
    n, ones = len(values), int(mp.fsum(values))
    require_length(output, 2)

    def distance(j: int, k: int) -> Number:
        middle = mp.mpf(j + k) / 2
        norms = mp.beta(1 + j, 1 + n - j) * mp.beta(1 + k, 1 + n - k)
        return mp.sqrt(max(1 - mp.beta(1 + middle, 1 + n - middle) / mp.sqrt(norms), 0)) if j != k else mp.mpf(0)

    sensitivity = max(distance(k, k + 1) for k in range(n))
    if output[0] + output[1] != n + 2:
        return -mp.inf
    return log_chosen({mp.mpf(1 + j): -epsilon * distance(j, ones) / (2 * sensitivity) for j in range(n + 1)}, output[:1])


def _two_features(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """Two features, one after the other, each with probability ~ e^(epsilon |sum_i y_i x_ij|/8) among those left."""
    rows = table(dataset)
    scores = [abs(mp.fsum(row[-1] * row[j] for row in rows)) for j in range(len(rows[0]) - 1)]
    require_length(output, 2)
    left = {mp.mpf(j): epsilon * score / 8 for j, score in enumerate(scores)}
    first = log_chosen(left, output[:1])
    left.pop(output[0], None)
    return first + log_chosen(left, output[1:])


Terms = dict[Fraction, Number]
"""A function sum_r c_r e^(r epsilon x), as the coefficients c_r by r."""


@dataclass(frozen=True)
class _Piecewise:
    """A function of x that is one sum of exponentials below the break `at` and another above."""

    at: Number
    below: Terms
    above: Terms


@dataclass(frozen=True)
class _Noise:
    """Laplace noise, or one-sided exponential noise, of scale 1/(rate epsilon), around a centre."""

    epsilon: Number
    rate: Fraction
    one_sided: bool = False

    def density(self, centre: Number) -> _Piecewise:
        """The density at x."""
        scaled = self.epsilon * _to_number(self.rate)
        if self.one_sided:
            return _Piecewise(centre, {}, {-self.rate: scaled * mp.exp(scaled * centre)})
        rising, falling = self._tails(centre)
        return _Piecewise(centre, {self.rate: scaled * rising}, {-self.rate: scaled * falling})

    def cdf(self, centre: Number) -> _Piecewise:
        """The distribution function: the probability that the noisy value is at most x."""
        one = Fraction(0)
        if self.one_sided:
            return _Piecewise(
                centre, {}, {one: mp.mpf(1), -self.rate: -mp.exp(self.epsilon * _to_number(self.rate) * centre)}
            )
        rising, falling = self._tails(centre)
        return _Piecewise(centre, {self.rate: rising}, {one: mp.mpf(1), -self.rate: -falling})

    def survival(self, centre: Number) -> _Piecewise:
        """The survival function, 1 minus the distribution function, for Laplace noise."""
        rising, falling = self._tails(centre)
        return _Piecewise(centre, {Fraction(0): mp.mpf(1), self.rate: -rising}, {-self.rate: falling})

    def _tails(self, centre: Number) -> tuple[Number, Number]:
        scaled = self.epsilon * _to_number(self.rate)
        return mp.exp(-scaled * centre) / 2, mp.exp(scaled * centre) / 2


def _to_number(fraction: Fraction) -> Number:
    return mp.mpf(fraction.numerator) / fraction.denominator


def _integral(epsilon: Number, factors: Sequence[_Piecewise], low: Number = -mp.inf, high: Number = mp.inf) -> Number:
    """The exact integral of the product of the factors, which is a sum of exponentials between two breaks."""
    if not low < high:
        return mp.mpf(0)
    cuts = sorted({low, high, *(factor.at for factor in factors if low < factor.at < high)})
    pieces = []
    for start, end in pairwise(cuts):
        terms: Terms = {Fraction(0): mp.mpf(1)}
        for factor in factors:
            terms = _multiply(terms, factor.below if end <= factor.at else factor.above)
        for rate, coefficient in terms.items():
            slope = epsilon * _to_number(rate)
            pieces.append(coefficient * ((mp.exp(slope * end) - mp.exp(slope * start)) / slope if rate else end - start))
    return mp.fsum(pieces)


def _multiply(one: Terms, other: Terms) -> Terms:
    result: Terms = {}
    for rate, coefficient in one.items():
        for other_rate, factor in other.items():
            result[rate + other_rate] = result.get(rate + other_rate, mp.mpf(0)) + coefficient * factor
    return result


def _noisy_max(epsilon: Number, dataset: Any, output: list[Number], one_sided: bool = False) -> Number:
    """The index of the largest answer plus noise of scale 2/epsilon: int f(x - q_i) prod_(j != i) F(x - q_j) dx."""
    answers, noise = counts_of_columns(dataset), _Noise(epsilon, Fraction(1, 2), one_sided)
    require_length(output, 1)
    if output[0] not in range(len(answers)):
        return -mp.inf
    chosen = int(output[0])
    factors = [noise.density(q) if j == chosen else noise.cdf(q) for j, q in enumerate(answers)]
    return mp.log(_integral(epsilon, factors))


def _noisy_max_value(epsilon: Number, dataset: Any, output: list[Number], one_sided: bool = False) -> Number:
    """The value of the largest answer plus noise of scale 2/epsilon: density sum_i f(x - q_i) prod_(j != i) F(x - q_j)."""
    answers = counts_of_columns(dataset)
    require_length(output, 1)
    distances = [(output[0] - q) * epsilon / 2 for q in answers]
    if one_sided:
        density = [mp.exp(-z) * epsilon / 2 if z > 0 else mp.mpf(0) for z in distances]
        below = [-mp.expm1(-z) if z > 0 else mp.mpf(0) for z in distances]
    else:
        density = [mp.exp(-abs(z)) * epsilon / 4 for z in distances]
        below = [mp.exp(z) / 2 if z < 0 else 1 - mp.exp(-z) / 2 for z in distances]
    return mp.log(mp.fsum(mp.fprod([f, *below[:i], *below[i + 1 :]]) for i, f in enumerate(density)))


THRESHOLD = 1


@dataclass(frozen=True)
class _SparseVector:
    """The sparse vector technique with threshold 1 (Lyu, Su and Li 2017); noise is given by its rate 1/(scale epsilon).

    An output has for each query 0 (below), 1 (above) or nan (after the stop); a noisy answer instead of 1 in version 3.
    """

    threshold: Fraction
    answers: Fraction | None
    """None for answers without noise."""
    most_above: int | None = None
    """The number of answers above after which it stops; None if it never stops."""
    renewed: bool = False
    """Whether the noisy threshold is redrawn after each answer above."""
    released: bool = False
    """Whether a noisy answer above the threshold is released itself."""

    def __call__(self, epsilon: Number, dataset: Any, output: list[Number]) -> Number:
        answers = counts_of_columns(dataset)
        require_length(output, len(answers))
        above = [not mp.isnan(value) and value != 0 for value in output]
        stopped = [self.most_above is not None and sum(above[:i]) >= self.most_above for i in range(len(output))]
        foreign = [value not in (0, 1) and not mp.isnan(value) for value in output]
        if [mp.isnan(value) for value in output] != stopped or (any(foreign) and not self.released):
            return -mp.inf
        asked = [
            (q - THRESHOLD, value, up) for q, value, up, end in zip(answers, output, above, stopped, strict=True) if not end
        ]
        if self.released:
            return mp.log(self._density_with_answers(epsilon, asked))
        return mp.fsum(mp.log(self._probability(epsilon, part)) for part in self._split_at_redraws(asked))

    def _split_at_redraws(self, asked: list[Any]) -> list[list[Any]]:
        """The queries in blocks that are compared with the same draw of the threshold."""
        if not self.renewed:
            return [asked]
        ends = [0, *(i + 1 for i, (_, _, up) in enumerate(asked) if up), len(asked)]
        return [asked[start:end] for start, end in pairwise(ends) if start < end]

    def _probability(self, epsilon: Number, asked: list[Any]) -> Number:
        """int f(rho) prod_below P(q + nu <= T + rho) prod_above P(q + nu > T + rho) d rho."""
        density = _Noise(epsilon, self.threshold).density(mp.mpf(0))
        if self.answers is None:
            low = max([q for q, _, up in asked if not up], default=-mp.inf)
            high = min([q for q, _, up in asked if up], default=mp.inf)
            return _integral(epsilon, [density], low, high)
        noise = _Noise(epsilon, self.answers)
        return _integral(epsilon, [density, *(noise.survival(q) if up else noise.cdf(q) for q, _, up in asked)])

    def _density_with_answers(self, epsilon: Number, asked: list[Any]) -> Number:
        """prod_above f(v - q) int_(rho <= min v - T) f(rho) prod_below P(q + nu <= T + rho) d rho."""
        if self.answers is None:
            raise EpsilometerError("answers that are released must have noise")
        noise, rate = _Noise(epsilon, self.answers), epsilon * _to_number(self.answers)
        released_densities = [mp.exp(-rate * abs(v - THRESHOLD - q)) * rate / 2 for q, v, up in asked if up]
        factors = [_Noise(epsilon, self.threshold).density(mp.mpf(0)), *(noise.cdf(q) for q, _, up in asked if not up)]
        high = min([v - THRESHOLD for _, v, up in asked if up], default=mp.inf)
        return mp.fprod(released_densities) * _integral(epsilon, factors, high=high)


HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
DEFINITIONS: dict[str, Definition] = {
    "beta_bernoulli_hellinger": Definition(_hellinger_posterior),
    "exponential_median": Definition(_grid_median),
    "exponential_most_frequent": Definition(_most_frequent),
    "feature_selection": Definition(_two_features),
    "noisy_max": Definition(_noisy_max),
    "noisy_max_exponential": Definition(partial(_noisy_max, one_sided=True)),
    "noisy_max_exponential_value": Definition(partial(_noisy_max_value, one_sided=True)),
    "noisy_max_value": Definition(_noisy_max_value),
    "sparse_vector_1": Definition(_SparseVector(HALF, QUARTER, most_above=1)),
    "sparse_vector_2": Definition(_SparseVector(QUARTER, Fraction(1, 8), most_above=2, renewed=True)),
    "sparse_vector_3": Definition(_SparseVector(HALF, HALF, most_above=1, released=True)),
    "sparse_vector_4": Definition(_SparseVector(QUARTER, Fraction(3, 4), most_above=1)),
    "sparse_vector_5": Definition(_SparseVector(HALF, None)),
    "sparse_vector_6": Definition(_SparseVector(HALF, HALF)),
}
