"""The privacy loss of a pair, and its curve delta(epsilon)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from epsilometer.auditors.confidence import clopper_pearson_lower, clopper_pearson_upper
from epsilometer.auditors.exact.quadrature import Frame, Nodes, nodes_for
from epsilometer.auditors.exact.ratio import ATOM_COUNT, LogRatio, excess, listed_outputs
from epsilometer.auditors.exact.supremum import LARGEST_SAMPLE, ExactLikelihoodRatio
from epsilometer.core import Array, EpsilometerError, Estimate, NeighbouringPair, with_density

LISTED, INTEGRATED, SAMPLED, SEARCHED = "by enumeration", "by quadrature", "by sampling", "by search over outputs"
LARGEST_PASSES = 6
LARGEST_EPSILON = 500.0
"""If the curve is above delta at this epsilon, the epsilon at delta is reported as infinite."""


@dataclass(frozen=True)
class ExactPrivacyCurve:
    """The epsilon at which the exact curve delta(epsilon) meets the promised delta, in the worse direction.

    Where integration is out of reach, it is a lower bound from `trials` outputs at the stated confidence.

    `confidence` is the probability with which such a bound holds. Calling it takes a mechanism that knows its density, a
    pair, the number of outputs to draw over both data sets if integration is out of reach, and a random generator.

    >>> import numpy as np
    >>> from epsilometer import ExactPrivacyCurve, find
    >>> entry = find("gaussian_analytic")
    >>> estimate = ExactPrivacyCurve()(entry.build(1.0), entry.pairs()[0], 1_000, np.random.default_rng(0))
    >>> round(estimate.epsilon, 4), estimate.confidence
    (1.0, 1.0)
    """

    confidence: float = 0.95

    def __call__(self, mechanism: Any, pair: NeighbouringPair, trials: int, rng: np.random.Generator) -> Estimate:
        mechanism = with_density(mechanism)
        delta = mechanism.guarantee.delta if mechanism.guarantee else 0.0
        found = epsilon_at(mechanism, pair, delta, size=max(trials // 2, 1), rng=rng, confidence=self.confidence)
        drawn = 2 * max(trials // 2, 1) if found.method == SAMPLED else 0
        return Estimate(found.low, f"exact privacy curve, {found.method}", found.confidence, delta=delta, trials=drawn)


@dataclass(frozen=True)
class PrivacyLoss:
    """The law of L = log p/p' under the first data set: values in order, each with its probability."""

    losses: Array
    """The atoms, if `exact`; otherwise one value for each output drawn. Infinite for an output impossible under p'."""
    probabilities: Array
    exact: bool


def privacy_loss_distribution(mechanism: Any, pair: NeighbouringPair, size: int, rng: np.random.Generator) -> PrivacyLoss:
    """The privacy loss: exact atoms where the outputs can be listed, else the losses of `size` outputs."""
    ratio = LogRatio(mechanism, pair)
    outputs = listed_outputs(mechanism, pair)
    if outputs is None:
        losses = np.sort(ratio(np.asarray(mechanism.sample(pair.first, size, rng))))
        return PrivacyLoss(losses, np.full(size, 1 / size), exact=False)
    first, second = ratio.log_densities(outputs)
    possible = first > -np.inf
    losses, place = np.unique(first[possible] - second[possible], return_inverse=True)
    return PrivacyLoss(losses, np.asarray(np.bincount(place, weights=np.exp(first[possible])), dtype=float), exact=True)


@dataclass(frozen=True)
class Bounded:
    """A number that lies between `low` and `high`, with the stated confidence; 1 for a computation."""

    value: float
    low: float
    high: float
    method: str
    confidence: float


