"""From counts of an event to a lower bound on epsilon, with its confidence; and p-values for a whole report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betainccinv, betaincinv, ndtr

from epsilometer.core import Array, Counts, EpsilometerError

Interval = Literal["clopper-pearson", "jeffreys"]

SMALLEST_ERROR = 1e-300
"""No p-value below this one is told apart from it."""
PROBITS = np.linspace(-9.0, 9.0, 721)
"""Where a posterior is evaluated: its quantiles at Phi(z); the trapezoidal rule in z is exact to 1e-9 or better."""


def clopper_pearson_lower(hits: ArrayLike, trials: ArrayLike, error: float) -> Array:
    """The exact lower bound on a proportion that is wrong with probability at most `error` (Clopper and Pearson 1934).

    It is the error-quantile of Beta(hits, trials - hits + 1), and 0 without hits. Hits need not be whole numbers.
    """
    k, n = _counts(hits, trials)
    return np.where(k > 0, betaincinv(np.where(k > 0, k, 1.0), n - k + 1, error), 0.0)


def clopper_pearson_upper(hits: ArrayLike, trials: ArrayLike, error: float) -> Array:
    """The exact upper bound: the (1 - error)-quantile of Beta(hits + 1, trials - hits), and 1 if all trials hit."""
    k, n = _counts(hits, trials)
    return np.where(k < n, betainccinv(k + 1, np.where(k < n, n - k, 1.0), error), 1.0)


def jeffreys_lower(hits: ArrayLike, trials: ArrayLike, error: float) -> Array:
    """The error-quantile of the posterior Beta(hits + 1/2, trials - hits + 1/2): about right on average, not always."""
    k, n = _counts(hits, trials)
    return np.asarray(betaincinv(k + 0.5, n - k + 0.5, error), dtype=float)


def jeffreys_upper(hits: ArrayLike, trials: ArrayLike, error: float) -> Array:
    """The (1 - error)-quantile of the same posterior."""
    k, n = _counts(hits, trials)
    return np.asarray(betainccinv(k + 0.5, n - k + 0.5, error), dtype=float)


def epsilon_lower_bound(
    counts: Counts, confidence: float, delta: float = 0.0, interval: Interval = "clopper-pearson"
) -> float:
    """log((lower(p) - delta)/upper(q)), or 0 if that is negative: P(event) - delta <= e^epsilon Q(event) under the promise.

    The two samples are independent, so with sqrt(confidence) for each one-sided bound both hold with `confidence`. With
    Jeffreys' interval that is so only nearly, and not for every p and q.
    """
    require_confidence(confidence)
    require_delta(delta)
    return float(_bound(counts, -math.expm1(math.log(confidence) / 2), delta, interval))


def event_upper_bound(counts: Counts, confidence: float, delta: float = 0.0) -> float:
    """log((upper(p) - delta)/lower(q)): with `confidence`, this event alone shows no larger epsilon; infinite if q may be 0.

    It says nothing of other events, so it is no upper bound on what the mechanism spends.
    """
    require_confidence(confidence)
    require_delta(delta)
    each = -math.expm1(math.log(confidence) / 2)
    above = float(clopper_pearson_upper(counts.hits, counts.trials, each)) - delta
    below = float(clopper_pearson_lower(counts.other_hits, counts.other_trials, each))
    if above <= below:
        return 0.0
    return math.inf if below == 0 else math.log(above / below)


def p_value(counts: Counts, epsilon: float, delta: float = 0.0) -> float:
    """The smallest error probability at which the Clopper-Pearson bound reaches `epsilon`: small if the promise fails.

    The bound reaches it if, for some c, lower(p) >= delta + e^epsilon c and upper(q) <= c; that is, if each error is at
    least P(Bin(trials, delta + e^epsilon c) >= hits), which grows in c, and P(Bin(other_trials, c) <= other_hits), which
    falls. The smallest such error is where the two meet. Any other c would give a larger, still valid, p-value.
    """
    require_delta(delta)
    _counts([counts.hits, counts.other_hits], [counts.trials, counts.other_trials])
    if counts.hits == 0 or counts.other_hits == counts.other_trials:
        return 1.0
    factor = math.exp(min(epsilon, 700.0))

    def as_many(c: float) -> float:
        return float(betainc(counts.hits, counts.trials - counts.hits + 1, min(1.0, delta + factor * c)))

    def as_few(c: float) -> float:
        return float(betaincc(counts.other_hits + 1, counts.other_trials - counts.other_hits, c))

    low, high = 0.0, min(1.0, (1 - delta) / factor)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if as_many(middle) < as_few(middle) else (low, middle)
    each = max(min(as_many(high), 1.0), min(as_few(high), 1.0))
    return max(each * (2 - each), SMALLEST_ERROR)


def holm(p_values: Sequence[float]) -> Array:
    """The p-values adjusted by Holm 1979: rejecting those up to alpha errs anywhere with probability at most alpha."""
    if len(p_values) == 0:
        return np.zeros(0)
    from statsmodels.stats.multitest import multipletests  # slow to import, and seldom needed

    return np.asarray(multipletests(p_values, method="holm")[1], dtype=float)


def bayesian_lower_bound(counts: Counts, confidence: float, delta: float = 0.0) -> float:
    """The joint Bayesian credible bound of Zanella-Beguelin et al. 2023, "Bayesian estimation of differential privacy".

    The false positive rate q and the true positive rate p have independent Beta posteriors (Jeffreys' prior). A test obeys
    (epsilon, delta) if, for it and for its complement, in both directions, the rates differ by no more than the promise
    lets them (Kairouz, Oh and Viswanath 2015); the bound is the epsilon that this event's posterior probability gives the
    rank 1 - confidence. It is a credible bound, not a confidence bound: it may exceed the truth more often than it says.
    """
    require_confidence(confidence)
    require_delta(delta)
    rates = _posterior_quantiles(counts)

    def below_rank(epsilon: float) -> bool:
        return _obeying(rates, counts, epsilon, delta) < 1 - confidence

    low, high = 0.0, 1.0
    if not below_rank(low):
        return 0.0
    while below_rank(high):
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if below_rank(middle) else (low, middle)
    return low


def posterior_probability(counts: Counts, epsilon: float, delta: float) -> float:
    """The posterior probability that the two rates obey (epsilon, delta), by quadrature over p."""
    return _obeying(_posterior_quantiles(counts), counts, epsilon, delta)


def _posterior_quantiles(counts: Counts) -> tuple[Array, Array]:
    """The quantiles of p at Phi(z), and those of 1 - p at Phi(-z), each accurate in its own tail."""
    a, b = counts.hits + 0.5, counts.trials - counts.hits + 0.5
    below, above = ndtr(PROBITS), ndtr(-PROBITS)
    p = np.where(PROBITS < 0, betaincinv(a, b, below), betainccinv(a, b, above))
    not_p = np.where(PROBITS < 0, betainccinv(b, a, below), betaincinv(b, a, above))
    return p, not_p


def _obeying(rates: tuple[Array, Array], counts: Counts, epsilon: float, delta: float) -> float:
    """The probability that q is neither too small nor too large beside p, which has the given quantiles.

    q must lie between max((p - delta)/e^epsilon, 1 - delta - e^epsilon (1 - p)) and min(e^epsilon p + delta,
    1 - (1 - p - delta)/e^epsilon).
    """
    p, not_p = rates
    factor, shrink = math.exp(min(epsilon, 700.0)), math.exp(-epsilon)
    lowest = np.maximum((p - delta) * shrink, 1 - delta - factor * not_p).clip(0, 1)
    highest = np.minimum(factor * p + delta, 1 - (not_p - delta) * shrink).clip(0, 1)
    a, b = counts.other_hits + 0.5, counts.other_trials - counts.other_hits + 0.5
    outside = betainc(a, b, lowest) + betaincc(a, b, np.maximum(highest, lowest))
    weights = np.exp(-(PROBITS**2) / 2)
    return float(np.sum(weights * (1 - outside).clip(0)) / np.sum(weights))


def bound_at_rates(p: ArrayLike, q: ArrayLike, trials: float, confidence: float, delta: float = 0.0) -> Array:
    """What the Clopper-Pearson bound is at the expected counts of events with probabilities p and q: nearly its median."""
    require_confidence(confidence)
    each = -math.expm1(math.log(confidence) / 2)
    lower = clopper_pearson_lower(np.asarray(p) * trials, trials, each)
    return _log_ratio(lower - delta, clopper_pearson_upper(np.asarray(q) * trials, trials, each))


def best_possible(p: ArrayLike, q: ArrayLike, trials: float, confidence: float, delta: float = 0.0) -> float:
    """The most that a Clopper-Pearson bound on a single event can be expected to certify from `trials` trials a side.

    p and q are the probabilities of the events {log-likelihood ratio >= t}, at every t, under the two data sets (and, for
    the limit over both directions, of the events {<= t} under the other and the one): by Neyman and Pearson no other event
    has a larger p at the same q. A sampled bound's efficiency is its share of this.
    """
    return float(np.max(bound_at_rates(p, q, trials, confidence, delta), initial=0.0))


def require_confidence(confidence: float) -> None:
    """Refuse a confidence that is no probability strictly between 0 and 1."""
    if not 0 < confidence < 1:
        raise EpsilometerError(f"confidence is {confidence:g}; it must be above 0 and below 1")


def require_delta(delta: float) -> None:
    """Refuse a delta outside [0, 1)."""
    if not 0 <= delta < 1:
        raise EpsilometerError(f"delta is {delta:g}; it must be in [0, 1)")


def _bound(counts: Counts, each: float, delta: float, interval: Interval) -> Array:
    """The bound on epsilon if each of the two one-sided bounds is wrong with probability `each`."""
    exact = interval == "clopper-pearson"
    lower, upper = (clopper_pearson_lower, clopper_pearson_upper) if exact else (jeffreys_lower, jeffreys_upper)
    return _log_ratio(lower(counts.hits, counts.trials, each) - delta, upper(counts.other_hits, counts.other_trials, each))


def _log_ratio(above: Array, below: Array) -> Array:
    """log(above/below), or 0 where that is negative or above is."""
    return np.log(np.maximum(above, below) / below)


def _counts(hits: ArrayLike, trials: ArrayLike) -> tuple[Array, Array]:
    k, n = np.broadcast_arrays(np.asarray(hits, dtype=float), np.asarray(trials, dtype=float))
    wrong = ~((k >= 0) & (k <= n))
    if np.any(wrong):
        raise EpsilometerError(
            f"there are {k[wrong][0]:g} hits in {n[wrong][0]:g} trials; there must be from 0 to all of them"
        )
    return k, n
