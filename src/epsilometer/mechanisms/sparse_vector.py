"""The sparse vector technique: which counting queries are above a threshold; two correct versions and four broken ones.

The versions are numbered as in Lyu, Su and Li 2017, who compare six published ones: 1 and 2 are correct, 3 to 6 are not. All
compare the noisy answer q_i + nu_i with the noisy threshold T + rho, rho and nu_i independent Laplace noise:

    version                     scale of rho    scale of nu_i     stops            answers
    1  Lyu, Su and Li 2017      2/epsilon       4c/epsilon        after c above    above or below
    2  Dwork and Roth 2014      2c/epsilon      4c/epsilon        after c above    above or below; then a new rho
    3  Roth 2011                2/epsilon       2c/epsilon        after c above    q_i + nu_i or below
    4  Lee and Clifton 2014     4/epsilon       4/(3 epsilon)     after c above    above or below
    5  Stoddard et al. 2014     2/epsilon       0                 never            above or below
    6  Chen et al. 2015         2/epsilon       2/epsilon         never            above or below

The data set is a table of zeros and ones with a row for each record; query j counts the records with a one in column j, so
that exchanging a record changes every answer by at most 1. An output has a column for each query: 1 above, 0 below (a noisy
answer instead of 1 in version 3), nan once it has stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import Array, EpsilometerError, Guarantee, NeighbouringPair, output_rows
from epsilometer.mechanisms.catalogue import Entry, by_enumeration
from epsilometer.mechanisms.noisy_max import (
    NODES,
    gauss_legendre,
    laplace_cdf,
    laplace_density,
    pair_with_answers,
    quadrature,
    query_answers,
    subdivide,
)

QUERIES = 10
"""Queries of the catalogue's pairs, as in Ding et al. 2018."""
BELOW, ABOVE, STOPPED = 0.0, 1.0, np.nan
MOST_LISTED = 16
"""The largest number of queries for which all outputs are listed: 65536 outputs."""