def delta_at(
    mechanism: Any,
    pair: NeighbouringPair,
    epsilon: float,
    *,
    size: int = 100_000,
    rng: np.random.Generator | None = None,
    confidence: float = 0.95,
) -> Bounded:
    """delta(epsilon), the integral of (p - e^epsilon p')_+, from the first data set to the second.

    It is a sum where the outputs can be listed, and an integral for outputs of one or two numbers, with its estimated error.
    Otherwise delta = E_p[(1 - e^(epsilon - L))_+] = P[L - E > epsilon] for an independent E ~ Exp(1), a probability, for
    which `size` outputs give the Clopper-Pearson interval.
    """
    ratio = LogRatio(mechanism, pair)
    outputs = listed_outputs(mechanism, pair)
    if outputs is not None:
        first, second = ratio.log_densities(outputs)
        return _computed(math.fsum(excess(first, second, epsilon)), LISTED)
    rng = np.random.default_rng(0) if rng is None else rng
    nodes = nodes_for(ratio, [epsilon], Frame.of(mechanism, pair, rng))
    if nodes is not None:
        return _computed(min(nodes.delta(epsilon), 1.0), INTEGRATED, float(nodes.errors[0]))
    losses = _losses(ratio, size, rng)
    hits = int(np.sum(losses - rng.exponential(size=size) > epsilon))
    each = (1 - confidence) / 2
    low, high = float(clopper_pearson_lower(hits, size, each)), float(clopper_pearson_upper(hits, size, each))
    return Bounded(float(np.mean(-np.expm1(np.minimum(epsilon - losses, 0)))), low, high, SAMPLED, confidence)


def epsilon_at(
    mechanism: Any,
    pair: NeighbouringPair,
    delta: float,
    *,
    size: int = 100_000,
    rng: np.random.Generator | None = None,
    confidence: float = 0.95,
) -> Bounded:
    """The epsilon at which the curve delta(epsilon) meets the given delta, the larger one of the two directions.

    From samples it is the (1 - delta)-quantile of L - E (see `delta_at`): an order statistic bounds it from below, each
    direction with half of the error probability. At delta = 0 it is the largest log-ratio of an output.
    """
    if not 0 <= delta < 1:
        raise EpsilometerError(f"delta is {delta:g}; it must be in [0, 1)")
    rng = np.random.default_rng(0) if rng is None else rng
    if delta == 0 and listed_outputs(mechanism, pair) is None:
        supremum = ExactLikelihoodRatio("")(mechanism, pair, LARGEST_SAMPLE, rng)
        return Bounded(supremum.epsilon, supremum.epsilon, math.inf, SEARCHED, 1.0)
    sides = [_epsilon_one_way(mechanism, side, delta, size, rng, confidence) for side in (pair, pair.reversed())]
    value, low, high = (max(getattr(side, name) for side in sides) for name in ("value", "low", "high"))
    worst = min(sides, key=lambda side: side.confidence)
    return Bounded(value, low, high, worst.method, worst.confidence)


def _epsilon_one_way(
    mechanism: Any, pair: NeighbouringPair, delta: float, size: int, rng: np.random.Generator, confidence: float
) -> Bounded:
    ratio = LogRatio(mechanism, pair)
    outputs = listed_outputs(mechanism, pair)
    if outputs is not None:
        return _computed(_epsilon_listed(*ratio.log_densities(outputs), delta), LISTED)
    integrated = _epsilon_integrated(ratio, delta, Frame.of(mechanism, pair, rng))
    if integrated is not None:
        return integrated
    ordered = np.sort(_losses(ratio, size, rng) - rng.exponential(size=size))[::-1]
    value = max(float(ordered[min(int(delta * size), size - 1)]), 0.0)
    rank = _rank_above(delta, size, (1 - confidence) / 2)
    low = 0.0 if rank > size else float(np.clip(ordered[rank - 1], 0.0, np.finfo(float).max))
    return Bounded(value, low, math.inf, SAMPLED, confidence)


def _losses(ratio: LogRatio, size: int, rng: np.random.Generator) -> Array:
    return ratio(np.asarray(ratio.mechanism.sample(ratio.pair.first, size, rng)))


def _computed(value: float, method: str, error: float = 0.0) -> Bounded:
    return Bounded(value, max(value - error, 0.0), value + error, method, 1.0)


def _epsilon_listed(first: Array, second: Array, delta: float) -> float:
    """The largest log((P(S) - delta)/P'(S)) over sets S of outputs; the best S has the outputs of largest privacy loss."""
    possible = first > -np.inf
    first, second = first[possible], second[possible]
    order = np.argsort(second - first, kind="stable")
    if delta == 0:
        return max(float(first[order[0]] - second[order[0]]), 0.0)
    mass = np.cumsum(np.exp(first[order])) - delta
    with np.errstate(divide="ignore", over="ignore"):
        epsilons = np.log(np.maximum(mass, 0.0)) - np.log(np.cumsum(np.exp(second[order])))
    return max(float(np.max(np.where(mass > 0, epsilons, 0.0))), 0.0)


