"""ROC, area, advantage and certified epsilon of an attack from its scores, and the largest that a guarantee allows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincc, xlogy

from epsilometer.auditors.confidence import (
    bound_at_rates,
    clopper_pearson_lower,
    clopper_pearson_upper,
    epsilon_lower_bound,
    p_value,
    require_confidence,
    require_delta,
)
from epsilometer.auditors.sampled import choose_event
from epsilometer.core import Array, Counts, EpsilometerError, Guarantee

CONFIDENCE = 0.95
FALSE_POSITIVE_RATES = tuple(float(f"{rate:.6g}") for rate in np.geomspace(1e-3, 1.0, 49))
"""The false positive rates at which a ROC is tabulated: 16 for each factor of ten."""
CANDIDATES = 200
"""The most candidate thresholds when one is chosen."""
SHARE_TO_CHOOSE, SHARE_OF_RATIOS_TO_CHOOSE = 0.5, 0.1
"""The share of the trials by which an event is chosen: of ordinary scores, and of exact log-likelihood ratios."""
CONFIDENCES_OF_CHOICE = (1 - 1e-4, 0.99, 0.75, 0.5, 0.25)
"""The confidences by which a threshold is chosen; the first with a bound above 0 decides."""


@dataclass(frozen=True)
class Scores:
    """An attack's scores of models with the target, and of models without it."""

    members: Array
    others: Array
    log_ratio: bool = False
    """Whether they are exact log-likelihood ratios, of which few suffice to choose an event."""

    def __post_init__(self) -> None:
        for scores in (self.members, self.others):
            if scores.ndim != 1 or len(scores) < 2:
                raise EpsilometerError(f"scores have shape {scores.shape}; there must be at least two, in a row")
            if np.isnan(scores).any():
                raise EpsilometerError(f"{int(np.isnan(scores).sum())} scores are nan; an attack must give numbers")

    def split(self, share: float) -> tuple[Scores, Scores]:
        """A share of the scores, to choose an event, and the others, to count it."""
        first, second = (max(2, int(share * len(part))) for part in (self.members, self.others))
        chosen = replace(self, members=self.members[:first], others=self.others[:second])
        return chosen, replace(self, members=self.members[first:], others=self.others[second:])

    def reversed(self) -> Scores:
        """The scores of the opposite test, which detects that the target was left out."""
        return replace(self, members=-self.others, others=-self.members)


@dataclass(frozen=True)
class Curve:
    """A ROC: the largest tpr of (randomised) thresholds at each fpr, with pointwise confidence bounds."""

    fpr: Array
    tpr: Array
    low: Array
    high: Array


def roc(scores: Scores, fpr: Array | None = None, confidence: float = CONFIDENCE) -> Curve:
    """The ROC at given false positive rates, with a pointwise confidence band that is valid for any distribution of scores.

    Let t be the k-th largest of m scores of non-members. The fpr of {score > t} is stochastically at most a variable of law
    Beta(k, m - k + 1), and that of {score >= t} at least. So one k makes the first fpr at most f, and another makes the
    second at least f, each with the required probability. The members' scores are independent of t. Clopper-Pearson bounds
    on the tpr of these two events therefore enclose the true tpr at f.
    """
    require_confidence(confidence)
    rates = np.array(FALSE_POSITIVE_RATES) if fpr is None else np.asarray(fpr, dtype=float)
    each = -math.expm1(math.log((1 + confidence) / 2) / 2)  # two events for each side of the interval
    m, members = len(scores.others), np.sort(scores.members)
    descending = np.concatenate([[np.inf], np.sort(scores.others)[::-1], [-np.inf]])
    strict, lenient = _ranks(m, tuple(rates.tolist()), each)
    above = len(members) - np.searchsorted(members, descending[strict], side="right")
    at_least = len(members) - np.searchsorted(members, descending[lenient], side="left")
    low = np.where(strict > 0, clopper_pearson_lower(above, len(members), each), 0.0)
    high = np.where(lenient <= m, clopper_pearson_upper(at_least, len(members), each), 1.0)
    return Curve(rates, _measured_tpr(scores, rates), low, high)