@dataclass(frozen=True)
class _SparseVector:
    """The parameters of all six versions: epsilon, the threshold T and the number c of answers above it."""

    epsilon: float
    threshold: float = 1.0
    most_above: int = 1
    stops = True

    def __post_init__(self) -> None:
        _ = self.guarantee
        if self.most_above < 1:
            raise EpsilometerError(f"most_above is {self.most_above}; it must be at least 1")
        if not np.isfinite(self.threshold):
            raise EpsilometerError(f"the threshold is {self.threshold}; it must be a finite number")

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one")

    @property
    def threshold_scale(self) -> float:
        """The scale of rho."""
        return 2 / self.epsilon

    @property
    def query_scale(self) -> float:
        """The scale of nu_i."""
        return 4 * self.most_above / self.epsilon

    def _noisy_answers(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        answers = query_answers(dataset)
        return answers + rng.laplace(scale=self.query_scale, size=(size, len(answers)))

    def _noisy_threshold(self, size: int, rng: np.random.Generator) -> Array:
        return self.threshold + rng.laplace(scale=self.threshold_scale, size=size)

    def _mask_after_stop(self, above: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The mask of the queries that come after the last answered one."""
        most = self.most_above if self.stops else above.shape[1]
        return _count_above_before(above) >= most


class SparseVector1(_SparseVector):
    """Version 1, correct: P(a) = int f(rho) prod_below F(T + rho - q_i) prod_above (1 - F(T + rho - q_i)) d rho.

    f is the density of rho, F the distribution function of nu_i; the integral is computed by quadrature to a relative error
    of 1e-12.
    """

    source = "Lyu, Su and Li 2017, Algorithm 1"

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        noisy = self._noisy_answers(dataset, size, rng)
        above = noisy >= self._noisy_threshold(size, rng)[:, None]
        return np.where(self._mask_after_stop(above), STOPPED, np.where(above, ABOVE, BELOW))

    def support(self, dataset: NDArray[Any]) -> Array:
        queries = len(query_answers(dataset))
        if queries > MOST_LISTED:
            raise EpsilometerError(f"there are {queries} queries; outputs are listed for at most {MOST_LISTED}")
        above = (np.arange(2**queries)[:, None] >> np.arange(queries)) % 2 == 1
        stopped = self._mask_after_stop(above)
        above = np.unique(above & ~stopped, axis=0)
        return np.where(self._mask_after_stop(above), STOPPED, np.where(above, ABOVE, BELOW))

    def log_density(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> Array:
        answers = query_answers(dataset)
        distinct, inverse = _find_distinct_rows(output_rows(outputs, len(answers)))
        above, answered = distinct == ABOVE, ~np.isnan(distinct)
        possible = (np.isin(distinct, (BELOW, ABOVE)) | ~answered).all(axis=1)
        possible &= (self._mask_after_stop(above) == ~answered).all(axis=1)
        result = np.full(len(distinct), -np.inf)
        with np.errstate(divide="ignore"):
            result[possible] = np.log(self._probability(answers, above[possible], answered[possible]))
        return result[inverse]

    def _probability(self, answers: Array, above: NDArray[np.bool_], answered: NDArray[np.bool_]) -> Array:
        """The probability of each pattern (row) of answers."""
        offsets = answers - self.threshold
        rate = 1 / max(self.threshold_scale, self.query_scale)
        rho, weights = quadrature(subdivide(np.append(offsets, 0.0), rate), rate)
        weights = weights * laplace_density(rho, self.threshold_scale)
        distance = rho[:, None] - offsets
        chance_below, chance_above = laplace_cdf(distance, self.query_scale), laplace_cdf(-distance, self.query_scale)
        integrand = np.ones((len(above), len(rho)))
        for query in range(len(answers)):
            factor = np.where(above[:, query, None], chance_above[:, query], chance_below[:, query])
            integrand *= np.where(answered[:, query, None], factor, 1.0)
        return integrand @ weights


class SparseVector2(SparseVector1):
    """Version 2, correct: the threshold is drawn anew after each answer above it.

    So the blocks of answers that end with an answer above are independent, and P(a) is a product of integrals as in version
    1.
    """

    source = "Lyu, Su and Li 2017, Algorithm 2; Dwork and Roth 2014, Algorithm 2 (Sparse)"

    @property
    def threshold_scale(self) -> float:
        return 2 * self.most_above / self.epsilon

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        noisy, threshold = self._noisy_answers(dataset, size, rng), self._noisy_threshold(size, rng)
        above = np.empty(noisy.shape, dtype=bool)
        for query in range(noisy.shape[1]):
            above[:, query] = noisy[:, query] >= threshold
            threshold = np.where(above[:, query], self._noisy_threshold(size, rng), threshold)
        return np.where(self._mask_after_stop(above), STOPPED, np.where(above, ABOVE, BELOW))

    def _probability(self, answers: Array, above: NDArray[np.bool_], answered: NDArray[np.bool_]) -> Array:
        threshold_number = _count_above_before(above)
        probability = np.ones(len(above))
        for number in range(self.most_above):
            compared = answered & (threshold_number == number)
            probability *= super()._probability(answers, above, compared)
        return probability


class SparseVector3(_SparseVector):
    """Version 3, broken: an answer above the threshold is released as q_i + nu_i, which bounds the noisy threshold.

    The density of an output, with below or a released answer v_i for each query, is
    prod_above f_nu(v_i - q_i) int_{rho <= min v - T} f(rho) prod_below F(T + rho - q_i) d rho.
    Where v is below all answers and the threshold, each of the k queries changes it by a factor exp(epsilon / 2c) when all
    answers rise by 1. (A released answer of exactly 0 would be read as below; it has probability zero.)
    """

    source = "Lyu, Su and Li 2017, Algorithm 3; Roth 2011 (lecture notes)"

    @property
    def query_scale(self) -> float:
        return 2 * self.most_above / self.epsilon

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        noisy = self._noisy_answers(dataset, size, rng)
        above = noisy >= self._noisy_threshold(size, rng)[:, None]
        return np.where(self._mask_after_stop(above), STOPPED, np.where(above, noisy, BELOW))

    def log_density(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> Array:
        answers = query_answers(dataset)
        outputs = output_rows(outputs, len(answers))
        answered = ~np.isnan(outputs)
        above = answered & (outputs != BELOW)
        possible = (self._mask_after_stop(above) == ~answered).all(axis=1)
        with np.errstate(invalid="ignore"):
            distance = np.where(above, np.abs(outputs - answers), 0.0)
        result = -distance.sum(axis=1) / self.query_scale - above.sum(axis=1) * np.log(2 * self.query_scale)
        highest = np.where(above, outputs, np.inf).min(axis=1) - self.threshold
        patterns, inverse = np.unique(answered & ~above, axis=0, return_inverse=True)
        for number, below in enumerate(patterns):
            rows = (inverse == number) & possible
            result[rows] += self._log_chance_below(answers[below], highest[rows])
        return np.where(possible, result, -np.inf)

    def _log_chance_below(self, answers: Array, highest: Array) -> Array:
        """The logarithm of int_{rho <= highest} f(rho) prod F(T + rho - q_i) d rho, for each highest."""
        slowest = 1 / max(self.threshold_scale, self.query_scale)
        breaks = subdivide(np.append(answers - self.threshold, 0.0), slowest)

        def integrand(rho: Array) -> Array:
            chances = laplace_cdf(rho[..., None] + self.threshold - answers, self.query_scale)
            return laplace_density(rho, self.threshold_scale) * chances.prod(axis=-1)

        rate = 1 / self.threshold_scale + len(answers) / self.query_scale  # of the integrand, left of every break
        left_tail = integrand(breaks[:1])[0] / rate
        points, weights = quadrature(breaks, slowest)
        pieces = (integrand(points) * weights).reshape(-1, NODES).sum(axis=1)
        until_break = np.cumsum(np.append(left_tail, pieces[1:-1]))  # the integral up to each break
        inside = np.clip(highest, breaks[0], breaks[-1])
        piece = np.clip(np.searchsorted(breaks, inside, side="right") - 1, 0, len(breaks) - 1)
        unit, weight = gauss_legendre(NODES // 2)
        length = inside - breaks[piece]
        partial_piece = integrand(breaks[piece, None] + length[:, None] * (unit + 1) / 2) @ weight * length / 2
        beyond = self._right_tail(integrand, breaks[-1], highest)
        total = np.log(until_break[piece] + partial_piece + beyond)
        return total + rate * np.minimum(highest - breaks[0], 0.0)

    def _right_tail(self, integrand: Callable[[Array], Array], last: float, highest: Array) -> Array:
        """The integral from the last break to each highest, with s = exp(-rate (rho - last)) as the variable."""
        rate = 1 / max(self.threshold_scale, self.query_scale)
        unit, weight = gauss_legendre(NODES // 2)
        least = np.exp(-rate * np.maximum(highest - last, 0.0))[:, None]
        s = least + (1 - least) * (unit + 1) / 2
        return (integrand(last - np.log(s) / rate) / s) @ weight * (1 - least[:, 0]) / (2 * rate)


class SparseVector4(SparseVector1):
    """Version 4, broken: the noise on the answers does not grow with c, and covers changes in one direction only."""

    source = "Lyu, Su and Li 2017, Algorithm 4; Lee and Clifton 2014"

    @property
    def threshold_scale(self) -> float:
        return 4 / self.epsilon

    @property
    def query_scale(self) -> float:
        return 4 / (3 * self.epsilon)


class SparseVector5(SparseVector1):
    """Version 5, broken: no noise on the answers, no stop: P(a) = P(largest below < T + rho <= smallest above)."""

    source = "Lyu, Su and Li 2017, Algorithm 5; Stoddard, Chen and Machanavajjhala 2014"
    stops = False

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        above = query_answers(dataset) >= self._noisy_threshold(size, rng)[:, None]
        return np.where(above, ABOVE, BELOW)

    def support(self, dataset: NDArray[Any]) -> Array:
        answers = query_answers(dataset)
        levels = np.append(np.unique(answers), np.inf)
        return np.where(answers >= levels[:, None], ABOVE, BELOW)

    def _probability(self, answers: Array, above: NDArray[np.bool_], answered: NDArray[np.bool_]) -> Array:  # noqa: ARG002
        offsets = answers - self.threshold
        low = np.where(above, -np.inf, offsets).max(axis=1)
        high = np.where(above, offsets, np.inf).min(axis=1)
        from_left = laplace_cdf(high, self.threshold_scale) - laplace_cdf(low, self.threshold_scale)
        from_right = laplace_cdf(-low, self.threshold_scale) - laplace_cdf(-high, self.threshold_scale)
        return np.maximum(np.where(low < 0, from_left, from_right), 0.0)


class SparseVector6(SparseVector1):
    """Version 6, broken: it never stops, so the number of answers above the threshold is not accounted for."""

    source = "Lyu, Su and Li 2017, Algorithm 6; Chen, Xiao, Zhang and Xu 2015"
    stops = False

    @property
    def query_scale(self) -> float:
        return 2 / self.epsilon


def _count_above_before(above: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each answer, the number of earlier answers above the threshold."""
    return np.asarray(np.cumsum(above, axis=1) - above, dtype=np.int64)


def _find_distinct_rows(outputs: Array) -> tuple[Array, NDArray[np.int64]]:
    """The distinct rows and the index of each row among them; nan is equal to nan here."""
    finite = np.where(np.isnan(outputs), -1e300, outputs)  # np.unique treats every nan as distinct
    distinct, inverse = np.unique(finite, axis=0, return_inverse=True)
    return np.where(distinct == -1e300, np.nan, distinct), inverse


@cache
def _pairs() -> tuple[NeighbouringPair, ...]:
    ones, half = np.ones(QUERIES), QUERIES // 2
    return (
        pair_with_answers(ones, np.repeat([2.0, 0.0], half), "the first half of the answers rises, the second half falls"),
        pair_with_answers(ones, np.append(np.zeros(QUERIES - 1), 2.0), "all answers fall but the last, which rises"),
        pair_with_answers(ones, 2 * ones, "every answer rises by 1"),
    )


@cache
def _pairs_for_two() -> tuple[NeighbouringPair, ...]:
    half = QUERIES // 2
    two_rise = np.tile(np.append(np.zeros(half - 1), 2.0), 2)
    return (
        pair_with_answers(np.ones(QUERIES), two_rise, "all answers fall but two, which rise, the last of each half"),
        *_pairs()[:2],
    )


ENTRIES = (
    Entry(
        "sparse_vector_1",
        "sparse vector technique of Lyu, Su and Li",
        SparseVector1,
        _pairs,
        true_epsilon=by_enumeration(SparseVector1, _pairs),
    ),
    Entry(
        "sparse_vector_2",
        "sparse vector technique of Dwork and Roth",
        partial(SparseVector2, most_above=2),
        _pairs_for_two,
        true_epsilon=by_enumeration(partial(SparseVector2, most_above=2), _pairs_for_two),
    ),
    Entry(
        "sparse_vector_3",
        "sparse vector technique of Roth's notes",
        SparseVector3,
        _pairs,
        flaw="It releases the noisy answer that was compared with the threshold; that answer bounds the secret threshold, "
        "and every answer below it then counts.",
        true_epsilon=lambda epsilon: QUERIES * epsilon / 2,
    ),
    Entry(
        "sparse_vector_4",
        "sparse vector technique of Lee and Clifton",
        SparseVector4,
        _pairs,
        flaw="The noise on the answers is a third of what answers that may rise and fall want, and does not grow with the "
        "number of answers above the threshold.",
        true_epsilon=by_enumeration(SparseVector4, _pairs),
    ),
    Entry(
        "sparse_vector_5",
        "sparse vector technique of Stoddard et al.",
        SparseVector5,
        _pairs,
        flaw="The answers get no noise, so that their order shows: some patterns are possible under one data set only.",
        true_epsilon=by_enumeration(SparseVector5, _pairs),
    ),
    Entry(
        "sparse_vector_6",
        "sparse vector technique of Chen et al.",
        SparseVector6,
        _pairs,
        flaw="It never stops: the number of answers above the threshold is unbounded, and so is what they tell.",
        true_epsilon=by_enumeration(SparseVector6, _pairs),
    ),
)