def _rank_above(delta: float, size: int, error: float) -> int:
    """The smallest k with P[Bin(size, delta) >= k] <= error; the k-th largest value is then below the quantile."""
    from scipy.stats import binom

    return int(binom.isf(error, size, delta)) + 1


def _epsilon_integrated(ratio: LogRatio, delta: float, frame: Frame | None) -> Bounded | None:
    """The root of delta(epsilon) = delta; the nodes are adapted to each root found until the root no longer changes."""
    from scipy.optimize import brentq

    epsilon, error = 0.0, math.inf
    for _ in range(LARGEST_PASSES):
        nodes = nodes_for(ratio, [epsilon], frame)
        if nodes is None:
            return None
        if nodes.delta(0.0) <= delta:
            return _computed(0.0, INTEGRATED)
        if nodes.delta(LARGEST_EPSILON) > delta:
            return Bounded(math.inf, LARGEST_EPSILON, math.inf, INTEGRATED, 1.0)
        last = epsilon
        epsilon = float(brentq(_log_delta_gap(nodes, delta), 0.0, LARGEST_EPSILON, xtol=1e-11))
        error = abs(epsilon - last) + float(nodes.errors[0]) / nodes.slope(epsilon) + 1e-10
        if abs(epsilon - last) < 1e-8:
            break
    return _computed(epsilon, INTEGRATED, error)


def _log_delta_gap(nodes: Nodes, delta: float) -> Callable[[float], float]:
    return lambda epsilon: math.log(max(nodes.delta(epsilon), 1e-300) / delta)


MOST_ROWS = 200
ROWS = {1: 121, 2: 25}
"""Rows of an integrated table, by the number of real numbers in an output."""
TABLE_SIZE = 15_000
"""Outputs drawn from each data set for a sampled table."""
SAME_LOSS = 1e-9
"""Losses that differ by less, relative to the loss or to 1, count as equal."""


def privacy_loss_rows(mechanism: Any, pair: NeighbouringPair, rng: np.random.Generator) -> list[dict[str, float | str]]:
    """A table of the privacy loss L = log p/p' of at most 200 rows, by increasing loss.

    The columns: `loss`; `probability_first` and `probability_second`, P(L >= loss) under either data set; `delta`, which is
    delta(epsilon) from the first to the second at epsilon = max(loss, 0), between `delta_low` and `delta_high`; `method`. A
    table is "enumerated" (its losses are atoms, infinite ones among them; delta is exact), "integrated" (delta with the
    quadrature's estimated error; probabilities to 1e-4, for outputs of two numbers to 1e-3) or "sampled" (shares of 15,000
    outputs of each data set; delta with a Clopper-Pearson interval of 95% for each row).
    """
    ratio = LogRatio(mechanism, pair)
    outputs = listed_outputs(mechanism, pair)
    if outputs is not None:
        return _enumerated_rows(*ratio.log_densities(outputs))
    frame = Frame.of(mechanism, pair, rng)
    numbers = None if frame is None else len(frame.centre)
    size = TABLE_SIZE if numbers is None else 1000
    drawn = [ratio(np.asarray(mechanism.sample(data, size, rng))) for data in (pair.first, pair.second)]
    losses = _grid_of_losses(np.concatenate(drawn), ROWS[numbers] if numbers else ROWS[1])
    nodes = nodes_for(ratio, losses.tolist(), frame)
    if nodes is not None:
        return _integrated_rows(nodes, losses)
    if numbers is not None:
        drawn = [ratio(np.asarray(mechanism.sample(data, TABLE_SIZE, rng))) for data in (pair.first, pair.second)]
    return _sampled_rows(losses, drawn[0], drawn[1], rng)