@cache
def _ranks(m: int, rates: tuple[float, ...], error: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For B ~ Beta(k, m - k + 1): the largest k with P(B > f) <= error or 0, the least with P(B < f) <= error or m + 1."""
    k = np.arange(1, m + 1)[:, None]
    beyond = betaincc(k, m - k + 1, np.array(rates)[None])  # grows with k
    strict = np.sum(beyond <= error, axis=0)
    lenient = m - np.sum(1 - beyond <= error, axis=0) + 1
    return strict, lenient


def _measured_tpr(scores: Scores, rates: Array) -> Array:
    """The measured tpr at each fpr, interpolated between thresholds."""
    thresholds = np.unique(np.concatenate([scores.members, scores.others]))[::-1]
    hits, alarms = _count_reaching(scores.members, thresholds), _count_reaching(scores.others, thresholds)
    fpr, tpr = (np.concatenate([[0.0], found]) for found in (alarms / len(scores.others), hits / len(scores.members)))
    return np.asarray(np.interp(rates, fpr, tpr))  # of several tpr at one fpr, interp takes the last, which is the largest


def _count_reaching(scores: Array, thresholds: Array) -> NDArray[np.intp]:
    """The number of scores at or above each threshold."""
    return len(scores) - np.searchsorted(np.sort(scores), thresholds, side="left")


def beats(one: Scores, other: Scores, confidence: float = CONFIDENCE) -> bool:
    """Whether one attack has a significantly larger tpr than another at some fpr of `FALSE_POSITIVE_RATES`.

    If its true tpr is nowhere larger, this is true with probability at most 1 - confidence (Bonferroni's correction).
    """
    each = 1 - (1 - confidence) / len(FALSE_POSITIVE_RATES)
    return bool(np.any(roc(one, confidence=each).low > roc(other, confidence=each).high))


def area(scores: Scores, confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """The area under the ROC, P(member > other) + P(member = other)/2, and its confidence interval.

    The Mann-Whitney estimate U is an average, over permutations, of means of k = min(members, others) independent variables
    in [0, 1]. Their Chernoff bound holds for U by convexity (Hoeffding 1963): P(U >= u) <= exp(-k KL(u | area)) for u above
    the area, and likewise below. The interval is the set of areas with k KL(U | area) <= log(2/(1 - confidence)).
    """
    require_confidence(confidence)
    others = np.sort(scores.others)
    below, not_above = (np.searchsorted(others, scores.members, side=side) for side in ("left", "right"))
    estimate = float((below + not_above).mean() / (2 * len(others)))
    reach = math.log(2 / (1 - confidence)) / min(len(scores.members), len(others))
    return estimate, _interval_end(estimate, 0.0, reach), _interval_end(estimate, 1.0, reach)


def _interval_end(estimate: float, end: float, reach: float) -> float:
    """The q between the estimate and `end` with KL(estimate | q) = reach."""
    near, far = estimate, end
    for _ in range(60):
        middle = (near + far) / 2
        near, far = (middle, far) if _divergence(estimate, middle) <= reach else (near, middle)
    return near


def _divergence(p: float, q: float) -> float:
    """The Kullback-Leibler divergence of Bernoulli(p) from Bernoulli(q)."""
    if q in (0.0, 1.0):
        return 0.0 if p == q else math.inf
    return float(xlogy(p, p / q) + xlogy(1 - p, (1 - p) / (1 - q)))


def advantage(scores: Scores, confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """tpr - fpr and its confidence interval; one half of the trials chooses the threshold, the other measures.

    Each end of the interval combines Clopper-Pearson bounds on the two independent rates.
    """
    require_confidence(confidence)
    chosen, fresh = scores.split(SHARE_TO_CHOOSE)
    thresholds = _candidates(chosen)
    gains = _count_reaching(chosen.members, thresholds) / len(chosen.members) - _count_reaching(
        chosen.others, thresholds
    ) / len(chosen.others)
    counts = _count(fresh, float(thresholds[np.argmax(gains)]))
    each = -math.expm1(math.log((1 + confidence) / 2) / 2)
    hits, alarms = (counts.hits, counts.trials), (counts.other_hits, counts.other_trials)
    low = clopper_pearson_lower(*hits, each) - clopper_pearson_upper(*alarms, each)
    high = clopper_pearson_upper(*hits, each) - clopper_pearson_lower(*alarms, each)
    return counts.hits / counts.trials - counts.other_hits / counts.other_trials, float(low), float(high)


def certified_epsilon(scores: Scores, delta: float = 0.0, confidence: float = CONFIDENCE) -> float:
    """A lower confidence bound on epsilon from the counts of an event that was chosen on other trials (Clopper-Pearson)."""
    return epsilon_lower_bound(event_counts(scores, delta, confidence), confidence, delta)


def event_counts(scores: Scores, delta: float = 0.0, confidence: float = CONFIDENCE) -> Counts:
    """The counts of an event that is chosen on one part of the trials and counted on the other.

    It is {score >= t}, for members against non-members, or {score <= t}, for non-members against members. Bounds and
    p-values from the counts are valid for any choice.
    """
    require_delta(delta)
    chosen, fresh = scores.split(SHARE_OF_RATIOS_TO_CHOOSE if scores.log_ratio else SHARE_TO_CHOOSE)
    if scores.log_ratio:
        pooled = np.concatenate([chosen.members, chosen.others])
        forward, threshold = choose_event(pooled, min(len(fresh.members), len(fresh.others)), confidence, delta)
    else:
        forward, threshold = _choose_event(chosen, delta)
    return _count(fresh if forward else fresh.reversed(), threshold)


def _choose_event(scores: Scores, delta: float) -> tuple[bool, float]:
    """The direction and the threshold with the largest bound on these scores, at the first confidence that gives one.

    The highest confidence comes first, because at a low one the largest bound is often that of a rare event, by chance.
    """
    sides = [(forward, side, _candidates(side)) for forward, side in ((True, scores), (False, scores.reversed()))]
    trials = min(len(scores.members), len(scores.others))
    for confidence in CONFIDENCES_OF_CHOICE:
        options = []
        for forward, side, thresholds in sides:
            p, q = (_count_reaching(part, thresholds) / len(part) for part in (side.members, side.others))
            bounds = bound_at_rates(p, q, trials, confidence, delta)
            place = int(np.argmax(bounds))
            options.append((float(bounds[place]), forward, float(thresholds[place])))
        best, forward, threshold = max(options)
        if best > 0:
            break
    return forward, threshold


def inside_allowed_region(scores: Scores, guarantee: Guarantee, confidence: float = CONFIDENCE) -> bool:
    """Whether the certified epsilon is at most the claimed one; if the claim holds, so with probability `confidence`."""
    return certified_epsilon(scores, guarantee.delta, confidence) <= guarantee.epsilon


def _candidates(scores: Scores) -> Array:
    """Candidate thresholds: the scores at geometrically spaced ranks from either end."""
    ordered = np.sort(np.concatenate([scores.members, scores.others]))
    ranks = np.unique(np.geomspace(1, len(ordered), CANDIDATES // 2).astype(int)) - 1
    return np.unique(ordered[np.concatenate([ranks, len(ordered) - 1 - ranks])])


def _count(scores: Scores, threshold: float) -> Counts:
    """The counts of {score >= threshold} for members and for non-members."""
    hits, alarms = (int(np.count_nonzero(part >= threshold)) for part in (scores.members, scores.others))
    return Counts(hits, len(scores.members), alarms, len(scores.others))


def allowed_tpr(fpr: Array, guarantee: Guarantee) -> Array:
    """The largest tpr that the guarantee allows at an fpr: min(1, e^epsilon fpr + delta, 1 - e^-epsilon (1 - fpr - delta)).

    These are the two inequalities of the hypothesis test (Kairouz, Oh and Viswanath 2015).
    """
    rates, epsilon, delta = np.asarray(fpr, dtype=float), guarantee.epsilon, guarantee.delta
    falling = 1 - math.exp(-epsilon) * (1 - rates - delta)
    return np.minimum(np.minimum(1.0, falling), math.exp(min(epsilon, 700.0)) * rates + delta)


def allowed_advantage(guarantee: Guarantee) -> float:
    """The largest tpr - fpr that the guarantee allows: (e^epsilon - 1 + 2 delta)/(e^epsilon + 1), at the region's corner."""
    return math.tanh(guarantee.epsilon / 2) + 2 * guarantee.delta / (math.exp(min(guarantee.epsilon, 700.0)) + 1)


def allowed_area(guarantee: Guarantee) -> float:
    """The largest area under the ROC that the guarantee allows.

    The border of the region is piecewise linear: from (0, delta) over its corner to (1 - delta, 1).
    """
    delta = guarantee.delta
    corner = (1 - delta) / (math.exp(min(guarantee.epsilon, 700.0)) + 1)
    return corner * (delta + 1 - corner) / 2 + (1 - delta - corner) * (2 - corner) / 2 + delta


def summary(scores: Scores, guarantee: Guarantee | None, confidence: float = CONFIDENCE) -> tuple[dict[str, Any], Counts]:
    """The measures of an attack and the largest that the guarantee allows, as columns, and the counts behind its bound."""
    row: dict[str, Any] = {"trials": len(scores.members) + len(scores.others)}
    row |= _interval_columns("auc", area(scores, confidence))
    row["auc_bound"] = allowed_area(guarantee) if guarantee else math.nan
    row |= _interval_columns("advantage", advantage(scores, confidence))
    row["advantage_bound"] = allowed_advantage(guarantee) if guarantee else math.nan
    rates = np.array([0.001, 0.01])
    curve = roc(scores, rates, confidence)
    for place, rate in enumerate(rates):
        row |= _interval_columns(f"tpr_at_{rate:g}", (curve.tpr[place], curve.low[place], curve.high[place]))
        row[f"tpr_at_{rate:g}_bound"] = float(allowed_tpr(rate, guarantee)) if guarantee else math.nan
    delta = guarantee.delta if guarantee else 0.0
    counts = event_counts(scores, delta, confidence)
    row["certified"] = epsilon_lower_bound(counts, confidence, delta)
    row["p_value"] = p_value(counts, guarantee.epsilon, delta) if guarantee else math.nan
    return row, counts


def _interval_columns(name: str, values: tuple[float, float, float]) -> dict[str, float]:
    estimate, low, high = map(float, values)
    return {name: estimate, f"{name}_low": low, f"{name}_high": high}
