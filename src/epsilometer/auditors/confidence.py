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
"""The smallest p-value that is returned."""
PROBITS = np.linspace(-9.0, 9.0, 721)
"""The z at which a posterior's quantiles of rank Phi(z) are computed; the trapezoidal rule in z has an error below 1e-9."""


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
    """The error-quantile of the posterior Beta(hits + 1/2, trials - hits + 1/2).

    Its coverage is `1 - error` on average over the proportions, not for each of them.
    """
    k, n = _counts(hits, trials)
    return np.asarray(betaincinv(k + 0.5, n - k + 0.5, error), dtype=float)


def jeffreys_upper(hits: ArrayLike, trials: ArrayLike, error: float) -> Array:
    """The (1 - error)-quantile of the posterior of `jeffreys_lower`."""
    k, n = _counts(hits, trials)
    return np.asarray(betainccinv(k + 0.5, n - k + 0.5, error), dtype=float)


def epsilon_lower_bound(
    counts: Counts, confidence: float, delta: float = 0.0, interval: Interval = "clopper-pearson"
) -> float:
    """A lower confidence bound on epsilon: log((lower(p) - delta)/upper(q)), or 0 if that is negative.

    p and q are the event's probabilities under the two data sets; (epsilon, delta) implies p - delta <= e^epsilon q. The two
    samples are independent, so one-sided bounds at sqrt(confidence) each hold together with `confidence`. Jeffreys' interval
    has this confidence only approximately.
    """
    require_confidence(confidence)
    require_delta(delta)
    return float(_bound(counts, -math.expm1(math.log(confidence) / 2), delta, interval))


def event_upper_bound(counts: Counts, confidence: float, delta: float = 0.0) -> float:
    """An upper confidence bound on the epsilon that this event shows: log((upper(p) - delta)/lower(q)), or infinite.

    Another event may show a larger epsilon, so it is no upper bound on the epsilon of the mechanism.
    """
    require_confidence(confidence)
    require_delta(delta)
    error_of_each = -math.expm1(math.log(confidence) / 2)
    above = float(clopper_pearson_upper(counts.hits, counts.trials, error_of_each)) - delta
    below = float(clopper_pearson_lower(counts.other_hits, counts.other_trials, error_of_each))
    if above <= below:
        return 0.0
    return math.inf if below == 0 else math.log(above / below)


def p_value(counts: Counts, epsilon: float, delta: float = 0.0) -> float:
    """The p-value against the claim of (epsilon, delta): the smallest error at which the Clopper-Pearson bound is `epsilon`.

    The bound is at least `epsilon` if, for some c, lower(p) >= delta + e^epsilon c and upper(q) <= c. The error probability
    of each one-sided bound is then at least P(Bin(trials, delta + e^epsilon c) >= hits), which grows in c, and at least
    P(Bin(other_trials, c) <= other_hits), which falls in c. The smallest error is where the two are equal, which bisection
    finds; any other c would give a larger p-value, which is valid too.
    """
    require_delta(delta)
    _counts([counts.hits, counts.other_hits], [counts.trials, counts.other_trials])
    if counts.hits == 0 or counts.other_hits == counts.other_trials:
        return 1.0
    factor = math.exp(min(epsilon, 700.0))

    def probability_of_more(c: float) -> float:
        return float(betainc(counts.hits, counts.trials - counts.hits + 1, min(1.0, delta + factor * c)))

    def probability_of_fewer(c: float) -> float:
        return float(betaincc(counts.other_hits + 1, counts.other_trials - counts.other_hits, c))

    low, high = 0.0, min(1.0, (1 - delta) / factor)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if probability_of_more(middle) < probability_of_fewer(middle) else (low, middle)
    error_of_each = max(min(probability_of_more(high), 1.0), min(probability_of_fewer(high), 1.0))
    return max(error_of_each * (2 - error_of_each), SMALLEST_ERROR)


def holm(p_values: Sequence[float]) -> Array:
    """The p-values after Holm's correction (1979).

    Rejecting every hypothesis whose value is at most alpha has a family-wise error probability of at most alpha.
    """
    if len(p_values) == 0:
        return np.zeros(0)
    from statsmodels.stats.multitest import multipletests  # slow to import, and seldom needed

    return np.asarray(multipletests(p_values, method="holm")[1], dtype=float)