def _grid_of_losses(drawn: Array, rows: int) -> Array:
    """A grid over the range of the drawn losses, with 0; a quarter of the range is added at an end that is not an atom."""
    finite = drawn[np.isfinite(drawn)]
    if not len(finite):
        return np.zeros(1)
    low, high = float(finite.min()), float(finite.max())
    reach = (high - low) / 4
    low -= 0.0 if np.sum(finite <= low + _slack(low)) >= ATOM_COUNT else reach
    high += 0.0 if np.sum(finite >= high - _slack(high)) >= ATOM_COUNT else reach
    return np.unique(np.append(np.linspace(low, high, rows - 1), 0.0))


def _slack(loss: float) -> float:
    return SAME_LOSS * max(1.0, abs(loss))


def _row(loss: float, tails: tuple[float, float], delta: tuple[float, float, float], method: str) -> dict[str, float | str]:
    return {
        "loss": loss,
        "probability_first": min(tails[0], 1.0),
        "probability_second": min(tails[1], 1.0),
        "delta": delta[0],
        "delta_low": delta[1],
        "delta_high": delta[2],
        "method": method,
    }


def _enumerated_rows(first: Array, second: Array) -> list[dict[str, float | str]]:
    """One row for each atom; of too many, for up to 200 that divide the probability under the first data set evenly."""
    possible = (first > -np.inf) | (second > -np.inf)
    first, second = first[possible], second[possible]
    order = np.argsort(first - second, kind="stable")
    losses = (first - second)[order]
    starts = np.flatnonzero(np.append(True, ~np.isclose(losses[1:], losses[:-1], rtol=SAME_LOSS, atol=SAME_LOSS)))
    tails = [np.cumsum(np.exp(logs[order])[::-1])[::-1] for logs in (first, second)]
    if len(starts) > MOST_ROWS:
        ranks = np.searchsorted(-tails[0][starts], np.linspace(-1.0, 0.0, MOST_ROWS - 1)).clip(max=len(starts) - 1)
        starts = starts[np.unique(np.append(ranks, len(starts) - 1))]
    rows = []
    for start in starts.tolist():
        loss = float(losses[start])
        delta = float(tails[0][start]) if loss == math.inf else math.fsum(excess(first, second, max(loss, 0.0)))
        rows.append(_row(loss, (float(tails[0][start]), float(tails[1][start])), (delta, delta, delta), "enumerated"))
    return rows


def _integrated_rows(nodes: Nodes, losses: Array) -> list[dict[str, float | str]]:
    possible = (nodes.first > -np.inf) | (nodes.second > -np.inf)
    first, second, weights = nodes.first[possible], nodes.second[possible], nodes.weights[possible]
    order = np.argsort(first - second, kind="stable")
    ordered = (first - second)[order]
    tails = [np.append(np.cumsum((weights * np.exp(logs))[order][::-1])[::-1], 0.0) for logs in (first, second)]
    rows = []
    at_zero = int(np.flatnonzero(losses == 0)[0])
    for number, loss in enumerate(losses.tolist()):
        start = int(np.searchsorted(ordered, loss - _slack(loss)))
        delta, error = min(nodes.delta(max(loss, 0.0)), 1.0), float(nodes.errors[max(number, at_zero)])
        interval = (delta, max(delta - error, 0.0), min(delta + error, 1.0))
        rows.append(_row(loss, (float(tails[0][start]), float(tails[1][start])), interval, "integrated"))
    return rows


def _sampled_rows(losses: Array, first: Array, second: Array, rng: np.random.Generator) -> list[dict[str, float | str]]:
    size = len(first)
    reached = first - rng.exponential(size=size)
    rows = []
    for loss in losses.tolist():
        tails = tuple(float(np.mean(side >= loss - _slack(loss))) for side in (first, second))
        epsilon = max(loss, 0.0)
        rows.append(_row(loss, (tails[0], tails[1]), _sampled_delta(first, reached, epsilon), "sampled"))
    return rows


def _sampled_delta(losses: Array, reached: Array, epsilon: float, error: float = 0.05) -> tuple[float, float, float]:
    """delta, the mean of (1 - e^(epsilon - L))_+, and the Clopper-Pearson interval, extended to contain the mean."""
    size, hits = len(losses), int(np.sum(reached > epsilon))
    value = float(np.mean(-np.expm1(np.minimum(epsilon - losses, 0.0))))
    low, high = float(clopper_pearson_lower(hits, size, error / 2)), float(clopper_pearson_upper(hits, size, error / 2))
    return value, min(low, value), max(high, value)