def bayesian_lower_bound(counts: Counts, confidence: float, delta: float = 0.0) -> float:
    """The joint Bayesian credible bound of Zanella-Beguelin et al. 2023, "Bayesian estimation of differential privacy".

    The false positive rate q and the true positive rate p have independent Beta posteriors (Jeffreys' prior). They obey
    (epsilon, delta) if the test and its complement satisfy the inequality of the definition in both directions (Kairouz,
    Oh and Viswanath 2015). The bound is the epsilon at which the posterior probability of this is 1 - confidence. It is a
    credible bound, not a confidence bound: it may exceed the true epsilon with a probability above 1 - confidence.
    """
    require_confidence(confidence)
    require_delta(delta)
    rates = _posterior_quantiles(counts)

    def has_low_probability(epsilon: float) -> bool:
        return _probability_of_obeying(rates, counts, epsilon, delta) < 1 - confidence

    low, high = 0.0, 1.0
    if not has_low_probability(low):
        return 0.0
    while has_low_probability(high):
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if has_low_probability(middle) else (low, middle)
    return low


def posterior_probability(counts: Counts, epsilon: float, delta: float) -> float:
    """The posterior probability that the two rates obey (epsilon, delta), by quadrature over p."""
    return _probability_of_obeying(_posterior_quantiles(counts), counts, epsilon, delta)


def _posterior_quantiles(counts: Counts) -> tuple[Array, Array]:
    """The quantiles of p of rank Phi(z) and those of 1 - p of rank Phi(-z); each is computed where it does not cancel."""
    a, b = counts.hits + 0.5, counts.trials - counts.hits + 0.5
    below, above = ndtr(PROBITS), ndtr(-PROBITS)
    p = np.where(PROBITS < 0, betaincinv(a, b, below), betainccinv(a, b, above))
    not_p = np.where(PROBITS < 0, betainccinv(b, a, below), betaincinv(b, a, above))
    return p, not_p


def _probability_of_obeying(rates: tuple[Array, Array], counts: Counts, epsilon: float, delta: float) -> float:
    """The posterior probability that the rates obey (epsilon, delta), for p with the given quantiles.

    Given p, q must lie between max((p - delta)/e^epsilon, 1 - delta - e^epsilon (1 - p)) and min(e^epsilon p + delta,
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
    """The Clopper-Pearson bound on epsilon at the expected counts of events of probability p and q: about its median."""
    require_confidence(confidence)
    error_of_each = -math.expm1(math.log(confidence) / 2)
    lower = clopper_pearson_lower(np.asarray(p) * trials, trials, error_of_each)
    return _log_ratio(lower - delta, clopper_pearson_upper(np.asarray(q) * trials, trials, error_of_each))


def largest_expected_bound(p: ArrayLike, q: ArrayLike, trials: float, confidence: float, delta: float = 0.0) -> float:
    """The largest Clopper-Pearson bound that any single event can be expected to give from `trials` outputs a side.

    p and q are the probabilities under the two data sets of the events {log-likelihood ratio >= t}, for every t. By the
    Neyman-Pearson lemma no other event has a larger p at the same q. For the other direction, pass the events
    {log-likelihood ratio <= t} with the data sets exchanged. The efficiency of a sampled bound is its share of this value.
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


def _bound(counts: Counts, error_of_each: float, delta: float, interval: Interval) -> Array:
    """The bound on epsilon if each of the two one-sided bounds is wrong with probability `each`."""
    exact = interval == "clopper-pearson"
    lower, upper = (clopper_pearson_lower, clopper_pearson_upper) if exact else (jeffreys_lower, jeffreys_upper)
    return _log_ratio(
        lower(counts.hits, counts.trials, error_of_each) - delta,
        upper(counts.other_hits, counts.other_trials, error_of_each),
    )


def _log_ratio(above: Array, below: Array) -> Array:
    """log(above/below), or 0 where above is at most below."""
    return np.log(np.maximum(above, below) / below)


def _counts(hits: ArrayLike, trials: ArrayLike) -> tuple[Array, Array]:
    k, n = np.broadcast_arrays(np.asarray(hits, dtype=float), np.asarray(trials, dtype=float))
    wrong = ~((k >= 0) & (k <= n))
    if np.any(wrong):
        raise EpsilometerError(
            f"there are {k[wrong][0]:g} hits in {n[wrong][0]:g} trials; there must be from 0 to all of them"
        )
    return k, n
